"""The output of short commands, bounded and as text."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Sequence
from typing import Protocol

from cephtui.printable import one_line, shortened

ANSWER_MOST_BYTES = 64 << 20
"""Bytes of the longest answer of a short command: the PGs of the largest clusters are a quarter of it."""


class EndlessAnswer(Exception):
    """A short command prints more than any answer is long."""

    @staticmethod
    def message(argv: Sequence[str]) -> str:
        """The error text for the user."""
        most = f"{ANSWER_MOST_BYTES >> 20} MiB"
        source = command_text(argv)
        return f"more than {most} of output from {source}: does a prefix or a login script print without end?"


def command_text(argv: Sequence[str]) -> str:
    """A command as text for an error, for the user to try; cut where it is long."""
    return shortened(one_line(shlex.join(argv)), 60)


class Reads(Protocol):
    """A stream of a command's output."""

    async def read(self, n: int, /) -> bytes:
        """Up to so many bytes; empty at the end."""
        ...


async def read_answer(stdout: Reads, stderr: Reads) -> tuple[bytes, bytes]:
    """All output of a short command on both streams; raises EndlessAnswer."""
    size = 0

    async def all_of(stream: Reads) -> bytes:
        nonlocal size
        pieces = []
        while piece := await stream.read(65536):
            size += len(piece)
            if size > ANSWER_MOST_BYTES:
                raise EndlessAnswer
            pieces.append(piece)
        return b"".join(pieces)

    return await asyncio.gather(all_of(stdout), all_of(stderr))


def decoded(output: bytes) -> str:
    """The output of a short command as text, whatever bytes it has."""
    return output.decode("utf-8", "replace")
