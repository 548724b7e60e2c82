"""The picker of targets: they are shown as they are found."""

from __future__ import annotations

import logging
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from itertools import groupby

from cephtui.nodes.transport import TransportError
from cephtui.targets import TargetError, parse_target
from cephtui.targets.candidates import Candidate, OnFound
from cephtui.targets.discovery import DEVICES, POOLS, SURROUNDINGS
from cephtui.tui.keys import ANY_LETTER, key
from cephtui.tui.pickers.picker import Filter, Picker
from cephtui.tui.widgets.pick_list import PickRow

CandidateSource = Callable[[str, OnFound], "Future[str]"]
"""A search for candidates: ``Runner.discover`` of a node."""
_LOOK_SECONDS = 0.05
"""How often arrivals are shown while some are awaited."""
_TYPED, _NEAR = "typed", "near "
log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Search:
    """A search on a node, and the candidates that have arrived."""

    future: Future[str]
    arrived: deque[Sequence[Candidate]] = field(default_factory=deque)
    """Filled on the runner's thread, emptied on the screen's."""
    candidates: dict[str, Candidate] = field(default_factory=dict)
    problem: str = ""
    done: bool = False

    def take(self) -> bool:
        """Take what has arrived; whether that changes anything."""
        if self.done:
            return False
        self.done = self.future.done()  # read first: nothing arrives after it
        changed = self.done
        while self.arrived:
            self.candidates.update({candidate.spec: candidate for candidate in self.arrived.popleft()})
            changed = True
        if self.done:
            self.problem = _problem(self.future)
        return changed


def _problem(future: Future[str]) -> str:
    if future.cancelled():
        return ""
    error = future.exception()
    if error is None:
        return future.result()
    if not isinstance(error, TransportError):
        log.error("looking for targets failed", exc_info=error)
    return str(error) or repr(error)


class TargetPicker(Picker[str]):
    """What can be tested from a node; what a guard would refuse to write is dim, with the reason."""

    TITLE_TEXT = "target"
    PLACEHOLDER = "type to filter, or a target such as rbd:POOL or file:/mnt/x"
    BINDINGS = [
        key(f"{ANY_LETTER},slash", "filter", "filter", "filter, or type any target: rbd:POOL, file:/mnt/x"),
        key("enter", "use", "choose", "choose the target; on a refused one, show why", priority=True),
        key("right,l", "images(True)", "images", "show the images of a pool", priority=True),
        key("left,h", "images(False)", "hide images", "hide the images of a pool", priority=True),
    ]

    def __init__(self, current: str, scratch: str, source: CandidateSource, node: str) -> None:
        """``current`` and ``scratch`` are targets as they are typed; ``node`` is whose pools and devices are shown."""
        super().__init__()
        self._current, self._scratch, self._source, self._node = current, scratch, source, node
        self._searches: dict[str, _Search] = {}
        self._open: set[str] = set()
        """The pools whose images are shown, as the targets that their images are asked of."""

    def on_mount(self) -> None:
        """Search at once, and show candidates as they arrive."""
        for of in (SURROUNDINGS, POOLS, DEVICES):
            self._search(of)
        self._timer = self.set_interval(_LOOK_SECONDS, self._take)

    def on_unmount(self) -> None:
        for search in self._searches.values():
            search.future.cancel()

    def _search(self, of: str) -> None:
        arrived: deque[Sequence[Candidate]] = deque()
        self._searches[of] = _Search(self._source(of, arrived.append), arrived)

    def _take(self) -> None:
        changed = [search for search in self._searches.values() if search.take()]
        if changed:
            self.show_rows()
        if all(search.done for search in self._searches.values()):
            self._timer.pause()

    # ------------------------------------------------------------------ rows

    def rows(self) -> list[PickRow]:
        """The current target first, what was typed last."""
        rows = [*self._given_rows(), *self._near_rows(), *self._pool_rows(), *self._device_rows()]
        return [*rows, *self._typed_rows({row.cells[0]: row for row in rows})]

    def _given_rows(self) -> Iterator[PickRow]:
        searches = self._searches.values()
        candidates = {spec: candidate for search in searches for spec, candidate in search.candidates.items()}
        first_specs = {self._current: "current target"}
        first_specs.setdefault(self._scratch, "a scratch file of cephtui's own")
        for spec, text in first_specs.items():
            row = _candidate_row(candidates[spec]) if spec in candidates else PickRow("", (spec,))
            yield replace(row, key=f"given {spec}", text=f"{text}, {row.text}" if row.text else text)

    def _near_rows(self) -> Iterator[PickRow]:
        """What the files of the node say, with what the cluster says of it as soon as that is known."""
        yield PickRow("", (f"on {self._node}: new files, images and pools only",), heading=True)
        pools = self._searches[POOLS].candidates
        for near in self._searches[SURROUNDINGS].candidates.values():
            if near.spec in (self._current, self._scratch):
                continue
            row = _candidate_row(pools.get(near.spec, near))
            place, colon, _ = near.text.partition(": ")
            text = f"{place}: {row.text}" if near.spec in pools and colon else row.text
            yield replace(row, key=f"{_NEAR}{near.spec}", text=text)

    def _pool_rows(self) -> Iterator[PickRow]:
        search = self._searches[POOLS]
        yield _heading(f"network and cluster, as seen from {self._node}", search, "querying the cluster ...")
        for images_of, candidates in groupby(
            search.candidates.values(), lambda candidate: self._images_of(candidate.spec)
        ):
            yield from map(_candidate_row, candidates)
            if images_of:
                yield from self._image_rows(images_of)

    def _image_rows(self, images_of: str) -> Iterator[PickRow]:
        """A row that shows and hides the images of a pool, and the images."""
        pool, is_open = images_of.partition(":")[2], images_of in self._open
        search = self._searches.get(images_of) if is_open else None
        state = _state(search, f"reading the images of {pool} ...") if search else ""
        text = state or f"existing images of {pool}{'' if is_open else ' (right arrow)'}"
        yield PickRow(f"images {images_of}", (f"{'-' if is_open else '+'} {images_of}/...",), text)
        if search:
            yield from (_candidate_row(candidate) for candidate in search.candidates.values())

    def _device_rows(self) -> Iterator[PickRow]:
        search = self._searches[DEVICES]
        yield _heading(f"devices of {self._node}", search, "inspecting the devices ...")
        yield from (_candidate_row(candidate) for candidate in search.candidates.values())

    def _typed_rows(self, shown: Mapping[str, PickRow]) -> Iterator[PickRow]:
        """What was typed, where that is a target and not one of those that can be chosen anyway."""
        try:
            spec = parse_target(self.filter_text).spec
        except TargetError:
            return
        row = shown.get(spec)
        if row is None or row.refused or spec != self.filter_text:
            refused = ", although it refuses writes" if row and row.refused else ""
            yield PickRow("", ("typed",), heading=True, always=True)
            yield PickRow(_TYPED, (spec,), f"use it as typed{refused}", always=True)

    def note(self) -> str:
        """Why the typed target is invalid, where no row matches."""
        if self.highlighted is None and ":" in self.filter_text:
            try:
                parse_target(self.filter_text)
            except TargetError as error:
                return str(error)
        return super().note()

    # ------------------------------------------------------------------ keys

    def use(self, row: PickRow | None) -> None:
        """A row of images opens and closes."""
        if row and row.key.startswith("images "):
            self._toggle(row.key.removeprefix("images "))
        elif row:
            self.dismiss(row.cells[0])

    def _toggle(self, images_of: str) -> None:
        self._open ^= {images_of}
        if images_of in self._open and images_of not in self._searches:
            self._search(images_of)
            self._timer.resume()
        self.show_rows(highlight=f"images {images_of}")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """An arrow to the side moves within what is typed first."""
        filter_input = self.focused
        if action != "images" or not isinstance(filter_input, Filter):
            return True
        return filter_input.cursor_at_end if parameters == (True,) else filter_input.cursor_at_start

    def action_images(self, shown: bool) -> None:
        """Show or hide the images of the pool that the keys are at."""
        key = self.highlighted.key.removeprefix("images ") if self.highlighted else ""
        key = key.removeprefix("given ").removeprefix(_NEAR)
        images_of = self._images_of(key)
        if images_of and shown != (images_of in self._open):
            self._toggle(images_of)

    def _images_of(self, spec: str) -> str | None:
        """What the images in the pool of a target are asked of, as ``rbd:POOL``; None where none can be there."""
        try:
            images_of = parse_target(spec).listed_by
        except TargetError:
            return None
        candidate = self._searches[POOLS].candidates.get(images_of) if images_of else None
        return images_of if candidate and candidate.reason is None else None


def _heading(title: str, search: _Search, waiting: str) -> PickRow:
    """A heading that stays while its search runs or has failed."""
    state = _state(search, waiting)
    return PickRow("", (title,), f"({state})" if state else "", heading=True, always=bool(state))


def _state(search: _Search, waiting: str) -> str:
    return search.problem if search.done else waiting


def _words(candidate: Candidate) -> str:
    """What a candidate is; a refusal without the name that stands before it."""
    if candidate.reason is None:
        return candidate.text
    name = re.escape(candidate.spec.partition(":")[2])
    reason = re.sub(rf"^(\w+ )?{name} ", "", candidate.reason)
    return f"{candidate.text}, not allowed: {reason}"


def _candidate_row(candidate: Candidate) -> PickRow:
    refused = ""
    if candidate.reason is not None:
        refused = f"{candidate.reason}: {candidate.remedy}" if candidate.remedy else candidate.reason
    return PickRow(candidate.spec, (candidate.spec,), _words(candidate), refused=refused)
