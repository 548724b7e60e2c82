"""The slowest operations of OSDs, each with what its time was spent in: ``dump_historic_ops_by_duration``.

docs.ceph.com, Troubleshooting OSDs, Debugging slow requests. An OSD keeps the 20 slowest of the last 600 s
(osd_op_history_size, osd_op_history_duration).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import pairwise
from typing import Any

from cephtui.ceph import answers
from cephtui.frozen import dataclass

_STAGES = {
    "initiated": "receipt",
    "header_read": "receipt",
    "throttled": "throttled",
    "all_read": "receipt",
    "dispatched": "receipt",
    "queued_for_pg": "receipt",
    "reached_pg": "queue",
    "started": "preparation",
    "waiting for subops": "preparation",
    "op_commit": "own commit",
    "sub_op_commit_rec": "commit of a replica",
    "commit_sent": "end",
    "done": "end",
}
"""What an operation did until an event, by the begin of the event's name. Of several commits each has the time since
the one before it, so that the last is what was waited for."""
_OTHER, _READING = "other", "reading"
_READS = (" [read ", " [sparse-read ")
"""What the description of an operation has that reads first: it ends with its data."""
_OBJECT = re.compile(r" \d+:[0-9a-f]{8}:(?P<namespace>[^:\s]*):[^:\s]*:(?P<name>[^:\s]+):")
_DATA = re.compile(r"rbd_data\.(?:\d+\.)?(?P<image>[0-9a-f]+)\.[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class SlowOperation:
    """One of the slowest operations of an OSD."""

    osd: str
    """``osd.3``."""
    is_replica: bool
    """Whether the OSD did it for another one, the primary."""
    object: str
    """Its object; empty where it has none."""
    namespace: str
    begun: float
    """Seconds since 1970, by the clock of the OSD's host."""
    seconds: float
    stages: Mapping[str, float]
    """Seconds by what they were spent in, in the order of time; those of less than a microsecond left out."""

    @property
    def image_id(self) -> str:
        """The id of the image that its object is of; empty where it is none of an image."""
        match = _DATA.fullmatch(self.object)
        return match["image"] if match else ""


def argv(osd: str) -> tuple[str, ...]:
    """The command that asks an OSD, ``osd.3``; the cephx caps ``osd allow *`` are needed."""
    return ("ceph", "tell", osd, "dump_historic_ops_by_duration", "-f", "json")


def parse_slow_operations(osd: str, text: str) -> tuple[SlowOperation, ...]:
    """The answer of an OSD, the slowest first; what can't be read is left out. Raises ValueError for no answer."""
    rows = answers.objects(answers.json_object(text, "ops")["ops"])
    operations = (_operation(osd, row) for row in rows)
    return tuple(sorted((one for one in operations if one), key=lambda one: -one.seconds))


def _operation(osd: str, row: Mapping[str, Any]) -> SlowOperation | None:
    description, begun = str(row.get("description", "")), _moment(row.get("initiated_at"))
    if begun is None:
        return None
    match, is_replica = _OBJECT.search(description), description.startswith("osd_repop")
    return SlowOperation(
        osd=osd,
        is_replica=is_replica,
        object=match["name"] if match else "",
        namespace=match["namespace"] if match else "",
        begun=begun,
        seconds=answers.number(row.get("duration")),
        stages=_stages(
            answers.objects(answers.part(row, "type_data").get("events")),
            is_replica=is_replica,
            is_read=any(word in description for word in _READS),
        ),
    )


def _stages(events: Iterable[Mapping[str, Any]], *, is_replica: bool, is_read: bool) -> dict[str, float]:
    """By the times of events, in their order: 16.2 has them in another one, and durations that are not true."""
    names = _STAGES | ({"commit_sent": "own commit"} if is_replica else {}) | ({"done": _READING} if is_read else {})
    timed = [(at, str(event.get("event"))) for event in events if (at := _moment(event.get("time"))) is not None]
    stages: dict[str, float] = {}
    for (before, _), (at, event) in pairwise(sorted(timed, key=lambda pair: pair[0])):
        stage = next((stage for begin, stage in names.items() if event.startswith(begin)), _OTHER)
        stages[stage] = stages.get(stage, 0.0) + at - before
    return {stage: round(seconds, 6) for stage, seconds in stages.items() if seconds >= 1e-6}


def _moment(value: Any) -> float | None:
    try:
        return datetime.fromisoformat(str(value)).timestamp()
    except ValueError:
        return None
