"""Listings are printed from the page that was kept, and never from one that does not hold any more."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from cephtui.cli import kept_pages
from cephtui.cli.emit import Output
from cephtui.cli.verbs import cli
from cephtui.models import SessionNotes
from cephtui.reports.blocks import Code, View, document
from cephtui.reports.sheets import Sheet
from cephtui.sessions import archive
from tests import PACKAGE
from tests.support import studies

VERBS = (("presets",), ("sessions",), ("show", studies.NAME))
OWN_PRESET = 'title = "Mine"\ndescription = "What I measure"\n[options]\nrw = "read"\nbs = "8k"\n'


@pytest.fixture
def user(home: Path) -> Path:
    """The home of a user who has a session and a preset."""
    own = home / "CONFIG/cephtui/presets/mine.toml"
    own.parent.mkdir(parents=True)
    own.write_text(OWN_PRESET)
    studies.write(home / "data/sessions", studies.runs(9), studies.order())
    return home


def call(*words: str) -> str:
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.output
    return done.stdout


def page(home: Path, verb: str) -> Path:
    return home / "CACHE" / "cephtui" / "pages" / f"{verb}.json"


def make_recognisable(home: Path, verb: str) -> None:
    """Have the page that is kept differ from one that would be made now."""
    made_of, _ = json.loads(page(home, verb).read_text())
    page(home, verb).write_text(
        json.dumps([made_of, {"Document": ["", "", [{"Text": ["as kept", "", 0]}], [], "", None]}])
    )


@pytest.mark.parametrize("words", VERBS)
def test_the_page_that_was_kept_is_the_one_that_was_printed(user: Path, words: tuple[str, ...]) -> None:
    first = call(*words)
    kept = page(user, words[0]).read_bytes()
    assert call(*words) == first
    assert page(user, words[0]).read_bytes() == kept
    make_recognisable(user, words[0])
    assert call(*words) == "as kept\n"


@pytest.mark.parametrize("words", VERBS)
def test_only_a_table_is_printed_so(user: Path, words: tuple[str, ...]) -> None:
    call(*words)
    make_recognisable(user, words[0])
    for form in ("json", "md", "csv"):
        assert "as kept" not in call(*words, "--format", form)


def add_preset(home: Path) -> None:
    (home / "CONFIG/cephtui/presets/other.toml").write_text(OWN_PRESET)


def edit_preset(home: Path) -> None:
    (home / "CONFIG/cephtui/presets/mine.toml").write_text(OWN_PRESET.replace("8k", "16k"))


def remove_preset(home: Path) -> None:
    (home / "CONFIG/cephtui/presets/mine.toml").unlink()


def add_suite(home: Path) -> None:
    (home / "CONFIG/cephtui/suites").mkdir()
    (home / "CONFIG/cephtui/suites/own.toml").write_text("")


def add_session(home: Path) -> None:
    (home / "data/sessions/new").mkdir()


def write_note(home: Path) -> None:
    archive.write_notes(home / "data/sessions" / studies.NAME, SessionNotes(note="a slow day"))


def break_run(home: Path) -> None:
    run = home / "data/sessions" / studies.NAME / "003" / "run.json"
    run.write_text(run.read_text()[:-20])


def remove_run(home: Path) -> None:
    shutil.rmtree(home / "data/sessions" / studies.NAME / "003")


def touch_program(home: Path) -> None:
    """As an update of cephtui does."""
    os.utime(PACKAGE / "__init__.py")


@pytest.mark.parametrize(
    ("words", "change"),
    [
        *((VERBS[0], change) for change in (add_preset, edit_preset, remove_preset, add_suite, touch_program)),
        *((VERBS[1], change) for change in (add_session, write_note, break_run, remove_run, touch_program)),
        *((VERBS[2], change) for change in (write_note, break_run, remove_run, touch_program)),
    ],
)
def test_no_page_is_older_than_what_it_is_made_of(
    user: Path, words: tuple[str, ...], change: Callable[[Path], None]
) -> None:
    call(*words)
    make_recognisable(user, words[0])
    change(user)
    assert "as kept" not in CliRunner().invoke(cli, words).output


def test_times_are_those_of_the_time_zone(user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = set()
    try:
        for zone in ("Asia/Kolkata", "Asia/Jerusalem", "UTC"):
            monkeypatch.setenv("TZ", zone)
            time.tzset()
            shown.add(call(*VERBS[2]))
    finally:
        monkeypatch.delenv("TZ")
        time.tzset()
    assert len(shown) == 3


@pytest.mark.parametrize("words", VERBS[1:])
def test_no_page_is_kept_of_what_is_being_written(user: Path, words: tuple[str, ...]) -> None:
    with (user / "data/sessions" / studies.NAME / "lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        call(*words)
        assert not page(user, words[0]).exists()


def test_a_session_with_a_broken_run_is_shown_with_an_error_each_time(user: Path) -> None:
    break_run(user)
    for _ in range(2):
        done = CliRunner().invoke(cli, VERBS[2])
        assert done.exit_code == 1
        assert "003/run.json" in done.stderr


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"[1, 2, 3]", b"\xff", b'["x", {"Document": []}]', b"[" * 100_000, b"{}"]
)
@pytest.mark.parametrize("words", VERBS)
def test_a_broken_page_is_made_again(user: Path, words: tuple[str, ...], content: bytes) -> None:
    first = call(*words)
    made_of = json.loads(page(user, words[0]).read_text())[0]
    page(user, words[0]).write_bytes(content.replace(b'"x"', json.dumps(made_of).encode()))
    assert call(*words) == first
    assert json.loads(page(user, words[0]).read_text())[0] == made_of


@pytest.mark.parametrize("words", VERBS)
def test_a_cache_that_cannot_be_written_changes_nothing(user: Path, words: tuple[str, ...]) -> None:
    first = call(*words)
    page(user, words[0]).unlink()
    page(user, words[0]).parent.rmdir()
    page(user, words[0]).parent.write_text("")
    assert call(*words) == call(*words) == first


READ = """
import sys
def seen(event, arguments):
    if event in ("open", "os.listdir", "os.scandir") and isinstance(arguments[0], str):
        print(arguments[0], file=sys.stderr)
sys.addaudithook(seen)
from cephtui.cli.main import main
main()
"""


@pytest.mark.parametrize("words", VERBS)
def test_a_page_is_made_of_the_files_that_are_looked_at(user: Path, words: tuple[str, ...]) -> None:
    """Whatever is read for it: else it could be older than that."""
    done = subprocess.run([sys.executable, "-c", READ, *words], capture_output=True, text=True, cwd=PACKAGE.parent)
    assert done.returncode == 0, done.stderr[-500:]
    read = {line for line in done.stderr.splitlines() if line.startswith(str(user)) and Path(line).is_file()}
    made_of = json.loads(page(user, words[0]).read_text())[0]
    own = str(user / "CACHE"), str(user / "STATE")
    unknown = {name for name in read if not name.startswith(own) and f"{name} " not in made_of}
    assert not unknown
    assert read


def test_a_page_of_anything_else_is_not_kept(user: Path) -> None:
    view = View(lambda: document("x", Code("", "ls")), lines=list, sheet=lambda: Sheet("", (), ()))
    kept_pages.emit_kept("sessions", Output(), (), lambda: view)
    assert not page(user, "sessions").exists()
