"""The command lines of a saved log, and which of them has begun which run. Pure."""

from __future__ import annotations

import re
import shlex
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import TypeVar

from cephtui.frozen import dataclass
from cephtui.tools.logs import Log, LogLine, command_end, command_pattern, host_of, whole_command

Output = TypeVar("Output")
_REDIRECTION = re.compile(r"\s(?:\d|&)?>{1,2}\s*(?:&\d|[^\s&]\S*)")
_QUOTING = re.compile(r"[\"'\\#|&;<>()]")
_OPERATORS = frozenset("|&;<>()")
_BEFORE_MOST = 600
"""Characters before the program."""
_IN_LOOP = re.compile(r"(?:^|[\s;])do\s+(?:sudo\s+)?(?:\S*/)?$")
_BY_ANOTHER = re.compile(r"(?:^|\s)(?:--|exec|run|sudo|ssh)\s")
"""Words that run a program on another host or in a container."""
_LOOP_BEGUN = re.compile(r"(?:.{0,80}[#$%>]\s+)?(?:for\s+\w+\s+in\s|for\s*\(\(|while\s|until\s).*")
_LOOP_WITHIN = 6
"""Lines from the begin of a loop to a command in it."""
_WAITING_MOST = 100
"""Commands of which no output was found that one is looked for among."""


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A line on which a shell runs a program."""

    line: int
    last_line: int
    text: str
    words: tuple[str, ...]
    """The words behind the program's name, up to the next command."""
    node: str = ""
    """The host of the prompt."""
    repeats: bool = False
    """Whether a loop runs it more than once."""
    line_text: str = ""
    """Its text with the commands that follow on the line."""


def command_lines(log: Log, program: str) -> list[CommandLine]:
    """The commands of a program in the order of the log; those whose quotes are not closed are left out."""
    places = command_places(log.lines, program)
    return [command for at in places if (command := command_at(log.lines, at, program))]


def command_places(lines: Sequence[LogLine], program: str) -> Iterator[int]:
    """The indexes of lines that may begin a command of a program."""
    end = -1
    for at, line in enumerate(lines):
        if at > end and program in line.text:
            yield at
            end = command_end(lines, at)


def command_at(lines: Sequence[LogLine], at: int, program: str) -> CommandLine | None:
    """The command that a line begins, at a prompt, in a loop, or given to another program; None for another line."""
    line = lines[at]
    name_match = _program(program).search(line.text, 0, _BEFORE_MOST)
    if not name_match:
        return None
    match = command_pattern(program).fullmatch(line.text)
    before, first = (match["prompt"], match["words"]) if match else _parted(line.text, name_match.start())
    is_loop = bool(_IN_LOOP.search(before))
    line_text, last, _ = whole_command(lines, at, first)
    text = re.split(r"\s*(?:;|&$)", line_text)[0] if is_loop else line_text
    try:
        words = command_words(text)
    except ValueError:
        return None
    begin = next((n for n, word in enumerate(words) if word.rpartition("/")[2] == program), None)
    if begin is None:
        return None
    repeats = is_loop or _is_in_loop(lines, at)
    return CommandLine(line.number, lines[last].number, text, words[begin + 1 :], host_of(before), repeats, line_text)


def _parted(text: str, at: int) -> tuple[str, str]:
    """The text before a program that a loop or another program runs, and the rest; both empty for another line."""
    before = text[:at]
    return (before, text[at:]) if _IN_LOOP.search(before) or _BY_ANOTHER.search(before) else ("", "")


@cache
def _program(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![^\s/]){name}\s+(?=\S)")


def _is_in_loop(lines: Sequence[LogLine], at: int) -> bool:
    """Whether the lines above begin a loop that does not end before."""
    does = False
    for line in reversed(lines[max(0, at - _LOOP_WITHIN) : at]):
        words = line.text.split()
        if not words or words[0] == "done":
            return False
        does = does or words[0] == "do"
        if _LOOP_BEGUN.fullmatch(line.text):
            return does or words[-1] == "do"
    return False


def command_words(text: str) -> tuple[str, ...]:
    """The words of the first command, without where its output goes. Raises ValueError."""
    plain = _REDIRECTION.sub(" ", text)
    if not _QUOTING.search(plain):
        return tuple(plain.split())
    split = shlex.shlex(plain, posix=True, punctuation_chars=True)
    split.whitespace_split = True
    words: list[str] = []
    for word in split:
        if set(word) <= _OPERATORS:
            break
        words.append(word)
    return tuple(words)


def parsed_options(
    words: Sequence[str], short: Mapping[str, str], flags: Collection[str] = ()
) -> tuple[dict[str, str], list[str]]:
    """The options of a command by their long names, and its other words; an option without a value is ``true``.

    ``short`` has the long names of one-letter options, whose value may stand behind the letter at once; ``flags`` are
    the options that have no value.
    """
    options: dict[str, str] = {}
    plain: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if not word.startswith("-") or word == "-":
            plain.append(word)
            continue
        name, equals, value = word.lstrip("-").partition("=")
        if not word.startswith("--") and word[1] in short and len(word) > 2 and not equals:
            if short[word[1]] in flags:  # each letter is one of its own
                options[short[word[1]]] = "true"
                rest.insert(0, f"-{word[2:]}")
                continue
            name, equals, value = word[1], "=", word[2:]
        name = short.get(name, name)
        if equals:
            options[name] = value
        elif name in flags or not rest or (rest[0].startswith("-") and not rest[0][1:2].isdigit()):
            options[name] = "true"
        else:
            options[name] = rest.pop(0)
    return options, plain


def begun_by(
    commands: Sequence[CommandLine],
    outputs: Sequence[Output],
    span: Callable[[Output], tuple[int, int]],
    fits: Callable[[CommandLine, Output], bool],
) -> list[CommandLine | None]:
    """The command of each output, by its first and last line: the nearest above that fits, and that was no other's or
    is in a loop.

    Where commands stand one below the other and several fit, it is not known which it was.
    """
    begun: list[CommandLine | None] = []
    waiting: list[CommandLine] = []
    lines = [command.line for command in commands]
    ended = 0
    for output in outputs:
        first, last = span(output)
        waiting = [*commands[bisect_right(lines, ended) : bisect_left(lines, first)]][-_WAITING_MOST:] or waiting
        nearest = _nearest([command for command in waiting if fits(command, output)])
        waiting = [command for command in waiting if command is not nearest or command.repeats]
        begun.append(nearest)
        ended = last
    return begun


def carried_on(
    commands: Sequence[CommandLine | None],
    outputs: Sequence[Output],
    goes_on: Callable[[CommandLine, Output, Output], bool],
) -> list[CommandLine | None]:
    """The commands of outputs, with that of the output before where one without a command goes on with it."""
    carried: list[CommandLine | None] = []
    for number, command in enumerate(commands):
        before = carried[-1] if carried else None
        is_carried = not command and before and goes_on(before, outputs[number - 1], outputs[number])
        carried.append(before if is_carried else command)
    return carried


def span_of(lines: Sequence[LogLine]) -> tuple[int, int]:
    """The first and the last line of an output."""
    return lines[0].number, lines[-1].number


def _nearest(fitting: Sequence[CommandLine]) -> CommandLine | None:
    if not fitting:
        return None
    together = [fitting[-1]]
    for command in reversed(fitting[:-1]):
        if command.last_line + 1 < together[-1].line:
            break
        together.append(command)
    return fitting[-1] if len({command.text for command in together}) == 1 else None
