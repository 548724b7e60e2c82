"""What plotext has no public name for. Seen in plotext 6.1.0."""

from __future__ import annotations

from typing import Any


def add_signal(figure: Any, signal: Any) -> None:
    """Add a line to a figure.

    ``figure.draw`` would walk every point in Python for a colour cycle not used here: half of the whole time.
    """
    figure._signals._add(signal)
