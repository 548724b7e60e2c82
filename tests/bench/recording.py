"""The recorded run that is played again, and what simulated nodes are called."""

from __future__ import annotations

from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
RECORDING, RUN = CHECKOUT / "tests" / "recordings" / "replay", 2
"""A run of mixed-75-25: reads and writes, so two histograms in each document."""
PRESET, KEYS = "mixed-75-25", "6\r"
TARGET = "file:/mnt/bench/test"


def names(number: int) -> tuple[str, ...]:
    """So many nodes."""
    return tuple(f"n{each}" for each in range(1, number + 1))
