"""Jobs of a run as bars, such as the OSDs of a cluster: those that are clearly slower than their like marked."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from cephtui import units
from cephtui.analysis.detectors.jobs import JobFigure, slower, under

BAR_COLUMNS = 24
"""Of a bar in a text without a width of its own."""
_BAR_LEAST, _RATE_COLUMNS = 4, 10
_ROWS_MOST = 100


def bars(
    figures: Sequence[JobFigure], *, width: int = 0, rows: int = 0, ascii_only: bool = False, style: str = "green"
) -> Text:
    """A row for each job: its name, group and place, a bar from zero, its bandwidth, and how slow it is.

    ``width`` and ``rows`` are the room there is, or 0; where there is too little for all, the slowest are shown.
    """
    marked = slower(figures)
    shown = _slowest(figures, rows or _ROWS_MOST)
    most = max((job.bandwidth_bytes for job in figures), default=0.0)
    columns = _Columns(shown, width, several=len({job.direction for job in figures}) > 1)
    lines = []
    for job in shown:
        filled = round(columns.bar * job.bandwidth_bytes / most) if most else 0
        sign, rest = ("v" if ascii_only else "▼", "." if ascii_only else "─")
        slow, color = job in marked, "yellow" if job in marked else style
        line = Text.assemble(
            columns.head(job),
            (("=" if ascii_only else "━") * filled, f"bold {color}"),
            (rest * (columns.bar - filled), "dim"),
            f" {units.bandwidth(job.bandwidth_bytes):>{_RATE_COLUMNS}}",
            (f" {sign}" if slow else "", "bold yellow"),
        )
        lines.append(line.append(f" {under(job, marked[job])}" if slow and not width else "", "yellow"))
    if len(shown) < len(figures):
        lines.append(Text(f"+{len(figures) - len(shown)} faster", "dim"))
    return Text("\n", no_wrap=True, overflow="ellipsis").join(lines)


class _Columns:
    """How wide what is."""

    def __init__(self, shown: Sequence[JobFigure], width: int, *, several: bool) -> None:
        """``several`` directions have to be told apart."""
        self._several = several
        texts = [self._texts(job) for job in shown]
        self._widths = [max(map(cell_len, column)) for column in zip(*texts, strict=True)]
        self.bar = BAR_COLUMNS
        if width:
            self._cut(width)
            self.bar = max(_BAR_LEAST, width - sum(w + 1 for w in self._widths if w) - _RATE_COLUMNS - 3)

    def _cut(self, width: int) -> None:
        """The last columns give way to the bar."""
        for number in range(len(self._widths) - 1, 0, -1):
            room = width - sum(w + 1 for w in self._widths if w) - _RATE_COLUMNS - 3 - 2 * _BAR_LEAST
            self._widths[number] = max(0, min(self._widths[number], self._widths[number] + room))

    def _texts(self, job: JobFigure) -> tuple[str, ...]:
        return (job.job, *[job.direction] * self._several, job.group, job.place)

    def head(self, job: JobFigure) -> str:
        """The cells before the bar."""
        cells = zip(self._texts(job), self._widths, strict=True)
        return "".join(f"{set_cell_size(text, width)} " for text, width in cells if width)


def _slowest(figures: Sequence[JobFigure], rows: int) -> list[JobFigure]:
    """All, or the slowest that fit above a line that counts the others; in their order."""
    if len(figures) <= rows:
        return list(figures)
    least = sorted(figures, key=lambda job: job.bandwidth_bytes)[: max(1, rows - 1)]
    return [job for job in figures if job in least]
