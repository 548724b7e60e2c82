"""The dialog that shows and hides the panels of a run, by their numbers."""

from __future__ import annotations

from collections.abc import Callable, Collection

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.widgets import Static

from cephtui.tui.dialogs import Dialog
from cephtui.tui.keys import key
from cephtui.tui.widgets.layout import PANELS


def _number_key(number: int) -> Binding:
    about = "show or hide a panel"
    return key(_sign(number), f"number({number})", "show or hide", about, shown=number == 1, display="0-9")


def _sign(number: int) -> str:
    """The key of a panel."""
    return str(number % 10)


class PanelsDialog(Dialog[None]):
    """Stays open, over the screen that changes."""

    BINDINGS = [
        *(_number_key(number) for number in range(1, len(PANELS) + 1)),
        key("escape,w,enter,q", "dismiss", "closes", "close this", shown=True, display="esc"),
    ]
    DEFAULT_CSS = """
    PanelsDialog { align: right top; background: transparent; }
    PanelsDialog Static { width: auto; }
    """

    def __init__(self, visible: Callable[[], Collection[str]], toggle: Callable[[str], None]) -> None:
        super().__init__()
        self._visible, self._toggle = visible, toggle

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = " panels "
            yield Static()

    def on_mount(self) -> None:
        self._show()

    def _show(self) -> None:
        visible = self._visible()
        rows = [
            Text.assemble((f"{_sign(number)} ", "bold"), "[x] " if panel.name in visible else "[ ] ", panel.title)
            for number, panel in enumerate(PANELS, 1)
        ]
        self.query_one(Static).update(Text("\n").join(rows))

    def action_number(self, number: int) -> None:
        self._toggle(PANELS[number - 1].name)
        self._show()
