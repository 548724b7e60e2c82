"""What the reference says is what the code has."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from cephtui import config
from cephtui.ceph import pool_guards
from cephtui.cluster import monitor
from cephtui.models.findings import KINDS as FINDINGS
from cephtui.models.rows import FindingKindRow
from cephtui.models.verdict import JUDGED_RUNS
from cephtui.paths import packaged_presets_dir
from cephtui.presets import find_presets, load_preset
from cephtui.running import runner
from cephtui.sessions import demo, importing, log_files, writer
from cephtui.sessions.jsonlines import schema
from cephtui.suites import load_suite
from cephtui.targets import every_kind, file, target_kind
from cephtui.tools.osd_bench import command as osd_bench
from tests.pages import DOCS, KEYS, PARTS, ROOT, bound_classes, renewed
from tests.unit.project.test_words import banned_in

OWN = sorted([*(DOCS / "reference").glob("*.md"), *(DOCS / "explanation").glob("*.md")])
_CODE = re.compile(r"`([^`]+)`")
_VARIABLE = re.compile(r"[A-Z]+(_[A-Z]+)+|TERM|COLORTERM|LANG")
_NOT_THE_USERS = {"CEPHTUI_PYTHON_TRIED", "TEXTUAL_DRIVER"}
"""Variables that one process of cephtui sets for another."""
_OF_LIBRARIES = {"PAGER"}
"""That are read by what cephtui is made of."""
_FIGURES = {
    "explanation/production.md": (
        f"at most {100 * pool_guards.USABLE:g} % of what is free",
        f"{file._RESERVE_PERCENT} % of it, at most {file._RESERVE_MOST_BYTES >> 30} GiB, stay free",
        f"5 commands every {monitor.WATCH_SECONDS:g} s",
        f"{runner.LOOP_STALL_SECONDS:g} s without a completion",
        f"for each OSD at a time, {osd_bench.PORTION_MOST >> 20} MiB at most",
    ),
    "explanation/how-it-decides.md": (f"At least {JUDGED_RUNS} runs on each side",),
    "reference/imports.md": (
        f"A file has {log_files.FILE_MOST_BYTES >> 20} MiB at most",
        f"at most {importing.RUNS_MOST:,} imported runs, an import {log_files.FILES_MOST:,} files",
    ),
    "reference/session-files.md": (
        f"up to {writer.RawLimits().first_bytes >> 20} MiB for each stream and "
        f"{writer.RawLimits().bytes_per_second >> 10} KiB for each second",
    ),
}


def page(name: str) -> str:
    return (DOCS / name).read_text("utf-8")


def first_column(name: str, head: str) -> list[str]:
    """The words of code in the first column of the table whose heading begins so."""
    table = page(name).partition(f"| {head}")[2].partition("\n\n")[0]
    cells = [line.split(" | ")[0] for line in table.splitlines() if line.startswith("| `")]
    return [word for cell in cells for word in _CODE.findall(cell)]


def toml_blocks(name: str) -> list[str]:
    return re.findall(r"^```toml\n(.*?)^```", page(name), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", PARTS)
def test_what_is_made_from_the_code_is_as_it_makes_it(name: str) -> None:
    assert page(PARTS[name][0]) == renewed(name), "make pages"


def test_all_that_has_keys_is_on_the_page_of_keys() -> None:
    assert bound_classes().keys() == KEYS.keys()


def test_the_targets_are_those_of_the_code() -> None:
    told = first_column("reference/targets.md", "target | what it is")
    kinds = [target_kind(text) for text in told]
    assert None not in kinds
    assert {type(kind) for kind in kinds} == {type(kind) for kind in every_kind()}


def test_each_preset_that_answers_a_question_is_there(tmp_path: Path) -> None:
    table = page("reference/presets.md").partition("## Which preset")[2].partition("\n## ")[0]
    answers = [word for line in table.splitlines()[4:] if " | " in line for word in _CODE.findall(line.split(" | ")[1])]
    known = {*find_presets(packaged_presets_dir(), tmp_path), "cephtui provisioned"}
    assert len(answers) > 20
    assert [answer for answer in answers if answer.partition(" --")[0] not in known] == []


def test_the_files_of_a_session_are_those_of_the_code(tmp_path: Path) -> None:
    told = set(first_column("reference/session-files.md", "file | what it has"))
    session = demo.unpack(tmp_path)
    names = (str(path.relative_to(session)) for path in session.rglob("*") if path.is_file())
    found = {re.sub(r"^001/raw/.*", "001/raw/", re.sub(r"^\d{3}/", "001/", name)) for name in names}
    assert found - told == set()
    sources = "".join(path.read_text("utf-8") for path in (ROOT / "cephtui" / "sessions").glob("*.py"))
    assert [
        name for name in told if f'"{Path(name).name}"' not in sources and f"/{Path(name).name}" not in sources
    ] == []


def test_the_variables_are_those_that_the_code_reads() -> None:
    told = set(first_column("reference/configuration.md", "variable | meaning"))
    assert told == {*variables(), *_OF_LIBRARIES} - _NOT_THE_USERS


def variables() -> Iterator[str]:
    """Names in the modules of the console that read its environment."""
    for path in sorted((ROOT / "cephtui").rglob("*.py")):
        source = path.read_text("utf-8")
        if re.search(r"\benviron\b|VARIABLE\b", source) and not path.stem.endswith("_on_node"):
            constants = (node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant))
            yield from (text for text in constants if isinstance(text, str) and _VARIABLE.fullmatch(text))


def test_the_keys_of_the_config_are_those_of_the_code(tmp_path: Path) -> None:
    sections = (config.ConfigFile, config.NodeSection, config.S3Section)
    known = {name for section in sections for name in section.model_fields} - {"nodes", "groups", "s3"}
    table = page("reference/configuration.md").partition("| section | key |")[2].partition("\n\n")[0]
    assert known - set(_CODE.findall(table)) == set()
    path = tmp_path / "config.toml"
    path.write_text(toml_blocks("reference/configuration.md")[0])
    loaded = config.load_config(path, required=True)
    assert loaded.choose(["pve"])
    assert set(loaded.nodes) == {"pve1", "osd1", "rook", "client"}


def test_the_preset_and_the_suite_on_their_pages_can_be_loaded(tmp_path: Path) -> None:
    preset, suite = tmp_path / "my-depths.toml", tmp_path / "night.toml"
    preset.write_text(toml_blocks("reference/presets.md")[0])
    suite.write_text(toml_blocks("reference/suites.md")[0])
    assert load_preset(preset, user=True).file.key == 7
    catalogue = find_presets(packaged_presets_dir(), tmp_path / "none")
    assert len(load_suite(suite, catalogue, user=True).steps) == 2


def test_each_event_is_that_of_a_command() -> None:
    table = page("reference/json.md").partition("| command | events |")[2].partition("\n\n")[0]
    told = {word for line in table.splitlines()[2:] for word in _CODE.findall(line.split(" | ")[1])}
    found = schema()
    models = [found["$defs"][each["$ref"].rpartition("/")[2]] for each in found["anyOf"]]
    events = {model["properties"]["event"]["const"] for model in models}
    assert {*events, FindingKindRow.model_fields["event"].default} - told == set()


@pytest.mark.parametrize("name", _FIGURES)
def test_figures_in_sentences_are_those_of_the_code(name: str) -> None:
    text = " ".join(page(name).split())
    assert [words for words in _FIGURES[name] if words not in text] == []


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.stem)
def test_a_page_is_plain_and_its_links_lead_somewhere(path: Path) -> None:
    text = path.read_text("utf-8")
    title, empty, first, *_ = text.split("\n")
    assert title.startswith("# ")
    assert not empty
    assert first[0].isalpha()
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)
    assert [link for link in links if not (path.parent / link).is_file()] == []
    assert [(words, paragraph[:60]) for paragraph in text.split("\n\n") if (words := banned_in(paragraph))] == []
    assert [line for line in text.split("\n") if len(line) > 120 and not line.startswith("|")] == []


def test_every_finding_that_a_page_names_is_there() -> None:
    named = {code for path in OWN for code in re.findall(r"findings\.md#([\w-]+)", path.read_text("utf-8"))}
    assert named - FINDINGS.keys() == set()
