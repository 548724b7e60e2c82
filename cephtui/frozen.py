"""``dataclass`` as in the standard library, but that a class with ``frozen=True, slots=True`` is made in half the time.

Before Python 3.13 the standard one compiles each of its methods by itself, six for a class; for the classes that the
console needs for its first frame, that was 6 % of the time to it. Here ``__init__`` alone is compiled, by the first
instance, and the others are the same for all classes. Such an instance can't be pickled or copied by ``copy``.

This module goes with Python 3.12, which is supported until October 2028: then import from ``dataclasses``.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Sequence
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or sys.version_info >= (3, 13):
    from dataclasses import dataclass as dataclass
else:

    def dataclass(*, frozen=False, slots=False):
        """The decorator of ``dataclasses``, faster for ``frozen=True, slots=True``."""
        return _made if frozen and slots else dataclasses.dataclass(frozen=frozen, slots=slots)


def _made(cls: type[Any]) -> type[Any]:
    """The class with slots, and with those methods that it does not define itself."""
    defined = vars(cls)
    cls.__doc__ = cls.__doc__ or cls.__name__  # else it is made of the signature, which is parsed
    slotted = dataclasses.dataclass(slots=True, init=False, repr=False, eq=False)(cls)
    fields = dataclasses.fields(slotted)
    for method in (
        _first_init(slotted, fields),
        *_comparing([field.name for field in fields if field.compare]),
        *_SHARED,
    ):
        if method.__name__ not in defined:
            setattr(slotted, method.__name__, method)
    return slotted


def _first_init(cls: type[Any], fields: Sequence[dataclasses.Field[Any]]) -> Callable[..., None]:
    """An ``__init__`` that compiles that of the class, and gives its place to it."""

    def __init__(self: Any, *args: Any, **values: Any) -> None:
        compiled = _init(cls, fields)
        if cls.__init__ is __init__:
            cls.__init__ = compiled
        compiled(self, *args, **values)

    return __init__


def _init(cls: type[Any], fields: Sequence[dataclasses.Field[Any]]) -> Callable[..., None]:
    """``__init__`` of a class; default values and factories are names of its source."""
    namespace: dict[str, Any] = {"_set": object.__setattr__, "_none": dataclasses.MISSING}
    parameters: list[str] = ["self"]
    named: list[str] = []
    """Parameters that are passed by name only."""
    body = []
    for field in fields:
        name, value, default = field.name, field.name, ""
        if field.default is not dataclasses.MISSING:
            namespace[f"_default_{name}"], default = field.default, f"=_default_{name}"
        elif field.default_factory is not dataclasses.MISSING:
            namespace[f"_make_{name}"], default = field.default_factory, "=_none"
            value = f"_make_{name}() if {name} is _none else {name}"
        (named if field.kw_only else parameters).append(name + default)
        body.append(f"_set(self, {name!r}, {value})")
    body += ["self.__post_init__()"] if hasattr(cls, "__post_init__") else []
    exec(
        f"def __init__({', '.join([*parameters, *(['*'] if named else []), *named])}): {'; '.join(body) or 'pass'}",
        namespace,
    )
    init: Callable[..., None] = namespace["__init__"]
    return init


def _comparing(names: Sequence[str]) -> tuple[Callable[..., Any], ...]:
    """``__eq__`` and ``__hash__``: instances of the same class with the same values are equal."""
    values: Callable[[Any], Any] = attrgetter(*names) if names else lambda _: ()

    def __eq__(self: Any, other: object) -> Any:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: Any) -> int:
        return hash(values(self))

    return __eq__, __hash__


@recursive_repr()
def __repr__(self: Any) -> str:
    shown = (f"{field.name}={getattr(self, field.name)!r}" for field in dataclasses.fields(self) if field.repr)
    return f"{self.__class__.__qualname__}({', '.join(shown)})"


def __setattr__(self: Any, name: str, value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def __delattr__(self: Any, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


_SHARED = (__repr__, __setattr__, __delattr__)
