"""What happened during a run: what the cluster said, when no I/O completed, and which of them explains the other.

Taken in as the run goes on, in bounded space, and pure: what is kept of a run and what is drawn of one that is live,
saved or replayed are the same. Moments are elapsed seconds since the release of the benchmark.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from cephtui import units
from cephtui.ceph import answers
from cephtui.ceph.cluster import is_clean, scrubs, serves
from cephtui.models import ClusterSample, Finding, Sample
from cephtui.stats import done

STALL_SECONDS = 2.0
"""So long without a completion is a stall, where the node's mean rate would have given several."""
_ROUNDING_SECONDS = 0.1
_SEVERAL_IOS = 8
_EDGE_SECONDS = 5.0
"""Before a tool's first figures and after its last, where it also starts and ends."""
_LONG_SECONDS = 2.5
"""An interval of this length holds a stall, or a tool that was only late: its completions tell."""
_ALIKE_SECONDS = 3.0
"""Stalls of several nodes that begin and end so close together are one."""
_SILENT_SECONDS, _FIRST_ANSWER_SECONDS = 7.0, 20.0
"""The cluster is asked every two seconds, once the command that asks it is up."""
_JOIN_SECONDS = 10.0
"""What is there again so soon has not been away."""
_LAG_SECONDS = 4.0
"""By how much an answer may come later than what it is about."""
_MOST, _MOST_STALLS = 3, 5
"""More findings of one kind are joined to one."""
_RATE_LAG_SECONDS, _OTHERS_FACTOR, _OTHERS_BYTES, _OTHERS_ANSWERS = 20.0, 2.0, 16 << 20, 3
"""The cluster's rates are means of some seconds: only what is far above all that was done in them is another's."""
_SEVERITY = {"HEALTH_WARN": 1, "HEALTH_ERR": 2}
_SILENT = "the cluster did not answer"
_CAUSES = ("osd-down", "flag", "pgs-inactive", "slow-ops", "cluster-silent")
"""What can keep I/O from completing, the likeliest first."""

Key = tuple[str, str]
"""Code and subject: ``osd-down`` of ``osd.2``."""


@dataclass(frozen=True, slots=True)
class _Signal:
    """One thing that the cluster says at a moment."""

    code: str
    text: str
    label: str
    subject: str = ""
    weight: float = 1.0
    """How much of it: what was most is told."""
    parts: Mapping[str, str] = field(default_factory=dict)
    """Details by name."""


@dataclass(slots=True)
class _Span:
    """A signal over time."""

    signal: _Signal
    begun: float
    over: float | None = None
    times: int = 1
    early: bool = False
    """Whether it was there before the release."""

    def again(self, signal: _Signal) -> None:
        """It is there still, or once more."""
        if self.over is not None:
            self.over, self.times = None, self.times + 1
        most, other = (signal, self.signal) if signal.weight > self.signal.weight else (self.signal, signal)
        self.signal = replace(most, parts={**other.parts, **most.parts})


@dataclass(frozen=True, slots=True)
class _Quiet:
    """A time without completions between two samples of a node, each with its begin, end and completions."""

    before: tuple[float, float, int]
    after: tuple[float, float, int]
    least_seconds: float = STALL_SECONDS


@dataclass(frozen=True, slots=True)
class _Stall:
    """When no I/O completed on a node."""

    begun: float
    over: float
    nodes: tuple[str, ...]

    @property
    def seconds(self) -> float:
        return self.over - self.begun


class _Node:
    """The completions of one node."""

    def __init__(self) -> None:
        self.ios, self.seconds = 0, 0.0
        """Of the samples with completions, those that hold a stall left out."""
        self.last = (0.0, 0.0, 0)
        """The newest sample with completions."""
        self.reached = 0.0
        self.ended: float | None = None
        self._quiet: list[_Quiet] = []

    def add(self, sample: Sample) -> None:
        """Take in a sample."""
        end, ios = sample.elapsed_seconds, done(sample.flows.values())
        begun = max(0.0, end - sample.interval_seconds)
        self.reached = end
        if not ios:
            return
        this, is_long = (begun, end, ios), sample.interval_seconds >= _LONG_SECONDS
        if is_long or begun - self.last[1] >= 1.0 - _ROUNDING_SECONDS:
            self._quiet.append(_Quiet(self.last, this, STALL_SECONDS if self.last[2] else _EDGE_SECONDS))
        if not is_long:
            self.ios, self.seconds = self.ios + ios, self.seconds + sample.interval_seconds
        self.last = this

    def stalls(self, until: float) -> Iterator[tuple[float, float]]:
        """From when to when nothing completed."""
        rate = self.ios / self.seconds if self.seconds else 0.0
        for quiet in [*self._quiet, *self._open(until)]:
            (first, latest, before), (earliest, last, after) = quiet.before, quiet.after
            begun = min(latest, first + before / rate) if rate else latest
            over = max(earliest, last - after / rate) if rate else earliest
            few = rate and (over - begun) * rate < _SEVERAL_IOS
            if over - begun >= quiet.least_seconds - _ROUNDING_SECONDS and not few:
                yield begun, over

    def _open(self, until: float) -> list[_Quiet]:
        """What has not ended: told by samples without completions, or by none at all."""
        end = until if until - self.reached >= _EDGE_SECONDS else self.reached
        least = STALL_SECONDS if self.last[2] and self.reached > self.last[1] else _EDGE_SECONDS
        return [_Quiet(self.last, (end, end, 0), least)] if end > self.last[1] else []


class Course:
    """Takes in a run as it goes on; the state before it is the first that the cluster says, in ``prepare``."""

    def __init__(self) -> None:
        self._before: ClusterSample | None = None
        self._signals_before: dict[Key, _Signal] = {}
        self._spans: dict[Key, list[_Span]] = {}
        self._answered: float | None = None
        """When the cluster said something last, after the release."""
        self._asked_before = False
        self._unasked = ""
        self._silences: list[tuple[float, float]] = []
        self._still: list[tuple[float, float]] = []
        self._pgs: list[tuple[float, int, int | None]] = []
        """When their number changed, and that of the pools."""
        self._nodes: dict[str, _Node] = {}
        self._own: deque[tuple[float, float]] = deque()
        self._others = 0

    # ------------------------------------------------------------------ what is taken in

    def add(self, sample: Sample) -> None:
        """A sample of a node, or of all merged."""
        if sample.phase == "prepare":
            return
        if sample.node is not None:
            self._nodes.setdefault(sample.node, _Node()).add(sample)
            return
        self._own.append((sample.elapsed_seconds, sum(i.bandwidth_bytes for i in sample.flows.values())))
        while self._own[0][0] < sample.elapsed_seconds - _RATE_LAG_SECONDS:
            self._own.popleft()

    def end(self, node: str, elapsed_seconds: float) -> None:
        """A node's benchmark has ended."""
        self._nodes.setdefault(node, _Node()).ended = elapsed_seconds

    def stood_still(self, begun: float, over: float) -> None:
        """The console itself did nothing for a while: what was said meanwhile came late."""
        self._still.append((begun, over))

    def unasked(self, why: str) -> None:
        """From now on the cluster is not asked any more, because of this."""
        self._unasked = why

    def cluster(self, said: ClusterSample) -> None:
        """What the cluster says."""
        signals = {(s.code, s.subject): s for s in self._signals(said)}
        if said.phase == "prepare":
            self._asked_before = self._before is not None
            if self._before is None:
                self._before, self._signals_before = said, signals
            self._spans = {key: [_Span(signal, 0.0, early=True)] for key, signal in signals.items()}
            return
        at = said.elapsed_seconds
        if self._answered is None:  # what was over before the release is nothing of the run
            self._spans = {key: spans for key, spans in self._spans.items() if key in signals}
        self._note_silence(at)
        for key, signal in signals.items():
            spans = self._spans.setdefault(key, [])
            if spans and at - (spans[-1].over or at) <= _JOIN_SECONDS:
                spans[-1].again(signal)
            else:
                spans.append(_Span(signal, at))
        for key, spans in self._spans.items():
            if key not in signals and spans[-1].over is None:
                spans[-1].over = at
        self._note_pgs(said)
        self._answered = at

    def _note_silence(self, at: float) -> None:
        since, most = self._answered, _SILENT_SECONDS
        if since is None:
            since, most = 0.0, _SILENT_SECONDS if self._asked_before else _FIRST_ANSWER_SECONDS
        if at - since > most:
            self._silences.append((since, at))

    def _note_pgs(self, said: ClusterSample) -> None:
        number = sum(said.pg_states.values())
        if not number:
            return
        if not self._pgs:
            before = self._before
            known = before is not None and sum(before.pg_states.values()) > 0
            self._pgs = [(0.0, sum(before.pg_states.values()), before.pools)] if before and known else []
        if not self._pgs or self._pgs[-1][2] != said.pools:
            self._pgs = [(said.elapsed_seconds, number, said.pools)]  # another pool's are no change of a pool
        elif self._pgs[-1][1] != number:
            self._pgs.append((said.elapsed_seconds, number, said.pools))

    # ------------------------------------------------------------------ what the cluster says at a moment

    def _signals(self, said: ClusterSample) -> Iterator[_Signal]:
        yield from _osds(said.osds_down, said.osds, said.osds_up, "down")
        yield from _osds(said.osds_out, said.osds, said.osds_in, "out")
        yield from _pgs(said)
        if said.recovery_bandwidth_bytes:
            rate = units.bandwidth(said.recovery_bandwidth_bytes)
            text = f"recovery of up to {rate} went on beside the run"
            yield _Signal("recovery", text, f"recovery {rate}", weight=said.recovery_bandwidth_bytes)
        for flag in said.flags:
            yield _Signal("flag", f"the cluster's flag {flag} was set", f"{flag} set", flag)
        if said.slow_ops:
            text = f"up to {said.slow_ops} operations were slow"
            yield _Signal("slow-ops", text, "slow ops", weight=said.slow_ops)
        away = (said.monitors or 0) - (said.monitors_in_quorum or 0)
        if said.monitors_in_quorum is not None and away > 0:
            text = f"{away} of {said.monitors} monitors {'was' if away == 1 else 'were'} out of quorum"
            yield _Signal("monitors", text, "monitor down", weight=away)
        yield from self._health(said)
        yield from self._other_clients(said)

    def _health(self, said: ClusterSample) -> Iterator[_Signal]:
        """What was not complained of before."""
        before = self._before.checks if self._before else {}
        new = {code: text for code, text in said.checks.items() if code not in before}
        severity = _SEVERITY.get(said.health or "", 0)
        worse = severity > _SEVERITY.get((self._before.health if self._before else None) or "", 0)
        if severity and (new or worse):
            text = f"the cluster was {said.health}"
            yield _Signal("health", text, str(said.health), weight=severity, parts=new)

    def _other_clients(self, said: ClusterSample) -> Iterator[_Signal]:
        """Far more than the run itself can have done."""
        rate, own = said.client_bandwidth_bytes or 0.0, max((rate for _, rate in self._own), default=0.0)
        is_known = said.phase == "run" and said.elapsed_seconds > _RATE_LAG_SECONDS and self._own
        is_more = is_known and rate > _OTHERS_FACTOR * own + _OTHERS_BYTES
        self._others = self._others + 1 if is_more else 0
        if self._others >= _OTHERS_ANSWERS:
            text = f"other clients moved up to {units.bandwidth(rate - own)}"
            yield _Signal("other-clients", text, "other clients", weight=rate - own)

    # ------------------------------------------------------------------ what is found

    def findings(self, lost: Mapping[str, str] | None = None) -> tuple[Finding, ...]:
        """All so far, in the order of time; ``lost`` tells why nodes that did not come to their end were lost."""
        if not self._nodes:
            return ()
        end = self._end()
        said = [*self._said(end), *self._silent(end), *self._split(), *self._stood()]
        found = [*said, *self._stalls(end, said, lost or {})]
        return tuple(sorted(found, key=lambda finding: (finding.from_seconds or 0.0, _rank(finding))))

    def _end(self) -> float:
        """Of the run; while it goes on, the newest that is known of it."""
        if all(node.ended is not None for node in self._nodes.values()):
            return max(node.ended or 0.0 for node in self._nodes.values())
        return max(self._answered or 0.0, *(node.reached for node in self._nodes.values()))

    def _said(self, end: float) -> list[Finding]:
        found = [
            _told(span, end)
            for spans in self._spans.values()
            for span in spans
            if span.begun <= end and not self._is_as_before(span)
        ]
        found.sort(key=lambda finding: finding.code)
        alike = [list(group) for _, group in groupby(found, key=lambda finding: finding.code)]
        return [finding for group in alike for finding in (group if len(group) <= _MOST else [_joined(group)])]

    def _is_as_before(self, span: _Span) -> bool:
        """Whether it was so before and all the time: that is told of the state before."""
        if not span.early or span.over is not None or span.times > 1:
            return False
        before = self._signals_before.get((span.signal.code, span.signal.subject))
        is_more = before is not None and span.signal.weight > 1.2 * before.weight
        return before is not None and not is_more and set(span.signal.parts) <= set(before.parts)

    def _silent(self, end: float) -> list[Finding]:
        open_since = [] if self._before is None and self._answered is None else [self._last_silence(end)]
        found = []
        for begun, over in [*self._silences, *[silence for silence in open_since if silence]]:
            if not any(still[0] < over and begun < still[1] for still in self._still):
                when, is_unasked = _when(begun, over, end), self._unasked and over >= end
                text = f"the cluster was not asked {when}: {self._unasked}" if is_unasked else f"{_SILENT} {when}"
                found.append(_finding("cluster-silent", text, "no answer", begun, over))
        return found if len(found) <= _MOST else [_joined(found)]

    def _last_silence(self, end: float) -> tuple[float, float] | None:
        most = _SILENT_SECONDS if self._answered is not None or self._asked_before else _FIRST_ANSWER_SECONDS
        begun = self._answered or 0.0
        return (begun, end) if end - begun > most else None

    def _split(self) -> list[Finding]:
        if len(self._pgs) < 2:
            return []
        begun, over = self._pgs[1][0], self._pgs[-1][0]
        before, after = self._pgs[0][1], self._pgs[-1][1]
        what = "split" if after > before else "merged"
        text = f"PGs of a pool were being {what}, from {before} to {after} in the cluster, at {units.clock(begun)}"
        text += f" to {units.clock(over)}" if over > begun else ""
        return [_finding("pgs-split", f"{text}: that moves data", f"PGs {what}", begun, over)]

    def _stood(self) -> list[Finding]:
        text = "the console stood still from {} to {}: what was said then came late"
        return [
            _finding("console", text.format(units.clock(begun), units.clock(over)), "console stood still", begun, over)
            for begun, over in self._still[:_MOST]
        ]

    def _stalls(self, end: float, said: Sequence[Finding], lost: Mapping[str, str]) -> list[Finding]:
        stalls = _together(self._each_stall(end))
        shown = sorted(stalls, key=lambda stall: -stall.seconds)[:_MOST_STALLS]
        found = [self._stalled(stall, end, said, lost) for stall in shown]
        rest = [stall for stall in stalls if stall not in shown]
        if rest:
            seconds = units.duration(sum(stall.seconds for stall in rest))
            times = f"{len(rest)} times" if len(rest) > 1 else "once"
            text = f"no completion {times} more, for {seconds} in all"
            found.append(Finding(code="stalled", text=text))
        return found

    def _each_stall(self, end: float) -> Iterator[_Stall]:
        reached = max(node.reached for node in self._nodes.values())
        for name, node in self._nodes.items():
            # while it goes on, only the cluster tells the time: of a node that is late or through nobody knows
            until = end if end > reached + _EDGE_SECONDS else node.reached
            for begun, over in node.stalls(until if node.ended is None else node.ended):
                yield _Stall(begun, over, (name,))

    def _stalled(self, stall: _Stall, end: float, said: Sequence[Finding], lost: Mapping[str, str]) -> Finding:
        text = "no completion"
        if len(self._nodes) > 1:
            everywhere = len(stall.nodes) == len(self._nodes)
            text += " on any node" if everywhere else f" on {answers.listed(stall.nodes)}"
        text += f" {_when(stall.begun, stall.over, end)}"
        cause = self._cause(stall, said, lost)
        return _finding("stalled", f"{text}: {cause}" if cause else text, "no completion", stall.begun, stall.over)

    def _cause(self, stall: _Stall, said: Sequence[Finding], lost: Mapping[str, str]) -> str:
        for name in stall.nodes:
            if name in lost and stall.over >= (self._nodes[name].ended or 0.0) - _ROUNDING_SECONDS:
                return lost[name]
        beside = [finding for finding in said if finding.code in _CAUSES and _overlap(finding, stall)]
        if beside:
            return min(beside, key=_rank).text
        return "" if self._answered is None else "nothing that the cluster said explains it"


def _osds(names: Sequence[str] | None, all_: int | None, rest: int | None, word: str) -> Iterator[_Signal]:
    """OSDs that are down or out, by name where that is known."""
    code = f"osd-{word}"
    for name in names or ():
        yield _Signal(code, f"{name} was {word}", f"{name} {word}", name)
    number = (all_ or 0) - (rest or 0)
    if names is None and all_ and rest is not None and number > 0:
        was = "was" if number == 1 else "were"
        yield _Signal(code, f"{number} of {all_} OSDs {was} {word}", f"{number} OSD {word}", weight=number)


def _pgs(said: ClusterSample) -> Iterator[_Signal]:
    """PGs that serve nobody, that lack copies or are elsewhere, and that are being scrubbed."""
    number = sum(said.pg_states.values())
    inactive = {state: count for state, count in said.pg_states.items() if not serves(state)}
    unclean = {s: count for s, count in said.pg_states.items() if serves(s) and not is_clean(s)}
    scrubbed = {state: count for state, count in said.pg_states.items() if scrubs(state)}
    if inactive:
        text = f"{_some(inactive, number)} not active"
        yield _Signal("pgs-inactive", text, "PGs not active", "", sum(inactive.values()), _counted(inactive))
    if unclean:
        ratios = (("degraded", said.degraded_ratio), ("misplaced", said.misplaced_ratio))
        parts = {word: f"{units.percent(100 * ratio)} of the objects {word}" for word, ratio in ratios if ratio}
        text = f"{_some(unclean, number)} not active+clean"
        label = "PGs degraded" if any("degraded" in state for state in unclean) else "PGs not clean"
        yield _Signal("pgs", text, label, "", sum(unclean.values()), {**parts, **_counted(unclean)})
    if scrubbed:
        deep = "deep-scrubbed" if any("deep" in state.split("+") for state in scrubbed) else "scrubbed"
        text = f"{_some(scrubbed, number)} being {deep}"
        yield _Signal("scrub", text, "scrub", weight=sum(scrubbed.values()))


def _some(states: Mapping[str, int], all_: int) -> str:
    number = sum(states.values())
    return f"1 of {all_} PGs was" if number == 1 else f"up to {number} of {all_} PGs were"


def _counted(states: Mapping[str, int]) -> dict[str, str]:
    return {state: f"{count} {state}" for state, count in sorted(states.items(), key=lambda item: -item[1])}


def _finding(code: str, text: str, label: str, begun: float, over: float) -> Finding:
    return Finding(code=code, text=text, label=label, from_seconds=round(begun, 3), to_seconds=round(over, 3))


def _told(span: _Span, end: float) -> Finding:
    over = end if span.over is None else min(span.over, end)
    signal, times = span.signal, f" {span.times} times" if span.times > 1 else ""
    parts = f": {answers.listed(tuple(signal.parts.values()))}" if signal.parts else ""
    text = f"{signal.text}{times} {_when(span.begun, over, end, early=span.early)}{parts}"
    return _finding(signal.code, text, signal.label, span.begun, over)


def _when(begun: float, over: float, end: float, *, early: bool = False) -> str:
    if over >= end:
        return "during the whole run" if early else f"from {units.clock(begun)} to the end"
    return f"until {units.clock(over)}" if early else f"from {units.clock(begun)} to {units.clock(over)}"


def _joined(found: Sequence[Finding]) -> Finding:
    """Many of one kind in one: what they are about, and the time they are spread over."""
    labels = answers.listed(tuple(dict.fromkeys(finding.label or finding.code for finding in found)))
    begun = min(finding.from_seconds or 0.0 for finding in found)
    over = max(finding.to_seconds or 0.0 for finding in found)
    text = f"{labels}: {len(found)} times between {units.clock(begun)} and {units.clock(over)}"
    return _finding(found[0].code, text, found[0].label or found[0].code, begun, over)


def _together(stalls: Iterable[_Stall]) -> list[_Stall]:
    """Those that several nodes share as one."""
    found: list[_Stall] = []
    for stall in sorted(stalls, key=lambda stall: stall.begun):
        same = next((other for other in found[-16:] if _is_alike(other, stall)), None)
        if same is None:
            found.append(stall)
            continue
        both = _Stall(same.begun, max(same.over, stall.over), (*same.nodes, *stall.nodes))
        found[found.index(same)] = both
    return found


def _is_alike(one: _Stall, other: _Stall) -> bool:
    close = abs(one.begun - other.begun) <= _ALIKE_SECONDS and abs(one.over - other.over) <= _ALIKE_SECONDS
    return close and not set(one.nodes) & set(other.nodes)


def _rank(finding: Finding) -> int:
    """What explains others comes before them."""
    return _CAUSES.index(finding.code) if finding.code in _CAUSES else len(_CAUSES)


def _overlap(finding: Finding, stall: _Stall) -> bool:
    begun, over = finding.from_seconds or 0.0, finding.to_seconds or 0.0
    return begun - _LAG_SECONDS <= stall.over and stall.begun <= over
