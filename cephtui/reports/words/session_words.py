"""Sessions in words, for their table and for the screen."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

from cephtui import units
from cephtui.models.session_row import SessionRow
from cephtui.reports.words.cutting import short_target
from cephtui.reports.words.quality import LEVELS
from cephtui.sessions.demo import is_packaged

BEST = ("best IOPS", "best bandwidth")
"""Columns."""
_NAMED_WITHIN = timedelta(minutes=2)
"""A session is made within this time of its name."""


def date(row: SessionRow, *, time: bool = True) -> str:
    """When a session began, by the clock here."""
    if row.created_at is None:
        return units.DASH
    return f"{row.created_at.astimezone():{'%Y-%m-%d %H:%M' if time else '%Y-%m-%d'}}"


def date_beside_name(row: SessionRow, *, time: bool = True) -> str:
    """When a session began; empty where it is not known, or the session's name is this time."""
    return "" if row.created_at is None or _is_named_after(row, row.created_at) else date(row, time=time)


def _is_named_after(row: SessionRow, created_at: datetime) -> bool:
    try:
        named = datetime.strptime(row.session[: len("2026-01-02-030405")], "%Y-%m-%d-%H%M%S")
    except ValueError:
        return False
    return abs(created_at.astimezone().replace(tzinfo=None) - named) < _NAMED_WITHIN


def target(row: SessionRow) -> str:
    """``rbd:bench``; ``2 targets`` where there are several."""
    return f"{len(row.targets)} targets" if len(row.targets) > 1 else "".join(map(short_target, row.targets))


def best(row: SessionRow) -> dict[str, str]:
    """The best figures by column: ``r 120k  w 16.7k``; empty where nothing was measured."""
    iops = _both(units.iops, row.best_read_iops, row.best_write_iops)
    bandwidth = _both(units.bandwidth, row.best_read_bandwidth_bytes, row.best_write_bandwidth_bytes)
    return dict(zip(BEST, (iops, bandwidth), strict=True))


def _both(text: Callable[[float], str], read: float | None, write: float | None) -> str:
    return "  ".join(f"{word} {text(value)}" for word, value in (("r", read), ("w", write)) if value)


def whose(row: SessionRow) -> str:
    """``read-only: comes with cephtui`` of the demo; empty for the user's own."""
    return "read-only: comes with cephtui" if is_packaged(Path(row.path)) else ""


def is_empty(row: SessionRow) -> bool:
    """Whether nothing was measured: each run was refused, or there is none."""
    return not row.writing and not row.error and row.outcomes.keys() <= {"refused"}


def outcome_counts(row: SessionRow) -> list[str]:
    """How many runs ended how; of those that ended well, how many are questionable, or do not count."""
    bad = sum(number for outcome, number in row.outcomes.items() if outcome not in ("ok", "running"))
    doubtful = {
        LEVELS["limits"]: row.validity.get("SUSPECT", 0),
        LEVELS["invalidates"]: max(0, row.validity.get("INVALID", 0) - bad),
    }
    counts = {**row.outcomes, "ok": row.outcomes.get("ok", 0) - sum(doubtful.values()), **doubtful}
    return [f"{number} {outcome}" for outcome, number in counts.items() if number > 0]
