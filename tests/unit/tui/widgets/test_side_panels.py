"""What stands beside the charts of the machines that run the benchmark."""

from __future__ import annotations

import pytest
from rich.text import Text

from cephtui.analysis.runs.history import History
from cephtui.analysis.views.live import Live
from cephtui.models import Finding, Interval, MachineUse, NodeSample, Sample
from cephtui.tui.widgets.machine_bars import machine_bars
from cephtui.tui.widgets.now import machine_line
from cephtui.tui.widgets.run_view import RunView
from cephtui.tui.widgets.shown import NodeNow, Shown, shown_of_live, shown_of_run
from cephtui.tui.widgets.side_panels import nodes_text
from tests.support.plans import plan
from tests.support.replayed import text_of, until
from tests.support.runs import begun, nodes, run
from tests.support.runs import total as write
from tests.unit.tui.widgets.test_run_view import bare

CALM = MachineUse(cpu_busy_ratio=0.31, cpu_others_ratio=0.0)
TAKEN = MachineUse(cpu_busy_ratio=1.0, cpu_others_ratio=0.7)
LOSSY = MachineUse(cpu_busy_ratio=0.02, tcp_segments_sent=300, tcp_segments_resent=30)


def shown_nodes(*machines: MachineUse | None) -> Shown:
    nodes = tuple(NodeNow(f"pve{at}", 0.00123, iops=1234.0, machine=use) for at, use in enumerate(machines, 1))
    return Shown(History(), {}, nodes, 60.0)


def styles_at(text: Text, words: str) -> str:
    """The styles of the first place with these words."""
    at = text.plain.index(words)
    return " ".join(str(span.style) for span in text.spans if span.start <= at < span.end)


@pytest.mark.parametrize("width", [26, 30, 36, 42])
def test_each_node_has_its_cpu(width: int) -> None:
    text = nodes_text(shown_nodes(CALM, TAKEN, None), width, 3, ascii_only=True)
    rows = text.plain.splitlines()
    assert [row.split()[-1] for row in rows] == ["%", "%", "-"]
    assert [len(row) for row in rows] == [width] * 3 or width < 30
    assert rows[0].endswith("  31 %")
    assert rows[1].endswith(" 100 %")
    assert "yellow" in styles_at(text, "100 %")
    assert "yellow" not in styles_at(text, "31 %")
    assert text.plain.isascii()


def test_what_is_unusual_is_named_where_there_is_room() -> None:
    wide = nodes_text(shown_nodes(CALM, TAKEN, LOSSY), 42, 3, ascii_only=False)
    assert ["CPU shared" in row for row in wide.plain.splitlines()] == [False, True, False]
    assert ["retransmits" in row for row in wide.plain.splitlines()] == [False, False, True]
    assert "yellow" in styles_at(wide, "retransmits")
    narrow = nodes_text(shown_nodes(CALM, TAKEN, LOSSY), 26, 3, ascii_only=False)
    assert "CPU" not in narrow.plain


def test_nodes_that_are_not_watched_have_no_column_of_it() -> None:
    assert "%" not in nodes_text(shown_nodes(None, None), 42, 2, ascii_only=True).plain


def test_the_only_node_has_a_line_of_its_own() -> None:
    live = Live()
    for event in (plan("write-iops"), begun()):
        live.take(event)
    assert live.current
    assert machine_line(shown_of_live(live.current).machine).plain == ""
    live.take(NodeSample(run=1, elapsed_seconds=3.0, node="local", interval_seconds=1.0, machine=TAKEN))
    line = machine_line(shown_of_live(live.current).machine)
    assert line.plain == " cpu 100 %, CPU shared "
    assert "yellow" in str(line.spans)
    assert "yellow" not in str(machine_line(CALM).spans)


def test_of_a_run_that_is_over_it_is_that_of_the_whole_run() -> None:
    alone = run(1, nodes=nodes("local", machine=CALM))
    assert shown_of_run(alone, History(), ()).machine == CALM
    several = shown_of_run(run(1, nodes=nodes("a", "b", machine=CALM)), History(), ())
    assert several.machine is None
    assert [node.machine for node in several.nodes] == [CALM, CALM]


BUSY = MachineUse(
    cpu_busy_ratio=0.96,
    cpu_own_ratio=0.81,
    cpu_others_ratio=0.004,
    memory_wait_ratio=0.12,
    disk_busy_ratio={"sda": 0.2, "sdb": 1.02, "sdc": 0.3, "sdd": 0.0, "sde": 0.1},
    received_bytes_per_second=2e4,
    sent_bytes_per_second=1.2 * 2**30,
)


def test_the_only_node_has_its_shares_as_bars_the_most_important_first() -> None:
    lines = [line.plain.rstrip() for line in machine_bars(BUSY, 42, ascii_only=True)]
    assert [line.split("  ")[0].strip() or line.split()[0] for line in lines] == [
        "cpu", "benchmark", "sdb", "sdc", "sda", "memory wait", "net out",
    ]  # fmt: skip
    assert all(len(line) <= 42 for line in lines)
    bars = {line.split()[0]: line.count("=") for line in lines}
    assert bars["sdb"] == max(bars.values()) == 42 - len("memory wait") - 10
    assert bars["cpu"] > bars["benchmark"] > bars["sdc"] > 0 == bars["net"]
    assert lines[-1].split()[2:] == ["1.20", "GiB/s"]


def test_bars_without_room_are_left_out_and_a_node_that_is_not_watched_has_none() -> None:
    assert all("=" not in line.plain for line in machine_bars(BUSY, 22, ascii_only=True))
    assert machine_bars(None, 42, ascii_only=True) == []
    assert machine_bars(MachineUse(sent_bytes_per_second=1e9), 42, ascii_only=True) == []


def test_the_bars_of_a_node_in_trouble_are_marked() -> None:
    assert "yellow" in str(machine_bars(TAKEN, 42, ascii_only=False)[0].spans)
    assert "yellow" not in str(machine_bars(CALM, 42, ascii_only=False)[0].spans)


async def test_the_cpus_of_a_node_stand_in_the_frame_where_their_bars_have_no_room() -> None:
    view = RunView()
    async with bare(view, size=(120, 36)) as (app, pilot):
        alone = run(1, nodes=nodes("local", machine=BUSY))
        view.show(shown_of_run(alone, History(), ()))
        await until(pilot, lambda: "memory wait" in text_of(app, view.query_one("#now")))
        assert "cpu 96 %" not in text_of(app, view.query_one("#now")).splitlines()[-1]
        many = tuple(Finding(code=f"code-{at}", text=f"what was seen in the run, number {at}") for at in range(40))
        view.show(shown_of_run(alone.model_copy(update={"findings": many}), History(), ()))
        await until(pilot, lambda: "cpu 96 %" in text_of(app, view.query_one("#now")).splitlines()[-1])
        assert "memory wait" not in text_of(app, view.query_one("#now"))


async def test_the_latencies_of_a_run_fill_the_column() -> None:
    total = write(iops=100.0, latency_buckets={500: 900, 700: 100})
    view = RunView()
    async with bare(view, size=(120, 36)) as (app, pilot):
        view.show(shown_of_run(run(1, write=total), History(), ()))
        await until(pilot, lambda: "I/Os by clat, whole run" in text_of(app, view))
        box = view.query_one("#spread-panel")
        assert "90 % p50" in text_of(app, box)
        assert "10 % p99" in text_of(app, box)
        side = view.query_one("#side")
        assert sum(child.outer_size.height for child in side.children if child.display) == side.size.height == 36


async def test_of_a_tool_without_histograms_the_seconds_are_spread() -> None:
    history = History()
    for second, ios in enumerate((1000, 3000, 3000, 3000), 1):
        history.add(Sample(1, None, "p", "run", float(second), 1.0, None, Interval(ios, ios * 4096, ios, ios * 4096.0)))
    view = RunView()
    async with bare(view, size=(120, 36)) as (app, pilot):
        view.show(Shown(history, {"write": Interval(1, 4096, 1.0, 4096.0)}, (), 60.0))
        await until(pilot, lambda: "seconds by IOPS, since the ramp" in text_of(app, view))
        lines = text_of(app, view.query_one("#spread-panel")).splitlines()
        assert ["75 %" in line for line in lines if "%" in line] == [True, False]
        assert "3k" in lines[1]
        assert "25 %" in lines[-2]
