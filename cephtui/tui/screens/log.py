"""The commands of a run, and the output of its tools."""

from __future__ import annotations

import os
from pathlib import Path

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from cephtui.models import Run
from cephtui.printable import lines
from cephtui.reading import open_regular
from cephtui.tui.dialogs import Dialog
from cephtui.tui.keys import key

_TAIL_BYTES = 12_000
_READS_PER_SECOND = 1


def tail(path: Path) -> str:
    """The end of an output, made printable, from the beginning of a line; empty where there is none.

    Of one that is stored in part, the end of what came first and then the end of what came last.
    """
    return _tail(path) + _tail(path.with_name(f"{path.name}.tail"))


def _tail(path: Path) -> str:
    try:
        with open_regular(path) as file:
            start = max(0, file.seek(0, os.SEEK_END) - _TAIL_BYTES)
            file.seek(start)
            data = file.read(_TAIL_BYTES) or b""
    except OSError:
        return ""
    text = data.decode("utf-8", "replace")
    return lines((text.partition("\n")[2] or text) if start else text)


class LogScreen(Dialog[None]):
    """One node at a time; follows a run in progress."""

    BINDINGS = [
        key("escape,l,q", "app.pop_screen", "back", "back; the run continues", shown=True),
        key("left", "node(-1)", "node before", "the node before", priority=True),
        key("right,tab", "node(1)", "next node", "the next node", priority=True),
    ]
    DEFAULT_CSS = """
    LogScreen #log-command { color: $foreground; height: auto; max-height: 40%; margin-bottom: 1; }
    LogScreen #log-end { height: 1fr; }
    LogScreen #log-output { color: $foreground 80%; height: auto; }
    """

    def __init__(self, directory: Path, run: Run) -> None:
        super().__init__()
        self._raw, self._run, self._node = directory / f"{run.run:03}" / "raw", run, 0

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog", id="log"):
            yield Static(id="log-command")
            with VerticalScroll(id="log-end"):
                yield Static(id="log-output")

    def on_mount(self) -> None:
        if not self._run.nodes:
            self.query_one("#log-command", Static).update("no node has taken part")
            return
        self._refresh()
        self.set_interval(1 / _READS_PER_SECOND, self._refresh)

    def _refresh(self) -> None:
        node = self._run.nodes[self._node]
        box, scroll = self.query_one("#log"), self.query_one("#log-end", VerticalScroll)
        many = f" ({self._node + 1} of {len(self._run.nodes)}, right for the next)" if len(self._run.nodes) > 1 else ""
        box.border_title = Content(f" #{self._run.run} {self._run.preset} on {node.node}{many} ")
        self.query_one("#log-command", Static).update(Text(f"$ {node.command}"))
        at_end = scroll.max_scroll_y - scroll.scroll_y < 2
        texts = [
            tail(self._raw / f"{node.node}{process}.{s}") for process in ("", ".prepare") for s in ("stderr", "stdout")
        ]
        output = next((text for text in (texts[0] + texts[1], texts[2] + texts[3]) if text), "nothing yet")
        self.query_one("#log-output", Static).update(Text(output))
        if at_end:
            scroll.scroll_end(animate=False)

    def action_node(self, by: int) -> None:
        if not self._run.nodes:
            return
        self._node = (self._node + by) % len(self._run.nodes)
        self._refresh()
