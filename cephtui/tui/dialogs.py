"""Questions, one at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from rich.console import Group, RenderableType
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Label, Static

from cephtui.printable import printable
from cephtui.tui.keys import COMMANDS, HELP, MASK, active_commands, footer, key

T = TypeVar("T")


class Dialog(ModalScreen[T]):
    """Lies over a screen and takes its keys; shows its own in its frame."""

    BINDINGS = [MASK, replace(HELP, show=False), COMMANDS]

    def on_mount(self) -> None:
        """Show the keys that work now, whenever that changes."""
        self.bindings_updated_signal.subscribe(self, lambda _: self._show_keys())
        self._show_keys()

    def _show_keys(self) -> None:
        for box in self.query(".dialog"):
            box.border_subtitle = Content(f" {keys} ") if (keys := footer(active_commands(self))) else ""


class Confirm(Dialog[bool]):
    """A yes or no; escape is no."""

    BINDINGS = [
        key("y", "answer(True)", "yes", "yes"),
        key("n,escape", "answer(False)", "no", "no"),
        key("left,right", "app.focus_next", "other", "the other answer; enter gives it"),
    ]

    def __init__(self, question: str, yes: str, no: str) -> None:
        super().__init__()
        self._question, self._yes, self._no = question, yes, no

    def compose(self) -> ComposeResult:
        """The question and its answers; the harmless one has the focus."""
        with Vertical(classes="dialog"):
            yield Label(printable(self._question), markup=False)
            with Horizontal(classes="buttons"):
                yield Button(f"{self._no} (n)", id="no")
                yield Button(f"{self._yes} (y)", id="yes", variant="error")

    def on_button_pressed(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id == "yes")

    def action_answer(self, answer: bool) -> None:
        self.dismiss(answer)


class TypeName(Dialog[bool]):
    """Data is overwritten only after its name was typed."""

    BINDINGS = [
        key("enter", "overwrite", "overwrite", "overwrite, after the name was typed", priority=True),
        key("escape", "dismiss(False)", "cancel", "cancel"),
    ]

    def __init__(self, what: str, name: str) -> None:
        super().__init__()
        self._what, self._name = what, name

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Label(printable(f"{self._what}."), markup=False)
            how = f"To overwrite it, type its name ({self._name}) and press enter; escape cancels."
            yield Label(printable(how), markup=False)
            yield Input(id="name")

    def action_overwrite(self) -> None:
        """Give True, if the exact name was typed."""
        name_input = self.query_one(Input)
        if name_input.value == self._name:
            self.dismiss(True)
        else:
            name_input.add_class("wrong")
            self.notify(f"the name does not match: type {self._name}", markup=False)


class NodeQuestion(Dialog[str | None]):
    """A question of a node that connects: a secret, masked, or a yes; escape leaves it unanswered."""

    BINDINGS = [
        key("enter", "answer", "answer", "give this answer", priority=True),
        key("escape", "dismiss", "cancel", "leave the node out"),
    ]

    def __init__(self, node: str, question: str, *, secret: bool) -> None:
        super().__init__()
        self._node, self._question, self._secret = node, question, secret

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Label(printable(f"{self._node}: {self._question}"), markup=False)
            hint = "It is not stored." if self._secret else "Type yes to accept it."
            yield Label(f"{hint} Enter answers, escape leaves the node out.", markup=False)
            yield Input(password=self._secret, id="answer")

    def action_answer(self) -> None:
        """Anything but a yes is a no, where a yes is asked for."""
        value = self.query_one(Input).value
        refused = not self._secret and value.strip().lower() != "yes"
        self.dismiss(None if refused else value)


class Details(Dialog[None]):
    """Something to read; any of the usual keys closes it."""

    BINDINGS = [
        key("escape", "dismiss", "closes", "close this", shown=True, display="esc"),
        key("q,enter", "dismiss", "closes", "close this"),
    ]

    def __init__(self, title: str, body: RenderableType) -> None:
        super().__init__()
        self._title, self._body = title, body

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog details") as box:
            box.border_title = Content(printable(self._title))
            yield Static(self._body)


class Selectable(Details):
    """A text to be selected with the terminal's own means, which take whole rows of the screen."""

    def __init__(self, title: str, text: str, file: Path | None) -> None:
        """``file`` has the text too, where it could be saved."""
        where = f"; it is saved in {file}" if file else ""
        how = Text(f"select it with the mouse, with shift held down{where}", style="italic")
        super().__init__(title, Group(how, "", Text(text)))


class Help(Details):
    """The keys; the key that opened it closes it too."""

    BINDINGS = [replace(HELP, action="dismiss", show=False)]


class Wait(Dialog[None]):
    """Shows what is being waited for; the keys that quit don't wait for it."""

    BINDINGS = [key("q,ctrl+q,ctrl+c", "app.end_at_once", "end at once", "stop waiting", priority=True)]

    def __init__(self, text: Callable[[], str]) -> None:
        super().__init__()
        self._text = text

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Label(printable(self._text()), id="text", markup=False)
            yield Label("q ends at once; cephtui cleanup then removes what is left", markup=False)

    def on_mount(self) -> None:
        self.set_interval(0.25, lambda: self.query_one("#text", Label).update(printable(self._text())))


class EnterText(Dialog[str | None]):
    """One line of text; escape gives None.

    ``check`` gives the error of a text, or None; it is shown as one types, and enter then does nothing.
    """

    BINDINGS = [
        key("enter", "keep", "keep", "keep what was typed", priority=True),
        key("escape", "dismiss", "cancel", "cancel"),
    ]
    DEFAULT_CSS = """
    EnterText Input { width: 58; max-width: 100%; }
    EnterText #wrong { width: 58; max-width: 100%; min-height: 1; color: $text-error; }
    """

    def __init__(
        self, title: str, value: str = "", check: Callable[[str], str | None] | None = None, *, hint: str = ""
    ) -> None:
        super().__init__()
        self._title, self._value, self._hint = title, value, hint
        self._check = check or (lambda text: None)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Label(printable(self._title), markup=False)
            yield Label(f"{self._hint}{'; ' if self._hint else ''}enter keeps it, escape cancels", markup=False)
            yield Input(self._value, select_on_focus=False, id="text")
            yield Label(id="wrong", markup=False)

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        problem = self._check(event.value)
        event.input.set_class(problem is not None, "wrong")
        self.query_one("#wrong", Label).update(printable(problem or ""))

    def action_keep(self) -> None:
        """Give the text, if nothing is wrong with it."""
        value = self.query_one(Input).value
        problem = self._check(value)
        if problem is None:
            self.dismiss(value)
        else:
            self.query_one("#wrong", Label).update(printable(problem))
