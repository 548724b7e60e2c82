"""The bytes that reach a terminal, where all that others wrote would steer it: names, errors, versions, markup."""

from __future__ import annotations

import os
import re
import shlex
import sys
from pathlib import Path

import pytest

from tests.on_terminal.hostile import write_presets, write_sessions
from tests.on_terminal.hostile_verbs import COMPLETED, REFUSED, spoken
from tests.on_terminal.terminals import environment, recorder
from tests.support.canaries import NAME, faults

HERE = Path(__file__).parent.parent.parent
SCREENS = {
    "saved": {"sessions", "session", "replay", "log", "run", "text", "compare", "run picker", "notice", "why"},
    "asked": {
        *("target picker", "node picker", "preset picker", "form", "queue", "notice"),
        *("confirm", "type name", "ask", "wait", "enter text"),
    },
}
HOSTILE = shlex.quote(NAME)
FIO = f"""#!/bin/sh
if [ "$1" = --version ]; then printf %s {HOSTILE}; exit; fi
printf %s {HOSTILE} >&2
exit 1
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything below it is hostile: sessions, presets, and the fio on its PATH."""
    home = tmp_path_factory.mktemp("home")
    (home / "data" / "sessions").mkdir(parents=True)
    write_sessions(home / "data" / "sessions")
    write_presets(home / "config" / "cephtui" / "presets")
    (home / "bin").mkdir()
    fio = home / "bin" / "fio"
    fio.write_text(FIO)
    fio.chmod(0o755)
    return home


def hostile_environment(home: Path, term: str, **more: str) -> dict[str, str]:
    """The home's own programs before all others."""
    preset = home / "config" / "cephtui" / "presets" / "write-iops.toml"
    kept = preset.read_text()
    found = environment(home, term, PYTHONPATH=str(HERE), **more)
    preset.write_text(kept)
    return {**found, "PATH": f"{home / 'bin'}:{os.environ['PATH']}"}


# ---------------------------------------------------------------------------------------------- the command line


def test_no_verb_sends_what_others_wrote_as_it_is(home: Path) -> None:
    command = (sys.executable, "-m", "tests.on_terminal.hostile_verbs")
    with recorder((120, 40), hostile_environment(home, "xterm-256color"), command) as recording:
        assert recording.exit_code() == 0
        pieces = re.split(rb"=== \d\r\n", recording.sent)
    said = dict(zip(spoken(), pieces[:-1], strict=True))
    assert [f"{verb}: {found}" for verb, piece in said.items() if (found := faults(piece))] == []
    refused = [said[repr(verb)].decode() for verb in REFUSED]
    assert [text for text in refused if not re.fullmatch(r"cephtui: [^\r\n]+\r\n", text)] == []
    silent = [verb for verb, piece in said.items() if b"x1b]0;PWNED" not in piece and rb"u001b]0;PWNED" not in piece]
    assert silent == [repr(verb) for verb in COMPLETED]
    logged = (home / "state" / "cephtui" / "log" / "cephtui.log").read_bytes()
    assert not faults(logged)


# ---------------------------------------------------------------------------------------------- screens


@pytest.mark.parametrize("group", SCREENS)
@pytest.mark.parametrize(("size", "options"), [((120, 40), ()), ((80, 24), ("--safe",))], ids=["colours", "safe"])
def test_no_screen_sends_what_others_wrote_as_it_is(
    home: Path, group: str, size: tuple[int, int], options: tuple[str, ...]
) -> None:
    data, users = home / "data" / "sessions", home / "config" / "cephtui" / "presets"
    command = (sys.executable, "-m", "tests.on_terminal.hostile", str(data), str(users), group, *options)
    with recorder(size, hostile_environment(home, "xterm-256color", COLORTERM="truecolor"), command) as recording:
        assert recording.exit_code() == 0
        sent = recording.sent
    assert not faults(sent), (home / "state" / "cephtui" / "log" / "cephtui.log").read_text()[-3000:]
    assert set(sent.decode().rpartition("seen: ")[2].strip().split(", ")) - {"watch"} == SCREENS[group]
