"""What stands between the runs of a saved log: headings and other text by which a document parts them. Pure.

Known are the headings of Markdown, of wikis, HTML and reStructuredText, what scripts print around a title
(``=== 2 OSDs ===``), comments, a line of text that stands alone, and commands that change the cluster or the node.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from cephtui.frozen import dataclass
from cephtui.tools.logs import Log

_CAPTION, _COMMAND = 7, 8
"""Levels below those of the headings of documents."""
_TITLE_MOST = 80
"""Characters of a heading; a longer line is text that parts runs too, and no name for them."""
_LINE_MOST = 200
"""Characters: a longer line is not looked at."""
_FENCE = re.compile(r"\s*(?:```|~~~)")
_HEADINGS = (
    re.compile(r"\s{0,3}(?P<level>#{1,6})\s+(?P<text>.*\S)"),
    re.compile(r"\s*(?P<level>={1,6})\s+(?P<text>.*?\S)\s+=+"),
    re.compile(r"\s*h(?P<number>[1-6])\.\s+(?P<text>.*\S)"),
    re.compile(r"\s*<h(?P<number>[1-6])\b[^>]*>(?P<text>.*?)</h[1-6]>", re.IGNORECASE),
)
_UNDERLINE = re.compile(r"\s*(?:={3,}|-{3,}|~{3,}|\^{3,}|\*{3,})")
_UNDERLINES = "=-~^*"
"""The first is of the highest level."""
_BANNER = re.compile(
    r"\s*(?:[-=*#+~_]{2,}\s*(?P<text>[^\s=*#+~_-].*?)[-=*#+~_]{2,}:?|[-=*#+~>]{3,}\s+(?P<begun>[^\s=*#+~_-].*))"
)
_COMMENT = re.compile(r"\s*(?:#|//)\s*(?P<text>\S.*)")
_DECORATION = " \t#*=_~-:：>+|`"
_STOPS = ".。"
"""A line alone that ends with one is a sentence, and no title."""
_CHANGE = re.compile(
    r"(?:.*[#$%>]\s+|\s*)(?P<text>(?:sudo\s+)?(?:"
    r"ceph\s+(?:\S+\s+)?(?:osd\s+(?:pool\s+set|set|unset|out|in|down|stop|reweight\S*|crush|rm|purge)"
    r"|config\s+(?:set|rm)|config-key\s+set|tell\s+\S+\s+(?:injectargs|config)|orch\s+(?:apply|restart|daemon|rm|stop))"
    r"|systemctl\s+(?:start|stop|restart)|sysctl\s+-w|tuned-adm\s+profile|cpupower\s+\S*-set|ethtool\s+-[A-Z]"
    r")\s.*\S)"
)
_PROMPT = re.compile(r"\s*(?:\[?[\w.-]+@\S.*?[#$%>](?:\s|$)|[$%>❯»]\s|[\w.-]+[:~]\S*[#$]\s)")
_PROGRAM = re.compile(
    r"\s*(?:\\?[#$]\s*)?(?:/\S*/)?(?:sudo|ceph|cephadm|rados|rbd|radosgw-admin|fio|iperf3?|dd|hdparm|lsblk|for|while|do|done|if|fi|time"
    r"|echo|cat|tee|sleep|sync|cd|ls|df|mount|umount|mkdir|rm|cp|mv|export|set|source|apt|apt-get|yum|dnf|ssh|watch|date"
    r"|exit|clear|grep|awk|sed|mkfs\S*|systemctl|sysctl|modprobe|docker|podman|kubectl|python3?|bash|sh)(?:[\s;|]|$)"
)
_NOISE = re.compile(
    r"\s*(?:hints\s*=|maintaining\s+\d|removed\s+\d|clean(?:ed|ing)?\s*up\b|starting\s+\d|starting\s+(?:thread|process)"
    r"|run status group|disk stats|object prefix|sec\s+cur\b|jobs:\s|fio-\d|min lat:|(?:real|user|sys)\s+\d"
    r"|(?:fio|rados|rbd|note|warning|error|info|hint)\s*:|(?:read|write|trim|mixed)\s*:\s|[^\s:]+:\s*(?:ios=|\(g)"
    r"|hostname=\S+, be=\d|(?:total|average|stddev|max|min|object size|bandwidth|(?:read|write) size)\b.*:\s*[\d.]+\s*$"
    r"|\d+\+\d+ records|\d+ bytes\b.*copied|connection to\b|script (?:started|done)|last login|\d{4}-\d\d-\d\d[ T]\d\d:"
    r"|(?:mon|tue|wed|thu|fri|sat|sun)\s+\w{3}\s+\d|[|<!{}\[\]\"]|--?[A-Za-z]|\[?\d+\]?\s*$)",
    re.IGNORECASE,
)
"""How lines begin that a tool, a shell or the markup of a document has printed."""


@dataclass(frozen=True, slots=True)
class HeadingPlace:
    """The place of a run in a log."""

    part: int
    """The number of the part, from 0; nothing parts the runs of one part."""
    heading: str
    """The heading above it, without those above all runs of the log; empty where there is none."""


@dataclass(frozen=True, slots=True)
class _Divider:
    """A line that parts the lines above it from those below."""

    line: int
    level: int
    """1 is the highest."""
    text: str
    """Empty where it is no name for what follows."""


def places(log: Log, spans: Sequence[tuple[int, int]]) -> list[HeadingPlace]:
    """The places of runs, by their first and last line, in the order of the log."""
    if not spans:
        return []
    dividers = list(_dividers(log, spans))
    paths: list[tuple[str, ...]] = []
    parts: list[int] = []
    stack: list[_Divider] = []
    part = at = 0
    for number, (first, _) in enumerate(spans):
        begun = at
        while at < len(dividers) and dividers[at].line < first:
            stack = _below(stack, dividers[at])
            at += 1
        in_one_line = spans[number - 1][0] == first  # of a page: what is between them is not known
        part += bool(number and (at > begun or in_one_line))
        parts.append(part)
        paths.append(tuple(divider.text for divider in stack))
    common = _common(paths)
    return [HeadingPlace(part, _label(path, common)) for part, path in zip(parts, paths, strict=True)]


def _below(stack: Sequence[_Divider], now: _Divider) -> list[_Divider]:
    """The headings that hold below a divider."""
    above = [heading for heading in stack if heading.level < now.level]
    return [*above, now] if now.text else above


def _common(paths: Sequence[tuple[str, ...]]) -> int:
    """How many headings are above all runs."""
    number = 0
    while all(len(path) > number and path[number] == paths[0][number] for path in paths):
        number += 1
    return number


def _label(path: tuple[str, ...], common: int) -> str:
    return " / ".join(path[common:] or path[-1:])


def _dividers(log: Log, spans: Sequence[tuple[int, int]]) -> Iterator[_Divider]:
    """The dividers in the order of the log; a line within a run is none."""
    lines = log.lines
    text = _Text([line.text for line in lines], {first for first, _ in spans}, [line.number for line in lines])
    ends = iter(spans)
    span = next(ends, None)
    is_fenced = False
    for at, line in enumerate(lines):
        while span and line.number > span[1]:
            text.over_at, span = at, next(ends, None)
        if span is None:  # nothing follows
            return
        if _FENCE.match(line.text):
            is_fenced = not is_fenced
        elif line.number < span[0] and (divider := text.divider(at, is_fenced=is_fenced)):
            text.divided_at = at
            yield replace(divider, text=f"{line.item} {divider.text}") if line.item and divider.text else divider


class _Text:
    """The lines of a log, and which of them are no text of its own."""

    def __init__(self, lines: Sequence[str], firsts: set[int], numbers: Sequence[int]) -> None:
        self._lines, self._firsts, self._numbers = lines, firsts, numbers
        self._is_document = any(map(_FENCE.match, lines))
        self.over_at = 0
        """The line behind the newest run."""
        self.divided_at = -1
        """The newest divider."""

    def divider(self, at: int, *, is_fenced: bool) -> _Divider | None:
        """The divider that a line outside of the runs is, if it is one."""
        text, number = self._lines[at].strip(), self._numbers[at]
        if not text or len(text) > _LINE_MOST or not any(map(str.isalpha, text)):
            return None
        if change := _CHANGE.fullmatch(text):
            return _Divider(number, _COMMAND, _title(change["text"]))
        if _PROMPT.match(text) or _PROGRAM.match(text):
            return None
        if not is_fenced and (heading := self._heading(at)):
            return _Divider(number, *heading)
        if caption := _BANNER.fullmatch(text) or _COMMENT.fullmatch(text):
            return _Divider(number, _CAPTION, _title(next(filter(None, caption.groups()))))
        if is_fenced or _NOISE.match(text) or not self._begins(at):
            return None
        if self._ends(at):
            return _Divider(number, _CAPTION, "" if text.endswith(tuple(_STOPS)) else _title(text))
        return _Divider(number, _CAPTION, "") if self._is_document else None

    def _heading(self, at: int) -> tuple[int, str] | None:
        """Level and text."""
        text = self._lines[at].strip()
        for form in _HEADINGS:
            if heading := form.fullmatch(text):
                parts = heading.groupdict()
                return int(parts.get("number") or len(parts.get("level") or "#")), _title(heading["text"])
        below = self._at(at + 1).strip()
        if below and _UNDERLINE.fullmatch(below) and not _NOISE.match(text):
            return 1 + _UNDERLINES.index(below[0]), _title(text)
        return None

    def _begins(self, at: int) -> bool:
        """Whether a line is the first of a paragraph."""
        before = self._at(at - 1)
        return at in (0, self.over_at) or at - 1 == self.divided_at or not before.strip() or bool(_FENCE.match(before))

    def _ends(self, at: int) -> bool:
        """Whether a line is the last of a paragraph."""
        after = self._at(at + 1).strip()
        if at + 1 >= len(self._lines) or self._numbers[at + 1] in self._firsts or not after:
            return True
        return any(form.match(after) for form in (_FENCE, _PROMPT, _PROGRAM, _NOISE))

    def _at(self, at: int) -> str:
        return self._lines[at] if 0 <= at < len(self._lines) else ""


def _title(text: str) -> str:
    """A line without what decorates it; empty for one that is too long for a title."""
    title = text.strip(_DECORATION).rstrip(_STOPS)
    return "" if len(title) > _TITLE_MOST else title
