"""A saved run played again gives what the runner published, and a run in progress can be followed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from cephtui.analysis.views.live import Live
from cephtui.models import ClusterSample, Event, MachineUse, Mark, NodeSample, Plan, Run, Sample
from cephtui.sessions import store
from cephtui.sessions.jsonlines import line
from cephtui.sessions.playback import Follower, Playback, lasted_seconds, step_and_plan
from cephtui.sessions.store import StoreError
from cephtui.sessions.writer import take_lock
from cephtui.tui.screens.player import Player
from tests.support import two_copies
from tests.support.golden import Golden
from tests.support.known import known
from tests.support.runs import without_ios

END = float("inf")


RUNS = range(1, two_copies.STAR + 1)


def samples(events: Sequence[Event]) -> list[Sample]:
    return [event for event in events if isinstance(event, Sample)]


def by_node(found: Sequence[Sample]) -> list[Sample]:
    """Those of single nodes, node by node in the order of time."""
    return sorted((s for s in found if s.node), key=lambda s: (s.node, s.phase != "prepare"))


# ---------------------------------------------------------------------------------------------- a run that is over


@pytest.mark.parametrize("number", RUNS)
def test_a_replay_gives_the_samples_that_were_stored(demo_session: Path, number: int) -> None:
    played = samples(Playback(demo_session, number).until(END))
    stored = list(store.read_samples(demo_session, number))
    for ours, theirs in zip(by_node(played), by_node(stored), strict=True):
        assert ours.elapsed_seconds == pytest.approx(theirs.elapsed_seconds, abs=0.002)
        assert line(without_ios(ours)) == line(without_ios(theirs))
    # of all nodes: where one was late, the merged seconds may be cut elsewhere, and nothing is lost
    for direction in ("read", "write"):
        of_all = [
            sum(interval.bytes for s in found if s.node is None and (interval := getattr(s, direction)))
            for found in (played, stored)
        ]
        assert of_all[0] == of_all[1]


def place_of(playback: Playback | Follower) -> tuple[int, int | None]:
    """Which run of how many it is said to be."""
    live = Live()
    for event in (playback.until(0.0) if isinstance(playback, Playback) else playback.drain())[:2]:
        live.take(event)
    progress = live.batch_progress()
    assert progress
    return progress.run, progress.of


@pytest.mark.parametrize("number", RUNS)
def test_a_run_that_is_played_alone_is_one_of_one(demo_session: Path, number: int) -> None:
    assert place_of(Playback(demo_session, number)) == (1, 1)


def test_a_run_that_is_followed_is_one_of_those_that_were_ordered(demo_copy: Path) -> None:
    run = store.read_run(demo_copy, two_copies.STAR)
    step, _ = step_and_plan(demo_copy, run)
    steps = tuple(step.model_copy(update={"number": number, "repeat": number}) for number in (1, 2, 3))
    again = run.model_copy(update={"step": 2, "repeat": 2})
    (demo_copy / f"{two_copies.STAR:03}" / "run.json").write_text(line(again))
    with (demo_copy / "plans.jsonl").open("a") as file:
        file.write(line(Plan(steps=steps, duration_seconds=0.0, session_bytes=0)) + "\n")
    assert place_of(Playback(demo_copy, two_copies.STAR)) == (1, 1)
    for number, path in store.run_directories(demo_copy):
        if number > two_copies.STAR:
            shutil.rmtree(path)
    assert place_of(Follower(demo_copy)) == (2, 3)


@pytest.mark.parametrize("number", RUNS)
def test_a_replay_begins_and_ends_as_the_run_did(demo_session: Path, number: int) -> None:
    events = Playback(demo_session, number).until(END)
    run = store.read_run(demo_session, number)
    assert isinstance(events[0], Plan)
    assert isinstance(events[1], Run)
    assert (events[1].outcome, events[1].summary.read, events[1].summary.write) == (None, None, None)
    assert events[-1] == run
    states = list(store.read_states(demo_session, number, ClusterSample))
    assert [event for event in events if isinstance(event, ClusterSample)] == states


def test_what_nodes_did_is_played_with_its_findings(demo_copy: Path) -> None:
    """At its time; what is found of it while the run is played is what was found while it ran."""
    number, (node, *_) = two_copies.STAR, store.read_run(demo_copy, two_copies.STAR).nodes
    calm, taken = MachineUse(cpu_busy_ratio=0.3), MachineUse(cpu_busy_ratio=1.0, cpu_others_ratio=0.6)
    uses = [taken if 5 < at <= 15 else calm for at in range(1, 21)]
    stored = [
        NodeSample(run=number, elapsed_seconds=at, node=node.node, interval_seconds=1.0, machine=use)
        for at, use in enumerate(uses, 1)
    ]
    text = "".join(f"{line(sample)}\n" for sample in stored)
    (demo_copy / f"{number:03}" / "nodes.jsonl").write_text(text)
    events, live = Playback(demo_copy, number).until(END), Live()
    for event in events[:-1]:
        live.take(event)
    assert live.current
    assert live.current.machines == {node.node: calm}
    (finding,) = [finding for finding in live.current.findings() if finding.code == "cpu-taken"]
    assert (finding.from_seconds, finding.to_seconds) == (5, 15)
    assert [event for event in events if isinstance(event, NodeSample)] == stored


def test_marks_come_at_their_time(demo_session: Path) -> None:
    playback = Playback(demo_session, two_copies.STAR)
    marks = [mark for mark in store.read_marks(demo_session) if mark.run == two_copies.STAR]
    assert len(marks) == 2
    at = marks[0].elapsed_seconds
    assert at is not None
    playback.until(0.0)
    run_seconds = known(known(playback.step).run_seconds)
    before = playback.until(lasted_seconds(demo_session, playback.run, playback.step) - run_seconds)
    assert not any(isinstance(event, Mark) for event in before)
    assert [event for event in playback.until(END) if isinstance(event, Mark)] == marks


def test_asking_bit_by_bit_gives_the_same(demo_session: Path) -> None:
    whole = Playback(demo_session, two_copies.STAR).until(END)
    playback, parts = Playback(demo_session, two_copies.STAR), []
    for tenth in range(800):
        parts += playback.until(tenth / 10)
    parts += playback.until(END)
    assert sorted(line(s) for s in samples(parts)) == sorted(line(s) for s in samples(whole))
    assert playback.over
    assert playback.until(END) == []


def test_nothing_is_told_before_its_time(demo_session: Path) -> None:
    playback = Playback(demo_session, two_copies.STAR)
    early = samples(playback.until(playback.prepared_seconds + 5.0))
    assert all(sample.phase == "prepare" or sample.elapsed_seconds <= 5.0 for sample in early)


# ---------------------------------------------------------------------------------------------- one in progress


def grown(source: Path, target: Path, share: float) -> None:
    """The files of a run as they were in mid-run: cut anywhere, first the filling, and what is indexed is there."""
    filling, measuring = min(1.0, 3 * share), max(0.0, 1.5 * share - 0.5)
    for path in source.rglob("*"):
        if path.is_file() and path.name not in ("overview.json", "row.json"):
            data = path.read_bytes()
            whole = path.suffix in (".json", ".stdout", ".stderr") or path.name == "plans.jsonl"
            part = filling if ".prepare." in path.name else measuring
            cut = len(data) if whole else int(len(data) * part)
            (target / path.relative_to(source)).parent.mkdir(parents=True, exist_ok=True)
            (target / path.relative_to(source)).write_bytes(data[:cut])


def begun(directory: Path, number: int) -> str:
    """The run's file as it was in mid-run; gives the one of its end."""
    path = directory / f"{number:03}" / "run.json"
    ended = path.read_text()
    path.write_text(json.dumps({**json.loads(ended), "outcome": None}))
    return ended


def only(session: Path, folder: Path, number: int) -> Path:
    """A session of one run."""
    one = folder / "one"
    one.mkdir()
    for name in ("session.json", "plans.jsonl", "marks.jsonl"):
        shutil.copy(session / name, one / name)
    shutil.copytree(session / f"{number:03}", one / f"{number:03}")
    return one


@pytest.mark.parametrize("number", [two_copies.STAR, two_copies.STAR - 1])
def test_a_run_that_is_being_written_is_followed_to_its_end(demo_session: Path, tmp_path: Path, number: int) -> None:
    source, written = only(demo_session, tmp_path, number), tmp_path / "written"
    ended = begun(source, number)
    grown(source, written, 0.0)
    lock = take_lock(written)
    assert lock
    follower, events = Follower(written), []
    for share in (0.0, 0.11, 0.37, 0.371, 0.6, 0.93, 1.0):
        grown(source, written, share)
        events += follower.drain()
    assert not any(isinstance(event, Run) and event.outcome for event in events)
    (written / f"{number:03}" / "run.json").write_text(ended)
    events += follower.drain()
    lock.close()
    whole = Playback(demo_session, number).until(END)
    assert by_node(samples(events)) == by_node(samples(whole))
    assert isinstance(events[-1], Run)
    assert events[-1].outcome == "ok"
    assert follower.drain() == []


def test_the_next_run_is_followed_too(demo_session: Path, tmp_path: Path) -> None:
    written = only(demo_session, tmp_path, 1)
    follower = Follower(written)
    first = follower.drain()
    shutil.copytree(demo_session / "002", written / "002")
    second = follower.drain()
    assert [e.run for e in (*first, *second) if isinstance(e, Run)] == [1, 1, 2, 2]


def test_following_a_session_without_runs_says_nothing(tmp_path: Path) -> None:
    assert Follower(tmp_path).drain() == []


# ---------------------------------------------------------------------------------------------- damage


@pytest.mark.parametrize("text", [b"nothing\n", b"[]\n", b'{"stream": "stdout"}\n', b"\xff\xfe\n"])
def test_a_broken_index_is_named(demo_copy: Path, text: bytes) -> None:
    (demo_copy / "001" / "raw" / "lab1.index.jsonl").write_bytes(text)
    with pytest.raises(StoreError, match=r"lab1\.index\.jsonl: "):
        Playback(demo_copy, 1).until(END)


def test_a_missing_output_is_named(demo_copy: Path) -> None:
    (demo_copy / "001" / "raw" / "lab1.stdout").unlink()
    with pytest.raises(StoreError, match=r"lab1\.stdout"):
        Playback(demo_copy, 1).until(END)


def test_a_run_without_its_plan_is_named(demo_copy: Path, golden: Golden) -> None:
    (demo_copy / "plans.jsonl").write_bytes(b"")
    with golden.raises(StoreError):
        Playback(demo_copy, 1)


# ---------------------------------------------------------------------------------------------- the player


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_the_player_keeps_its_speed(demo_session: Path) -> None:
    clock = Clock()
    player = Player(demo_session, two_copies.STAR, 4.0, clock)
    clock.now += 2.0
    player.drain()
    assert player.position == pytest.approx(8.0)
    player.paused = True
    clock.now += 50.0
    assert player.drain() == []
    assert player.position == pytest.approx(8.0)
    player.paused = False
    clock.now += 1.0
    player.drain()
    assert player.position == pytest.approx(12.0)
    clock.now += 1000.0
    assert isinstance(player.drain()[-1], Run)
    assert player.over


def test_going_back_tells_all_of_it_again(demo_session: Path) -> None:
    clock = Clock()
    player = Player(demo_session, two_copies.STAR, 1.0, clock)
    first = player.drain()
    player.seek(20.0)
    ahead = player.drain()
    player.seek(10.0)
    again = player.drain()
    assert samples(again) == samples([*first, *ahead])[: len(samples(again))]
    assert 0 < len(samples(again)) < len(samples(ahead))
    player.seek(1e9)
    assert isinstance(player.drain()[-1], Run)
