"""Runs, marks and verdicts without the names of hosts, pools, images, files and clusters: consistent stand-ins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from cephtui.models import Model
from cephtui.reports.mask import Mask

M = TypeVar("M", bound=Model)
_WORDS = ("event", "outcome", "preset", "tool", "options", "summary", "tools", "code", "batch")
_OF_VERDICTS = ("figure", "direction", "word", "answer", "method", "differs")
_KEPT = frozenset({*_WORDS, *_OF_VERDICTS})
"""Fields with words of the program's own, by which it looks things up."""


def anonymous(model: M, mask: Mask) -> M:
    """The same with a stand-in for each name that the mask knows or sees."""
    return model.model_copy(update={name: _masked(value, mask) for name, value in _texts(model)})


def _texts(model: Model) -> Iterable[tuple[str, Any]]:
    return ((name, getattr(model, name)) for name in type(model).model_fields if name not in _KEPT)


def _masked(value: Any, mask: Mask) -> Any:
    """A text; or what texts are in."""
    if isinstance(value, str):
        return mask.text(value)
    if isinstance(value, Model):
        return anonymous(value, mask)
    if isinstance(value, tuple | list):
        return type(value)(_masked(each, mask) for each in value)
    if isinstance(value, Mapping):
        return {_masked(key, mask): _masked(each, mask) for key, each in value.items()}
    return value
