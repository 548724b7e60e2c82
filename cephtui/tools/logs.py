"""Saved output as people keep it: the lines of a log without what a terminal or a document has added, and the runs
that a tool finds in them. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from html import unescape
from itertools import pairwise
from typing import NamedTuple

from cephtui.frozen import dataclass
from cephtui.models import DiskUse, Finding, JobResult, LatencyShare, NodeResult, OptionValue, Outcome, Summary
from cephtui.tools.base import Reading

LINES_MOST = 2_000_000
VALUES_MOST = 4_000_000
"""Of JSON. With so many lines or values a log takes a few seconds and half a gigabyte; those of tools are longer."""
LINE_MOST = 8192
"""Characters of a line that are looked at; a tool's own lines are shorter."""
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_]|[()][0-9A-B])")
_INVISIBLE = {"\xa0": " ", "\u200b": "", "\ufeff": "", "\t": " ", "\r\n": "\n"}
"""Characters that web pages, editors and terminals put in place of blanks and line ends, or between."""
_HTML = re.compile(r"</(?:pre|code|span|td|div|p|b|strong|h[1-6])>|<br ?/?>", re.IGNORECASE)
"""Of these a page has one, unless it is the source of it that is shown."""
_BREAK = re.compile(r"(?:<br\s{0,9}/?>|</(?:p|div|li|tr|pre)>)(?!\n)", re.IGNORECASE)
_TAG = re.compile(
    r"</?(?:pre|code|span|div|p|br|table|tbody|thead|tr|td|th|ul|ol|li|strong|b|em|i|a|font|tt|samp|kbd|blockquote)"
    r"(?:\s[^<>]{0,400})?/?>",
    re.IGNORECASE,
)
_FORUM = re.compile(r"\[/(?:code|icode|b|i|u|quote|spoiler|size|color|font|heading|list)\]", re.IGNORECASE)
_FORUM_TAG = re.compile(
    r"\[/?(?:code|icode|b|i|u|quote|spoiler|size|color|font|heading|list|\*)(?:=[^\]\n]{0,200})?\]", re.IGNORECASE
)
_ENTITY = re.compile(r"&(?:gt|lt|amp|quot|nbsp|apos|#\d{1,6}|#x[0-9a-fA-F]{1,5});")
_LED = frozenset(">-*+•`0123456789")
_LEAD = re.compile(r"(?:\s{0,99}(?:>(?!=)|[-*+•](?:\s|$)|(?P<item>\d{1,5}[.)])(?:\s|$))){0,12}\s*")
_LEAD_MOST = 400
_NUMBERED = re.compile(r"(?!\d\d:\d\d:\d\d\b)(\d{1,5})(?:\s{0,9}(?P<mark>[:|])|\s|$)")
_FIGURES = re.compile(r"\d+(?:\s+[\d.]+){3}")
"""A row of a table, which may begin with a number that counts."""
_JOINED_MOST = 400
"""Lines of one command."""
_SECOND_WITHIN = 6
"""Lines in which the next number of a listing follows, however the line before is broken."""
_BROKEN_LEAST = 40
"""Characters: a shorter line was not broken."""


class LogLine(NamedTuple):
    """A line as the tool printed it."""

    number: int
    """The number of the line in the file, from 1."""
    text: str
    item: str = ""
    """``2.`` where it begins the second item of a list."""


@dataclass(frozen=True, slots=True)
class Log:
    """The text of a file without what was put around it, and its lines, the longest cut."""

    text: str
    """Its lines have the numbers that they have in the file."""
    lines: Sequence[LogLine]
    """A line that was printed over (``\\r``) is several with the same number."""


@dataclass(frozen=True, slots=True)
class FoundRun:
    """A run in a log; what the log does not say is empty."""

    line: int
    """The first that is the run's own."""
    last_line: int
    name: str
    """The name of its job, or what it does."""
    options: Mapping[str, OptionValue]
    """The options that are known and that a preset can have, in the tool's own spelling."""
    other_options: Mapping[str, str] = field(default_factory=dict)
    """The options that it was given and that no preset can have, as they were given."""
    has_all_options: bool = False
    """Whether these are all that it was given: what is not among them has the tool's default."""
    command: str = ""
    request: str = ""
    """All that it was asked to do, as the log has it: of two runs of a log it is the same only if nothing differs."""
    target: str = ""
    """The target as it would be typed: ``device:/dev/rbd0``."""
    node: str = ""
    version: str = ""
    """The version of the tool, as it prints it."""
    started_at: datetime | None = None
    """Without a time zone where the log has none."""
    duration_seconds: float = 0.0
    stopped: bool = False
    """Whether it was ended early."""
    error: str | None = None
    summary: Summary = field(default_factory=Summary)
    jobs: tuple[JobResult, ...] = ()
    cpu_user_percent: float | None = None
    cpu_system_percent: float | None = None
    context_switches: int | None = None
    depths: Mapping[str, float] = field(default_factory=dict)
    """As in a NodeResult."""
    latency_shares: tuple[LatencyShare, ...] = ()
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
    """The heading of its part."""
    other_spans: tuple[tuple[int, int], ...] = ()
    """First and last lines of what else is of it, and was read: what announces it, sums, the same in another form."""


def node_result(run: FoundRun, node: str, outcome: Outcome, error: str | None) -> NodeResult:
    """The result of a node in a run."""
    return NodeResult(
        node=node,
        outcome=outcome,
        error=error,
        command=run.command,
        summary=run.summary,
        cpu_user_percent=run.cpu_user_percent,
        cpu_system_percent=run.cpu_system_percent,
        context_switches=run.context_switches,
        depths=dict(run.depths),
        latency_shares=run.latency_shares,
        disks=run.disks,
        jobs=run.jobs,
    )


Finder = Callable[[Log], list[FoundRun]]
"""A function that gives the runs in a log, in its order; it raises nothing, whatever the log is."""


def read_log(text: str) -> Log:
    """A log of any origin: with colours or progress lines, indented, quoted, as a list, or with numbered lines.

    Raises ValueError for one of millions of lines or values, whose parts take far more memory than its text.
    """
    _check_number("lines", text.count("\n"), LINES_MOST)
    _check_number("values of JSON", sum(map(text.count, ",{[")), VALUES_MOST)
    plain = _ESCAPES.sub("", text) if "\x1b" in text else text
    plain = _without_markup(plain)
    for character, meant in _INVISIBLE.items():
        plain = plain.replace(character, meant)
    lines, is_led = list(_lines(plain)), False
    if any(map(_is_led, lines)):
        unled = [
            line if _is_redirection(before, line) else _undecorated(line)
            for before, line in pairwise([LogLine(0, ""), *lines])
        ]
        plainly = list(_without_numbers(unled))
        if plainly != unled:
            plainly = list(map(_undecorated, plainly))
        lines, is_led = plainly, plainly != lines
    clean_text = _joined(lines) if is_led else plain
    for at, line in enumerate(lines):
        if len(line.text) > LINE_MOST:
            lines[at] = line._replace(text=line.text[:LINE_MOST].rstrip())
    return Log(clean_text, lines)


def _without_markup(text: str) -> str:
    """A page of HTML, or a post of a forum, as it is shown, each line where it is; other text is given as it is."""
    if "<" in text and _HTML.search(text):
        text = _TAG.sub("", _BREAK.sub("\r", text))
    if "[/" in text and _FORUM.search(text):
        text = _FORUM_TAG.sub("", text)
    return _ENTITY.sub(lambda entity: unescape(entity[0]), text) if "&" in text else text


def _check_number(what: str, number: int, most: int) -> None:
    if number > most:
        raise ValueError(f"{number:,} {what}, expected at most {most:,}")


def _lines(text: str) -> Iterator[LogLine]:
    for number, whole in enumerate(text.split("\n"), 1):
        for part in whole.split("\r") if "\r" in whole else (whole,):
            yield LogLine(number, part.strip())


def _joined(lines: Iterable[LogLine]) -> str:
    """Their text, each on the line of its number."""
    pieces: list[str] = []
    at = 1
    for line in lines:
        pieces += ["\n" * (line.number - at) or "\r" * bool(pieces), line.text]
        at = line.number
    return "".join(pieces)


def _is_redirection(before: LogLine, line: LogLine) -> bool:
    """Whether the mark of a quote is a shell's, of a command that goes on."""
    return line.text.startswith(">") and before.text.endswith("\\") and not before.text.startswith(">")


def _is_led(line: LogLine) -> bool:
    return line.text[:1] in _LED and bool(line.text)


def _undecorated(line: LogLine) -> LogLine:
    """A line without the marks of quotes and lists before it, and of code around it."""
    if not _is_led(line):
        return line
    line = _unled(line)
    text = line.text
    if text[:1] == "`" == text[-1:] and "``" not in text:
        return _unled(line._replace(text=text[1:-1].strip()))
    return line


def _unled(line: LogLine) -> LogLine:
    lead = _LEAD.match(line.text, 0, _LEAD_MOST)
    return LogLine(line.number, line.text[lead.end() :], lead["item"] or line.item) if lead and lead.end() else line


def _without_numbers(lines: Sequence[LogLine]) -> Iterator[LogLine]:
    """A listing whose lines are numbered has its own text, with a broken line in one piece again.

    Its numbers may go on behind the end of a page. What is no listing is given as it is.
    """
    last, mark, held = 0, "", None  # the newest line's number, what is behind it, and that line until it is complete
    for at, line in enumerate(lines):
        match = _numbered(line)
        number = int(match[1]) if match else 0
        begins = bool(match) and not _is_next(lines, at, number, last) and _begins(lines, at, number)
        if match and (begins or _is_next(lines, at, number, last)):
            if held:
                yield held
            last, mark = number, (match["mark"] or "") if begins else mark
            held = LogLine(line.number, line.text[len(match[1]) :].lstrip().removeprefix(mark).strip())
        elif held and line.number != held.number and not _is_gap(line.text) and _goes_on(lines, at, last + 1):
            held = _continued(held, line.text)
        else:
            if held:
                yield held
            held = None
            last = last if _is_gap(line.text) or line.number == lines[at - 1].number else 0
            yield line
    if held:
        yield held


def _numbered(line: LogLine) -> re.Match[str] | None:
    return _NUMBERED.match(line.text) if line.text[:1].isdecimal() else None


def _is_next(lines: Sequence[LogLine], at: int, number: int, last: int) -> bool:
    """Whether a line goes on with the listing; a row of a table only behind a line with a number."""
    if not last or number != last + 1:
        return False
    before = lines[at - 1]
    return not _FIGURES.match(lines[at].text) or _is_gap(before.text) or _numbered(before) is not None


def _is_gap(text: str) -> bool:
    return not text or text.startswith("```")


def _begins(lines: Sequence[LogLine], at: int, number: int) -> bool:
    """Whether a listing begins with this line: one from 1, or a piece of one, such as ``grep -n`` gives."""
    if _FIGURES.match(lines[at].text) or (at and not _is_gap(lines[at - 1].text)):
        return False
    matches = [match for line in lines[at : at + 1 + _SECOND_WITHIN] if (match := _numbered(line))]
    numbers = [number, number + 1] if number == 1 else [number, number + 1, number + 2]
    return [int(match[1]) for match in matches[: len(numbers)]] == numbers


def _goes_on(lines: Sequence[LogLine], at: int, number: int) -> bool:
    """Whether a line without a number is part of the one before it, which was too long for the page."""
    if len(lines[at - 1].text) < _BROKEN_LEAST:
        return False
    for line in lines[at + 1 : at + 1 + _SECOND_WITHIN]:
        match = _numbered(line)
        if _is_gap(line.text) or (match and int(match[1]) == number and not _FIGURES.match(line.text)):
            return True
    return at + 1 + _SECOND_WITHIN >= len(lines)


def _continued(line: LogLine, text: str) -> LogLine:
    """A hyphen at the end was there before the line was broken."""
    space = "" if line.text.endswith("-") else " "
    return LogLine(line.number, f"{line.text}{space}{text}" if len(line.text) < LINE_MOST else line.text)


_PROMPT = r"(?:\S*[#$%>❯»]\s+|(?:[Rr]unning|[Ee]xecuting)(?: command)?:\s+|.{0,80}[#$]\s+|\++\s+|[$#]\s*)?"
_BEFORE = r"(?:(?:sudo|time|nice|env|exec|numactl|taskset|timeout)(?:\s+-\S+|\s+\d\S*)*\s+)*"
_BEFORE += r"""(?:[A-Za-z_]\w*=(?:'[^']*'|"[^"]*"|[^\s'"]*)\s+)*"""


def command_pattern(program: str) -> re.Pattern[str]:
    """Matches a line on which a shell runs a program: ``prompt`` is what stands before it, ``words`` the rest."""
    return re.compile(rf"\s*(?P<prompt>{_PROMPT})(?P<words>{_BEFORE}(?:\S*/)?{program}\s+\S.*)")


_HOST = re.compile(r"[\w.-]+@([\w-]+)")


def host_of(prompt: str) -> str:
    """``pve1`` of the prompt ``root@pve1:~# ``; empty where it names none."""
    match = _HOST.search(prompt)
    return match[1] if match else ""


_OPTION = re.compile(r"(?!-[r-][w-][xsS-])--?[A-Za-z][\w-]*(?:[=\s]|$)")
_REST = re.compile(r"(?:[^\s$()]*=[^\s$()]*|(?!\S*bin/)/\S+|\d\S*)\s+--[a-z][\w-]*=\S")
"""How a line begins that seems to be the rest of a command: a value with the next option."""


class WholeCommand(NamedTuple):
    """A command in one piece."""

    text: str
    last: int
    """The place of its last line."""
    is_whole: bool
    """False where more of it seems to follow, which can't be told from what is not its own."""


def whole_command(lines: Sequence[LogLine], at: int, first: str) -> WholeCommand:
    """A command with the lines that a backslash or hyphens at the end of each join to it, and with those that begin
    with an option: a page or a mail has broken it there.
    """
    text = first.strip()
    for place in range(at + 1, min(len(lines), at + 1 + _JOINED_MOST)):
        line = lines[place].text.strip()
        if text.endswith("\\"):
            text = f"{text[:-1].rstrip()} {line}"
        elif text.endswith((" -", " --")):
            text += line
        elif _OPTION.match(line):
            text = f"{text} {line}"
        else:
            return WholeCommand(text, place - 1, not (_REST.match(line) or (line and text.endswith("="))))
        if len(text) > LINE_MOST:
            return WholeCommand(text, place, is_whole=False)
    last = min(len(lines) - 1, at + _JOINED_MOST)
    return WholeCommand(text, last, is_whole=last + 1 == len(lines))


def command_end(lines: Sequence[LogLine], at: int) -> int:
    """The place of the last line that is joined to a command: those between begin none."""
    while at + 1 < len(lines) and lines[at].text.rstrip().endswith(("\\", " -")):
        at += 1
    return at


_OUTPUT = re.compile(r"\s--?(?:output|write_\w+_log|log_\w+|run-name)(?:=|\s+)\S+|\s*(?:\||>|\d>|&>).*", re.DOTALL)


def without_output(command: str) -> str:
    """A command without where its output goes, which is no part of what it does."""
    return _OUTPUT.sub("", command)


_REDIRECTION = re.compile(r"[\d&]?[<>]{1,2}(?P<file>.*)", re.DOTALL)


def without_redirections(words: Sequence[str]) -> list[str]:
    """The words of a command without those by which a shell opens files."""
    plain_words: list[str] = []
    is_file = False
    for word in words:
        redirection = _REDIRECTION.fullmatch(word)
        if not is_file and not redirection:
            plain_words.append(word)
        is_file = bool(redirection and not redirection["file"])
    return plain_words


def is_variable(value: str) -> bool:
    """Whether a shell has put something else in the place of a value, so that it is not known."""
    return "$" in value or "`" in value


def joined_names(names: Iterable[str]) -> str:
    """``a``, ``a + b``, ``a + b and 3 more``."""
    unique = list(dict.fromkeys(names))
    more = f" and {len(unique) - 2} more" if len(unique) > 2 else ""
    return " + ".join(unique[:2]) + more
