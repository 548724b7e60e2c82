"""The least that a Textual application can be: what the console's own first paint is compared with.

python -m tests.bench.bare_textual
"""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.widgets import Static

TEXT = "Write IOPS"


class Bare(App[None]):
    """One text."""

    def compose(self) -> ComposeResult:
        """The text."""
        yield Static(TEXT)


if __name__ == "__main__":
    Bare().run()
