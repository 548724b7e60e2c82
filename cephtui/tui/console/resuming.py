"""What is missing of a study of the session, ready to be queued again."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from cephtui.presets import Catalogue
from cephtui.reports.studies.base import resume_command
from cephtui.sessions.store import StoreError
from cephtui.studies import KINDS, StudyOption, WrongText
from cephtui.studies.conductor import Commands
from cephtui.studies.queue import Entry
from cephtui.studies.saved import StudyState
from cephtui.tui.console.asking import Show
from cephtui.tui.console.choice import Choice
from cephtui.tui.console.ordered import resumed_study
from cephtui.tui.dialogs import EnterText


async def resumed_entry(directory: Path, state: StudyState, catalogue: Catalogue, choice: Choice, show: Show) -> Entry:
    """On its own presets, targets and nodes; commands are asked for, as sessions have none.

    Raises ValueError with what to do where it can't be resumed so.
    """
    try:
        study = resumed_study(directory, state.saved, catalogue, choice.site)
    except StoreError as error:
        raise ValueError(str(error)) from None
    entry = Entry(study, runs=state.good).planned(choice.plans)
    commands: dict[str, str] = {}
    for option in KINDS[study.kind].fields:
        if option.field in study.needs_commands:
            text = await show(EnterText(f"{option.title}, as before", check=partial(_problem, option)))
            if text is None:
                command = resume_command(study.kind, directory.name, state.saved.id)
                raise ValueError(f"give its commands again, or run {command} {option.name} ...")
            commands[option.field] = text
    return replace(entry, commands=Commands(**commands)) if commands else entry


def _problem(option: StudyOption, text: str) -> str | None:
    try:
        return None if text.strip() and option.value(text) else ""
    except WrongText as error:
        return str(error)
