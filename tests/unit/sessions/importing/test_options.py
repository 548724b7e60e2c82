"""What an imported run was asked to do: all options that are named take part, and what is not known is not alike."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cephtui.analysis.runs.batches import group
from cephtui.analysis.runs.sides import Side
from cephtui.analysis.verdicts.conditions import differences
from cephtui.models import Run
from cephtui.models.rows import Difference
from cephtui.reports.words.differing import what_differs
from cephtui.reports.words.text import conditions
from cephtui.sessions.importing import Numbering
from cephtui.sessions.log_files import LogFile
from cephtui.tools.fio.saved import find_runs
from cephtui.tools.logs import read_log
from tests import RECORDINGS
from tests.support.drawings import draw_comparison, printed
from tests.support.imported import import_texts
from tests.support.logs import COMMAND, WRITES

LOGS = RECORDINGS / "logs"
DOCUMENT = (LOGS / "fio-3.33-json.txt").read_text()
OTHERS = {
    "atomic": "1",
    "ba": "8k",
    "bs_is_seq_rand": "1",
    "bsrange": "4k-64k",
    "bssplit": "4k/50:64k/50",
    "buffer_pattern": "0xdeadbeef",
    "buffered": "1",
    "clientname": "guest",
    "clocksource": "cpu",
    "cpus_allowed": "0-3",
    "dedupe_mode": "working_set",
    "direct": "0",
    "fadvise_hint": "0",
    "fallocate": "none",
    "fdatasync": "1",
    "file_service_type": "random",
    "filesize": "1G",
    "flow": "8",
    "fsync": "1",
    "fsync_on_close": "1",
    "gtod_reduce": "1",
    "invalidate": "0",
    "invented_tomorrow": "7",
    "iodepth_low": "8",
    "io_submit_mode": "offload",
    "iomem": "mmaphuge",
    "latency_target": "2ms",
    "lockmem": "1G",
    "loops": "3",
    "max_latency": "10ms",
    "nice": "10",
    "norandommap": "1",
    "nrfiles": "16",
    "number_ios": "1000",
    "offset": "1G",
    "offset_increment": "1G",
    "openfiles": "4",
    "prio": "7",
    "ramp_time": "5",
    "rand_seed_of_mine": "x",
    "randrepeat": "0",
    "random_distribution": "zoned:50/5:30/15:20/80",
    "random_generator": "lfsr",
    "rate": "1m,500k",
    "rate_iops": "500",
    "rate_min": "1m",
    "rw_sequencer": "identical",
    "scramble_buffers": "0",
    "size": "10%",
    "startdelay": "5",
    "steadystate": "iops:10%",
    "sync": "1",
    "thinktime": "100",
    "thread": "1",
    "unified_rw_reporting": "1",
    "verify": "crc32c",
    "write_barrier": "4",
    "zero_buffers": "1",
    "zonemode": "zbd",
    "zonesize": "256M",
}
"""Options of fio that the recorded command does not have, with values that are not their defaults."""
OUTPUTS = ("--output=a.txt", "--output-format=normal", "--write_bw_log=w", "--eta=never", "--minimal")


def runs_of(*texts: str) -> list[Run]:
    numbering = Numbering()
    return [
        numbering.run("s", LogFile(Path(f"{number}.txt")), "fio", found)
        for number, text in enumerate(texts)
        for found in find_runs(read_log(text))
    ]


def apart(left: Run, right: Run) -> list[Difference]:
    return [each for each in differences(Side((left,)), Side((right,))) if each.topic == "option"]


def unknown(left: Run, right: Run) -> list[tuple[str, str]]:
    found = differences(Side((left,)), Side((right,)))
    return [(each.left, each.right) for each in found if each.topic == "not known"]


def by_command(option: str) -> str:
    several = option.startswith(("--bssplit=", "--bsrange="))
    output = WRITES.replace("4096B-4096B", "4096B-64.0KiB") if several else WRITES
    return COMMAND.replace("--verify=0", f"--verify=0 {option}") + output


def by_json(**options: str) -> str:
    start = DOCUMENT.index("{")
    content = json.JSONDecoder().raw_decode(DOCUMENT, start)[0]
    for job in content["jobs"]:
        job["job options"] |= options
    return json.dumps(content, indent=1)


@pytest.mark.parametrize(
    ("option", "is_smaller"),
    [
        ("zero_buffers=1", True),
        ("buffer_pattern=0xdeadbeef", True),
        ("buffer_compress_percentage=50", True),
        ("scramble_buffers=0", True),
        ("scramble_buffers=0 --refill_buffers=1", False),
        ("refill_buffers=1", False),
        ("buffer_compress_percentage=0", False),
    ],
)
def test_data_that_storage_can_make_smaller_is_told(option: str, is_smaller: bool) -> None:
    (run,) = runs_of(by_command(f"--{option}"))
    assert ("compressible" in [finding.code for finding in run.findings]) == is_smaller


@pytest.mark.parametrize("option", OTHERS)
def test_runs_that_differ_in_any_option_never_differ_in_nothing(option: str) -> None:
    plain, other = runs_of(by_command(""), by_command(f"--{option}={OTHERS[option]}"))
    assert other.has_all_options
    assert [each for each in apart(plain, other) if each.right not in ("unknown", each.left)]
    in_json, other_json = runs_of(by_json(), by_json(**{option: OTHERS[option]}))
    assert [each for each in apart(in_json, other_json) if each.right not in ("unknown", each.left)]
    assert len(group([plain, other])) == 2
    if option not in ("ramp_time", "direct", "buffered"):
        assert option in conditions(other)


@given(
    st.from_regex(r"[a-z]{3,8}_[a-z]{3,8}", fullmatch=True),
    st.text("abcdefghij0123456789/:,.%", min_size=1, max_size=12),
)
def test_an_option_that_nobody_knows_is_kept_and_compared(option: str, value: str) -> None:
    plain, other, same = runs_of(*(by_command(each) for each in ("", *[f"--{option}={value}"] * 2)))
    assert [(each.name, each.left, each.right) for each in apart(plain, other)] == [(option, "default", value)]
    assert apart(other, same) == []


@pytest.mark.parametrize("word", OUTPUTS)
def test_where_output_goes_is_no_difference(word: str) -> None:
    plain, other = runs_of(by_command(""), by_command(word))
    assert apart(plain, other) == []


@pytest.mark.parametrize("words", ["--verify=0", "--fsync=0", "--blocksize=4k --bs=4096", "--direct=1 2>/dev/null"])
def test_a_default_that_is_named_is_no_difference(words: str) -> None:
    plain, other = runs_of(by_command("").replace("--verify=0", ""), by_command(words))
    assert apart(plain, other) == []


def test_what_the_shell_puts_in_is_not_known_and_never_equal() -> None:
    one, two = runs_of(*[by_command("--rate_iops=$r")] * 2)
    assert "rate_iops=$r" in conditions(one)
    assert apart(one, two) == []
    assert unknown(one, two) == [("options, nodes, cluster",) * 2]
    (known, same), other = runs_of(by_command("") * 2), runs_of(by_command("--rate_iops=$r") * 2)
    assert [known.repeat, same.repeat] == [1, 2]
    assert [run.repeat for run in other] == [1, 1]


def test_options_of_a_job_file_that_is_not_there_are_not_known() -> None:
    plain, other = runs_of(by_command(""), by_command("more.fio"))
    assert (plain.has_all_options, other.has_all_options) == (True, False)
    assert unknown(plain, other) == [("nodes, cluster", "options, nodes, cluster")]


def test_of_runs_without_their_command_nothing_is_said_to_be_alike() -> None:
    one, two = runs_of(WRITES, WRITES)
    assert unknown(one, two) == [("target, options, nodes, cluster",) * 2]
    text = printed(draw_comparison(Side((one,)), Side((two,))))
    assert "no difference" not in text
    assert "not known" in text


def test_fio_s_json_does_not_have_what_has_no_value() -> None:
    one, two = runs_of(by_json(), by_command(""))
    assert unknown(one, two)[0][0].startswith("options without a value")
    assert {(each.name, each.left) for each in apart(one, two)} >= {("group_reporting", "unknown")}


def test_jobs_that_differ_are_a_list() -> None:
    start = DOCUMENT.index("{")
    content = json.JSONDecoder().raw_decode(DOCUMENT, start)[0]
    job = content["jobs"][0]
    other = {**job, "job options": {**job["job options"], "rate_iops": "5"}}
    (run,) = runs_of(json.dumps({**content, "jobs": [job, job, other]}, indent=1))
    assert run.other_options["rate_iops"] == "200 x 2, 5"
    assert "rate_iops" not in run.options


def test_sessions_of_an_earlier_version_do_not_know_all_options(tmp_path: Path) -> None:
    (run,) = import_texts(tmp_path, "s", {"a.txt": by_command("")})
    assert run.has_all_options
    kept = {name: value for name, value in json.loads(run.model_dump_json()).items() if name != "has_all_options"}
    old = Run.model_validate(kept)
    assert unknown(old, run) == [("options, nodes, cluster", "nodes, cluster")]


# ---------------------------------------------------------------------------- which command a run belongs to

FIO_RUNS = RECORDINGS / "asked"
"""Output of fio 3.33, each with its command."""


def recorded(name: str) -> tuple[str, str]:
    """The command with its prompt, and the output."""
    command, _, output = (FIO_RUNS / f"{name}.txt").read_text().partition("\n")
    return f"{command}\n", output


@pytest.mark.parametrize("name", ["one", "eight", "eight-grouped", "two-sizes", "sections", "split"])
def test_a_run_has_its_own_command_and_no_other(name: str) -> None:
    command, output = recorded(name)
    for others in ("", *(recorded(other)[0] for other in ("one", "eight", "two-sizes", "split"))):
        found = find_runs(read_log(f"{others}{command}{output}"))
        assert {run.command for run in found} == {command.removeprefix("root@pve1:~# ").strip()}
        assert all(run.has_all_options for run in found)
    for other in ("one", "eight", "two-sizes", "sections", "split"):
        if other != name and not name.startswith(other):
            assert {run.command for run in find_runs(read_log(recorded(other)[0] + output))} == {""}


@pytest.mark.parametrize("names", [("one", "eight"), ("eight", "one"), ("one", "eight-grouped"), ("split", "one")])
def test_commands_before_all_outputs_go_to_their_own_runs(names: tuple[str, str]) -> None:
    (one, first), (two, second) = map(recorded, names)
    found = runs_of(one + two + first + second)
    assert [f"root@pve1:~# {run.command}\n" for run in found] == [one, two]
    assert [run.repeat for run in found] == [1, 1]


def test_commands_that_differ_in_what_is_not_printed_belong_to_none() -> None:
    command, output = recorded("one")
    synced = command.replace("--runtime=1", "--runtime=1 --fsync=1")
    assert [run.has_all_options for run in runs_of(command + synced + output + output)] == [False, False]
    assert [run.has_all_options for run in runs_of(command + output + synced + output)] == [True, True]
    assert [run.has_all_options for run in runs_of(command + output + output)] == [True, True]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Starting 1 process", "Starting 2 processes"),
        ("jobs=1", "jobs=3"),
        ("rw=randwrite", "rw=write"),
        ("ioengine=psync", "ioengine=libaio"),
        ("iodepth=1", "iodepth=16"),
        ("4096B-4096B", "8192B-8192B"),
        ("(T) 4096B-4096B", "(T) 4096B-8192B"),
    ],
)
def test_all_that_is_printed_has_to_agree(old: str, new: str) -> None:
    command, output = recorded("one")
    assert old in output
    (run,) = find_runs(read_log(command + output.replace(old, new)))
    assert (run.command, run.has_all_options) == ("", False)


def test_the_report_of_a_group_is_of_all_its_jobs() -> None:
    first, second = runs_of("".join(recorded("sections")))
    assert (first.options["numjobs"], first.other_options["rw"]) == (3, "read, write")
    assert (second.options["numjobs"], second.options["rw"]) == (1, "randread")


def test_what_no_preset_can_have_is_among_what_differs() -> None:
    (run,) = runs_of(by_command("--bssplit=4k/50:64k/50"))
    assert "bssplit=4k/50:64k/50" in what_differs(run, None)
