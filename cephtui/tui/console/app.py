"""The console's application: the runner's work, and its end. Nothing is left behind by it."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

from textual import on, work
from textual.app import SystemCommand
from textual.screen import Screen

from cephtui.presets import Catalogue, Preset, SeveralValuesError, usable_presets
from cephtui.running.runner import Runner
from cephtui.sessions.store import StoreError
from cephtui.tools.base import OptionError
from cephtui.tui.app import CephtuiApp
from cephtui.tui.console.marking import note_change
from cephtui.tui.console.screen import ConsoleScreen
from cephtui.tui.console.start import Start
from cephtui.tui.terminal.profile import FULL, Profile
from cephtui.tui.textual_private import set_breakpoints, write_raw
from cephtui.tui.widgets.live_view import LiveView

_SELECTS = re.compile(r"select \d ")
"""The number keys: each preset is a command by its name."""


class ConsoleApp(CephtuiApp):
    """The console; the runner is handed in, and outlives it."""

    def __init__(self, catalogue: Catalogue, start: Start, runner: Runner, root: Path, profile: Profile = FULL) -> None:
        super().__init__(root, profile)
        self._catalogue, self._runner = catalogue, runner
        self.is_ending = False
        """Whether the user has asked for the end."""
        self._notifies = start.config.notify
        self.left: list[str] | None = None
        """What was not removed, where the end was not waited for."""
        self._console_screen = ConsoleScreen(catalogue, start, runner)
        self._dispatcher = self._console_screen.dispatcher

    def get_default_screen(self) -> Screen[None]:
        """The console at once, without an empty screen before it, and in the layout for this terminal."""
        set_breakpoints(self._console_screen, self)
        return self._console_screen

    def on_mount(self) -> None:
        """Remove in the background what earlier sessions left behind."""
        self.call_after_refresh(self._runner.nodes.remove_left_behind)

    @property
    def busy(self) -> bool:
        """Whether something runs."""
        return self._dispatcher.busy

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """The commands of the application; on the console, every preset too, by its name."""
        for command in super().get_system_commands(screen):
            if not _SELECTS.match(command.title):
                yield command
        switch = "off" if self._notifies else "on"
        about = "a bell and the terminal's notification after a run of over a minute"
        yield SystemCommand(f"turn {switch} notifications", about, self._switch_notification)
        if screen is self._console_screen:
            choose = partial(self.call_later, screen.run_action, "choose('runtime')")
            yield SystemCommand("set the runtime", "how long each run measures, for all presets", choose)
            for preset in usable_presets(self._catalogue):
                run = partial(self._console_screen.run_preset, preset)
                yield SystemCommand(f"run {preset.name}", preset.file.description or preset.file.title, run)

    @on(LiveView.Ended)
    def _notify_user(self, message: LiveView.Ended) -> None:
        """Notify after a long run of this console; a replay has ends too."""
        from cephtui.tui.terminal import notification

        run, drawn = message.run, self._console_screen.drawn
        if self._notifies and drawn and run is drawn[1] and run.duration_seconds > notification.LONG_SECONDS:
            preset = self._catalogue.get(run.preset)
            headline = preset.file.headline if isinstance(preset, Preset) else "iops"
            for sequence in notification.sequences(notification.text_of(run, headline)):
                write_raw(self, sequence)

    def _switch_notification(self) -> None:
        self._notifies = not self._notifies

    def action_queue(self) -> None:
        """Reorder what waits, resume what is unfinished."""
        from cephtui.studies.saved import StudyState, unfinished_in
        from cephtui.tui.console.queue import QueueScreen

        dispatcher, runner = self._dispatcher, self._runner

        def unfinished() -> list[StudyState]:
            states = unfinished_in(runner.directory, self._catalogue) if runner.directory else []
            here = [dispatcher.batches, *(entry.study.batches for entry in dispatcher.queue.entries)]
            return [state for state in states if not any(state.batches & batches for batches in here)]

        def closed(chosen: bool | StudyState | None) -> None:
            if isinstance(chosen, StudyState):
                self._console_screen.resume(chosen)
            elif chosen:
                dispatcher.release()

        screen = QueueScreen(lambda: dispatcher.queue, dispatcher.reorder, lambda: runner.directory, unfinished)
        self.push_screen(screen, closed)

    def action_matrix(self) -> None:
        from cephtui.tui.screens.matrix import MatrixScreen

        if self._runner.directory:
            self.push_screen(MatrixScreen(self._runner.directory))
        else:
            self.notify(ConsoleScreen.NOTHING)

    def action_stop(self) -> None:
        if not self._dispatcher.stop():
            self.notify("nothing is running")

    def action_skip(self) -> None:
        """End the run and begin the next."""
        if not self._dispatcher.skip():
            self.notify("nothing is running")

    def action_check(self) -> None:
        """Before, the change, after, the verdict: of the selected preset, or the check that was left."""
        from cephtui.tui.console.checking import check_screen

        try:
            self.push_screen(check_screen(self._console_screen, self._runner, self._catalogue))
        except SeveralValuesError as error:
            self.notify(f"{error}: press e to choose it", severity="error", markup=False)
        except (OptionError, StoreError, ValueError) as error:
            self.notify(str(error), severity="error", markup=False)

    @work
    async def action_mark(self) -> None:
        await note_change(self, self._runner)

    async def action_quit(self) -> None:
        """Quit; asks while something runs."""
        from cephtui.tui.dialogs import Confirm, Wait

        waiting = self._dispatcher.queue.summary
        if self.is_ending:
            self.action_end_at_once()
        elif not self.busy and not waiting:
            self.end()
        elif not isinstance(self.screen, Confirm | Wait):
            if self.busy:
                question = Confirm(
                    "A run is in progress. Stop it, keep its data, and quit?", "stop and quit", "keep running"
                )
            else:
                question = Confirm(f"The queue is not empty ({waiting}). Drop it and quit?", "quit", "stay")
            self.push_screen(question, self._answered)

    def _answered(self, quit_now: bool | None) -> None:
        if quit_now:
            self.end()

    def end(self) -> None:
        """Stop what runs, clean up and exit; the screens still read from the runner until then."""
        if self.is_ending:
            return
        self.is_ending = True
        self._dispatcher.close()
        tidied = self._runner.tidy_up()
        if not self.busy and not self._runner.to_be_removed:
            self.exit()
            return
        from cephtui.tui.dialogs import Wait

        self.push_screen(Wait(self._awaited))
        self.run_worker(self._end(tidied))

    def _awaited(self) -> str:
        current = self._dispatcher.current
        command = current.command_text if current else ""
        return command or self._runner.cleanup.progress or "stopping the run and cleaning up ..."

    async def _end(self, tidied: threading.Event) -> None:
        while self._left_changed or not tidied.is_set():  # noqa: ASYNC110 - the runner's thread sets it
            await asyncio.sleep(0.05)
        self.exit()

    @property
    def _left_changed(self) -> str:
        """What to say where a change is in place that is to be taken back; else empty."""
        current = self._dispatcher.current
        return current.left_changed if current else ""

    def action_end_at_once(self) -> None:
        """Exit without waiting; what is left is printed on the terminal."""
        self.left = [*self._runner.abandon(), *filter(None, [self._left_changed])]
        self.exit()
