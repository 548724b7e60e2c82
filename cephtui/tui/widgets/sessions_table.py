"""The table of the saved sessions: its texts, the columns for which there is room, and the rows."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence

from rich.cells import cell_len
from rich.console import JustifyMethod
from rich.text import Text
from textual import work
from textual.coordinate import Coordinate
from textual.events import Click
from textual.widgets import DataTable

from cephtui.models.session_row import SessionRow
from cephtui.printable import printable
from cephtui.reports.styles import OUTCOME_STYLES
from cephtui.reports.words.cutting import joined
from cephtui.reports.words.session_words import (
    BEST,
    best,
    date,
    date_beside_name,
    is_empty,
    outcome_counts,
    target,
    whose,
)
from cephtui.tui.keys import key

_ORDER = ("session", "date", "target", *BEST, "cluster", "nodes", "runs", "outcomes", "tags", "note")
_ALWAYS = {"session", "outcomes", "note"}
_MISSED = ("nodes", "tags", "cluster", "best bandwidth", "runs", "target", "date")
"""Columns dropped on narrow terminals, in this order; the detail line below the table still shows them."""
_LEAST = {"session": 18, "outcomes": 25, "target": 16, "cluster": 12, "tags": 12, "nodes": 12}
"""What these need of their width before a column is dropped; the others are never cut."""
_NOTE_LEAST, _NOTE_PART = 20, 7
"""What a note needs before other columns get room: so much in any case, or that part of the screen."""
ORDERS: dict[str, Callable[[SessionRow], str | float]] = {
    "newest first": lambda row: 0,
    "by name": lambda row: row.session,
    "by runs": lambda row: -row.runs,
    "by best IOPS": lambda row: -max(row.best_read_iops or 0, row.best_write_iops or 0),
}
"""What sessions, the newest first, are sorted by."""
_WIDE = 100
"""From this width on the time of day is shown too."""
_PADDING = 2
"""Blank columns that the table puts around a cell."""
_AT_ONCE = 50
"""Rows that are added without looking for keys in between: a few milliseconds."""


# ---------------------------------------------------------------------------------------------- words


def outcomes_text(row: SessionRow) -> str:
    """How the runs ended, whether they were imported, and whether more is to come or something is wrong."""
    words = ["writing"] * row.writing + ["broken"] * bool(row.error) + ["imported"] * row.imported
    return ", ".join([*words, *outcome_counts(row)])


def remark_text(row: SessionRow) -> str:
    """What is wrong with a session (files without their directory), whose it is, its baseline, and its note."""
    error = (row.error or "").replace(f"{row.path}/", "")
    return "; ".join(filter(None, [error, whose(row), _baseline(row), row.note]))


def _baseline(row: SessionRow) -> str:
    return "" if row.baseline is None else f"baseline #{row.baseline}"


def matches(row: SessionRow, words: Sequence[str]) -> bool:
    """Whether each word (small letters) occurs in one of a session's texts."""
    texts = [row.session, date(row), outcomes_text(row), remark_text(row), row.cluster, *best(row).values()]
    texts += [*row.presets, *row.tags, *row.nodes, *row.targets]
    text = "\n".join(filter(None, texts)).lower()
    return all(word in text for word in words)


def run_count(row: SessionRow) -> str:
    """``1 run``, ``6 runs``."""
    return f"{row.runs} run{'' if row.runs == 1 else 's'}"


def session_text(row: SessionRow) -> Text:
    """All that is known of a session, for where the table has no room."""
    where = [date(row), row.cluster, f"on {', '.join(row.nodes)}" if row.nodes else ""]
    ran = [run_count(row), outcomes_text(row), ", ".join(row.presets)]
    measured = [joined(row.targets, "targets"), *(f"{name} {text}" for name, text in best(row).items() if text)]
    mine = [f"tags {', '.join(row.tags)}" if row.tags else "", _baseline(row), row.note, whose(row)]
    lines = [", ".join(filter(None, where)), *("; ".join(filter(None, parts)) for parts in (ran, measured, mine))]
    text = Text.assemble((printable(row.session), "bold"), "  ", "\n".join(map(printable, filter(None, lines))))
    if row.error:
        text.append(f"\n{printable(row.error)}", OUTCOME_STYLES["failed"])
    return text


# ---------------------------------------------------------------------------------------------- columns


def session_cells(row: SessionRow, *, time: bool) -> dict[str, str]:
    """What stands in each column."""
    return {
        "session": row.session,
        "date": date_beside_name(row, time=time),
        "target": target(row),
        **best(row),
        "cluster": row.cluster or "",
        "nodes": ", ".join(row.nodes),
        "runs": str(row.runs),
        "outcomes": outcomes_text(row),
        "tags": ", ".join(row.tags),
        "note": remark_text(row),
    }


def fitted_columns(rows: Iterable[SessionRow], width: int, *, time: bool) -> dict[str, int]:
    """The columns for which there is room, and how wide they are; the note takes what is left."""
    natural = {name: cell_len(name) for name in _ORDER}
    used = set(_ALWAYS)
    for row in rows:
        for name, text in session_cells(row, time=time).items():
            natural[name] = max(natural[name], cell_len(printable(text)))
            used |= {name} if text else set()
    widths = {name: min(natural[name], _LEAST.get(name, natural[name])) for name in _ORDER if name in used}
    kept_free = min(max(_NOTE_LEAST, width // _NOTE_PART), natural["note"])
    for name in _MISSED:
        if _left(widths, width) < kept_free:
            widths.pop(name, None)
    for name in filter(widths.get, _LEAST):
        widths[name] += max(0, min(natural[name] - widths[name], _left(widths, width) - kept_free))
    return widths | {"note": max(_left(widths, width), cell_len("note"))}


def _left(widths: Mapping[str, int], width: int) -> int:
    used = sum(size + _PADDING for name, size in widths.items() if name != "note")
    return width - used - _PADDING


def _cell(column: str, text: str, style: str = "") -> Text:
    """A text that ends with a sign where it is cut off."""
    side: JustifyMethod = "right" if column == "runs" else "left"
    return Text(printable(text), style, justify=side, no_wrap=True, overflow="ellipsis")


def _state_style(row: SessionRow) -> str:
    worst = next((word for word in ("failed", "lost", "refused", "stopped") if word in row.outcomes), "ok")
    return OUTCOME_STYLES["failed" if row.error else worst]


def _styles(row: SessionRow) -> dict[str, str]:
    """Styles by column."""
    if is_empty(row):
        return dict.fromkeys(_ORDER, "dim")
    wrong = {"note": OUTCOME_STYLES["failed"]} if row.error else {}
    return {"session": "bold", "outcomes": _state_style(row), **wrong}


# ---------------------------------------------------------------------------------------------- rows


class SessionsTable(DataTable[Text]):
    """One row a session; a click selects it, a double click opens it."""

    BINDINGS = [
        key("enter", "select_cursor", "open", "open the session: its runs and charts", shown=True),
        key("down,j", "cursor_down", "down", "the session below"),
        key("up,k", "cursor_up", "up", "the session above"),
        key("home,g", "scroll_top", "first", "the first session"),
        key("end,G", "scroll_bottom", "last", "the last session"),
    ]
    DEFAULT_CSS = "SessionsTable { height: 1fr; overflow-x: hidden; scrollbar-size-vertical: 1; }"

    def __init__(self) -> None:
        super().__init__(id="sessions", cursor_type="row", zebra_stripes=True)
        self._sessions: list[SessionRow] = []
        self._widths: dict[str, int] = {}
        self._time = False

    @property
    def selected(self) -> SessionRow | None:
        """The session that the cursor is on."""
        return self._sessions[self.cursor_row] if self.cursor_row < len(self._sessions) else None

    @property
    def neighbour(self) -> SessionRow | None:
        """The session that takes the place of the selected one when that is deleted."""
        neighbours = self._sessions[self.cursor_row + 1 :] or self._sessions[: self.cursor_row][-1:]
        return neighbours[0] if neighbours else None

    def fit(self, rows: Iterable[SessionRow], width: int) -> None:
        """Choose the columns for these rows on a screen of this width; the rows must be ``put`` again."""
        self._time = width >= _WIDE
        self._widths = fitted_columns(rows, width - self.styles.scrollbar_size_vertical, time=self._time)
        self._sessions = []
        self.clear(columns=True)
        for name, size in self._widths.items():
            self.add_column(_cell(name, name), width=size, key=name)

    def put(self, rows: list[SessionRow], select: str | None) -> None:
        """Show these rows; the cursor goes to the session of that name, or to the first."""
        self._sessions = rows
        self.clear()
        at = next((index for index, row in enumerate(rows) if row.session == select), 0)
        begun = max(_AT_ONCE, at + 1)
        self._add(rows[:begun])
        self.move_cursor(row=at)
        self._add_later(rows[begun:])

    @work(exclusive=True)
    async def _add_later(self, rows: list[SessionRow]) -> None:
        """Add rows so that keys are answered meanwhile."""
        for start in range(0, len(rows), _AT_ONCE):
            await asyncio.sleep(0)
            self._add(rows[start : start + _AT_ONCE])

    def _add(self, rows: Iterable[SessionRow]) -> None:
        for row in rows:
            styles, texts = _styles(row), session_cells(row, time=self._time)
            self.add_row(*(_cell(name, texts[name], styles.get(name, "")) for name in self._widths), key=row.session)

    def on_click(self, event: Click) -> None:
        """The table's own handler opens with any second click, however late it comes."""
        row = event.style.meta.get("row", -1)
        if row < 0:
            return
        event.prevent_default().stop()
        self.cursor_coordinate = Coordinate(row, 0)
        if event.chain == 2:
            self.action_select_cursor()
