"""fio's job files and command lines become presets; fio itself says what they mean."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cephtui.cli.commands import import_preset
from cephtui.cli.errors import Refused
from cephtui.models import FilePlace, OptionValue
from cephtui.tools import TOOLS
from cephtui.tools.adopted import Adopted
from cephtui.tools.base import OptionError
from cephtui.tools.fio.adopted import adopt, find_jobs
from cephtui.tools.fio.given import JobSection, plain_value
from cephtui.tools.logs import read_log
from cephtui.units import parse_duration
from tests.support.golden import Golden
from tests.support.importing import own, run, written

__all__ = ["own"]

ENGINE = ("ioengine", "direct")
"""Of images these are the target's."""

WRITE_4M = """\
[write-4M]
ioengine=rbd
clientname=admin
pool=volumes
rbdname=testdisk
filename=/dev/rbd0
rw=write    # sequential; randwrite, read and randread are others
bs=4M
size=5g      # of each process
numjobs=1
iodepth=32
direct=1    # past the cache
lockmem=1G  # of memory
runtime=30  # seconds
group_reporting  # one report
"""
IMAGES = """\
[global]
ioengine=rbd
runtime=60s
time_based
blocksize=4k
numjobs=1
group_reporting

[seq-read]
pool=rbd.pool
rbdname=image1 #Name
rw=read
size=2G

[seq-write]
rbdname=image1 #Name
pool=rbd.pool
rw=write
size=2G
"""
MIXED = """\
[global]
ioengine=rados
runtime=60 #for 60 s
time_based #for a time
rw=randrw
rwmixread=70
size=1G
numjobs=4
blocksize=4k
pool=testpool
iodepth=4
loops=5
[randrw]
"""
STONEWALL = """\
; a disk
[global]
blocksize=64k
ioengine=libaio
iodepth=4
size=10g
buffered=0
runtime=2m
directory=/mnt/disk
filename=test.file
wait_for_previous

[seq-read]
readwrite=read

[rand-read]
readwrite=randread

[rand-write]
readwrite=randwrite
"""
DEPTHS = """\
[global]
rw=randread
time_based=1
runtime=10
ramp_time=1
ioengine=io_uring
filename=/dev/nvme0n1
[one]
iodepth=1
[many]
stonewall
iodepth=64
"""
JOB_FILES = {"write-4M": WRITE_4M, "images": IMAGES, "stonewall": STONEWALL, "depths": DEPTHS}
BY_HAND = """\
root@pve1:~# fio --name=write_throughput --filename=/dev/rbd0 --numjobs=8 \\
--size=10G --time_based --runtime=60s --ramp_time=2s --ioengine=libaio \\
--direct=1 --verify=0 --bs=1M --iodepth=64 --rw=write \\
--group_reporting=1
root@pve1:~# fio --name=write_iops --filename=/dev/rbd0 --size=10G \\
--time_based --runtime=60s --ramp_time=2s --ioengine=libaio --direct=1 --numjobs=8 \\
--verify=0 --bs=4K --iodepth=64 --rw=randwrite --group_reporting=1
root@pve1:~# fio --name=read_throughput --filename=/dev/rbd0 --numjobs=8 \\
--size=10G --time_based --runtime=60s --ramp_time=2s --ioengine=libaio \\
--direct=1 --verify=0 --bs=1M --iodepth=64 --rw=read \\
--group_reporting=1
root@pve1:~# fio --name=read_iops --filename=/dev/rbd0 --size=10G \\
--time_based --runtime=60s --ramp_time=2s --ioengine=libaio --direct=1 \\
--verify=0 --bs=4K --iodepth=64 --rw=randread --group_reporting=1
"""
COPIED = """\
1 # random writes
2 fio -direct=1 -iodepth=128 -rw=randwrite -ioengine=libaio -bs=4k -size=1G -
  numjobs=1 -runtime=1000 -group_reporting -filename=/dev/rbd0 -
  name=Rand_Write_Testing --allow_mounted_write=1
3
4 # random reads
5 fio -direct=1 -iodepth=128 -rw=randread -ioengine=libaio -bs=4k -size=1G -
  numjobs=1 -runtime=1000 -group_reporting -filename=/dev/rbd0 -
  name=Rand_Read_Testing --allow_mounted_write=1
6
7 # sequential writes
8 fio -direct=1 -iodepth=64 -rw=write -ioengine=libaio -bs=1024k -size=1G -
  numjobs=1 -runtime=1000 -group_reporting -filename=/dev/rbd0 -
  name=Write_PPS_Testing --allow_mounted_write=1
9
10 # sequential reads
11 fio -direct=1 -iodepth=64 -rw=read -ioengine=libaio -bs=1024k -size=1G -
  numjobs=1 -runtime=1000 -group_reporting -filename=/dev/rbd0 -
  name=Read_PPS_Testing --allow_mounted_write=1
12
13 # latency of random writes
14 fio -direct=1 -iodepth=1 -rw=randwrite -ioengine=libaio -bs=4k -size=1G -
  numjobs=1 -runtime=1000 -group_reporting -filename=/dev/rbd0 -
  name=Rand_Write_Latency_Testing --allow_mounted_write=1
15
16 # latency of random reads
17 fio -direct=1 -iodepth=1 -rw=randread -ioengine=libaio -bs=4k -size=1G -
  numjobs=1 -runtime=1000 -group_reporting -filename=/dev/rbd0 -
  name=Rand_Read_Latency_Testing --allow_mounted_write=1
18
19 # latency of sequential writes
20 fio -direct=1 -iodepth=1 -rw=write -ioengine=libaio -bs=4k -numjobs=1 -
  time_based=1 -runtime=1000 -group_reporting -filename=/dev/rbd0 -
  name=Write_Latency_Testing --allow_mounted_write=1
21
22 # latency of sequential reads
23 fio -direct=1 -iodepth=1 -rw=read -ioengine=libaio -bs=4k -numjobs=1 -
  time_based=1 -runtime=1000 -group_reporting -filename=/dev/rbd0 -
  name=Read_Latency_Testing --allow_mounted_write=1
"""
"""As it is copied out of a PDF with numbered lines."""
COMPARED = ("rw", "bs", "iodepth", "numjobs", "size", "ioengine", "direct", "time_based", "runtime", "ramp_time")


def sections(text: str) -> list[JobSection]:
    return [section for each in find_jobs(read_log(text)) for section in each.sections]


def presets(text: str) -> list[Adopted]:
    return [adopt(section) for section in sections(text)]


def meant(options: Mapping[str, str]) -> dict[str, object]:
    """What fio takes, with equal values written alike, and without what is fio's default anyway."""
    found: dict[str, object] = {}
    if "buffered" in options:  # "negates direct", as fio --cmdhelp has it
        options = {**options, "direct": str(int(options["buffered"] == "0"))}
    for name in COMPARED:
        text = options.get(name, "0" if name in ("direct", "time_based") else "")
        if name in ("direct", "time_based"):
            found[name] = text not in ("0",)
        elif name in ("runtime", "ramp_time"):
            found[name] = parse_duration(text or "0")
        else:
            found[name] = plain_value(name, text) or {"iodepth": "1", "numjobs": "1", "bs": "4k"}.get(name, "")
    return found


def by_preset(preset: Adopted) -> dict[str, object]:
    """The command that a preset runs on a file."""
    options = {name: value for name, value in preset.options.items() if not isinstance(value, list)}
    workload = TOOLS["fio"].bind(TOOLS["fio"].check_options(options))
    size = int(str(options["size"]).rstrip("GMk")) << 30 if "size" in options else 1 << 30
    words = workload.argv("name", size, FilePlace(kind="file", path="/scratch/test"))
    given = {word[2:].partition("=")[0]: word.partition("=")[2] or "1" for word in words[1:]}
    return meant(given)


def by_fio(job_file: Path) -> list[dict[str, object]]:
    """What ``fio --showcmd`` makes of it, a section each."""
    done = subprocess.run(["fio", "--showcmd", str(job_file)], capture_output=True, text=True, check=True)
    common: dict[str, str] = {}
    found: list[dict[str, str]] = []
    for word in done.stdout.split()[1:]:
        name, _, value = word[2:].partition("=")
        if name == "name":
            found.append(dict(common))
        else:
            (found[-1] if found else common)[name] = value or "1"
    return [meant(each) for each in found]


@pytest.mark.parametrize("name", JOB_FILES)
def test_a_job_file_means_what_fio_takes_it_for(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.fio"
    path.write_text(JOB_FILES[name])
    expected = by_fio(path)
    assert len(expected) == len(sections(JOB_FILES[name]))
    for preset, wanted in zip(presets(JOB_FILES[name]), expected, strict=True):
        for_images = set(ENGINE) if "ioengine" not in preset.options else set()
        found = by_preset(preset)
        skipped = for_images | (set() if wanted["size"] else {"size"})
        assert {k: v for k, v in found.items() if k not in skipped} == {
            k: v for k, v in wanted.items() if k not in skipped
        }


@pytest.mark.parametrize("text", [BY_HAND, COPIED], ids=["with prompts", "numbered"])
def test_a_pasted_command_means_what_fio_takes_it_for(text: str, tmp_path: Path) -> None:
    """Each is run on nothing: fio lists the options as it has understood them."""
    log = read_log(text)
    found = presets(text)
    assert len(found) == {BY_HAND: 4, COPIED: 8}[text]
    commands = [line.text for line in log.lines if "fio " in line.text]
    if text is BY_HAND:
        commands = text.replace("\\\n", " ").splitlines()
    for preset, command in zip(found, commands, strict=True):
        words = command[command.index("fio ") :].split()
        last = ["--ioengine=null", "--filename=x", "--size=4k", "--bs=4k", "--ramp_time=0", "--time_based=0"]
        argv = [*words, *last, "--output-format=json"]
        done = subprocess.run(argv, capture_output=True, text=True, check=True, cwd=tmp_path)
        document = json.loads(done.stdout[done.stdout.index("{") :])
        taken = {**document.get("global options", {}), **document["jobs"][0]["job options"]}
        for option in ("rw", "iodepth", "numjobs", "direct", "runtime"):
            assert meant(taken)[option] == by_preset(preset)[option], (command, option)
        assert preset.name == taken["name"]
        assert preset.target == "device:/dev/rbd0"
        sized = next((word.partition("=")[2] for word in words if word.lstrip("-").startswith("bs=")), "")
        assert preset.options["bs"] == plain_value("bs", sized)
        assert preset.options["time_based"] == any(word.lstrip("-").startswith("time_based") for word in words)


def test_what_is_not_taken_is_named_with_the_reason(golden: Golden) -> None:
    (preset,) = presets(WRITE_4M)
    assert set(dict(preset.left_out)) == {"ioengine", "clientname", "pool", "rbdname", "filename", "lockmem"}
    golden.same(f"{option}: {reason}" for option, reason in preset.left_out)
    assert preset.target == "rbd:volumes/testdisk"
    golden.same(preset.notes)
    (odd,) = presets("[a]\nzonerange=4k\nsize=100%\nrwmixwrite=30\nrw=randrw\n")
    assert set(dict(odd.left_out)) == {"zonerange", "size", "rwmixwrite"}
    golden.same(f"{option}: {reason}" for option, reason in odd.left_out)
    assert odd.options["rwmixread"] == 70


def test_the_rados_engine_becomes_no_preset(golden: Golden) -> None:
    (section,) = sections(MIXED)
    with golden.raises(OptionError):
        adopt(section)


@pytest.mark.parametrize(
    "text", ["bssplit=4k/50:8k/50", "bsrange=4k-8k", "bs=4k,8k", "rw=trim", "ioengine=mmap", "size=10%"]
)
def test_what_a_preset_cannot_measure_becomes_none(text: str) -> None:
    with pytest.raises(OptionError):
        presets(f"[a]\n{text}\n")


@pytest.mark.parametrize(
    ("given", "target"),
    [
        ({"filename": "/dev/sdb"}, "device:/dev/sdb"),
        ({"filename": "/mnt/x"}, "file:/mnt/x"),
        ({"directory": "/mnt/", "filename": "x"}, "file:/mnt/x"),
        ({"directory": "/mnt"}, ""),
        ({"ioengine": "rbd", "pool": "p", "rbdname": "i"}, "rbd:p/i"),
        ({"pool": "p", "filename": "/dev/sdb"}, "device:/dev/sdb"),
        ({}, ""),
    ],
)
def test_a_target_is_proposed_and_is_no_part_of_the_preset(given: dict[str, str], target: str) -> None:
    preset = adopt(JobSection("a", given))
    assert preset.target == target
    assert not {"filename", "directory", "pool", "rbdname"} & preset.options.keys()


@pytest.mark.parametrize(
    "text",
    [
        "sudo fio --name=a --rw=randread --bs 8k",
        "CEPH_ARGS='--id bench' /usr/local/bin/fio -name a -rw randread -blocksize=8k | tee out.txt",
        "$ fio --readwrite=randread --bs=8k --name=a --minimal",
        "+ time fio \u2013name=a \u2013rw=randread \u2014bs=8k",
        "admin@host:/tmp$ fio --name=global --bs=8k --name=a --rw=randread # comment",
    ],
)
def test_a_command_is_read_as_people_write_it(text: str) -> None:
    (preset,) = presets(text)
    assert (preset.name, preset.options["rw"], preset.options["bs"]) == ("a", "randread", "8k")


@given(st.text(max_size=200), st.sampled_from(["fio --name=", "[a]\n", "[global]\nrw=", "fio -rw "]))
def test_any_text_is_read_without_an_error(text: str, before: str) -> None:
    for section in sections(before + text):
        with contextlib.suppress(OptionError):
            assert adopt(section).options["rw"]


# ---------------------------------------------------------------------------------------------- the verb


def test_a_job_file_becomes_a_preset_of_the_users(
    own: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "write.fio"
    path.write_text(WRITE_4M)
    assert run(str(path)) == 0
    preset = written(own)["write-4M"]
    assert preset.file.description == "from write.fio"
    assert preset.file.headline == "bandwidth"
    assert preset.file.options == {
        "rw": "write",
        "bs": "4M",
        "iodepth": 32,
        "numjobs": 1,
        "size": "5G",
        "time_based": False,
        "runtime": 30,
        "ramp_time": 0,
        "group_reporting": True,
    }
    err = capsys.readouterr().err
    assert "write-4M: lockmem is left out: not needed" in err
    assert "next: cephtui run write-4M --target rbd:volumes/testdisk" in err


def test_a_dry_run_prints_the_preset_and_writes_nothing(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--dry-run", "fio -direct=1 -rw=randwrite -bs=4k -name=writes") == 0
    out = capsys.readouterr().out
    assert 'title = "writes"' in out
    assert 'rw = "randwrite"' in out
    assert not own.exists()


def test_sections_that_wait_are_a_sweep_where_one_option_differs(own: Path, tmp_path: Path) -> None:
    path = tmp_path / "disk.fio"
    path.write_text(STONEWALL)
    assert run(str(path)) == 0
    assert written(own)["disk"].file.options["rw"] == ["read", "randread", "randwrite"]
    path.write_text(DEPTHS)
    assert run(str(path), "--name", "depths") == 0
    assert written(own)["depths"].file.options["iodepth"] == [1, 64]


def test_sections_that_differ_more_are_presets_of_their_own(own: Path, tmp_path: Path) -> None:
    path = tmp_path / "disk.fio"
    path.write_text("[a]\nrw=read\nbs=1M\n[b]\nstonewall\nrw=write\n[b]\nstonewall\nrw=randwrite\n")
    assert run(str(path)) == 0
    assert set(written(own)) == {"a", "b", "b-2"}
    assert run(str(path), "--name", "x") == 0
    assert set(written(own)) == {"a", "b", "b-2", "x-a", "x-b", "x-b-2"}


def test_sections_that_fio_runs_at_once_need_an_answer(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    path = tmp_path / "images.fio"
    path.write_text(IMAGES)
    with golden.raises(click.UsageError):
        run(str(path))
    with golden.raises(click.UsageError):
        run(str(path), "--together")
    assert run(str(path), "--in-order") == 0
    assert written(own)["images"].file.options["rw"] == ["read", "write"]
    monkeypatch.setattr(import_preset, "_can_ask", lambda: True)
    monkeypatch.setattr(click, "prompt", lambda *_, **__: "in-order")
    assert run(str(path), "--force") == 0


def test_jobs_that_are_alike_are_so_many_at_once(own: Path, tmp_path: Path) -> None:
    path = tmp_path / "two.fio"
    path.write_text("[global]\nrw=randread\nnumjobs=2\n[a]\n[b]\nnumjobs=3\n")
    assert run(str(path), "--together") == 0
    assert written(own)["two"].file.options["numjobs"] == 5


def test_no_preset_is_overwritten_unasked(own: Path, golden: Golden) -> None:
    assert run("fio --name=mine --rw=read") == 0
    with golden.raises(Refused):
        run("fio --name=mine --rw=write")
    with golden.raises(Refused):
        run("fio --name=write-iops --rw=write")
    assert written(own)["mine"].file.options["rw"] == "read"
    assert run("fio --name=mine --rw=write", "--force") == 0
    assert written(own)["mine"].file.options["rw"] == "write"


def test_the_exit_code_says_whether_all_became_presets(
    own: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], golden: Golden
) -> None:
    path = tmp_path / "mixed.fio"
    path.write_text(MIXED)
    assert run(str(path)) == 1
    golden.same(capsys.readouterr().err)
    path.write_text(f"{MIXED}[plain]\nioengine=libaio\nstonewall\n")
    assert run(str(path)) == 4
    assert set(written(own)) == {"plain"}


@pytest.mark.parametrize("source", ["missing.fio", "fio write.fio", "nothing of that kind"])
def test_what_is_neither_is_wrong_usage(own: Path, source: str) -> None:
    with pytest.raises(click.UsageError):
        run(source)


def test_a_name_is_fit_for_a_file_and_its_title_for_a_screen(own: Path) -> None:
    assert run("fio --name='../../etc/[red] \x1b[31mx' --rw=read") == 0
    ((name, preset),) = written(own).items()
    assert name == "etc-red-x"
    assert "\x1b" not in preset.file.title
    assert [path.name for path in own.iterdir()] == ["etc-red-x.toml"]


# ---------------------------------------------------------------------------- nothing changes its meaning unsaid


def test_the_prompt_of_a_shell_is_no_section_and_rados_commands_become_presets(own: Path, tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    path.write_text(
        "[root@client ~]# rados bench -p scratch 60 write -t 32 -b 4096 --no-cleanup\nhints = 1\n"
        "[root@client ceph-1]# rados -p scratch bench 30 seq\nhints = 1\n"
    )
    assert run(str(path)) == 0
    found = written(own)
    assert set(found) == {"rados-bench-write", "rados-bench-seq"}
    assert {each.file.tool for each in found.values()} == {"rados-bench"}
    assert found["rados-bench-write"].file.options == {
        "mode": "write", "runtime": 60, "concurrent-ios": 32, "block-size": "4k",
    }  # fmt: skip
    assert run("rados bench -p scratch 60 rand", "--name", "mine") == 0
    assert written(own)["mine"].file.options["mode"] == "rand"


@pytest.mark.parametrize("text", ["[INFO]\nhints = 1\n", "[root@client ~]#\nrw=read\n", "[a]\n\n[b]\n"])
def test_a_section_has_options_of_fio(text: str) -> None:
    assert sections(text) == []


@pytest.mark.parametrize(("given", "kept"), [("1", "sync"), ("0", "none"), ("sync", "sync"), ("dsync", "dsync")])
def test_sync_may_be_a_number(given: str, kept: str) -> None:
    """fio's HOWTO: 0 is none, 1 is sync."""
    (preset,) = presets(f"fio --name=a --rw=write --sync={given}")
    assert preset.options["sync"] == kept
    for value in (given, int(given) if given.isdecimal() else given):
        assert TOOLS["fio"].check_options({"rw": "write", "sync": value})["sync"] == kept


@pytest.mark.parametrize(
    ("words", "size"),
    [
        ("--filename=/dev/sdb --size=10G --numjobs=8", "1280M"),
        ("--filename=/dev/sdb --size=10M --numjobs=3 --bs=1M", "3M"),
        ("--filename=/dev/sdb --size=10G --numjobs=1", "10G"),
        ("--filename=/dev/sdb --size=10G --numjobs=8 --offset_increment=10G", "10G"),
        ("--directory=/mnt --size=10G --numjobs=8", "10G"),
        ("--ioengine=rbd --pool=p --rbdname=i --size=10G --numjobs=8 --direct=1", "1280M"),
    ],
)
def test_jobs_that_share_their_data_need_no_more_of_it(words: str, size: str) -> None:
    (preset,) = presets(f"fio --name=a --rw=write {words}")
    assert preset.options["size"] == size
    jobs = int(words.partition("--numjobs=")[2].split()[0])
    assert (len(preset.notes) > 0) is (jobs > 1 or "time_based" in words)


def test_sections_that_share_their_data_need_no_more_of_it_together(own: Path, tmp_path: Path) -> None:
    path = tmp_path / "two.fio"
    path.write_text("[global]\nrw=randread\nfilename=/dev/sdb\nsize=12G\nnumjobs=2\n[a]\n[b]\nnumjobs=4\n")
    assert run(str(path), "--together") == 0
    options = written(own)["two"].file.options
    assert (options["numjobs"], options["size"]) == (6, "2G")


def test_an_included_file_is_read_beside_the_job_file(
    own: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.fio"
    path.write_text("[global]\ninclude more/common.inc\nrw=randread\n[a]\nsize=1G\n")
    assert run(str(path)) == 1
    assert "include more/common.inc" in capsys.readouterr().err
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "common.inc").write_text("bs=128k\niodepth=64\ninclude engine.inc\n")
    (tmp_path / "more" / "engine.inc").write_text("ioengine=libaio\n")
    assert run(str(path)) == 0
    options = written(own)["a"].file.options
    wanted = {"rw": "randread", "bs": "128k", "iodepth": 64, "ioengine": "libaio", "size": "1G"}
    assert {name: options[name] for name in wanted} == wanted


@pytest.mark.parametrize("included", ["{tmp}/elsewhere/secret", "../elsewhere/secret", "link"])
def test_a_file_elsewhere_is_neither_read_nor_shown(
    included: str, own: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A job file of a stranger shows nothing of what only its reader may read."""
    for folder in ("elsewhere", "jobs"):
        (tmp_path / folder).mkdir()
    (tmp_path / "elsewhere" / "secret").write_text("canary\n")
    (tmp_path / "jobs" / "link").symlink_to("../elsewhere/secret")
    path = tmp_path / "jobs" / "a.fio"
    path.write_text(f"[a]\nrw=read\ninclude {included.format(tmp=tmp_path)}\n")
    assert run(str(path)) == 1
    said = capsys.readouterr().err
    assert "canary" not in said
    assert "and is not there" in said


def test_files_that_include_each_other_come_to_an_end(own: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.fio"
    path.write_text("[a]\nrw=read\ninclude b.fio\ninclude b.fio\n")
    (tmp_path / "b.fio").write_text("include a.fio\n")
    with pytest.raises(click.UsageError):
        run(str(path))


@pytest.mark.parametrize("keyword", ["foo bar", "include", "iodepth 64", "bs: 4k"])
def test_a_keyword_that_is_no_option_refuses_the_job_by_name(
    keyword: str, own: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for suffix in (".fio", ".txt"):
        path = tmp_path / f"a{suffix}"
        path.write_text(f"[a]\nrw=randread\n{keyword}\nbs=64k\n")
        assert run(str(path)) == 1
        assert keyword in capsys.readouterr().err
    assert written(own) == {}


@pytest.mark.parametrize("size", ["4KiB", "4kib", "4kB", "4K", "4k", "4096B", "4096", "1MiB", "2M"])
def test_a_unit_is_what_fio_takes_it_for(size: str, tmp_path: Path) -> None:
    """fio's job of one such block does as many bytes."""
    argv = ["fio", "--name=a", "--ioengine=null", f"--bs={size}", f"--size={size}", "--output-format=json"]
    done = subprocess.run(argv, capture_output=True, text=True, check=True, cwd=tmp_path, timeout=60)
    document = json.loads(done.stdout[done.stdout.index("{") :])
    (preset,) = presets(f"fio --name=a --bs={size} --size={size}")
    number = str(preset.options["bs"])
    powers = {"k": 1 << 10, "M": 1 << 20}
    assert int(number.rstrip("kM")) * powers.get(number[-1], 1) == document["jobs"][0]["read"]["io_bytes"]
    assert preset.options["size"] == preset.options["bs"]


@pytest.mark.parametrize(
    ("given", "option", "value"),
    [
        ("--bs=4k --blocksize=8k --bs=16k", "bs", "16k"),
        ("--bs=16k --blocksize=8k", "bs", "8k"),
        ("--direct=1 --buffered=1", "direct", False),
        ("--buffered=1 --direct=1", "direct", True),
        ("--buffered=0", "direct", True),
        ("--rwmixwrite=30 --rw=randrw", "rwmixread", 70),
    ],
)
def test_of_an_option_that_is_given_twice_the_last_holds(given: str, option: str, value: OptionValue) -> None:
    (preset,) = presets(f"fio --name=a {given}")
    assert preset.options[option] == value
    lines = given.replace("--", "").split()
    (preset,) = presets("\n".join(["[global]", lines[0], "[a]", *lines[1:], "iodepth=2"]))
    assert preset.options[option] == value


@pytest.mark.parametrize(
    ("words", "option"),
    [
        ("--rw=randread $COMMON --bs=64k", "$COMMON"),
        ('--rw=randread "$@"', "$@"),
        ("--rw=randread ${EXTRA[@]}", "${EXTRA[@]}"),
        ("more.fio --rw=randread", "more.fio"),
        ("--group_reporting 1 --rw=randread", "1"),
        ("--rw=randread --iodepth=$depth", "iodepth"),
        ("--rw=randrw --rwmixwrite=$mix", "rwmixwrite"),
        ("--rw=randrw --rwmixwrite=60 --rwmixread=70", "rwmixwrite"),
        ("--rw=randread --buffered=$b", "buffered"),
        ("--rw=randread --kb_base=1000 --bs=4k", "kb_base"),
        ("--rw=randread --size=1G --io_size=100%", "io_size"),
        ("--rw=randread --iodepth --bs=4k", "iodepth"),
        ("--RW=randread", "RW"),
    ],
)
def test_what_is_not_known_of_a_command_is_no_default(words: str, option: str, own: Path) -> None:
    (given,) = find_jobs(read_log(f"fio --name=a {words}"))
    with pytest.raises(OptionError) as caught:
        adopt(given.sections[0], given.files)
    assert caught.value.option == option
    assert run(f"fio --name=a {words}") == 1
    assert written(own) == {}


@pytest.mark.parametrize(
    "text",
    [
        "fio --name=a --rw=read --bs=8k && fio --name=b --rw=write --bs=16k",
        "fio --name=a --rw=read --bs=8k; fio --name=b --rw=write --bs=16k; done",
        "for i in 1 2; do fio --name=a --rw=read --bs=8k; sleep 5; fio --name=b --rw=write --bs=16k; done",
        "kubectl exec -it pod -- fio --name=a --rw=read --bs=8k\nssh host fio --name=b --rw=write --bs=16k",
        "docker run --rm -v /x:/x tools fio --name=a --rw=read --bs=8k\nbash -c 'fio --name=b --rw=write --bs=16k'",
        'fio --name=a \\\n  --rw=read --bs=8k > /tmp/fio.txt 2>&1\nssh host "sudo fio --name=b --rw=write --bs=16k"',
    ],
)
def test_every_command_of_a_line_is_read_whoever_runs_it(text: str) -> None:
    found = [(each.name, each.options["rw"], each.options["bs"]) for each in presets(text)]
    assert found == [("a", "read", "8k"), ("b", "write", "16k")]


@pytest.mark.parametrize(
    "line",
    [
        "fio nightly.fio",
        "fio --name=b --rw=read --bs='4k",
        'command: ["fio", "--name=b", "--rw=read"]',
        "cmd = 'fio --name=b ' + options",
        'cmd = "fio --name=b" + " --rw=read"',
        "B=$(fio --name=b --rw=read); C=$(fio --name=c --rw=read --bs=8k)",
    ],
)
def test_a_command_that_is_not_read_is_named(
    line: str, own: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "notes.sh"
    path.write_text(f"fio --name=a --rw=write\n{line}\n")
    assert run(str(path)) == 4
    assert "can't become a preset" in capsys.readouterr().err
    assert set(written(own)) == {"a"}


@pytest.mark.parametrize(
    "text",
    [
        'alias speed="fio --name=a --rw=read --bs=8k"',
        'ssh host "fio --name=a --filename=\\"$FILE\\" --rw=read --bs=8k" > out',
        "fio --name=a --rbdname=x-`hostname -s`-1 --rw=read --bs=8k",
        "fio --name=a --filename=/mnt/$(date +%F -d now).img --rw=read --bs=8k",
    ],
)
def test_what_a_shell_puts_into_a_command_is_no_end_of_it(text: str) -> None:
    (preset,) = presets(text)
    assert (preset.options["rw"], preset.options["bs"], preset.target) == ("read", "8k", "")


@pytest.mark.parametrize(
    "text",
    [
        '[project]\nname = "x"\nversion = "1"\n',
        "[web]\ntimeout = 60\nsize = 3\nindex = y\n",
        "[osd]\nosd max backfills = 1\nsize = 3\n",
        "[Service]\nnice = 5\nuid = 3\n",
    ],
)
def test_a_file_of_another_program_is_no_job_file(text: str) -> None:
    assert sections(text) == []


@pytest.mark.parametrize(("keyword", "suffix"), [("iodepth 64", ".txt"), ("bs: 4k", ".txt"), ("iodepth", ".fio")])
def test_the_last_line_of_a_job_file_is_no_less_read(keyword: str, suffix: str, own: Path, tmp_path: Path) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_text(f"[a]\nrw=randread\n{keyword}\n")
    assert run(str(path)) == 1


@pytest.mark.parametrize(
    ("given", "target"),
    [
        ({"filename": "/dev/sdb:/dev/sdc"}, ""),
        ({"filename": r"/dev/disk/by-path/pci-0\:1"}, "device:/dev/disk/by-path/pci-0:1"),
        ({"filename": "$DEV"}, ""),
        ({"filename": "x", "directory": "${DIR}"}, ""),
        ({"ioengine": "rbd", "pool": "p", "rbdname": "i$jobnum"}, ""),
    ],
)
def test_what_is_no_single_target_is_not_proposed(given: dict[str, str], target: str) -> None:
    preset = adopt(JobSection("a", given))
    assert preset.target == target
    assert any(note.startswith("filename:") for note in preset.notes) is (":/" in given.get("filename", ""))


def test_more_jobs_than_a_sweep_has_steps_are_presets_and_far_more_are_refused(own: Path, tmp_path: Path) -> None:
    path = tmp_path / "many.fio"
    jobs = [f"[j{number}]\nbs={512 * number}\n" for number in range(1, 1100)]
    path.write_text("[global]\nrw=read\nstonewall\n" + "".join(jobs[:210]))
    assert run(str(path)) == 0
    assert len(written(own)) == 210
    path.write_text("[global]\nrw=read\nstonewall\n" + "".join(jobs))
    with pytest.raises(click.UsageError):
        run(str(path))


def test_yaml_with_a_job_file_in_it_is_read(own: Path, tmp_path: Path) -> None:
    path = tmp_path / "config-map.yaml"
    path.write_text("kind: ConfigMap\ndata:\n  job.fio: |\n    [a]\n    rw=randread\n    bs=8k\n")
    assert run(str(path)) == 0
    assert written(own)["a"].file.options["bs"] == "8k"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rados bench -p x 60 write -b 4096; rados bench -p x 30 seq", {"write": 16, "seq": 16}),
        ("rados bench -p x 60 write && rados bench -p x 30 rand -t 4", {"write": 16, "rand": 4}),
        ("for i in 1 2; do rados bench -p x 60 write -t 8; rados bench -p x 9 seq -t 2; done", {"write": 8, "seq": 2}),
        ('rados bench -p x 60 write -t 2 --run-name "a b" > /tmp/x 2>&1', {"write": 2}),
    ],
)
def test_every_rados_command_of_a_line_is_one_of_its_own(text: str, expected: dict[str, int], own: Path) -> None:
    assert run(text) == 0
    found = [each.file.options for each in written(own).values()]
    assert {each["mode"]: each["concurrent-ios"] for each in found} == expected


@pytest.mark.parametrize("words", ["60 write $MORE", "60 $MODE", "$SECONDS write", "60 write -b $SIZE", "60 write 4k"])
def test_what_is_not_known_of_a_rados_command_is_no_default(words: str, own: Path, tmp_path: Path) -> None:
    path = tmp_path / "bench.sh"
    path.write_text(f"rados bench -p $POOL {words}\n")
    assert run(str(path)) == 1
    path.write_text(f"rados bench -p $POOL {words}\nrados bench -p x 30 seq\n")
    assert run(str(path)) == 4
    assert {each.file.options["mode"] for each in written(own).values()} == {"seq"}


@pytest.mark.parametrize(("line", "is_taken"), [("bs =8k", True), ("bs = 8k", False), ("bs = 8192", True)])
def test_a_blank_before_a_value_is_what_it_is_to_fio(line: str, is_taken: bool, tmp_path: Path) -> None:
    """Of ``bs = 8k`` fio makes blocks of 8 bytes."""
    path = tmp_path / "a.fio"
    path.write_text(f"[a]\nioengine=null\nsize=8k\n{line}\n")
    argv = ["fio", "--output-format=json", str(path)]
    done = subprocess.run(argv, capture_output=True, text=True, check=True, cwd=tmp_path, timeout=60)
    document = json.loads(done.stdout[done.stdout.index("{") :])
    assert (document["jobs"][0]["read"]["total_ios"] == 1) is is_taken
    text = f"[a]\nsize=8k\n{line}\n"
    if is_taken:
        assert presets(text)[0].options["bs"] == "8k"
        return
    with pytest.raises(OptionError):
        presets(text)


def test_a_warm_cache_is_not_called_needless() -> None:
    reasons = [dict(adopt(JobSection("a", {"invalidate": value})).left_out)["invalidate"] for value in "01"]
    assert [reason.startswith("not needed") for reason in reasons] == [False, True]


def test_text_comes_from_a_pipe(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", type("Pipe", (), {"read": lambda *_: BY_HAND, "isatty": lambda _: False})())
    assert sys.stdin.read() == BY_HAND
    assert run("-") == 0
    assert set(written(own)) == {"write_throughput", "write_iops", "read_throughput", "read_iops"}


def test_values_are_written_as_toml_has_them() -> None:
    options: dict[str, OptionValue | list[OptionValue]] = {"rw": ["read", "write"], "bs": "4k", "runtime": 1.5}
    text = import_preset.toml_of(Adopted('a "b"', "fio", options), "x")
    assert 'title = "a \\"b\\""' in text
    assert 'rw = ["read", "write"]' in text
    assert "runtime = 1.5" in text
