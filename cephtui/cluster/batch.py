"""Several commands of ``ceph`` over one connection: nearly all that a query costs a node is starting ``ceph``."""

from __future__ import annotations

import importlib.resources
import json
from collections.abc import Sequence
from functools import cache

from cephtui.ceph import answers

Answer = tuple[int, str, str]
"""The status, the output and the error output of a command."""
TIMED_OUT = 110
"""The status where the cluster does not answer."""
_PROGRAM, _FORMAT = "ceph", ("-f", "json")


def batch_argv(commands: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Reports the answer of each command, for parse_batch; all of them are ``ceph ...``."""
    asked = [[word for word in command[1:] if word not in _FORMAT] for command in commands]
    return ("python3", "-c", _script(), json.dumps(asked))


@cache
def _script() -> str:
    return importlib.resources.files(__package__).joinpath("batch_on_node.py").read_text("utf-8")


def is_batchable(command: Sequence[str]) -> bool:
    """Whether it can be part of a batch: other programs have no connection to share."""
    return command[0] == _PROGRAM


def parse_batch(text: str, commands: int) -> tuple[Answer, ...]:
    """The answers to so many commands; raises ValueError."""
    found = answers.load(text)
    if not isinstance(found, list) or len(found) != commands:
        raise ValueError(f"{commands} answers expected")
    return tuple(_answer(one) for one in found)


def _answer(one: object) -> Answer:
    match one:
        case [int(status), str(output), str(error)]:
            return status, output, error
    raise ValueError("an answer is a status, an output and an error output")
