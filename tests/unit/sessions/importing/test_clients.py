"""``fio --client``: hosts that ran at the same time are nodes of one run, which is their sum."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from cephtui.analysis.runs.batches import group
from cephtui.models import Run
from cephtui.tools.fio.saved import find_runs
from cephtui.tools.logs import FoundRun, read_log
from tests import RECORDINGS
from tests.support.imported import import_texts
from tests.support.logs import WRITES

FOLDER = RECORDINGS / "clients"
"""Made with two ``fio --server`` of 3.33 on one machine."""


def text(name: str) -> str:
    return (FOLDER / name).read_text()


def found(name: str) -> list[FoundRun]:
    return find_runs(read_log(text(name)))


def entries(name: str) -> list[dict[str, Any]]:
    whole = text(name)
    document = json.loads(whole[whole.index('{\n  "fio version"') :])
    every: list[dict[str, Any]] = document["client_stats"]
    return every


@pytest.mark.parametrize("name", ["two.txt", "two.json", "two-bins.json"])
def test_two_hosts_are_two_nodes_of_one_run(name: str) -> None:
    (run,) = found(name)
    assert run.error is None
    assert len({node.node for node in run.nodes}) == 2
    assert [node.outcome for node in run.nodes] == ["ok", "ok"]
    assert run.options["numjobs"] == 2, "on each node"


@pytest.mark.parametrize("name", ["two.txt", "groups.txt"])
def test_the_run_of_text_is_what_all_clients_did(name: str) -> None:
    """fio prints the sum itself, of all groups."""
    _, _, last = text(name).partition("All clients: ")
    total = re.search(r"issued rwts: total=(\d+),(\d+),", last)
    assert total
    runs = found(name)
    ios = {flow: sum(run.summary.flows[flow].ios or 0 for run in runs if flow in run.summary.flows) for flow in
           ("read", "write")}  # fmt: skip
    assert (ios["read"], ios["write"]) == (int(total[1]), int(total[2]))
    for run in runs:
        for flow, whole in run.summary.flows.items():
            printed = re.search(rf"{flow}: IOPS=(\d+)", last)
            assert printed
            assert whole.iops == pytest.approx(int(printed[1]), abs=2)
            parts = [node.summary.flows[flow] for node in run.nodes]
            assert whole.ios == sum(part.ios or 0 for part in parts)
            assert whole.latency_max_seconds == max(part.latency_max_seconds or 0 for part in parts)


@pytest.mark.parametrize("name", ["two.json", "groups.json"])
def test_the_run_of_json_is_the_sum_of_its_clients(name: str) -> None:
    runs = found(name)
    assert len(runs) == len({each["groupid"] for each in entries(name)})
    for run, number in zip(runs, range(len(runs)), strict=True):
        (flow,) = run.summary.flows
        own = [e for e in entries(name) if e["groupid"] == number and e["jobname"] != "All clients"]
        assert run.summary.flows[flow].ios == sum(each[flow]["total_ios"] for each in own)
        assert [node.summary.flows[flow].ios for node in run.nodes] == [each[flow]["total_ios"] for each in own]
        assert run.summary.flows[flow].latency_p99_seconds is None, "there are no bins to merge"
        assert [node.summary.flows[flow].latency_p99_seconds for node in run.nodes] == [
            each[flow]["clat_ns"]["percentile"]["99.000000"] / 1e9 for each in own
        ]


def test_percentiles_are_those_of_the_merged_bins() -> None:
    counts: dict[int, int] = {}
    for each in entries("two-bins.json"):
        for nanoseconds, number in each["write"]["clat_ns"].get("bins", {}).items():
            counts[int(nanoseconds)] = counts.get(int(nanoseconds), 0) + number
    wanted, passed, value = 0.99 * sum(counts.values()), 0, 0
    for value in sorted(counts):
        passed += counts[value]
        if passed >= wanted:
            break
    (run,) = found("two-bins.json")
    assert run.summary.write
    assert run.summary.write.latency_p99_seconds == pytest.approx(value / 1e9, rel=0.02)


def test_percentiles_of_all_clients_are_taken_where_fio_prints_them() -> None:
    printed = '"percentile" : {"50.000000" : 5000, "99.000000" : 123456},'
    before, _, after = text("two.json").partition('"jobname" : "All clients"')
    write = after.index('"write"')
    clat = after.index('"clat_ns" : {', write) + len('"clat_ns" : {')
    changed = f'{before}"jobname" : "All clients"{after[:clat]}{printed}{after[clat:]}'
    (run,) = find_runs(read_log(changed))
    assert run.summary.write
    assert run.summary.write.latency_p99_seconds == 123456e-9
    assert run.summary.write.latency_p50_seconds == 5e-6


@pytest.mark.parametrize("name", ["one.txt"])
def test_one_client_is_the_node_of_its_run(name: str) -> None:
    (run,) = found(name)
    assert (run.node, run.nodes) == ("vm", ())


def test_a_run_behind_that_of_clients_is_its_own() -> None:
    runs = find_runs(read_log(text("two.txt") + WRITES + text("two.txt") + text("one.txt")))
    assert [len(run.nodes) for run in runs] == [2, 0, 2, 0]
    assert [run.error for run in runs] == [None] * 4


def test_hosts_that_speak_before_their_reports_name_them() -> None:
    named = text("two.txt").replace("hostname=vm", "hostname=pve1", 1).replace("hostname=vm", "hostname=pve2", 1)
    first, second, third = re.split(r"<vm> (?=\n)", named)
    (run,) = find_runs(read_log(f"{first}<pve2> {second}<pve1> {third}"))
    assert [node.node for node in run.nodes] == ["pve2", "pve1"]


def test_an_imported_run_has_its_nodes(tmp_path: Path) -> None:
    runs: list[Run] = import_texts(tmp_path, "s", {"a.txt": text("two.txt"), "b.json": text("two.json")})
    assert [len(run.nodes) for run in runs] == [2, 2]
    assert all(run.outcome == "ok" and set(run.environment) == {node.node for node in run.nodes} for run in runs)
    assert [len(batch.runs) for batch in group(runs)] == [1, 1]


def test_what_clients_print_of_themselves_is_no_heading(tmp_path: Path) -> None:
    text = (FOLDER / "groups.txt").read_text()
    assert {run.heading for run in import_texts(tmp_path, "clients", {"a.txt": text})} == {None}
