"""The statistics and the table of `make bench`; what it measures is no matter of tests."""

from __future__ import annotations

import json
import math
import random
import statistics
from dataclasses import replace
from pathlib import Path

import pytest

from cephtui.models import Node
from cephtui.nodes.ssh import connect
from cephtui.nodes.ssh.connection import SshConnection
from cephtui.nodes.transport import Command
from cephtui.stats import make_interval, percentile_seconds
from cephtui.tools.base import Reading
from tests.bench import lines, stream
from tests.bench.__main__ import chosen
from tests.bench.drawn import Drawn
from tests.bench.figures import largest_gap, of_differences, of_ratios, p95, t95
from tests.bench.interactive import NotMeasured
from tests.bench.lines import recorded_readings, shown_figures, written
from tests.bench.nodes import Note, nodes
from tests.bench.process import parse_resident
from tests.bench.stall import late_beat
from tests.bench.statistics import PROMISES, Promise, row_of
from tests.bench.table import Goal, as_json, as_text, at_least, at_most, row
from tests.support.by_floats import compute_by_floats
from tests.support.golden import Golden


def test_the_interval_is_students() -> None:
    found = of_differences([1.0, 2.0, 3.0, 4.0, 10.0])

    half = 2.776 * statistics.stdev([1, 2, 3, 4, 10]) / math.sqrt(5)
    assert (found.median, found.low, found.high) == pytest.approx((3.0, 4.0 - half, 4.0 + half))


def test_an_interval_needs_two_values() -> None:
    with pytest.raises(ValueError, match="two values"):
        of_differences([1.0])


def test_beyond_the_table_of_t_the_interval_is_rather_too_wide() -> None:
    assert t95(14) == 2.145
    assert t95(500) == t95(30)


def test_the_interval_holds_the_truth_19_times_of_20() -> None:
    chance = random.Random(1)
    held = 0
    for _ in range(2000):
        found = of_ratios([math.exp(chance.gauss(0.02, 0.05)) for _ in range(15)])
        held += found.low <= math.exp(0.02) <= found.high

    assert 0.93 <= held / 2000 <= 0.97


def test_ratios_are_the_same_from_either_side() -> None:
    ratios = [0.9, 1.0, 1.3]
    found, turned = of_ratios(ratios), of_ratios([1 / ratio for ratio in ratios])

    assert (found.low, found.high) == pytest.approx((1 / turned.high, 1 / turned.low))
    assert found.median == pytest.approx(1 / turned.median)


@pytest.mark.parametrize(
    ("value", "goal", "told", "met"),
    [
        (0.97, at_least(0.97), True, True),
        (0.96, at_least(0.97), True, False),
        (0.96, at_least(0.97), False, None),
        (0.98, at_least(0.97), False, True),
        (3.0, at_most(3), True, True),
        (3.1, at_most(3), True, False),
        (3.1, None, True, None),
    ],
)
def test_a_goal_is_met_missed_or_not_to_be_told(value: float, goal: Goal | None, told: bool, met: bool | None) -> None:
    assert row("m", value, "u", goal, told=told).met is met


def test_the_table_and_the_file_say_the_same() -> None:
    rows = [
        row("start spread", 12.345, "ms", at_most(10), spread=(1.0, 20.0), how="median", values=[1.0, 20.0]),
        row("ratio", 0.99512, "ratio", at_least(0.97)),
        row("control", 0.9, "ratio"),
        row("noise", 0.9, "ratio", at_least(0.97), told=False),
    ]

    assert as_text(rows).splitlines() == [
        "measure       value  unit   goal     met          spread",
        "--------------------------------------------------------",
        "start spread  12.35  ms     <= 10    NO   1.000 .. 20.00",
        "ratio         0.995  ratio  >= 0.97  yes",
        "control       0.900  ratio",
        "noise         0.900  ratio  >= 0.97  ?",
    ]
    stored = json.loads(json.dumps(as_json(rows, {"python": "3"})))
    assert stored["conditions"] == {"python": "3"}
    assert stored["rows"][0] == {
        "measure": "start spread",
        "value": 12.345,
        "unit": "ms",
        "goal": "<= 10",
        "met": False,
        "spread": [1.0, 20.0],
        "how": "median",
        "values": [1.0, 20.0],
    }
    assert [each["met"] for each in stored["rows"]] == [False, True, None, None]


def test_95_of_100_do_not_exceed_the_percentile(golden: Golden) -> None:
    values = list(range(100, 0, -1))

    assert p95(values) == 95
    assert p95([7.0]) == 7.0
    with golden.raises(ValueError):
        p95([])


@pytest.mark.parametrize(
    ("times", "gap"),
    [([], 10.0), ([3.0], 7.0), ([9.0, 1.0, 4.0], 5.0), ([-5.0, 2.0, 99.0], 8.0), ([0.0, 10.0], 10.0)],
)
def test_the_largest_gap_counts_from_the_beginning_to_the_end(times: list[float], gap: float) -> None:
    assert largest_gap(times, 0.0, 10.0) == gap


def test_a_text_has_been_drawn_when_its_last_byte_arrived() -> None:
    drawn = Drawn()
    for at, data in ((1.0, b"IOPS 1k"), (2.0, b" IO"), (3.0, b"PS 2k"), (4.0, b" IOPS 3k")):
        drawn.add(data, at)

    assert b"IOPS 2k" in drawn
    assert drawn.when(b"IOPS", 0.0) == 1.0
    assert drawn.when(b"IOPS", 1.0) == 3.0
    assert drawn.when(b"IOPS", 2.0) == 4.0, "what began before does not count"
    assert drawn.when(b"IOPS", 4.0) is None


def test_words_are_what_a_terminal_would_show() -> None:
    drawn = Drawn()
    drawn.add(b"\x1b[?2026$p\x1b]22;default\x07\x1b[1;38;2;0;95;157mnot run\x1b[0m \xe2\x94\x80 \x1b[4;1HIOPS", 1.0)

    assert drawn.words() == "not run IOPS"


def test_the_resident_memory_is_the_first_figure_of_the_kernels() -> None:
    text = "5600-7ffe ---p 00000000 00:00 0 [rollup]\nRss:               65536 kB\nPss:               1 kB\n"

    assert parse_resident(text) == 64 << 20
    with pytest.raises(ValueError, match="no Rss"):
        parse_resident("Pss: 1 kB\n")


def test_a_simulated_second_has_each_node_and_all_of_them_together() -> None:
    seconds = list(stream.samples(3, 2))

    assert [[sample.node for sample in second] for second in seconds] == [["n1", "n2", "n3", None]] * 2
    assert [second[-1].elapsed_seconds for second in seconds] == [1.0, 2.0]
    whole = seconds[0][-1].read
    assert whole is not None
    assert whole.latency_buckets is not None
    assert len(whole.latency_buckets) == stream.BUCKETS
    assert sum(whole.latency_buckets.values()) == whole.ios


def test_a_simulated_histogram_lies_around_its_latency() -> None:
    buckets = stream.histogram(0.001, 100_000)

    assert sum(buckets.values()) == pytest.approx(100_000, rel=0.01)
    middle = percentile_seconds(buckets, 50.0)
    assert middle == pytest.approx(0.001, rel=0.05)


def test_a_simulated_run_is_on_all_its_nodes_and_as_long_as_asked_for() -> None:
    plan, run = stream.begin(2, 600.0)
    over = stream.ended(run, plan.steps[0])

    assert (plan.steps[0].run_seconds, plan.steps[0].ramp_seconds) == (600.0, 0.0)
    assert (run.outcome, over.outcome) == (None, "ok")
    assert [node.node for node in over.nodes] == ["n1", "n2"]


def test_a_second_is_written_when_the_last_node_has_written_it() -> None:
    notes = [Note("piece", 0, 1.0), Note("piece", 1, 1.2), Note("beat", 1, 1.5), Note("piece", 1, 2.0)]
    notes += [Note("piece", 0, 2.1), Note("piece", 2, 9.0)]

    assert written(notes, range(2)) == [1.2, 2.1]
    assert written(notes, range(2, 3)) == [9.0]


def test_figures_are_told_apart_where_they_differ_from_the_one_before() -> None:
    shown = shown_figures([(0, reading(100)), (2, reading(200)), (3, reading(200)), (5, reading(100))], 2)

    assert shown == {0: "400", 2: "800", 5: "400"}


def reading(ios: int) -> Reading:
    """A second with so many reads, and as many writes."""
    return Reading("run", 1.0, 1.0, make_interval(ios, 0, 1.0, None, None), make_interval(ios, 0, 1.0, None, None))


def test_the_recorded_figures_are_enough() -> None:
    for number in lines.NODES:
        assert lines.RUNS * len(shown_figures(recorded_readings(), number)) >= lines.LEAST


def test_only_beats_around_the_stall_count() -> None:
    beats = {0: [0.0, 5.0, 12.5, 17.5], 1: [1.0, 6.0, 11.0, 19.0], 2: [30.0, 60.0]}
    notes = [Note("beat", process, at) for process, moments in beats.items() for at in moments]
    notes.append(Note("piece", 0, 7.0))

    assert late_beat(notes, 6.5, 10.5) == pytest.approx(2.5)
    with pytest.raises(NotMeasured):
        late_beat(notes, 20.0, 25.0)


def test_measures_are_named_one_by_one_or_together() -> None:
    assert chosen(["keys", "observer", "keys"]) == ["observer", "keys"]
    assert chosen(["console"]) == ["launch", "memory", "keys", "lines", "cpu", "saved", "stall"]
    assert chosen([]) == ["observer", "start", "order", *chosen(["console"]), "statistics"]
    with pytest.raises(KeyError):
        chosen(["consoles"])


@pytest.mark.parametrize("promise", PROMISES, ids=[promise.text for promise in PROMISES])
def test_each_promise_is_counted_in_simulated_cases(promise: Promise, monkeypatch: pytest.MonkeyPatch) -> None:
    compute_by_floats(monkeypatch)
    few = replace(promise, times=4)
    assert row_of(few, seed=1).value == row_of(few, seed=1).value
    assert row_of(few, seed=1).value in (0, 25, 50, 75, 100)


@pytest.mark.matrix
@pytest.mark.parametrize("promise", PROMISES, ids=[promise.text for promise in PROMISES])
def test_each_promise_is_kept(promise: Promise, monkeypatch: pytest.MonkeyPatch) -> None:
    compute_by_floats(monkeypatch)
    found = row_of(promise, seed=PROMISES.index(promise) + 1)
    assert found.met is not False, f"{found.value:.2f} %, promised {found.goal}"


@pytest.mark.parametrize(("number", "met"), [(990, True), (940, None), (920, False)])
def test_a_promise_is_broken_beyond_what_chance_explains(number: int, met: bool | None) -> None:
    promise = Promise("an interval", at_least(95), lambda _: iter([True] * number + [False] * (1000 - number)), 1000)
    found = row_of(promise, seed=1)
    assert (found.value, found.met) == (number / 10, met)


def test_the_text_of_a_promise_is_its_own() -> None:
    assert len({promise.text for promise in PROMISES}) == len(PROMISES)


async def test_a_simulated_node_is_reached_as_a_real_one(tmp_path: Path) -> None:
    with nodes("recorded", tmp_path / "ssh") as ssh_config:
        connection = await connect(Node(name="n1", host="n1", ssh_config=str(ssh_config)), {})
        assert isinstance(connection, SshConnection)
        await connection.measure()
        process = await connection.start(Command(["fio", "--name=fill"], token="t", limit_seconds=60))
        process.release()
        chunks = [chunk async for chunk in process.chunks()]
        assert await process.wait() == 0
        await connection.close()
    assert connection.round_trip_seconds > 0
    assert b'"jobs"' in b"".join(chunk.data for chunk in chunks)
