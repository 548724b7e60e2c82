"""A verdict for an audience: its word in large letters, and the interval as a bar."""

from __future__ import annotations

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from cephtui.models.verdict import Verdict
from cephtui.reports.words.verdict import word_text
from cephtui.tui.terminal.profile import profile_of
from cephtui.tui.widgets.big import Big

_CLASSES = {True: "-met", False: "-failed", None: "-open"}


class VerdictInLarge(Vertical):
    """The verdict's word and interval; hidden without a verdict, without an interval only the word."""

    SCOPED_CSS = False  # the classes are those of the screen
    DEFAULT_CSS = """
    VerdictInLarge { height: auto; }
    VerdictInLarge .word { height: 3; }
    .-tall VerdictInLarge .word { height: 5; padding: 1 0; }
    .-plain VerdictInLarge .word { height: 1; padding: 0; }
    VerdictInLarge .word.-met { color: $success; }
    VerdictInLarge .word.-failed { color: $error; }
    VerdictInLarge .word.-open { color: $warning; }
    VerdictInLarge .interval { height: 2; padding: 0 2; }
    """

    def compose(self) -> ComposeResult:
        yield Big(classes="word")
        yield Static(classes="interval")

    def show(self, verdict: Verdict | None, *longer: str) -> None:
        """``longer`` texts stand instead of the word where they fit."""
        self.display = verdict is not None
        if verdict is None:
            return
        big, bar = self.query_one(".word", Big), self.query_one(".interval", Static)
        big.say(*longer, word_text(verdict))
        big.set_classes(f"word {_CLASSES[verdict.met]}")
        bar.display = verdict.interval is not None
        if verdict.interval is not None:
            width = max(20, self.app.size.width - 4)
            bar.update(Text("\n").join(_bar(verdict, width, ascii_only=profile_of(self).ascii_only)))


def _bar(verdict: Verdict, width: int, *, ascii_only: bool) -> list[Text]:
    from cephtui.reports.render.charts import interval_bar
    from cephtui.reports.views.judgement import interval_of_verdict

    return interval_bar(interval_of_verdict(verdict), width, ascii_only=ascii_only)
