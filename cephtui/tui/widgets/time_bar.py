"""How far something is, as a bar in one row, with ticks where something happened."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text
from textual.widgets import Static

from cephtui import units
from cephtui.frozen import dataclass
from cephtui.tui.terminal.profile import profile_of

_LEAST_COLUMNS = 8


@dataclass(frozen=True, slots=True)
class TimeLine:
    """A stretch of time with a position in it, in seconds of any clock."""

    word: str
    """What it does: ``paused 4x``, ``running``."""
    begin: float
    position: float
    end: float | None
    """None where it is not known."""
    stalls: tuple[tuple[float, float], ...] = ()
    """Beginning and end of each."""
    marks: tuple[float, ...] = ()

    def fraction(self, seconds: float) -> float:
        """The place of a moment, from 0 to 1."""
        length = (self.end or 0.0) - self.begin
        return min(1.0, max(0.0, (seconds - self.begin) / length)) if length > 0 else 1.0


def progress_bar(fraction: float, columns: int, *, ascii_only: bool) -> Text:
    """What is done as a part of so many columns."""
    done = round(fraction * columns)
    full, rest = ("=", ".") if ascii_only else ("━", "─")
    return Text.assemble((full * done, "bold green"), (rest * (columns - done), "dim"))


def time_line_text(line: TimeLine, width: int, *, ascii_only: bool) -> Text:
    """A bar with its word before it, how far it is behind it, and ticks on it: stalls (red), and marks before them."""
    text, passed = Text(f"{line.word} ", "bold", end=""), units.duration(line.position - line.begin)
    if line.end is None:
        return text.append(passed, "not bold")
    behind = f" {passed} of {units.duration(line.end - line.begin)}"
    columns = max(_LEAST_COLUMNS, width - len(text) - len(behind))
    bar = progress_bar(line.fraction(line.position), columns, ascii_only=ascii_only)
    for column, symbol, style in _ticks(line, columns, *("#|" if ascii_only else "▒┃")):
        bar = Text.assemble(bar[:column], (symbol, style), bar[column + 1 :])
    return Text.assemble(text, bar, behind)


def _ticks(line: TimeLine, columns: int, stall: str, mark: str) -> Iterator[tuple[int, str, str]]:
    """Column, symbol and style of each."""

    def column(seconds: float) -> int:
        return min(columns - 1, int(line.fraction(seconds) * columns))

    ends = (line.begin, line.end or line.begin)
    for begin, end in line.stalls:
        if begin <= ends[1] and end >= ends[0]:
            yield from ((at, stall, "bold red") for at in range(column(begin), column(end) + 1))
    yield from ((column(at), mark, "bold") for at in line.marks if ends[0] <= at <= ends[1])


class TimeBar(Static):
    """One row with a time line."""

    DEFAULT_CSS = "TimeBar { height: 1; padding: 0 1; background: $surface; text-wrap: nowrap; }"

    def show(self, line: TimeLine) -> None:
        """Draw it where it is now."""
        ascii_only = profile_of(self).ascii_only
        self.update(time_line_text(line, self.app.size.width - 2, ascii_only=ascii_only), layout=False)
