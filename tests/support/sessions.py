"""A session on disk, as its writer has left it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path

from cephtui.models import Mark, Run, Sample, Session, SessionNotes, StateSample
from cephtui.models.study import SavedStudy
from cephtui.sessions import archive
from cephtui.sessions.jsonlines import as_json
from cephtui.sessions.kept import holds_nothing
from cephtui.sessions.writer import SessionWriter

AnySample = Sample | StateSample


def write_session(
    root: Path,
    runs: Iterable[Run] = (),
    *,
    name: str = "tuning",
    created_at: datetime | None = None,
    samples: Callable[[Run], Iterable[AnySample]] = lambda run: (),
    marks: Iterable[Mark] = (),
    studies: Iterable[SavedStudy] = (),
    notes: SessionNotes | None = None,
) -> Path:
    """A session with these runs, which are its own; gives its directory. ``samples`` are those of each run.

    One in which nothing was measured has an empty note, without which it would not be kept.
    """
    directory = root / name
    if created_at:
        directory.mkdir(parents=True)
        about = Session(session=name, created_at=created_at, cephtui_version="0.1.0")
        (directory / "session.json").write_text(as_json(about))
    writer = SessionWriter.open(root, name)
    for study in studies:
        writer.keep_study(study)
    for run in runs:
        write_run(writer, run.model_copy(update={"session": name}), samples(run))
    for mark in marks:
        writer.mark(mark)
    if notes or holds_nothing(directory):
        archive.write_notes(directory, notes or SessionNotes())
    writer.close()
    return directory


def write_run(session: SessionWriter, run: Run, samples: Iterable[AnySample]) -> None:
    """One that has an outcome has ended; any other was cut off."""
    writer = session.start_run(run)
    for sample in samples:
        if isinstance(sample, Sample):
            writer.sample(sample)
        else:
            writer.state(sample)
    if run.outcome:
        writer.finish(run)
    else:
        writer.close()
