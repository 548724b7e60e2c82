"""Every run in a saved log of ``rados bench``; the format is in ``output``.

A run begins with the line ``Maintaining ...`` or with a row 0 of its table, and ends with its totals. Without these it
was stopped, or the log was cut.
"""

from __future__ import annotations

import re
import shlex
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from datetime import UTC, datetime

from cephtui import stats
from cephtui.frozen import dataclass
from cephtui.models import OptionValue
from cephtui.models.findings.measurement import INCOMPLETE
from cephtui.tools.base import OptionError, Reading
from cephtui.tools.logs import FoundRun, Log, LogLine, command_pattern, host_of, whole_command, without_output
from cephtui.tools.rados_bench.options import check
from cephtui.tools.rados_bench.output import (
    DATE,
    Announced,
    RadosBenchParser,
    read_announced,
    read_clock,
    read_row,
    read_total,
)
from cephtui.units import parse_size, short_size

_COMMAND = command_pattern("rados")
_PREFIX = re.compile(rf"(?:{DATE} )?Object prefix: benchmark_data_(\S+)_\d+ *", re.ASCII)
_SPEED = re.compile(rf"(?:{DATE} )? *(\d{{1,9}}) +\d+ +\d+ +(\d{{1,12}}) +(\d[\d.]{{0,20}}) .*", re.ASCII)
_SHORT = {"p": "pool", "t": "concurrent-ios", "b": "block-size", "O": "object-size"}
_WITH_VALUE = frozenset(
    (
        *("pool", "concurrent-ios", "block-size", "object-size", "namespace", "N", "id", "n", "name", "c", "conf"),
        *("k", "keyring", "m", "run-name", "max-objects"),
    )
)
_MODES = ("write", "seq", "rand")
_MIB = 1 << 20
_NEAR_LINES = 20
"""What stands further above a run's first row is not of the run."""
_BLOCKS = 0.02
"""By how much a block size that follows from rounded figures may be off."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command line, and what it asks for."""

    text: str
    node: str
    given: Mapping[str, str] = field(default_factory=dict)

    def fits(self, start: Announced | None) -> bool:
        """Whether it can have begun a run that printed this first."""
        if start is None:
            return self.given.get("mode") in ("seq", "rand")
        return self.given.get("mode") == "write" and self.given.get("runtime") == str(start.seconds)


def find_runs(log: Log) -> list[FoundRun]:
    """In the order of the log; raises nothing."""
    return [run for command, lines in _by_run(log.lines) if (run := _run(lines, command))]


def _by_run(lines: Sequence[LogLine]) -> Iterator[tuple[Command | None, list[LogLine]]]:
    """The lines of each run, with the command before it that was not another's."""
    command: Command | None = None
    own: list[LogLine] = []
    ahead = deque[LogLine](maxlen=_NEAR_LINES)  # lines with a time of day that are not within a run
    last, over = -1, False  # the second of the newest row, and whether there were totals
    for at, line in enumerate(lines):
        given = find_command(lines, at) if "rados" in line.text else None
        row, start, total = read_row(line.text), read_announced(line.text), read_total(line.text)
        again = bool(row and row.second <= last) or bool(start and last >= 0) or (over and bool(row or start))
        if given or again:
            if last >= 0:
                yield command, own
                command = None
            command, own, last, over = given or command, [], -1, False
            if given:
                ahead.clear()
        last, over = row.second if row else last, over or total is not None
        if row or start or total or _PREFIX.fullmatch(line.text):
            own += [] if own else [each for each in ahead if line.number - each.number <= _NEAR_LINES]
            own.append(line)
            ahead.clear()
        elif read_clock(line.text):
            (own if last >= 0 and not over else ahead).append(line)
    if last >= 0:
        yield command, own


def find_command(lines: Sequence[LogLine], at: int) -> Command | None:
    """That of a line, if it is one of ``rados bench``."""
    match = _COMMAND.fullmatch(lines[at].text)
    if not match:
        return None
    text = whole_command(lines, at, match["words"])
    try:
        given = _given(shlex.split(text, comments=True))
    except ValueError:
        return None
    return Command(text, host_of(match["prompt"]), given) if "mode" in given else None


def _given(words: Sequence[str]) -> dict[str, str]:
    """The options of a command, with its ``mode`` and ``runtime``, which have no name there."""
    found: dict[str, str] = {}
    plain: list[str] = []
    left = iter(words)
    for word in left:
        name, equals, value = word.lstrip("-").partition("=")
        name = _SHORT.get(name, name)
        if not word.startswith("-"):
            plain.append(word)
        elif equals:
            found[name] = value
        else:
            found[name] = next(left, "") if name in _WITH_VALUE else "true"
    after = plain[plain.index("bench") + 1 :] if "bench" in plain else []
    if len(after) > 1 and after[1] in _MODES:
        found.update(runtime=after[0], mode=after[1])
    return found


def _run(lines: Sequence[LogLine], before: Command | None) -> FoundRun | None:
    """None where nothing was finished."""
    texts = [line.text for line in lines]
    start = next((found for text in texts if (found := read_announced(text))), None)
    totals = dict(total for text in texts if (total := read_total(text)))
    command = before if before and before.fits(start) else None
    writes = start is not None or "total writes made" in totals
    options = _options(command, start, totals, texts, writes=writes)
    block = parse_size(str(options.get("block-size", "0")))
    parser = RadosBenchParser(block_bytes=block, seconds=None, measures_writes=True, is_imported=True)
    readings, clocks = _feed(parser, texts)
    result = parser.result()
    if not result.flows:
        return None
    whole = "total time run" in totals
    findings = () if whole else (INCOMPLETE.found(log=True),)
    return FoundRun(
        line=lines[0].number,
        last_line=lines[-1].number,
        name=f"rados-{options.get('mode', 'read')}",
        options=options,
        command=command.text if command else "",
        asked=without_output(command.text) if command else "",
        target=f"pool:{command.given['pool']}" if command and command.given.get("pool") else "",
        node=_host(texts) or (command.node if command else ""),
        started_at=datetime.fromtimestamp(clocks[0], UTC) if clocks else None,
        duration_seconds=max(flow.runtime_seconds for flow in result.flows.values()),
        stopped=not whole,
        summary=stats.summarise([result.flows]),
        findings=(*result.findings, *findings),
        readings=tuple(readings),
    )


def _feed(parser: RadosBenchParser, texts: Sequence[str]) -> tuple[list[Reading], list[float]]:
    """The seconds of a run, and when it began by each line that has a time of day."""
    readings: list[Reading] = []
    clocks: list[float] = []
    elapsed = 0.0
    for text in texts:
        if row := read_row(text):
            elapsed = float(row.second)
            clocks += [row.clock - elapsed] if row.clock is not None else []
        elif clock := read_clock(text):
            clocks.append(clock[0] - elapsed - clock[1])
        readings += parser.feed("stdout", f"{text}\n".encode(), elapsed)
    return [*readings, *parser.finish()], clocks


def _host(texts: Sequence[str]) -> str:
    return next((found[1] for text in texts if (found := _PREFIX.fullmatch(text))), "")


def _options(
    command: Command | None,
    start: Announced | None,
    totals: Mapping[str, float],
    texts: Sequence[str],
    *,
    writes: bool,
) -> dict[str, OptionValue]:
    """Those that are known, from the command, and else from what was printed."""
    given = command.given if command else {}
    block = totals.get("write size" if writes else "read size") or (start and start.block_bytes) or _block(texts)
    named = ("mode", "runtime", "concurrent-ios", "no-hints", "no-verify")
    known: dict[str, object] = {
        **({"concurrent-ios": 16} if command else {}),  # what rados takes where nothing is said
        **({"runtime": start.seconds, "concurrent-ios": start.in_flight} if start else {}),
        **({"mode": "write"} if writes else {}),
        **({"block-size": short_size(round(block))} if block else {}),
        **{name: given[name] for name in named if name in given},
    }
    if start and start.object_bytes != start.block_bytes:
        known["object-size"] = short_size(start.object_bytes)
    return {name: value for name in known if (value := _value(name, known)) is not None}


def _value(name: str, known: Mapping[str, object]) -> OptionValue | None:
    """As cephtui stores it; None for what it can't be."""
    with_it = (
        {name: known[name]} if name != "object-size" else {n: known[n] for n in (name, "block-size") if n in known}
    )
    try:
        return check({"mode": known.get("mode", "rand"), **with_it})[name]
    except OptionError:
        return None


def _block(texts: Sequence[str]) -> float:
    """Bytes of one read, from the newest row's mean speed, which has six digits; 0 where they fit no whole KiB."""
    for text in reversed(texts):
        found = _SPEED.fullmatch(text)
        if found and int(found[1]) and int(found[2]):
            value = float(found[3]) * _MIB * int(found[1]) / int(found[2])
            whole = max(1, round(value / 1024)) * 1024
            return whole if abs(value - whole) <= _BLOCKS * whole else 0.0
    return 0.0
