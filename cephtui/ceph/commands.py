"""Commands of ``ceph`` over one connection, as the monitors take them, without starting ``ceph``.

Much of what ``ceph`` costs a node is to find out how its words are to be read: a tenth of a second of CPU for each
command (measured with 16.2), where to ask takes a hundredth.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from cephtui.ceph import answers, osd_options
from cephtui.paths import packaged_text

Answer: TypeAlias = tuple[int, str, str]
"""The status, the output and the error output of a command."""
TIMED_OUT = 110
"""The exit status where the cluster does not answer."""
SCRIPT = packaged_text("cephtui.ceph", "commands_on_node.py")
"""Python for the node; where it ends with 127, only ``ceph`` itself may know how to connect."""
_MAIN, _OWN = '\nif __name__ == "__main__":', re.compile(r"^from cephtui\..*\n", re.MULTILINE)
_FORMAT = ("-f", "json")
_PARAMETERS: Mapping[tuple[str, ...], tuple[str, ...]] = {
    ("config", "get"): ("who", "key"),
    ("dump_osd_network",): ("value",),
    ("config-key", "dump"): ("key",),
    ("df",): ("detail",),
    ("osd", "pool", "stats"): ("pool_name",),
    ("osd", "tree"): ("states",),
    ("pg", "dump"): ("dumpcontents",),
}
"""The names of the parameters of commands that have some, as in ``get_command_descriptions``."""
_LISTS, _INTEGERS = {"states", "dumpcontents"}, {"value"}
"""Parameters that take several values, and those that take a number."""
_EACH_RUN: Mapping[str, Mapping[str, object]] = {
    "config diff": {"only": osd_options.ONLY, "most": 256},
    "dump_osd_network": {"most": 256},
}
"""What is asked before each run: of long answers what is wanted, and of how many OSDs at most."""


def script_argv(commands: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """The command that runs all of these ``ceph`` commands and reports their answers, for ``parse_answers``."""
    return ("python3", "-c", SCRIPT, requests(commands))


def with_connection(script: str) -> str:
    """A Python script for the node in which ``commands_on_node.py`` stands in place of its import."""
    return SCRIPT.partition(_MAIN)[0] + _OWN.sub("", script)


def requests(commands: Sequence[Sequence[str]]) -> str:
    """The commands in the form in which ``commands_on_node.py`` takes them."""
    return json.dumps([_request(command) for command in commands])


def _request(command: Sequence[str]) -> dict[str, object]:
    words = tuple(command[1:-2] if tuple(command[-2:]) == _FORMAT else command[1:])
    if words[0] == "tell":
        request = _parameters(words[2:])
        return {"target": words[1], **request, **_EACH_RUN.get(str(request["prefix"]), {})}
    return _parameters(words)


def _parameters(words: Sequence[str]) -> dict[str, object]:
    begin = next((start for start in _PARAMETERS if tuple(words[: len(start)]) == start), tuple(words))
    values = zip(_PARAMETERS.get(begin, ()), words[len(begin) :], strict=False)
    return {"prefix": " ".join(begin), **{name: _typed(name, value) for name, value in values}}


def _typed(name: str, value: str) -> object:
    """A value as JSON; OSDs of 20.2 take none of another type than its parameter's."""
    if name in _LISTS:
        return [value]
    return int(value) if name in _INTEGERS else value


def parse_answers(text: str, commands: int) -> tuple[Answer, ...]:
    """The answers to a number of commands; raises ValueError."""
    replies = answers.parse_answer(text)
    if not isinstance(replies, list) or len(replies) != commands:
        raise ValueError(f"{commands} answers expected")
    return tuple(_answer(reply) for reply in replies)


def _answer(reply: object) -> Answer:
    match reply:
        case [int(status), str(output), str(error)]:
            return status, output, error
    raise ValueError("an answer is a status, an output and an error output")
