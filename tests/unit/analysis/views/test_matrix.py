"""Steps over targets and nodes: which runs stand in which cell, what state it is in, and what stands out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from cephtui.analysis.detectors.slowest import Slowest, osd_latency, slowest_osd
from cephtui.analysis.runs.points import PointKey
from cephtui.analysis.views.matrix import Matrix, MatrixRow, matrix_of
from cephtui.models import ClusterEnvironment, ClusterSample, Finding, NodeResult, OptionValue, Outcome, Run, Summary
from cephtui.models.metrics import BY_NAME, Metric
from cephtui.models.study import Cell, Ordered
from cephtui.tools import TOOLS
from tests.support.known import known
from tests.support.runs import recorded

IOPS = BY_NAME["iops"]
PRESET: dict[str, OptionValue] = {"rw": "randwrite", "bs": "4k", "iodepth": 64, "runtime": 60, "time_based": True}
NODES = ("pve1", "pve2", "pve3")


def headline(run: Run) -> Metric:
    return BY_NAME["latency_mean_seconds"] if run.preset == "latency" else IOPS


def on(nodes: Sequence[str], iops: Sequence[float] = ()) -> dict[str, Any]:
    """The nodes of a run, with what each has written."""
    total = known(recorded().summary.write)
    parts = [Summary(write=total.model_copy(update={"iops": each})) for each in iops] or [Summary()] * len(nodes)
    results = [NodeResult(node=node, command="fio", summary=part) for node, part in zip(nodes, parts, strict=True)]
    return {"nodes": tuple(results)}


def run_of(
    number: int, batch: str, iops: float, node: str = "pve1", outcome: Outcome | None = "ok", **changes: Any
) -> Run:
    run = recorded(number, iops=iops, p99=0.01, batch=batch, outcome=outcome, **{**on([node]), **changes})
    return run if outcome == "ok" else run.model_copy(update={"summary": Summary()})


def cell(batch: str, step: str = "4k writes", **changes: Any) -> Cell:
    given = {"preset": "write-iops", "target": "rbd:bench", "nodes": ("pve1",), "repeats": 3, **changes}
    return Cell.model_validate({"step": step, "batch": batch, **given})


def ordered(*cells: Cell) -> Ordered:
    return Ordered(title="A study", cells=cells)


def matrix(runs: Sequence[Run], order: Ordered | None = None) -> Matrix:
    return matrix_of(runs, headline, order)


def value(found: Matrix, row: int = 0, column: int = 0) -> float:
    return known(known(found.rows[row].cells[column]).estimate).value


def states(row: MatrixRow) -> list[str | None]:
    return [each.state if each else None for each in row.cells]


# ---------------------------------------------------------------------------------------------- what was ordered


def test_what_was_ordered_has_its_cells_before_anything_has_run() -> None:
    order = ordered(*(cell(f"b{node}", nodes=(node,)) for node in NODES), cell("c", "reads", preset="read-iops"))
    found = matrix([], order)
    assert [column.nodes for column in found.columns] == [(node,) for node in NODES]
    assert [(row.step, states(row)) for row in found.rows] == [
        ("4k writes", ["waiting"] * 3),
        ("reads", ["waiting", None, None]),
    ]
    assert (found.title, found.done, found.runs_ordered, found.left_seconds) == ("A study", 0, 12, None)


def test_a_cell_has_the_geometric_mean_of_the_runs_that_count() -> None:
    runs = [run_of(1, "b", 100.0), run_of(2, "b", 400.0), run_of(3, "b", 9.0, outcome="failed")]
    found = matrix(runs, ordered(cell("b", repeats=2)))
    (only,) = found.rows[0].cells
    assert value(found) == pytest.approx(200.0)
    assert (known(only).state, known(only).done, len(known(only).runs)) == ("ok", 2, 3)
    assert (found.rows[0].flow, found.rows[0].metric) == ("write", IOPS)
    assert (found.done, found.runs_ordered) == (2, 2)


@pytest.mark.parametrize(
    ("outcomes", "state"),
    [
        (("ok",), "waiting"),
        (("ok", None), "running"),
        (("ok", "failed"), "failed"),
        (("refused",), "refused"),
        (("lost", "stopped"), "stopped"),
        (("lost", "ok", "ok", "ok"), "ok"),  # measured again
        (("ok", "ok", "ok"), "ok"),
    ],
)
def test_the_state_of_a_cell(outcomes: Sequence[Outcome | None], state: str) -> None:
    runs = [run_of(number, "b", 100.0, outcome=outcome) for number, outcome in enumerate(outcomes, 1)]
    found = matrix(runs, ordered(cell("b")))
    assert states(found.rows[0]) == [state]
    assert (found.running is not None) == (state == "running")


def test_runs_that_were_not_ordered_have_rows_of_their_own() -> None:
    runs = [run_of(1, "b", 100.0), run_of(2, "other", 50.0, preset="read-iops")]
    found = matrix(runs, ordered(cell("b", repeats=1)))
    assert [(row.step, value(found, at), states(row)) for at, row in enumerate(found.rows)] == [
        ("4k writes", 100.0, ["ok"]),
        ("read-iops", 50.0, ["ok"]),
    ]
    assert found.runs_ordered == 1


def test_the_missing_runs_take_as_long_as_those_of_their_step() -> None:
    runs = [run_of(1, "b", 100.0, duration_seconds=60.0), run_of(2, "c", 100.0, duration_seconds=20.0)]
    order = ordered(cell("b"), cell("c", "reads", repeats=1), cell("d", "later", repeats=1))
    assert matrix(runs, order).left_seconds == pytest.approx(2 * 60 + 0 + 40)


# ---------------------------------------------------------------------------------------------- sweeps


def test_the_points_of_a_sweep_are_rows_from_the_beginning() -> None:
    order = ordered(*(cell(f"b{n}", nodes=(n,), options={"iodepth": ["1", "4"]}) for n in ("pve1", "pve2")))
    assert [(row.point, states(row)) for row in matrix([], order).rows] == [
        ((("iodepth", "1"),), ["waiting", "waiting"]),
        ((("iodepth", "4"),), ["waiting", "waiting"]),
    ]
    depth = {**recorded().options, "iodepth": 4}
    found = matrix([run_of(1, "bpve1", 100.0, options=depth)], order)  # the first to run is not the first in order
    assert [(row.point, states(row)) for row in found.rows] == [
        ((("iodepth", 1),), ["waiting", "waiting"]),
        ((("iodepth", 4),), ["waiting", "waiting"]),
    ]
    assert value(found, row=1) == 100.0
    assert (found.done, found.runs_ordered) == (1, 12)


def test_the_sweep_of_a_preset_is_known_by_its_options() -> None:
    found = matrix([], ordered(cell("b", of_preset={"iodepth": [1, 2, 4], "rw": "randwrite"})))
    assert [row.point for row in found.rows] == [(("iodepth", depth),) for depth in (1, 2, 4)]
    assert found.runs_ordered == 9


def test_points_that_were_not_known_before_are_rows_all_the_same() -> None:
    depths = [{**recorded().options, "iodepth": depth} for depth in (1, 2)]
    runs = [run_of(number, "b1", 100.0 * number, options=each) for number, each in enumerate(depths, 1)]
    found = matrix(runs, ordered(cell("b1", repeats=1), cell("b2", nodes=("pve2",), repeats=1)))
    assert [(row.point, states(row)) for row in found.rows] == [
        ((("iodepth", 1),), ["ok", "waiting"]),
        ((("iodepth", 2),), ["ok", "waiting"]),
    ]


def options(**given: OptionValue) -> dict[str, OptionValue]:
    """Those of a run as the preset below has them, with others."""
    engine = {"ioengine": "rbd"} if given.get("ioengine") == "rbd" else {}
    return {**TOOLS["fio"].check_options({**PRESET, **given, **dict.fromkeys(engine, "libaio")}), **engine}


def cells_of(found: Matrix) -> list[tuple[PointKey, int, list[str | None]]]:
    return [(row.point, row.turn, states(row)) for row in found.rows]


def test_runs_beside_an_order_make_no_points_of_it() -> None:
    """Whatever they vary: an order's points are its own."""
    earlier = [run_of(n, "a", 100.0, options=options(iodepth=1, fsync=every)) for n, every in enumerate((1, 8), 1)]
    own = [run_of(n, "b", 100.0, options=options(iodepth=4, fdatasync=4)) for n in (3, 4, 5)]
    order = ordered(
        cell(
            "b",
            step="write-iops",
            target=recorded().target,
            of_preset=PRESET,
            options={"fdatasync": "4", "iodepth": "4"},
        )
    )
    found = matrix([*earlier, *own], order)
    assert cells_of(found) == [
        ((("iodepth", 4), ("fdatasync", 4)), 1, ["ok"]),
        ((("iodepth", 1), ("fsync", 1)), 1, ["ok"]),
        ((("iodepth", 1), ("fsync", 8)), 1, ["ok"]),
    ]
    assert (found.done, found.runs_ordered, found.missing) == (5, 3, 0)
    begun = matrix([*earlier, own[0]], order)
    assert [states(row) for row in begun.rows] == [["waiting"], ["ok"], ["ok"]]
    assert (begun.done, begun.runs_ordered, begun.missing) == (3, 3, 2)


def test_runs_beside_a_sweep_that_has_not_begun_are_none_of_its_points() -> None:
    earlier = [run_of(n, "a", 100.0, options=options(bs=size)) for n, size in enumerate(("4k", "8k"), 1)]
    order = ordered(
        cell(
            "b",
            step="write-iops",
            target=recorded().target,
            of_preset=PRESET,
            options={"iodepth": ["1", "4"]},
            repeats=1,
        )
    )
    found = matrix(earlier, order)
    assert [(row.turn, states(row)) for row in found.rows] == [(1, ["waiting"])] * 2 + [(1, ["ok"])] * 2
    assert (found.done, found.runs_ordered, found.missing) == (2, 2, 2)


@pytest.mark.parametrize(
    ("given", "measured_with"),
    [
        ({"iodepth": ["1", "4"]}, ({"iodepth": 1}, {"iodepth": 4})),
        ({"bs": ["4K", "1024k"]}, ({"bs": "4k"}, {"bs": "1m"})),
        ({"runtime": "10", "ramp_time": ["0", "5s"]}, ({"ramp_time": 0, "runtime": 10}, {"ramp_time": 5})),
        ({"ioengine": ["libaio", "io_uring"]}, ({"ioengine": "rbd"}, {"ioengine": "rbd"})),  # an image has no other
        ({"fsync": ["0", "1"]}, ({}, {"fsync": 1})),
    ],
)
def test_a_cell_whose_runs_are_all_there_waits_for_none(
    given: dict[str, OptionValue], measured_with: Sequence[dict[str, OptionValue]]
) -> None:
    runs = [run_of(n, "b", 100.0, options=options(**each)) for n, each in enumerate(measured_with, 1)]
    beside = run_of(9, "a", 100.0, options=options(iodepth=2, numjobs=3, fsync=7))
    found = matrix([*runs, beside], ordered(cell("b", of_preset=PRESET, options=given, repeats=1)))
    assert {state for row in found.rows for state in states(row)} == {"ok"}
    assert (found.done, found.runs_ordered, found.missing) == (3, 2, 0)
    assert sorted(run.run for row in found.rows for each in row.cells if each for run in each.runs) == [1, 2, 9]


def test_cells_of_one_step_with_other_options_keep_to_their_own() -> None:
    flushed: dict[str, Any] = {"step": "write-iops", "of_preset": PRESET, "repeats": 1}
    order = ordered(cell("a", **flushed, options={"fsync": "1"}), cell("b", **flushed, options={"iodepth": "4"}))
    first = run_of(1, "a", 100.0, options=options(fsync=1))
    begun = matrix([first], order)
    assert ([states(row) for row in begun.rows], begun.missing) == ([["ok"], ["waiting"]], 1)
    whole = matrix([first, run_of(2, "b", 100.0, options=options(iodepth=4))], order)
    assert [(row.turn, states(row)) for row in whole.rows] == [(1, ["ok"])] * 2


# ---------------------------------------------------------------------------------------------- without an order


def test_without_an_order_presets_are_rows_with_what_differs() -> None:
    deep = {**recorded().options, "iodepth": 128}
    runs = [run_of(1, "a", 100.0), run_of(2, "a", 100.0), run_of(3, "b", 300.0, options=deep), run_of(4, "c", 90.0)]
    found = matrix(runs)
    usual = recorded().options["iodepth"]
    assert [(row.step, row.point, row.turn, value(found, at)) for at, row in enumerate(found.rows)] == [
        ("write-iops", (("iodepth", usual),), 1, 100.0),
        ("write-iops", (("iodepth", 128),), 1, 300.0),
        ("write-iops", (("iodepth", usual),), 2, 90.0),  # of another batch: never one figure with the first
    ]
    assert (found.done, found.runs_ordered, found.title) == (4, 0, "")
    assert [(column.targets, column.nodes) for column in found.columns] == [((), ())]


def test_no_runs_are_an_empty_matrix() -> None:
    found = matrix([])
    assert (found.columns, found.rows, found.slowest, found.running) == ((), (), None, None)


def test_reads_and_writes_of_a_mixed_load_are_rows_of_their_own() -> None:
    write = known(recorded().summary.write)
    both = Summary(read=write.model_copy(update={"iops": 300.0}), write=write.model_copy(update={"iops": 100.0}))
    found = matrix([run_of(1, "b", 1.0).model_copy(update={"summary": both})], ordered(cell("b", repeats=1)))
    assert [(row.flow, value(found, at)) for at, row in enumerate(found.rows)] == [("read", 300.0), ("write", 100.0)]
    assert (found.done, found.runs_ordered) == (1, 1)


# ---------------------------------------------------------------------------------------------- columns


def test_a_target_is_a_column_only_where_a_step_has_several() -> None:
    rados, fio = {"preset": "rados-write", "step": "rados"}, {"preset": "write-iops", "step": "fio"}
    one = ordered(cell("a", **rados, target="pool:x"), cell("b", **fio, target="rbd:x"))
    found = matrix([], one)
    assert [(column.targets, column.nodes) for column in found.columns] == [((), ())]
    assert [row.target for row in found.rows] == ["pool:x", "rbd:x"]
    two = ordered(
        *(cell(f"a{pool}", **rados, target=f"pool:{pool}") for pool in "xy"),
        *(cell(f"b{pool}", **fio, target=f"rbd:{pool}") for pool in "xy"),
    )
    found = matrix([], two)
    assert [column.targets for column in found.columns] == [("pool:x", "rbd:x"), ("pool:y", "rbd:y")]
    assert [(row.target, states(row)) for row in found.rows] == [("", ["waiting"] * 2)] * 2


def test_the_column_of_most_cells_comes_first() -> None:
    """Else the links of the first step are many columns before that of all others."""
    links = [cell(f"l{node}", "network", preset="network", target=f"host:{node}") for node in NODES]
    sweep = cell("s", "depths", target="rbd:one", options={"iodepth": [1, 4, 16]})
    steps = [cell(step, step, target="rbd:bench") for step in ("writes", "reads")]
    found = matrix([], ordered(*links, *steps, sweep))
    targets = ("rbd:one", "rbd:bench", *(f"host:{node}" for node in NODES))
    assert [column.targets for column in found.columns] == [(target,) for target in targets]
    assert [row.step for row in found.rows] == ["network", "writes", "reads", *["depths"] * 3]


def test_images_of_one_pool_are_not_one_column() -> None:
    order = ordered(*(cell(f"b{image}", target=f"rbd:x/{image}") for image in ("one", "two")))
    assert [column.targets for column in matrix([], order).columns] == [("rbd:x/one",), ("rbd:x/two",)]


def test_nodes_in_turn_and_then_all_are_columns() -> None:
    order = ordered(*(cell(f"b{n}", nodes=(n,)) for n in NODES), cell("all", nodes=NODES))
    found = matrix([run_of(1, "all", 300.0, **on(NODES))], order)
    assert [column.nodes for column in found.columns] == [("pve1",), ("pve2",), ("pve3",), NODES]
    assert states(found.rows[0]) == ["waiting"] * 4
    assert value(found, column=3) == 300.0


def test_names_of_any_origin_are_kept_as_they_are() -> None:
    hostile = "[red]=1+1|`x"
    runs = [run_of(1, "b", 1.0, node=hostile), run_of(2, "c", 2.0, node="pve2")]
    found = matrix(runs, ordered(cell("b", step=hostile, nodes=(hostile,), target=f"file:/{hostile}")))
    assert found.rows[0].step == hostile
    assert (hostile,) in {row.nodes for row in found.rows} | {column.nodes for column in found.columns}


# ---------------------------------------------------------------------------------------------- what stands out


def of_nodes(*iops: float, repeats: int = 1) -> Matrix:
    """Each node in turn."""
    order = ordered(*(cell(f"b{node}", nodes=(node,), repeats=repeats) for node in NODES))
    numbers = iter(range(1, 100))
    places = zip(NODES, iops, strict=True)
    return matrix([run_of(next(numbers), f"b{node}", x, node) for node, x in places for _ in range(repeats)], order)


def test_the_slowest_node_stands_out() -> None:
    row, found = known(of_nodes(1000.0, 620.0, 1010.0).slowest)
    assert (found.kind, found.name, round(found.fraction, 3)) == ("node", "pve2", 0.38)
    assert [known(each).slower is not None for each in row.cells] == [False, True, False]


def test_a_node_that_is_nearly_as_fast_does_not() -> None:
    assert of_nodes(1000.0, 720.0, 1000.0).slowest is None, "one run of each: nodes alike differ as much"
    assert of_nodes(1000.0, 840.0, 1000.0, repeats=6).slowest is not None
    assert of_nodes(1000.0, 860.0, 1000.0, repeats=20).slowest is None, "too little to matter"


def test_two_places_have_no_slowest() -> None:
    order = ordered(*(cell(f"b{node}", nodes=(node,), repeats=1) for node in NODES[:2]))
    assert matrix([run_of(1, "bpve1", 100.0), run_of(2, "bpve2", 10.0, "pve2")], order).slowest is None


def test_of_a_run_on_all_nodes_the_slowest_is_found_by_its_own_figures() -> None:
    runs = [run_of(n, "b", 300.0, **on(NODES, (100.0, 105.0, slow))) for n, slow in enumerate((50.0, 52.0), 1)]
    found = matrix(runs, ordered(cell("b", nodes=NODES, repeats=2)))
    (within,) = known(found.rows[0].cells[0]).within
    assert replace(within, fraction=round(within.fraction, 2)) == Slowest("node", "pve3", 0.49, "more")
    assert known(found.rows[0].cells[0]).slower is None


def cluster(phase: str, **seconds: float) -> ClusterSample:
    given = {"run": 1, "elapsed_seconds": 1.0, "phase": phase}
    return ClusterSample.model_validate({**given, "osd_latency_seconds": {n[3:]: s for n, s in seconds.items()}})


def test_the_slowest_osd_of_writes_stands_out() -> None:
    seconds = (0.02, 9.0, 0.025)  # a single slow moment counts for little
    samples = [cluster("ramp", osd0=9.0), *[cluster("run", osd0=0.010, osd1=0.011, osd2=t) for t in seconds]]
    latency = osd_latency(samples)
    assert latency == {"0": 0.010, "1": 0.011, "2": 0.025}
    slowest = known(slowest_osd([latency]))
    assert replace(slowest, fraction=round(slowest.fraction, 2)) == Slowest("osd", "osd.2", 1.27, "less")
    found = matrix_of([run_of(1, "b", 100.0)], headline, osds={1: latency})
    assert known(found.slowest)[1].name == "osd.2"
    read = known(recorded().summary.write)
    reads = run_of(1, "b", 100.0).model_copy(update={"summary": Summary(read=read)})
    assert matrix_of([reads], headline, osds={1: latency}).slowest is None


def test_an_osd_without_pgs_of_the_pool_is_not_its_slowest() -> None:
    """A disk of another class is slower by its nature, and takes no part."""
    samples = [cluster("run", osd0=0.001, osd1=0.001, osd2=0.001, osd7=0.040)]
    of_pool = ClusterEnvironment(pgs_by_osd={"0": 32, "1": 32, "2": 32})
    run = run_of(1, "b", 100.0).model_copy(update={"cluster": of_pool})
    assert osd_latency(samples, run).keys() == {"0", "1", "2"}
    unknown = run.model_copy(update={"cluster": ClusterEnvironment()})
    assert osd_latency(samples, unknown).keys() == {"0", "1", "2", "7"}


def test_findings_that_limit_the_figure_are_named() -> None:
    findings = (Finding(code="health", text="HEALTH_WARN"), Finding(code="space", text="full"))
    found = matrix([run_of(1, "b", 100.0, findings=findings)])
    assert known(found.rows[0].cells[0]).findings == ("health",)  # the space limits no figure
