"""Frozen data is what the standard library makes of the same classes."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field
from typing import Any, ClassVar

import pytest

from cephtui import frozen
from tests import ROOT

standard: Callable[[type[Any]], type[Any]] = dataclasses.dataclass(frozen=True, slots=True)


def classes(make: Callable[[type[Any]], type[Any]]) -> dict[str, type[Any]]:
    """Each kind of field there is."""

    @make
    class Point:
        """A place."""

        x: int
        y: float = 0.5
        names: list[str] = field(default_factory=list)
        unseen: int = field(default=7, repr=False, compare=False)
        kind: ClassVar[str] = "point"

        def doubled(self) -> Any:
            """Twice as far."""
            return dataclasses.replace(self, x=2 * self.x)  # type: ignore[type-var]

    @make
    class Named(Point):
        """With a name, and what follows from it."""

        label: str = ""
        length: int = field(default=0, kw_only=True)

        def __post_init__(self) -> None:
            object.__setattr__(self, "length", self.length or len(self.label))

        def __repr__(self) -> str:
            return f"<{self.label}>"

    @make
    class Nothing:
        """No fields."""

    return {"Point": Point, "Named": Named, "Nothing": Nothing}


GIVEN: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("Point", (1,), {}),
    ("Point", (1,), {"y": 2.0}),
    ("Point", (1, 2.0, ["a"], 9), {}),
    ("Named", (1,), {"label": "abc"}),
    ("Named", (1,), {"label": "abc", "length": 9}),
    ("Nothing", (), {}),
]


@pytest.fixture(params=[standard, frozen._made], ids=["standard", "ours"])
def made(request: pytest.FixtureRequest) -> dict[str, type[Any]]:
    return classes(request.param)


def without_path(text: str) -> str:
    return text.replace("classes.<locals>.", "")


def test_they_look_the_same() -> None:
    theirs, ours = classes(standard), classes(frozen._made)
    for name, values, options in GIVEN:
        other, own = theirs[name](*values, **options), ours[name](*values, **options)
        assert repr(other) == repr(own)
        assert dataclasses.asdict(other) == dataclasses.asdict(own)
        assert theirs[name].__slots__ == ours[name].__slots__
        assert theirs[name].__doc__ == ours[name].__doc__
        assert theirs[name].__match_args__ == ours[name].__match_args__


def test_equal_values_are_equal(made: dict[str, type[Any]]) -> None:
    Point, Named = made["Point"], made["Named"]
    assert Point(1, names=["a"]) == Point(1, names=["a"])
    assert Point(1) != Point(2)
    assert Point(1, unseen=1) == Point(1, unseen=2)
    assert Point(1) != Named(1)
    assert Point(1) != (1, 0.5, [])
    assert made["Nothing"]() == made["Nothing"]()


def test_it_can_be_a_key(made: dict[str, type[Any]]) -> None:
    Point, Nothing = made["Point"], made["Nothing"]
    assert len({Point(1, names=()), Point(1, names=(), unseen=2), Point(2, names=()), Nothing(), Nothing()}) == 3
    with pytest.raises(TypeError, match="unhashable"):
        hash(Point(1))


def test_nothing_can_be_changed(made: dict[str, type[Any]]) -> None:
    point = made["Point"](1)
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
        point.x = 2
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'y'"):
        del point.y
    with pytest.raises((FrozenInstanceError, TypeError)):
        point.more = 1
    assert point.doubled() == made["Point"](2)


def test_each_has_a_list_of_its_own(made: dict[str, type[Any]]) -> None:
    assert made["Point"](1).names is not made["Point"](1).names


@pytest.mark.parametrize("given", [((), {}), ((1, 2, [], 4, 5), {}), ((1,), {"nothing": 1})])
def test_what_does_not_fit_is_refused(made: dict[str, type[Any]], given: tuple[Any, Any]) -> None:
    values, options = given
    with pytest.raises(TypeError, match="__init__"):
        made["Point"](*values, **options)


def test_some_are_given_by_name_only(made: dict[str, type[Any]]) -> None:
    with pytest.raises(TypeError, match="positional"):
        made["Named"](1, 2.0, [], 4, "label", 6)


def test_one_that_holds_itself_can_be_shown(made: dict[str, type[Any]]) -> None:
    point = made["Point"](1)
    point.names.append(point)
    assert without_path(repr(point)) == "Point(x=1, y=0.5, names=[...])"


def test_others_are_those_of_the_standard_library() -> None:
    @frozen.dataclass(slots=True)
    class Changing:
        x: int

    changing = Changing(1)
    changing.x = 2
    assert changing == Changing(2)


def test_it_is_needed_as_long_as_pythons_before_3_13_are_supported() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    oldest = tuple(int(part) for part in project["requires-python"].removeprefix(">=").split("."))
    assert oldest < (3, 13), "cephtui.frozen goes: import dataclass from dataclasses"
