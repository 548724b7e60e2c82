"""What users read, word for word, in one file: a test has its texts by their places in it, ``golden.txt`` the wording.

``make golden`` writes the file again from what the program says now, so that a better word costs one line of it;
``pytest --golden`` of some modules writes their texts into it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TypeVar

import pytest

from tests import ROOT

E = TypeVar("E", bound=Exception)
PATH, UNITS = ROOT / "tests" / "golden.txt", ROOT / "tests" / "unit"
_VARIES = (
    (r"/var/tmp/cephtui[ -]\w+[ -]\w{8}\b", "TMP"),
    (r"\bloop\d+\b", "loopN"),
    (r"\bport \d{5}\b", "port N"),
    (r"\.deleted-[0-9a-f]{8}\b", ".deleted-ID"),
)
"""What is another with each run of a test, and what stands for it."""


class File:
    """Texts by their names."""

    def __init__(self, path: Path = PATH, *, writes: bool = False) -> None:
        """With ``writes`` every text is taken as it is, and kept by ``save``."""
        self._path, self._writes = path, writes
        self._known = _read(path) if path.exists() else {}
        self._said: dict[str, str] = {}

    def same(self, name: str, text: str) -> None:
        """Fails where a text is not worded as in the file."""
        if self._writes:
            assert self._said.setdefault(name, text) == text, f"{name} names two texts: {self._said[name]!r}, {text!r}"
        else:
            assert text == self._known.get(name), f"{name} has other words: see make golden"

    def save(self) -> None:
        """Write all that were said, and those that stand there already, by name."""
        if self._writes:
            texts = self._known | self._said
            self._path.write_text("".join(_entry(name, texts[name]) for name in sorted(texts)), "utf-8")


class Golden:
    """The texts of one test."""

    def __init__(self, file: File, test: str, values: Mapping[str, str]) -> None:
        """Its texts are named after it, and numbered. Each of ``values`` has its name in them, as a directory."""
        self._file, self._test, self._values = file, test, values
        self._numbers = count(1)

    def same(self, text: str | Iterable[str] | None, name: str = "") -> None:
        """Fails where a text is not worded as in the file, or there is none; several lines are one text."""
        assert text is not None, "nothing is said"
        text = text if isinstance(text, str) else "\n".join(text)
        for value, instead in self._values.items():
            text = text.replace(value, instead)
        for pattern, instead in _VARIES:
            text = re.sub(pattern, instead, text)
        self._file.same(name or f"{self._test} {next(self._numbers)}", text)

    @contextmanager
    def raises(self, *kinds: type[E]) -> Iterator[pytest.ExceptionInfo[E]]:
        """The block fails with one of these, worded as in the file."""
        with pytest.raises(kinds) as caught:
            yield caught
        self.same(str(caught.value))


def of(request: pytest.FixtureRequest, file: File) -> Golden:
    """Those of a test, which is named by its folder and module, its function and which of its cases it is."""
    item = request.node
    folder = item.path.parent.relative_to(UNITS).as_posix()
    module, function = (name.removeprefix("test_").replace("_", " ") for name in (item.path.stem, item.originalname))
    module = module if folder == "." else f"{folder}/{module}"
    case = "".join(f" [{index}]" for index in item.callspec.indices.values()) if hasattr(item, "callspec") else ""
    own = {str(request.getfixturevalue("tmp_path")): "TMP"} if "tmp_path" in item.fixturenames else {}
    return Golden(file, f"{module}: {function}{case}", own)


def _entry(name: str, text: str) -> str:
    return f"{name}\n" + "".join(f"    {line}\n" for line in text.split("\n"))


def _read(path: Path) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    name = ""
    for line in path.read_text("utf-8").split("\n")[:-1]:
        if line.startswith("    "):
            found[name].append(line[4:])
        else:
            name = line
            found[name] = []
    return {name: "\n".join(lines) for name, lines in found.items()}
