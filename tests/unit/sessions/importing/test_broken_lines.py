"""Saved output of fio whose long lines a mail has broken, or of which only some lines were kept."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

from cephtui.cli.verbs import cli
from cephtui.exit_codes import EXIT_FAILED
from cephtui.tools.commands import command_lines
from cephtui.tools.fio.commands import find_commands
from cephtui.tools.fio.saved import find_runs
from cephtui.tools.logs import FoundRun, read_log
from tests import RECORDINGS
from tests.support.known import known

TEXTS = (
    "logs/fio-2.2.10-text.txt",
    "logs/fio-3.1-text.txt",
    "logs/fio-3.16-text.txt",
    "logs/fio-3.33-error.txt",
    "logs/fio-3.33-groups.txt",
    "logs/fio-3.33-mixed.txt",
    "logs/fio-3.33-text.txt",
    "asked/eight.txt",
    "asked/split.txt",
    "flushes/dsync.txt",
)
WIDTHS = (66, 72, 76, 80)


def broken(text: str, width: int, *, quote: str = "") -> str:
    """As a mail has it: broken at blanks, and quoted in an answer."""
    wrapped = (textwrap.wrap(line, width, break_long_words=False, break_on_hyphens=False) for line in text.split("\n"))
    return "".join(f"{quote}{piece}\n" for pieces in wrapped for piece in pieces or [""])


def runs_in(text: str) -> list[FoundRun]:
    return find_runs(read_log(text))


def what_is_read(run: FoundRun) -> object:
    """All but its place in the log."""
    asked = (run.options, run.other_options, run.has_all_options, run.target, run.command, run.node, run.version)
    return run.name, asked, run.summary, run.jobs, run.error, run.disks, run.started_at


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", TEXTS)
def test_a_run_is_the_same_in_a_mail_that_has_broken_its_lines(name: str, width: int) -> None:
    text = (RECORDINGS / name).read_text()
    for quote in ("", "> ", ">> > "):
        mailed = broken(text, width, quote=quote)
        assert len(mailed.splitlines()) > len(text.splitlines())
        assert list(map(what_is_read, runs_in(mailed))) == list(map(what_is_read, runs_in(text)))


COMMAND = "fio --name=a --rw=randwrite --bs=16k --size=1G --iodepth=8 --direct=1 --filename=/dev/vdx --ioengine=libaio"
OUTPUT = """\
a: (g=0): rw=randwrite, bs=(R) 16.0KiB-16.0KiB, (W) 16.0KiB-16.0KiB, (T) 16.0KiB-16.0KiB, ioengine=libaio, iodepth=8
fio-3.33
Starting 1 process

a: (groupid=0, jobs=1): err= 0: pid=77: Fri May  2 10:00:10 2025
  write: IOPS=1000, BW=15.6MiB/s (16.4MB/s)(156MiB/10000msec); 0 zone resets
    clat (usec): min=90, max=9000, avg=400.00, stdev=20.00
"""
BREAKS = ("\n", " \\\n    ", " --\n", " -\n")


@pytest.mark.parametrize("at", range(1, 8))
@pytest.mark.parametrize("how", BREAKS)
def test_a_command_that_is_broken_before_an_option_has_all_of_them(how: str, at: int) -> None:
    words = COMMAND.split()
    first, rest = " ".join(words[: at + 1]), " ".join(words[at + 1 :])
    rest = rest.removeprefix("--") if how == " --\n" else rest.removeprefix("-") if how == " -\n" else rest
    (run,) = runs_in(f"root@pve1:~# {first}{how}{rest}\n{OUTPUT}")
    (whole,) = runs_in(f"root@pve1:~# {COMMAND}\n{OUTPUT}")
    given = dict(re.findall(r"--(\w+)=(\S+)", COMMAND))
    assert {name: str(run.options[name]) for name in ("rw", "bs", "iodepth", "ioengine", "size")} == {
        name: given[name] for name in ("rw", "bs", "iodepth", "ioengine", "size")
    }
    assert (run.options, run.has_all_options, run.target) == (whole.options, True, "device:/dev/vdx")


@pytest.mark.parametrize(
    ("first", "rest"), [("--dire", "ct=1 --size=1G"), ("--direct=", "1"), ("--direct", "1 --size=1G")]
)
def test_a_command_that_goes_on_in_the_midst_of_an_option_is_not_known_in_full(first: str, rest: str) -> None:
    (run,) = runs_in(f"# fio --name=a --rw=randwrite --bs=16k --iodepth=8 --ioengine=libaio {first}\n{rest}\n{OUTPUT}")
    assert not run.has_all_options
    assert "size" not in run.options


def test_what_follows_a_command_is_none_of_its_options() -> None:
    listed = "-rw-r--r-- 1 root root 7 May  2 10:00 a.out"
    for line in (listed, "--", "--- a ---", "- a: b", "a --", "see --help of fio", "# date", "fio --name=b --rw=read"):
        (run,) = runs_in(f"# {COMMAND}\n{line}\n{OUTPUT}")
        assert (run.command, run.has_all_options) == (COMMAND, True), line


def test_a_line_that_is_part_of_a_command_begins_none() -> None:
    """Else a log of such lines takes a time that grows with the length of a command, too."""
    lines = [f"# fio --name=a --rw=read --size={number}M \\" for number in range(2000)]
    found = [command for commands in find_commands(read_log("\n".join(lines))).values() for command in commands]
    assert 1 <= len(found) < 2000 / 100
    assert len(command_lines(read_log("\n".join(lines)), "fio")) == len(found)


# ---------------------------------------------------------------------------------------------- some lines only


def test_the_first_lines_of_reports_are_no_runs_that_failed(tmp_path: Path) -> None:
    """As ``grep err= *.log`` finds them."""
    found = [line for line in OUTPUT.splitlines() if "err=" in line]
    (tmp_path / "grep.txt").write_text("".join(f"{line}\n" for line in found * 3))
    assert cli.main(["import", "--dry-run", str(tmp_path / "grep.txt")], standalone_mode=False) == EXIT_FAILED
    assert runs_in("\n".join(found)) == []
    (run,) = runs_in("\n".join([*found * 3, "", OUTPUT]))
    assert known(run.summary.write).iops == 1000


@pytest.mark.parametrize("number", ["5", "-17024"])
def test_an_error_in_the_first_line_of_a_report_is_one(number: str) -> None:
    head = f"a: (groupid=0, jobs=1): err={number} (file:io_u.c:1889, func=io_u error, error=Some error): pid=7: "
    (run,) = runs_in(f"{head}Fri May  2 10:00:10 2025\n")
    assert run.error == "Some error"


def test_iops_of_jobs_whose_ios_were_not_kept_are_those_of_their_rates() -> None:
    jobs = "".join(
        f"j{number}: (groupid=0, jobs=1): err= 0: pid={number}: Fri May  2 10:00:10 2025\n"
        f"  read: IOPS={rate}, BW={rate * 4}KiB/s ({rate * 4}kB/s)({rate * 4 * 10}KiB/10000msec)\n"
        for number, rate in enumerate((100, 250, 400))
    )
    (run,) = runs_in(jobs)
    rates = [int(rate) for rate in re.findall(r"IOPS=(\d+)", jobs)]
    assert known(run.summary.read).iops == pytest.approx(sum(rates))
    assert known(run.summary.read).ios is None
