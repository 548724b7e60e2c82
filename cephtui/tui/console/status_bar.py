"""The first row of the console: session, queue, nodes."""

from __future__ import annotations

from rich.text import Text
from textual.reactive import reactive
from textual.widgets import Static


class StatusBar(Static):
    """Each part is drawn when it changes."""

    session: reactive[str | None] = reactive(None)
    queue = reactive("")
    """How much waits and for how long; empty for nothing."""
    nodes: reactive[Text] = reactive(Text)
    """Each node with its state."""

    def render(self) -> Text:
        bar = Text.assemble(("cephtui", "bold"), f"   session {self.session or 'new'}   ")
        if self.queue:
            bar.append(f"queue: {self.queue}", "bold").append("   ")
        return bar.append_text(self.nodes)
