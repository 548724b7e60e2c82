"""What may be asked of fio, and the command lines that come of it."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cephtui.models import FilePlace
from cephtui.tools.base import OptionError
from cephtui.tools.fio import Fio
from cephtui.tools.fio.options import FioOptions
from cephtui.units import parse_size
from tests.support.golden import Golden

FIO = Fio()
TARGET = FilePlace(kind="file", path="/mnt/bench/test")
MIB = 1 << 20


def check(**options: object) -> dict[str, Any]:
    return FIO.check_options({"rw": "randwrite", **options})


def refusal(**options: object) -> str:
    with pytest.raises(OptionError) as error:
        check(**options)
    assert error.value.option in options
    return str(error.value)


def argv(size_bytes: int = MIB, **options: object) -> tuple[str, ...]:
    return FIO.bind(check(**options)).argv("test", size_bytes, TARGET)


# ---------------------------------------------------------------------------------------------- checking


def test_defaults() -> None:
    assert check() == {
        "rw": "randwrite",
        "bs": "4k",
        "iodepth": 1,
        "numjobs": 1,
        "ioengine": "libaio",
        "direct": True,
        "time_based": True,
        "runtime": 60,
        "ramp_time": 2,
        "group_reporting": True,
    }


@pytest.mark.parametrize(
    ("option", "text", "value"),
    [
        ("iodepth", "64", 64),
        ("numjobs", "1024", 1024),
        ("direct", "0", False),
        ("direct", "true", True),
        ("time_based", "no", False),
        ("runtime", "90s", 90.0),
        ("runtime", "1.5m", 90.0),
        ("runtime", "2.0004", 2.0),
        ("ramp_time", "0", 0.0),
        ("size", "64M", "64M"),
        ("bs", 4096, "4096"),
        ("rwmixread", "75", 75),
        ("random_distribution", "zipf:1.2", "zipf:1.2"),
        ("sync", "dsync", "dsync"),
    ],
)
def test_text_becomes_a_value(option: str, text: object, value: object) -> None:
    assert check(**{option: text})[option] == value


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("iodepth", 0),
        ("iodepth", 65537),
        ("numjobs", 0),
        ("numjobs", 1025),
        ("numjobs", "many"),
        ("numjobs", 1.5),
        ("rwmixread", 101),
        ("rwmixread", -1),
        ("runtime", -1),
        ("runtime", 8 * 86400),
        ("runtime", "soon"),
        ("runtime", float("nan")),
        ("runtime", float("inf")),
        ("ramp_time", "-1"),
        ("rate_iops", 0),
        ("size", "1GiB"),
        ("size", "0"),
        ("size", "50%"),
        ("bs", "4KiB"),
        ("bs", True),
        ("direct", 2),
        ("direct", "perhaps"),
        ("rw", "trim"),
        ("rw", "randwrite --exec_prerun=reboot"),
        ("ioengine", "rbd"),
        ("ioengine", "external:/tmp/x.so"),
        ("sync", "true"),
        ("random_distribution", "zipf:1.2#"),
    ],
)
def test_bad_values_are_refused_with_what_was_expected(option: str, value: object, golden: Golden) -> None:
    text = refusal(**{option: value})
    assert text.startswith(f"{option}: ")
    golden.same(text)
    assert str(value) in text


ALIASES = {
    "readwrite": ("rw", "randread"),
    "blocksize": ("bs", "64k"),
    "io_limit": ("io_size", "1G"),
    "timeout": ("runtime", 30.0),
    "iodepth_batch": ("iodepth_batch_submit", 4),
    "iodepth_batch_complete": ("iodepth_batch_complete_min", 2),
}


def test_every_other_name_that_fio_has_is_known() -> None:
    fio = shutil.which("fio")
    assert fio, "fio is not installed: apt-get install fio"
    said = set()
    for name in FioOptions.model_fields:
        told = subprocess.run([fio, f"--cmdhelp={name}"], capture_output=True, text=True, check=False).stdout
        said |= {frozenset(names) for names in re.findall(r"^ *(\w+): .*\n *alias: (\w+)$", told, re.MULTILINE)}
    assert said == {frozenset((alias, name)) for alias, (name, _) in ALIASES.items()}


@pytest.mark.parametrize("alias", ALIASES)
def test_another_name_is_the_same_option_once(alias: str, golden: Golden) -> None:
    name, value = ALIASES[alias]
    others = {"rw": "randwrite"} if name != "rw" else {}
    checked = FIO.check_options({**others, alias: value})
    assert checked == FIO.check_options({**others, name: value})
    assert alias not in checked
    assert FIO.canonical({**others, alias: [value]}) == {**others, name: [value]}
    with golden.raises(OptionError):
        FIO.check_options({**others, alias: value, name: value})


def test_what_to_do_must_be_said(golden: Golden) -> None:
    with golden.raises(OptionError):
        FIO.check_options({"bs": "4k"})


@pytest.mark.parametrize("runtime", [0, "0", 0.0004])
def test_a_time_based_run_needs_a_time(runtime: object) -> None:
    assert "more than 0 with time_based" in refusal(runtime=runtime)
    assert check(runtime=runtime, time_based=False)["runtime"] == 0


@pytest.mark.parametrize(
    "options",
    [
        "filename directory offset offset_increment pool rbdname clientname filesize nrfiles opendir",
        "exec_prerun exec_postrun ioscheduler",
        "output output-format status-interval write_bw_log bw_log write_lat_log log_avg_msec write_iolog read_iolog "
        "replay_redirect per_job_log",
        "allow_mounted_write overwrite unlink create_only fallocate",
        "gtod_reduce disable_clat percentile_list zero_buffers",
    ],
)
def test_dangerous_options_are_refused_with_the_reason_that_they_share(options: str, golden: Golden) -> None:
    told = {option: refusal(**{option: "1"}) for option in options.split()}
    (reason,) = {text.removeprefix(f"{option}: ") for option, text in told.items()}
    golden.same(reason)


@pytest.mark.parametrize("option", ["loops", "lockmem", "name", "stonewall", "verify", "numa_cpu_nodes"])
def test_what_needs_no_option_is_answered_with_the_reason(option: str, golden: Golden) -> None:
    text = refusal(**{option: "1"})
    assert text.startswith(f"{option}: ")
    golden.same(text)


def test_unknown_options_are_refused_with_what_is_near(golden: Golden) -> None:
    golden.same(refusal(iodpeth=4))
    assert refusal(zzz=4).startswith("zzz: unknown option (known: rw, bs, iodepth, ")


@given(st.text(min_size=1, max_size=20), st.text(max_size=10))
def test_only_known_options_pass(option: str, value: str) -> None:
    try:
        checked = check(**{option: value})
    except OptionError:
        return
    assert set(checked) <= set(FioOptions.model_fields)


@given(st.sampled_from(sorted(FioOptions.model_fields)), st.text(max_size=12) | st.integers() | st.floats())
def test_no_value_can_start_another_option_or_a_comment(option: str, value: object) -> None:
    """fio ends a value at # and ; wherever it comes from."""
    try:
        line = argv(MIB, **{option: value})
    except OptionError:
        return
    assert all(argument.startswith("--") for argument in line[1:])
    assert not set("".join(line)) & set("#; \n\x00")


# ---------------------------------------------------------------------------------------------- command lines


def test_the_command_that_measures() -> None:
    line = argv(size_bytes=128 * MIB, bs="4k", iodepth=64, numjobs=8)
    assert shlex.join(line) == (
        "fio --name=test --filename=/mnt/bench/test --rw=randwrite --bs=4k --iodepth=64 --numjobs=8 --ioengine=libaio "
        "--direct=1 --time_based --runtime=60 --ramp_time=2 --group_reporting --size=128M --offset_increment=128M "
        "--output-format=json+ --status-interval=1"
    )


def test_one_job_needs_no_offset() -> None:
    assert not [argument for argument in argv(numjobs=1) if argument.startswith("--offset")]


def test_what_is_off_is_left_out() -> None:
    line = argv(ramp_time=0, time_based=False, group_reporting=False, direct=False, end_fsync=False)
    assert "--direct=0" in line
    assert "--end_fsync=0" in line
    assert not [argument for argument in line if "ramp_time" in argument or "based" in argument or "group" in argument]


@pytest.mark.parametrize(
    ("runtime", "argument"),
    [
        ("60", "60"),
        ("5m", "300"),
        ("7d", "604800"),
        ("0.5", "500ms"),
        ("1.25", "1250ms"),
        ("123456.789", "123456789ms"),
    ],
)
def test_fractions_of_a_second_are_milliseconds(runtime: str, argument: str) -> None:
    """fio would cut off what is behind the point."""
    assert f"--runtime={argument}" in argv(runtime=runtime)
    assert f"--ramp_time={argument}" in argv(ramp_time=runtime)


def test_times() -> None:
    assert FIO.bind(check(runtime="1m", ramp_time=3)).times() == (3.0, 60.0)
    assert FIO.bind(check(time_based=False, ramp_time=0)).times() == (0.0, None)


# ---------------------------------------------------------------------------------------------- size


def test_the_default_divides_the_span_by_the_jobs() -> None:
    assert FIO.bind(check(numjobs=8)).jobs_and_size(1 << 30) == (8, 128 * MIB)
    assert FIO.bind(check(numjobs=3)).jobs_and_size(1 << 30) == (3, 341 * MIB)


def test_size_is_per_job() -> None:
    assert FIO.bind(check(numjobs=4, size="64M")).jobs_and_size(1 << 30) == (4, 64 * MIB)


def test_size_is_whole_blocks() -> None:
    assert FIO.bind(check(bs="64k", size="100k")).jobs_and_size(1 << 30) == (1, 64 << 10)
    assert FIO.bind(check(bs="3M", numjobs=2)).jobs_and_size(16 * MIB) == (2, 6 * MIB)
    assert FIO.bind(check(numjobs=1024, bs="4k")).jobs_and_size(8 * MIB) == (1024, 8 << 10)


@pytest.mark.parametrize(("bs", "size"), [("1M", "4k"), ("4M", "4194303")])
def test_less_than_a_block_is_refused(bs: str, size: str, golden: Golden) -> None:
    with golden.raises(OptionError):
        FIO.bind(check(bs=bs, size=size)).jobs_and_size(1 << 30)


@given(
    jobs=st.integers(1, 64),
    block=st.sampled_from(["512", "4k", "64k", "1M", "3M"]),
    size=st.none() | st.integers(1, 1 << 34),
    span=st.integers(1, 1 << 40),
)
def test_regions_fit_and_do_not_overlap(jobs: int, block: str, size: int | None, span: int) -> None:
    options = check(numjobs=jobs, bs=block, **({} if size is None else {"size": size}))
    try:
        found, each = FIO.bind(options).jobs_and_size(span)
    except OptionError:
        assert (size or span // jobs) < parse_size(block)
        return
    assert found == jobs
    assert each % parse_size(block) == 0 or each % MIB == 0
    assert 0 < each <= (size or span // jobs)
    line = FIO.bind(options).argv("x", each, TARGET)
    assert [parse_size(a.partition("=")[2]) for a in line if a.startswith("--size=")] == [each]
    assert [parse_size(a.partition("=")[2]) for a in line if a.startswith("--offset_increment=")] == [each] * (jobs > 1)


# ---------------------------------------------------------------------------------------------- filling


def fill(span: int, **options: object) -> list[str]:
    return list(FIO.bind(check(**options)).prefill_argv([span], TARGET))


def test_the_command_that_fills() -> None:
    assert shlex.join(fill(1 << 30, rw="randread", numjobs=8, bs="4k", iodepth=1)) == (
        "fio --name=fill --filename=/mnt/bench/test --rw=write --bs=1M --iodepth=16 --ioengine=libaio --direct=1 "
        "--size=1G --end_fsync=1 --output-format=json+ --status-interval=1"
    )


@given(span=st.integers(1, 1 << 30).map(lambda blocks: blocks * 4096))
def test_a_filling_writes_every_byte(span: int) -> None:
    arguments = dict(a.removeprefix("--").split("=", 1) for a in fill(span)[1:])
    assert parse_size(arguments["size"]) == span
    assert span % parse_size(arguments["bs"]) == 0
    assert 4096 <= parse_size(arguments["bs"]) <= MIB


def test_a_filling_goes_the_same_way_as_the_benchmark() -> None:
    assert {"--ioengine=psync", "--direct=0"} <= set(fill(MIB, ioengine="psync", direct=False))
    assert "--bs=512" in fill(1536, bs="512")


# ---------------------------------------------------------------------------------------------- versions


@pytest.mark.parametrize("text", ["fio-3.1", "fio-3.33", "fio-3.41-dirty", "fio-4.0", "fio-3.41-12-gdeadbeef"])
def test_versions_that_do(text: str) -> None:
    assert FIO.check_version(text) is None


@pytest.mark.parametrize("text", ["fio-2.21", "fio-3.0", "fio-3", "what?"])
def test_versions_that_do_not(text: str, golden: Golden) -> None:
    problem = FIO.check_version(text)
    assert problem is not None
    assert text in problem
    golden.same(problem)


@pytest.mark.parametrize("text", [None, ""])
def test_no_fio(text: str | None, golden: Golden) -> None:
    golden.same(FIO.check_version(text))
