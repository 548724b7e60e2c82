"""``cephtui check`` on a real Ceph, whose change is a limit of librbd's far below what was measured."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from cephtui.models import Mark
from cephtui.sessions.writer import append_lines
from tests.lab import Lab
from tests.on_lab.runs import Bench, Console, Event, sets

OPTION = "rbd_qos_iops_limit"
LOAD: dict[str, Any] = {"size": "4M", "numjobs": 1, "iodepth": 4, "runtime": 3, "ramp_time": 2, "rate_iops": 40}
"""What the lab reaches at any time, so that the figures are certain. The limit begins with what it has saved up."""
END_SECONDS = 240.0


@pytest.fixture
def limits(bench: Bench) -> Iterator[Bench]:
    """A bench whose cluster has no limit afterwards."""
    yield bench
    bench.lab.ceph("config", "rm", "client", OPTION)


def ceph(lab: Lab, *words: str) -> str:
    """A command of Ceph's, as a user of the lab types it."""
    return shlex.join(map(str, lab.command("ceph", "ceph", "--conf", lab.ceph_conf, *words)))


def limit_set(lab: Lab) -> list[str]:
    """What the cluster has been told of it."""
    return [each["value"] for each in lab.ceph("config", "dump") if each["name"] == OPTION]


def measured(bench: Bench, session: str = "M") -> list[float]:
    """The IOPS of three runs."""
    words = ["--repeat", "3", "--shared-pool", "--session", session]
    console = bench.run("write-iops", words=words, seconds=END_SECONDS, **LOAD)
    assert console.process.returncode == 0, console.describe()
    return [run["summary"]["write"]["iops"] for run in console.runs]


def there_and_back(lab: Lab, limit: float) -> list[str]:
    """Commands that set the limit and take it away."""
    change = ceph(lab, "config", "set", "client", OPTION, str(round(limit)))
    return ["--change", change, "--undo", ceph(lab, "config", "rm", "client", OPTION)]


def start(bench: Bench, *words: str, **options: object) -> Console:
    where = ["--config", str(bench.config), "--node", "lab1", "--target", f"rbd:{bench.lab.pool}", "--shared-pool"]
    load = sets(**{**LOAD, **options})
    return bench.sandbox.start("check", "--preset", "write-iops", *where, *load, "--session", "C", "--json", *words)


def changed(console: Console) -> str:
    """What the conclusion names as changed, of a check that was not met."""
    verdict: Event = next(event for event in console.events if event["event"] == "verdict")
    assert (verdict["word"], verdict["met"]) == ("worse", False), console.describe()
    assert verdict["interval"][1] < 0.9
    answer = console.events[-1]
    assert (answer["event"], answer["exit_code"]) == ("conclusion", 5)
    return "\n".join(answer["changed"])


def test_a_limit_is_found_and_gone_afterwards(limits: Bench) -> None:
    lab, limit = limits.lab, 0.4 * min(measured(limits))
    console = start(limits, *there_and_back(lab, limit), "--runs", "3")
    assert console.wait(END_SECONDS) == 5, console.describe()
    assert f"cluster client {OPTION} default -> {round(limit)}" in changed(console)
    before = [run["summary"]["write"]["iops"] for run in console.runs if run["run"] in (1, 4, 5)]
    assert min(before) > 1.6 * limit, "the limit was there before the change, or after it was undone"
    assert limit_set(lab) == []


@pytest.mark.essential
def test_what_a_killed_check_has_limited_is_undone_by_its_name(limits: Bench) -> None:
    lab, sandbox = limits.lab, limits.sandbox
    console = start(limits, *there_and_back(lab, 40), "--runs", "3", runtime=30)

    def is_after() -> bool:
        return any(event["event"] == "sample" and event["run"] == 2 for event in console.events)

    console.wait_for(is_after, END_SECONDS, "a run after the change")
    console.process.kill()
    sandbox.wait_gone()
    assert limit_set(lab) == ["40"]
    assert "cephtui cleanup --undo C" in limits.cleanup("--yes", seconds=END_SECONDS).stderr
    assert limit_set(lab) == ["40"]
    undone = limits.cephtui("cleanup", "--undo", "C", "--yes")
    assert undone.process.returncode == 0, undone.describe()
    assert limit_set(lab) == []
    assert limits.cephtui("cleanup", "--undo", "C", "--yes").process.returncode == 2


def test_a_change_between_two_batches_is_found_by_its_mark(limits: Bench) -> None:
    lab = limits.lab
    limit = 0.4 * min(measured(limits))
    append_lines(limits.sandbox.session("M") / "marks.jsonl", [Mark(at=datetime.now(UTC), text="limited")])
    lab.ceph("config", "set", "client", OPTION, str(round(limit)))
    assert max(measured(limits)) < 1.5 * limit
    console = limits.cephtui("check", "M", "--json")
    assert console.process.returncode == 5, console.describe()
    assert f"cluster client {OPTION} default -> {round(limit)}" in changed(console)
    assert "limited" in console.events[-1]["noted"]
