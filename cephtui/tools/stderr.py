"""What programs print on stderr: kept in bounds, and their own words apart from their libraries' logs."""

from __future__ import annotations

import re

_LINE_MOST = 500
_HEAD_CHARACTERS, _TAIL_CHARACTERS = 8192, 8192
_LOG_LINE = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S* +[0-9a-f]+ +-?\d+ +", re.ASCII)
_SOURCE = re.compile(r"(?:(?:\w+::)+\w+:|0x[0-9a-f]+|\w+:(?= \w+: )|(?!global_init)\w*_\w+:)\s+", re.ASCII)
"""Where in the source a log line is from: ``librbd::io::ObjectRequest: 0x7f43 handle_write_object:``."""


class Errors:
    """The stderr of a tool: all of it, or its head and its tail where it is too long."""

    def __init__(self) -> None:
        self._head, self._tail = "", ""

    def add(self, data: bytes) -> None:
        """A piece, cut anywhere."""
        text = data.decode("utf-8", "replace")
        room = _HEAD_CHARACTERS - len(self._head)
        self._head += text[:room]
        self._tail = (self._tail + text[room:])[-_TAIL_CHARACTERS:]

    @property
    def text(self) -> str:
        """Its lines in their order, the longest cut."""
        return "\n".join(line[:_LINE_MOST] for line in f"{self._head}{self._tail}".splitlines())

    @property
    def spoken(self) -> list[str]:
        """Its lines as ``spoken`` has them."""
        return spoken(self.text)


def spoken(stderr: str) -> list[str]:
    """The lines of a program's stderr: first its own, then the messages in its libraries' logs."""
    lines = [line.strip() for line in stderr.replace("\x00", " ").splitlines() if line.strip()]
    logged = [line for line in lines if _LOG_LINE.match(line)]
    return [line for line in lines if line not in logged] + [_plain(line) for line in logged]


def _plain(line: str) -> str:
    """A log line without its time, thread and place in the source."""
    text = _LOG_LINE.sub("", line, count=1)
    while (place := _SOURCE.match(text)) and place.end() < len(text):
        text = text[place.end() :]
    return text
