"""What the studies of a session say of its runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from cephtui.cli.verbs import cli
from cephtui.models.study import STABLE, Cell, SavedStudy
from cephtui.sessions.studies import batches_until_stable
from tests.support.runs import STARTED, run
from tests.support.sessions import write_session

VALUES = (10000.0, 10400.0, 9800.0, 10200.0, 9900.0)


@pytest.mark.parametrize(("kind", "margin"), [(STABLE, "4.3 %"), ("runs", "3.0 %")])
def test_repeats_until_stable_have_the_interval_with_which_they_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, margin: str
) -> None:
    monkeypatch.setenv("CEPHTUI_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "160")
    runs = [run(number, value) for number, value in enumerate(VALUES, 1)]
    cell = Cell(step="write-iops", preset="write-iops", target="rbd:x", nodes=("a",), batch=runs[0].batch)
    study = SavedStudy(at=STARTED, kind=kind, cells=(cell,))
    directory = write_session(tmp_path / "sessions", runs, created_at=STARTED, studies=[study])
    assert batches_until_stable(directory) == ({cell.batch} if kind == STABLE else set())
    for words in (("show", directory.name), ("report", directory.name)):
        text = CliRunner().invoke(cli, words).output
        assert f"±{margin}" in text
        assert ("occasional slow runs can't be excluded" in " ".join(text.split())) == (kind == STABLE)
