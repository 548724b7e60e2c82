"""Presets, a target and nodes become a plan: everything is decided in it and nothing is done."""

from __future__ import annotations

import shlex
import shutil
import subprocess

import pytest

from cephtui.models import Node, NodeStep, Plan
from cephtui.planning import Order, make_plan, new_batch, new_bytes
from cephtui.targets import Target, parse_target
from cephtui.targets.file import FileTarget
from cephtui.tools.base import OptionError
from cephtui.units import parse_size
from tests.support.golden import Golden
from tests.support.plans import OWNER, plan_of, request

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
    order: Order | None = None,
) -> Plan:
    target = FileTarget(path)
    choice = request(*names, nodes=nodes, target=target, options=set, repeats=repeats, destroy=destroy, order=order)
    return plan_of(choice, {("local", f"file:{path}"): filled_bytes})


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


def test_what_will_be_written_is_told(golden: Golden) -> None:
    (write,) = plan("write-iops").steps
    (read,) = plan("read-iops").steps
    assert [w.bytes for w in write.nodes[0].writes] == [GIB, None]
    golden.same([w.what for w in write.nodes[0].writes])
    assert [w.bytes for w in read.nodes[0].writes] == [GIB]
    assert plan("read-iops", filled_bytes=GIB).steps[0].nodes[0].writes == ()


@pytest.mark.parametrize("rw", ["write", "randwrite", "rw", "readwrite", "randrw"])
def test_every_pattern_that_writes_says_so(rw: str, golden: Golden) -> None:
    (step,) = plan("read-iops", set=(f"rw={rw}",), filled_bytes=GIB).steps
    golden.same([write.what for write in step.nodes[0].writes])


def test_the_target_is_filled_once_for_the_largest_step() -> None:
    steps = plan("read-iops", "write-iops", "latency", set=("size=64M",)).steps
    assert [step.span_bytes for step in steps] == [64 * MIB, 512 * MIB, 64 * MIB, 64 * MIB]
    assert [step.fill_bytes for step in steps] == [512 * MIB, 0, 0, 0]
    assert [step.nodes[0].prepare_argv is None for step in steps] == [False, True, True, True]
    assert [step.nodes[0].prepare_command is None for step in steps] == [False, True, True, True]


@pytest.mark.parametrize(("filled", "expected"), [(GIB, 0), (2 * GIB, 0), (GIB - 1, GIB)])
def test_what_is_filled_already_is_not_filled_again(filled: int, expected: int) -> None:
    assert plan("read-iops", filled_bytes=filled).steps[0].fill_bytes == expected


def test_what_a_refused_step_was_to_fill_is_filled_by_the_next_one() -> None:
    first, second = plan("read-iops", "latency", set=("size=64M", "rw=randread")).steps
    assert (new_bytes([second]), second.writes) == (0, False)
    (name,) = ((node.node, part.spec) for node in first.nodes for part in node.parts)
    assert second.with_unfilled({name: 64 * MIB}) == second
    refused = second.with_unfilled({name: MIB})
    assert (new_bytes([refused]), refused.writes) == (64 * MIB, True)
    assert first.with_unfilled({}) == first


def test_a_sweep_of_sizes_grows_into_what_was_filled() -> None:
    steps = plan("read-iops", set=("size=64M,256M,128M",)).steps
    assert [step.span_bytes for step in steps] == [64 * MIB, 256 * MIB, 128 * MIB]
    assert [step.fill_bytes for step in steps] == [256 * MIB, 0, 0]


def test_sweeps_and_repeats_are_tied_by_a_batch_and_interleaved() -> None:
    steps = plan("latency", "read-iops", repeats=3).steps
    assert [(step.batch, step.repeat, step.options["rw"]) for step in steps] == [
        *(("00000001", repeat, rw) for repeat in (1, 2, 3) for rw in ("randread", "randwrite")),
        *(("00000002", repeat, "randread") for repeat in (1, 2, 3)),
    ]


@pytest.mark.parametrize(("order", "expected"), [("abab", "wr wr wr"), ("abba", "wr rw wr"), (None, "www rrr")])
def test_two_presets_take_turns(order: Order | None, expected: str) -> None:
    steps = plan("write-iops", "read-iops", repeats=3, order=order).steps
    assert [step.preset[0] for step in steps] == list(expected.replace(" ", ""))
    assert [step.number for step in steps] == list(range(1, 7))
    assert len({(step.preset, step.batch) for step in steps}) == 2, "a batch of each, whatever the order"
    assert steps[0].fill_bytes, "of whichever is first"
    assert not any(step.fill_bytes for step in steps[1:])


@pytest.mark.parametrize(("order", "expected"), [("abab", [1, 4, 1, 4]), ("abba", [1, 4, 4, 1]), (None, [1, 4, 1, 4])])
def test_two_values_take_turns(order: Order | None, expected: list[int]) -> None:
    steps = plan("write-iops", set=("iodepth=1,4",), repeats=2, order=order).steps
    assert [step.options["iodepth"] for step in steps] == expected
    assert [step.repeat for step in steps] == [1, 1, 2, 2]


def test_one_of_anything_takes_no_turns(golden: Golden) -> None:
    with golden.raises(OptionError):
        plan("write-iops", repeats=4, order="abba")


def test_the_rest_of_an_order_counts_on() -> None:
    rest = request("write-iops", "read-iops", target="file:/x", repeats=3, order="abba", begun=1, until=4)
    steps = plan_of(rest).steps
    assert [(step.number, step.preset, step.repeat) for step in steps] == [
        (2, "read-iops", 1),
        (3, "read-iops", 2),
        (4, "write-iops", 2),
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


@pytest.mark.parametrize("runtime", ["runtime", "timeout"])
def test_a_run_that_ends_with_its_data_takes_its_runtime_at_most(runtime: str) -> None:
    def seconds(*options: str) -> float:
        return plan("read-iops", set=options, filled_bytes=GIB).duration_seconds

    timed = seconds(f"{runtime}=300")
    assert seconds("time_based=0", f"{runtime}=300") == timed
    assert seconds("time_based=0", f"{runtime}=30") == timed - 270
    assert seconds("time_based=0", f"{runtime}=0") == timed - 300
    whole = plan("read-iops", set=("time_based=0", f"{runtime}=300"))
    assert "--runtime=300" in whole.steps[0].nodes[0].argv


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


def test_a_size_below_a_block_is_refused(golden: Golden) -> None:
    with golden.raises(OptionError):
        plan("write-throughput", set=("size=64k",))


def test_a_plan_survives_being_stored() -> None:
    whole = plan("latency", "write-iops", repeats=2, destroy=("x",))
    assert Plan.model_validate_json(whole.model_dump_json()) == whole


def test_more_steps_than_anybody_means_are_refused(golden: Golden) -> None:
    with golden.raises(OptionError):
        plan("latency", repeats=1000)


# ---------------------------------------------------------------------------------------------- images and devices

THREE = ("pve1", "pve2", "pve3")


def plan_on(
    target: str | Target,
    *names: str,
    set: tuple[str, ...] = (),
    nodes: tuple[str, ...] | tuple[Node, ...] = ("pve1",),
    destroy: tuple[str, ...] = (),
    room_bytes: int | None = None,
    repeats: int = 1,
) -> Plan:
    choice = request(
        *names, nodes=nodes, target=target, options=set, destroy=destroy, room_bytes=room_bytes, repeats=repeats
    )
    return make_plan(choice, lambda: "0f0f0f0f")


def images_of(node: NodeStep) -> list[str]:
    """The images in a command, each in a job of its own."""
    names = [word for word in node.argv if word.startswith("--name=")]
    images = [word.removeprefix("--rbdname=") for word in node.argv if word.startswith("--rbdname=")]
    assert len(names) == len(images) == len({*names})
    return images


def sizes_in(argv: tuple[str, ...]) -> dict[str, int]:
    """What a command writes to each image: the size that holds for all, or that of the image's own section."""
    common, sizes, image = 0, {}, ""
    for word in argv:
        option, _, value = word.partition("=")
        if option == "--rbdname":
            image = value
            sizes[image] = common
        elif option == "--size" and image:
            sizes[image] = parse_size(value)
        elif option == "--size":
            common = parse_size(value)
    return sizes


def test_a_pool_on_several_nodes_has_an_image_for_each_node_and_job() -> None:
    (step,) = plan_on("rbd:bench", "write-iops", nodes=THREE).steps
    assert [node.node for node in step.nodes] == list(THREE)
    for node in step.nodes:
        images = images_of(node)
        assert images == [f"cephtui-{OWNER}-{node.node}-{job}" for job in range(8)]
        assert node.place.images == tuple(images)
        assert [part.spec for part in node.parts] == [f"rbd:bench/{image}" for image in images]
        assert {part.bytes for part in node.parts} == {10 * GIB // 8}
        assert node.fill == node.parts
        assert node.prepare_argv is not None
        assert sizes_in(node.argv) == sizes_in(node.prepare_argv) == dict.fromkeys(images, 10 * GIB // 8)
        assert not [word for word in node.argv if word.startswith(("--filename", "--offset", "--numjobs"))]
        assert "--pool=bench" in node.argv
    every = [image for node in step.nodes for image in images_of(node)]
    assert len({*every}) == 24
    assert (step.span_bytes, step.fill_bytes) == (10 * GIB, 10 * GIB)


def test_the_prepare_time_is_that_of_all_nodes_together() -> None:
    """They write to the same disks."""
    one = plan_on("rbd:bench", "write-iops").steps[0].prepare_seconds
    assert plan_on("rbd:bench", "write-iops", nodes=THREE).steps[0].prepare_seconds == pytest.approx(3 * one)


@pytest.mark.parametrize("target", ["rbd:bench", "rbd:bench/vm"])
def test_images_are_read_past_every_cache(target: str) -> None:
    (step,) = plan_on(target, "read-iops", set=("ioengine=psync", "direct=0")).steps
    assert (step.options["ioengine"], step.options["direct"]) == ("rbd", True)
    assert {"--ioengine=rbd", "--direct=1"} <= {*step.nodes[0].argv}
    assert "--direct=0" not in step.nodes[0].argv


@pytest.mark.parametrize("target", ["rbd:bench", "rbd:bench/disk"])
@pytest.mark.parametrize("option", ["fdatasync=1", "sync=sync", "sync=dsync"])
def test_an_image_is_flushed_by_fsync_alone(target: str, option: str, golden: Golden) -> None:
    with golden.raises(OptionError) as refused:
        plan_on(target, "write-iops", set=(option,))
    assert refused.value.option == option.partition("=")[0]
    assert "fsync" in str(refused.value)
    for accepted in ("fdatasync=0", "sync=none", "fsync=1"):
        assert plan_on(target, "write-iops", set=(accepted,)).steps


def test_an_existing_image_is_one_job_with_the_depth_of_all() -> None:
    (step,) = plan_on("rbd:bench/vm", "write-iops").steps
    (node,) = step.nodes
    assert (step.options["iodepth"], step.options["numjobs"]) == (512, 1)
    assert images_of(node) == ["vm"]
    assert "--iodepth=512" in node.argv
    assert [part.spec for part in node.parts] == ["rbd:bench/vm"]


def test_an_existing_image_is_for_one_node_only(golden: Golden) -> None:
    with pytest.raises(OptionError) as error:
        plan_on("rbd:bench/vm", "read-iops", nodes=THREE)
    golden.same(str(error.value))
    assert plan_on("device:/dev/sdz", "read-iops", nodes=THREE).steps


@pytest.mark.parametrize(
    ("target", "given_up"),
    [("device:/dev/sdz", "sdz"), ("device:/dev/sdz", "/dev/sdz"), ("rbd:bench/vm", "vm"), ("rbd:bench/vm", "bench/vm")],
)
def test_reads_of_what_is_not_given_up_are_not_filled(target: str, given_up: str, golden: Golden) -> None:
    for destroy in ((), ("other",), ("",)):
        (step,) = plan_on(target, "read-iops", destroy=destroy).steps
        assert (step.filled, step.writes, step.fill_bytes, step.nodes[0].fill) == (False, False, 0, ())
        assert (step.nodes[0].prepare_argv, step.nodes[0].writes) == (None, ())
    (step,) = plan_on(target, "read-iops", destroy=(given_up,)).steps
    assert (step.filled, step.writes, step.fill_bytes) == (True, True, 10 * GIB)
    (write,) = step.nodes[0].writes
    assert write.bytes == 10 * GIB
    golden.same(write.what)
    assert step.nodes[0].prepare_argv is not None
    assert "--rw=write" in step.nodes[0].prepare_argv


@pytest.mark.parametrize("target", ["device:/dev/sdz", "rbd:bench/vm"])
def test_where_anything_is_written_everything_is_filled(target: str) -> None:
    """Else the reads would be of holes before the write, and of data after it."""
    steps = plan_on(target, "read-iops", "write-iops").steps
    assert [step.filled for step in steps] == [True, True]
    assert [step.fill_bytes for step in steps] == [10 * GIB, 0]
    assert [step.writes for step in steps] == [True, True]


def test_what_is_of_cephtuis_own_is_always_filled() -> None:
    for target in ("rbd:bench", "file:/mnt/x"):
        (step,) = plan_on(target, "read-iops").steps
        assert step.filled
        assert step.fill_bytes == step.span_bytes > 0


def test_fio_does_not_measure_a_pool_and_says_what_does(golden: Golden) -> None:
    with pytest.raises(OptionError) as error:
        plan_on("pool:bench", "read-iops")
    golden.same(str(error.value))


@pytest.mark.parametrize("target", ["rbd:bench", "rbd:bench/vm", "device:/dev/sdz", "file:/mnt/x"])
def test_room_limits_the_default_and_not_what_was_asked_for(target: str) -> None:
    assert plan_on(target, "write-iops", room_bytes=512 * MIB).steps[0].span_bytes == 512 * MIB
    default = parse_target(target).default_span_bytes
    assert plan_on(target, "write-iops", room_bytes=1 << 50).steps[0].span_bytes == default
    jobs = 1 if target == "rbd:bench/vm" else 8
    asked = plan_on(target, "write-iops", set=("size=128M",), room_bytes=512 * MIB)
    assert asked.steps[0].span_bytes == jobs * 128 * MIB


def test_no_room_is_told() -> None:
    with pytest.raises(OptionError, match="size: expected at least one block"):
        plan_on("rbd:bench", "read-iops", room_bytes=0)


def test_images_of_several_sizes_are_filled_once_each_for_the_largest_step() -> None:
    """One job uses the first image in full, eight jobs use a piece of each."""
    first, second = plan_on("rbd:bench", "write-iops", "read-iops", nodes=("pve1", "pve2")).steps
    for node in first.nodes:
        small = [f"cephtui-{OWNER}-{node.node}-{job}" for job in range(8)]
        expected = dict.fromkeys(small, 10 * GIB // 8) | {small[0]: 10 * GIB}
        assert {part.spec.rpartition("/")[2]: part.bytes for part in node.fill} == expected
        assert node.prepare_argv is not None
        assert sizes_in(node.prepare_argv) == expected
        assert sizes_in(node.argv) == dict.fromkeys(small, 10 * GIB // 8)
    assert first.fill_bytes == 10 * GIB + 7 * (10 * GIB // 8)
    assert [(node.fill, node.prepare_argv) for node in second.nodes] == [((), None)] * 2
    assert sizes_in(second.nodes[0].argv) == {f"cephtui-{OWNER}-pve1-0": 10 * GIB}


def test_images_that_a_later_step_adds_are_filled_before_it() -> None:
    first, second = plan_on("rbd:bench", "read-iops", "write-iops").steps
    assert [part.spec[-2:] for part in first.nodes[0].fill] == ["-0"]
    assert [part.spec[-2:] for part in second.nodes[0].fill] == [f"-{job}" for job in range(1, 8)]
    assert second.nodes[0].prepare_argv is not None
    assert len(sizes_in(second.nodes[0].prepare_argv)) == 7


def test_a_sweep_of_sizes_fills_every_image_once() -> None:
    steps = plan_on("rbd:bench", "write-iops", set=("size=64M,256M,128M",), repeats=2).steps
    assert [step.fill_bytes for step in steps] == [8 * 256 * MIB, 0, 0, 0, 0, 0]


# ---------------------------------------------------------------------------------------------- nodes


BOXED = Node(
    name="pve1",
    host="pve1",
    prefix=("kubectl", "exec", "-i", "bench", "--"),
    ceph_prefix=("cephadm", "shell", "--"),
    ceph_conf="/etc/ceph/a b.conf",
    ceph_keyring="/etc/ceph/k.keyring",
    ceph_id="bench",
)


@pytest.mark.parametrize("target", ["rbd:bench", "rbd:bench/vm"])
def test_the_way_to_the_node_and_to_ceph_is_in_the_command(target: str) -> None:
    plain = Node(name="pve2", host="pve2")
    nodes = (BOXED,) if target == "rbd:bench/vm" else (BOXED, plain)
    (step,) = plan_on(target, "write-iops", nodes=nodes).steps
    boxed = step.nodes[0]
    assert boxed.prefix == BOXED.prefix
    assert boxed.argv[:4] == ("env", "CEPH_CONF=/etc/ceph/a b.conf", "CEPH_KEYRING=/etc/ceph/k.keyring", "fio")
    assert "--clientname=bench" in boxed.argv
    assert tuple(shlex.split(boxed.command)) == (*BOXED.prefix, *boxed.argv)
    assert boxed.prepare_argv is not None
    assert boxed.prepare_command is not None
    assert boxed.prepare_argv[:4] == boxed.argv[:4]
    assert "--clientname=bench" in boxed.prepare_argv
    assert tuple(shlex.split(boxed.prepare_command)) == (*BOXED.prefix, *boxed.prepare_argv)
    for other in step.nodes[1:]:
        assert (other.prefix, other.argv[0]) == ((), "fio")
        assert "--clientname=admin" in other.argv


def test_rados_runs_behind_the_prefix_of_ceph() -> None:
    (step,) = plan_on("pool:bench", "rados-write", nodes=(BOXED,), room_bytes=10 * GIB).steps
    (node,) = step.nodes
    assert node.prefix == BOXED.ceph_prefix
    assert node.argv[:4] == ("env", "CEPH_CONF=/etc/ceph/a b.conf", "CEPH_KEYRING=/etc/ceph/k.keyring", "rados")
    assert tuple(shlex.split(node.command)) == (*BOXED.ceph_prefix, *node.argv)


ODD = ("[2001:db8::7]:2222", "root-pve", "fe80::1%eth0", "pve.example.net:22", "ünï", "a,b", "a;b#c")


def test_nodes_with_odd_names_have_images_of_their_own() -> None:
    (step,) = plan_on("rbd:bench", "mixed-75-25", nodes=ODD).steps
    assert [node.node for node in step.nodes] == list(ODD)
    images = [image for node in step.nodes for image in images_of(node)]
    assert len({*images}) == len(ODD)
    for image in images:
        assert image.startswith(f"cephtui-{OWNER}-")
        assert not {*image} & {*"/@#;,: []%"}, "what fio, rbd or a shell would take for something else"
        assert image.isascii()


def test_objects_of_every_console_node_and_batch_are_apart() -> None:
    (step,) = plan_on("pool:bench", "rados-write", nodes=("pve1", "h:22"), room_bytes=10 * GIB).steps
    base = f"cephtui-{OWNER}-0f0f0f0f"
    assert [node.place.namespace for node in step.nodes] == [f"{base}-pve1", f"{base}-h_3a22"]


def test_a_file_is_shared_by_nobody() -> None:
    assert plan_on("file:/mnt/x", "read-iops").steps[0].nodes[0].place.path == "/mnt/x"
    places = [node.place.path for node in plan_on("file:/mnt/x", "read-iops", nodes=("a", "h:22")).steps[0].nodes]
    assert places == ["/mnt/x.a", "/mnt/x.h:22"]


def test_the_hosts_are_in_the_plan_as_they_are_reached() -> None:
    whole = plan_on("rbd:bench", "write-iops", nodes=(BOXED, Node(name="b", host="b")))
    assert whole.hosts == (BOXED, Node(name="b", host="b"))
    assert Plan.model_validate_json(whole.model_dump_json()) == whole


@pytest.mark.parametrize(
    ("target", "presets"), [("rbd:bench", ("write-iops", "read-iops")), ("rbd:bench/vm", ("latency",))]
)
def test_fio_understands_the_commands(target: str, presets: tuple[str, ...]) -> None:
    fio = shutil.which("fio")
    assert fio, "fio is not installed: apt-get install fio"
    if "rbd" not in subprocess.run([fio, "--enghelp"], capture_output=True, text=True, check=True).stdout.split():
        pytest.skip("this fio has no rbd engine")
    for step in plan_on(target, *presets, destroy=("vm",)).steps:
        for argv in (step.nodes[0].argv, step.nodes[0].prepare_argv):
            if argv is not None:
                completed = subprocess.run([fio, "--parse-only", *argv[1:]], capture_output=True, text=True)
                assert (completed.returncode, completed.stderr) == (0, "")
