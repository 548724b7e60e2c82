"""Names of hosts, pools, images and paths replaced by stand-ins, on a screen that others see.

What is replaced: the names that the application knows, wherever they stand and in whatever capitals, and what has the
shape of a path, of an IP address, of a cluster's fsid, of a host with its domain or in what programs say of it, of a
pool or user in a command of Ceph's, of an image behind its pool, or of a target, known or not. What is not: names of
sessions and presets, what the user has written in marks and notes beside such names, and names that look like a number
(``100``, ``4k``). A name that is also a word of the program's own (a host called ``write``), or is shorter than three
characters, is replaced where it is a word by itself, as it is written, and only where it is known as a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from typing import Any, TypeAlias, TypeVar

from rich.cells import cell_len

from cephtui.config import LOCAL
from cephtui.models import Model, NameKind, NamesOf, Said
from cephtui.reports.masking.shapes import OWN_IMAGE, USUAL, host_names, setting, shaped
from cephtui.targets import KINDS
from cephtui.targets.base import OWN_PREFIX
from cephtui.tools import TOOLS

Names: TypeAlias = Mapping[str, NameKind]
"""What each name is; the order gives the numbers of the stand-ins."""

_WORDS = """
admin all bandwidth block ceph client cluster data depth disk edit error health help host image images
iops jobs lat latency local mark max mean min mixed node nodes none osd osds p50 p95 p99 pool pools preset
presets queue quit ramp read ready replay run running runs runtime session sessions size slowest state
status stop target targets test throughput time total user view watch write
"""
_TOOLS = [name.replace("-", " ") for name in TOOLS]
WORDS = frozenset([*_WORDS.split(), *KINDS, *(word for tool in _TOOLS for word in tool.split())])
"""Words of the program's own."""
_KEPT = (*_TOOLS, *(f"{scheme}:" for scheme in KINDS), *(f"--ioengine={scheme}" for scheme in KINDS))
"""Where such a word is no name."""
_PATH_CUT = re.compile(r"(?<![\w/.~-])~?/[\w.+@%=/-]+(?=…)")
_A_POOL: NameKind = "pool"
_IMAGE = r"[A-Za-z0-9](?:[\w.-]*\w)?"
_NO_IMAGE = r"\d+/|marks\.jsonl"
"""Behind the name of a session, which may be that of a pool."""
_NUMBER = re.compile(r"\d{1,4}[A-Za-z%]?")
_EDGE = " │┃║|▌▐▏▎▕"
"""Padding and borders beside a text."""
_EDGE_MOST = 3
"""A text that ends so near to the edge may have been cut off there."""
_BEGIN_LEAST, _END_LEAST = 2, 4
"""A shorter part of a name says nothing."""


def stand_in(kind: NameKind, number: int, name: str, room: int | None = None) -> str:
    """``node-1`` of a kind and a number, or what fits into ``room`` cells, filled up with blanks."""
    slash = "/" if name.startswith(("/", "~/")) else ""
    forms = [f"{slash}{kind}-{number}", f"{slash}{kind}{number}", f"{slash}{kind[0]}{number}", f"{kind[0]}{number}"]
    if room is None:
        return forms[0]
    return next((form for form in forms if len(form) <= room), "*" * room).ljust(room)


def _pattern(name: str) -> str:
    """The pattern of a name: anywhere if no word is like it, else as a word by itself, or in an image of a node."""
    escaped = re.escape(name)
    if len(name) < 3 or name.lower() in WORDS:
        return rf"(?<![\w-]){escaped}(?![\w-])|(?<={OWN_PREFIX}[0-9a-f]{{8}}-){escaped}(?=-\d)"
    if len(name) > 3 and not name.isalpha():
        return rf"(?i:{escaped})"
    return rf"(?<![^\W_])(?i:{escaped})(?![^\W_])"


class Mask:
    """Knows names, and learns those that it sees by their shape; a name keeps its stand-in."""

    def __init__(self, names: Names | None = None) -> None:
        self._known: dict[str, tuple[NameKind, int]] = {}
        """By the names as they were learned; those that differ in capitals only have the same stand-in."""
        self._folded: dict[str, tuple[NameKind, int]] = {}
        self._compiled = -1
        self._found = re.compile("")
        self._images = re.compile("(?!)")
        """What stands behind a known pool and a slash."""
        self._begins: dict[str, str] = {}
        """By each proper beginning, a name."""
        self._ends: dict[str, str] = {}
        self.learn(names or {})

    def __len__(self) -> int:
        return len(self._known)

    def learn(self, names: Names) -> None:
        """Take in more names."""
        for name, kind in names.items():
            if name.strip() and name not in self._known and not _NUMBER.fullmatch(name):
                new = kind, 1 + len({number for of, number in self._known.values() if of == kind})
                self._known[name] = self._folded.setdefault(name.casefold(), new)

    def see(self, models: Sequence[Model]) -> None:
        """Take in all that models name, at once: each name that is learned later costs as much as all together."""
        self._learn_more(names_in(models))
        self._learn_images(text for model in models for text, _ in _texts(model))

    def text(self, text: str) -> str:
        """A text with stand-ins of any length."""
        self._look_at(text)
        return self._found.sub(lambda match: self._replaced(match[0], None), text)

    def line(self, text: str) -> str:
        """A line with stand-ins as wide as the names; names that are cut off at the edges are replaced too."""
        self._look_at(text)
        text = self._found.sub(lambda match: self._replaced(match[0], cell_len(match[0])), text)
        return self._without_ends(self._without_begins(text))

    def _replaced(self, text: str, room: int | None) -> str:
        kind_and_number = self._known.get(text) or (None if text in _KEPT else self._folded.get(text.casefold()))
        return stand_in(*kind_and_number, text, room) if kind_and_number else text

    def _look_at(self, text: str) -> None:
        self._learn_more(dict(_seen(text)))
        self._learn_images([text])

    def _learn_images(self, texts: Iterable[str]) -> None:
        behind = (name for text in texts for match in self._images.findall(text) for name in match)
        self._learn_more({name: "image" for name in behind if name not in WORDS})

    def _learn_more(self, names: Names) -> None:
        self.learn(names)
        if self._compiled != len(self._known):
            self._compiled = len(self._known)
            self._compile()

    def _compile(self) -> None:
        patterns = {**{name: _pattern(name) for name in self._known}, **{word: re.escape(word) for word in _KEPT}}
        self._found = re.compile("|".join(patterns[text] for text in sorted(patterns, key=len, reverse=True)))
        pools = "|".join(re.escape(name) for name, (what, _) in self._known.items() if what == _A_POOL) or "(?!)"
        self._images = re.compile(rf"(?<![\w./-])(?i:{pools})/(?!{_NO_IMAGE})({_IMAGE})(?:/({_IMAGE}))?")
        self._begins = {name[:end]: name for name in self._known for end in range(_BEGIN_LEAST, len(name))}
        self._ends = {name[start:]: name for name in self._known for start in range(1, len(name) - _END_LEAST + 1)}

    def _without_begins(self, text: str) -> str:
        """Without the beginnings of names before an ellipsis, and at the right edge."""
        text = _PATH_CUT.sub(lambda match: self._part(match[0]), text)
        inked = len(text.rstrip(_EDGE))
        ends = [inked] if len(text) - inked <= _EDGE_MOST else []
        for end in [*(match.start() for match in re.finditer("…", text)), *ends]:
            for start in range(max(0, end - 200), end - _BEGIN_LEAST + 1):
                part = text[start:end]
                if part in self._begins and part not in WORDS and not (start and text[start - 1].isalnum()):
                    text = text[:start] + self._part(part) + text[end:]
                    break
        return text

    def _without_ends(self, text: str) -> str:
        """Without the end of a name at the left edge, as it is where a long word is wrapped."""
        start = len(text) - len(text.lstrip(_EDGE))
        if start > _EDGE_MOST:
            return text
        for end in range(min(len(text), start + 200), start + _END_LEAST - 1, -1):
            part = text[start:end]
            if part in self._ends and not part.isalpha() and not text[end : end + 1].isalnum():
                return text[:start] + self._part(part, self._ends[part]) + text[end:]
        return text

    def _part(self, part: str, name: str = "") -> str:
        """The stand-in of a name of which a part is there, cut off as well."""
        kind, number = self._known.get(name or self._begins.get(part, ""), ("path", 0))
        room = cell_len(part)
        return stand_in(kind, number, part)[:room].ljust(room)


def masked(text: str, names: Names) -> str:
    """A text with stand-ins for these names, and for what is a path, an address or a target by its shape."""
    return Mask(names).text(text)


# ---------------------------------------------------------------------------------------------- where names are found


def names_in(models: Iterable[Model]) -> dict[str, NameKind]:
    """The names that the fields of models say they have, and those that other text has by its shape."""
    return {name: kind for model in models for name, kind in _names_in_model(model).items()}


@lru_cache(10_000)
def _names_in_model(model: Model) -> Names:
    """The names of one model. They are kept, since a screen asks for those of the same runs with each frame."""
    texts = list(_texts(model))
    by_field = {name: of for text, kind in texts if kind for name, of in _said(text, kind)}
    return {
        **by_field,
        **{name: of for text, kind in texts if not kind for name, of in _seen(text) if name not in by_field},
    }


def _texts(model: Model) -> Iterator[tuple[str, Said | None]]:
    """All texts of a model, each with what its field says of it."""
    for field, about in type(model).model_fields.items():
        kind = next((mark.kind for mark in about.metadata if isinstance(mark, NamesOf)), None)
        yield from _texts_in(getattr(model, field), kind, field)


def _texts_in(value: object, kind: Said | None, field: str) -> Iterator[tuple[str, Said | None]]:
    if isinstance(value, str):
        yield value, kind
    elif isinstance(value, Model):
        yield from _texts(value)
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _texts_in(item, kind, field)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _texts_in(key, kind, field)
            if isinstance(item, str):
                yield setting(field, key, item), "target"
            else:
                yield from _texts_in(item, None, field)


def _said(text: str, kind: Said) -> Iterator[tuple[str, NameKind]]:
    """The names in a text that has them by what is said of it; behind a host there may be its device."""
    if kind == "target":
        yield from shaped(text)
    elif kind == "node":
        yield from names_of_hosts([text.partition(" ")[0]]).items()
    elif text not in USUAL and not OWN_IMAGE.fullmatch(text):
        yield re.sub(r":\d+$", "", text) if kind == "path" else text, kind


def _seen(text: str) -> Iterator[tuple[str, NameKind]]:
    """The names in words, none of which is a word of the program's own."""
    return ((name, kind) for name, kind in shaped(text) if name not in WORDS)


def names_of_hosts(names: Iterable[str]) -> dict[str, NameKind]:
    """The names in hosts as they were typed; the console's own machine has none."""
    return {part: "node" for name in names for part in host_names(name) if part and part != LOCAL}


def names_of_target(spec: str) -> dict[str, NameKind]:
    """Pool and image of ``rbd:pool/image``, and the like."""
    return dict(_said(spec, "target"))


# ---------------------------------------------------------------------------------------------- models


T = TypeVar("T")
_OF_RUNS = ("event", "outcome", "tool", "summary", "code")
_OF_VERDICTS = ("figure", "direction", "word", "answer", "method", "differs")
_OF_EXPECTED = ("expectation", "given")
_OF_CEILINGS = ("limit", "metric")
_OWN_WORDS = frozenset({*_OF_RUNS, *_OF_VERDICTS, *_OF_EXPECTED, *_OF_CEILINGS})
"""Fields with words of the program's own, by which it looks things up."""
_HIDDEN: Mapping[str, Any] = {"user": None, "nic_networks": {}, "networks": {}}
"""Fields that have no stand-in, and what is in their place: the name of a user may be any word, as root is, and the
short digests of networks tell these to who tries all that there may be."""
_OPTIONS = ("options", "other_options", "of_preset")
"""Fields whose values may be such words."""
_OWN_KEYS = ("options", "of_preset", "tools", "pool")
"""Fields whose keys are such words."""
_OPTION = re.compile(r"[a-z][a-z0-9_-]{0,60}")
"""What a tool calls an option; a log may have anything in its place."""


def anonymous(data: T, mask: Mask) -> T:
    """A model, or other data, with a stand-in for each name that the mask knows or sees."""
    masked: T = _masked(data, mask, "")
    return masked


def _masked(value: Any, mask: Mask, field: str) -> Any:
    """A text; or what texts are in."""
    if isinstance(value, str):
        return value if field in _OPTIONS and value in WORDS else mask.text(value)
    if isinstance(value, Model):
        return value.model_copy(update=_masked_fields(value, type(value).model_fields, mask))
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **_masked_fields(value, (item.name for item in fields(value)), mask))
    if isinstance(value, tuple | list):
        return type(value)(_masked(item, mask, field) for item in value)
    if isinstance(value, Mapping):
        keys = {key: key if _is_own_key(key, field) else _masked(key, mask, field) for key in value}
        return {keys[key]: _masked(item, mask, field) for key, item in value.items()}
    return value


def _masked_fields(value: object, names: Iterable[str], mask: Mask) -> dict[str, Any]:
    return {
        name: _HIDDEN[name] if name in _HIDDEN else _masked(getattr(value, name), mask, name)
        for name in names
        if name not in _OWN_WORDS
    }


def _is_own_key(key: Any, field: str) -> bool:
    return field in _OWN_KEYS or (field == "other_options" and bool(_OPTION.fullmatch(str(key))))
