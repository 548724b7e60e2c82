"""A suite that is killed at each kind of work, and resumed: what is missing is measured, and nothing twice."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from tests.on_lab.conftest import NewBench
from tests.on_lab.runs import Bench, Console, Event, left_on, run_directories, wait_for

SUITE = """
title = "All kinds"
[options]
runtime = 3
block-size = "16k"
concurrent-ios = 1
[[steps]]
preset = "rados-write"
[[steps]]
preset = "write-iops"
options = { size = "2M", numjobs = 2, rate_iops = 20, ramp_time = 0 }
"""
STEPS = ["rados-write", "write-iops"]
SLOW_FILL = 'case " $* " in *" --name=fill "*) exec "$REAL" "$@" --rate=1m;; esac; exec "$REAL" "$@"'
KILLED: dict[str, tuple[int, str]] = {
    "rados bench": (1, "run"),
    "prefill": (2, "prepare"),
    "fio": (2, "run"),
}
"""In which run, and phase of it."""


class Resumed:
    """A suite that was killed in the middle, and the consoles that continued it."""

    def __init__(self, bench: Bench, name: str) -> None:
        self.bench, self.name = bench, name
        self.number, self.phase = KILLED[name]
        bench.configure(lab1={"prefix": bench.program("lab1", "fio", SLOW_FILL)})
        folder = bench.sandbox.config / "cephtui" / "suites"
        folder.mkdir(parents=True)
        (folder / "kinds.toml").write_text(SUITE)
        pool = bench.lab.pool
        targets = ["--target", f"pool:{pool}", "--target", f"rbd:{pool}"]
        self.first = self._start("kinds", "--node", "lab1", *targets, "--session", "S")

    def _start(self, *words: str) -> Console:
        given = ["--config", str(self.bench.config), "--shared-pool", "--json"]
        return self.bench.sandbox.start("run", *words, *given)

    def is_killed(self) -> bool:
        """Whether the run was in the phase in which it is killed, which is done then."""
        if not self.first.samples(self.phase, run=self.number):
            return False
        self.first.process.kill()
        return True

    def resume(self) -> Console:
        """Continue it."""
        self.second = self._start("--resume", "S")
        return self.second

    @property
    def runs(self) -> list[Event]:
        """All of the session, in their order."""
        return [json.loads((path / "run.json").read_text()) for path in run_directories(self.first)]


@pytest.fixture(scope="module")
def resumed(new_bench: NewBench) -> dict[str, Resumed]:
    """All of them side by side."""
    cases = {name: Resumed(new_bench(), name) for name in KILLED}
    left = dict(cases)

    def all_are_killed() -> bool:
        for name in [name for name, case in left.items() if case.is_killed()]:
            left.pop(name).first.wait()
        return not left

    wait_for(all_are_killed, 180, "the moment of each", lambda: "\n".join(c.first.describe() for c in left.values()))
    for console in [case.resume() for case in cases.values()]:
        console.wait(180)
    return cases


@pytest.mark.parametrize("name", KILLED)
def test_what_is_missing_is_measured_and_nothing_twice(resumed: dict[str, Resumed], name: str) -> None:
    case = resumed[name]
    assert case.second.process.returncode == 0, case.second.describe()
    good = [run for run in case.runs if run["outcome"] == "ok"]
    assert [run["preset"] for run in good] == STEPS
    assert set(Counter((run["batch"], run["step"]) for run in good).values()) == {1}
    assert [run["run"] for run in case.runs if run["outcome"] != "ok"] == [case.number]
    killed, again = case.runs[case.number - 1 : case.number + 1]
    assert (killed["batch"], killed["step"]) == (again["batch"], again["step"])


def test_what_the_killed_ones_have_left_is_removed(resumed: dict[str, Resumed]) -> None:
    for case in resumed.values():
        case.bench.wait_nothing_runs()
        console = case.bench.cleanup("--yes")
        assert console.process.returncode == 0, console.describe()
    assert left_on(next(iter(resumed.values())).bench.lab) == []
