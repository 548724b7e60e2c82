"""What was observed of a run, and what that is worth: an invented finding, a lie that is caught or missed. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from cephtui.frozen import dataclass
from cephtui.models.findings import KINDS

Class: TypeAlias = Literal["caught", "prevented", "symptom", "missed", "explained wrongly", "not provoked"]
CLASSES: tuple[Class, ...] = ("caught", "prevented", "symptom", "missed", "explained wrongly", "not provoked")
_LIMIT = re.compile(r"limited by|nearest limit:|above its own ceiling")
"""What begins a conclusion that names a limit."""
_REFUSED = ("refused", "failed")
_STEAL, _QUEUE, _PRESSURE = 0.02, 2.0, 0.5
"""Share of the CPUs, processes for each CPU and share of the time from which on a counter confirms want of CPU."""
_IO_PRESSURE = 0.5
BY_CPU = frozenset(
    (
        *("client-cpu", "cpu-quota", "cpu-taken", "steal", "throttled", "slow-node", "slow-osd", "slow-ops", "stalled"),
        "retransmits",  # who gets no CPU answers late, and is sent the same again
        *("not-settled", "collapse", "dip", "saw", "deviation"),
    )
)
"""Findings that are true where CPU is wanting: nodes and OSDs of a lab have the CPUs of one machine."""
BY_DISK = frozenset(("disk-busy", "slow-osd", "stalled", "slow-ops"))


@dataclass(frozen=True, slots=True)
class Counters:
    """What the kernel of this machine counted during a run, whoever caused it."""

    steal: float = 0.0
    """Share of the CPUs' time that the hypervisor gave to others."""
    queue: float = 0.0
    """Processes that ran or waited to run for each CPU, on average."""
    cpu_pressure: float = 0.0
    """Share of the time in which some process waited for a CPU; 0 where the kernel does not tell."""
    io_pressure: float = 0.0

    def confirm(self, code: str) -> bool:
        """Whether they show the cause of a finding with this code."""
        lacks_cpu = self.steal >= _STEAL or self.queue >= _QUEUE or self.cpu_pressure >= _PRESSURE
        return (code in BY_CPU and lacks_cpu) or (code in BY_DISK and self.io_pressure >= _IO_PRESSURE)

    def __str__(self) -> str:
        return (
            f"steal {100 * self.steal:.1f} %, {self.queue:.1f} processes for each CPU, waiting for CPU "
            f"{100 * self.cpu_pressure:.0f} % and for I/O {100 * self.io_pressure:.0f} % of the time"
        )


@dataclass(frozen=True, slots=True)
class Observed:
    """What a command line did and said: the last of its runs, or its refusal."""

    status: int
    outcome: str = ""
    """Of the run; empty where there was none."""
    error: str = ""
    """Of the run, or of the command."""
    findings: tuple[Mapping[str, Any], ...] = ()
    """As a run's JSON has them."""
    limit: str = ""
    """The conclusion of the run's ceilings, in words."""
    command: str = ""
    pool: str = ""
    """What is saved of the pool and its settings, as JSON."""
    figures: str = ""
    counters: Counters = Counters()

    def limiting(self) -> list[Mapping[str, Any]]:
        """The findings that put figures in doubt, by the level that the run's JSON has."""
        return [finding for finding in self.findings if finding["level"] != "note"]


@dataclass(frozen=True, slots=True)
class Sign:
    """A finding that tells the cause: its code, and what its text must have, a regular expression."""

    code: str
    text: str = ""

    def fits(self, finding: Mapping[str, Any]) -> bool:
        """Whether it is this finding."""
        return bool(finding["code"] == self.code and re.search(self.text, finding["text"]))


@dataclass(frozen=True, slots=True)
class Expected:
    """What is said of a lie whose cause is found, and what is not wrong to say beside it."""

    caught: tuple[Sign, ...] = ()
    symptoms: tuple[str, ...] = ()
    """Codes of findings that tell the effect and not the cause."""
    beside: tuple[str, ...] = ()
    """Codes of findings that are true as well and tell nothing of the lie."""
    untrue: tuple[str, ...] = ()
    """Codes of findings that are wrong. Where no sign is given, a run without them is caught: nothing is to be said."""
    limits: str = ".*"
    """The limits that may be named in the conclusion of the ceilings, a regular expression."""
    limited_by: str = ""
    """The conclusion of the ceilings that names the cause."""
    refused: str = ""
    """The refusal, or the error of a run that fails, which names the cause."""
    prevented: str = ""
    """What the command has so that the lie can't be."""
    kept: str = ""
    """What must be saved of the pool."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What became of a lie, and the words that decide it."""

    of: Class
    words: str


def judge(expected: Expected, observed: Observed) -> Judgement:
    """What was made of a lie by what was said of its run."""
    if observed.outcome in _REFUSED or not observed.outcome:
        is_told = expected.refused and re.search(expected.refused, observed.error)
        return Judgement("prevented" if is_told else "not provoked", observed.error or "no run, and no error")
    if wrong := _wrong_limit(expected, observed):
        return Judgement("explained wrongly", wrong)
    for finding in _said(observed):
        if any(sign.fits(finding) for sign in expected.caught):
            return Judgement("caught", _words(finding))
    if expected.limited_by and re.search(expected.limited_by, observed.limit):
        return Judgement("caught", observed.limit)
    if expected.prevented and re.search(expected.prevented, observed.command):
        return Judgement("prevented", f"the command has {expected.prevented}")
    return _of_the_rest(expected, observed)


def _wrong_limit(expected: Expected, observed: Observed) -> str:
    limit = observed.limit
    if not _LIMIT.match(limit) or re.search(expected.limits, limit):
        return ""
    return "" if "CPU" in limit and observed.counters.confirm("client-cpu") else limit


def _of_the_rest(expected: Expected, observed: Observed) -> Judgement:
    """Of a run whose cause is not named."""
    told = _said(observed)
    for finding in told:
        if finding["code"] in expected.untrue or _is_another_cause(expected, observed, finding):
            return Judgement("explained wrongly", _words(finding))
    for finding in told:
        if finding["code"] in expected.symptoms:
            return Judgement("symptom", _words(finding))
    if expected.untrue and not expected.caught:
        if re.search(expected.kept, observed.pool):
            return Judgement("caught", "nothing is said against it")
        return Judgement("missed", f"not saved: {expected.kept}")
    return Judgement("missed", "; ".join([*map(_words, told), observed.limit or "nothing is said"]))


def _is_another_cause(expected: Expected, observed: Observed, finding: Mapping[str, Any]) -> bool:
    """Whether a finding blames what is not to blame; findings about the measurement tell effects."""
    code = finding["code"]
    if finding["level"] == "note" or code in (*expected.symptoms, *expected.beside, observed.outcome):
        return False
    tells_effect = code in KINDS and KINDS[code].topic == "measurement"
    return not tells_effect and not observed.counters.confirm(code)


def _said(observed: Observed) -> Sequence[Mapping[str, Any]]:
    """The findings, and the error of a run that did not end well as one."""
    if observed.outcome == "ok":
        return observed.findings
    return (*observed.findings, {"code": observed.outcome, "text": observed.error, "level": "limits"})


def _words(finding: Mapping[str, Any]) -> str:
    return f"{finding['code']}: {finding['text']}"


@dataclass(frozen=True, slots=True)
class Doubt:
    """A finding that puts the figures of a clean run in doubt."""

    code: str
    text: str
    is_confirmed: bool
    """Whether a counter of the kernel shows its cause: then it is not invented."""


def doubts(observed: Observed, expected: Sequence[str] = ()) -> list[Doubt]:
    """Those that do not follow from how the run was made; a run that did not end well has its error as one."""
    told = [finding for finding in _said(observed) if finding["level"] != "note" and finding["code"] not in expected]
    if not observed.outcome:
        told = [{"code": "refused", "text": observed.error}]
    return [Doubt(one["code"], one["text"], observed.counters.confirm(one["code"])) for one in told]
