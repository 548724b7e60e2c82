"""What became of a run, and what limits its figures."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from cephtui.models import ClusterEnvironment, NodeEnvironment, Outcome
from cephtui.models.findings.data import COMPRESSIBLE, ZEROS
from cephtui.nodes.watched import HEARTBEAT_SILENT, LOCK_HELD, NO_HEARTBEAT, NOT_RELEASED
from cephtui.paths import packaged_presets_dir
from cephtui.presets import load_preset
from cephtui.running.outcomes import decide, mtus_apart, run_findings, with_the_pool, worst
from cephtui.stats import Flow
from cephtui.tools.base import ToolResult
from tests.support.golden import Golden
from tests.support.plans import step

FLOW = Flow(
    ios=1000,
    bytes=4096 * 1000,
    runtime_seconds=60.0,
    iops=16.7,
    bandwidth_bytes=68e3,
    buckets={},
    moments=None,
    bounds=None,
)
STEP = step(block_bytes=4096, options={"rw": "randwrite", "bs": "4k"}, ramp_seconds=2.0)
FULL = "the session can no longer be written"


@pytest.mark.parametrize(
    ("status", "reason", "flow", "outcome"),
    [
        (0, None, FLOW, "ok"),
        (0, "", FLOW, "ok"),  # the user's wish came after the end
        (128, "", FLOW, "stopped"),
        (0, FULL, FLOW, "stopped"),  # what could not be kept is no success
        (None, None, FLOW, "lost"),
        (HEARTBEAT_SILENT, None, FLOW, "lost"),
        (LOCK_HELD, None, None, "refused"),
        (124, None, FLOW, "failed"),
        (1, None, FLOW, "failed"),
        (0, None, None, "failed"),
    ],
)
def test_an_end_has_one_outcome(status: int | None, reason: str | None, flow: Flow | None, outcome: Outcome) -> None:
    found, error = decide(status, reason, ToolResult(write=flow))
    assert found == outcome
    if reason:
        assert error == reason


@pytest.mark.parametrize(
    ("status", "pause"),
    [
        (HEARTBEAT_SILENT, 21.0),
        (HEARTBEAT_SILENT, 5.1),
        (NOT_RELEASED, 5.0),
        (NO_HEARTBEAT, 0.0),
        (None, 0.0),
        (137, 0.0),
        (1, 0.0),
    ],
)
def test_who_stood_still_and_what_was_killed_is_told(status: int | None, pause: float, golden: Golden) -> None:
    _, error = decide(status, None, ToolResult(), pause)
    golden.same(str(error))


def test_the_worst_node_decides() -> None:
    assert worst(["ok", "stopped", "ok"]) == "stopped"
    assert worst(["lost", "failed"]) == "failed"
    assert worst([]) == "ok"


def codes(flow: Flow | None, outcome: Outcome = "ok") -> list[str]:
    return [finding.code for finding in run_findings(STEP, outcome, ToolResult(write=flow))]


def test_a_run_in_full_has_nothing_to_say() -> None:
    assert codes(FLOW) == []


def test_a_short_run_says_so_and_a_stopped_one_only_that() -> None:
    short = replace(FLOW, runtime_seconds=3.0)
    assert codes(short) == ["short"]
    assert codes(short, "stopped") == ["incomplete"]
    assert codes(None, "stopped") == ["incomplete"]
    (finding,) = run_findings(STEP.model_copy(update={"run_seconds": None}), "ok", ToolResult(write=short))
    assert finding.values["by_its_data"]


def test_iops_and_bandwidth_that_disagree_are_told() -> None:
    assert codes(replace(FLOW, bytes=4096 * 1021)) == ["in-flight"]
    assert codes(replace(FLOW, bytes=4096 * 1020)) == []


def text_of(flow: Flow, outcome: Outcome = "ok") -> str:
    (found,) = run_findings(STEP, outcome, ToolResult(write=flow))
    return found.text


def test_what_was_in_flight_is_no_negative_number(golden: Golden) -> None:
    golden.same(text_of(replace(FLOW, bytes=4096 * 1021)))
    golden.same(text_of(replace(FLOW, ios=2, bytes=4096)))


SMALLER = {"buffer_compress_percentage": 90, "dedupe_percentage": 0}


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (SMALLER, "buffer_compress_percentage=90"),
        ({"dedupe_percentage": 50}, "dedupe_percentage=50"),
        ({**SMALLER, "dedupe_percentage": 50}, "buffer_compress_percentage=90 dedupe_percentage=50"),
        ({"refill_buffers": False, "randrepeat": True}, ""),
        ({"buffer_compress_percentage": 0}, ""),
        ({**SMALLER, "rw": "randread"}, ""),
    ],
)
def test_data_that_storage_can_make_smaller_is_told(options: dict[str, Any], text: str) -> None:
    work = STEP.model_copy(update={"options": {**STEP.options, **options}})
    found = run_findings(work, "ok", ToolResult(write=FLOW))
    assert [finding.code for finding in found] == ["compressible"] * bool(text)
    assert not text or f"({text})" in found[0].text


POOL: dict[str, Any] = {"pool": {"name": "bench"}}


@pytest.mark.parametrize(
    ("cluster", "codes"),
    [
        (None, ["compressible", "zeros"]),
        ({}, ["compressible", "zeros"]),
        ({"pool_settings": {"compression_mode": "none"}}, ["compressible", "zeros"]),
        ({"pool_settings": {"compression_mode": "passive"}}, ["compressible", "zeros"]),
        ({"pool_settings": {"compression_mode": "force"}}, ["compressed", "zeros-compressed"]),
        ({"config": {"osd bluestore_compression_mode": "aggressive"}}, ["compressed", "zeros-compressed"]),
        (
            {
                "pool_settings": {"compression_mode": "none"},
                "config": {"osd/class:hdd bluestore_compression_mode": "aggressive"},
            },
            ["compressible", "zeros"],
        ),
    ],
)
def test_in_a_pool_that_compresses_it_limits_the_figures(cluster: dict[str, Any] | None, codes: list[str]) -> None:
    environment = None if cluster is None else ClusterEnvironment(**POOL, **cluster)
    written = COMPRESSIBLE.found(options="buffer_compress_percentage=90", compresses=True), ZEROS.found()
    assert [finding.code for finding in with_the_pool(written, environment)] == codes


def test_data_that_is_only_alike_does_not_compress() -> None:
    alike = (COMPRESSIBLE.found(options="dedupe_percentage=50", compresses=False),)
    cluster = ClusterEnvironment(**POOL, pool_settings={"compression_mode": "force"})
    assert with_the_pool(alike, cluster) == alike


@pytest.mark.parametrize("seconds", [12.34, 60.0, 121.5])
def test_a_part_is_never_more_than_the_whole(seconds: float, golden: Golden) -> None:
    text = text_of(replace(FLOW, runtime_seconds=seconds), "stopped")
    golden.same(text)
    assert text_of(replace(FLOW, runtime_seconds=seconds), "lost") == text


@pytest.mark.parametrize(
    ("tool", "options", "edited", "bandwidth", "code"),
    [
        ("fio", {"rate_iops": 50, "numjobs": 2}, (), 100 * 4096, "rate-set"),
        ("fio", {"rate_iops": 50, "numjobs": 2}, ("rate_iops",), 100 * 4096, "rate-set"),
        ("fio", {"rate_iops": 50, "numjobs": 4}, (), 100 * 4096, ""),
        ("fio", {"rate": "1M", "numjobs": 1}, (), 1 << 20, "rate-set"),
        ("fio", {}, (), 1 << 20, ""),
        ("load-gen", {"target-throughput": "1M"}, (), 1 << 20, "rate-limited"),
        ("load-gen", {"target-throughput": "1M"}, ("target-throughput",), 1 << 20, "rate-set"),
        ("load-gen", {"target-throughput": "1M"}, ("target-throughput",), 1 << 19, ""),
        ("ioping", {"interval": "0.01"}, ("interval",), 100 * 4096, ""),
    ],
)
def test_a_rate_that_was_set_is_a_note_and_one_of_the_preset_limits(
    tool: str, options: dict[str, Any], edited: tuple[str, ...], bandwidth: int, code: str
) -> None:
    preset = {"fio": "write-iops", "load-gen": "load-gen", "ioping": "ping"}[tool]
    usual = load_preset(packaged_presets_dir() / f"{preset}.toml", user=False).file.options
    step = STEP.model_copy(
        update={"tool": tool, "options": {**usual, **options}, "edited": edited, "block_bytes": 4096}
    )
    ios = 60 * bandwidth // 4096
    flow = replace(FLOW, bytes=60 * bandwidth, ios=ios, iops=bandwidth / 4096, bandwidth_bytes=float(bandwidth))
    found = [each for each in run_findings(step, "ok", ToolResult(write=flow)) if each.code.startswith("rate-")]
    assert [each.code for each in found] == [code] * bool(code)
    assert all(f"{name}={value}" in each.text for each in found for name, value in options.items() if "rate" in name)


@pytest.mark.parametrize(
    ("mtus", "nodes"),
    [
        ({"a": (9000,), "b": (1500,)}, ("a 9000", "b 1500")),
        ({"a": (9000,), "b": (9000,), "c": (1500,)}, ("a 9000", "b 9000", "c 1500")),
        ({"a": (1500, 9000), "b": (1500,), "c": (9000,)}, ("a 1500/9000", "b 1500", "c 9000")),
        ({"a": (1500, 9000), "b": (1500,)}, None),  # the interfaces in one network may be those with 1500
        ({"a": (9000,), "b": ()}, None),
        ({"a": (9000,)}, None),
    ],
    ids=str,
)
def test_nodes_without_a_common_mtu_are_noted(mtus: dict[str, tuple[int, ...]], nodes: tuple[str, ...] | None) -> None:
    environments = {
        name: NodeEnvironment(nic_mtu={f"eth{at}": size for at, size in enumerate(sizes)})
        for name, sizes in mtus.items()
    }
    assert [finding.values["nodes"] for finding in mtus_apart(environments)] == ([nodes] if nodes else [])
