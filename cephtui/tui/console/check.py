"""The guided check: before, the change, after, the verdict; readable from the last row."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Static

from cephtui import units
from cephtui.analysis.conclusion import Judgement
from cephtui.analysis.guided_check import looks_of, seen_at_look
from cephtui.analysis.live import LiveRun
from cephtui.analysis.noted import NOT_SEEN, UNSEEN, is_seen
from cephtui.analysis.verdict import Criteria
from cephtui.frozen import dataclass
from cephtui.models import Plan, Run
from cephtui.models.metrics import HEADLINE_BY_NAME, Metric
from cephtui.planning import Request
from cephtui.presets import Catalogue, Preset, check_one_value
from cephtui.reports.mask import Names, names_in
from cephtui.reports.text import PHASES, conditions
from cephtui.reports.verdict import (
    answer_text,
    basis,
    change_of,
    required_percent,
    seen_text,
    verdict_text,
)
from cephtui.running.launch import FAULTS, Launcher, NotRun
from cephtui.running.queue import Entry
from cephtui.running.runner import Runner
from cephtui.sessions.jsonlines import as_json
from cephtui.sessions.store import GUIDED_FILE, StoreError, count_runs
from cephtui.sessions.verdicts import keep_verdicts
from cephtui.sessions.writer import write_whole
from cephtui.tui.console.asking import Dialogs
from cephtui.tui.console.checking import (
    Standing,
    is_of,
    metric_of,
    new_guided_check,
    request_of_next,
    saved,
    standing,
    unfinished,
    with_required,
    wrong_percent,
)
from cephtui.tui.console.marking import note_change
from cephtui.tui.dialogs import Confirm, EnterText
from cephtui.tui.keys import KeyBar, key
from cephtui.tui.screens.compare_presenter import change_text
from cephtui.tui.screens.presented import Figure
from cephtui.tui.screens.presenter import BigFigure, InLarge
from cephtui.tui.widgets.big import Big
from cephtui.tui.widgets.live_view import LiveView
from cephtui.tui.widgets.verdict_in_large import VerdictInLarge

if TYPE_CHECKING:
    from cephtui.running.survey import Conditions
    from cephtui.tui.console.screen import ConsoleScreen

_DRAWS_PER_SECOND = 4
_SHOWN = 3
"""Of what was noted, and of what differs."""
_USUAL_SPREAD = 0.05
"""Between runs, as long as it is not known."""


@dataclass(frozen=True, slots=True)
class Desk:
    """What the console lends to a check."""

    preset: Preset
    request: Request
    plan: Plan
    """Of one run, for how long it takes."""
    directory: Callable[[], Path | None]
    """Of the session; None before its first run."""
    push: Callable[[Sequence[Entry]], None]
    """Run these."""
    stop: Callable[[], object]
    is_busy: Callable[[], bool]
    live: Callable[[], LiveRun | None]
    note_change: Callable[[Callable[[], Awaitable[bool]]], Awaitable[bool]]
    """Ask what was changed and, where that is agreed to, keep it as a mark of this moment; whether it was kept."""
    conditions: Callable[[], Awaitable[Conditions]]
    """What a run would be made under now; may raise NotRun, and FAULTS."""


def offered(screen: ConsoleScreen, runner: Runner, catalogue: Catalogue) -> tuple[CheckGoal, Desk]:
    """What the console's choice makes of a check, or the one of its session that was left; raises OptionError."""
    preset, choice, dispatcher = screen.choice.preset, screen.choice, screen.dispatcher
    left = unfinished(runner.directory, lambda name: _usable(catalogue, name))
    if left is not None:
        preset = _usable(catalogue, left.presets[0]) or preset
    request = choice.request(preset)
    if left is not None and is_of(left, request):
        request = replace(request, overrides=left.overrides)
    elif left is not None:
        left = None
    check_one_value(preset, request.overrides)
    request = replace(request, repeats=1)
    desk = Desk(
        preset,
        request,
        choice.plan(request),
        lambda: runner.directory,
        dispatcher.push,
        dispatcher.stop,
        lambda: dispatcher.busy,
        lambda: screen.query_one(LiveView).current,
        lambda agrees: note_change(screen.app, runner, agrees),
        lambda: Launcher(runner, Dialogs(screen.app.push_screen_wait)).conditions(request),
    )
    return left or new_guided_check(request, Criteria().require_percent), desk


def _usable(catalogue: Catalogue, name: str) -> Preset | None:
    found = catalogue.get(name)
    return found if isinstance(found, Preset) else None


class CheckScreen(InLarge):
    """Measures before, asks for the change, measures after, and says what that shows."""

    BINDINGS = [
        key("enter", "go", "continues", "begin, continue, or say that the change is made", shown=True),
        key("s", "stop", "stop", "stop the run; enter continues the check", shown=True),
        key("r", "require", "required", "what the change must at least bring; before the first run", shown=True),
        key("n", "anew", "new", "begin anew instead of the check that was left"),
        key("escape,q", "app.pop_screen", "back", "back to the console; the check can be continued there", shown=True),
    ]
    DEFAULT_CSS = """
    CheckScreen #what { height: auto; max-height: 2; padding: 0 1; text-style: bold; }
    CheckScreen #phase { height: 3; }
    CheckScreen.-huge #phase { height: 5; padding: 1 0; }
    CheckScreen.-short #phase { height: 3; }
    CheckScreen.-plain #phase { height: 1; }
    CheckScreen #sentence { height: auto; padding: 0 2; }
    CheckScreen #next { dock: bottom; height: auto; max-height: 4; padding: 0 1 1 1; background: $surface; }
    """

    def __init__(self, guided: CheckGoal, desk: Desk) -> None:
        super().__init__()
        self._guided, self._desk = guided, desk
        self._goes = False
        """Whether runs follow each other; the user stops and continues it."""
        self._pushed: int | None = None
        """How many runs the session had when one more was asked for."""
        self._standing: Standing | None = None
        self._is_stale = True
        """Whether there may be more to read than when it was read last."""
        self._runs: list[Run] = []
        self._kept = 0
        """Runs after the change when verdicts were kept last, or it was opened."""

    def names_to_hide(self) -> Names:
        """Of what is measured, and of its runs."""
        return names_in([self._guided, *self._runs])

    def compose(self) -> ComposeResult:
        """From the top: what is measured, the step, the figures, the verdict, what comes next."""
        yield Static(id="what")
        yield Big(id="phase")
        with Horizontal(id="figures"):
            for name in ("before", "after", "change"):
                yield BigFigure(id=name)
        yield VerdictInLarge()
        yield Static(id="sentence")
        yield Static(id="next")
        yield KeyBar()

    def on_mount(self) -> None:
        run = self._desk.plan.steps[0]
        what = f"check {_headline(self._desk.preset).full_title} of {run.preset}: {conditions(run)}"
        where = f"{run.target} on {', '.join(self._guided.nodes)}"
        self.query_one("#what", Static).update(Text(f"{what}, {where}"))
        self._follow()
        self.set_interval(1 / _DRAWS_PER_SECOND, self._follow)

    # ------------------------------------------------------------------ where it stands

    def _follow(self) -> None:
        """Draw, and ask for the next run where it is time."""
        directory, is_busy = self._desk.directory(), self._desk.is_busy()
        if self._is_stale and not is_busy:
            self._is_stale = False
            self._read(directory)
        stands = self._standing
        if stands is None:
            return
        if self._goes and not is_busy:
            number = count_runs(directory) if directory else 0
            if self._pushed == number or (stands.failed and self._pushed is not None):
                self._goes = False  # it was stopped, or could not be run: the console has said why
            elif stands.side is None or (stands.side == "after" and not stands.is_changed):
                self._goes = False
            else:
                self._ask_for_a_run(stands, number)
        self._draw(stands)

    def _read(self, directory: Path | None) -> None:
        try:
            self._runs, marks = saved(directory, self._runs)
            stands = standing(self._guided, self._desk.preset, self._runs, marks, directory)
        except StoreError as error:
            self.notify(str(error), severity="error", markup=False)
            return
        self._kept = stands.counted[1] if self._standing is None else self._kept
        self._standing = stands
        if directory and stands.before:
            self._keep(directory, stands)

    def _keep(self, directory: Path, stands: Standing) -> None:
        """What continues it another time, and each look's verdict."""
        with contextlib.suppress(OSError):
            if not (directory / GUIDED_FILE).exists() or len(stands.before) + len(stands.after) == 1:
                write_whole(directory / GUIDED_FILE, as_json(self._guided))
            if stands.judged and stands.counted[1] in looks_of(self._guided).at and stands.counted[1] > self._kept:
                self._kept = stands.counted[1]
                keep_verdicts(stands.judged, directory)

    def _ask_for_a_run(self, stands: Standing, number: int) -> None:
        assert stands.side
        runs = [*stands.before, *stands.after]
        request, batch = request_of_next(self._guided, self._desk.request, stands.side, runs)
        self._pushed, self._is_stale = number, True
        self._desk.push([Entry(request, batch, self._desk.plan.duration_seconds, request.begun + 1)])

    def action_go(self) -> None:
        """Begin, continue, or ask what was changed; where it is over, back to the console."""
        stands = self._standing
        if stands is None or self._desk.is_busy():
            return
        if stands.side is None:
            self.dismiss()
        elif stands.side == "after" and not stands.is_changed:
            self._ask_for_the_change()
        else:
            self._goes, self._pushed = True, None
            self._follow()

    @work
    async def action_require(self) -> None:
        """Ask for the threshold, as long as nothing is measured."""
        if self._standing is None or self._standing.before or self._desk.is_busy():
            self.notify("what is required is decided before the first run")
            return
        title = "Required, in per cent: -10 is at most 10 % worse, 20 at least 20 % better"
        text = await self.app.push_screen_wait(
            EnterText(title, f"{self._guided.require_percent:g}", check=wrong_percent)
        )
        if text is not None:
            self._guided, self._is_stale = with_required(self._guided, float(text)), True
            self._follow()

    def action_anew(self) -> None:
        """The runs so far stay in the session."""
        if not self._desk.is_busy():
            self._guided = new_guided_check(self._desk.request, self._guided.require_percent)
            self._standing, self._is_stale, self._goes, self._pushed = None, True, False, None
            self._follow()

    def action_stop(self) -> None:
        """Also between two runs."""
        self._goes = False
        self._desk.stop()
        self._follow()

    @work
    async def _ask_for_the_change(self) -> None:
        if await self._desk.note_change(self._is_to_be_measured):
            self._is_stale, self._goes, self._pushed = True, True, None
            self._follow()

    async def _is_to_be_measured(self) -> bool:
        """Where all that is known is as it was before the change, only if the user says so."""
        before = self._standing.before if self._standing else ()
        with contextlib.suppress(NotRun, *FAULTS):  # else the runs say what is the matter
            now = await self._desk.conditions()
            if before and is_seen(before[-1], now.cluster, now.nodes) is False:
                text = f"{NOT_SEEN[0].upper()}{NOT_SEEN[1:]}"
                agreed: bool | None = await self.app.push_screen_wait(Confirm(text, "measure as it is", "not yet"))
                return bool(agreed)
        return True

    # ------------------------------------------------------------------ drawing

    def _draw(self, stands: Standing) -> None:
        metric = self._metric(stands)
        self.query_one("#phase", Big).say(*_phase(stands, self._goes or self._desk.is_busy()))
        for name, value in zip(("before", "after"), stands.means, strict=True):
            number, _, unit = metric.as_text(value).partition(" ")
            self.query_one(f"#{name}", BigFigure).show(Figure(f"{name} {unit}".strip(), number), None)
        left, right = stands.means
        change = change_text(right / left - 1 if left and right else None)
        self.query_one("#change", BigFigure).show(Figure("change", change), None)
        self.query_one(VerdictInLarge).show(stands.judged.decisive if stands.judged else None)
        said = judged_text(stands.judged) if stands.judged else _how(self._guided)
        self.query_one("#sentence", Static).update(Text(said))
        self.query_one("#next", Static).update(Text(self._next(stands)))

    def _metric(self, stands: Standing) -> Metric:
        runs = (*stands.before, *stands.after)
        return metric_of(self._desk.preset, runs[0]) if runs else _headline(self._desk.preset)

    def _next(self, stands: Standing) -> str:
        """What comes next and how long it takes; what change could be seen."""
        each = self._desk.plan.duration_seconds
        if live := self._desk.live():
            left = live.seconds_left()
            rest = max(0, stands.wanted - stands.counted[0 if stands.side == "before" else 1] - 1)
            now = "" if left is None else f", {units.duration(left + rest * each)} left of this step"
            return f"{live.run.preset} {PHASES[live.phase]}{now}"
        if stands.side is None:
            return f"{_over(stands)}\nenter closes"
        if stands.side == "after" and not stands.is_changed:
            return f"{_seen(self._guided, stands, self._metric(stands))}\nmake the change, then press enter"
        if stands.before or self._goes:
            return stands.failed or ("" if self._goes else "paused: enter continues, also another time")
        at = looks_of(self._guided).at
        least, most = (self._guided.before_runs + runs for runs in (at[0], at[-1]))
        takes = f"{units.duration(each * least)} to {units.duration(each * most)}"
        return f"{least} to {most} runs, {takes}. {_seen(self._guided, stands, self._metric(stands))}\nenter begins"


def judged_text(judged: Judgement) -> str:
    """A sentence for each figure that decides, of several with its name, and what the decisive one rests on."""
    found, decisive = judged.deciding, judged.decisive
    names = [f"{each.direction} " * (len(found) > 1) for each in found]
    lines = [f"{name}{change_of(each)}: {verdict_text(each)}" for name, each in zip(names, found, strict=True)]
    return "\n".join([*lines, basis(decisive)] if decisive else lines)


def _headline(preset: Preset) -> Metric:
    return HEADLINE_BY_NAME[preset.file.headline].metric


def _phase(stands: Standing, runs: bool) -> tuple[str, ...]:
    """The step, the longest text first."""
    if stands.side is None:
        return ("verdict",)
    if stands.side == "after" and not stands.is_changed:
        return ("now make the change", "make the change", "change")
    done = stands.counted[0 if stands.side == "before" else 1]
    word = f"{stands.side} {min(done + runs, stands.wanted)} of {stands.wanted}"
    return (word if runs else f"{word}, paused" if done else stands.side, stands.side)


def _how(guided: CheckGoal) -> str:
    """The steps, as long as there is no verdict to show."""
    *some, last = looks_of(guided).at
    return (
        f"1  {guided.before_runs} runs before\n"
        "2  you make the change, and say what it is\n"
        f"3  up to {last} runs after, looked at after {', '.join(map(str, some))} and {last}\n"
        f"4  the verdict as soon as it is clear; required: {required_percent(guided.require_percent)}"
    )


def _seen(guided: CheckGoal, stands: Standing, metric: Metric) -> str:
    """The least change to the worse that would be seen, with the spread of the runs before where that is known."""
    runs = looks_of(guided).at
    spread = stands.spread_before
    variation = _USUAL_SPREAD if spread is None else spread
    first, last = (
        seen_text([seen_at_look(guided, variation, guided.before_runs, each)], {metric.better})
        for each in (runs[0], runs[-1])
    )
    known = (
        f"With a spread of {100 * variation:.1f} % between runs" if spread is not None else "With a usual spread of 5 %"
    )
    return f"{known} {first} would be seen after {runs[0]} runs, {last} after {runs[-1]} (80 %)"


def _over(stands: Standing) -> str:
    """What a check has come to, with the time that it would still take."""
    if stands.judged is None:
        return "no verdict"
    said = stands.judged.conclusion
    parts = [answer_text(stands.judged, code=False)]
    for word, texts in (("noted", said.noted), ("differs", said.changed)):
        parts += [f"{word}: {'; '.join(texts[:_SHOWN])}"] * bool(texts)
    return "\n".join(["   ".join(parts), *(note for note in said.notes if note == UNSEEN)])
