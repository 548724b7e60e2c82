"""What OSDs run with otherwise than by default, of the options that can hold I/O back: ``config diff`` of each.

Debug levels are kept where they are high.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from cephtui.ceph import answers
from cephtui.models import OsdOption
from cephtui.models.findings.cluster import MESSAGE_CAPS, THROTTLES

ARGV = ("ceph", "tell", "osd.*", "config", "diff", "-f", "json")
"""The command that asks all OSDs; the cephx caps ``osd allow *`` are needed."""
HOLDING_BACK = (
    *(*MESSAGE_CAPS, *THROTTLES),
    *("osd_mclock_max_sequential_bandwidth_hdd", "osd_mclock_max_sequential_bandwidth_ssd"),
    *("osd_op_num_shards_hdd", "osd_op_num_shards_ssd"),
    *("osd_op_num_threads_per_shard_hdd", "osd_op_num_threads_per_shard_ssd"),
)
"""With less of these an OSD has less in work at a time; 0 is no limit."""
SHARE_OF_CLIENTS = "osd_mclock_scheduler_client_lim"
"""The fraction of an OSD's capacity that clients may use at most; 0 is no limit (up to 17.2 it is in IOPS)."""
ONLY = rf"^(debug_\w+|{'|'.join((*HOLDING_BACK, SHARE_OF_CLIENTS))})$"
"""The options of an answer that are wanted: all that differ are 7 KB of each OSD, and some may be secret."""
_DEBUG = "debug_"
_HIGH_LEVELS = {str(level) for level in range(10, 21)}
_NO_SOURCE = ("default", "final")


def is_high_level(name: str, value: str) -> bool:
    """Whether an option is a debug level, ``20/20``, with which a daemon writes lines for each operation."""
    return name.startswith(_DEBUG) and value.partition("/")[0] in _HIGH_LEVELS


def parse(text: str) -> tuple[OsdOption, ...]:
    """The answer to ``ARGV``: an option and a value of it each, with the OSDs that have it; what can't be read is left
    out."""
    osds: dict[tuple[str, str, str, str], list[str]] = {}
    for osd, part in answers.of_osds(text):
        for option in _options(part):
            osds.setdefault(option, []).append(osd)
    return tuple(
        OsdOption(name=name, value=value, default=default, source=source, osds=tuple(sorted(having, key=int)))
        for (name, value, default, source), having in sorted(osds.items())
    )


def _options(text: str) -> Iterator[tuple[str, str, str, str]]:
    """Name, value, default and source of each option of an OSD."""
    try:
        differing: Mapping[str, Any] = answers.part(answers.json_object(text, "diff"), "diff")
    except ValueError:
        return
    for name, values in differing.items():
        if not re.match(ONLY, name) or not isinstance(values, dict):
            continue
        value, default = (answers.setting_text(values.get(key)) for key in ("final", "default"))
        sources = [str(key) for key in values if key not in _NO_SOURCE]
        is_telling = is_high_level(name, value) or not name.startswith(_DEBUG)
        if value != default and sources and is_telling:
            yield name, value, default, sources[-1]
