"""What this user has just done to a pool is known from the sessions, also of other consoles."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from cephtui.cluster import preflight
from cephtui.cluster.preflight import Demand, Preflight
from cephtui.cluster.reader import ClusterReader
from cephtui.models import ClusterEnvironment, Sample
from cephtui.models.refusal import Refusal
from cephtui.running import own_use
from cephtui.sessions import writer
from cephtui.sessions.store import UNDO_FILE
from cephtui.sessions.undo import Undo
from tests.support.clusters import RecordedShell
from tests.support.runs import recorded
from tests.support.sessions import write_session
from tests.unit.sessions.test_store import sample_of

FSID = "b6fc0549-dbf9-4d2f-89bd-ab311fcb193b"
"""Of the recorded cluster."""


def session_with(root: Path, name: str = "S", samples: Sequence[Sample] = (), **fields: Any) -> Path:
    """A session with a run of the recorded cluster that has just ended; gives the directory of the run."""
    usual = {"target": "rbd:rec", "cluster": ClusterEnvironment(fsid=FSID)}
    run = recorded(1, **{**usual, **fields})
    return write_session(root, [run], name=name, samples=lambda run: samples) / "001"


def undo(root: Path, *entries: Undo) -> Path:
    path = root / "S" / UNDO_FILE
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(entry.model_dump_json() + "\n" for entry in entries))
    return path


def removed(target: str, **more: object) -> Undo:
    return Undo.model_validate({"node": "n1", "target": target, "cluster": FSID, "done": True, **more})


def grow_old(path: Path, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(path, (then, then))


async def has_just_ended(root: Path, pool: str = "rec") -> bool:
    return await own_use.has_just_ended(root, ClusterReader(RecordedShell("healthy")), pool)


async def test_a_run_that_has_just_ended_is_ones_own(tmp_path: Path) -> None:
    session_with(tmp_path)
    assert await has_just_ended(tmp_path)
    assert not await has_just_ended(tmp_path, "recquota"), "it was in another pool"


async def test_one_that_ended_earlier_or_elsewhere_is_not(tmp_path: Path) -> None:
    assert not await has_just_ended(tmp_path / "nowhere")
    run = session_with(tmp_path)
    grow_old(run / "run.json", preflight.LINGER_SECONDS + 1)
    assert not await has_just_ended(tmp_path)
    (run / "samples.jsonl").touch()
    assert await has_just_ended(tmp_path), "it wrote until now"

    session_with(tmp_path / "other", cluster=ClusterEnvironment(fsid="0" * 8))
    assert not await has_just_ended(tmp_path / "other")
    session_with(tmp_path / "unknown", cluster=None)
    assert not await has_just_ended(tmp_path / "unknown")
    session_with(tmp_path / "file", target="file:/var/tmp/x")
    assert not await has_just_ended(tmp_path / "file")


async def test_a_run_in_progress_is_a_load_of_now(tmp_path: Path) -> None:
    session_with(tmp_path)
    run = session_with(tmp_path, "T", [sample_of(1)], outcome=None)
    lock = writer.take_lock(run.parent)
    assert lock
    with lock:
        assert not await has_just_ended(tmp_path)
    assert await has_just_ended(tmp_path), "its console was killed"


async def test_of_removals_the_last_counts(tmp_path: Path) -> None:
    path = undo(tmp_path, removed("rbd:recquota/cephtui-a"), removed("pool:rec/cephtui-b"))
    assert await has_just_ended(tmp_path)
    assert not await has_just_ended(tmp_path, "recquota"), "when that was is not known"
    undo(tmp_path, removed("rbd:rec/cephtui-a"), removed("rbd:rec/cephtui-b", done=False))
    assert not await has_just_ended(tmp_path), "it is still there"
    undo(tmp_path, removed("rbd:rec/cephtui-a"))
    assert await has_just_ended(tmp_path)
    grow_old(path, preflight.LINGER_SECONDS + 1)
    assert not await has_just_ended(tmp_path)


async def test_what_can_not_be_read_is_left_out(tmp_path: Path) -> None:
    (session_with(tmp_path, "broken") / "run.json").write_text("{")
    (tmp_path / "file").write_text("no session")
    undo(tmp_path).write_text("no list\n")
    assert own_use.own_uses(tmp_path, 60) == []


@pytest.mark.parametrize(("cluster", "asked"), [(FSID, 3), (None, 3), ("0" * 8, 1)])
async def test_room_is_asked_for_again_where_own_data_was_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cluster: str | None, asked: int
) -> None:
    undo(tmp_path, removed("rbd:rec/cephtui-a", cluster=cluster))
    full = Preflight(Refusal("no room"), is_full=True, environment=ClusterEnvironment(fsid=FSID))
    answers = [full, full, Preflight()]
    given: list[Preflight] = []

    async def check(shell: object, demand: object) -> Preflight:
        given.append(answers[len(given)])
        return given[-1]

    async def pause(waits_for: str) -> bool:
        return False

    monkeypatch.setattr(preflight, "check", check)
    demand = Demand("rec", None, True, True, True, 1 << 30)
    assert await own_use.check_cluster(RecordedShell(), demand, tmp_path, pause) == answers[asked - 1]


async def test_the_wait_for_room_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = undo(tmp_path, removed("rbd:rec/cephtui-a"))
    full = Preflight(Refusal("no room"), is_full=True, environment=ClusterEnvironment(fsid=FSID))
    pauses = 0

    async def check(shell: object, demand: object) -> Preflight:
        return full

    async def pause(waits_for: str) -> bool:
        nonlocal pauses
        pauses += 1
        grow_old(path, own_use.FREED_SECONDS * pauses / 3)
        return False

    monkeypatch.setattr(preflight, "check", check)
    assert (
        await own_use.check_cluster(RecordedShell(), Demand("rec", None, True, True, True, 1), tmp_path, pause) == full
    )
    assert pauses == 3


@pytest.mark.parametrize(("passes", "seconds", "asked"), [(True, 30.0, 3), (False, 30.0, 1), (True, 0.0, 1)])
async def test_pgs_that_will_serve_are_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, passes: bool, seconds: float, asked: int
) -> None:
    peering = Preflight(Refusal("2 PGs are not active", passes=passes))
    answers, waited = [peering, peering, Preflight()], list[str]()

    async def check(shell: object, demand: object) -> Preflight:
        return answers[len(waited)]

    async def pause(waits_for: str) -> bool:
        waited.append(waits_for)
        return False

    monkeypatch.setattr(preflight, "check", check)
    monkeypatch.setattr(preflight, "PASSES_SECONDS", seconds)
    demand = Demand("rec", None, True, True, True, 1)
    assert await own_use.check_cluster(RecordedShell(), demand, tmp_path, pause) is answers[asked - 1]
    assert waited == [preflight.WAITS_FOR_PGS] * (asked - 1)
