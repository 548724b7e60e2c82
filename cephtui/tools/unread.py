"""What in a saved log looks like output of a benchmark, or like its command, and is in no run. Pure.

It is named, so that nothing of a log is dropped without a word.
"""

from __future__ import annotations

import contextlib
import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from cephtui.frozen import dataclass
from cephtui.tools import TOOLS
from cephtui.tools.logs import FoundRun, Log, LogLine, command_pattern, whole_command
from cephtui.tools.saved import SAVED
from cephtui.tools.signs import OTHERS, PROGRAMS, Sign, SignKind

UNREAD_MOST = 1000
"""Unread parts of one log; further ones are not looked for."""
_GAP_LINES = 12
"""Lines of one output are not further apart."""
_HEAD_LINES = 3
"""Between the line that announces a run and its first result."""
_LOOKED_AT = 300
"""Characters of a line by which it is known."""
_SHOWN_MOST = 120
"""Characters of a line that is named."""
_FILE_LINES, _FILE_LINE = 5000, 400
"""Lines of a file, and characters of each, by which the whole of it is known."""
_SIGNS = (
    *((name, Sign("output", pattern)) for name, pattern in OTHERS),
    *((tool, sign) for tool, saved in SAVED.items() for sign in saved.signs),
)
"""Each with the name of a tool or of another program. The first that matches counts."""
_KNOWN = re.compile(
    rf"\s*(?:{'|'.join(f'(?P<s{at}>{sign.pattern})' for at, (_, sign) in enumerate(_SIGNS))})", re.ASCII
)
"""Any of the signs: the group ``s3`` is the fourth of them."""
_COMMANDS = {
    tool: (f"{program} ", command_pattern(program), re.compile(asks))
    for tool, saved in SAVED.items()
    for program, asks in filter(None, [saved.command])
}
_FILES = [
    *((name, re.compile(form)) for name, form in PROGRAMS),
    *((name, re.compile(form)) for saved in SAVED.values() for name, form in saved.files),
]


@dataclass(frozen=True, slots=True)
class Unread:
    """Lines of a log that are in no run."""

    line: int
    last_line: int
    tool: str
    """Its name, or what it is called where cephtui has no such tool."""
    kind: SignKind
    text: str
    """The text of the first of its lines."""
    which: str = ""
    """As in a Sign."""
    heading: str = ""
    """The heading above it."""

    @property
    def what(self) -> str:
        """``iperf3 output``."""
        title = TOOLS[self.tool].title if self.tool in TOOLS else self.tool
        return f"{title} {'output' if self.kind == 'begun' else self.kind}"

    @property
    def why(self) -> str:
        """The reason why there is no run of it, as a sentence that stands alone."""
        match self.kind:
            case "command":
                return f"there is no output after the command in line {self.line}"
            case "begun":
                return f"there are no results after line {self.line}: {self.text}"
            case "error":
                return self.text
        if self.tool in SAVED and not self.which:
            return f"not understood: {self.text}"
        return _cannot_import(self.which or self.tool)

    @property
    def is_lost(self) -> bool:
        """Whether it has figures that were not imported."""
        return self.kind == "output"


def _cannot_import(name: str) -> str:
    return f"cephtui can't import output of {name}"


@dataclass(frozen=True, slots=True)
class _Command:
    tool: str
    line: int
    text: str


def problem_of(log: Log, unread: Sequence[Unread]) -> str:
    """The kind of a file in which no tool has found a run, by its unread parts or the whole; empty where not known."""
    if unread:
        return next((part.why for part in unread if part.is_lost), unread[0].why)
    text = "\n".join(line.text[:_FILE_LINE] for line in log.lines[:_FILE_LINES])
    name = next((name for name, form in _FILES if form.search(text)), "")
    if name:
        return _cannot_import(name)
    return "JSON of an unknown program" if _is_json(log.text) else ""


def _is_json(text: str) -> bool:
    """Whether it is a document, or a line of it is one."""
    if not text.lstrip().startswith(("{", "[")):
        return False
    for part in (text, text.lstrip().split("\n", 1)[0]):
        with contextlib.suppress(ValueError, RecursionError):
            json.loads(part)
            return True
    return False


def find_unread(log: Log, runs: Sequence[tuple[str, FoundRun]]) -> list[Unread]:
    """The unread parts in the order of the log; ``runs`` are those in it, with the names of their tools."""
    spans = sorted({span for _, run in runs for span in ((run.line, run.last_line), *run.other_spans)})
    outside = list(_outside(log.lines, spans))
    commands = list(_commands(log.lines, outside))
    parted = sorted([*(command.line for command in commands), *(run.line for _, run in runs)])
    outputs = list(_joined(_signs(log.lines, outside), runs, parted))
    silent = [
        Unread(command.line, command.line, command.tool, "command", command.text)
        for command in _without_output(commands, runs, outputs)
    ]
    return sorted([*outputs, *silent], key=lambda unread: unread.line)[:UNREAD_MOST]


def _outside(lines: Sequence[LogLine], spans: Sequence[tuple[int, int]]) -> Iterator[int]:
    """The places of the lines that are in no run, without empty ones."""
    at = end = 0
    for place, line in enumerate(lines):
        while at < len(spans) and spans[at][0] <= line.number:
            end = max(end, spans[at][1])
            at += 1
        if line.number > end and line.text:
            yield place


def _signs(lines: Sequence[LogLine], outside: Iterable[int]) -> Iterator[Unread]:
    for place in outside:
        line = lines[place]
        if match := _KNOWN.match(line.text, 0, _LOOKED_AT):
            tool, sign = _SIGNS[int((match.lastgroup or "")[1:])]
            yield Unread(line.number, line.number, tool, sign.kind, _shortened(line.text.strip()), sign.which)


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN_MOST else f"{text[:_SHOWN_MOST]} ..."


def _joined(signs: Iterable[Unread], runs: Sequence[tuple[str, FoundRun]], parted: Sequence[int]) -> Iterator[Unread]:
    """Lines near each other that nothing parts are one output."""
    began: dict[str, list[int]] = {}
    for tool, run in runs:
        began.setdefault(tool, []).append(run.line)
    last: Unread | None = None
    for sign in signs:
        starts = began.get(sign.tool, ())
        if sign.kind == "begun" and _is_between(starts, sign.line, sign.line + _HEAD_LINES):
            sign = replace(sign, kind="output")  # its results were read: it is only the line itself that was not
        if last and _is_one(last, sign) and not _is_between(parted, last.last_line, sign.line):
            shown = sign if (last.kind, sign.kind) == ("begun", "output") or (sign.which and not last.which) else last
            last = replace(shown, line=last.line, last_line=sign.line)
            continue
        if last:
            yield last
        last = sign
    if last:
        yield last


def _is_one(last: Unread, now: Unread) -> bool:
    same = last.tool == now.tool and "error" not in (last.kind, now.kind) and now.kind != "begun"
    return same and now.line - last.last_line <= _GAP_LINES


def _is_between(numbers: Sequence[int], low: int, high: int) -> bool:
    """Whether one of the numbers, which rise, is above ``low`` and not above ``high``."""
    return bisect_right(numbers, low) < bisect_right(numbers, high)


def _commands(lines: Sequence[LogLine], outside: Iterable[int]) -> Iterator[_Command]:
    """The commands that run a benchmark whose output can be imported."""
    last = -1
    for place in outside:
        text = lines[place].text if place > last else ""
        for tool, (program, pattern, benchmark) in _COMMANDS.items():
            if program in text and (match := pattern.fullmatch(text)):
                whole, last, _ = whole_command(lines, place, match["words"])
                if benchmark.search(whole):
                    yield _Command(tool, lines[place].number, whole)
                break


def _without_output(
    commands: Iterable[_Command], runs: Sequence[tuple[str, FoundRun]], outputs: Iterable[Unread]
) -> Iterator[_Command]:
    """The commands without an output: one is of its run's command, else of the nearest above that has none yet."""
    waiting: dict[str, list[_Command]] = {}
    events: list[tuple[int, str, _Command | str]] = [(command.line, command.tool, command) for command in commands]
    events += [(run.line, tool, run.command) for tool, run in runs]
    events += [(output.line, output.tool, "") for output in outputs]
    for _, tool, event in sorted(events, key=lambda event: event[0]):
        above = waiting.setdefault(tool, [])
        if isinstance(event, _Command):
            above.append(event)
        elif above:
            named = (at for at in reversed(range(len(above))) if above[at].text == event)
            del above[next(named, len(above) - 1)]
    for commands_of_tool in waiting.values():
        yield from commands_of_tool
