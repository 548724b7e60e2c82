"""A console that does nothing, for the screen of a check."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import Mock

from cephtui.ordering import plans_of
from cephtui.sessions import store
from cephtui.studies.check import Check
from cephtui.studies.dispatcher import Dispatcher
from cephtui.tui.console.check import CheckContext
from tests.support import conducting


def check(*presets: str, path: str = "/x", **values: Any) -> Check:
    """A new check of these presets, with these values of its options and fields of its goal."""
    study = conducting.study(*presets, paths=[path])
    return Check(Check.ordered(study.saved, values), study.requests)


def desk_at(directory: Path | None) -> CheckContext:
    """With the runs of this session."""
    runs, marks = (store.read_runs(directory)[0], store.read_marks(directory)) if directory else ([], [])
    dispatcher = Dispatcher(Mock(), Mock(), Mock(), lambda: None)
    return CheckContext(dispatcher, lambda: (runs, marks, directory), lambda: None, plans_of, Mock(), Mock(), Mock())
