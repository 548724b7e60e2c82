"""Text that a terminal would obey, in every field of every model; and what to look for in the bytes that it gets."""

from __future__ import annotations

import importlib
import pkgutil
import re
import types
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from cephtui import models
from cephtui.analysis.runs import history
from cephtui.models import Model
from cephtui.sessions.undo import Undo

HOSTILE = "\u202e\u2066\u2069\u200e\u200f\u061c\u200b\ufeff\u2028\u2029\x7f\0\x85\x9d\u3164\U000e0041\ufe0f\xad"
CANARY = f"[/Pw]\x1b]0;PWNED\x07\x1b[31337m\x9b31337m{HOSTILE}\n\tend [link=http://pwned.example]x[@click=app.bell]"
"""Its first brackets are no markup that can be parsed: to take them for it is an error."""
NAME = CANARY.replace("/", "").replace("\0", "")
"""What a file can be named."""
_OWN = (
    r"\[[0-9:;<=>?]*[ -/]*[@-~]",  # CSI
    r"[ -/]+[0-~]|[0-Z=>c]",
    r"\](?:8|22|10|11);[^\x07\x1b]*(?:\x07|\x1b\\)",  # links, the pointer's shape, questions about colours
)
_SEQUENCE = re.compile(rf"\x1b(?:{'|'.join(_OWN)})")
"""What the console itself sends."""


def faults(sent: bytes) -> list[str]:
    """What of a canary has reached the terminal as it was; empty where nothing has."""
    text = sent.decode("utf-8", "surrogateescape")
    wrong = [f"{char!r} was sent" for char in HOSTILE if char in text]
    wrong += [
        f"a sequence was sent: {found!r}" for found in re.findall(r"\x1b(?:\[31337|\][02];|\]8;[^\x1b]*pwned)", text)
    ]
    left = re.sub(r"[\r\n\x0e\x0f]", "", _SEQUENCE.sub("", text))
    wrong += [
        f"{left[max(0, at.start() - 20) : at.end() + 20]!r}"
        for at in re.finditer(r"[\x00-\x1f\x7f-\x9f\udc80-\udcff]", left)
    ]
    wrong += ["a traceback"] * ("unexpected error" in text or "Traceback" in text)
    return wrong


def public_models() -> list[type[Model]]:
    """All models, so that a new one is covered by itself."""
    names = [each.name for each in pkgutil.iter_modules(models.__path__, "cephtui.models.")]
    modules = [importlib.import_module(name) for name in names]
    found = {each: None for module in modules for each in vars(module).values() if isinstance(each, type)}
    public = [each for each in (*found, Undo, history.Overview) if issubclass(each, Model)]
    return [each for each in public if each is not Model]


_BOUNDED: Mapping[str, Any] = {"SavedStudy.id": "s1", "CheckGoal.most": 8, "CheckGoal.confidence": 0.95}
"""Values of fields that take no others than some."""


def filled(model: type[Model], text: Callable[[str], str] = lambda where: CANARY, **given: Any) -> dict[str, Any]:
    """What a file of a model may hold: the canary wherever there is text, or what ``text`` has for that place.

    A place is ``Run.target``, of a mapping ``Run.options key`` and ``Run.options value``.
    """
    fields = {
        name: _BOUNDED.get(where := f"{model.__name__}.{name}", _value(field.annotation, where, text))
        for name, field in model.model_fields.items()
    }
    return {**fields, "schema_version": 1, **given} if "schema_version" in fields else {**fields, **given}


def _value(kind: Any, where: str, text: Callable[[str], str]) -> Any:
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _value(parts[0], where, text)
    if origin is Literal:
        return parts[0]
    if origin in (Union, types.UnionType):
        kinds = [part for part in parts if part is not type(None)]
        return _value(str if str in map(_plain, kinds) else kinds[0], where, text)
    if origin in (tuple, list):
        return [_value(part, where, text) for part in parts if part is not Ellipsis]
    if origin in (dict, Mapping):
        return {_value(parts[0], f"{where} key", text): _value(parts[1], f"{where} value", text)}
    if isinstance(kind, type) and issubclass(kind, Model):
        return filled(kind, text)
    if kind is str:
        return text(where)
    simple = {int: 1, float: 1.0, bool: True}
    return "2026-11-21T10:15:30Z" if kind is datetime or kind not in simple else simple[kind]


def _plain(kind: Any) -> Any:
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind
