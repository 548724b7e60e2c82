"""Why it is slow, on the lab: what is measured on one node and on several, and an OSD whose commits are slow."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from tests.on_lab.others import pool_on, set_at_run_time
from tests.on_lab.runs import Bench, sets

SHORT = sets(size="8M", runtime=4, ramp_time=1)


def why(bench: Bench, target: str, *nodes: str, options: Sequence[str] = ()) -> tuple[str, dict[str, Any]]:
    """What is said while it is measured, and the diagnosis of that."""
    words = [*options, *(word for node in nodes for word in ("--node", node))]
    where = ("--config", str(bench.config), *words, "--target", target, "--shared-pool", "--session", "W")
    measured = bench.cephtui("why", *where, *SHORT)
    assert measured.process.returncode == 0, measured.describe()
    said = bench.cephtui("why", "W", "--json")
    return "\n".join(measured.complaints), json.loads(said.stdout.splitlines()[0])


@pytest.mark.essential
def test_each_step_says_where_its_latency_goes(bench: Bench) -> None:
    few = ("osd_client_message_size_cap", str(128 << 20))
    with pool_on(bench.lab, size=2) as pool, set_at_run_time(bench.lab, *few):
        said, found = why(bench, f"rbd:{pool}", "lab1")
    assert "no existing data is written" in said
    assert "before any load: HEALTH_" in said
    for io in ("4k write, one at a time: ", "4k read, one at a time: ", "4k write with 16 in flight: "):
        assert any(line.startswith(io) for line in found["latencies"]), found
    # not of each where other tests load the OSDs: the stages are not known where the operations of others take longer
    assert any("% slowest copy" in line for line in found["latencies"]), found
    assert len(found["runs"]) == 4
    assert "low-limits" in found["causes"]
    low = f"osd.* {' '.join(few)} (default {500 << 20}), set at run time"
    assert low in said, "seen before any load"


def test_links_are_measured_where_all_nodes_can(bench: Bench) -> None:
    said, found = why(bench, f"rbd:{bench.lab.pool}", "lab1", "lab2", options=["--osds"])
    assert "OSDs themselves: 3 OSDs write " in said
    assert "lab1 to lab2" in said or "network: " in said
    assert not any("links" in line for line in found["not_seen"])


def test_a_node_without_the_tool_is_said_and_the_rest_is_measured(bench: Bench) -> None:
    bench.configure(lab2={"prefix": bench.without("lab2", "iperf3"), "ceph_prefix": []})
    said, found = why(bench, f"rbd:{bench.lab.pool}", "lab1", "lab2")
    assert "the links are not measured: iperf3 is not installed on lab2" in said
    assert len(found["runs"]) == 4
