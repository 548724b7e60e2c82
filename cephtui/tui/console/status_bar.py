"""The first row of the console: what runs, the queue, session, nodes, the cluster's health."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text
from textual.reactive import reactive
from textual.widgets import Static

from cephtui.reports.words.text import taking_part

if TYPE_CHECKING:
    from cephtui.analysis.views.live import LiveRun

_NAME, _GAP = "cephtui", "   "
_IMPORTANCE = ("running", "queue", "session", "nodes", "health")
_NODES_LEAST = 12
"""Columns of the nodes that are worth to be shown."""


def running_text(state: LiveRun) -> str:
    """``#3 write-iops``, with how many nodes are left where some have broken off; how far it is stands below."""
    rest = taking_part(state)
    return f"#{state.run.run} {state.run.preset}{f', {rest}' if rest else ''}"


class StatusBar(Static):
    """Each part is drawn when it changes; where there is little room, the least important ones are left out."""

    session: reactive[str | None] = reactive(None)
    running = reactive("")
    """The run in progress; empty for none."""
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
