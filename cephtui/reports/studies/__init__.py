"""Studies in words: a module for each kind, of the name of its module in ``cephtui.studies``."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from cephtui.reports.studies.base import StudyView
from cephtui.studies.base import Study


def view_of(study: Study[Any]) -> StudyView[Any, Any]:
    """The words of a study's kind."""
    view: StudyView[Any, Any] = import_module(f"{__name__}.{study.kind}").VIEW
    return view
