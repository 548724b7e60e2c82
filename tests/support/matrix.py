"""The parameters of a test of which ``make test`` runs a part."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

import pytest


def cases(values: Iterable[Any], always: Container[Any]) -> list[Any]:
    """Each value, or tuple of values, as a parameter: those that are not always run are of the matrix."""
    return [
        pytest.param(
            *(value if isinstance(value, tuple) else (value,)), marks=[pytest.mark.matrix] * (value not in always)
        )
        for value in values
    ]
