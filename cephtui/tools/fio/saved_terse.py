"""fio's terse output, a line of fields for each job or group, as it is found in a log.

Format (fio 2.0 to 3.41, ``--output-format=terse`` or ``--minimal``), with ``;`` between the fields: the version of the
form, from 3 on that of fio, then the job's name, its group and error; for reads, writes and mostly trims 41 fields, in
version 5 47: KiB, KiB/s, IOPS and milliseconds, four of each slat and clat in microseconds, 20 percentiles of clat,
four of lat, then those of the rates; the CPU, the depths, the shares of latencies, and from 3 on the disks. The number
of I/Os is not in it.

Nothing says which lines are of one start of fio: they are one run where the command above them has so many jobs.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence

from cephtui import stats
from cephtui.frozen import dataclass
from cephtui.models import ELAPSED_MOST_SECONDS, DiskUse
from cephtui.models.results import PERCENTILES
from cephtui.tools.commands import CommandLine, begun_by, command_lines
from cephtui.tools.fio.flushes import shares_of_all
from cephtui.tools.fio.given import JobSection, option_name, read_command, stored_options, target_of
from cephtui.tools.fio.options import FioOptions
from cephtui.tools.fio.printed import printed_figure
from cephtui.tools.fio.saved_run import Job, saved_run
from cephtui.tools.logs import FoundRun, Log, LogLine, without_output
from cephtui.units import parse_size

_LINE = re.compile(r"[2-5];[^;]*;[^;]*;(?:[^;]*;){60,}.*")
_FLOWS = ("read", "write", "trim")
_FIELDS = {2: 41, 3: 41, 4: 41, 5: 47}
"""Fields of one direction, by the version of the format."""
_LADDER = slice(12, 32)
_DEPTHS = ("1", "2", "4", "8", "16", "32", ">=64")
_SHARES = 22
"""Fields of how latencies are spread."""
_DISK_FIELDS = 9
_OF_TARGET_OR_OUTPUT = re.compile(
    r"filename|directory|pool|rbdname|clientname|clustername|name|group_reporting|buffered|minimal|terse-version|eta.*"
    r"|output.*|write_\w+_log|log_\w+|status-interval|append-terse|description"
)


@dataclass(frozen=True, slots=True)
class _Line:
    """A job or a group, as a line has it."""

    number: int
    name: str
    group: str
    version: str
    job: Job
    depths: Mapping[str, float]
    disks: tuple[DiskUse, ...]


@dataclass(frozen=True, slots=True)
class _Command:
    """A command line, and what it asks for."""

    line: CommandLine
    sections: Sequence[JobSection]

    @property
    def jobs(self) -> int:
        """How many there are, each with a line of its own; 1 where they are reported as a group."""
        if any("group_reporting" in section.options for section in self.sections):
            return 1
        return sum(_count(section.options.get("numjobs", "1")) for section in self.sections)


def find_terse(log: Log) -> list[FoundRun]:
    """The runs in the order of the log; raises nothing."""
    lines = [terse_line for line in log.lines if ";" in line.text and (terse_line := _read(line))]
    if not lines:
        return []
    commands = {command.line.line: command for line in command_lines(log, "fio") if (command := _command(line))}
    blocks = list(_blocks(lines, sorted(commands)))
    begun = begun_by(
        [command.line for command in commands.values()],
        blocks,
        lambda block: (block[0].number, block[-1].number),
        lambda line, block: _fits(commands[line.line], block),
    )
    return [
        run
        for block, command in zip(blocks, begun, strict=True)
        for run in _runs(block, commands[command.line] if command else None)
    ]


def _command(line: CommandLine) -> _Command | None:
    try:
        return _Command(line, read_command(line.text).sections)
    except ValueError:
        return None


def _count(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 6 else 1


def _blocks(lines: Sequence[_Line], commands: Sequence[int]) -> Iterator[list[_Line]]:
    """The lines of each run: those without a command between them."""
    block: list[_Line] = []
    for line in lines:
        if block and any(block[-1].number < number < line.number for number in commands):
            yield block
            block = []
        block.append(line)
    if block:
        yield block


def _fits(command: _Command, block: Sequence[_Line]) -> bool:
    """Whether a command can have printed these lines."""
    names = [section.name for section in command.sections]
    return command.jobs == len(block) and all(line.name in names for line in block)


def _runs(block: Sequence[_Line], command: _Command | None) -> Iterator[FoundRun]:
    """One of each group whose jobs are known to be one, else one of each line."""
    if command is None:
        yield from (_run([line], None) for line in block)
        return
    groups: dict[str, list[_Line]] = {}
    for line in block:
        groups.setdefault(line.group, []).append(line)
    yield from (_run(lines, command) for lines in groups.values())


def _run(lines: Sequence[_Line], command: _Command | None) -> FoundRun:
    section = next((job for job in command.sections if job.name == lines[0].name), None) if command else None
    section_options = section.options if section else {}
    options = stored_options(section_options, whole=bool(section))
    block = parse_size(str(options["bs"])) if "bs" in options else 0
    return saved_run(
        [_counted(line.job, block) for line in lines],
        lines=(lines[0].number, lines[-1].number),
        options=options,
        ended_at=None,
        disks=lines[-1].disks,
        depths=lines[0].depths if len(lines) == 1 else {},
        command=command.line.text if command else "",
        request=without_output(command.line.text) if command else "",
        other_options={name: value for name, value in section_options.items() if _is_other(name)},
        has_all_options=bool(section),
        target=target_of(section_options),
        node=command.line.node if command else "",
        version=lines[0].version,
    )


def _is_other(name: str) -> bool:
    """Whether an option is none that a preset can have, of the target, or about output."""
    return option_name(name) not in FioOptions.model_fields and not _OF_TARGET_OR_OUTPUT.fullmatch(name)


def _counted(job: Job, block: int) -> Job:
    """The job with the number of I/Os, where their size is known and the same of all."""
    flows = {name: _with_ios(flow, block) for name, flow in job.flows.items()}
    return Job(job.name, flows, job.percentiles, job.error, job.user_percent, job.system_percent, job.switches)


def _with_ios(flow: stats.Flow, block: int) -> stats.Flow:
    nbytes = flow.bytes or 0
    if not block or nbytes % block:
        return flow
    ios = nbytes // block
    rest = (flow.buckets, flow.moments, flow.bounds)
    seconds = flow.runtime_seconds
    return stats.Flow(ios, nbytes, seconds, ios / seconds, nbytes / seconds, *rest, slat=flow.slat, lat=flow.lat)


# ---------------------------------------------------------------------------------------------- one line


def _read(line: LogLine) -> _Line | None:
    """The figures of a line; None for any other line, and for one that was cut."""
    text = line.text.strip()
    if not _LINE.fullmatch(text):
        return None
    fields = text.split(";")
    form = int(fields[0])
    version, at = ("", 1) if form == 2 else (fields[1], 2)
    name, group, error = fields[at : at + 3]
    at += 3
    flows: dict[str, stats.Flow] = {}
    percentiles: dict[str, dict[float, float]] = {}
    for flow in _FLOWS:
        flow_fields = fields[at : at + _FIELDS[form]]
        if flow_fields and flow_fields[0].endswith("%"):  # of the CPU: not every version prints trims
            break
        if len(flow_fields) < _FIELDS[form]:  # cut
            return None
        at += _FIELDS[form]
        if total := _flow(flow_fields):
            flows[flow], percentiles[flow] = total, _percentiles(flow_fields[_LADDER])
    cpu = [printed_figure(field.rstrip("%")) for field in fields[at : at + 5]]
    if len(cpu) < 5:
        return None
    user, system, switches, *_ = cpu
    at += 5
    shares = [printed_figure(field.rstrip("%")) or 0.0 for field in fields[at : at + len(_DEPTHS)]]
    depths = shares_of_all(dict(zip(_DEPTHS, shares, strict=False)))
    disks = tuple(_disks(fields[at + len(_DEPTHS) + _SHARES :]))
    code = int(error) if error.isdecimal() and len(error) < 6 else 0
    job = Job(
        name[:200],
        flows,
        percentiles,
        os.strerror(code) if code else None,
        user,
        system,
        None if switches is None else int(switches),
    )
    return _Line(line.number, name[:200], group, version, job, depths, disks)


def _flow(fields: Sequence[str]) -> stats.Flow | None:
    """The flow of some fields; None where nothing was done."""
    try:
        numbers = [float(field) for field in fields[:12]] + [float(field) for field in fields[32:36]]
    except ValueError:
        return None
    kib, rate, iops, milliseconds = numbers[:4]
    seconds = milliseconds / 1e3
    if not kib or not 0 < seconds < ELAPSED_MOST_SECONDS or not all(0 <= number < 1 << 63 for number in numbers):
        return None
    slat, clat, lat = (_times(numbers[at : at + 4], round(iops * seconds) or 1) for at in (4, 8, 12))
    return stats.Flow(
        ios=None,
        bytes=round(kib * 1024),
        runtime_seconds=seconds,
        iops=iops,
        bandwidth_bytes=rate * 1024,
        buckets={},
        moments=clat.moments if clat else None,
        bounds=clat.bounds if clat else None,
        slat=slat,
        lat=lat,
    )


def _times(microseconds: Sequence[float], count: int) -> stats.Times | None:
    least, most, mean, stddev = (time / 1e6 for time in microseconds)
    return stats.Times(stats.Moments(count, mean, stddev), (least, most)) if most else None


def _percentiles(fields: Sequence[str]) -> dict[float, float]:
    """The percentiles of ``99.900000%=5341``, those that a Total has."""
    percentiles: dict[float, float] = {}
    for field in fields:
        percent, _, microseconds = field.partition("%=")
        share, value = printed_figure(percent), printed_figure(microseconds)
        if share in PERCENTILES and value is not None:
            percentiles[share] = value / 1e6
    return percentiles


def _disks(fields: Sequence[str]) -> Iterator[DiskUse]:
    for at in range(0, len(fields) - _DISK_FIELDS + 1, _DISK_FIELDS):
        name, util = fields[at], printed_figure(fields[at + _DISK_FIELDS - 1].rstrip("%"))
        if name and util is not None and fields[at + _DISK_FIELDS - 1].endswith("%"):
            yield DiskUse(name=name[:100], utilisation_percent=min(util, 100.0))
