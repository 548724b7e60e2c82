"""Saved output as people keep it: the lines of a log without what a terminal or a document has added, and the runs
that a tool finds in them. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import NamedTuple

from cephtui.frozen import dataclass
from cephtui.models import DiskUse, Finding, JobResult, NodeResult, OptionValue, Summary
from cephtui.tools.base import Reading

LINES_MOST = 2_000_000
VALUES_MOST = 4_000_000
"""Of JSON. With so many lines or values a log takes a few seconds and half a gigabyte; those of tools are longer."""
LINE_MOST = 8192
"""Characters of a line that are looked at; a tool's own lines are shorter."""
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_]|[()][0-9A-B])")
_QUOTED = re.compile(r"(?:\s{0,3}> ?)+")
_NUMBERED = re.compile(r"\s{0,8}(\d{1,5})(?: (.*)|)", re.DOTALL)
_FIRST = re.compile(r"(?:^|\r)(?:[^\S\n]|>){0,99}0{0,4}1(?:\s|$)", re.MULTILINE)
"""Without such a line there is no numbered listing."""
_FIGURES = re.compile(r"\s*\d+(?:\s+[\d.]+){3}")
"""A row of a table, which may begin with a number that counts."""
_SECOND_WITHIN = 6
"""Lines in which the number 2 follows the number 1 of a listing, however its first line is broken."""


class LogLine(NamedTuple):
    """A line as the tool printed it."""

    number: int
    """In the file, from 1."""
    text: str


@dataclass(frozen=True, slots=True)
class Log:
    """The text of a file without escape sequences, and its lines."""

    text: str
    lines: Sequence[LogLine]
    """A line that was printed over (``\\r``) is several with the same number."""


@dataclass(frozen=True, slots=True)
class FoundRun:
    """A run in a log; what the log does not say is empty."""

    line: int
    """The first that is the run's own."""
    last_line: int
    name: str
    """Of its job, or what it does."""
    options: Mapping[str, OptionValue]
    """Those that are known and that a preset can have, in the tool's own spelling."""
    other_options: Mapping[str, str] = field(default_factory=dict)
    """Those that it was given and that no preset can have, as they were given."""
    has_all_options: bool = False
    """Whether these are all that it was given: what is not among them has the tool's default."""
    command: str = ""
    asked: str = ""
    """All that it was asked to do, as the log has it: of two runs of a log it is the same only if nothing differs."""
    target: str = ""
    """As it would be typed: ``device:/dev/rbd0``."""
    node: str = ""
    version: str = ""
    """Of the tool, as it prints it."""
    started_at: datetime | None = None
    """Without a time zone where the log has none."""
    duration_seconds: float = 0.0
    stopped: bool = False
    """Whether it was ended before its time."""
    error: str | None = None
    summary: Summary = field(default_factory=Summary)
    jobs: tuple[JobResult, ...] = ()
    cpu_user_percent: float | None = None
    cpu_system_percent: float | None = None
    context_switches: int | None = None
    depths: Mapping[str, float] = field(default_factory=dict)
    """As in a NodeResult."""
    nodes: tuple[NodeResult, ...] = ()
    """Each of several nodes that ran it at the same time; the figures above are those of all together."""
    disks: tuple[DiskUse, ...] = ()
    findings: tuple[Finding, ...] = ()
    readings: tuple[Reading, ...] = ()
    """Its seconds, where the log has them."""
    part: int = 0
    """The part of the log that it stands in: those of one have no heading or other text between them."""
    heading: str = ""
    """What its part stands under."""


Finder = Callable[[Log], list[FoundRun]]
"""What a tool finds in a log, in its order; it raises nothing, whatever the log is."""


def read_log(text: str) -> Log:
    """A log of any origin: with colours, progress lines, prompts, quoted or as a listing with numbered lines.

    Raises ValueError for one of millions of lines or values, whose parts take far more memory than its text.
    """
    _check_number("lines", text.count("\n"), LINES_MOST)
    _check_number("values of JSON", sum(map(text.count, ",{[")), VALUES_MOST)
    plain = _ESCAPES.sub("", text) if "\x1b" in text else text
    plain = plain.replace("\t", " ").replace("\r\n", "\n")
    lines = list(_lines(plain))
    return Log(plain, list(_without_numbers(lines)) if _FIRST.search(plain) else lines)


def _check_number(what: str, number: int, most: int) -> None:
    if number > most:
        raise ValueError(f"{number:,} {what}, expected at most {most:,}")


def _lines(text: str) -> Iterator[LogLine]:
    for number, whole in enumerate(text.split("\n"), 1):
        for part in whole.split("\r") if "\r" in whole else (whole,):
            quoted = _QUOTED.match(part) if ">" in part[:8] else None
            yield LogLine(number, part[quoted.end() if quoted else 0 :][:LINE_MOST].rstrip())


def _without_numbers(lines: Sequence[LogLine]) -> Iterator[LogLine]:
    """A listing whose lines are numbered 1, 2, 3 has its own text, with a broken line in one piece again.

    Its numbers may go on behind the end of a page. What is no listing is given as it is.
    """
    last, held = 0, None  # the number of the listing's newest line, and that line until it is complete
    for at, line in enumerate(lines):
        found = _NUMBERED.fullmatch(line.text)
        number = int(found[1]) if found else 0
        if found and ((last and number == last + 1) or (number == 1 and _begins(lines, at))):
            if held:
                yield held
            last, held = number, LogLine(line.number, found[2] or "")
        elif held and not _is_gap(line.text):
            held = _continued(held, line.text)
        else:
            if held:
                yield held
            held = None
            last = last if _is_gap(line.text) else 0
            yield line
    if held:
        yield held


def _is_gap(text: str) -> bool:
    return not text or text.isspace() or text.lstrip().startswith("```")


def _begins(lines: Sequence[LogLine], at: int) -> bool:
    """Whether a listing begins with this line, which is numbered 1."""
    if _FIGURES.match(lines[at].text) or (at and not _is_gap(lines[at - 1].text)):
        return False
    following = (_NUMBERED.fullmatch(line.text) for line in lines[at + 1 : at + 1 + _SECOND_WITHIN])
    return next((found[1] for found in following if found), "") == "2"


def _continued(line: LogLine, text: str) -> LogLine:
    """A hyphen at the end was there before the line was broken."""
    space = "" if line.text.endswith("-") else " "
    return LogLine(line.number, f"{line.text}{space}{text.strip()}"[:LINE_MOST])


_PROMPT = r"(?:\S*[#$%>❯»]\s+|.{0,80}[#$]\s+|\++\s+|[$#]\s*)?"
_BEFORE = r"(?:(?:sudo|time|nice|env|exec|numactl|taskset|timeout)(?:\s+-\S+|\s+\d\S*)*\s+)*"
_BEFORE += r"""(?:[A-Za-z_]\w*=(?:'[^']*'|"[^"]*"|[^\s'"]*)\s+)*"""


def command_pattern(program: str) -> re.Pattern[str]:
    """Matches a line on which a shell runs a program: ``prompt`` is what stands before it, ``words`` the rest."""
    return re.compile(rf"\s*(?P<prompt>{_PROMPT})(?P<words>{_BEFORE}(?:\S*/)?{program}\s+\S.*)")


_HOST = re.compile(r"[\w.-]+@([\w-]+)")


def host_of(prompt: str) -> str:
    """``pve1`` of the prompt ``root@pve1:~# ``; empty where it names none."""
    found = _HOST.search(prompt)
    return found[1] if found else ""


def whole_command(lines: Sequence[LogLine], at: int, first: str) -> str:
    """A command with the lines that a backslash or a hyphen at the end of each joins to it."""
    text = first.strip()
    for line in lines[at + 1 :]:
        if text.endswith("\\"):
            text = f"{text[:-1].rstrip()} {line.text.strip()}"
        elif text.endswith(" -"):
            text += line.text.strip()
        else:
            break
        if len(text) > LINE_MOST:
            break
    return text


_OUTPUT = re.compile(r"\s--?(?:output|write_\w+_log|log_\w+|run-name)(?:=|\s+)\S+|\s*(?:\||>|\d>|&>).*", re.DOTALL)


def without_output(command: str) -> str:
    """A command without where its output goes, which is no part of what it does."""
    return _OUTPUT.sub("", command)


def is_variable(value: str) -> bool:
    """Whether a shell has put something else in the place of a value, so that it is not known."""
    return "$" in value or "`" in value


def joined_names(names: Iterable[str]) -> str:
    """``a``, ``a + b``, ``a + b and 3 more``."""
    found = list(dict.fromkeys(names))
    more = f" and {len(found) - 2} more" if len(found) > 2 else ""
    return " + ".join(found[:2]) + more
