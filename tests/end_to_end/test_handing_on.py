"""What the real process hands on: the clipboard of its terminal, and where the results are after its end."""

from __future__ import annotations

import base64
import re
import signal

import pytest

from cephtui.sessions import store
from tests.end_to_end.sandbox import Sandbox, wait_for
from tests.end_to_end.test_screens_end import IDLE, LEAVE_ALTERNATE, NewTerminal, Terminal, prepare, terminal
from tests.support import two_copies
from tests.support.drawings import runs_markdown

__all__ = ["terminal"]
RESULTS = "cephtui show demo"


def after_the_end(each: Terminal) -> str:
    """What the shell's screen has then."""
    each.console.wait()
    sent = each.all_sent()
    return sent[sent.rindex(LEAVE_ALTERNATE) :].decode()


def test_copying_gives_the_terminal_the_markdown(sandbox: Sandbox, terminal: NewTerminal) -> None:
    """By OSC 52, which sets the clipboard where the terminal is, over SSH too."""
    prepare(sandbox)
    each = terminal("replay", "demo/13")
    each.shows("write-iops" if two_copies.STAR == 13 else "rados-write")
    each.type("y")
    each.shows("copied #13 as Markdown")
    pattern = re.compile(rb"\x1b\]52;c;([A-Za-z0-9+/=]+)\x07")
    wait_for(lambda: pattern.search(each.sent), 30, "the clipboard", each.describe)
    found = pattern.search(each.sent)
    assert found is not None
    run = store.read_run(sandbox.data / "sessions" / "demo", 13)
    assert base64.b64decode(found[1], validate=True).decode() == runs_markdown([run])
    each.type("q")
    assert each.console.wait() == 0


@pytest.mark.parametrize("how", ["q", "INT", "TERM"])
def test_the_shell_shows_where_the_results_are(sandbox: Sandbox, terminal: NewTerminal, how: str) -> None:
    prepare(sandbox)
    each, empty = terminal("--session", "demo"), terminal()
    for console in (each, empty):
        console.shows(IDLE)
        if how != "q":
            console.signal(signal.Signals[f"SIG{how}"])
        else:
            console.type("q")
    assert RESULTS in after_the_end(each)
    assert "cephtui show" not in after_the_end(empty)
