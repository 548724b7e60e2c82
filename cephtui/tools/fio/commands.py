"""The command lines in a log of fio, and which of them a run belongs to: one that all agrees with that fio printed."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence

from cephtui.frozen import dataclass
from cephtui.tools.commands import command_places
from cephtui.tools.fio.given import JobSection, canonical_options, plain_size, read_command, stored_options
from cephtui.tools.fio.saved_options import SavedOptions, saved_options
from cephtui.tools.logs import Log, LogLine, command_pattern, host_of, is_variable, whole_command, without_output
from cephtui.units import parse_size

COMMAND = command_pattern("fio")
_COMMANDS_MOST = 100
"""Commands of one job's name that a run is held against."""
_SAME = 0.006
"""The fraction by which a block size that was printed with three digits may be off."""
_DIRECTIONS = 3


@dataclass(frozen=True, slots=True)
class FioPrinted:
    """The output of one start of fio as far as a command may agree with it."""

    line: int
    """The line of its first job."""
    settings: Mapping[str, Mapping[str, str]]
    """Settings by the job's name, where they are printed."""
    blocks: Mapping[str, Sequence[int]]
    """The bounds of the block sizes by the job's name; empty where they are not printed."""
    jobs: Mapping[str, int]
    """The number of jobs in each report, by its name."""
    reports: int
    groups: int
    """That the reports are of."""
    starting: int
    """How many were started; 0 where that is not printed."""


@dataclass(frozen=True, slots=True)
class FioCommand:
    """A command line in the log, before any output of it."""

    line: int
    text: str
    node: str
    sections: Mapping[str, JobSection]
    is_all: bool
    """Whether it names no job file, which would have more options."""

    def saved_options(self, names: Sequence[str], printed: Mapping[str, str]) -> SavedOptions:
        """The options of jobs that ran at the same time; a block size is exact here and rounded in what fio prints."""
        job_options = [self.sections[name].options if name in self.sections else {} for name in names]
        exact = saved_options(job_options, {}, is_all=self.is_all).options
        rounded = {name: value for name, value in printed.items() if name != "bs" or name not in exact}
        return saved_options(job_options, rounded, is_all=self.is_all)

    def agrees(self, printed: FioPrinted) -> bool:
        """Whether it may be what was started: its jobs, how many there are, and what is printed of each."""
        if not printed.settings.keys() | printed.jobs.keys() <= self.sections.keys():
            return False
        if self.is_all and printed.settings and printed.settings.keys() != self.sections.keys():
            return False
        return self._has_jobs(printed) and all(
            self._has(name, printed) for name in printed.settings.keys() | printed.jobs.keys()
        )

    def _has_jobs(self, printed: FioPrinted) -> bool:
        numbers = {name: _number(section.options.get("numjobs", "1")) for name, section in self.sections.items()}
        whole = sum(number or 0 for number in numbers.values())
        if None in numbers.values() or not self.is_all:
            return True
        grouped = {section.options.get("group_reporting", "0") != "0" for section in self.sections.values()}
        if grouped == {False} and (printed.reports != whole or any(numbers[n] != m for n, m in printed.jobs.items())):
            return False
        if grouped == {True} and printed.reports != printed.groups:
            return False
        return sum(printed.jobs.values()) == whole and printed.starting in (0, whole)

    def _has(self, name: str, printed: FioPrinted) -> bool:
        options = self.saved_options([name], {}).options
        printed_settings = {k: v for k, v in printed.settings.get(name, {}).items() if k != "bs"}
        is_same = all(options[k] == v for k, v in stored_options(printed_settings, whole=False).items() if k in options)
        blocks = _block_bounds(self.sections[name].options) if self.is_all else None
        return is_same and (not blocks or _alike(blocks, printed.blocks.get(name, ())))


FioCommands = Mapping[str, Sequence[FioCommand]]
"""Commands by the names of their jobs, in the order of the log."""


def find_commands(log: Log) -> FioCommands:
    """All that are in a log; raises nothing."""
    by_job: dict[str, list[FioCommand]] = {}
    for command in _commands(log.lines):
        for name in command.sections:
            by_job.setdefault(name, []).append(command)
    return by_job


def _commands(lines: Sequence[LogLine]) -> Iterator[FioCommand]:
    last = -1
    for at in command_places(lines, "fio "):
        line = lines[at]
        if at <= last or "-" not in line.text or not (match := COMMAND.fullmatch(line.text)):
            continue
        text, last, is_whole = whole_command(lines, at, match["words"])
        try:
            jobs = read_command(text)
        except ValueError:
            continue
        sections = {section.name: section for section in jobs.sections}
        is_all = is_whole and not jobs.files and len(sections) == len(jobs.sections)
        yield FioCommand(line.number, text, host_of(match["prompt"]), sections, is_all)


def command_of(printed: FioPrinted, commands: FioCommands, run_lines: Sequence[int]) -> FioCommand | None:
    """The command of a start among those between two runs that are the nearest before it.

    Of several that agree and do not ask for the same it is not known which it was. ``run_lines`` are those of the
    first job of every start.
    """
    named = commands.get(next(iter(printed.jobs)), [])
    before = bisect_right(named, printed.line, key=lambda command: command.line)
    near = named[max(0, before - _COMMANDS_MOST) : before]
    if not near:
        return None
    between = bisect_right(run_lines, near[-1].line)
    together = [command for command in near if bisect_right(run_lines, command.line) == between]
    agreeing = [command for command in together if command.agrees(printed)]
    return agreeing[-1] if len({without_output(command.text) for command in agreeing}) == 1 else None


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() else None


def _block_bounds(section_options: Mapping[str, str]) -> list[int] | None:
    """The bounds of the block sizes of reads, writes and trims, each once; None where they can't be told."""
    options = canonical_options(section_options)
    text = options.get("bssplit") or options.get("bsrange") or options.get("blocksize_range") or options.get("bs", "4k")
    if is_variable(text):
        return None
    bounds: set[int] = set()
    try:
        for direction in text.split(",")[:_DIRECTIONS]:
            words = direction.split(":") if "bssplit" in options else direction.split("-")
            sizes = [parse_size(plain_size(word.partition("/")[0] or "4k")) for word in words]
            bounds |= {min(sizes), max(sizes)}
    except ValueError:
        return None
    return sorted(bounds)


def _alike(blocks: Sequence[int], printed: Sequence[int]) -> bool:
    """Whether the block sizes of a command agree with those that are printed; nothing printed agrees with all."""
    if not printed:
        return True
    return _all_near(blocks, printed) and _all_near(printed, blocks)


def _all_near(sizes: Sequence[int], others: Sequence[int]) -> bool:
    """Whether each of these sizes is that of one of the others, but for rounding."""
    return all(any(abs(size - other) <= _SAME * size for other in others) for size in sizes)


def number_started(text: str) -> int:
    """The number of jobs in ``Starting 2 threads and 1 process``."""
    return sum(map(int, re.findall(r"\b(\d{1,7}) (?:thread|process)", text)))
