"""``run --sweep-depth auto``: what is run, what is said of it, and what is refused."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime, timedelta
from typing import cast

import pytest
from click.testing import CliRunner

from cephtui.analysis.sweep import Measured, runs_most
from cephtui.cli import series
from cephtui.cli.sweeping import depth_most, run_sweep, sweep_line
from cephtui.cli.verbs import cli
from cephtui.exit_codes import EXIT_FAILED, EXIT_INCOMPLETE, EXIT_NO_VERDICT
from cephtui.models import Plan, Run, Step, Summary, Total
from cephtui.models.suite import Ordered
from cephtui.reports.sweep import again_line, confirmed_line, point_line
from cephtui.running.runner import Runner
from cephtui.targets.base import Target
from tests.closed_loops import SECONDS, System, hard
from tests.golden import Golden
from tests.loads import under_load
from tests.test_stable import NoRunner, home, request, said

__all__ = ["home"]
WAY = [1, 2, 4, 8, 16, 32, 64, 11, 23]


class Desk:
    """Carries out plans on a system; the runs of these numbers fail, and the user stops at another."""

    is_asked_to_end = leaves = False

    def __init__(self, system: System, *failing: int, stopping: int = 0) -> None:
        self.system, self.failing, self.stopping = system, failing, stopping
        self.steps: list[Step] = []

    def measure(
        self, plan: Plan, target: Target, output: object, ordered: Ordered | None = None
    ) -> tuple[int, tuple[Run, ...]]:
        (step,) = plan.steps
        self.steps.append(step)
        run = self.run(step, len(self.steps))
        return {"ok": 0, "failed": 1, "stopped": 4}[str(run.outcome)], (run,)

    def run(self, step: Step, number: int) -> Run:
        in_flight = int(step.options["iodepth"]) * int(step.options["numjobs"])
        rate = self.system(in_flight)
        latency = in_flight / rate if rate else 0.0
        if offered := step.options.get("rate_iops"):
            rate = float(offered) * int(step.options["numjobs"])
            latency = SECONDS
        total = Total(ios=60, bytes=60, runtime_seconds=60, iops=rate, bandwidth_bytes=rate,
                      latency_mean_seconds=latency, latency_p99_seconds=2 * latency)  # fmt: skip
        outcome = "failed" if number in self.failing else "stopped" if number == self.stopping else "ok"
        return Run.model_validate(
            {
                "session": "tuning",
                "run": number,
                "batch": step.batch,
                "repeat": step.repeat,
                "step": step.number,
                "preset": step.preset,
                "tool": step.tool,
                "target": step.target,
                "options": step.options,
                "outcome": outcome,
                "error": "no space" if outcome == "failed" else None,
                "command": "fio",
                "started_at": datetime(2026, 11, 23, tzinfo=UTC) + timedelta(minutes=number),
                "summary": Summary(write=total) if outcome == "ok" else Summary(),
            }
        )

    @property
    def depths(self) -> list[int]:
        return [int(step.options["iodepth"]) for step in self.steps]


def swept(monkeypatch: pytest.MonkeyPatch, desk: Desk, *presets: str, confirm: bool = False) -> int:
    monkeypatch.setattr(series, "measuring", lambda runner: contextlib.nullcontext(desk))
    return run_sweep(cast("Runner", NoRunner()), [request(*presets)], confirm, True)


def test_it_goes_up_and_back_as_one_batch(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], golden: Golden
) -> None:
    desk = Desk(hard(8 * 16))
    assert swept(monkeypatch, desk, "write-iops") == 0
    assert desk.depths == [*WAY, *reversed(WAY)]
    assert len({step.batch for step in desk.steps}) == 1
    assert [step.number for step in desk.steps] == list(range(1, 19))
    assert [step.repeat for step in desk.steps] == [1] * 9 + [2] * 9
    printed = capsys.readouterr()
    lines = [line.removeprefix("cephtui: ") for line in printed.err.splitlines()]
    assert lines[0] == "depth 1: 62.5 IOPS, 128 ms"
    assert lines[3] == "depth 8: 500 IOPS, 128 ms, +100 %"
    golden.same(lines[-1])
    assert '"event":"knee"' in printed.out
    assert '"text":"knee at depth 16 (95 %: 16 .. 16), 128 in flight: 1.00k IOPS' in printed.out


def test_a_run_that_does_not_count_is_made_again_at_its_depth(monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk(hard(8 * 16), 3)
    assert swept(monkeypatch, desk, "write-iops") == 0
    assert desk.depths[:5] == [1, 2, 4, 4, 8]
    assert [step.number for step in desk.steps] == list(range(1, 20))


@pytest.mark.parametrize(
    ("desk", "code", "runs"),
    [
        (Desk(hard(128), 2, 3), EXIT_FAILED, 3),
        (Desk(hard(128), stopping=4), EXIT_INCOMPLETE, 4),
        (Desk(lambda depth: 0.0), EXIT_NO_VERDICT, 1),
    ],
)
def test_it_ends_with_two_failures_a_stop_or_nothing(
    monkeypatch: pytest.MonkeyPatch, desk: Desk, code: int, runs: int
) -> None:
    assert (swept(monkeypatch, desk, "write-iops"), len(desk.steps)) == (code, runs)


def test_presets_follow_each_other(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    desk = Desk(hard(8))
    assert swept(monkeypatch, desk, "write-iops", "read-iops") == 0
    assert len({step.batch for step in desk.steps}) == 2
    assert said(capsys)[-1].startswith("read-iops: depth 1 again: ")


def test_it_is_confirmed_at_most_of_the_peak(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], golden: Golden
) -> None:
    desk = Desk(hard(8 * 16))
    assert swept(monkeypatch, desk, "write-iops", confirm=True) == 0
    *others, last = desk.steps
    assert last.batch not in {step.batch for step in others}
    assert {name: last.options[name] for name in ("iodepth", "numjobs", "rate_iops", "rate_process")} == {
        "iodepth": 32,
        "numjobs": 8,
        "rate_iops": 100,
        "rate_process": "poisson",
    }
    golden.same(said(capsys)[-1])


def test_without_a_knee_there_is_nothing_to_confirm(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], golden: Golden
) -> None:
    desk = Desk(hard(100_000))
    assert swept(monkeypatch, desk, "write-iops", confirm=True) == EXIT_NO_VERDICT
    assert max(desk.depths) == 256
    golden.same(said(capsys)[-1])


def test_the_table_at_the_end_is_a_curve(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(series, "measuring", lambda runner: contextlib.nullcontext(Desk(hard(8 * 4))))
    monkeypatch.setenv("COLUMNS", "120")
    run_sweep(cast("Runner", NoRunner()), [request("write-iops")], False, False)
    printed = capsys.readouterr().out
    assert "write-iops over the depth: #1-" in printed
    assert "knee at depth 4 (95 %: " in printed


# ------------------------------------------------------------------ in words


def points(*found: tuple[int, float]) -> list[Measured]:
    return [Measured(depth, rate, depth / rate) for depth, rate in found]


def test_a_point_is_compared_with_the_depth_below_it() -> None:
    assert point_line(points((4, 4400.0), (16, 9000.0), (8, 6072.0))) == "depth 8: 6.07k IOPS, 1.32 ms, +38 %"


@pytest.mark.parametrize(
    ("factor", "said_of_it"),
    [
        (0.8, "-20 % IOPS"),
        (1.3, "+30 % IOPS"),
        (0.95, ""),
    ],
)
def test_what_is_not_the_same_on_the_way_back_is_said(factor: float, said_of_it: str, golden: Golden) -> None:
    up = [(depth, 100.0 * depth) for depth in (1, 2, 4)]
    line = again_line(points(*up, *((depth, factor * rate) for depth, rate in reversed(up))))
    assert line.startswith(said_of_it)
    assert bool(line) == bool(said_of_it)
    golden.same(line)


def test_chance_is_not_taken_for_a_drift() -> None:
    assert again_line(points((1, 100.0), (2, 200.0), (2, 300.0), (1, 90.0))) == ""
    assert again_line(points((1, 100.0), (2, 200.0))) == again_line([]) == ""


def test_what_was_offered_and_not_reached_is_said(golden: Golden) -> None:
    run = under_load(1, 700.0, 0.01, iodepth=4, rate_iops=1000)
    golden.same(confirmed_line(run))


# ------------------------------------------------------------------ before it begins


def test_how_long_it_may_take_is_said(golden: Golden) -> None:
    line = sweep_line([request("write-iops")], confirm=True)
    assert f"{runs_most() + 1} runs" in line
    golden.same(line)


def test_the_depth_goes_no_further_than_the_tool_allows() -> None:
    assert depth_most(request("write-iops")) == 256


REFUSED = [
    "write-iops --confirm",
    "write-iops --sweep-depth auto --repeat 3",
    "write-iops --sweep-depth auto --until-stable",
    "write-iops --sweep-depth auto --expect iops>=5",
    "write-iops --sweep-depth auto --set iodepth=4",
    "write-iops --sweep-depth auto --set bs=4k,64k",
    "mixed-75-25 --sweep-depth auto --confirm",
    "rados-write --target pool:x --sweep-depth auto --confirm",
    "quick --target rbd:x --target pool:x --sweep-depth auto",
    "write-iops --resume last --sweep-depth auto",
]


@pytest.mark.parametrize("words", REFUSED)
def test_what_does_not_go_together_is_a_usage_error(words: str, golden: Golden) -> None:
    found = CliRunner().invoke(cli, ["run", "--dry-run", *words.split()])
    assert found.exit_code == 2, found.output
    golden.same(found.output.splitlines()[-1])
