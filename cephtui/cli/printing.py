"""Results as JSON Lines on stdout."""

from __future__ import annotations

from collections.abc import Iterable

from cephtui.models import Model, Sample
from cephtui.sessions.jsonlines import line


def print_lines(rows: Iterable[Model | Sample]) -> None:
    """Each as a JSON object on a line of its own."""
    for row in rows:
        print(line(row))
