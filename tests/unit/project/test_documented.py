"""Every command of the documentation is one that works, and every link of it leads somewhere."""

from __future__ import annotations

import os
import re
import shutil
import socket
from functools import partial
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from cephtui import config, paths
from cephtui.cli import saved_verbs, verbs
from cephtui.cli.commands import console, serve
from cephtui.cli.verbs import cli, every_verb
from cephtui.presets import combinations, find_presets, load_preset
from cephtui.running import runner
from cephtui.running.connections import Connections
from cephtui.sessions import demo
from cephtui.suites import Suite, find_suites
from cephtui.tui import main
from cephtui.volumes import load_volumes
from tests import ROOT
from tests.support import documented, documented_machine
from tests.support.documented import Command, Page
from tests.support.documented_machine import Answer, Machine

MEASURING = {"run", "check", "provisioned", "ceilings", "why"}
"""Verbs that put load on nodes: they are run with --dry-run where they would."""
SCREENS = {None, "demo", "replay", "watch", "serve"}
"""What opens the console, or a page in a browser; here up to there."""
PLAIN = {
    "cleanup", "compare", "completion", "doctor", "explain", "help", "import", "import-preset", "info", "nodes",
    "presets", "report", "schema", "sessions", "show", "studies",
}  # fmt: skip
"""Verbs that are run as they are."""
PAGES = documented.pages()
MOST_WORDS = 900
"""Of the README."""


def page_name(page: Page) -> str:
    return page.name


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return documented_machine.recorded_demo(tmp_path_factory.mktemp("documented"))


@pytest.fixture(scope="session")
def packaged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo, unpacked once: nothing writes to it."""
    return demo.unpack(tmp_path_factory.mktemp("packaged"))


@pytest.fixture
def machine(tmp_path: Path, recorded: Path, packaged: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = documented_machine.make(tmp_path, recorded)
    for name, value in made.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(made.home)
    shutil.copytree(packaged, demo.directory(), copy_function=os.link)  # at its first use a busy machine would say so
    monkeypatch.setattr(runner, "Connections", lambda connect, vault: Connections(documented_machine.connect, vault))
    for module in (saved_verbs, verbs):
        monkeypatch.setattr(module, "begin_screen", lambda *words: None)
    monkeypatch.setattr(main, "show_screens", lambda *given: None)
    monkeypatch.setattr(console, "run_console", lambda *given: ([], 0))
    monkeypatch.setattr(serve, "_listen", lambda host, port: socket.create_server(("127.0.0.1", 0)))
    monkeypatch.setattr(serve, "_serve", _no_pages)
    return made


async def _no_pages(*given: Any) -> None:
    """Instead of serving until a signal."""


def verb_of(words: list[str]) -> str | None:
    """The verb of a command; None for the console."""
    return next((word for word in words if word in every_verb()), None)


def is_measured(words: list[str], verb: str | None) -> bool:
    """Whether it would put load on nodes, and not only judge what is saved."""
    measures = {"check": {"--preset", "--against", "--continue"}, "why": {"--target"}}.get(verb or "")
    return verb in MEASURING and (measures is None or bool(measures.intersection(words)))


def answer(machine: Machine, words: list[str], given: str) -> Answer:
    """What a call of cephtui in a shell ends with."""
    verb = verb_of(words)
    assert verb in SCREENS | MEASURING | PLAIN, f"no test knows how to run cephtui {verb}"
    if is_measured(words, verb) and "--dry-run" not in words:
        words = [*words, "--dry-run"]
    if verb == "cleanup":  # its question is answered
        words = [*words, "--yes"]
    machine.prepare(words)
    done = CliRunner().invoke(cli, words, input=given, standalone_mode=False)
    if isinstance(done.exception, click.ClickException):
        return done.exception.exit_code, done.stdout, done.exception.format_message()
    if isinstance(done.exception, SystemExit):
        return int(done.exception.code or 0), done.stdout, done.stderr
    if done.exception:
        raise done.exception
    return done.return_value or 0, done.stdout, done.stderr


def ran(machine: Machine, command: Command) -> str:
    """What is wrong with a command; empty where it does what its page says."""
    code, output, errors = machine.shell(command.text, partial(answer, machine))
    where = f"{command.page}:{command.number}: {command.text}"
    if code not in command.codes:
        return f"{where}\n  exit code {code}, documented is {command.codes}: {(errors or output)[-600:]}"
    if command.quoted and not is_as_quoted(output + errors, command.quoted):
        return f"{where}\n  quoted is\n" + "\n".join(command.quoted) + f"\n  and it says\n{output}{errors}"
    return ""


def is_as_quoted(output: str, quoted: tuple[str, ...]) -> bool:
    """Whether lines are those of an output, ``...`` being any number of them."""
    parts = [".*?" if line.strip() == "..." else re.escape(line.rstrip()) for line in quoted]
    said = "\n".join(line.rstrip() for line in output.rstrip().splitlines())
    pattern = "\n".join(parts).replace("\n.*?\n", r"\n(?:.*\n)*?").replace("\n.*?", r"(?:\n.*)*")
    return re.fullmatch(pattern.replace(".*?\n", r"(?:.*\n)*?"), said) is not None


@pytest.mark.parametrize("page", [page for page in PAGES if page.commands], ids=page_name)
def test_each_command_of_a_page_works(machine: Machine, page: Page) -> None:
    commands, is_journey = page.commands, page.name != documented.COMMANDS
    if not is_journey:  # what is imported would be the last session for others
        commands.sort(key=lambda command: "cephtui import " in command.text or "before/" in command.text)
    wrong: list[str] = []
    for command in commands:
        wrong += filter(None, [ran(machine, command)])
        if not is_journey:
            machine.forget()
    assert not wrong, "\n".join(["", *wrong])


@pytest.mark.parametrize("path", documented.scripts(), ids=lambda path: path.name)
def test_each_script_of_the_examples_works(machine: Machine, path: Path) -> None:
    calls: list[list[str]] = []

    def noted(words: list[str], given: str) -> Answer:
        calls.append(words)
        return answer(machine, words, given)

    code, output, errors = machine.shell(documented.scripts()[path], noted)
    assert (code, bool(calls)) == (0, True), output + errors


def test_each_line_that_names_the_program_is_a_command_or_installs_it() -> None:
    assert [line for page in PAGES for line in page.unread] == []


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_commands_in_sentences_have_verbs_and_options_that_there_are(page: Page) -> None:
    named = [words.split() for words in page.inline if words.startswith("cephtui ")]
    wrong = [" ".join(words) for words in named if not _is_known(words[1:])]
    assert wrong == []


def _is_known(words: list[str]) -> bool:
    verb = words[0] if words and not words[0].startswith("-") else None
    if verb and not re.fullmatch(r"[a-z][a-z-]*", verb):  # COMMAND, or the beginning of a sentence that it says
        return True
    command = every_verb().get(verb) if verb else cli
    if command is None:
        return False
    taken = {name for each in (*command.params, *cli.params) for name in each.opts} | {"--help", "-h"}
    return {word.partition("=")[0] for word in words if word.startswith("--") and word != "--"} <= taken


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_each_link_leads_to_a_page_and_a_heading(page: Page) -> None:
    local = [link for link in page.links if "://" not in link]
    assert [link for link in local if not _leads_somewhere(page, link)] == []


def _leads_somewhere(page: Page, link: str) -> bool:
    name, _, anchor = link.partition("#")
    path = (page.path.parent / name).resolve() if name else page.path
    if not anchor:
        return path.exists()
    return path.is_file() and anchor in Page(path).anchors


def test_each_page_is_in_the_index() -> None:
    index = Page(documented.DOCS / "README.md")
    linked = {(documented.DOCS / link).resolve() for link in index.links if "://" not in link}
    assert {page.path for page in PAGES if page.path.is_relative_to(documented.DOCS)} - linked == {index.path}


@pytest.mark.parametrize("path", sorted(documented.EXAMPLES.rglob("*.toml")), ids=lambda path: path.name)
def test_each_example_is_one_that_cephtui_reads(machine: Machine, path: Path) -> None:
    """By its own parsers, with all that is checked of a name."""
    catalogue = find_presets(paths.packaged_presets_dir(), documented.EXAMPLES / "presets")
    if path.parent.name == "presets":
        preset = load_preset(path, user=True)
        assert combinations(preset.tool, preset.file.options)
    elif path.parent.name == "suites":
        assert isinstance(find_suites(documented.EXAMPLES / "none", path.parent, catalogue)[path.stem], Suite)
    elif path.name == "volumes.toml":
        assert load_volumes(path)
    else:
        found = config.load_config(path, required=True)
        assert (len(found.groups["pve"]), found.s3, found.programs) > (0, {}, {})


def test_the_crontab_runs_a_script_of_the_examples() -> None:
    lines = [line.split() for line in (documented.EXAMPLES / "crontab").read_text().splitlines() if line[:1].isdigit()]
    assert lines
    assert all((documented.EXAMPLES / Path(words[5]).name).stat().st_mode & 0o100 for words in lines)


def test_the_readme_is_short() -> None:
    assert Page(documented.README).words <= MOST_WORDS


def test_the_two_commands_of_a_clone_are_in_the_readme() -> None:
    lines = [line.partition("#")[0].strip() for block in Page(documented.README).blocks for line in block.lines]
    assert {"make run", "make test"} <= set(lines)


def test_targets_of_make_that_are_named_are_there() -> None:
    there = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    shown = [text for page in PAGES for text in (*page.inline, *(line for b in page.blocks for line in b.lines))]
    named = {found[1] for text in shown if (found := re.match(r"(?:\$ )?make ([a-z][a-z-]*)", text))}
    assert named
    assert named - there == set()
