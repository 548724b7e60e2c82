"""Volumes with promised IOPS: how they are written, what is measured, what their limits are, and the table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cephtui.analysis.runs.batches import name_of
from cephtui.analysis.verdicts.expectation import judge_expectation, parse_expectation
from cephtui.ceph import proxmox
from cephtui.ceph.qos import Limits, limits_argv, parse_limits
from cephtui.cli.verbs import cli
from cephtui.cluster.reader import ClusterReader, image_limits
from cephtui.models import VolumePart
from cephtui.models.expectation import Expected
from cephtui.presets import Preset, PresetError, combinations
from cephtui.reports.views.expected import PARTS, Row
from cephtui.targets import parse_target
from cephtui.targets.base import TargetFault
from cephtui.volumes import PRESET, Volume, load_volumes, steps_of, volume_of
from tests.support.clusters import RecordedShell, ok
from tests.support.drawings import draw_provisioned, printed
from tests.support.golden import Golden
from tests.support.plans import packaged
from tests.support.runs import STARTED, run
from tests.unit.analysis.verdicts.test_expectation import flow

TARGET = "rbd:bench/disk1"


@pytest.fixture(scope="module")
def preset() -> Preset:
    (preset,) = packaged(PRESET)
    return preset


def expected(preset: Preset, **promised: float) -> dict[str, tuple[str, ...]]:
    """What is expected of each step, by its title without the volume."""
    steps = steps_of(Volume(TARGET, Limits(**promised)), preset, 1, 1, {})
    return {each.step.title.removeprefix(f"{TARGET} "): each.step.expect for each in steps}


# ---------------------------------------------------------------------------------------------- as they are written


def test_a_file_has_all_that_it_says(tmp_path: Path) -> None:
    path = tmp_path / "volumes.toml"
    path.write_text(
        f'[[volumes]]\ntarget = "{TARGET}"\nname = "disk1"\nnode = "pve1"\nclass = "NVME"\niops = 8000\n'
        'burst_seconds = 30\n[[volumes]]\ntarget = "device:/dev/vdb"\nread_iops = 500\n'
        "write_bandwidth_bytes_per_second = 2e8\n"
    )
    first, second = load_volumes(path)
    assert first == Volume(TARGET, Limits(iops=8000, burst_seconds=30), "disk1", "pve1", "NVME")
    assert second.promised == Limits(read_iops=500, write_bandwidth_bytes=2e8)
    assert (second.title, second.is_promised) == ("device:/dev/vdb", True)


WRONG = {
    "iops = 0": "volumes.1.iops: expected greater than 0",
    'iops = "8k"': "volumes.1.iops",
    "iopz = 5": "volumes.1.iopz: unknown key",
    "burst_seconds = -1": "volumes.1.burst_seconds",
}


@pytest.mark.parametrize("line", WRONG)
def test_an_error_names_the_key(tmp_path: Path, line: str) -> None:
    path = tmp_path / "volumes.toml"
    path.write_text(f'[[volumes]]\ntarget = "{TARGET}"\n{line}\n')
    with pytest.raises(PresetError) as error:
        load_volumes(path)
    assert WRONG[line] in str(error.value)


@pytest.mark.parametrize(
    ("text", "target", "iops"),
    [
        (f"{TARGET}=8000", TARGET, 8000),
        (f"{TARGET}=8k", TARGET, 8000),
        (TARGET, TARGET, None),
        ("file:/a=b/c=5", "file:/a=b/c", 5),
    ],
)
def test_a_volume_in_a_word(text: str, target: str, iops: float | None) -> None:
    assert volume_of(text) == Volume(target, Limits(iops=iops))


@pytest.mark.parametrize("text", [f"{TARGET}=", f"{TARGET}=fast", f"{TARGET}=0", f"{TARGET}=200MiB/s"])
def test_a_word_that_is_no_volume(text: str) -> None:
    with pytest.raises(PresetError, match=r"expected TARGET=IOPS, such as rbd:bench/disk=8000"):
        volume_of(text)


# ---------------------------------------------------------------------------------------------- what is measured


def test_reads_writes_and_both_with_small_blocks(preset: Preset) -> None:
    steps = steps_of(volume_of(f"{TARGET}=8000"), preset, 8, 3, {"size": "1G"})
    options = [combinations(preset.tool, {**preset.file.options, **each.step.options}) for each in steps]
    found = [[(each["rw"], each["bs"], each["iodepth"], each["numjobs"], each["size"]) for each in all_]
             for all_ in options]  # fmt: skip
    assert found == [[(rw, "4k", 64, 8, "1G")] for rw in ("randread", "randwrite", "randrw")]
    assert [each.step.repeats for each in steps] == [3, 3, 3]
    assert [each.step.expect for each in steps] == [("iops>=8000",)] * 3
    assert steps[2].step.title == f"{TARGET} 75/25 8 jobs"


PROMISES: dict[str, tuple[dict[str, float], dict[str, tuple[str, ...]]]] = {
    "reads and writes apart": (
        {"read_iops": 6000, "write_iops": 1000},
        {"read": ("iops>=6000",), "write": ("iops>=1000",), "75/25": ("iops>=4000",)},
    ),
    "reads alone": ({"read_iops": 6000}, {"read": ("iops>=6000",), "75/25": ("iops>=8000",)}),
    "bandwidth": (
        {"bandwidth_bytes": 1 << 28},
        {"read 1M": ("bandwidth>=268435456B/s",), "write 1M": ("bandwidth>=268435456B/s",)},
    ),
    "what is reached first": (
        {"iops": 100, "bandwidth_bytes": 204800},
        {
            **dict.fromkeys(PARTS, ("iops>=50",)),
            **{f"{part} 1M": ("bandwidth>=204800B/s",) for part in ("read", "write")},
        },
    ),
    "few large ones": (
        {"iops": 100, "write_bandwidth_bytes": 1 << 30},
        {
            **dict.fromkeys(PARTS, ("iops>=100",)),
            **{f"{part} 1M": ("bandwidth>=104857600B/s",) for part in ("read", "write")},
        },
    ),
    "nothing": ({}, {}),
}


@pytest.mark.parametrize("name", PROMISES)
def test_what_is_expected_of_each_step(preset: Preset, name: str) -> None:
    promised, steps = PROMISES[name]
    assert expected(preset, **promised) == steps


@pytest.mark.parametrize(("burst", "seconds"), [(0, 60), (10, 60), (30, 90)])
def test_a_run_takes_three_times_the_burst(preset: Preset, burst: float, seconds: float) -> None:
    steps = steps_of(Volume(TARGET, Limits(iops=8000, burst_seconds=burst)), preset, 1, 1, {})
    assert {each.step.options["runtime"] for each in steps} == {seconds}
    shorter = steps_of(Volume(TARGET, Limits(iops=1, burst_seconds=burst)), preset, 1, 1, {"runtime": 5})
    assert {each.step.options["runtime"] for each in shorter} == {5}


@pytest.mark.parametrize(("iops", "jobs", "options", "seconds"), [
    (100, 1, {}, 192), (100, 8, {}, 1536), (320, 1, {}, 60), (100, 1, {"iodepth": 1}, 60),
])  # fmt: skip
def test_at_a_low_rate_a_run_is_longer_than_what_is_in_flight_at_its_end(
    preset: Preset, iops: float, jobs: int, options: dict[str, Any], seconds: float
) -> None:
    """As those I/Os are waited for, they would make the rate of a short run too low."""
    steps = steps_of(Volume(TARGET, Limits(iops=iops)), preset, jobs, 1, options)
    assert {each.step.options["runtime"] for each in steps} == {seconds}


# ---------------------------------------------------------------------------------------------- limits


def answer(**values: str) -> str:
    defaults = {"rbd_qos_iops_limit": "0", "rbd_qos_iops_burst_seconds": "1", "rbd_cache": "true"}
    return json.dumps([{"name": n, "value": v, "source": "image"} for n, v in {**defaults, **values}.items()])


@pytest.mark.parametrize(
    ("values", "limits"),
    [
        ({}, Limits()),
        ({"rbd_qos_iops_limit": "500"}, Limits(iops=500)),
        ({"rbd_qos_bps_limit": "200M"}, Limits(bandwidth_bytes=2e8)),
        (
            {"rbd_qos_read_iops_limit": "1K", "rbd_qos_write_bps_limit": "5"},
            Limits(read_iops=1e3, write_bandwidth_bytes=5),
        ),
        ({"rbd_qos_iops_limit": "many"}, Limits()),
        ({"rbd_qos_iops_limit": "5", "rbd_qos_iops_burst": "9"}, Limits(iops=5, burst_seconds=1)),
        (
            {"rbd_qos_iops_limit": "5", "rbd_qos_iops_burst": "9", "rbd_qos_iops_burst_seconds": "20"},
            Limits(iops=5, burst_seconds=20),
        ),
        ({"rbd_qos_iops_limit": "5", "rbd_qos_iops_burst_seconds": "20"}, Limits(iops=5)),
    ],
    ids=str,
)
def test_the_limits_of_an_image(values: dict[str, str], limits: Limits) -> None:
    assert parse_limits(answer(**values)) == limits


async def test_limits_are_those_of_the_image_or_of_the_pool(golden: Golden) -> None:
    shell = RecordedShell(**{
        "rbd_config_image_list_--pool_bench_--image_disk1": ok(answer(rbd_qos_iops_limit="500")),
        "rbd_config_pool_list_bench": ok(answer(rbd_qos_iops_limit="700")),
    })  # fmt: skip
    assert await ClusterReader(shell).ask(image_limits("bench", "disk1")) == Limits(iops=500)
    targets = [parse_target(text) for text in (TARGET, "rbd:bench", "file:/x")]
    assert [(await each.limits(shell)).iops for each in targets] == [500, 700, None]
    with golden.raises(TargetFault):
        await parse_target("rbd:bench/none").limits(shell)
    assert limits_argv("bench", None)[-2:] == ("--format", "json")


GUEST = "/etc/pve/nodes/pve1/qemu-server/101.conf"


def guests(*lines: str) -> str:
    """The answer of a node with these lines in a guest's file."""
    return "".join(f"line\t{GUEST}\t{line}\n" for line in lines) + "done\t\n"


@pytest.mark.parametrize(
    ("line", "limits"),
    [
        ("scsi0: vms:vm-101-disk-0,size=32G", Limits()),
        ("scsi0: vms:vm-101-disk-0,iops=5000,size=32G", Limits(iops=5000)),
        ("virtio1: vms:vm-101-disk-0,iops_rd=8000,iops_wr=4000", Limits(read_iops=8000, write_iops=4000)),
        ("scsi0: vms:vm-101-disk-0,mbps=200,mbps_rd=0", Limits(bandwidth_bytes=200 * 2**20)),
        ("scsi0: vms:vm-101-disk-0,mbps_wr=0.5", Limits(write_bandwidth_bytes=2**19)),
        ("scsi0: vms:vm-101-disk-0,bps_rd=1000000", Limits(read_bandwidth_bytes=1e6)),
        (
            "scsi0: vms:vm-101-disk-0,iops_rd=800,iops_rd_max=2000,iops_rd_max_length=30",
            Limits(read_iops=800, burst_seconds=30),
        ),
        ("scsi0: vms:vm-101-disk-0,iops_rd=800,iops_rd_max=2000", Limits(read_iops=800, burst_seconds=1)),
        ("scsi0: vms:vm-101-disk-0,iops=many,mbps=-1", Limits()),
        ("scsi0: vms:vm-101-disk-00,iops=5000", Limits()),
        ("unused0: vms:vm-101-disk-0,iops=5000", Limits()),
    ],
)
def test_the_limits_of_a_disk_of_a_guest(line: str, limits: Limits) -> None:
    assert proxmox.parse_guest_limits(guests("net0: virtio=vm-101-disk-0", line), "vm-101-disk-0") == limits


async def test_limits_of_an_image_come_before_those_of_its_guest() -> None:
    def shell(limit: str, guest: str) -> RecordedShell:
        return RecordedShell(**{
            "rbd_config_image_list_--pool_vms_--image_vm-101-disk-0": ok(answer(rbd_qos_iops_limit=limit)),
            "bash_guests": ok(guest),
        })  # fmt: skip

    target, line = parse_target("rbd:vms/vm-101-disk-0"), guests("scsi0: vms:vm-101-disk-0,iops_rd=8000")
    assert await target.limits(shell("500", line)) == Limits(iops=500)
    assert await target.limits(shell("0", line)) == Limits(read_iops=8000)
    assert await target.limits(shell("0", "")) == Limits()


def test_a_volume_may_have_the_limits_of_another(tmp_path: Path) -> None:
    file = tmp_path / "volumes.toml"
    file.write_text('[[volumes]]\ntarget = "rbd:vms"\nlimits_of = "rbd:vms/vm-101-disk-0"\n')
    (volume,) = load_volumes(file)
    assert (volume.target, volume.limits_of, volume.is_promised) == ("rbd:vms", "rbd:vms/vm-101-disk-0", False)


# ---------------------------------------------------------------------------------------------- printed


def judged(text: str, seconds: tuple[int, int] = (60, 60), **fields: Any) -> Expected:
    measured = run(**fields)
    return judge_expectation(parse_expectation(text), "x", [measured], {name_of(measured): seconds}, STARTED)


def drawn(*rows: Row, **runs: Any) -> list[str]:
    return [" ".join(line.split()) for line in printed(draw_provisioned(rows, runs), 140).splitlines()]


def test_a_row_for_each_volume(golden: Golden) -> None:
    both = run(9, read=flow(360_120, 60.0, iops=6002), write=flow(120_120, 60.0, iops=2002))
    parts: dict[VolumePart, Expected] = {
        "read": judged("iops>=8000", read=flow(480_360, 60.0)),
        "write": judged("iops>=8000", write=flow(480_660, 60.0)),
        "75/25": judge_expectation(parse_expectation("iops>=8000"), "x", [both], {name_of(both): (60, 60)}, STARTED),
    }
    lines = drawn(
        Row("pve1:vm-101-d1", "NVME", "64", parts),
        Row("disk2", "", "64 x 8 jobs", {"read": judged("iops>=500", (30, 60), read=flow(24_000, 60.0))}),
        **{"tuning/9": both},
    )
    assert lines[:-1] == [
        "volume class depth promised read write 75/25 seconds >= 90 %",
        "pve1:vm-101-d1 NVME 64 8,000 PASS 8,006 PASS 8,011 PASS 8,004 (6,002 + 2,002) 100 %",
        "disk2 64 x 8 jobs 500 FAIL 400 - - 50.0 %",
    ]
    golden.same(lines[-1])


def test_why_a_volume_is_not_counted_stands_below(golden: Golden) -> None:
    lines = drawn(Row("disk1", "", "64", {"read": judged("iops>=5", outcome="failed", error="no such image")}))
    assert lines[1:-1] == [
        "disk1 64 5 NOT COUNTED - - -",
        "disk1 read: tuning/1: failed: no such image",
    ]
    golden.same(lines[-1])


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--volume", "file:/x"),
        ("--volume", "file:/x=5", "--volume", "file:/x=6"),
        ("--volume", "rbd:bench=5", "--jobs", "8"),
        ("--volume", "file:/x=5", "--jobs", "1"),
        ("--volume", "file:/x=5", "--node", "a", "--node", "b"),
        ("--volume", "file:/x=fast"),
        ("--volume", "what=5"),
        ("--volume", "pool:bench=5"),
    ],
    ids=str,
)
def test_what_can_not_be_measured_is_a_usage_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], golden: Golden
) -> None:
    for name in ("CEPHTUI_DATA_DIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    done = CliRunner().invoke(cli, ["provisioned", *words])
    assert done.exit_code == 2, done.output
    golden.same(done.output.splitlines()[-1])
