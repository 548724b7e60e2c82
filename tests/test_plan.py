"""Presets, a target and nodes become a plan: everything is decided in it and nothing is done."""

from __future__ import annotations

import itertools
import shlex
from pathlib import Path

import pytest

from cephtui.models import Node, Plan
from cephtui.places import packaged_presets_dir
from cephtui.plan import Request, make_plan, new_batch
from cephtui.presets import Choice, choose, find_presets, parse_overrides
from cephtui.targets.file import FileTarget
from cephtui.tools import OptionError

GIB = 1 << 30
MIB = 1 << 20


def plan(
    *names: str,
    set: tuple[str, ...] = (),
    repeats: int = 1,
    path: str = "/mnt/bench/test",
    nodes: tuple[str, ...] = ("local",),
    filled_bytes: int = 0,
    destroy: tuple[str, ...] = (),
) -> Plan:
    catalogue = find_presets(packaged_presets_dir(), Path("/nonexistent"))
    overrides: dict[str, Choice] = parse_overrides(set)
    hosts = tuple(Node(name=name) for name in nodes)
    request = Request(choose(catalogue, names), hosts, FileTarget(path), overrides, repeats, destroy)
    batches = (f"batch{number}" for number in itertools.count(1))
    return make_plan(request, lambda: next(batches), {("local", f"file:{path}"): filled_bytes})


def test_one_preset_is_one_step_filled_first() -> None:
    (step,) = plan("write-iops").steps
    (node,) = step.nodes
    assert (step.preset, step.tool, step.target, step.repeat) == ("write-iops", "fio", "file:/mnt/bench/test", 1)
    assert (step.span_bytes, step.fill_bytes) == (GIB, GIB)
    assert (step.ramp_seconds, step.run_seconds) == (2.0, 60.0)
    assert node.node == "local"
    assert {"--size=128M", "--offset_increment=128M", "--numjobs=8"} <= set(node.argv)
    assert node.prepare_argv is not None
    assert {"--rw=write", "--size=1G", "--filename=/mnt/bench/test"} <= set(node.prepare_argv)


def test_what_will_be_written_is_told() -> None:
    (write,) = plan("write-iops").steps
    (read,) = plan("read-iops").steps
    assert [(w.bytes, w.what) for w in write.nodes[0].writes] == [
        (GIB, "file:/mnt/bench/test is written in full before its first use"),
        (None, "file:/mnt/bench/test is overwritten by the benchmark"),
    ]
    assert [w.bytes for w in read.nodes[0].writes] == [GIB]
    assert plan("read-iops", filled_bytes=GIB).steps[0].nodes[0].writes == ()


@pytest.mark.parametrize("rw", ["write", "randwrite", "rw", "readwrite", "randrw"])
def test_every_pattern_that_writes_says_so(rw: str) -> None:
    (step,) = plan("read-iops", set=(f"rw={rw}",), filled_bytes=GIB).steps
    assert [write.what for write in step.nodes[0].writes] == ["file:/mnt/bench/test is overwritten by the benchmark"]


def test_the_target_is_filled_once_for_the_largest_step() -> None:
    steps = plan("read-iops", "write-iops", "latency", set=("size=64M",)).steps
    assert [step.span_bytes for step in steps] == [64 * MIB, 512 * MIB, 64 * MIB, 64 * MIB]
    assert [step.fill_bytes for step in steps] == [512 * MIB, 0, 0, 0]
    assert [step.nodes[0].prepare_argv is None for step in steps] == [False, True, True, True]
    assert [step.nodes[0].prepare_command is None for step in steps] == [False, True, True, True]


@pytest.mark.parametrize(("filled", "expected"), [(GIB, 0), (2 * GIB, 0), (GIB - 1, GIB)])
def test_what_is_filled_already_is_not_filled_again(filled: int, expected: int) -> None:
    assert plan("read-iops", filled_bytes=filled).steps[0].fill_bytes == expected


def test_a_sweep_of_sizes_grows_into_what_was_filled() -> None:
    steps = plan("read-iops", set=("size=64M,256M,128M",)).steps
    assert [step.span_bytes for step in steps] == [64 * MIB, 256 * MIB, 128 * MIB]
    assert [step.fill_bytes for step in steps] == [256 * MIB, 0, 0]


def test_sweeps_and_repeats_are_tied_by_a_batch_and_interleaved() -> None:
    steps = plan("latency", "read-iops", repeats=3).steps
    assert [(step.batch, step.repeat, step.options["rw"]) for step in steps] == [
        *(("batch1", repeat, rw) for repeat in (1, 2, 3) for rw in ("randread", "randwrite")),
        *(("batch2", repeat, "randread") for repeat in (1, 2, 3)),
    ]


def test_batches_are_unique() -> None:
    assert len({new_batch() for _ in range(1000)}) == 1000


@pytest.mark.parametrize(
    "path", ["/mnt/bench/a file", '/mnt/it\'s "here"', "/mnt/a:b", "/mnt/-rf", "/mnt/$HOME`x`\\", "/mnt/ünï"]
)
def test_the_command_can_be_pasted_into_a_shell(path: str) -> None:
    for step in plan("latency", "write-throughput", path=path).steps:
        for node in step.nodes:
            assert tuple(shlex.split(node.command)) == node.argv
            assert f"--filename={path.replace(':', chr(92) + ':')}" in node.argv
            if node.prepare_argv is not None:
                assert node.prepare_command is not None
                assert tuple(shlex.split(node.prepare_command)) == node.prepare_argv


def test_options_are_the_ones_in_the_command() -> None:
    (step,) = plan("read-iops", set=("iodepth=7", "runtime=5m", "ramp_time=0", "bs=16k")).steps
    assert (step.options["iodepth"], step.options["runtime"], step.ramp_seconds, step.run_seconds) == (7, 300, 0, 300)
    assert {"--iodepth=7", "--runtime=300", "--bs=16k"} <= set(step.nodes[0].argv)


def test_the_duration_is_that_of_filling_ramp_and_run() -> None:
    one = plan("read-iops", filled_bytes=GIB)
    assert one.duration_seconds == pytest.approx(62, abs=2)
    assert plan("latency", repeats=2, filled_bytes=GIB).duration_seconds == pytest.approx(4 * one.duration_seconds)
    filling = plan("read-iops")
    assert filling.steps[0].prepare_seconds > 1
    assert filling.duration_seconds == pytest.approx(one.duration_seconds + filling.steps[0].prepare_seconds)


def test_a_run_that_ends_with_its_data_has_no_time() -> None:
    (step,) = plan("read-iops", set=("time_based=0",)).steps
    assert step.run_seconds is None


def test_the_session_grows_with_time_nodes_and_jobs() -> None:
    short = plan("write-iops", set=("runtime=10",)).session_bytes
    assert short > 64_000
    assert plan("write-iops", set=("runtime=100",)).session_bytes > 3 * short
    assert plan("write-iops", set=("runtime=10", "group_reporting=0")).session_bytes > 3 * short
    assert plan("write-iops", set=("runtime=10",), nodes=("a", "b")).session_bytes > 1.5 * short


def test_every_node_has_the_command() -> None:
    (step,) = plan("read-iops", nodes=("a", "b")).steps
    assert [node.node for node in step.nodes] == ["a", "b"]
    assert "--filename=/mnt/bench/test.a" in step.nodes[0].argv, "nodes may share the file system"
    assert "--filename=/mnt/bench/test.b" in step.nodes[1].argv
    assert step.nodes[0].argv[3:] == step.nodes[1].argv[3:]


def test_what_is_given_up_is_in_the_plan() -> None:
    assert plan("read-iops", destroy=("test",)).destroy == ("test",)


def test_a_size_below_a_block_is_refused() -> None:
    with pytest.raises(OptionError, match="size: expected at least one block of 1M, got 64k"):
        plan("write-throughput", set=("size=64k",))


def test_a_plan_survives_being_stored() -> None:
    whole = plan("latency", "write-iops", repeats=2, destroy=("x",))
    assert Plan.model_validate_json(whole.model_dump_json()) == whole


def test_more_steps_than_anybody_means_are_refused() -> None:
    with pytest.raises(OptionError, match="2,000 steps are too many"):
        plan("latency", repeats=1000)
