"""What can be seen at each size on each kind of terminal, what is sent to it, and how it is left."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from textual.color import Color

from cephtui.models import Run
from cephtui.sessions import store
from cephtui.tui.terminal.themes import LIGHT
from tests.on_terminal.terminals import CONSOLE, Tmux, environment, recorder, tmux, until

SIZES = ((80, 24), (93, 25), (120, 36), (200, 50))
TITLE_WORDS, SHORT_WORDS = ("Write", "Read", "IOPS", "Latency", "Mixed"), ("MB/s",)
WIDE, LONG_WORDS = 140, ("throughput", "75/25")
"""From this width on the titles stand in full."""
COLORS = re.compile(rb"\x1b\[([\d;]*)m")
EIGHT = {b"", b"0", b"1", b"4"} | {b"%d" % number for number in (*range(30, 38), *range(40, 48))}
NONE = {b"", b"0", b"1", b"4", b"7"}
UNKNOWN = re.compile(rb"\x1b(\]|\[[<>][\d;]*u|\[\?\d+\$p)")
"""What plain terminals print in part: the pointer's shape, links, the kitty keyboard, questions."""


def sent_codes(sent: bytes) -> set[bytes]:
    """Every number in a colour sequence."""
    return {number for parameters in COLORS.findall(sent) for number in parameters.split(b";")}


def saved(home: Path) -> list[Run]:
    """The runs of the console's session."""
    directory = home / "data" / "sessions" / "s"
    return store.read_runs(directory)[0] if directory.is_dir() else []


def measuring(home: Path) -> bool:
    """Whether the run has delivered samples and has not ended."""
    run = next(iter(saved(home)), None)
    if run is None or run.outcome is not None:
        return False
    samples = home / "data" / "sessions" / "s" / f"{run.run:03}" / "samples.jsonl"
    return samples.is_file() and samples.stat().st_size > 0


def faults(lines: list[str], size: tuple[int, int]) -> list[str]:
    """What important is missing, or stands outside."""
    panels = " ".join(lines[1:5])
    titles = (*TITLE_WORDS, *(LONG_WORDS if size[0] >= WIDE else SHORT_WORDS))
    hints = ("1-6 select", "enter run", "s stop", "? help", "q quit")
    wrong = {
        "the size": len(lines) != size[1] or max(map(len, lines)) > size[0],
        "the bar": not lines[0].split() or lines[0].split()[0] != "cephtui",
        **{f"panel {n}": not re.search(rf"\b{n}\b", panels) for n in range(1, 7)},
        **{f"title {word}": word not in panels for word in titles},
        **{hint: not re.search(rf"{re.escape(hint)}(\s|$)", lines[-1]) for hint in hints},
    }
    return [what for what, missing in wrong.items() if missing]


def shows_all(window: Tmux, size: tuple[int, int]) -> None:
    """Wait until everything important is on the screen."""
    until(
        lambda: not faults(window.screen(), size),
        lambda: f"{faults(window.screen(), size)} at {size}:\n{window.text()}",
    )


@pytest.mark.parametrize("term", ["xterm-256color", "xterm", "linux"])
def test_everything_important_can_be_seen_at_every_size(tmp_path: Path, term: str) -> None:
    with tmux(SIZES[0], environment(tmp_path, term)) as window:
        for size in SIZES:
            window.resize(*size)
            shows_all(window, size)
            assert window.text().isascii() or term != "linux"
        window.keys("?")
        window.shows("keys")
        assert window.text().isascii() == (term == "linux")


def test_a_run_goes_on_while_the_terminal_changes_its_size(tmp_path: Path) -> None:
    with tmux((120, 36), environment(tmp_path, "xterm-256color")) as window:
        window.shows("cephtui", "quit")
        window.keys("5", "Enter")
        until(lambda: measuring(tmp_path), window.text)
        for size in ((80, 24), (200, 50), (93, 25)):
            window.resize(*size)
            window.shows("cephtui", "quit")
        window.resize(60, 15)
        window.shows("cephtui needs 80x24, this terminal has 60x15.", "the run continues")
        assert "quit" not in window.text()
        window.keys("s", "q", "C-c", "C-q", "3")
        window.resize(1, 1)
        window.resize(20, 50)
        window.shows("cephtui needs", "20x50.")
        window.resize(80, 24)
        window.shows("cephtui", "quit")
        assert measuring(tmp_path)
        window.keys("s")
        until(lambda: bool(saved(tmp_path)) and saved(tmp_path)[0].outcome is not None, window.text)
        assert [run.outcome for run in saved(tmp_path)] == ["stopped"]
        window.shows("stopped", "queue: 1 run waiting", "held")  # the writes after the reads


@pytest.mark.parametrize("term", ["xterm-256color", "linux"])
def test_the_terminal_is_left_as_it_was(tmp_path: Path, term: str) -> None:
    shell = ("bash", "--norc", "--noprofile", "-i")
    with tmux((80, 24), environment(tmp_path, term, PS1="ready> "), shell) as window:
        window.shows("ready>")
        window.keys("stty -a > ~/before; echo before-the-console", "Enter")
        window.shows("\nbefore-the-console")
        before = window.modes()
        window.keys(f"{' '.join(CONSOLE)}; echo exit=$?; stty -a > ~/after; echo all-is-said", "Enter")
        window.shows("cephtui", "quit", "Mixed")
        assert window.modes() != before
        window.keys("q")
        window.shows("\nbefore-the-console", "\nexit=0", "\nall-is-said")
        assert window.modes() == before
        assert "Mixed" not in window.text()
        assert (tmp_path / "after").read_text() == (tmp_path / "before").read_text()


def test_one_that_is_too_small_from_the_start_can_be_made_larger_or_left(tmp_path: Path) -> None:
    with tmux((60, 15), environment(tmp_path, "linux")) as window:
        window.shows("cephtui needs 80x24, this terminal has 60x15.", "press q to quit")
        window.keys("1", "2", "Enter")
        for size in ((70, 20), (60, 15)):  # by then they have been read
            window.resize(*size)
            window.shows(f"{size[0]}x{size[1]}")
        window.resize(80, 24)
        window.shows("Mixed", "quit")
        assert not saved(tmp_path)
        window.resize(79, 24)
        window.shows("79x24")
        window.keys("q")
        window.ends()


@pytest.mark.parametrize(
    ("term", "more", "arguments", "allowed"),
    [
        ("xterm", {}, (), EIGHT),
        ("linux", {}, (), EIGHT),
        ("xterm-256color", {"COLORTERM": "truecolor"}, ("--safe",), EIGHT),
        ("vt220", {}, (), NONE),
        ("xterm-256color", {"NO_COLOR": "1"}, (), NONE),
    ],
)
def test_nothing_is_sent_that_the_terminal_does_not_have(
    tmp_path: Path, term: str, more: dict[str, str], arguments: tuple[str, ...], allowed: set[bytes]
) -> None:
    with recorder((93, 25), environment(tmp_path, term, **more), (*CONSOLE, *arguments)) as recording:
        recording.sends(b"cephtui", b"quit", b"Mixed")
        recording.keys("2\r")
        until(lambda: measuring(tmp_path), lambda: repr(recording.sent[-2000:]))
        recording.keys("s")
        until(lambda: saved(tmp_path)[0].outcome is not None, lambda: repr(recording.sent[-2000:]))
        recording.keys("qy")  # yes, where what was stopped is still being put away
        assert recording.exit_code() == 0
        recording.sends(b": cephtui show s\r\n")
        sent = recording.sent
    assert [run.outcome for run in saved(tmp_path)] == ["stopped"]
    assert sent_codes(sent) - allowed == set()
    assert sent_codes(sent) & allowed - {b"0", b""}
    assert not UNKNOWN.search(sent)
    if term != "xterm" and "NO_COLOR" not in more:
        assert sent.isascii()


def test_an_unknown_number_of_colors_is_wrong_usage(tmp_path: Path) -> None:
    with recorder((80, 24), environment(tmp_path, "xterm", CEPHTUI_COLORS="7"), CONSOLE) as recording:
        recording.sends(b"CEPHTUI_COLORS=7: ", b" truecolor, 256, 16, 8, none")
        assert recording.exit_code() == 2


def test_the_theme_that_was_chosen_is_there_again(tmp_path: Path) -> None:
    environ = environment(tmp_path, "xterm-256color", COLORTERM="truecolor")
    kept = tmp_path / "state" / "cephtui" / "theme"
    with tmux((80, 24), environ) as window:
        window.shows("Mixed", "q quit")
        window.keys("C-p")
        window.shows("type to find a command")
        window.keys(*"Theme", "Enter")
        window.shows("type to find a theme")
        window.keys(*"cephtui-light")
        window.shows("cephtui-light")
        window.keys("Enter")
        until(lambda: "type to find a theme" not in window.text(), window.text)
        window.keys("q")
        window.ends()
    assert kept.read_text() == "cephtui-light\n"
    light = ";".join(map(str, Color.parse(str(LIGHT.background)).rgb)).encode()
    for again, ground in ((environ, b"48;2;" + light), (environment(tmp_path, "linux"), b"")):
        with recorder((80, 24), again) as recording:
            recording.sends(b"Mixed", ground)
            recording.keys("q")
            assert recording.exit_code() == 0
    assert kept.read_text() == "cephtui-light\n"


@pytest.mark.parametrize("gap_seconds", [0.01, 0.0])
def test_what_is_typed_ahead_of_the_form_arrives_in_it_in_its_order(tmp_path: Path, gap_seconds: float) -> None:
    """As one types who knows the keys, or as a slow link delivers them."""
    with recorder((93, 25), environment(tmp_path, "xterm-256color")) as recording:
        recording.sends(b"Mixed", b"ready")
        for key in (*"2e16k\t32\t\x153", "\x1b[D", *"4\t\x1590\r"):
            recording.keys(key)
            time.sleep(gap_seconds)
        recording.sends(b"16k randwrite, depth 32, jobs 43, 90 s")
        recording.keys("q")
        assert recording.exit_code() == 0
    assert not (tmp_path / "data" / "sessions" / "s").exists()
