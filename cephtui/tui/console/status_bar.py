"""The first row of the console: what runs, the queue, session, nodes, the cluster's health."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text
from textual.reactive import reactive
from textual.widgets import Static

from cephtui import units
from cephtui.reports.words.text import taking_part

if TYPE_CHECKING:
    from cephtui.analysis.views.live import LiveRun, Progress

_NAME, _GAP = "cephtui", "   "
_IMPORTANCE = ("running", "queue", "session", "nodes", "health")
_NODES_LEAST = 12
"""Columns of the nodes that are worth to be shown."""
_PHASES = {"prepare": "prefilling ", "ramp": "ramp ", "run": ""}


def running_text(state: LiveRun, progress: Progress, remaining: str) -> str:
    """``#3 write-iops 34/62 s, run 2 of 4, 1:40 min left``; the time left only where there is more than this run.

    Where nodes have broken off, with how many are left: ``#3 write-iops 34/62 s, 2 of 3 nodes``.
    """
    rest = taking_part(state)
    more = [rest] * bool(rest) + [remaining] * remaining.startswith("run ")
    return ", ".join([_how_far(state, progress), *more])


def _how_far(state: LiveRun, progress: Progress) -> str:
    text = f"#{state.run.run} {state.run.preset} {_PHASES[progress.phase]}"
    expected = state.expected_seconds
    if progress.phase == "prepare" or expected is None:
        return text + units.duration(progress.elapsed_seconds)
    return f"{text}{min(progress.elapsed_seconds, expected):.0f}/{units.duration(expected)}"


class StatusBar(Static):
    """Each part is drawn when it changes; where there is little room, the least important ones are left out."""

    session: reactive[str | None] = reactive(None)
    running = reactive("")
    """The run in progress, how far it is, and the time left; empty for none."""
    queue = reactive("")
    """How much waits and for how long; empty for nothing."""
    nodes: reactive[Text] = reactive(Text)
    """Each node with its state."""
    health: reactive[Text] = reactive(Text)
    """The cluster's health; empty where none is known."""

    def render(self) -> Text:
        """The parts that fit, in their order; the nodes may be cut off, and during a run the session gives way."""
        parts = {
            "session": Text(f"session {self.session or 'new'}"),
            "running": Text(f"● {self.running}" if self.running else "", "bold"),
            "queue": Text(f"queue: {self.queue}" if self.queue else "", "bold"),
            "nodes": self.nodes,
            "health": self.health,
        }
        shown, room = set[str](), self.content_size.width - len(_NAME)
        late = ("session",) if self.running else ()
        for name in (*(name for name in _IMPORTANCE if name not in late), *late):
            needs = parts[name].cell_len + len(_GAP)
            if parts[name] and (needs <= room or not shown or (name == "nodes" and not late and room > _NODES_LEAST)):
                shown.add(name)
                room -= needs
        texts = [part for name, part in parts.items() if name in shown]
        return Text(_GAP, no_wrap=True, overflow="ellipsis").join([Text(_NAME, "bold"), *texts])
