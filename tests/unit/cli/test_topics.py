"""``cephtui help``: the pages of the documentation, listed, shown, and completed."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from cephtui.cli import topics
from cephtui.cli.commands import help as shown
from cephtui.cli.verbs import cli

PAGE = """# Zebra

Which zebra [answers](lion.md) a `question`. More of it.

<!-- made by make pages: zebra -->

| a | b |
| --- | --- |
| 1 | ![a picture](../x.png) |

<!-- end of zebra -->

See [the lion](../how-to/lion.md#mane), [here](#zebra), [the code](../../ARCHITECTURE.md), <https://example.net>.
"""


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for kind, name, text in (("reference", "zebra", PAGE), ("how-to", "lion", "# Lion\n\nA lion.\n")):
        (tmp_path / kind).mkdir()
        (tmp_path / kind / f"{name}.md").write_text(text)
    monkeypatch.setattr("cephtui.paths.packaged_docs_dir", lambda: tmp_path)
    return tmp_path


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(pages: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", "24")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr(shown, "ascii_only", lambda: False)
    return Terminal()


def said(*words: str) -> str:
    result = CliRunner().invoke(cli, ["help", *words], prog_name="cephtui", catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def show(name: str, terminal: Terminal) -> str:
    """What is printed on it."""
    with redirect_stdout(terminal), click.Context(cli):
        shown.show_help(name)
    return terminal.getvalue()


def test_the_topics_are_listed_by_kind_with_a_line_each(pages: Path) -> None:
    assert said().splitlines()[:4] == [
        "how-to",
        "  lion   Lion",
        "reference",
        "  zebra  Which zebra answers (cephtui help lion) a question.",
    ]


def test_a_page_is_markdown_in_a_pipe_and_its_links_are_commands(pages: Path) -> None:
    text = said("zebra")
    assert text.startswith("# Zebra\n\nWhich zebra answers (`cephtui help lion`) a `question`. More of it.\n\n| a |")
    assert "the lion (`cephtui help lion`), here, the code, https://example.net." in text
    assert "<!--" not in text
    assert "(picture: a picture)" in text


def test_without_pages_the_list_says_where_they_should_be(pages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cephtui.paths.packaged_docs_dir", lambda: pages / "none")
    result = CliRunner().invoke(cli, ["help"], standalone_mode=False)
    assert isinstance(result.exception, click.ClickException)
    assert result.exception.exit_code == 1
    assert said("schema").startswith("Usage: cephtui schema")


def test_of_a_command_without_a_page_the_help_is_shown(pages: Path) -> None:
    assert said("import-preset").startswith("Usage: cephtui import-preset [OPTIONS]")


def test_an_unknown_topic_is_a_line_with_what_was_meant(pages: Path) -> None:
    result = CliRunner().invoke(cli, ["help", "zebar"], standalone_mode=False)
    assert isinstance(result.exception, click.UsageError)
    assert result.exception.exit_code == 2
    assert str(result.exception) == "no topic 'zebar': did you mean zebra? cephtui help lists the topics"


def test_an_unknown_topic_is_not_repeated_at_length(pages: Path) -> None:
    assert len(CliRunner().invoke(cli, ["help", "x" * 5000]).output) < 300


@pytest.mark.parametrize("words", [["help", "production"], ["schema"]])
def test_a_reader_that_has_gone_is_no_failure(words: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([sys.executable, "-m", "cephtui", *words], stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_page_that_fits_is_drawn_without_a_pager(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(click, "echo_via_pager", lambda text: pytest.fail("it fits"))
    text = show("zebra", terminal)
    assert "\x1b[" in text
    assert "# Zebra" not in text


def test_a_page_that_is_longer_than_the_screen_is_paged(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINES", "5")
    paged: list[str] = []
    monkeypatch.setattr(click, "echo_via_pager", paged.append)
    assert not show("zebra", terminal)
    assert "Which zebra answers" in paged[0]


def test_on_a_terminal_with_ascii_alone_a_page_has_nothing_else(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = show("zebra", terminal)
    assert not whole.isascii(), "the rule below the heads of a table"
    monkeypatch.setattr(shown, "ascii_only", lambda: True)
    text = show("zebra", Terminal())
    assert text.isascii()
    assert list(map(len, text.split("\n"))) == list(map(len, whole.split("\n")))


def test_topics_and_commands_are_completed(pages: Path) -> None:
    complete = ShellComplete(cli, {}, "cephtui", "_CEPHTUI_COMPLETE").get_completions
    assert [each.value for each in complete(["help"], "ze")] == ["zebra"]
    assert [each.value for each in complete(["help"], "imp")] == ["import", "import-preset"]


def test_the_pages_of_this_checkout_are_found() -> None:
    found = topics.topics()
    assert {"targets", "findings", "production", "concepts"} <= found.keys()
    assert [name for name, page in found.items() if not page.about.endswith((".", "?"))] == []


def test_the_list_of_this_checkout_fits_a_small_terminal() -> None:
    listed = CliRunner().invoke(cli, ["help"]).output.splitlines()
    assert [line for line in listed if len(line) > 80] == []
    assert "  two-clusters          Compare two clusters" in listed
