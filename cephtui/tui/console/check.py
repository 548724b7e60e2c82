"""The guided check: before, the change, after, the verdict; readable from the last row."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Static

from cephtui import units
from cephtui.analysis.statistics.ratio import required_ratio
from cephtui.analysis.verdicts.conclusion import Judgement
from cephtui.analysis.verdicts.guided_check import looks_of, seen_at_look
from cephtui.analysis.verdicts.noted import NOT_SEEN, UNSEEN, is_seen
from cephtui.analysis.views.live import LiveRun
from cephtui.frozen import dataclass
from cephtui.models import Mark, Plan, Run
from cephtui.models.metrics import HEADLINE_BY_NAME, Metric
from cephtui.models.study import CheckGoal
from cephtui.planning import Request
from cephtui.reports.blocks import Facts, Table, columns
from cephtui.reports.blocks import Text as TextBlock
from cephtui.reports.drawn.plan import draw_plans
from cephtui.reports.masking.mask import Names, names_in
from cephtui.reports.render.rich import draw
from cephtui.reports.views.judgement import evidence_blocks
from cephtui.reports.words.facts import facts, head_line
from cephtui.reports.words.text import PHASES, conditions
from cephtui.reports.words.verdict import (
    ANSWERS,
    answer_text,
    figures_text,
    required_percent,
    seen_text,
    statistics_text,
    verdict_text,
)
from cephtui.running.launch import FAULTS, NotRun
from cephtui.sessions.store import StoreError
from cephtui.studies.check import Check, with_required, wrong_percent
from cephtui.studies.dispatcher import Dispatcher
from cephtui.studies.queue import Entry
from cephtui.studies.standing import Standing, standing
from cephtui.tui.charts.chart import Chart
from cephtui.tui.charts.colors import SIDE_COLORS
from cephtui.tui.charts.dots import Dots, RunDots, Side
from cephtui.tui.dialogs import Confirm, EnterText
from cephtui.tui.keys import KeyBar, key
from cephtui.tui.screens.compare_presenter import percent_text
from cephtui.tui.screens.presenter import BigFigure, PresentedFigure, PresenterScreen
from cephtui.tui.terminal.profile import profile_of
from cephtui.tui.widgets.big import Big
from cephtui.tui.widgets.scrolled import Scrolled
from cephtui.tui.widgets.shown import chart_titles, picture, shown_of_live
from cephtui.tui.widgets.verdict_in_large import VerdictInLarge

if TYPE_CHECKING:
    from cephtui.running.survey import Conditions

_DRAWS_PER_SECOND = 4
_SHOWN = 3
"""Of what was noted, and of what differs."""
_USUAL_SPREAD, _SPREADS = 0.05, (0.01, 0.02, 0.05, 0.1, 0.2)
"""Between runs, as long as it is not known; and those for which is said what they would hide."""


_KEYS = [
    key("enter", "begin", "begins", "begin the check", shown=True),
    key("enter", "go_on", "continues", "continue the check that was interrupted", shown=True),
    key("enter", "change", "change made", "confirm that the change is made", shown=True),
    key("enter", "close", "closes", "close the finished check", shown=True),
    key("s", "stop", "stop", "stop the run; enter continues the check", shown=True),
    key("r", "require", "required", "smallest acceptable change; before the first run", shown=True),
    key("n", "anew", "new", "start a new check with the same settings", shown=True),
]
"""Each is offered only where it does something: see ``_offered``."""


@dataclass(frozen=True, slots=True)
class CheckContext:
    """What the console lends to a check."""

    dispatcher: Dispatcher
    session: Callable[[], tuple[Sequence[Run], Sequence[Mark], Path | None]]
    """The runs and marks of the session so far, and where it is; None before its first run."""
    live: Callable[[], LiveRun | None]
    plans: Callable[[Sequence[Request]], list[Plan]]
    anew: Callable[[], Check]
    """Another check of the same."""
    note_change: Callable[[Callable[[], Awaitable[bool]]], Awaitable[bool]]
    """Ask what was changed and, where that is agreed to, keep it as a mark of this moment; whether it was kept."""
    conditions: Callable[[Request], Awaitable[Conditions]]
    """What a run of a request would be made under now; may raise NotRun, and FAULTS."""


class CheckScreen(PresenterScreen):
    """Measures before, asks for the change, measures after, and says what that shows."""

    BINDINGS = [
        *_KEYS,
        key("escape,q", "app.pop_screen", "back", "back to the console, where the check can be continued", shown=True),
    ]
    DEFAULT_CSS = """
    CheckScreen #what { height: auto; max-height: 2; padding: 0 1; text-style: bold; }
    CheckScreen #phase { height: 3; }
    CheckScreen.-huge #phase { height: 5; padding: 1 0; }
    CheckScreen.-short #phase { height: 3; }
    CheckScreen.-plain #phase { height: 1; }
    CheckScreen #sentence { height: auto; padding: 0 2; }
    CheckScreen.-tall .word { height: 1; }
    CheckScreen.-tall .value { height: 5; }
    CheckScreen.-huge .value { height: 8; }
    CheckScreen #evidence { height: 1fr; min-height: 3; }
    CheckScreen.-narrow #evidence { layout: vertical; }
    CheckScreen.-tall #evidence, CheckScreen.-huge #evidence { padding-top: 1; }
    CheckScreen Chart, CheckScreen #details { width: 1fr; height: 1fr; display: none; }
    CheckScreen Chart { border: round $primary-darken-1; border-title-color: $foreground; }
    CheckScreen #details { padding: 0 0 0 2; }
    CheckScreen #details Static { padding-right: 1; }
    CheckScreen.-over.-short #phase, CheckScreen.-over.-tall #phase { display: none; }
    CheckScreen.-over.-short #what { max-height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
    CheckScreen.-begun.-short #sentence { display: none; }
    CheckScreen.-over.-short #sentence { display: block; }
    CheckScreen.-live.-tall Chart, CheckScreen.-live.-huge Chart { display: block; }
    CheckScreen.-over.-tall #details, CheckScreen.-over.-huge #details { display: block; }
    CheckScreen.-planned.-tall #details, CheckScreen.-planned.-huge #details { display: block; }
    CheckScreen #next { dock: bottom; height: auto; max-height: 4; padding: 0 1 1 1; background: $surface; }
    CheckScreen.-short #next { max-height: 5; }
    """

    def __init__(self, study: Check, context: CheckContext) -> None:
        super().__init__()
        self._study, self._check_context = study, context
        self._plan = context.plans(study.drafts())[0]
        self._entry = Entry(study)
        self._standing: Standing | None = None
        self._read: object = None
        """How much of the session was read when it was read last."""
        self._runs: list[Run] = []
        self._drawn: object = None
        """What was drawn in detail last."""
        self._keys: frozenset[str] | None = None
        """What was offered when the keys were drawn last."""

    def names_to_hide(self) -> Names:
        """Of what is measured, and of its runs."""
        return names_in([self._study.saved, *self._runs])

    def more_to_say(self) -> str:
        """The statistics behind a verdict."""
        judged = self._standing.judged if self._standing else None
        return (
            "\n".join(f"{verdict.preset}: {statistics_text(verdict)}" for verdict in judged.deciding) if judged else ""
        )

    def compose(self) -> ComposeResult:
        """From the top: what is measured, the step, the figures, the verdict, what comes next."""
        yield Static(id="what")
        yield Big(id="phase")
        with Horizontal(id="figures"):
            for name in ("before", "after", "change"):
                yield BigFigure(id=name)
        yield VerdictInLarge()
        yield Static(id="sentence")
        with Horizontal(id="evidence"):
            yield RunDots()
            yield Chart()
            yield Scrolled(id="details")
        yield Static(id="next")
        yield KeyBar()

    def on_mount(self) -> None:
        steps = {step.preset: step for step in self._plan.steps}
        runs = "; ".join(f"{name}: {conditions(step)}" for name, step in steps.items())
        where = f"{self._entry.targets[0]} on {', '.join(self._entry.nodes)}"
        self.query_one("#what", Static).update(Text(f"check {self._usual.full_title} of {runs}, {where}"))
        self._follow()
        self.set_interval(1 / _DRAWS_PER_SECOND, self._follow)

    # ------------------------------------------------------------------ where it stands

    @property
    def _usual(self) -> Metric:
        """The figure that it is about before there is any run."""
        return HEADLINE_BY_NAME[self._study.requests[0].preset.file.headline].metric

    @property
    def _is_measured(self) -> bool:
        """Whether it is measured now."""
        return self._check_context.dispatcher.batches == self._study.batches

    @property
    def _command(self) -> str:
        """The command of the user that makes or undoes the change now; empty where none does."""
        current = self._check_context.dispatcher.current if self._is_measured else None
        return current.command_text if current else ""

    @property
    def _waiting(self) -> Entry | None:
        """Its place in the queue; None where it is measured, or was not begun."""
        return self._check_context.dispatcher.waiting(self._study.batches)

    @property
    def _is_ready(self) -> bool:
        """Whether it goes on without being asked to."""
        queue = self._check_context.dispatcher.queue
        return self._is_measured or self._waiting in queue.entries[: queue.ready]

    @property
    def _is_begun(self) -> bool:
        stands = self._standing
        return self._is_measured or self._waiting is not None or bool(stands and stands.before)

    @property
    def _enter(self) -> str:
        """The action of enter where it stands now; empty where it has none."""
        stands = self._standing
        if stands and stands.side is None:
            return "close"
        if stands is None or self._is_ready:
            return ""
        if self._is_to_be_changed(stands):
            return "change"
        return "go_on" if stands.before else "begin"

    @property
    def _offered(self) -> frozenset[str]:
        """The actions of ``_KEYS`` that do something where it stands now."""
        does_something = {
            self._enter: True,
            "stop": self._is_ready,
            "require": self._standing is not None and not self._is_begun,
            "anew": self._is_begun and not self._is_measured,
        }
        return frozenset(action for action, offered in does_something.items() if offered)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action in self._offered or all(binding.action != action for binding in _KEYS)

    def _follow(self) -> None:
        """Draw where it stands by the runs so far; the keys too, where others do something now."""
        runs, marks, directory = self._check_context.session()
        ended = [run for run in runs if run.outcome is not None]
        read = (self._study, len(ended), len(marks))
        if read != self._read:
            try:
                self._standing = standing(self._study, self._usual, ended, marks, directory)
            except StoreError as error:
                self.notify(str(error), severity="error", markup=False)
            self._read, self._runs = read, ended
        if self._standing:
            self._draw(self._standing)
        if (offered := self._offered) != self._keys:
            self._keys = offered
            self.refresh_bindings()

    def action_close(self) -> None:
        self.dismiss()

    def _is_to_be_changed(self, stands: Standing) -> bool:
        return stands.side == "after" and not stands.is_changed and not self._study.goal.is_commanded

    def action_begin(self) -> None:
        self.action_go_on()

    def action_go_on(self) -> None:
        """Have it measured: what waits, or what is left of it."""
        dispatcher, waiting = self._check_context.dispatcher, self._waiting
        if waiting:
            dispatcher.release(waiting)
        else:
            dispatcher.push([Entry(self._study, runs=self._study.good(self._runs)).planned(self._check_context.plans)])
        self._follow()

    @work
    async def action_require(self) -> None:
        """Ask for the threshold."""
        title = "Smallest acceptable change in percent: -10 allows 10 % worse, 20 demands 20 % better"
        text = await self.app.push_screen_wait(
            EnterText(title, f"{self._study.goal.require_percent:g}", check=wrong_percent)
        )
        if text is not None:
            self._study = with_required(self._study, float(text))
            self._follow()

    def action_anew(self) -> None:
        """The runs so far stay in the session."""
        self._leave_queue()
        self._study = with_required(self._check_context.anew(), self._study.goal.require_percent)
        self._follow()

    def action_stop(self) -> None:
        """Also where it waits behind other runs."""
        if self._is_measured:
            self._check_context.dispatcher.stop()
        else:
            self._leave_queue()
        self._follow()

    def _leave_queue(self) -> None:
        queue, waiting = self._check_context.dispatcher.queue, self._waiting
        if waiting:
            self._check_context.dispatcher.reorder(queue.without(queue.entries.index(waiting)))

    @work
    async def action_change(self) -> None:
        """Ask what was changed."""
        if await self._check_context.note_change(self._is_to_be_measured):
            self.action_go_on()

    async def _is_to_be_measured(self) -> bool:
        """Where all that is known is as it was before the change, only if the user says so."""
        before = self._standing.before if self._standing else ()
        with contextlib.suppress(NotRun, *FAULTS):  # else the runs say what is the matter
            now = await self._check_context.conditions(self._study.requests[0])
            if before and is_seen(before[-1], now.cluster, now.nodes) is False:
                text = f"{NOT_SEEN[0].upper()}{NOT_SEEN[1:]}"
                agreed: bool | None = await self.app.push_screen_wait(Confirm(text, "measure as it is", "not yet"))
                return bool(agreed)
        return True

    # ------------------------------------------------------------------ drawing

    def _draw(self, stands: Standing) -> None:
        self.query_one("#phase", Big).say(*self._phase(stands))
        for name, value in zip(("before", "after"), stands.means, strict=True):
            number, _, unit = stands.metric.as_text(value).partition(" ")
            self.query_one(f"#{name}", BigFigure).show(PresentedFigure(f"{name} {unit}".strip(), number), None)
        left, right = stands.means
        change = percent_text(right / left - 1 if left and right else None)
        self.query_one("#change", BigFigure).show(PresentedFigure("change", change), None)
        self.query_one(VerdictInLarge).show(stands.judged.decisive if stands.judged else None)
        sentence = Text(judged_text(stands.judged)) if stands.judged else _how(self._study.goal, self._step(stands))
        self.query_one("#sentence", Static).update(sentence)
        self.query_one(RunDots).show(self._dots(stands))
        self.set_class(self._is_begun, "-begun")
        self._draw_live()
        self._draw_details(stands)
        self.query_one("#next", Static).update(Text(self._next(stands)))

    def _dots(self, stands: Standing) -> Dots:
        """The runs of both sides, and where those after have to be."""
        goal, looks = self._study.goal, looks_of(self._study.goal).at
        after = next((runs for runs in looks if runs > len(stands.values[1])), looks[-1])
        before = len(self._study.elsewhere) or (after if goal.takes_turns else goal.before_runs)
        hint = "measuring ..." if self._is_measured else "" if stands.before else "each run drops a dot here"
        sides = tuple(
            Side(name, values, planned if stands.side else 0, mean, color, hint if stands.side == name else "")
            for name, values, planned, mean, color in zip(
                ("before", "after"), stands.values, (before, after), stands.means, SIDE_COLORS.values(), strict=True
            )
        )
        mean, better = stands.means[0], stands.metric.better
        return Dots(sides, stands.metric, mean and mean * required_ratio(goal.require_percent, better))

    def _draw_live(self) -> None:
        """The run that is measured; between two runs the one before."""
        live = self._check_context.live()
        if not self._is_measured or (live and live.phase == "prepare"):
            self.remove_class("-live")
        elif live and live.latest:
            self.add_class("-live")
            shown, headline, chart = shown_of_live(live), HEADLINE_BY_NAME[live.step.headline], self.query_one(Chart)
            chart.show_title(*chart_titles(shown, headline, by_node=False))
            chart.show(picture(shown, headline))

    def _draw_details(self, stands: Standing) -> None:
        """At the end, what stands behind the verdict, and what was measured; where no run is drawn, what is to be."""
        is_over, was_over = stands.side is None and stands.judged is not None, self.has_class("-over")
        self.set_class(is_over, "-over").set_class(not is_over and not self.has_class("-live"), "-planned")
        if is_over and not was_over:
            self.call_after_refresh(self.query_one("#details").focus)
        drawn = self._study, stands.judged, self.has_class("-huge")
        if drawn == self._drawn:
            return
        self._drawn = drawn
        details, ascii_only = self.query_one("#details", Scrolled), profile_of(self).ascii_only
        if stands.judged:
            runs = [*self._study.elsewhere, *self._study.own(self._runs)]
            measured = Facts(tuple(facts(runs).items()), "" if self.has_class("-huge") else head_line(runs))
            blocks = [*evidence_blocks(stands.judged, ("before", "after")), TextBlock(""), measured]
            details.update(draw(blocks, ascii_only=ascii_only))
        else:
            title = TextBlock("Smallest change likely to show, by spread of the runs", "strong")
            seen = draw([title, _visible_changes(self._study, stands), TextBlock("")], ascii_only=ascii_only)
            details.update(Group(seen, draw_plans([self._plan], is_sketch=True)))

    def _phase(self, stands: Standing) -> tuple[str, ...]:
        """The step, the longest text first."""
        if stands.side is None:
            return ("verdict",)
        if self._is_to_be_changed(stands) and not self._is_ready:
            return ("now make the change", "make the change", "change")
        done = stands.counted[0 if stands.side == "before" else 1]
        word = f"{stands.side} {min(done + self._is_measured, stands.side_runs)} of {stands.side_runs}"
        return (word if self._is_ready else f"{word}, paused" if done else stands.side, stands.side)

    def _step(self, stands: Standing) -> int | None:
        """Which of the steps it is at; None before the first, and of those that take turns."""
        if self._study.goal.takes_turns or not self._is_begun:
            return None
        return 1 if self._command or self._is_to_be_changed(stands) else 0 if stands.side == "before" else 2

    def _next(self, stands: Standing) -> str:
        """What comes next and how long it takes; what change could be seen."""
        run_seconds = self._plan.duration_seconds / looks_of(self._study.goal).at[-1]
        live = self._check_context.live()
        if self._command:
            return self._command
        if live and self._is_measured:
            seconds = live.seconds_left()
            rest = max(0, stands.side_runs - stands.counted[0 if stands.side == "before" else 1] - 1)
            now = "" if seconds is None else f", {units.duration(seconds + rest * run_seconds)} left of this step"
            return f"{live.run.preset} {PHASES[live.phase]}{now}"
        if not (enter := self._enter):
            return "" if self._is_measured else "waits in the queue for the current run to end"
        if enter == "close":
            directory = self._check_context.session()[2]
            return _over(stands, directory.name if directory else "", is_brief=self.has_class("-short"))
        if enter == "change":
            return f"{_visible_change(self._study, stands)}\nmake the change, then press enter"
        if enter == "go_on":
            return stands.failed or "paused: enter continues, also another time"
        return f"{self._study.extent([self._plan]).text}. {_visible_change(self._study, stands)}\nenter begins"


def judged_text(judged: Judgement) -> str:
    """A sentence for each figure that decides; then the figures of the decisive one."""
    decisive = judged.decisive
    return "\n".join([*map(verdict_text, judged.deciding), *([figures_text(decisive)] if decisive else [])])


def _how(goal: CheckGoal, now: int | None) -> Text:
    """The steps, as long as there is no verdict to show; the one of now, from 0, stands out."""
    *some, last = map(str, looks_of(goal).at)
    looks = f"looked at after {', '.join(some)} and {last}" if some else "with a single look"
    verdict = f"the verdict as soon as it is clear; required: {required_percent(goal.require_percent)}"
    if goal.takes_turns:
        steps = [f"up to {last} runs before and {last} after, in the order A B B A, {looks}",
                 "commands make the change and undo it", verdict]  # fmt: skip
    else:
        who = "a command makes the change" if goal.is_commanded else "you make the change, and describe it"
        steps = [f"{goal.before_runs} runs before", who, f"up to {last} runs after, {looks}", verdict]

    def style(number: int) -> str:
        return "" if now is None else "bold" if number == now else "dim"

    return Text("\n").join(Text(f"{number + 1}  {step}", style(number)) for number, step in enumerate(steps))


def _visible_change(study: Check, stands: Standing) -> str:
    """The least change to the worse that is likely to show, with the spread of the runs before where that is known."""
    runs, spread = looks_of(study.goal).at, stands.spread_before
    visible_change = partial(_seen, study, stands, _USUAL_SPREAD if spread is None else spread)
    observed = "a typical spread of 5 %" if spread is None else f"a spread of {100 * spread:.1f} % between runs"
    first = f"With {observed} {visible_change(runs[0])} is likely to show after {runs[0]} runs"
    return f"{first}, {visible_change(runs[-1])} after {runs[-1]}" if len(runs) > 1 else first


def _seen(study: Check, stands: Standing, variation: float, number: int) -> str:
    """The least change to the worse that so many runs after the change are likely to show."""
    before = number if study.goal.takes_turns else study.goal.before_runs or len(study.elsewhere)
    return seen_text([seen_at_look(study.goal, variation, before, number)], {stands.metric.better})


def _visible_changes(study: Check, stands: Standing) -> Table:
    """The least change to the worse that is likely to show at the first look and at the last."""
    at = looks_of(study.goal).at
    looks = dict.fromkeys((at[0], at[-1]))
    heads = columns(("spread", *(f"after {runs} runs" for runs in looks)), "r" * (1 + len(looks)))
    rows = [(f"{100 * spread:.0f} %", *(_seen(study, stands, spread, runs) for runs in looks)) for spread in _SPREADS]
    return Table(heads, tuple(rows))


def _over(stands: Standing, session: str, *, is_brief: bool) -> str:
    """What a check has come to, and how to have a report of its session; ``is_brief`` where nothing else says what was
    noted and what differs."""
    if stands.judged is None:
        return ANSWERS["undecided"]
    conclusion = stands.judged.conclusion
    report = f". Report: cephtui report {session}" if session else ""
    parts = [f"{answer_text(stands.judged, code=False)}{report}"]
    if not is_brief:
        return parts[0]
    for word, texts in (("mark", conclusion.noted), ("differs", conclusion.changed)):
        parts += [f"{word}: {'; '.join(texts[:_SHOWN])}"] * bool(texts)
    answer, *others = parts
    unseen = [note for note in conclusion.notes if note == UNSEEN]
    return "\n".join([answer, *unseen, *(["   ".join(others)] if others else [])])
