"""JSON in a saved log, whatever text stands between its documents. Pure."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
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
    line: int
    last_line: int
    before: str
    """What stands before it on its first line."""


def json_documents(log: Log, start: re.Pattern[str], word: str) -> Iterator[JsonDocument]:
    """Each document that begins where ``start`` matches, in the order of the log; what is no JSON is left out.

    Without ``word`` in the log there is none.
    """
    if word not in log.text:
        return
    text = "\n".join(line.text for line in log.lines)
    begins = list(accumulate((len(line.text) + 1 for line in log.lines), initial=0))
    decoder = json.JSONDecoder()
    at = broken = again = 0
    while broken < _BROKEN_MOST and again <= _AGAIN_MOST and (found := start.search(text, at)):
        first = bisect_right(begins, found.start()) - 1
        try:
            content, end = decoder.raw_decode(text, found.start())
        except (RecursionError, ValueError) as error:
            at, broken = found.end(), broken + 1
            again += getattr(error, "pos", at) - found.start()
            continue
        last = bisect_right(begins, end - 1) - 1
        at = end
        yield JsonDocument(
            content, log.lines[first].number, log.lines[last].number, text[begins[first] : found.start()].strip()
        )
