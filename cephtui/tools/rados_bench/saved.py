"""Every run in a saved log of ``rados bench``; the format is in ``output``.

A run begins with the line ``Maintaining ...``, with a row 0 of its table or with its totals, and ends with these or
with an error. Without them it was stopped, or the log was cut.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import field
from datetime import UTC, datetime

from cephtui import stats
from cephtui.frozen import dataclass
from cephtui.models import OptionValue
from cephtui.models.findings.measurement import INCOMPLETE
from cephtui.tools.base import OptionError, Reading
from cephtui.tools.commands import command_places
from cephtui.tools.logs import LINE_MOST, FoundRun, Log, LogLine
from cephtui.tools.rados_bench.given import PRESET, RadosCommand, RadosPrinted, read_command
from cephtui.tools.rados_bench.lines import (
    DATE,
    RadosAnnounced,
    RadosRow,
    read_announced,
    read_clock,
    read_row,
    read_total,
)
from cephtui.tools.rados_bench.options import RadosBenchOptions
from cephtui.tools.rados_bench.output import RadosBenchParser, block_of
from cephtui.tools.rados_bench.saved_json import LATENCY_STEP, as_lines
from cephtui.tools.signs import Sign
from cephtui.units import short_size

_PREFIX = re.compile(rf"(?:{DATE} )?Object prefix: benchmark_data_(\S+)_\d+ *", re.ASCII)
_HINTS = re.compile(r"hints = \d")
_ERROR = re.compile(
    r"error during benchmark: .*\d.*|Must write data before .*benchmark!?|error opening pool .*: \(\d+\) .*"
)
"""Errors that only rados prints."""
_ERROR_LAST = re.compile(r"error (?:during benchmark|opening pool)")
_ERROR_NEAR = re.compile(
    r"error: .*|error (?:connecting|\d).*|\S+ is not correct!|(?:read|write) got -\d+|r = -\d+|couldn't connect .*"
    r"|failed to fetch mon config.*|unable to get monitor info.*|unrecognized command .*"
    r"|.*(?:global_init: |unable to find a keyring|no keyring found|authentication error).*"
    r"|-\S+ .{0,60}can (?:only be used|be used only).*|(?:-?\w+: )?(?:line \d+: )?(?:\S*/)?rados: .*"
    r"|.*: \(\d+\) [A-Z].*"
)
"""Errors that rados prints, among other programs."""
_WRONG = re.compile(r"\S+ is not correct!")
_MADE = frozenset(("total writes made", "total reads made"))
_MIB = 1 << 20
_RUNS_MOST, _COMMANDS_MOST = 5000, 100
_NEAR_LINES = 20
"""Lines further above a run's first row, or below its last line, are not of the run."""
_SPACED = re.compile(r"Bandwidth \(MB/sec\):( +)")
"""More blanks for writes, so that it ends with their longer lines."""
_TIME = rf"(?:{DATE} +)?"
SIGNS: Sequence[Sign] = (
    Sign("output", _TIME + r"(?:Total time run|Total (?:writes|reads) made|Average IOPS|Bandwidth \(MB/sec\)) *: *\d"),
    Sign("output", _TIME + r"\d+ +\d+ +\d+ +\d+ +\d[\d.]* +\d[\d.]* +(?:- +\d\S*|\d\S* +\d*\.\d\S*)$"),
    Sign("output", r"\{?\"(?:sec|cur_ops|total_time_run)\""),
    Sign("begun", _TIME + r"Maintaining \d+ concurrent \w+ of \d+ bytes"),
    Sign("error", r"error during benchmark|Must write data before"),
)
COMMAND = ("rados", r"\sbench\s")


@dataclass(slots=True)
class _Part:
    """The lines of one run, and what they say."""

    lines: list[LogLine] = field(default_factory=list)
    errors: list[LogLine] = field(default_factory=list)
    announced: RadosAnnounced | None = None
    rows: list[RadosRow] = field(default_factory=list)
    totals: dict[str, float] = field(default_factory=dict)
    node: str = ""
    over: bool = False
    """Whether its last word has come."""
    step: float = 0.0
    """The step of its latencies; 0 where these have six digits."""

    @property
    def is_run(self) -> bool:
        """Whether there is anything of a run in it."""
        return bool(self.totals or self.errors or (self.rows and self.rows[-1].finished))

    @property
    def writes(self) -> bool | None:
        """Whether it writes; None where that is not known."""
        if self.announced or "total writes made" in self.totals or "write size" in self.totals:
            return True
        if self.rows or _MADE & self.totals.keys() or "read size" in self.totals:
            return False
        return self._writes_by_layout()

    def _writes_by_layout(self) -> bool | None:
        if any("reading" in line.text or "a read benchmark" in line.text for line in self.errors):
            return False
        texts = [line.text for line in self.lines]
        blanks = next((len(match[1]) for text in texts if (match := _SPACED.search(text))), 1)
        return True if any("Stddev" in text for text in texts) or blanks == 5 else False if 2 < blanks < 5 else None

    @property
    def block_bytes(self) -> int:
        """The bytes of one operation, by what was printed; 0 where that does not say it."""
        printed = self.totals.get("write size") or self.totals.get("read size")
        if printed is None and self.announced:
            return self.announced.block_bytes
        return round(printed) if printed else self._block_by_speed()

    def _block_by_speed(self) -> int:
        """The block by the mean speed, which has six digits; 0 where that tells no size from the next."""
        operations = next((self.totals[name] for name in _MADE if self.totals.get(name)), 0.0)
        totals = (self.totals.get("bandwidth (mb/sec)", 0.0), self.totals.get("total time run", 0.0), operations)
        rows = ((row.speed, float(row.second), float(row.finished)) for row in reversed(self.rows))
        speed, seconds, number = next(filter(all, (totals, *rows)), (0.0, 0.0, 0.0))
        return block_of(speed * _MIB * seconds / number, is_exact=all(totals)) if number else 0

    def printed(self) -> RadosPrinted:
        """The output as far as a command has to agree with it."""
        return RadosPrinted(
            announced=self.announced,
            writes=self.writes,
            block_bytes=self.block_bytes,
            seconds=None if self.errors else self.totals.get("total time run"),
            in_flight=max((row.in_flight for row in self.rows), default=0),
            rows=len(self.rows),
        )

    def takes(self, line: LogLine) -> bool:
        """Whether a line is of this run; its own begins the next otherwise."""
        if row := read_row(line.text):
            return not self.over and not (self.rows and row.second <= self.rows[-1].second)
        if total := read_total(line.text):
            return total[0] not in self.totals and self._can_have(total)
        if read_announced(line.text):
            return not (self.rows or self.over or self.totals or self.announced)
        if _PREFIX.fullmatch(line.text):
            return not (self.rows or self.over or self.totals or self.node)
        return not _HINTS.fullmatch(line.text) or not (self.rows or self.over or self.totals or self.announced)

    def _can_have(self, total: tuple[str, float]) -> bool:
        name, value = total
        if name not in _MADE:
            return True
        fits = "total time run" in self.totals or not self.rows or value >= self.rows[-1].finished
        return fits and not _MADE & self.totals.keys()

    def add(self, line: LogLine) -> None:
        """Take in one of its own lines; errors before it were warnings."""
        self.lines.append(line)
        self.errors = [error for error in self.errors if _WRONG.fullmatch(error.text)]
        if row := read_row(line.text):
            self.rows.append(row)
        elif total := read_total(line.text):
            self.totals[total[0]] = total[1]
            self.over = True
        elif prefix := _PREFIX.fullmatch(line.text):
            self.node = prefix[1]
        else:
            self.announced = self.announced or read_announced(line.text)

    def fail(self, line: LogLine) -> None:
        """A line that says what is wrong, which may be its last."""
        self.errors.append(line)
        self.over = self.over or bool(_ERROR.fullmatch(line.text))

    @property
    def last_line(self) -> int:
        """The number of the last line; 0 without one."""
        return max((part_lines[-1].number for part_lines in (self.lines, self.errors) if part_lines), default=0)


def find_runs(log: Log) -> list[FoundRun]:
    """The runs in the order of the log; raises nothing."""
    lines, documents = as_lines(log)
    finder = _Finder()
    commands = {at: command for at in command_places(lines, "rados") if (command := read_command(lines, at))}
    for at, line in enumerate(lines):
        if finder.is_full:
            break
        finder.take(lines, at, commands.get(at), is_document=line.number in documents)
    return [*finder.finish()]


class _Finder:
    """Takes a log line by line and cuts it into runs."""

    def __init__(self) -> None:
        self._part = _Part()
        self._commands: list[RadosCommand] = []
        """Commands of which no run has been found."""
        self._is_used = False
        """Whether a run has been found since the newest."""
        self._ahead = deque[LogLine](maxlen=_NEAR_LINES)
        """Lines with a time of day that are not within a run."""
        self._runs: list[FoundRun] = []

    def take(self, lines: Sequence[LogLine], at: int, command: RadosCommand | None, *, is_document: bool) -> None:
        """The next line, and the command that it begins."""
        line = lines[at]
        if command:
            self._begin(command)
        elif _is_own(line.text):
            line = _unbroken(lines, at)
            if not self._part.takes(line):
                self._end()
            self._lead(line)
            self._part.add(line)
            self._part.step = LATENCY_STEP if is_document else 0.0
        elif self._is_error(line):
            self._part.fail(line)
        elif read_clock(line.text):
            (self._part.lines if self._part.rows and not self._part.over else self._ahead).append(line)
        elif _HINTS.fullmatch(line.text) and not self._part.takes(line):
            self._end()

    @property
    def is_full(self) -> bool:
        """Whether there are more runs than any session takes."""
        return len(self._runs) > _RUNS_MOST

    def finish(self) -> Iterator[FoundRun]:
        """All runs."""
        self._end()
        yield from self._runs

    def _begin(self, command: RadosCommand) -> None:
        self._end()
        if self._is_used:
            self._commands = []
        self._commands = [*self._commands[-_COMMANDS_MOST:], command]
        self._is_used = False
        self._ahead.clear()

    def _lead(self, line: LogLine) -> None:
        if not self._part.lines:
            self._part.lines += [ahead for ahead in self._ahead if line.number - ahead.number <= _NEAR_LINES]
        self._ahead.clear()

    def _is_error(self, line: LogLine) -> bool:
        near = self._part.last_line or (self._commands[-1].last_line if self._commands and not self._is_used else 0)
        is_near = bool(near) and line.number - near <= _NEAR_LINES
        if _ERROR.fullmatch(line.text):
            if not is_near or any(_ERROR_LAST.match(error.text) for error in self._part.errors):
                self._end()
            return True
        return is_near and not self._part.totals and bool(_ERROR_NEAR.fullmatch(line.text))

    def _end(self) -> None:
        part, self._part = self._part, _Part()
        if not part.is_run:
            return
        printed = part.printed()
        command = self._command_of(part, printed)
        if run := _run(part, command):
            before = self._runs[-1] if self._runs else None
            if not (before and _is_said_again(part, before)):
                self._runs.append(run)
            self._is_used = True
            if command and not command.repeats:
                self._commands.remove(command)

    def _command_of(self, part: _Part, printed: RadosPrinted) -> RadosCommand | None:
        """The command directly above a run if it stands alone, else the only one above of those that agree."""
        agreeing = [command for command in self._commands if command.agrees(printed)]
        if not agreeing or len({command.request for command in agreeing}) == 1:
            return agreeing[-1] if agreeing else None
        *_, before, last = self._commands
        first = (part.lines or part.errors)[0].number
        alone = last.line - before.last_line > 1 and first - last.last_line <= 2
        return last if alone and last in agreeing and not self._is_used else None


def _is_own(text: str) -> bool:
    return bool(read_row(text) or read_announced(text) or read_total(text) or _PREFIX.fullmatch(text))


def _unbroken(lines: Sequence[LogLine], at: int) -> LogLine:
    """A line with the rest of it, where what announces a run was too long for a terminal."""
    line, announced = lines[at], read_announced(lines[at].text)
    if announced and not announced.seconds and at + 1 < len(lines):
        return line._replace(text=f"{line.text} {lines[at + 1].text}"[:LINE_MOST])
    return line


def _is_said_again(part: _Part, before: FoundRun) -> bool:
    """Whether nothing but a figure of the run above is repeated, as prose does."""
    if part.rows or part.errors or part.totals.keys() != {"bandwidth (mb/sec)"}:
        return False
    speed = part.totals["bandwidth (mb/sec)"] * _MIB
    bandwidths = [flow.bandwidth_bytes or 0.0 for flow in before.summary.flows.values() if flow.ios is not None]
    return any(abs(speed - bandwidth) <= 1e-4 * bandwidth for bandwidth in bandwidths)


def _run(part: _Part, command: RadosCommand | None) -> FoundRun | None:
    """The run of a part; None where nothing was finished and nothing was wrong."""
    options = _options(part, command)
    mode = str(options.get("mode", "read" if part.writes is False else "write" if part.writes else ""))
    block = part.block_bytes or (command.block_bytes if command else 0)
    parser = RadosBenchParser(
        block_bytes=block, seconds=None, measures_writes=True, is_imported=True, latency_step=part.step
    )
    readings, clocks = _feed(parser, part)
    result = parser.result()
    flows = result.flows or _flows(part, block, mode)
    if not flows and not result.error:
        return None
    unknown = {k: v for k, v in command.variables.items() if k not in options} if command else {}
    is_cut = bool(part.rows) and "total time run" not in part.totals and not result.error
    lines = [*part.lines, *part.errors]
    return FoundRun(
        line=min(line.number for line in lines),
        last_line=max(line.number for line in lines),
        name=f"rados-{mode}" if mode else "rados",
        options=options,
        other_options={**command.other_options, **unknown} if command else {},
        has_all_options=command is not None and command.is_whole and not unknown and "block-size" in options,
        command=command.text if command else "",
        request=command.request if command else "",
        target=f"pool:{command.options['pool']}" if command and command.options.get("pool") else "",
        node=part.node or (command.node if command else ""),
        started_at=datetime.fromtimestamp(clocks[0], UTC) if clocks else None,
        duration_seconds=max((flow.runtime_seconds for flow in flows.values()), default=0.0),
        stopped=is_cut,
        error=result.error,
        summary=stats.summarise([flows]),
        findings=(*result.findings, *([INCOMPLETE.found(log=True)] if is_cut else [])),
        readings=tuple(readings) if part.rows else (),
    )


def _feed(parser: RadosBenchParser, part: _Part) -> tuple[list[Reading], list[float]]:
    """The seconds of a run, and when it began by each line that has a time of day."""
    readings: list[Reading] = []
    clocks: list[float] = []
    elapsed = 0.0
    for line in part.lines:
        text = line.text
        if row := read_row(text):
            elapsed = float(row.second)
            clocks += [row.clock - elapsed] if row.clock is not None else []
        elif clock := read_clock(text):
            clocks.append(clock[0] - elapsed - clock[1])
        readings += parser.feed("stdout", f"{text}\n".encode(), elapsed)
    for line in part.errors:
        parser.feed("stderr", f"{line.text}\n".encode(), elapsed)
    return [*readings, *parser.finish()], clocks


def _flows(part: _Part, block: int, mode: str) -> dict[str, stats.Flow]:
    """The flows by some of the totals, where not all of them are in the log."""
    speed, iops = part.totals.get("bandwidth (mb/sec)"), part.totals.get("average iops")
    if not mode or not (speed or iops):
        return {}
    moved = speed * _MIB if speed else iops * block if iops and block else None
    mean, low, high = (part.totals.get(f"{name} latency") for name in ("average", "min", "max"))
    flow = stats.Flow(
        ios=None,
        bytes=0,
        runtime_seconds=part.totals.get("total time run", 0.0),
        iops=moved / block if speed and moved and block else iops,
        bandwidth_bytes=moved,
        buckets={},
        moments=None if mean is None else stats.Moments(1, mean, part.totals.get("stddev latency")),
        bounds=None if low is None or high is None else (low, high),
    )
    return {"write" if mode == "write" else "read": flow}


def _options(part: _Part, command: RadosCommand | None) -> dict[str, OptionValue]:
    """The options that are known, from the command, and else from what was printed."""
    texts = {k: v for k, v in command.options.items() if k not in command.variables} if command else {}
    start = part.announced
    block = part.block_bytes or (command.block_bytes if command else 0)
    values: dict[str, object] = {
        **({"concurrent-ios": 16} if command and "concurrent-ios" not in command.options else {}),  # rados' default
        **({"runtime": start.seconds, "concurrent-ios": start.in_flight} if start else {}),
        **({"mode": "write"} if part.writes else {}),
        **{name: texts[name] for name in PRESET if name in texts and name not in ("block-size", "object-size")},
        **({"block-size": short_size(block)} if block else {}),
    }
    if start and start.object_bytes != start.block_bytes:
        values["object-size"] = short_size(start.object_bytes)
    elif texts.get("object-size") and not start:
        values["object-size"] = texts["object-size"].lower()
    return {name: value for name in values if (value := _value(name, values)) is not None}


def _value(name: str, values: dict[str, object]) -> OptionValue | None:
    """The value as cephtui stores it; None for what it can't be."""
    with_it = (
        {name: values[name]} if name != "object-size" else {n: values[n] for n in (name, "block-size") if n in values}
    )
    try:
        return RadosBenchOptions.check({"mode": values.get("mode", "rand"), **with_it})[name]
    except OptionError:
        return None
