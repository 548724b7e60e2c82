"""Which check the console offers: the one of its queue, the one of its session that was left, or a new one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cephtui.models.study import CHECK
from cephtui.presets import Catalogue
from cephtui.running.launch import Launcher
from cephtui.running.runner import Runner
from cephtui.studies.check import Check
from cephtui.studies.saved import study_states
from cephtui.targets.scratch import is_scratch
from cephtui.tui.console.asking import Dialogs
from cephtui.tui.console.check import CheckContext, CheckScreen
from cephtui.tui.console.marking import note_change
from cephtui.tui.console.ordered import Site, resumed_study
from cephtui.tui.widgets.live_view import LiveView

if TYPE_CHECKING:
    from cephtui.studies.dispatcher import Dispatcher
    from cephtui.tui.console.screen import ConsoleScreen


def check_screen(screen: ConsoleScreen, runner: Runner, catalogue: Catalogue) -> CheckScreen:
    """On what the console has chosen; raises OptionError, StoreError and ConfigError."""
    choice, dispatcher = screen.choice, screen.dispatcher

    def new_check() -> Check:
        study = choice.study([choice.preset], CHECK)
        assert isinstance(study, Check)
        return study

    context = CheckContext(
        dispatcher,
        lambda: screen.session,
        lambda: screen.query_one(LiveView).current,
        choice.plans,
        new_check,
        lambda agrees: note_change(screen.app, runner, agrees),
        Launcher(runner, Dialogs(screen.app.push_screen_wait)).conditions,
    )
    return CheckScreen(_queued(dispatcher) or _left(runner, catalogue, choice.site) or new_check(), context)


def _queued(dispatcher: Dispatcher) -> Check | None:
    """The check that is measured, or the first that waits."""
    current = [dispatcher.current.entry] if dispatcher.current else []
    studies = (entry.study for entry in (*current, *dispatcher.queue.entries))
    return next((study for study in studies if isinstance(study, Check)), None)


def _left(runner: Runner, catalogue: Catalogue, site: Site) -> Check | None:
    """The last one of the session whose change the user makes, on the same target and nodes, that is not over."""
    directory = runner.directory
    for state in reversed(study_states(directory, catalogue) if directory else []):
        study = state.study
        if directory and isinstance(study, Check) and _is_of(study, site) and not state.is_finished:
            resumed = resumed_study(directory, state.saved, catalogue, site)
            assert isinstance(resumed, Check)
            return resumed
    return None


def _is_of(study: Check, site: Site) -> bool:
    """One scratch file is like another."""
    cell = study.saved.cells[0]
    same = cell.target == site.target.spec or (is_scratch(cell.target) and is_scratch(site.target.spec))
    same = same and study.saved.manner == site.manner and not study.goal.is_commanded
    return same and cell.nodes == tuple(node.name for node in site.nodes)
