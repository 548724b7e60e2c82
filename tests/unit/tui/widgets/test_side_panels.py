"""What stands beside the charts of the machines that run the benchmark."""

from __future__ import annotations

import pytest
from rich.text import Text

from cephtui.analysis.runs.history import History
from cephtui.analysis.views.live import Live
from cephtui.models import MachineUse, NodeSample
from cephtui.tui.widgets.now import machine_line
from cephtui.tui.widgets.shown import NodeNow, Shown, shown_of_live, shown_of_run
from cephtui.tui.widgets.side_panels import nodes_text
from tests.support.plans import plan
from tests.support.runs import begun, nodes, run

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
