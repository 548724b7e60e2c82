"""What was noted as changed beside what was seen to differ: the one is never told as the other."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from cephtui.analysis.runs.change import Change
from cephtui.analysis.verdicts.conclusion import ConclusionTerms, Judgement
from cephtui.analysis.verdicts.noted import UNSEEN, is_seen
from cephtui.models import ClusterEnvironment, Mark, NodeEnvironment, Run
from cephtui.models.metrics import BY_NAME
from cephtui.sessions.verdicts import judge_saved
from tests.support.runs import STARTED, STEP_SECONDS, run

NOTED = "pool bench size 3 -> 2"
CLUSTER: dict[str, Any] = {
    "ceph_version": "18.2.4",
    "health": "HEALTH_OK",
    "osds": 3,
    "osds_up": 3,
    "pool": {"name": "bench", "size": 1},
    "pg_states": {"active+clean": 32},
    "config": {},
}


def a_run(number: int, **cluster: Any) -> Run:
    return run(
        number,
        cluster=ClusterEnvironment.model_validate({**CLUSTER, **cluster}),
        environment={"pve1": NodeEnvironment(hostname="pve1", kernel="6.8", page_cache_dropped=True)},
    )


def judged(directory: Path, after: dict[str, Any], *texts: str, options: Any = None) -> Judgement:
    sides = [a_run(number) for number in (1, 2, 3)], [a_run(number, **after) for number in (4, 5, 6)]
    if options:
        sides = sides[0], [each.model_copy(update={"options": {**each.options, **options}}) for each in sides[1]]
    between = STARTED + timedelta(seconds=STEP_SECONDS * 4 - 1)
    marks = [Mark(at=between, text=text) for text in texts]
    change = Change(tuple(sides[0]), tuple(sides[1]))
    return judge_saved([change], ConclusionTerms(lambda _: BY_NAME["iops"]), marks, directory, STARTED)


def test_a_noted_change_of_which_nothing_was_seen_is_asked_about(tmp_path: Path) -> None:
    said = judged(tmp_path, {}, NOTED).conclusion
    assert (said.noted, said.changed) == ((NOTED,), ())
    assert said.notes[0] == UNSEEN


@pytest.mark.parametrize(
    "after",
    [
        {"health": "HEALTH_WARN", "checks": ("noout flag(s) set",)},
        {"pg_states": {"active+clean": 31, "active+clean+scrubbing": 1}},
    ],
)
def test_what_comes_and_goes_by_itself_is_not_its_effect(tmp_path: Path, after: dict[str, Any]) -> None:
    assert UNSEEN in judged(tmp_path, after, NOTED).conclusion.notes


@pytest.mark.parametrize(
    ("after", "seen"),
    [
        ({"pool": {"name": "bench", "size": 2}}, "cluster pool size 1 -> 2"),
        ({"config": {"osd_memory_target (osd)": "8G"}}, "cluster osd_memory_target (osd) default -> 8G"),
        ({"osds": 4}, "cluster OSDs 3 -> 4"),
        ({"ceph_version": "19.2.0"}, "cluster ceph 18.2.4 -> 19.2.0"),
    ],
)
def test_what_was_noted_and_what_was_seen_stand_apart(tmp_path: Path, after: dict[str, Any], seen: str) -> None:
    said = judged(tmp_path, after, NOTED).conclusion
    assert said.noted == (NOTED,)
    assert seen in said.changed
    assert UNSEEN not in said.notes


def test_no_arrow_leads_back_in_time(tmp_path: Path) -> None:
    earlier, later = (
        tuple(a_run(n, pool={"size": size}) for n in numbers) for size, numbers in ((1, (1, 2)), (2, (3, 4)))
    )
    said = judge_saved(
        [Change(later, earlier)], ConclusionTerms(lambda _: BY_NAME["iops"]), (), tmp_path, STARTED
    ).conclusion
    assert said.changed == ("cluster pool size A 2, B 1",)


def test_options_are_an_effect(tmp_path: Path) -> None:
    assert UNSEEN not in judged(tmp_path, {}, NOTED, options={"iodepth": 1}).conclusion.notes


def test_where_nothing_was_noted_nothing_is_asked(tmp_path: Path) -> None:
    said = judged(tmp_path, {}).conclusion
    assert said.noted == ()
    assert UNSEEN not in said.notes


def test_what_undid_a_change_is_no_change_of_its_own(tmp_path: Path) -> None:
    assert judged(tmp_path, {}, "change: x 1", "undo: x 0").conclusion.noted == ("x 1",)


# ------------------------------------------------------------------ before the runs after a change


def nodes(**changes: Any) -> dict[str, NodeEnvironment]:
    return {"pve1": NodeEnvironment(hostname="pve1", kernel=changes.pop("kernel", "6.8"), **changes)}


def cluster(**changes: Any) -> ClusterEnvironment:
    return ClusterEnvironment.model_validate({**CLUSTER, **changes})


@pytest.mark.parametrize(
    ("now", "found", "seen"),
    [
        (cluster(), nodes(), False),
        (cluster(health="HEALTH_WARN", pg_states={"active+clean": 30}), nodes(), False),
        (cluster(pool={"name": "bench", "size": 2}), nodes(), True),
        (cluster(), nodes(kernel="6.11"), True),
        (None, nodes(), None),
        (cluster(), {}, None),
    ],
)
def test_what_differs_now_from_a_run_before(
    now: ClusterEnvironment | None, found: dict[str, NodeEnvironment], seen: bool | None
) -> None:
    before = a_run(1, image_features=("layering",), image_limits={"rbd_qos_iops_limit": 500.0}, osd_caches_dropped=3)
    assert is_seen(before, now, found) is seen
