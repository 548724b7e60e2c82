"""Lines of fio's output that a mail or a page has broken, as they were too long for it, in one piece again. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cephtui.tools.logs import LogLine

_TIMES = r"(?:[sc]?lat|sync) \([num]sec\) *: *min="
_WHOLE = {
    "job": (r"\S.{0,199}?: \(g=\d{1,9}\): rw=", r".*\biodepth=\d+"),
    "report": (r"\S.{0,199}?: \(groupid=\d{1,9}, jobs=", r".*: pid=\d+(?:: \w{3} \w{3} +\d+ [\d:]{8} \d{4})?"),
    "rate": (r"(?:read|write|trim|mixed) *: *(?:IOPS|io)=", r".*\d+ *msec\b.*"),
    "times": (_TIMES, r".*\bstdev= *[\d.]+"),
    "samples": (r"(?:bw \([^)]*\)|iops) *: *min=", r".*\bstdev= *[\d.]+(?:, *samples=\d+)?"),
    "shares": (r"lat \([num]sec\) *: *(?:>=)?\d+ *=", r".*%"),
    "disk": (r"[\w!/.-]+: ios=\d", r".*\butil= *[\d.]+%.*"),
}
"""How a line begins, and how it is whole."""
_BEGINS = re.compile("|".join(f"(?P<{name}>{begin})" for name, (begin, _) in _WHOLE.items()))
_ENDS = {name: re.compile(end) for name, (_, end) in _WHOLE.items()}
_RUNG = re.compile(r"[\d.]{1,12}th=\[|\d+\]")
_OTHER = re.compile(r"[|<{[]|(?:fio-\d|Starting |Run status|Jobs: |hostname=|cpu |issued |bw |iops |IO depths)")
"""How lines begin that are not the rest of one."""
_PIECES_MOST = 3
"""That a line is broken into, beside the first."""


def in_one_piece(lines: Sequence[LogLine]) -> list[LogLine]:
    """The lines with those that were broken joined; one whose rest is not there stays as it is."""
    return list(_in_one_piece(lines))


def _in_one_piece(lines: Sequence[LogLine]) -> Iterator[LogLine]:
    at = 0
    while at < len(lines):
        line = lines[at]
        rest = _rest(lines, at)
        yield line._replace(text=" ".join((line.text, *rest))) if rest else line
        at += 1 + len(rest)


def _rest(lines: Sequence[LogLine], at: int) -> list[str]:
    """The other pieces of a line."""
    text = lines[at].text
    following = (lines[place].text for place in range(at + 1, min(len(lines), at + 1 + _PIECES_MOST)))
    if text.startswith("|") and "th=[" in text:
        return _rungs(following)
    begun = _BEGINS.match(text) if "=" in text else None
    if begun is None or (end := _ENDS[begun.lastgroup or ""]).fullmatch(text):
        return []
    pieces: list[str] = []
    for piece in following:
        if not piece or _OTHER.match(piece) or _BEGINS.match(piece):
            return []
        pieces.append(piece)
        if end.fullmatch(" ".join((text, *pieces))):
            return pieces
    return []


def _rungs(following: Iterator[str]) -> list[str]:
    """The percentiles in a line of them."""
    rungs: list[str] = []
    for piece in following:
        if not _RUNG.match(piece):
            break
        rungs.append(piece)
    return rungs
