"""The studies that are measured one after the other, as plain data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cephtui.frozen import dataclass
from cephtui.studies import KINDS
from cephtui.studies.extent import Extent, together

if TYPE_CHECKING:
    from cephtui.models import Plan, Run
    from cephtui.planning import Request
    from cephtui.studies.base import Study
    from cephtui.studies.conductor import Commands

Place = tuple[str, frozenset[str]]
"""A target, and the names of the nodes that load it."""


def place_of(request: Request) -> Place:
    """Where a request is measured."""
    return request.target.spec, frozenset(node.name for node in request.nodes)


@dataclass(frozen=True, slots=True)
class Entry:
    """A study as it was when it was queued, and what is left of it."""

    study: Study[Any]
    commands: Commands | None = None
    """What makes its change and takes it back; None where the user does, or where there is none."""
    runs: tuple[Run, ...] = ()
    """Those of it that were made, or begun and stopped: they are not made again."""
    extent: Extent = Extent(1, 1, 0.0, 0.0)
    """How much is left."""

    def planned(self, plan: Callable[[Sequence[Request]], Sequence[Plan]]) -> Entry:
        """The same with the runs that are left counted and estimated anew; raises the errors of ``plan``."""
        plans = plan(self.study.drafts_left(self.runs))
        return replace(self, extent=self.study.extent_left(plans, self.runs))

    @property
    def is_turn_taking(self) -> bool:
        """Whether its runs may take turns with those of another: they are known beforehand, and none has begun."""
        return self._has_known_runs and not self.runs and not self.study.saved.suite

    @property
    def _has_known_runs(self) -> bool:
        from cephtui.models.study import RUNS

        return self.study.kind == RUNS

    @property
    def name(self) -> str:
        """Of its suite, or of its presets."""
        saved = self.study.saved
        return saved.suite or ", ".join(saved.presets)

    @property
    def places(self) -> frozenset[Place]:
        return frozenset(map(place_of, self.study.requests))

    @property
    def targets(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(request.target.spec for request in self.study.requests))

    @property
    def nodes(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(dict.fromkeys(node.name for request in self.study.requests for node in request.nodes))

    @property
    def text(self) -> str:
        """How it is measured, and the differences from its presets, in words."""
        saved, first = self.study.saved, self.study.requests[0]
        kind = [] if self._has_known_runs else [KINDS[saved.kind].title]
        title = [saved.title] if saved.title else []
        options = [] if saved.suite else first.option_texts
        repeats = {cell.repeats for cell in saved.cells}
        times = [f"{max(repeats)} times"] if len(repeats) == 1 and max(repeats) > 1 else []
        order = [f"order {saved.order}"] if saved.order else []
        return ", ".join([*kind, *title, *options, *times, *order, *saved.manner.texts, *self._rest])

    @property
    def _rest(self) -> list[str]:
        if not self.runs:
            return []
        left = self.extent.most_runs
        if self.extent.least_runs < left:
            return [f"{len(self.runs)} runs made"]
        return [f"{left} of {len(self.runs) + left} runs left"]


def _extent(entries: Sequence[Entry]) -> Extent:
    return together([entry.extent for entry in entries])


@dataclass(frozen=True, slots=True)
class Queue:
    """Entries in their order: the first ``ready`` of them run by themselves, the others are held until released."""

    entries: tuple[Entry, ...] = ()
    ready: int = 0
    note: str = ""
    """Why some are held."""

    @property
    def is_held(self) -> bool:
        """Whether some do not run by themselves."""
        return self.ready < len(self.entries)

    @property
    def summary(self) -> str:
        """How many runs wait, and their time; empty for none."""
        extent = _extent(self.entries)
        return f"{extent.runs_text} waiting, {extent.time_text}" if self.entries else ""

    @property
    def held(self) -> str:
        """How many runs do not run by themselves, and their time; empty for none."""
        held = self.entries[self.ready :]
        if not held:
            return ""
        rest = f" of {held[0].name}" if len(held) == 1 and held[0].runs else ""
        extent = _extent(held)
        runs = "run{} is" if extent.most_runs == 1 else "runs{} are"
        return f"{extent.number} more {runs.format(rest)} held in the queue ({extent.time_text})"

    def push(self, entries: Sequence[Entry]) -> Queue:
        """With more entries, ready, before those that are held."""
        order = (*self.entries[: self.ready], *entries, *self.entries[self.ready :])
        return replace(self, entries=order, ready=self.ready + len(entries))

    def take(self) -> tuple[Entry, Queue]:
        """The first, which has to be ready, and the rest."""
        return self.entries[0], replace(self, entries=self.entries[1:], ready=self.ready - 1)

    def put_back(self, entry: Entry, note: str) -> Queue:
        """With the rest of an entry as the first of those that are held."""
        order = (*self.entries[: self.ready], entry, *self.entries[self.ready :])
        return replace(self, entries=order, note=note)

    def hold(self, note: str) -> Queue:
        """With all of it held."""
        return replace(self, ready=0, note=note)

    def without_given_up(self, why: Callable[[Entry], str]) -> Queue:
        """With those held, of the entries that are ready, for which ``why`` gives a reason; the others go on."""
        reasons = [why(entry) for entry in self.entries[: self.ready]]
        if not any(reasons):
            return self
        ready = [entry for entry, reason in zip(self.entries, reasons, strict=False) if not reason]
        held = [entry for entry, reason in zip(self.entries, reasons, strict=False) if reason]
        note = f"stopped after two failures in a row: {next(filter(None, reasons))}"
        return Queue((*ready, *held, *self.entries[self.ready :]), len(ready), note)

    def release(self) -> Queue:
        """With all of it ready."""
        return replace(self, ready=len(self.entries))

    def released(self, entry: Entry) -> Queue:
        """With one entry as the last of those that are ready; the same where it does not wait, or is ready."""
        held = self.entries[self.ready :]
        if entry not in held:
            return self
        still_held = [waiting for waiting in held if waiting is not entry]
        return replace(self, entries=(*self.entries[: self.ready], entry, *still_held), ready=self.ready + 1)

    def moved(self, index: int, by: int) -> Queue:
        """With one entry before or behind its neighbour; the same where there is none."""
        to = index + by
        if not (0 <= index < len(self.entries) and 0 <= to < len(self.entries)):
            return self
        order = list(self.entries)
        order.insert(to, order.pop(index))
        return replace(self, entries=tuple(order))

    def in_turns(self, index: int) -> Queue:
        """With an entry and the next one as one study in the order A B B A; the same where that can't be.

        A drift is on both of them then. What one has more runs of comes at the end.
        """
        pair = self.entries[index : index + 2]
        if len(pair) < 2 or index + 1 == self.ready or not all(entry.is_turn_taking for entry in pair):
            return self
        from cephtui.studies.runs import in_turns

        first, second = pair
        study = in_turns(first.study, second.study)
        if study is None:
            return self
        merged = Entry(study, extent=_extent(pair))
        ready = self.ready - 1 if index < self.ready else self.ready
        return replace(self, entries=(*self.entries[:index], merged, *self.entries[index + 2 :]), ready=ready)

    def without(self, index: int) -> Queue:
        """Without one entry."""
        order = self.entries[:index] + self.entries[index + 1 :]
        ready = self.ready - 1 if 0 <= index < self.ready else self.ready
        return replace(self, entries=order, ready=min(ready, len(order)))
