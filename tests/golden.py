"""What users read, word for word, in one file: a test names a text and its values, ``golden.txt`` has its wording.

``make golden`` writes the file again from what the program says now, so that a better word costs one line of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

PATH = Path(__file__).parent / "golden.txt"


class Golden:
    """Texts by their names."""

    def __init__(self, path: Path = PATH, *, writes: bool = False) -> None:
        """With ``writes`` every text is taken as it is, and kept by ``save``."""
        self._path, self._writes = path, writes
        self._known = {} if writes else _read(path)
        self._said: dict[str, str] = {}

    def same(self, name: str, text: str | Iterable[str]) -> None:
        """Fails where a text is not worded as in the file; several lines are one text."""
        text = text if isinstance(text, str) else "\n".join(text)
        if self._writes:
            assert self._said.setdefault(name, text) == text, f"{name} names two texts: {self._said[name]!r}, {text!r}"
        else:
            assert text == self._known.get(name), f"{name}: see make golden"

    def save(self) -> None:
        """Write all that were said, by name."""
        if self._writes:
            self._path.write_text("".join(_entry(name, self._said[name]) for name in sorted(self._said)), "utf-8")


def _entry(name: str, text: str) -> str:
    return f"{name}\n" + "".join(f"    {line}\n" for line in text.split("\n"))


def _read(path: Path) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    name = ""
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("    "):
            found[name].append(line[4:])
        else:
            name = line
            found[name] = []
    return {name: "\n".join(lines) for name, lines in found.items()}
