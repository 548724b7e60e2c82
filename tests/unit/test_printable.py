"""Text of others: what becomes of every character, and that nothing gets around the one place where it does."""

from __future__ import annotations

import json
import logging
import shlex
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel
from rich.segment import Segment
from textual.color import Color

from cephtui import models
from cephtui.cli import log
from cephtui.models import Notice
from cephtui.models.rows import Info
from cephtui.models.session_row import SessionRow
from cephtui.planning import _quoted
from cephtui.printable import lines, one_line, printable
from cephtui.sessions.jsonlines import as_json, line, parse_sample
from cephtui.sessions.undo import Undo
from cephtui.tui.terminal.filters import Printable
from tests.support.canaries import CANARY, HOSTILE, filled, public_models

EXACT = {
    *(
        f"Node.{name}"
        for name in [
            "host",
            "user",
            "ssh_config",
            "prefix",
            "ceph_prefix",
            "ceph_conf",
            "ceph_keyring",
            "ceph_id",
            "programs",
        ]
    ),
    "Node.ceph_mon_host",
    *(
        f"{place}.{name}"
        for place in ["_Place", "FilePlace", "RbdPlace", "RadosPlace", "HostPlace", "S3Place", "OsdPlace"]
        for name in ["path", "pool", "images", "namespace", "ceph_id"]
    ),
    *("NodeStep.prefix", "NodeStep.argv", "NodeStep.prepare_argv", "NodeStep.access", "Part.spec"),
    *("CompanionStep.prefix", "CompanionStep.argv", "CompanionStep.ready"),
    *("Cell.target", "Cell.data_pool"),
    *("Step.target", "Step.data_pool", "Plan.ceph_node", "Plan.destroy", "Undo.target", "SessionRow.path"),
}
"""What commands and paths are made of: where it is shown, it is made printable there."""


# ---------------------------------------------------------------------------------------------- characters


def test_of_all_characters_only_those_stay_that_are_seen() -> None:
    every = [chr(code) for code in (*range(0x20000), *range(0xE0000, 0xE1000), sys.maxunicode)]
    kept = {char for char in every if printable(char) == char}
    assert not {char for char in kept if char != " " and unicodedata.category(char)[0] in "CZ"}
    assert not kept & set(HOSTILE)
    escaped = printable("".join(char for char in every if char not in kept))
    assert escaped.isascii()
    assert escaped.isprintable()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("größe 4k ▁▂▃ ⣿ 日本", "größe 4k ▁▂▃ ⣿ 日本"),
        ("evil\x1b]0;PWNED\x07", "evil\\x1b]0;PWNED\\x07"),
        ("\x9b2J\x7f\0", "\\u009b2J\\x7f\\x00"),
        ("a\u202eb\u2066c\u200ed\ufeff", "a\\u202eb\\u2066c\\u200ed\\ufeff"),
        ("a\nb\tc\r", "a\\nb\\tc\\r"),
        ("\u2028\u2029\xad\u3164\ufe0f", "\\u2028\\u2029\\u00ad\\u3164\\ufe0f"),
        ("x\udcffy\ud800\U000e0041", "x\\xffy\\ud800\\U000e0041"),
    ],
)
def test_what_is_not_seen_is_an_escape(text: str, shown: str) -> None:
    assert printable(text) == shown
    assert printable(shown) == shown


def test_what_is_said_is_one_line() -> None:
    assert one_line("  a\n\tb\u2028c\x1b[2J \r\n") == "a b c\\x1b[2J"


def test_what_a_program_prints_keeps_its_lines() -> None:
    assert lines("a\tb\r\n1\r2\n\x1b[2J") == "a       b\n1\n2\n\\x1b[2J"


@pytest.mark.parametrize("word", ["a\x1b]0;x\x07b", "it's\n", "back\\slash\x7f", "\u202ex", "plain", "two words"])
def test_a_command_that_is_shown_can_be_pasted(word: str) -> None:
    shown = _quoted(["printf", "%s", word])
    assert shown == printable(shown)
    found = subprocess.run(["bash", "-c", shown], capture_output=True, env={"LC_ALL": "C.UTF-8"}, check=True)
    assert found.stdout.decode() == word
    if printable(word) == word:
        assert shlex.split(shown) == ["printf", "%s", word]


# ---------------------------------------------------------------------------------------------- data


def strings(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Every text in a model, by the field that holds it."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from strings(getattr(value, name), f"{type(value).__name__}.{name}")
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from strings(key, path)
            yield from strings(each, path)
    elif isinstance(value, tuple | list):
        for each in value:
            yield from strings(each, path)


@pytest.mark.parametrize("model", public_models(), ids=lambda model: model.__name__)
def test_every_text_that_is_read_is_printable(model: type[models.Model]) -> None:
    value = model.model_validate(filled(model))
    for path, text in strings(value, ""):
        assert (text == CANARY) if path in EXACT else (printable(text) == text), path


def test_the_list_of_what_is_exact_names_fields() -> None:
    fields = {f"{model.__name__}.{name}" for model in public_models() for name in model.model_fields}
    assert fields >= EXACT


def test_a_sample_is_printable_too() -> None:
    row = {"run": 1, "node": CANARY, "preset": CANARY, "phase": "run", "elapsed_seconds": 1, "interval_seconds": 1}
    sample = parse_sample(json.dumps({**row, "read": None, "write": None, "missing": [CANARY]}))
    shown = printable(CANARY)
    assert (sample.node, sample.preset, sample.missing) == (shown, shown, (shown,))


def test_so_is_what_is_told_meanwhile() -> None:
    assert Notice(1, CANARY).text == one_line(CANARY)


@pytest.mark.parametrize("model", [Undo, SessionRow, models.Plan], ids=lambda model: model.__name__)
def test_json_is_the_same_to_a_program_and_nothing_to_a_terminal(model: type[models.Model]) -> None:
    value = model.model_validate(filled(model))
    for text in (line(value), as_json(value, indent=1).replace("\n", "")):
        assert text.isprintable()
        assert printable(text) == text
        assert model.model_validate(json.loads(text)) == value


def test_json_can_hold_a_path_that_is_not_utf_8() -> None:
    text = line(SessionRow(session="a", path="/x/\udcff\x7f"))
    assert text.isprintable()
    assert json.loads(text)["path"] == "/x/\udcff\x7f"
    info = filled(Info) | {"sessions": "/x/\udcff"}
    assert json.loads(line(Info.model_validate(info)))["sessions"] == "/x/\\xff"


# ---------------------------------------------------------------------------------------------- ways out


def test_the_log_has_one_line_for_each_record() -> None:
    try:
        raise ValueError("\x1b[2J\nforged")
    except ValueError:
        record = logging.LogRecord("cephtui", logging.ERROR, "", 0, "it failed: %s", (CANARY,), sys.exc_info())
    first, *rest = log._Formatter("%(name)s: %(message)s").format(record).split("\n")
    assert first == f"cephtui: it failed: {printable(CANARY)}"
    assert "\\x1b[2J" in "".join(rest)
    assert all(text == printable(text) for text in rest)


def test_the_last_barrier_of_the_screen_keeps_every_width() -> None:
    whole = [
        Segment("plain ▁▂"),
        Segment("a\x1b]0;x\x07b"),
        Segment("\u202e"),
        Segment("\xa0日\u3000"),
        Segment("\0" * 9),
    ]
    kept = Printable().apply(whole, Color(0, 0, 0))
    assert kept[0] is whole[0]
    assert [each.cell_length for each in kept] == [each.cell_length for each in whole]
    assert all(each.text == printable(each.text) for each in kept)
    assert kept[1].text == "a\\x1b]"
