"""How texts are shown, by names: each format has its own form of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

Style: TypeAlias = Literal["", "strong", "dim", "ok", "good", "bad", "open", "limited", "code", "runs"]
"""Of a text: a verdict is met (``good``), not met (``bad``) or neither (``open``), a run ended well (``ok``), a finding
limits a figure (``limited``). ``runs`` are numbers of runs: ``#1-3`` would be a link where tickets are tracked."""
STYLES: Mapping[Style, str] = {
    "": "",
    "strong": "bold",
    "dim": "dim",
    "ok": "green",
    "good": "bold green",
    "bad": "bold red",
    "open": "bold yellow",
    "limited": "yellow",
    "code": "cyan",
    "runs": "",
}
"""On a terminal."""
FLOW_STYLES: Mapping[str, str] = {"read": "cyan", "write": "magenta"}
"""Of what is read or written, on a terminal: yellow and red are what limits it and what is wrong."""
OUTCOMES: Mapping[str, Style] = {"ok": "ok", "failed": "bad", "refused": "bad", "stopped": "limited", "lost": "limited"}
"""Of a run."""
OUTCOME_STYLES: Mapping[str, str] = {outcome: STYLES[style] for outcome, style in OUTCOMES.items()}
"""The same on a terminal."""


def color_of_flow(flow: str) -> str:
    """The colour of a flow on any terminal; none for what is beside reads and writes."""
    return FLOW_STYLES.get(flow, "")
