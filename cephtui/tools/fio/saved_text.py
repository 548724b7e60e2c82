"""fio's output for people, as it is found in a log.

Format (fio 2.0 to 3.41, ``--output-format=normal``)::

    NAME: (g=0): rw=randwrite, bs=(R) 4096B-4096B, (W) ..., ioengine=libaio, iodepth=64
    fio-3.33
    NAME: (groupid=0, jobs=8): err= 0: pid=1714909: Mon Apr  7 22:13:00 2025
      write: IOPS=16.7k, BW=65.4MiB/s (68.6MB/s)(3927MiB/60022msec); 0 zone resets
      write: io=3927.0MB, bw=66970KB/s, iops=16742, runt= 60022msec        (until fio 2.17; KB are KiB)
        clat (usec): min=1451, max=175353, avg=30579.11, stdev=18591.01
        clat percentiles (msec):
         |  1.00th=[    4],  5.00th=[    7], ...
      cpu          : usr=1.11%, sys=2.05%, ctx=878405, majf=0, minf=607
         issued rwts: total=0,1004687,0,0 short=0,0,0,0 dropped=0,0,0,0
    Run status group 0 (all jobs):
    Disk stats (read/write):
      rbd0: ios=0/1032448, merge=0/0, ticks=0/31720156, in_queue=31720157, util=99.91%
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import TypeAlias

from cephtui.frozen import dataclass
from cephtui.models import DiskUse, OptionValue
from cephtui.tools.fio.asked import Asked, asked_of, same_of
from cephtui.tools.fio.flushes import Lead, lead_of
from cephtui.tools.fio.found import as_datetime, found_run, one_after_the_other
from cephtui.tools.fio.given import Section, read_command, stored
from cephtui.tools.fio.saved_figures import block_bytes, depths_of, figure, read_job
from cephtui.tools.logs import FoundRun, Log, LogLine, command_pattern, host_of, whole_command, without_output
from cephtui.units import parse_size

_HEADER = re.compile(
    r"\s*(?P<name>\S.{0,199}?): \(groupid=(?P<group>\d{1,9}), jobs=(?P<jobs>\d{1,9})\): err=\s*(?P<error>\d{1,9})"
    r"(?: \((?P<why>.{0,500}?)\))?: pid=(?P<pid>\d+)(?:: (?P<date>.*))?"
)
_START = re.compile(r"\s*(?P<name>\S.{0,199}?): \(g=(?P<group>\d{1,9})\): rw=(?P<rw>\w+), (?P<rest>.*)")
_SETTING = re.compile(r"(ioengine|iodepth)=([\w./:-]+)")
_BLOCKS = re.compile(r"(\d[\d.]*)([kKMGT]?)(?:i?B)?-\s*(\d[\d.]*)([kKMGT]?)(?:i?B)?")
_VERSION = re.compile(r"\s*(fio-\d[\w.-]*)")
_STARTING = re.compile(r"\s*Starting (?:\d+ |thread|process)")
_STATUS = re.compile(r"\s*Run status group \d+")
_DISK = re.compile(r"\s*(?P<name>[\w!/.-]+): ios=.*\butil=\s*(?P<util>[\d.]+)%")
_SIGNAL = re.compile(r"\s*fio: terminating on signal")
_COMMAND = command_pattern("fio")
_AT_ONCE_SECONDS = 3
"""The jobs of a run are printed within this time."""
_COMMANDS_MOST = 100
"""Of one name that a run is held against."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A job's own lines of the output."""

    head: re.Match[str]
    line: int
    body: tuple[LogLine, ...]

    @property
    def key(self) -> tuple[str, str, str]:
        """The same again where fio prints its state more than once."""
        return self.head["name"], self.head["group"], self.head["pid"]

    @property
    def date(self) -> datetime | None:
        """When it was printed."""
        return as_datetime(self.head["date"] or "")


@dataclass(slots=True)
class _Start:
    """What one start of fio has printed."""

    line: int = 0
    last_line: int = 0
    version: str = ""
    settings: dict[str, Mapping[str, str]] = field(default_factory=dict)
    """By the job's name, from the lines before the run."""
    parts: dict[tuple[str, str, str], _Part] = field(default_factory=dict)
    disks: list[DiskUse] = field(default_factory=list)
    stopped: bool = False
    status: bool = False
    """Whether the lines that end a report have come."""

    def takes(self, part: _Part) -> bool:
        """Whether a job's lines are of the same start."""
        if not self.parts or part.key in self.parts:
            return True
        before, now = next(reversed(self.parts.values())).date, part.date
        apart = abs((now - before).total_seconds()) if before and now else 0.0
        return not self.status and apart <= _AT_ONCE_SECONDS


@dataclass(frozen=True, slots=True)
class _Command:
    """A command line in the log, before any output of it."""

    line: int
    text: str
    node: str
    sections: Mapping[str, Section]
    is_all: bool
    """Whether it names no job file, which would have more options."""

    def asked(self, names: Sequence[str], printed: Mapping[str, str]) -> Asked:
        """Of jobs that ran at the same time."""
        each = [self.sections[name].options if name in self.sections else {} for name in names]
        return asked_of(each, printed, is_all=self.is_all)


_Commands: TypeAlias = Mapping[str, Sequence[_Command]]
"""By the names of their jobs, in the order of the log."""


def find_text(log: Log) -> list[FoundRun]:
    """Every run that fio has printed for people; raises nothing."""
    commands = _commands(log.lines)
    return [run for start in _starts(log.lines) for run in _runs(start, commands)]


def _commands(lines: Sequence[LogLine]) -> _Commands:
    found: dict[str, list[_Command]] = {}
    for at, line in enumerate(lines):
        if "fio " not in line.text or "-" not in line.text or not (match := _COMMAND.fullmatch(line.text)):
            continue
        text = whole_command(lines, at, match["words"])
        try:
            given = read_command(text)
        except ValueError:
            continue
        sections = {section.name: section for section in given.sections}
        command = _Command(line.number, text, host_of(match["prompt"]), sections, is_all=not given.files)
        for name in sections:
            found.setdefault(name, []).append(command)
    return found


def _starts(lines: Sequence[LogLine]) -> Iterator[_Start]:
    """The log cut where fio was started."""
    start, at = _Start(), 0
    while at < len(lines):
        line = lines[at]
        if header := _header(line.text):
            end = _end_of_part(lines, at + 1)
            part = _Part(header, line.number, tuple(lines[at + 1 : end]))
            if not start.takes(part):
                yield start
                start = _Start()
            start.line = start.line or line.number
            start.status = False
            start.parts[part.key] = part
            start.last_line = lines[end - 1].number
            at = end
            continue
        if _is_beginning(line.text) and start.parts:
            yield start
            start = _Start()
        _note(start, line)
        at += 1
    if start.parts:
        yield start


def _end_of_part(lines: Sequence[LogLine], at: int) -> int:
    while at < len(lines) and not _ends_part(lines[at].text):
        at += 1
    return at


def _ends_part(text: str) -> bool:
    return bool(
        _header(text) or _STATUS.match(text) or text.startswith("Disk stats") or _is_beginning(text)
    )  # fmt: skip


def _header(text: str) -> re.Match[str] | None:
    return _HEADER.fullmatch(text) if "(groupid=" in text else None


def _is_beginning(text: str) -> bool:
    if "fio" not in text and "(g=" not in text and "Starting" not in text:
        return False
    return bool(_VERSION.fullmatch(text) or _STARTING.match(text) or _START.fullmatch(text)) or (
        "fio " in text and bool(_COMMAND.fullmatch(text))
    )


def _note(start: _Start, line: LogLine) -> None:
    """What stands before and after the jobs."""
    if version := _VERSION.fullmatch(line.text):
        start.version = version[1]
    elif begun := _START.fullmatch(line.text):
        start.settings.setdefault(begun["name"], _settings(begun))
    elif "util=" in line.text and (disk := _DISK.match(line.text)):
        util = figure(disk["util"])
        if util is not None and start.parts:
            start.disks = [each for each in start.disks if each.name != disk["name"]]
            start.disks.append(DiskUse(name=disk["name"], utilisation_percent=min(util, 100.0)))
    elif _SIGNAL.match(line.text):
        start.stopped = True
    elif _STATUS.match(line.text):
        start.status = True
    else:
        return
    start.line = start.line or line.number
    start.last_line = line.number


def _settings(begun: re.Match[str]) -> dict[str, str]:
    """The options that fio prints before a run: a block size only where it is one for all."""
    found = {"rw": begun["rw"], **dict(_SETTING.findall(begun["rest"]))}
    ends = (end for low, a, high, b in _BLOCKS.findall(begun["rest"]) for end in ((low, a), (high, b)))
    sizes = {block_bytes(*end) for end in ends}
    if len(sizes) == 1 and (size := sizes.pop()):
        found["bs"] = str(size)
    return found


def _runs(start: _Start, commands: _Commands) -> list[FoundRun]:
    """One of each group: its jobs ran at the same time, and groups one after the other."""
    groups: dict[str, list[_Part]] = {}
    for part in start.parts.values():
        groups.setdefault(part.head["group"], []).append(part)
    runs = [_run(start, parts, commands, alone=len(groups) == 1) for parts in groups.values()]
    return one_after_the_other(runs)


def _run(start: _Start, parts: Sequence[_Part], commands: _Commands, *, alone: bool) -> FoundRun:
    command = _command_of(start, parts, commands)
    names = [part.head["name"] for part in parts]
    given = command.sections[names[0]].options if command else {}
    printed = _printed(start, parts)
    asked = command.asked(list(dict.fromkeys(names)), printed) if command else asked_of([{}], printed)
    block = parse_size(str(asked.options["bs"])) if "bs" in asked.options else 0
    return found_run(
        [read_job(part.head, part.body, block, _lead(start, part, given)) for part in parts],
        lines=(start.line if alone else parts[0].line, start.last_line if alone else _last_line(parts)),
        options=asked.options,
        other_options=asked.others,
        has_all_options=asked.is_all,
        ended_at=parts[-1].date,
        disks=tuple(start.disks) if alone else (),
        depths=depths_of(parts[0].body) if len(parts) == 1 else {},
        command=command.text if command else "",
        asked=without_output(command.text) if command else "",
        target=asked.target,
        node=command.node if command else "",
        version=start.version,
        stopped=start.stopped,
    )


def _lead(start: _Start, part: _Part, given: Mapping[str, str]) -> Lead | None:
    known = {**given, **start.settings.get(part.head["name"], {})}
    depth = known.get("iodepth", "1")
    return lead_of(known.get("ioengine", ""), int(depth) if depth.isdecimal() else 0, start.version)


def _last_line(parts: Sequence[_Part]) -> int:
    return max(part.body[-1].number if part.body else part.line for part in parts)


def _command_of(start: _Start, parts: Sequence[_Part], commands: _Commands) -> _Command | None:
    """The nearest command before a run that names its job and agrees with what fio printed of it."""
    name = parts[0].head["name"]
    jobs = sum(int(part.head["jobs"]) for part in parts if part.head["name"] == name)
    printed = {**start.settings.get(name, {}), "numjobs": str(jobs)}
    named = commands.get(name, [])
    before = bisect_right(named, parts[0].line, key=lambda command: command.line)
    for command in reversed(named[max(0, before - _COMMANDS_MOST) : before]):
        if _agrees(command.asked([name], {}).options, printed):
            return command
    return None


def _agrees(options: Mapping[str, OptionValue], printed: Mapping[str, str]) -> bool:
    said = stored(printed, whole=False)
    return all(options[name] == value for name, value in said.items() if name in options)


def _printed(start: _Start, parts: Sequence[_Part]) -> dict[str, str]:
    """What fio prints of its options that is the same of all jobs, and how many jobs there were."""
    same = same_of([start.settings.get(part.head["name"], {}) for part in parts])
    return {**same, "numjobs": str(sum(int(part.head["jobs"]) for part in parts))}
