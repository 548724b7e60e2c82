"""Command lines of ``rados bench`` as options of presets: what is taken, and what is not and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cephtui.tools.adopted import Adopted
from cephtui.tools.base import OptionError
from cephtui.tools.logs import Log
from cephtui.tools.rados_bench.given import PRESET, read_command
from cephtui.tools.rados_bench.options import check, reason_against
from cephtui.units import parse_size, short_size

_DEFAULTS = {"concurrent-ios": "16", "block-size": "4M"}
_SIZES = ("block-size", "object-size")


def find_given(log: Log) -> Iterator[Mapping[str, str]]:
    """The options of each command in a text, in its order."""
    for at in range(len(log.lines)):
        if command := read_command(log.lines, at):
            yield command.given


def name_of(given: Mapping[str, str]) -> str:
    """``rados-bench-write``."""
    return f"rados-bench-{given['mode']}"


def adopt(given: Mapping[str, str]) -> Adopted:
    """The options of a preset that does what a command would do; raises OptionError where none can."""
    wanted = {**_DEFAULTS, **{name: _value(name, value) for name, value in given.items() if name in PRESET}}
    return Adopted(
        name=name_of(given),
        tool="rados-bench",
        options=check(wanted),
        left_out=tuple((name, reason_against(name)) for name in given if name not in PRESET),
        target=f"pool:{given['pool']}" if given.get("pool") else "",
        waits=True,
    )


def _value(name: str, text: str) -> object:
    if name not in _SIZES:
        return text == "true" if text in ("true", "false") else text
    try:
        return short_size(parse_size(text))
    except ValueError:
        raise OptionError(name, f"expected a size such as 4M, got {text}") from None
