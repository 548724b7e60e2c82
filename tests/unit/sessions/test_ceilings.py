"""The ceilings of a saved run: stored with it, or by what was measured before it."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from cephtui.models import Ceiling, Run, Summary
from cephtui.sessions import cluster_records, store
from cephtui.sessions.ceilings import ceilings_of, with_ceilings
from cephtui.sessions.cluster_records import keep_records, kept_records
from tests.support.runs import total
from tests.support.sessions import write_session
from tests.unit.analysis.detectors.test_ceiling import CLUSTER, alone, benched, wrote
from tests.unit.analysis.runs.test_links import FSID, GBIT, of_hosts, one_way

IN_CLUSTER = CLUSTER.model_copy(update={"fsid": FSID})
LATER = timedelta(days=4)


def saved(tmp_path: Path, *runs: Run) -> Path:
    write_session(tmp_path / "sessions", runs, name="tuning")
    return tmp_path / "sessions" / "tuning"


def deep(number: int = 9, **changes: Any) -> Run:
    return wrote(number, 30_000, cluster=IN_CLUSTER, **changes)


def limits(ceilings: tuple[Ceiling, ...]) -> dict[str, float | None]:
    return {ceiling.limit: ceiling.at_most for ceiling in ceilings}


def test_a_run_says_later_what_it_said_when_it_ended(tmp_path: Path) -> None:
    """Whatever is measured since: of its links, and of one I/O in flight."""
    keep_records(tmp_path / "sessions", of_hosts(one_way(1, "a", "b", GBIT)), FSID)
    directory = saved(tmp_path, alone(1, 0.001, cluster=IN_CLUSTER), deep(2))
    run = with_ceilings(directory, store.read_run(directory, 2))
    assert run.ceilings is not None
    assert limits(run.ceilings)["network"] == pytest.approx(0.75 * GBIT)
    assert limits(run.ceilings)["depth"] == pytest.approx(64_000)

    again = tmp_path / "later"
    faster = of_hosts(one_way(5, "a", "b", 9 * GBIT)).model_copy(update={"started_at": run.started_at + LATER})
    keep_records(again / "sessions", faster, FSID)
    slower = alone(3, 0.5, cluster=IN_CLUSTER)
    directory = saved(again, alone(1, 0.001, cluster=IN_CLUSTER), run, slower)
    assert ceilings_of(directory, store.read_run(directory, 2)) == run.ceilings


def test_a_run_of_an_earlier_cephtui_has_those_of_what_was_measured_before_it(tmp_path: Path) -> None:
    for number, rate in ((1, GBIT), (8, 9 * GBIT)):
        keep_records(tmp_path / "sessions", of_hosts(one_way(number, "a", "b", rate)), FSID)
    directory = saved(tmp_path, alone(1, 0.001, cluster=IN_CLUSTER), deep(2), alone(3, 0.5, cluster=IN_CLUSTER))
    run = store.read_run(directory, 2)
    assert "ceilings" not in json.loads((directory / "002" / "run.json").read_text())
    assert limits(ceilings_of(directory, run))["network"] == pytest.approx(0.75 * GBIT)
    assert limits(ceilings_of(directory, run))["depth"] == pytest.approx(64_000)


def test_of_earlier_runs_only_those_that_say_something_are_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = saved(tmp_path, *map(deep, range(1, 6)), alone(6, 0.001, cluster=IN_CLUSTER), deep(7))
    (directory / "003" / "run.json").write_text("{torn")
    numbers: list[int] = []
    real = store.read_run

    def read(directory: Path, number: int) -> Run:
        numbers.append(number)
        return real(directory, number)

    monkeypatch.setattr(store, "read_run", read)
    assert "depth" in limits(ceilings_of(directory, deep(7)))
    assert numbers == [6]


def test_an_imported_run_has_none_and_no_session_is_no_fault(tmp_path: Path) -> None:
    assert ceilings_of(tmp_path / "no-session", deep(imported_from="old.txt")) == ()
    assert "network" in limits(ceilings_of(tmp_path / "no-session", deep()))


def large(bandwidth: float, **changes: Any) -> Run:
    options = {"rw": "write", "bs": "4M", "iodepth": 64}
    return wrote(9, bandwidth / (4 << 20), bandwidth=bandwidth, cluster=IN_CLUSTER, options=options, **changes)


def test_above_what_all_data_passes_a_run_is_suspect(tmp_path: Path) -> None:
    keep_records(tmp_path / "sessions", of_hosts(one_way(1, "a", "b", GBIT)), FSID)
    directory = saved(tmp_path, benched(1, 80e6, 80e6, 80e6))
    codes = [finding.code for finding in with_ceilings(directory, large(150e6)).findings]
    assert codes == ["above-ceiling", "above-ceiling"], "of the OSDs and of the network"
    above = with_ceilings(directory, large(90e6))
    assert (above.validity, above.findings[0].values["limit"]) == ("SUSPECT", "OSDs")
    assert with_ceilings(directory, large(83e6)).validity == "VALID", "within what measuring it costs"


def test_what_is_no_bound_is_not_exceeded(tmp_path: Path) -> None:
    """A rate that is set, the run itself, an estimate, and what one I/O takes while nothing else is in flight."""
    options = {"rw": "randwrite", "bs": "4k", "iodepth": 64, "rate_iops": 50}
    directory = saved(tmp_path, alone(1, 0.01, cluster=None))
    itself = alone(9, 0.001, cluster=None, summary=Summary(write=total(iops=1000.0)))
    for run in (wrote(9, 100, cluster=None, options=options), itself, deep(), wrote(9, 30_000, cluster=None)):
        limited = with_ceilings(directory, run)
        assert limited.ceilings
        assert limited.findings == ()


# ---------------------------------------------------------------------------------------------- of other sessions


def elsewhere(run: Run) -> Run:
    cluster = run.cluster or CLUSTER
    return run.model_copy(update={"session": "early", "cluster": cluster.model_copy(update={"fsid": FSID})})


def test_what_other_sessions_have_measured_of_the_cluster_counts_for_a_day(tmp_path: Path) -> None:
    root = tmp_path / "sessions"
    for run in (benched(1, 200e6, 200e6, 200e6, block="4k"), alone(2, 0.002), alone(3, 0.001), deep(4)):
        keep_records(root, elsewhere(run))
    near = limits(ceilings_of(root / "tuning", deep()))
    assert near["OSDs"] == pytest.approx(200e6 / 4096)
    assert near["depth"] == pytest.approx(64_000), "of one in flight the newest"
    later = deep(started_at=deep().started_at + LATER)
    assert limits(ceilings_of(root / "tuning", later)) == {"OSDs": None, "network": near["network"]}
    own = saved(tmp_path, alone(1, 0.004, cluster=IN_CLUSTER))
    assert limits(ceilings_of(own, deep()))["depth"] == pytest.approx(16_000), "the session itself comes first"


def test_of_one_in_flight_little_is_kept(tmp_path: Path) -> None:
    root = tmp_path / "sessions"
    latency = elsewhere(alone(1, 0.002))
    assert latency.summary.write
    keep_records(root, latency)
    (kept,) = kept_records(root, FSID).alone
    assert (kept.session, kept.run, kept.options) == ("early", 1, latency.options)
    assert kept.cluster
    assert (kept.cluster.config, kept.environment, kept.command) == (None, {}, "")


@pytest.mark.parametrize(
    "run",
    [
        deep(1),
        alone(1, 0.001, cluster=None),
        alone(1, 0.001, outcome="failed", cluster=IN_CLUSTER),
        benched(1, 1e8, 1e8, outcome="failed", cluster=IN_CLUSTER),
        alone(1, 0.001, cluster=IN_CLUSTER.model_copy(update={"fsid": "../x"})),
    ],
    ids=["deep", "no cluster", "failed", "failed bench", "no id"],
)
def test_what_says_nothing_is_not_kept(tmp_path: Path, run: Run) -> None:
    keep_records(tmp_path / "sessions", run)
    assert [*tmp_path.iterdir()] == []


def test_a_file_does_not_grow_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "sessions"
    monkeypatch.setattr(cluster_records, "_MOST_BYTES", 4000)
    for number in range(1, 60):
        keep_records(root, elsewhere(alone(number, 0.002)))
    kept = kept_records(root, FSID).alone
    assert (root.parent / "clusters" / f"{FSID}.jsonl").stat().st_size <= 4000
    assert [run.run for run in kept] == [*range(60 - len(kept), 60)]
