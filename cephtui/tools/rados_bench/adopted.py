"""Command lines of ``rados bench`` as options of presets: what is taken, and what is not and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cephtui.frozen import dataclass
from cephtui.tools.adopted import Adopted
from cephtui.tools.base import OptionError
from cephtui.tools.commands import command_places
from cephtui.tools.logs import Log, is_variable
from cephtui.tools.rados_bench.given import MODES, PRESET, read_commands
from cephtui.tools.rados_bench.options import RadosBenchOptions
from cephtui.units import parse_size, short_size

_DEFAULTS = {"concurrent-ios": "16", "block-size": "4M"}
_SIZES = ("block-size", "object-size")


GIVEN_MOST = 1000
"""Command lines of one text."""


@dataclass(frozen=True, slots=True)
class GivenCommand:
    """A command line."""

    options: Mapping[str, str]
    other_words: Sequence[str]
    """Words that are no options."""

    @property
    def name(self) -> str:
        """``rados-bench-write``."""
        mode = self.options["mode"]
        return f"rados-bench-{mode if mode in MODES else 'unknown'}"


def find_bench_commands(log: Log) -> list[GivenCommand]:
    """Each command in a text, in its order; raises ValueError for too many."""
    all_given: list[GivenCommand] = []
    for at in command_places(log.lines, "rados"):
        all_given += [GivenCommand(*parts) for parts in read_commands(log.lines, at)]
        if len(all_given) > GIVEN_MOST:
            raise ValueError(f"too many commands of rados bench, expected at most {GIVEN_MOST}")
    return all_given


def adopt(command: GivenCommand) -> Adopted:
    """The options of a preset that does what a command would do; raises OptionError where none can."""
    texts, pool = command.options, command.options.get("pool", "")
    if command.other_words:
        word = next(filter(is_variable, command.other_words), command.other_words[0])
        raise OptionError(word, "is not an option: a variable may contain any")
    values = {**_DEFAULTS, **{name: _value(name, value) for name, value in texts.items() if name in PRESET}}
    return Adopted(
        name=command.name,
        tool="rados-bench",
        options=RadosBenchOptions.check(values),
        left_out=tuple((name, RadosBenchOptions.reason_to_leave_out(name)) for name in texts if name not in PRESET),
        target="" if not pool or is_variable(pool) else f"pool:{pool}",
        waits=True,
    )


def _value(name: str, text: str) -> object:
    if name not in _SIZES:
        return text == "true" if text in ("true", "false") else text
    try:
        return short_size(parse_size(text))
    except ValueError:
        raise OptionError(name, f"expected a size such as 4M, got {text}") from None
