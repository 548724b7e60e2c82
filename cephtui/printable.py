"""Text of any origin made safe for a terminal: escape sequences have no effect, and nothing is hidden."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_UNSEEN = frozenset(
    map(
        chr,
        (
            0x034F,  # joins letters
            *(0x115F, 0x1160, 0x3164, 0xFFA0),  # fillers of Hangul
            *(0x17B4, 0x17B5),  # vowels of Khmer that are not written
            *range(0x180B, 0x1810),  # variants of Mongolian letters
            *range(0xFE00, 0xFE10),  # variants, such as of emoji
            *range(0xE0100, 0xE01F0),
        ),
    )
)
"""Characters that Python calls printable and no terminal shows."""
_BYTES = range(0xDC80, 0xDD00)
"""Code points that stand for bytes of a file name that are not UTF-8."""
_TEXT_MOST = 2000
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def printable(text: str) -> str:
    """The text itself where a terminal shows all of it; else with escapes as in bash's ``$'...'``."""
    if text.isprintable() and (text.isascii() or _UNSEEN.isdisjoint(text)):
        return text
    return "".join(_escaped(char) if char in _UNSEEN or not char.isprintable() else char for char in text)


def _escaped(char: str) -> str:
    code = ord(char)
    if code < 0x80:
        return _SHORT.get(char) or f"\\x{code:02x}"
    if code in _BYTES:
        return f"\\x{code - 0xDC00:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def one_line(text: str) -> str:
    """Text of any origin as one line, with single blanks between its words."""
    return printable(" ".join(text.split()))


def shortened(text: str, most: int = _TEXT_MOST) -> str:
    """A text; only its head and its tail where it is long."""
    half = most // 2
    if len(text) <= most:
        return text
    return f"{text[:half]} ... {len(text) - 2 * half:,} characters left out ... {text[-half:]}"


def lines(text: str) -> str:
    """A text with each of its lines as by ``printable``; a carriage return ends a line too."""
    text = text.expandtabs().replace("\r\n", "\n").replace("\r", "\n")
    return "\n".join(map(printable, text.split("\n")))


def suggestion(word: str, names: Iterable[str]) -> str:
    """``did you mean NAME?`` with the nearest of the names; empty where none is near.

    Capitals and signs make no difference: ``Write_IOPS`` is ``write-iops``.
    """
    import difflib  # no start of cephtui needs it

    by_letters = {_letters(name): name for name in names}
    near = difflib.get_close_matches(_letters(word), by_letters, n=1)
    return f"did you mean {by_letters[near[0]]}?" if near else ""


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name)).lower()


def listed(values: Sequence[str], most: int = 3) -> str:
    """The first values and how many others there are: ``a, b, c and 4 more``."""
    shown = ", ".join(values[:most])
    return shown if len(values) <= most else f"{shown} and {len(values) - most} more"


def either(words: Sequence[str]) -> str:
    """Alternatives: ``2 %, 5 % or 10 %``."""
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[-1]
