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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from typing import NamedTuple

from cephtui.frozen import dataclass
from cephtui.models import DiskUse
from cephtui.tools.fio.broken import in_one_piece
from cephtui.tools.fio.clients import ALL, HOST, SAID, run_of_clients
from cephtui.tools.fio.commands import COMMAND, FioCommand, FioPrinted, command_of, find_commands, number_started
from cephtui.tools.fio.flushes import Lead, lead_of
from cephtui.tools.fio.printed import block_bytes
from cephtui.tools.fio.saved_figures import depths_of, disk_use, read_job
from cephtui.tools.fio.saved_options import same_of, saved_options
from cephtui.tools.fio.saved_run import Job, as_datetime, one_after_the_other, saved_run
from cephtui.tools.logs import FoundRun, Log, LogLine, without_output

_HEADER = re.compile(
    r"\s*(?P<name>\S.{0,199}?): \(groupid=(?P<group>\d{1,9}), jobs=(?P<jobs>\d{1,9})\): err=\s*(?P<error>-?\d{1,9})"
    r"(?: \((?P<why>.{0,500}?)\))?: pid=(?P<pid>\d+)(?:: (?P<date>.*))?"
)
_START = re.compile(r"\s*(?P<name>\S.{0,199}?): \(g=(?P<group>\d{1,9})\): rw=(?P<rw>\w+), (?P<rest>.*)")
_SETTING = re.compile(r"(ioengine|iodepth)=([\w./:-]+)")
_BLOCKS = re.compile(r"(\d[\d.]*)([kKMGT]?)(?:i?B)?-\s*(\d[\d.]*)([kKMGT]?)(?:i?B)?")
_VERSION = re.compile(r"\s*(fio-\d[\w.-]*)")
_STARTING = re.compile(r"\s*Starting (?:\d+ |thread|process)")
_STATUS = re.compile(r"\s*Run status group \d+")
_SUM = re.compile(r"\s*(?:READ|WRITE|TRIM|MIXED): (?:bw|io)=")
_DISK = re.compile(r"\s*(?P<name>[\w!/.-]+): (?P<pairs>ios=.*)\butil=\s*(?P<util>[\d.]+)%")
_REPORTED = re.compile(r"\s*(?:(?:read|write|trim|mixed|cpu|IO depths|issued.{0,9}?) *:|[sc]?lat \()")
_SIGNAL = re.compile(r"\s*fio: terminating on signal")
_OF_COMMAND = ("options", "other_options", "has_all_options", "command", "request", "target", "version")
"""Fields of a run that are the same of all clients."""
_AT_ONCE_SECONDS = 3
"""The jobs of a run are printed within this time."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A job's own lines of the output."""

    head: re.Match[str]
    line: int
    body: tuple[LogLine, ...]

    @property
    def key(self) -> tuple[str, str, str]:
        """The key of a job: the same again where fio prints its state more than once."""
        return self.head["name"], self.head["group"], self.head["pid"]

    @property
    def date(self) -> datetime | None:
        """When it was printed."""
        return as_datetime(self.head["date"] or "")


@dataclass(slots=True)
class _Start:
    """The output of one start of fio."""

    line: int = 0
    last_line: int = 0
    version: str = ""
    settings: dict[str, Mapping[str, str]] = field(default_factory=dict)
    """Settings by the job's name, from the lines before the run."""
    parts: dict[tuple[str, str, str], _Part] = field(default_factory=dict)
    disks: list[DiskUse] = field(default_factory=list)
    blocks: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """The bounds of the block sizes, by the job's name."""
    groups: dict[str, str] = field(default_factory=dict)
    """The group of each job, by the job's name."""
    starting: int = 0
    """How many jobs, where it says so."""
    hosts: list[str] = field(default_factory=list)
    """Clients that it was started on."""
    said: tuple[str, ...] = ()
    """Clients that have spoken right before its report."""
    spoken: list[str] = field(default_factory=list)
    """Clients that have said something since the last report."""
    is_continued: bool = False
    """Whether only a report has come, after another."""
    stopped: bool = False
    status: bool = False
    """Whether the lines that end a report have come."""

    @property
    def first_line(self) -> int:
        """The line of its first job."""
        return next(iter(self.parts.values())).line

    def printed(self) -> FioPrinted:
        """The output as far as a command may agree with it."""
        jobs: dict[str, int] = {}
        for part in self.parts.values():
            jobs[part.head["name"]] = jobs.get(part.head["name"], 0) + int(part.head["jobs"])
        groups = len({part.head["group"] for part in self.parts.values()})
        return FioPrinted(self.first_line, self.settings, self.blocks, jobs, len(self.parts), groups, self.starting)

    def next_report(self) -> _Start:
        """The next report without a beginning of its own: of another client, or of a start that is not in the log."""
        if not self.hosts:
            return _Start(is_continued=True)
        return replace(self, line=0, last_line=0, parts={}, disks=[], said=(), stopped=False, is_continued=True)

    def hear(self, line: LogLine) -> LogLine:
        """A line as the client has printed it, without the client's name."""
        if self.hosts and (spoken_line := SAID.fullmatch(line.text)):
            if not spoken_line["text"]:
                self.spoken.append(spoken_line["host"])
            return LogLine(line.number, spoken_line["text"])
        return line

    def add(self, part: _Part, last_line: int) -> None:
        """A report."""
        self.line, self.last_line = self.line or part.line, last_line
        self.status = False
        if not self.parts:
            self.said, self.spoken = tuple(self.spoken), []
        self.parts[part.key] = part

    @property
    def is_sum(self) -> bool:
        """Whether it is the report of all clients together."""
        return any(name == ALL and pid == "0" for name, _, pid in self.parts)

    @property
    def is_cut(self) -> bool:
        """Whether only the first lines of its reports are there, as grep finds them, and no error is in them."""
        return not any(
            int(part.head["error"]) or any(_REPORTED.match(line.text) for line in part.body)
            for part in self.parts.values()
        )

    @property
    def host(self) -> str:
        """The host of its report, where one client alone has spoken before it, or there is only one name."""
        names = set(self.hosts) if len(set(self.hosts)) == 1 else set(self.said)
        return names.pop() if len(names) == 1 else ""

    def is_over(self, text: str) -> bool:
        """Whether a line is of another start, before anything was reported."""
        begun = _START.fullmatch(text) if "(g=" in text and not self.hosts else None
        if begun and self.groups:
            return bool(self.version or self.starting) or int(begun["group"]) < max(map(int, self.groups.values()))
        if self.hosts:
            return False
        return "fio " in text and bool(self.groups) and bool(COMMAND.fullmatch(text))

    def takes(self, part: _Part) -> bool:
        """Whether a job's lines are of the same start."""
        is_other = bool(self.hosts) and self.status
        if not self.parts or (part.key in self.parts and not is_other):
            return True
        if part.head["name"] == ALL and part.head["pid"] == "0":
            return False
        before, now = next(reversed(self.parts.values())).date, part.date
        seconds_apart = abs((now - before).total_seconds()) if before and now else 0.0
        return not self.status and seconds_apart <= _AT_ONCE_SECONDS


class _Session(NamedTuple):
    """Reports of clients that ran at the same time."""

    starts: Sequence[_Start]
    spans: tuple[tuple[int, int], ...]
    """First and last lines of all that was printed, also of the sum of all clients."""


def find_text(log: Log) -> list[FoundRun]:
    """Every run that fio has printed for people; raises nothing."""
    commands, sessions = find_commands(log), list(_sessions(_starts(in_one_piece(log.lines))))
    lines = [session.starts[0].first_line for session in sessions]
    return [
        replace(run, other_spans=session.spans)
        for session in sessions
        for run in _runs(session.starts, command_of(session.starts[0].printed(), commands, lines))
    ]


def _sessions(starts: Iterable[_Start]) -> Iterator[_Session]:
    """The reports of clients that ran at the same time together, without that of all of them."""
    session: list[_Start] = []
    for start in starts:
        if session and (start.is_sum or (start.is_continued and start.hosts)):
            session.append(start)
            continue
        yield from _session(session)
        session = [start]
    yield from _session(session)


def _session(starts: Sequence[_Start]) -> Iterator[_Session]:
    own_starts = [start for start in starts if not start.is_sum and not start.is_cut]
    if own_starts:
        yield _Session(own_starts, tuple((start.line, start.last_line) for start in starts))


def _starts(lines: Sequence[LogLine]) -> Iterator[_Start]:
    """The log cut where fio was started, and where a client reports."""
    start, at = _Start(), 0
    while at < len(lines):
        line = lines[at]
        if header := _header(line.text):
            end = _end_of_part(lines, at + 1)
            part = _Part(header, line.number, tuple(lines[at + 1 : end]))
            if not start.takes(part):
                yield start
                start = start.next_report()
            start.add(part, lines[end - 1].number)
            at = end
            continue
        if start.parts and (_is_beginning(line.text) or HOST.fullmatch(line.text)):
            yield start
            start = _Start()
        elif start.is_over(line.text):  # without a report
            start = _Start()
        if start.parts and start.hosts and SAID.fullmatch(line.text):
            start.hear(line)
        else:
            _note(start, start.hear(line))
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
        "fio " in text and bool(COMMAND.fullmatch(text))
    )


def _note(start: _Start, line: LogLine) -> None:
    """Take in a line that stands before or after the jobs."""
    if host := HOST.fullmatch(line.text):
        start.hosts.append(host["host"])
        start.version = host["version"] or ""
    elif version := _VERSION.fullmatch(line.text):
        start.version = version[1]
    elif begun := _START.fullmatch(line.text):
        blocks = _blocks(begun)
        start.settings.setdefault(begun["name"], _settings(begun, blocks))
        start.blocks.setdefault(begun["name"], blocks)
        start.groups.setdefault(begun["name"], begun["group"])
    elif _STARTING.match(line.text):
        start.starting = number_started(line.text)
    elif "util=" in line.text and (disk := _DISK.match(line.text)):
        if start.parts and (use := disk_use(disk)):
            start.disks = [*(other for other in start.disks if other.name != use.name), use]
    elif _SIGNAL.match(line.text):
        start.stopped = True
    elif _STATUS.match(line.text):
        start.status = True
    elif start.status and _SUM.match(line.text):
        pass
    else:
        return
    start.line = start.line or line.number
    start.last_line = line.number


def _settings(begun: re.Match[str], blocks: Sequence[int]) -> dict[str, str]:
    """The options that fio prints before a run: a block size only where it is one for all."""
    settings = {"rw": begun["rw"], **dict(_SETTING.findall(begun["rest"]))}
    if len(blocks) == 1 and blocks[0]:
        settings["bs"] = str(blocks[0])
    return settings


def _blocks(begun: re.Match[str]) -> tuple[int, ...]:
    ends = (end for low, a, high, b in _BLOCKS.findall(begun["rest"]) for end in ((low, a), (high, b)))
    return tuple(sorted({block_bytes(*end) for end in ends}))


def _runs(session: Sequence[_Start], command: FioCommand | None) -> list[FoundRun]:
    """A run for each group: its jobs ran at the same time, and groups one after the other."""
    groups: dict[str, list[tuple[_Start, list[_Part]]]] = {}
    for start in session:
        parts_of_group: dict[str, list[_Part]] = {}
        for part in start.parts.values():
            parts_of_group.setdefault(part.head["group"], []).append(part)
        for group, parts in parts_of_group.items():
            groups.setdefault(group, []).append((start, parts))
    return one_after_the_other([_run(clients, command, alone=len(groups) == 1) for clients in groups.values()])


def _run(clients: Sequence[tuple[_Start, Sequence[_Part]]], command: FioCommand | None, *, alone: bool) -> FoundRun:
    """The run of a group on its clients, each with its reports; without ``--client`` there is one."""
    client_runs = [_run_of(start, parts, command, alone=alone) for start, parts in clients]
    if len(clients) == 1:
        (start, _), (_, run) = clients[0], client_runs[0]
        return replace(run, node=start.host) if start.hosts else run
    jobs, first = [job for jobs_of_client, _ in client_runs for job in jobs_of_client], client_runs[0][1]
    fields = {field: getattr(first, field) for field in _OF_COMMAND}
    fields["options"] = same_of([run.options for _, run in client_runs])
    whole = saved_run(
        jobs,
        lines=(first.line, client_runs[-1][1].last_line),
        ended_at=clients[-1][1][-1].date,
        stopped=any(run.stopped for _, run in client_runs),
        **fields,
    )
    names = [start.host or "client" for start, _ in clients]
    return run_of_clients(whole, [(name, run) for name, (_, run) in zip(names, client_runs, strict=True)])


def _run_of(
    start: _Start, parts: Sequence[_Part], command: FioCommand | None, *, alone: bool
) -> tuple[list[Job], FoundRun]:
    names = _names(start, parts, command, alone=alone)
    section_options = command.sections[names[0]].options if command else {}
    printed = _printed(start, names, parts)
    saved = command.saved_options(names, printed) if command else saved_options([{}], printed)
    block = int(printed.get("bs", 0))
    jobs = [read_job(part.head, part.body, _lead(start, part, section_options), block) for part in parts]
    return jobs, saved_run(
        jobs,
        lines=(start.line if alone else parts[0].line, start.last_line if alone else _last_line(parts)),
        options=saved.options,
        other_options=saved.other_options,
        has_all_options=saved.is_all,
        ended_at=parts[-1].date,
        disks=tuple(start.disks) if alone else (),
        depths=depths_of(parts[0].body) if len(parts) == 1 else {},
        command=command.text if command else "",
        request=without_output(command.text) if command else "",
        target=saved.target,
        node=command.node if command else "",
        version=start.version,
        stopped=start.stopped,
    )


def _lead(start: _Start, part: _Part, section_options: Mapping[str, str]) -> Lead | None:
    options = {**section_options, **start.settings.get(part.head["name"], {})}
    depth = options.get("iodepth", "1")
    return lead_of(options.get("ioengine", ""), int(depth) if depth.isdecimal() else 0, start.version)


def _last_line(parts: Sequence[_Part]) -> int:
    return max(part.body[-1].number if part.body else part.line for part in parts)


def _names(start: _Start, parts: Sequence[_Part], command: FioCommand | None, *, alone: bool) -> list[str]:
    """The names of a group's jobs: a report of a whole group has only that of the first."""
    group = parts[0].head["group"]
    reported = list(dict.fromkeys(part.head["name"] for part in parts))
    printed = [name for name, its_group in start.groups.items() if its_group == group]
    if not printed and command and alone:
        return list(command.sections)
    is_whole = set(reported) <= set(printed) and len(printed) <= sum(int(part.head["jobs"]) for part in parts)
    return printed if is_whole else reported


def _printed(start: _Start, names: Sequence[str], parts: Sequence[_Part]) -> dict[str, str]:
    """The printed options that are the same of all jobs, and the number of jobs."""
    same = same_of([start.settings.get(name, {}) for name in names])
    return {**same, "numjobs": str(sum(int(part.head["jobs"]) for part in parts))}
