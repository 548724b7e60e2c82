"""Runs, marks and verdicts without the names of hosts, pools, images, files and clusters: consistent stand-ins."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeVar

from cephtui.models import Model
from cephtui.reports.masking.mask import WORDS, Mask

M = TypeVar("M", bound=Model)
_OF_RUNS = ("event", "outcome", "tool", "summary", "code")
_OF_VERDICTS = ("figure", "direction", "word", "answer", "method", "differs")
_OF_EXPECTED = ("expectation", "given")
_KEPT = frozenset({*_OF_RUNS, *_OF_VERDICTS, *_OF_EXPECTED})
"""Fields with words of the program's own, by which it looks things up."""
_DROPPED = ("user",)
"""Fields that have no stand-in: the name of a user may be any word, as root is."""
_OPTIONS = ("options", "other_options", "of_preset")
"""Fields whose values may be such words."""
_KEYS_KEPT = ("options", "of_preset", "tools", "pool")
"""Fields whose keys are such words."""
_OPTION = re.compile(r"[a-z][a-z0-9_-]{0,60}")
"""What a tool calls an option; a log may have anything in its place."""


def anonymous(model: M, mask: Mask) -> M:
    """The same with a stand-in for each name that the mask knows or sees."""
    texts = {name: getattr(model, name) for name in type(model).model_fields if name not in _KEPT}
    masked = {name: None if name in _DROPPED else _masked(value, mask, name) for name, value in texts.items()}
    return model.model_copy(update=masked)


def _masked(value: Any, mask: Mask, field: str) -> Any:
    """A text; or what texts are in."""
    if isinstance(value, str):
        return value if field in _OPTIONS and value in WORDS else mask.text(value)
    if isinstance(value, Model):
        return anonymous(value, mask)
    if isinstance(value, tuple | list):
        return type(value)(_masked(each, mask, field) for each in value)
    if isinstance(value, Mapping):
        keys = {key: key if _is_kept(key, field) else _masked(key, mask, field) for key in value}
        return {keys[key]: _masked(each, mask, field) for key, each in value.items()}
    return value


def _is_kept(key: Any, field: str) -> bool:
    return field in _KEYS_KEPT or (field == "other_options" and bool(_OPTION.fullmatch(str(key))))
