"""What has changed between two diagnoses of one target: stages of latency, commits of OSDs, causes. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from cephtui.analysis.runs.facts import load_of
from cephtui.analysis.runs.stages import Flow
from cephtui.analysis.verdicts.causes import Stage
from cephtui.analysis.verdicts.diagnosis import Diagnosis
from cephtui.frozen import dataclass
from cephtui.models import Run

_MOVED = 0.2
"""A stage has changed by so large a share of the greater latency at least: two runs of 10 s differ by less."""
_TIMES, _SHARE = 2.0, 0.1
"""A commit of an OSD has changed where it is so many times as long, or as short, and that is so much of the latency."""


@dataclass(frozen=True, slots=True)
class Moved:
    """A time that is another one than before."""

    run: Run
    """The later one."""
    flow: Flow
    what: Stage | None
    """None is a commit of an OSD."""
    osd: str
    """Its id; empty of a stage."""
    before_seconds: float
    after_seconds: float


def moved(before: Diagnosis, now: Diagnosis) -> list[Moved]:
    """Of the runs that both have: by preset, load and number of nodes."""
    earlier = {_key(run): run for run in before.runs}
    pairs = [(earlier[_key(run)], run) for run in now.runs if _key(run) in earlier]
    return [change for one, other in pairs for change in (*_stages(one, other), *_commits(one, other))]


def _key(run: Run) -> tuple[object, ...]:
    return run.preset, load_of(run), len(run.nodes)


def _stages(before: Run, now: Run) -> Iterator[Moved]:
    for flow in (flow for flow in now.stages if flow in before.stages):
        least = _MOVED * max(before.stages[flow].seconds, now.stages[flow].seconds)
        for stage in get_args(Stage):
            was, is_now = (getattr(run.stages[flow], f"{stage}_seconds") for run in (before, now))
            if abs(is_now - was) >= least > 0:
                yield Moved(now, flow, stage, "", was, is_now)


def _commits(before: Run, now: Run) -> Iterator[Moved]:
    if "write" not in now.stages:
        return
    least = _SHARE * now.stages["write"].seconds
    for osd, result in now.osds.items():
        was, is_now = before.osds[osd].commit_seconds if osd in before.osds else None, result.commit_seconds
        if was and is_now and abs(is_now - was) >= least and max(was, is_now) >= _TIMES * min(was, is_now):
            yield Moved(now, "write", None, osd, was, is_now)
