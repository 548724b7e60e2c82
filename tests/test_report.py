"""Tables for the command line."""

from __future__ import annotations

from io import StringIO

from rich.console import Console, RenderableType

from cephtui.models import NodeEnvironment, NodeRow, PresetRow, Run, SessionRow
from cephtui.reports.listings import draw_nodes, draw_preset, draw_presets, draw_sessions
from cephtui.reports.runs import draw_runs
from cephtui.reports.text import varied
from cephtui.sessions import store
from tests.replayed import SESSION, WRITE_IOPS


def text_of(value: RenderableType, width: int = 100) -> str:
    console = Console(file=StringIO(), width=width)
    console.print(value)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def recorded(**changes: object) -> Run:
    return store.read_run(SESSION, WRITE_IOPS).model_copy(update=changes)


def test_a_users_text_is_no_markup() -> None:
    row = PresetRow(preset="b[x]", title="Cold [fast] reads", description="closes [/b] nothing", path="[/]")
    for value in (draw_presets([row]), draw_preset(row)):
        text = text_of(value)
        assert all(part in text for part in ("b[x]", "Cold [fast] reads", "closes [/b] nothing"))
    assert "[bold]" in text_of(draw_sessions([SessionRow(session="s", path="p", error="[bold] [/x]")]))


def test_the_runs_of_a_sweep_are_told_apart() -> None:
    runs = [
        recorded(run=number, batch="sweep", options={"rw": "randread", "iodepth": depth, "bs": "4k"})
        for number, depth in ((1, 1), (2, 64))
    ]
    alone = recorded(run=3, batch="other", options={"rw": "randread", "iodepth": 8, "bs": "4k"})
    assert varied([*runs, alone]) == {1: "iodepth=1", 2: "iodepth=64", 3: ""}
    assert "iodepth=64" in text_of(draw_runs([*runs, alone]))


def test_reading_and_writing_in_turn_is_told_by_the_direction() -> None:
    runs = [
        recorded(run=number, batch="sweep", options={"rw": rw}) for number, rw in ((1, "randread"), (2, "randwrite"))
    ]
    assert varied(runs) == {1: "", 2: ""}


def test_a_table_fits_eighty_columns() -> None:
    text = text_of(draw_runs([recorded(preset="write-throughput", outcome="stopped")]), width=80)
    assert "write-throughput write" in text
    assert "stopped" in text.splitlines()[1]


def test_a_nodes_own_tools_stand_below_each_other_and_cephs_beside_them() -> None:
    tools = {"fio": "fio-3.33", "ioping": "ioping 1.3", "rados-bench": "rados", "ceph": "ceph version 16.2.15 (x)"}
    text = text_of(draw_nodes([NodeRow(node="a", environment=NodeEnvironment(tools=tools)), NodeRow(node="b")]))
    rows = [line.split() for line in text.splitlines()]
    assert "tools" in rows[0]
    assert [row for row in rows if row and row[0] in ("a", "b")] == [
        ["a", "not", "ready", "-", "-", "fio-3.33", "16.2.15"],
        ["b", "unreachable", "-", "-", "-", "-"],
    ]
    assert ["ioping", "1.3"] in rows
