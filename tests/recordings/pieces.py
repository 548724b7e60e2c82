"""Output as it was recorded, piece by piece with its time: ``NAME.jsonl`` of ``record_ceph_tools.py``."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from cephtui.tools.base import Parser, Reading, Stream, ToolResult

FOLDER = Path(__file__).parent / "ceph-tools-16.2"
Piece = tuple[Stream, float, bytes]


def pieces_of(name: str) -> list[Piece]:
    """Stream, seconds since the start, bytes."""
    lines: list[Any] = list(map(json.loads, (FOLDER / f"{name}.jsonl").read_text().splitlines()))
    return [(stream, at, text.encode()) for stream, at, text in lines[1:]]


def cut(pieces: Iterable[Piece], cuts: Sequence[int]) -> list[Piece]:
    """The same bytes at the same times, in other pieces."""
    found: list[Piece] = []
    for stream, at, data in pieces:
        edges = [0, *sorted(min(edge, len(data)) for edge in cuts), len(data)]
        found += [(stream, at, data[start:end]) for start, end in itertools.pairwise(edges)]
    return found


def parsed(parser: Parser, pieces: Iterable[Piece]) -> tuple[list[Reading], ToolResult]:
    """All that a parser makes of it."""
    readings = [reading for stream, at, data in pieces for reading in parser.feed(stream, data, at)]
    return [*readings, *parser.finish()], parser.result()
