"""Whether the stages of a write are what they are called: a delay that is put in on one of them shows there alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

from tests.bench.honest import provoking
from tests.bench.honest.scene import NotProvoked
from tests.bench.table import Row, at_least, at_most, row
from tests.bench.tracing import slow_calls
from tests.end_to_end.sandbox import Sandbox
from tests.lab import Lab
from tests.on_lab.conftest import temporary_lab
from tests.on_lab.others import pool_on
from tests.on_lab.runs import Bench

SECONDS = 0.002
"""The delay of each message, each dispatch, each flush of a disk."""
_RUNTIME, _RAMP = 15, 2
_NAMES = ("outside", "queue", "prepare", "store")
Say = Callable[[str], None]


@contextmanager
def _slow_queue(lab: Lab) -> Iterator[None]:
    options = {
        "osd_debug_inject_dispatch_delay_duration": str(SECONDS),
        "osd_debug_inject_dispatch_delay_probability": "1",
    }
    for name, value in options.items():
        lab.ceph("config", "set", "osd", name, value)
    try:
        yield
    finally:
        for name in options:
            lab.ceph("config", "rm", "osd", name)


@contextmanager
def _slow_flushes(lab: Lab) -> Iterator[None]:
    with ExitStack() as stack:
        for pid in provoking.osd_pids(lab).values():
            stack.enter_context(slow_calls(pid, "fdatasync", SECONDS))
        yield


_DELAYS: Mapping[str, tuple[str, Callable[[Lab], AbstractContextManager[None]]]] = {
    "the network": ("outside", partial(provoking.slow_cable, machine="lab1", seconds=SECONDS)),
    "the queue": ("queue", _slow_queue),
    "a commit": ("store", _slow_flushes),
}


def rows(root: Path, say: Say, release: str = "") -> Iterator[Row]:
    """How much of what a write takes longer is in its stage, and in another; and how many operations are counted.

    One write at a time, so that no delay makes others wait less; a pool of one copy. ``release`` is that of the lab.
    """
    counted: list[Mapping[str, float]] = []
    with temporary_lab(*(("--release", release) if release else ())) as lab, pool_on(lab, size=1) as pool:
        for what, (own, delay) in _DELAYS.items():
            measured = []
            try:
                for delayed in (False, True, False):
                    with ExitStack() as stack:
                        if delayed:
                            stack.enter_context(delay(lab))
                        measured.append(_stages(lab, root / str(len(counted)), f"rbd:{pool}"))
                        counted.append(measured[-1])
            except NotProvoked as error:
                say(f"{what}: not provoked: {error}")
                continue
            longer = _longer(*measured)
            whole = sum(longer.values())
            say(f"{what}: {1e3 * whole:.2f} ms longer: " + ", ".join(f"{n} {1e3 * longer[n]:+.2f}" for n in _NAMES))
            most = max(abs(longer[name]) / whole for name in _NAMES if name != own)
            yield row(f"a delay of {what}: in its own stage", 100 * longer[own] / whole, "%", at_least(80))
            yield row(f"a delay of {what}: in another stage at most", 100 * most, "%", at_most(10))
    off = max(abs(stages["operations"] / stages["ios"] - 1) for stages in counted)
    yield row("operations counted beside I/Os: off by at most", 100 * off, "%", at_most(2))


def _longer(first: Mapping[str, float], delayed: Mapping[str, float], last: Mapping[str, float]) -> dict[str, float]:
    keys = {name: f"{name}_seconds" for name in _NAMES}
    return {name: delayed[key] - fmean([first[key], last[key]]) for name, key in keys.items()}


def _stages(lab: Lab, root: Path, target: str) -> Mapping[str, float]:
    """Those of the writes of a run."""
    root.mkdir(parents=True)
    bench = Bench(lab, Sandbox(root))
    try:
        options: dict[str, Any] = {"iodepth": 1, "numjobs": 1, "size": "64M", "runtime": _RUNTIME, "ramp_time": _RAMP}
        (run,) = bench.run("write-iops", target=target, words=["--shared-pool"], **options).runs
        stages: Mapping[str, float] = run["stages"]["write"]
        return stages
    finally:
        bench.sandbox.kill_all()
