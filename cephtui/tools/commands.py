"""The command lines of a saved log, and which of them has begun which run. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from cephtui.frozen import dataclass
from cephtui.tools.logs import Log, command_pattern, host_of, whole_command

_REDIRECTION = re.compile(r"\s(?:\d|&)?>{1,2}\s*(?:&\d|[^\s&]\S*)")
_OPERATORS = frozenset("|&;<>()")


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A line on which a shell runs a program."""

    line: int
    last_line: int
    text: str
    words: tuple[str, ...]
    """Those behind the program's name, up to the next command."""
    node: str = ""
    """By the prompt."""


def command_lines(log: Log, program: str) -> list[CommandLine]:
    """In the order of the log; those whose quotes are not closed are left out."""
    return list(_command_lines(log, program))


def _command_lines(log: Log, program: str) -> Iterator[CommandLine]:
    pattern = command_pattern(program)
    for at, line in enumerate(log.lines):
        match = pattern.fullmatch(line.text) if program in line.text else None
        if match is None:
            continue
        text = whole_command(log.lines, at, match["words"])
        try:
            words = _words(text)
        except ValueError:
            continue
        begin = next((n for n, word in enumerate(words) if word.rpartition("/")[2] == program), len(words))
        last = at
        while last + 1 < len(log.lines) and log.lines[last].text.rstrip().endswith(("\\", " -")):
            last += 1
        yield CommandLine(line.number, log.lines[last].number, text, words[begin + 1 :], host_of(match["prompt"]))


def _words(text: str) -> tuple[str, ...]:
    """Of the first command, without where its output goes. Raises ValueError."""
    split = shlex.shlex(_REDIRECTION.sub(" ", text), posix=True, punctuation_chars=True)
    split.whitespace_split = True
    found: list[str] = []
    for word in split:
        if set(word) <= _OPERATORS:
            break
        found.append(word)
    return tuple(found)


def given_options(
    words: Sequence[str], short: Mapping[str, str], flags: Collection[str] = ()
) -> tuple[dict[str, str], list[str]]:
    """The options of a command by their long names, and its other words; an option without a value is ``true``.

    ``short`` has the long names of one-letter options, whose value may stand behind the letter at once; ``flags`` are
    the options that have no value.
    """
    found: dict[str, str] = {}
    plain: list[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
        if not word.startswith("-") or word == "-":
            plain.append(word)
            continue
        name, equals, value = word.lstrip("-").partition("=")
        if not word.startswith("--") and word[1] in short and len(word) > 2 and not equals:
            if short[word[1]] in flags:  # each letter is one of its own
                found[short[word[1]]] = "true"
                left.insert(0, f"-{word[2:]}")
                continue
            name, equals, value = word[1], "=", word[2:]
        name = short.get(name, name)
        if equals:
            found[name] = value
        elif name in flags or not left or (left[0].startswith("-") and not left[0][1:2].isdigit()):
            found[name] = "true"
        else:
            found[name] = left.pop(0)
    return found, plain


def begun_by(
    commands: Sequence[CommandLine], spans: Sequence[tuple[int, int]], fits: Callable[[int, CommandLine], bool]
) -> list[CommandLine | None]:
    """For each run, by its first and last line, the nearest command above it that was no other's and that fits.

    Where commands stand one below the other and several fit, it is not known which it was.
    """
    found: list[CommandLine | None] = []
    waiting: list[CommandLine] = []
    ended = 0
    for number, (first, last) in enumerate(spans):
        waiting = [each for each in commands if ended < each.line < first] or waiting
        own = _nearest([each for each in waiting if fits(number, each)])
        waiting = [each for each in waiting if each is not own]
        found.append(own)
        ended = last
    return found


def _nearest(fitting: Sequence[CommandLine]) -> CommandLine | None:
    if not fitting:
        return None
    together = [fitting[-1]]
    for each in reversed(fitting[:-1]):
        if each.last_line + 1 < together[-1].line:
            break
        together.append(each)
    return fitting[-1] if len({each.text for each in together}) == 1 else None
