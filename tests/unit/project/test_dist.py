"""What make dist needs of the sources: each package in the lock, each command and each page for man(1)."""

from __future__ import annotations

import click
import pytest

from cephtui.cli.verbs import every_verb
from tests.dist import manual, one_file, roff, wheels


@pytest.mark.parametrize("minor", wheels.MINORS)
def test_the_lock_has_all_that_cephtui_runs_with(minor: str) -> None:
    names = wheels.needed("cephtui[web]", minor)
    assert {"asyncssh", "bcrypt", "pydantic-core", "textual", "yarl"} <= names
    assert not {"cephtui", "mypy", "pytest"} & names
    entries = wheels.locked(wheels.LOCK.read_text(), names)
    assert entries.count("==") == len(names)
    assert entries.count("--hash=sha256:") >= len(names)


def test_the_script_of_the_one_file_has_no_gap_left() -> None:
    script = one_file.launcher()
    assert "python3 python3.13 python3.12 python3.11;" in script
    assert script.replace("@_SIZE_@", "").count("@") == script.count('"$@"')


def test_the_manual_has_every_command_and_option() -> None:
    page = manual.of_commands().replace(r"\-", "-")
    for name, command in every_verb().items():
        assert command.hidden or f"\n.SS cephtui {name}\n" in page
    options = [option for command in every_verb().values() for option in command.params]
    for option in options:
        assert not isinstance(option, click.Option) or option.hidden or option.opts[0] in page


def test_no_text_of_a_page_is_taken_for_a_request() -> None:
    text = "# A\n\nHow.\n\n.PP and\n'so `a\\b`\n\n```\n.venv/bin/x\n...\n```\n\n- [B](../b/c-d.md#e)\n\n      ./f\n"
    assert manual.of_document("cephtui-a", text).splitlines()[3:] == [
        *(".PP", "How.", ".PP", r"\&.PP and", r"\&'so \fBa\eb\fR"),
        *(".sp", ".RS 4", ".nf", r"\&.venv/bin/x", r"\&...", ".fi", ".RE"),
        *(r".IP \(bu 2", r"B (\fBcephtui\-c\-d\fR(7))", ".RS 2"),
        *(".sp", ".RS 4", ".nf", r"\&./f", ".fi", ".RE", ".RE", ".PP"),
        *(".SH SEE ALSO", r"\fBcephtui\fR(1)"),
    ]


def test_a_table_becomes_a_list_of_its_rows() -> None:
    table = "| a | b | c |\n|---|---|---|\n| 1 | 2 | |\n| x | `y\\|z` | w |\n"
    assert roff.of_markdown(table) == ".TP\n1\nb: 2\n.TP\nx\nb: \\fBy|z\\fR\n.br\nc: w\n.PP\n"
