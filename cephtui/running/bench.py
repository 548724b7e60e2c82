"""State that the runs of one console session share."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from cephtui import models
from cephtui.frozen import dataclass
from cephtui.sessions.store import StoreError, cannot_write, read_run
from cephtui.sessions.undo import Undo

if TYPE_CHECKING:
    from cephtui.models import Event, Mark
    from cephtui.running.recorder import Recorder
    from cephtui.sessions.writer import SessionWriter


@dataclass(frozen=True, slots=True)
class PrefilledPart:
    """The bytes of a part that are known to be prefilled, as long as the part has this identity."""

    identity: str
    bytes: int


@dataclass(frozen=True, slots=True)
class BegunMark:
    """A mark of the moment at which the user acts; typing its words may take longer than the run lasts."""

    mark: Mark
    """The mark, as yet without words."""
    store: Callable[[Mark], Future[Mark]]

    def keep(self, text: str) -> Future[Mark]:
        """Keep it, with the words for what the user did; or a StoreError."""
        begun = self.mark
        return self.store(models.Mark(at=begun.at, run=begun.run, elapsed_seconds=begun.elapsed_seconds, text=text))


@dataclass(slots=True)
class Bench:
    """The session that is written, and the parts on the nodes that are known to be created or prefilled."""

    session: SessionWriter
    publish: Callable[[Event], None]
    stall_seconds: float
    prefilled: dict[tuple[str, str], PrefilledPart] = field(default_factory=dict)
    """The prefilled parts, by node and part."""
    created: dict[tuple[str, str], Undo] = field(default_factory=dict)
    """Parts that have to be removed, by node and part."""
    problems: list[str] = field(default_factory=list)
    """Steps that were not run and parts that were not removed, for the user to read at the end."""
    recorder: Recorder | None = None
    """The recorder of the run in progress."""

    def begin_mark(self) -> Mark:
        """A mark of this moment, on the time line of the run in progress, as yet without words. For any thread."""
        recorder = self.recorder  # once: another thread ends the run
        return recorder.begin_mark() if recorder else models.Mark(at=datetime.now(UTC), text="")

    def keep_mark(self, mark: Mark) -> Mark:
        """Store and publish a mark; raises StoreError."""
        is_now = self.recorder is not None and self.recorder.keep_mark(mark)
        try:
            self.session.mark(mark)
            if not is_now:
                self._explain(mark)
        except OSError as error:
            raise cannot_write(error) from None
        self.publish(mark)
        return mark

    def note_undo(self, undo: Undo) -> None:
        """Store that something is to be removed, before it is there; raises PartEnded."""
        try:
            self.session.undo(undo)
        except OSError as error:
            from cephtui.running.outcomes import PartEnded

            raise PartEnded("refused", str(cannot_write(error))) from None
        self.created[undo.node, undo.target] = undo

    def _explain(self, mark: Mark) -> None:
        """A mark may be worded after the end of its run, whose findings are kept by then; raises OSError."""
        if mark.run is None or mark.elapsed_seconds is None:
            return
        with contextlib.suppress(StoreError):  # what can't be read any more stays as it is; the mark is kept
            run = read_run(self.session.directory, mark.run)
            from cephtui.analysis.detectors.explaining import with_mark

            explained = with_mark(run, mark.elapsed_seconds, mark.text)
            if explained != run:
                self.session.amend(explained)
