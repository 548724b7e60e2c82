"""JSON in a saved log, whatever text stands between its documents. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from cephtui.frozen import dataclass
from cephtui.tools.logs import Log

_BROKEN_MOST = 1000
"""Documents that were cut off; what comes after so many is not looked for."""
_AGAIN_MOST = 64 << 20
"""Characters that are read in vain."""


@dataclass(frozen=True, slots=True)
class JsonDocument:
    """An object or a list."""

    content: Any
    text: str
    line: int
    last_line: int
    before: str
    """The text before it on its first line."""


def json_documents(log: Log, start: re.Pattern[str], word: str = "") -> Iterator[JsonDocument]:
    """Each document that begins where ``start`` matches, in the order of the log; what is no JSON is left out.

    Without ``word`` in the log there is none.
    """
    text, decoder = log.text, json.JSONDecoder()
    if word not in text:
        return
    line, at, counted, broken, again = 1, 0, 0, 0, 0
    while broken < _BROKEN_MOST and again <= _AGAIN_MOST and (match := start.search(text, at)):
        first = match.start()
        line += text.count("\n", counted, first)
        counted = first
        try:
            content, end = decoder.raw_decode(text, first)
        except (RecursionError, ValueError) as error:  # what was cut off may have swallowed the start of the next
            at, broken = match.end(), broken + 1
            again += getattr(error, "pos", at) - first
            continue
        at = end
        before = text[text.rfind("\n", 0, first) + 1 : first].strip()
        yield JsonDocument(content, text[first:end], line, line + text.count("\n", first, end), before)
