"""What the times tell that OSDs take to answer requests for their counters: an OSD that stands now and then, or is far.

Messages that wait on the network, or in the socket of an OSD, are in none of its own counters. Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from statistics import median

from cephtui.analysis.detectors.slowest import LEAST, by_number
from cephtui.models import Finding
from cephtui.models.findings.cluster import SLOW_OSD
from cephtui.models.findings.kind import Value, named

_NAME = "osd.{}".format
_LATE_LEAST = 4
"""So many late answers are no accident."""
_AT_ONCE = 0.3
"""Of an OSD that stands now and then so large a share of the answers come at once."""
_LATE_SHARE, _OTHERS_LATE = 0.2, 0.05
"""The share of late answers from which on an OSD is slow, and that of every other OSD at most."""
_AT_ONCE_SECONDS, _KEPT_SECONDS, _KEPT_SHARE = 0.004, 0.01, 0.1
"""An answer that took less than this second time is kept as 0; where no larger share of an OSD's took longer, half of
them have hardly taken longer than the first."""
_FAR, _ANSWERS_LEAST = 5.0, 6
"""An OSD whose answers take so many times as long as the median of all OSDs is slow, with so many answers."""


@dataclass(slots=True)
class Answers:
    """Those of one OSD."""

    number: int = 0
    took: Counter[float] = field(default_factory=Counter)
    """How many of them took how many seconds, with two digits; 0 where they came at once."""

    def add(self, seconds: float) -> None:
        """Take in an answer."""
        self.number += 1
        self.took[float(f"{seconds:.1e}")] += 1

    def late(self, least_seconds: float) -> int:
        """How many took so long."""
        return sum(number for seconds, number in self.took.items() if seconds >= least_seconds)

    @property
    def seconds(self) -> float:
        """The median time that they took, or about the most that it may be where they are not kept."""
        kept = self.number - self.took[0.0]
        if 2 * kept <= self.number:
            return _KEPT_SECONDS if kept > _KEPT_SHARE * self.number else _AT_ONCE_SECONDS
        before = 0
        for seconds, number in sorted(self.took.items()):
            before += number
            if 2 * before >= self.number:
                return seconds
        return 0.0


def late(answers: Mapping[str, Answers], least_seconds: Mapping[str, float], busy: Collection[str]) -> Finding | None:
    """Up to half of the OSDs, by their id, that answered late again and again, as no other did.

    ``least_seconds`` is how long a late answer of each takes. The ``busy`` have more to do than the others: their
    answers wait behind that, and theirs alone are late where the others of them came at once.
    """
    counts = {osd: of.late(least_seconds[osd]) for osd, of in answers.items()}
    those = [
        osd
        for osd, of in answers.items()
        if counts[osd] >= max(_LATE_LEAST, _LATE_SHARE * of.number)
        and (osd not in busy or of.took[0.0] >= _AT_ONCE * of.number)
    ]
    prompt = [counts[osd] <= _OTHERS_LATE * of.number for osd, of in answers.items() if osd not in those]
    if not (0 < len(those) <= len(prompt) and all(prompt)) or len(answers) < LEAST:
        return None
    return slow_osd_finding(
        map(_NAME, those),
        late=sum(counts[osd] for osd in those),
        answers=sum(answers[osd].number for osd in those),
        late_seconds=max(least_seconds[osd] for osd in those),
    )


def far(answers: Mapping[str, Answers], busy: Collection[str]) -> Finding | None:
    """OSDs whose answers take far longer than those of the others, as over a slow link; fewer than half of all.

    Those of the ``busy``, which have more to do than the others, wait behind that.
    """
    seconds = {osd: of.seconds for osd, of in answers.items() if of.number >= _ANSWERS_LEAST}
    if len(seconds) < LEAST:
        return None
    middle = median(seconds.values())
    those = [osd for osd in seconds if seconds[osd] >= _FAR * middle and osd not in busy]
    if not those:
        return None
    return slow_osd_finding(
        map(_NAME, those), answer_seconds=median(seconds[osd] for osd in those), others=max(middle, _KEPT_SECONDS)
    )


def slow_osd_finding(names: Iterable[str], **values: Value) -> Finding:
    """``slow-osd`` of one or several."""
    return SLOW_OSD.found(**named(tuple(sorted(names, key=by_number)), "osd", "osds"), **values)
