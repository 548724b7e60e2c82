"""A bell, and the terminal's own notification, at the end of a long run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cephtui.models.metrics import HEADLINE_BY_NAME, HeadlineName
from cephtui.reports.words.quality import outcome_word
from cephtui.stats import known_sum

if TYPE_CHECKING:
    from cephtui.models import Run

LONG_SECONDS = 60.0
"""The user may have turned to another window meanwhile."""


def text_of(run: Run, name: HeadlineName) -> str:
    """A run's end in a line of printable ASCII: ``cephtui: write-iops ok, 16.7k IOPS``."""
    figure = HEADLINE_BY_NAME[name]
    flows = run.summary.flows
    values = {flow: figure.metric.of(flows[flow]) for flow in figure.metric.names_of_whole(flows)}
    if figure.sums and values:
        texts = [figure.metric.as_text(known_sum(values.values())) + (" IOPS" if name == "iops" else "")]
    else:
        texts = [f"{flow} latency {figure.metric.as_text(value)}" for flow, value in values.items()]
    text = ", ".join([f"cephtui: {run.preset} {outcome_word(run)}", *texts])
    return "".join(char if char.isascii() and char.isprintable() else "?" for char in text)


def sequences(text: str) -> tuple[str, ...]:
    """A bell, OSC 9 (iTerm2, Windows Terminal, kitty) and OSC 777 (rxvt, foot, Ghostty).

    Each is to be written by itself: a driver for plain terminals leaves out those that such a terminal would print.
    """
    return "\a", f"\x1b]9;{text}\a", f"\x1b]777;notify;cephtui;{text.replace(';', ',')}\a"
