"""The presets that are run one after the other, as plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cephtui import units
from cephtui.frozen import dataclass
from cephtui.models import Node, Plan, Run
from cephtui.models.plan import Bound, bound_of_all
from cephtui.planning import Request, new_batch

if TYPE_CHECKING:
    from cephtui.models.study import SavedStudy


@dataclass(frozen=True, slots=True)
class Entry:
    """One preset on its nodes and its target, as it was when it was queued."""

    request: Request
    """Of one preset."""
    batch: str = ""
    """Of all its runs."""
    seconds: float = 0.0
    """Estimate."""
    steps: int = 1
    """How many runs it is: the points of a sweep, each as often as it is repeated."""
    bound: Bound = "about"
    """What ``seconds`` is to the time."""
    study: SavedStudy | None = None
    """What it is of, kept in the session from its first run on."""

    @classmethod
    def of(cls, request: Request, plan: Callable[[Request], Plan]) -> Entry:
        """An entry with the number of its runs; raises the errors of ``plan``."""
        return cls(request, new_batch()).planned(plan)

    def planned(self, plan: Callable[[Request], Plan]) -> Entry:
        """The same with the rest of its runs counted and estimated anew; raises the errors of ``plan``."""
        planned = plan(self.request)
        steps = self.request.begun + len(planned.steps)
        return replace(self, seconds=planned.duration_seconds, bound=planned.bound, steps=steps)

    @property
    def left(self) -> int:
        """How many of its runs have not begun."""
        return self.steps - self.request.begun

    @property
    def is_sweep(self) -> bool:
        """Whether its runs differ in their options."""
        return self.steps > self.request.repeats

    @property
    def target(self) -> str:
        return self.request.target.spec

    @property
    def text(self) -> str:
        """The differences from the preset, in words."""
        request = self.request
        times = [f"{request.repeats} times"] if request.repeats > 1 else []
        order = [f"order {request.order}"] if request.order else []
        rest = [f"{self.left} of {self.steps} runs left"] if request.begun else []
        if request.until is not None:
            several = f"runs {request.begun + 1} to {request.until}"
            rest = [several if self.left > 1 else f"run {request.until} of {request.repeats}"]
        drops = ["caches dropped"] if request.drop_caches else []
        return ", ".join([*self._step, *request.option_texts, *times, *order, *drops, *rest])

    @property
    def _step(self) -> list[str]:
        """The title of the step of a suite, where it says more than the preset."""
        titles = [cell.step for cell in self.study.cells if cell.batch == self.batch] if self.study else []
        return [title for title in titles if title != self.request.preset.name]

    def after(self, runs: Sequence[Run]) -> Entry | None:
        """The rest of it after these runs; without any, its next one was called off. None where nothing is left."""
        begun = (runs[-1].step if runs else None) or self.request.begun + 1
        return replace(self, request=replace(self.request, begun=begun)) if begun < self.steps else None

    def runs_apart(self) -> list[Entry]:
        """Each of the runs that are left as an entry, all of the same batch."""
        requests = [replace(self.request, begun=at, until=at + 1) for at in range(self.request.begun, self.steps)]
        return [
            replace(self, request=each, seconds=self.seconds / self.left, steps=each.begun + 1) for each in requests
        ]

    def with_access(self, nodes: Mapping[str, Node], versions: Mapping[str, Mapping[str, str]]) -> Entry:
        """With the Ceph access that was found on each node, and the versions of its tools, by its name."""
        found = tuple(nodes.get(node.name, node) for node in self.request.nodes)
        return replace(self, request=replace(self.request, nodes=found, versions=versions))

    @property
    def place(self) -> tuple[str, frozenset[str]]:
        """The target, and the names of the nodes that load it."""
        return self.target, frozenset(node.name for node in self.request.nodes)


def _left(entries: Sequence[Entry]) -> int:
    """Runs that have not begun: what every count of the queue is of, as an entry may be a sweep."""
    return sum(entry.left for entry in entries)


def _runs(entries: Sequence[Entry], more: str = "") -> str:
    """``3 runs``, ``1 more run``."""
    number = _left(entries)
    return f"{number} {more}run{'s' * (number != 1)}"


def _time(entries: Sequence[Entry]) -> str:
    """``about 47 s``: of all together."""
    return f"{bound_of_all(entry.bound for entry in entries)} {units.duration(sum(e.seconds for e in entries))}"


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
        if not self.entries:
            return ""
        return f"{_runs(self.entries)} waiting, {_time(self.entries)}"

    @property
    def held(self) -> str:
        """How many runs do not run by themselves, and their time; empty for none."""
        held = self.entries[self.ready :]
        if not held:
            return ""
        rest = f" of {'this sweep' if held[0].is_sweep else 'these repeats'}" if held[0].request.begun else ""
        what = f"{_runs(held, 'more ')}{rest if len(held) == 1 else ''}"
        return f"{what} {'are' if _left(held) > 1 else 'is'} held in the queue ({_time(held)})"

    def push(self, entries: Sequence[Entry]) -> Queue:
        """With more entries, ready, before those that are held."""
        order = (*self.entries[: self.ready], *entries, *self.entries[self.ready :])
        return replace(self, entries=order, ready=self.ready + len(entries))

    def take(self) -> tuple[Entry, Queue]:
        """The first, which has to be ready, and the rest."""
        return self.entries[0], replace(self, entries=self.entries[1:], ready=self.ready - 1)

    def put_back(self, entry: Entry, *, held: bool) -> Queue:
        """With the rest of an entry: the first of all, or the first of those that are held."""
        at = self.ready if held else 0
        order = (*self.entries[:at], entry, *self.entries[at:])
        return replace(self, entries=order, ready=self.ready + (not held))

    def hold(self, note: str) -> Queue:
        """With all of it held."""
        return replace(self, ready=0, note=note)

    def release(self) -> Queue:
        """With all of it ready."""
        return replace(self, ready=len(self.entries))

    def moved(self, index: int, by: int) -> Queue:
        """With one entry before or behind its neighbour; the same where there is none."""
        to = index + by
        if not (0 <= index < len(self.entries) and 0 <= to < len(self.entries)):
            return self
        order = list(self.entries)
        order.insert(to, order.pop(index))
        return replace(self, entries=tuple(order))

    def in_turns(self, index: int) -> Queue:
        """With the runs of an entry and of the next one in the order A B B A; the same where that can't be.

        A drift is on both of them then. What one has more runs of comes at the end.
        """
        pair = self.entries[index : index + 2]
        if len(pair) < 2 or index + 1 == self.ready or max(entry.left for entry in pair) < 2:
            return self
        first, second = (entry.runs_apart() for entry in pair)
        turns = [turn[::-1] if at % 2 else turn for at, turn in enumerate(zip(first, second, strict=False))]
        rest = [*first[len(turns) :], *second[len(turns) :]]
        order = [*(entry for turn in turns for entry in turn), *rest]
        ready = self.ready + len(order) - 2 if index < self.ready else self.ready
        return replace(self, entries=(*self.entries[:index], *order, *self.entries[index + 2 :]), ready=ready)

    def without(self, index: int) -> Queue:
        """Without one entry."""
        order = self.entries[:index] + self.entries[index + 1 :]
        return replace(self, entries=order, ready=min(self.ready, len(order)))
