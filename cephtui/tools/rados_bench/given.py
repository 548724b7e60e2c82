"""Command lines of ``rados bench`` in a saved log: what they ask for, and whether a run can be theirs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from cephtui.frozen import dataclass
from cephtui.tools.commands import command_at, command_words
from cephtui.tools.logs import LogLine, is_variable, without_output
from cephtui.tools.options import size_or_zero
from cephtui.tools.rados_bench.lines import RadosAnnounced

_NEXT = re.compile(r"\s*(?:;|&&|\|\|?|(?<![>&])&(?![>&]))\s*|\s+done\b")
"""Between the commands of one line."""
_LONGEST = 1000
"""Characters of a command; a longer one is none of this tool."""
_SHORT = {"p": "pool", "t": "concurrent-ios", "b": "block-size", "O": "object-size", "N": "namespace", "f": "format"}
_WITH_VALUE = frozenset(
    (
        *("pool", "concurrent-ios", "block-size", "object-size", "namespace", "id", "n", "name", "c", "conf", "format"),
        *("k", "keyring", "m", "run-name", "max-objects", "cluster", "o", "output", "object-locator", "pgid"),
    )
)
_NOT_ASKED = frozenset(("pool", "show-time", "format", "pretty-format", "output", "o", "run-name", "mode", "runtime"))
"""Where it is done, what is printed and where to; mode and runtime are no options of the command line."""
PRESET = ("mode", "runtime", "concurrent-ios", "block-size", "object-size", "no-hints", "no-verify")
"""Options that a preset can have."""
MODES = ("write", "seq", "rand")
_DEPTH, _BLOCK = 16, 4 << 20
"""Defaults of rados."""


@dataclass(frozen=True, slots=True)
class RadosPrinted:
    """The output of a run as far as a command may agree with it."""

    announced: RadosAnnounced | None
    writes: bool | None
    """None where it is not known."""
    block_bytes: int
    """0 where it is not known."""
    seconds: float | None
    """How long it took, where it was not cut off."""
    in_flight: int
    """The most of a row."""
    rows: int


@dataclass(frozen=True, slots=True)
class RadosCommand:
    """A command line, and what it asks for."""

    line: int
    last_line: int
    text: str
    node: str
    options: Mapping[str, str]
    """Its options, with its ``mode`` and ``runtime``, which have no name there."""
    repeats: bool
    """Whether a loop runs it more than once."""

    @property
    def request(self) -> str:
        """All that it asks for."""
        return without_output(self.text)

    @property
    def is_whole(self) -> bool:
        """Whether no variable stands where any options may be."""
        words = ["", *self.text.split()]
        return not any(is_variable(word) and not before.startswith("-") for before, word in pairwise(words))

    @property
    def other_options(self) -> dict[str, str]:
        """The options that no preset can have."""
        other_names = self.options.keys() - _NOT_ASKED - set(PRESET)
        return {name: self.options[name] for name in self.options if name in other_names}

    @property
    def variables(self) -> dict[str, str]:
        """The options of presets whose values a shell has put in, so that only the output can tell them."""
        return {name: self.options[name] for name in PRESET if is_variable(self.options.get(name, ""))}

    @property
    def block_bytes(self) -> int:
        """The block size of a write; 0 of a read, whose data decide, and where it is not known."""
        size = self.options.get("block-size", str(_BLOCK)).lower()
        return 0 if self.options["mode"] in ("seq", "rand") else size_or_zero(size)

    def agrees(self, printed: RadosPrinted) -> bool:
        """Whether nothing that a run has printed speaks against it."""
        mode = self.options["mode"]
        if printed.writes is not None and not is_variable(mode) and printed.writes != (mode == "write"):
            return False
        return self._agrees_in_size(printed) and self._agrees_in_depth(printed) and self._agrees_in_time(printed)

    def _agrees_in_size(self, printed: RadosPrinted) -> bool:
        start, block = printed.announced, self.block_bytes
        if any(is_variable(self.options.get(name, "")) for name in ("block-size", "object-size", "max-objects")):
            return True
        if block and printed.block_bytes and block != printed.block_bytes and "reuse-bench" not in self.options:
            return False
        if start is None or "reuse-bench" in self.options:
            return True
        whole, objects = size_or_zero(self.options.get("object-size", "").lower()), self.options.get("max-objects", "0")
        return start.object_bytes == (whole or block) and (not start.objects or objects == str(start.objects))

    def _agrees_in_depth(self, printed: RadosPrinted) -> bool:
        """Whether what is in flight comes near to the depth, and never above it."""
        depth_text = self.options.get("concurrent-ios", str(_DEPTH))
        if not depth_text.isdecimal():
            return is_variable(depth_text)
        depth = int(depth_text)
        if printed.announced:
            return depth == printed.announced.in_flight
        return printed.in_flight <= depth and (printed.rows < 3 or 2 * printed.in_flight >= depth)

    def _agrees_in_time(self, printed: RadosPrinted) -> bool:
        runtime = self.options["runtime"]
        if not runtime.isdecimal():
            return is_variable(runtime)
        if printed.announced and printed.announced.seconds:
            return int(runtime) == printed.announced.seconds
        ends_early = self.options["mode"] not in ("write", "rand") or "max-objects" in self.options
        return printed.seconds is None or ends_early or printed.seconds >= int(runtime) - 0.5


def read_command(lines: Sequence[LogLine], at: int) -> RadosCommand | None:
    """The command that a line begins; None for another line."""
    line = command_at(lines, at, "rados") if "rados" in lines[at].text else None
    if not line or len(line.text) > _LONGEST:
        return None
    options, _ = _parts(line.words)
    if "mode" not in options:
        return None
    return RadosCommand(line.line, line.last_line, line.text, line.node, options, line.repeats)


def read_commands(lines: Sequence[LogLine], at: int) -> list[tuple[dict[str, str], list[str]]]:
    """The options of each command in a line, and its other words; a mode is empty where a variable stands for it."""
    line = command_at(lines, at, "rados")
    if line is None or len(line.line_text) > _LONGEST:
        return []
    commands = []
    for part in _NEXT.split(line.line_text):
        _, program, rest = part.partition("rados ")
        if not program:
            continue
        try:
            words: Sequence[str] = command_words(rest)
        except ValueError:
            words = rest.split()
        options, other_words = _parts(words)
        if options.get("mode") or any(map(is_variable, other_words)):
            commands.append(({"mode": "", **options}, other_words))
    return commands


def _parts(words: Iterable[str]) -> tuple[dict[str, str], list[str]]:
    """The options, and the other words but for the verb, its duration and its mode."""
    options: dict[str, str] = {}
    plain: list[str] = []
    rest = iter(words)
    for word in rest:
        name, equals, value = word.lstrip("-").partition("=")
        name = _SHORT.get(name, name.replace("_", "-"))
        if not word.startswith("-") or len(word) == 1:
            plain.append(word)
        elif equals:
            options[name] = value
        else:
            options[name] = next(rest, "") if name in _WITH_VALUE else "true"
    begin = plain.index("bench") if "bench" in plain else len(plain)
    before, after = plain[:begin], plain[begin + 1 :]
    for at, (runtime, mode) in enumerate(pairwise(after)):
        if mode in MODES or (is_variable(mode) and len(after) == 2):
            options.update(runtime=runtime, mode=mode)
            after = [*after[:at], *after[at + 2 :]]
            break
    return options, [*before, *after] if begin < len(plain) else []
