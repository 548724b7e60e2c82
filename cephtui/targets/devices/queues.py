"""The queues of the disks under a target: the shell function that reports them, and its output parsed."""

from __future__ import annotations

import re
from collections.abc import Mapping

from cephtui.paths import packaged_text

QUEUES_FUNCTION = packaged_text("cephtui.targets.devices", "queues.sh")
"""Bash that defines ``queues``, for a script that has ``say``."""
_KEYS = ("queue/scheduler", "queue/nr_requests", "queue/read_ahead_kb", "queue/rotational")
_VALUE_MOST = 200
_CHOSEN = re.compile(r"\[([^\]]*)\]")


def parse_queues(text: str) -> Mapping[str, str]:
    """The settings that ``queues`` printed among other lines, by their names in sysfs: ``queue/scheduler``.

    Where several disks have different values, all of them: ``mq-deadline, none``.
    """
    by_key: dict[str, dict[str, None]] = {}
    for key, _, value in (line.partition("\t") for line in text.splitlines()):
        if key in _KEYS and value:
            chosen = _CHOSEN.search(value)  # of the schedulers that there are, ``[mq-deadline] none``
            by_key.setdefault(key, {})[chosen[1] if chosen else value] = None
    return {key: ", ".join(sorted(values))[:_VALUE_MOST] for key, values in by_key.items()}
