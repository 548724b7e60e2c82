"""Of a frame, what the terminal shows already is not sent again; keys are read as they were pressed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.segment import Segment
from textual import _parser
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.drivers import headless_driver, linux_driver
from textual.events import Key
from textual.geometry import Region
from textual.pilot import Pilot
from textual.strip import Strip
from textual.widgets import Static

from cephtui.tui.app import CephtuiApp
from cephtui.tui.textual_private import Changes, KeyParser, Piece, TerminalDriver, write_raw
from tests.support.replayed import screen_text, until

COLUMNS, ROWS = 12, 3
CONSOLE = Console(file=None, color_system=None)


def piece(row: int, column: int, text: str) -> Piece:
    return row, column, Strip([Segment(text)])


class Screen:
    """What a terminal shows."""

    def __init__(self) -> None:
        self.rows = [[" "] * COLUMNS for _ in range(ROWS)]

    def take(self, sent: str) -> None:
        """Moves of the cursor, and letters."""
        row = column = 0
        for move_row, move_column, letter in re.findall(r"\x1b\[(\d+);(\d+)H|(.)", sent):
            if letter:
                self.rows[row][column] = letter
                column += 1
            else:
                row, column = int(move_row) - 1, int(move_column) - 1


@given(
    st.lists(
        st.lists(
            st.tuples(
                st.integers(0, ROWS - 1), st.integers(0, COLUMNS - 1), st.text("ab ", min_size=1, max_size=COLUMNS)
            ),
            max_size=5,
        ),
        max_size=8,
    )
)
def test_the_terminal_shows_every_frame(frames: list[list[tuple[int, int, str]]]) -> None:
    whole, changed = Screen(), Screen()
    shown: dict[int, dict[int, tuple[int, str]]] = {}
    for frame in frames:
        pieces = [piece(row, column, text[: COLUMNS - column]) for row, column, text in frame]
        whole.take(Changes(pieces, {}).render_segments(CONSOLE))
        changed.take(Changes(pieces, shown).render_segments(CONSOLE))
        assert changed.rows == whole.rows


def test_only_what_has_changed_is_sent() -> None:
    shown: dict[int, dict[int, tuple[int, str]]] = {}
    frame = [piece(0, 0, "IOPS "), piece(0, 5, "16.5k"), piece(1, 0, "lat")]
    assert Changes(frame, shown).render_segments(CONSOLE) == "\x1b[1;1HIOPS 16.5k\x1b[2;1Hlat"
    assert Changes(frame, shown).render_segments(CONSOLE) == ""
    frame[1] = piece(0, 5, "17.0k")
    assert Changes(frame, shown).render_segments(CONSOLE) == "\x1b[1;6H17.0k"


class Watched(CephtuiApp):
    """One text that changes, among others."""

    def compose(self) -> ComposeResult:
        """Rows."""
        yield Static("first", id="first")
        yield Static("second", id="second")


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """All that is written to the terminal."""
    written: list[str] = []

    class Recording(headless_driver.HeadlessDriver):
        is_headless = False

        def write(self, data: str) -> None:
            written.append(data)

    monkeypatch.setattr(headless_driver, "HeadlessDriver", Recording)
    return written


async def after(pilot: Pilot[None], sent: list[str], text: str) -> str:
    """What was sent since, once that is among it."""
    await until(pilot, lambda: text in "".join(sent))
    found = "".join(sent)
    sent.clear()
    return found


async def test_a_screen_is_sent_whole_only_where_it_is_not_known(tmp_path: Path, sent: list[str]) -> None:
    app = Watched(tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "second" in screen_text(app))
        await pilot.pause()
        await after(pilot, sent, "second")
        app.query_one("#second", Static).update("another")
        assert "first" not in await after(pilot, sent, "another")
        app.refresh(layout=True)
        await pilot.pause()
        assert "another" not in "".join(sent)
        write_raw(app, "\x1b[2J")
        await pilot.press("ctrl+l")
        found = await after(pilot, sent, "another")
        assert "first" in found
        await pilot.resize_terminal(90, 24)
        assert "first" in await after(pilot, sent, "another")
        app.app_resume_signal.publish(app)
        assert "first" in await after(pilot, sent, "another")


# ---------------------------------------------------------------------------------------------- keys


WAIT = ""
"""Nothing comes for longer than an escape is waited for."""


def keys(monkeypatch: pytest.MonkeyPatch, *chunks: str) -> list[str]:
    """What is read from these, by the names of keys, and by the kinds of other events."""
    now = [0.0]
    monkeypatch.setattr(_parser, "get_time", lambda: now[0])
    parser, events = KeyParser(), list[object]()
    for chunk in (*chunks, WAIT):
        now[0] += 0 if chunk else 1
        events += parser.feed(chunk) if chunk else parser.tick()
    return [event.key if isinstance(event, Key) else type(event).__name__ for event in events]


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        (["\x1bx"], ["escape", "x"]),
        (["\x1b", "x"], ["escape", "x"]),
        (["\x1b", WAIT, "x"], ["escape", "x"]),
        (["\x1b\r"], ["escape", "enter"]),
        (["\x1b1"], ["escape", "1"]),
        (["\x1b/"], ["escape", "slash"]),
        (["\x1b\x1b"], ["escape", "escape"]),
        (["\x1b\x1b[A"], ["escape", "up"]),
        (["\x1bf"], ["ctrl+right"]),
        (["\x1b\x7f"], ["ctrl+w"]),
    ],
)
def test_escape_and_a_key_right_behind_it_are_two_keys(
    chunks: list[str], expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert keys(monkeypatch, *chunks) == expected


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        (["\x1b[A"], ["up"]),
        (["\x1b", "[A"], ["up"]),
        (["\x1b[", WAIT, "A"], ["up"]),
        (["\x1b[1;", WAIT, "5C"], ["ctrl+right"]),
        (["\x1bO", WAIT, "P"], ["f1"]),
        (["\x1b[", WAIT, "[A"], ["f1"]),
        (["\x1b", WAIT, "[Bx"], ["escape", "x"]),
        (["\x1b[", WAIT, "\x1b[B"], ["down"]),
        (["\x1b[1;99X"], []),
        (["a\x1b[?62;cb"], ["a", "b"]),
        (["\x1b[<0;10;10M"], ["MouseDown"]),
        (["\x1b[?2026;1$y"], ["TerminalSupportsSynchronizedOutput"]),
        (["\x1b[200~[A\x1b[2", "01~x"], ["Paste", "x"]),
        (["[A"], ["left_square_bracket", "A"]),
    ],
)
def test_no_part_of_an_escape_sequence_is_text(
    chunks: list[str], expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert keys(monkeypatch, *chunks) == expected


async def test_the_driver_reads_keys_so(monkeypatch: pytest.MonkeyPatch) -> None:
    parsers: list[type] = []
    own = vars(linux_driver)
    monkeypatch.setattr(linux_driver, "XTermParser", own["XTermParser"])
    monkeypatch.setattr(linux_driver.LinuxDriver, "run_input_thread", lambda _: parsers.append(own["XTermParser"]))
    TerminalDriver(CephtuiApp(Path("/nonexistent"))).run_input_thread()
    assert parsers == [KeyParser]


class Counted(Static):
    """Counts how often it is rendered."""

    times = 0

    def render_lines(self, crop: Region) -> list[Strip]:
        self.times += 1
        return super().render_lines(crop)


class Stack(CephtuiApp):
    """Some rows of text."""

    CSS = "#beside { height: 1; } #left, #right { width: 20; }"

    def compose(self) -> ComposeResult:
        for number in range(5):
            yield Counted(f"row {number}", id=f"row{number}")
        with Horizontal(id="beside"):
            yield Static("left", id="left")
            yield Static("right", id="right")


async def test_only_what_stands_in_a_line_that_has_changed_is_rendered(sent: list[str]) -> None:
    app = Stack(Path("/nonexistent"))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "row 4" in "".join(sent))
        rows = list(app.query(Counted))
        before = [row.times for row in rows]
        rows[0].update("first", layout=False)
        rows[3].update("fourth", layout=False)
        await until(pilot, lambda: "first" in "".join(sent) and "fourth" in "".join(sent))
        assert [row.times > times for row, times in zip(rows, before, strict=True)] == [True, False, False, True, False]
        assert screen_text(app).split("\n")[:5] == ["first", "row 1", "row 2", "fourth", "row 4"]


async def test_after_a_frame_of_some_rows_a_whole_one_is_whole(sent: list[str]) -> None:
    """Where widgets begin and end in a line is kept from the first frame on that a layout was drawn in."""
    app = Stack(Path("/nonexistent"))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "row 4" in "".join(sent))
        sent.clear()
        app.query_one("#row1").styles.width = 30
        app.query_one("#row1", Static).update("second")
        await until(pilot, lambda: "second" in "".join(sent))
        assert screen_text(app).split("\n")[:6] == ["row 0", "second", "row 2", "row 3", "row 4", f"{'left':20}right"]
