"""Each line of ``rados bench``'s output by itself; the format is in ``output``."""

from __future__ import annotations

import re
from datetime import datetime

from cephtui.frozen import dataclass

DATE = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[+-]\d{4})?"
"""A date as Ceph writes it: until 14 with a blank, and without the time zone."""
_TIME = rf"(?:({DATE}) )?"
_ROW = re.compile(_TIME + r" *(\d{1,9}) +(\d{1,9}) +(\d{1,12}) +(\d{1,12}) +(\S+) +\S+ +\S+ +(\S+) *", re.ASCII)
_FULL = re.compile(r"(?<=\d)(?=0\.00)")
"""Ceph before 10 puts no blank before a latency of ten characters, which begins so."""
_WRITES = re.compile(_TIME + r"Maintaining (\d{1,9}) concurrent writes of (\d{1,12}) bytes(.*)", re.ASCII)
_OBJECT_SIZE, _SECONDS, _OBJECTS = (
    re.compile(form, re.ASCII)
    for form in (r"objects? of size (\d{1,12})\b", r"\b(\d{1,9}) seconds?\b", r"\b(\d{1,12}) objects?\b(?! of)")
)
_TOTAL = re.compile(
    _TIME + r"(Total time run|Total (?:writes|reads) made|(?:Write|Read) size|Bandwidth \(MB/sec\)|Average IOPS"
    r"|(?:Average|Stddev|Max|Min) Latency)(?:\(s\))?: *(\S+) *",
    re.ASCII | re.IGNORECASE,
)
_EXTREMES = re.compile(rf"({DATE}) ?min lat: .*", re.ASCII)
_LOGGED = re.compile(rf"({DATE}) +[0-9a-f]{{6,16}} +-?\d{{1,2}} .*", re.ASCII)
"""A line of Ceph's own log, with thread and level."""


@dataclass(frozen=True, slots=True)
class RadosRow:
    """The state at the end of one second; all counts are from the start."""

    second: int = 0
    in_flight: int = 0
    finished: int = 0
    mean: float = 0.0
    """Latency in seconds."""
    clock: float | None = None
    """Time of day."""
    speed: float = 0.0
    """Mean so far in MiB/s."""


@dataclass(frozen=True, slots=True)
class RadosAnnounced:
    """The announcement of a write run, before it begins."""

    in_flight: int
    block_bytes: int
    object_bytes: int
    seconds: int
    objects: int

    @property
    def most_ios(self) -> int | None:
        """How many writes are allowed; None without a limit."""
        if not self.objects or not self.block_bytes:
            return None
        return self.objects * (self.object_bytes // self.block_bytes)


def _number(text: str) -> float | None:
    """A figure as the tool can mean it: finite, not negative, nothing that a sum or a quotient could overflow with."""
    try:
        value = float(text)
    except ValueError:
        return None
    return (value if value > 1e-12 else 0.0) if 0 <= value < 1 << 63 else None


def _clock(text: str | None) -> float | None:
    """Time of day; one without a time zone is taken for one of this machine's."""
    try:
        return datetime.fromisoformat(text).timestamp() if text else None
    except (ValueError, OverflowError):
        return None


def read_clock(line: str) -> tuple[float, int] | None:
    """Time of day of a line that is no row, and how many seconds after the row before it; None for other lines.

    Of Ceph's own log, and of the extremes, which are printed every 20 rows, together with the row behind them.
    """
    extremes = _EXTREMES.fullmatch(line)
    match = extremes or _LOGGED.fullmatch(line)
    clock = _clock(match[1]) if match else None
    return None if clock is None else (clock, 1 if extremes else 0)


def read_row(line: str) -> RadosRow | None:
    """A row of the table; None for another line, such as one of another program's table with as many columns."""
    match = _ROW.fullmatch(line) or (_ROW.fullmatch(_FULL.sub(" ", line)) if "0.00" in line else None)
    mean = _number(match[7]) if match else None
    if match is None or mean is None:
        return None
    in_flight, started, finished = (int(match[at]) for at in (3, 4, 5))
    if in_flight != started - finished:
        return None
    return RadosRow(int(match[2]), in_flight, finished, mean, _clock(match[1]), _number(match[6]) or 0.0)


def read_announced(line: str) -> RadosAnnounced | None:
    """The line with which a write run begins; None for another. Ceph before 10 says less in it, in other words."""
    match = _WRITES.fullmatch(line)
    if not match:
        return None
    size, seconds, objects = (form.search(match[4]) for form in (_OBJECT_SIZE, _SECONDS, _OBJECTS))
    return RadosAnnounced(
        in_flight=int(match[2]),
        block_bytes=int(match[3]),
        object_bytes=int(size[1] if size else match[3]),
        seconds=int(seconds[1]) if seconds else 0,
        objects=int(objects[1]) if objects else 0,
    )


def read_total(line: str) -> tuple[str, float] | None:
    """A line of the totals, its name in small letters; None for another line, or a figure that can't be one."""
    match = _TOTAL.fullmatch(line)
    value = _number(match[3]) if match else None
    return (match[2].lower(), value) if match and value is not None else None
