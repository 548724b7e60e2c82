"""What has changed since the last diagnosis: stages and commits that differ by more than runs do, and causes."""

from __future__ import annotations

from typing import Any

from cephtui.analysis.verdicts.diagnosis import diagnosis
from cephtui.models.findings import cluster, setup
from cephtui.models.findings.examples import example_findings
from cephtui.reports.words.diagnosis import since_lines
from tests.unit.analysis.verdicts.test_diagnosis import osd, stages, written

WHEN = "since 2026-11-21 10:01 UTC (tuning): "
SCRUB = example_findings(cluster.SCRUB.code)[0]


def osds(**seconds: float) -> dict[str, Any]:
    """The commits of OSDs."""
    return {name.removeprefix("osd"): osd(commits=500, commit_seconds=value) for name, value in seconds.items()}


def test_a_stage_that_has_moved_is_named_and_no_other() -> None:
    before = diagnosis([written(1, split=stages(0.0003, 0.0001, 0.0001, 0.0009))])
    now = diagnosis([written(2, split=stages(0.0003, 0.0001, 0.0001, 0.0061))])
    assert since_lines(before, now) == [f"{WHEN}4k write, one at a time: slowest copy 900 us -> 6.10 ms"]


def test_what_runs_differ_by_is_no_change() -> None:
    before = diagnosis([written(1, split=stages(0.0003, 0.0001, 0.0001, 0.0035))])
    now = diagnosis([written(2, split=stages(0.0005, 0.0001, 0.0001, 0.0041))])
    assert since_lines(before, now) == ["as on 2026-11-21 10:01 UTC (tuning)"]


def test_a_commit_of_an_osd_that_has_become_longer_is_named() -> None:
    before = diagnosis([written(1, osds=osds(osd0=0.0009, osd1=0.0009))])
    now = diagnosis([written(2, osds=osds(osd0=0.0010, osd1=0.0061, osd7=0.009))])
    assert since_lines(before, now) == [f"{WHEN}4k write, one at a time: a commit of osd.1 took 900 us -> 6.10 ms"]


def test_causes_that_are_new_or_gone_are_named() -> None:
    few = setup.FEW_OSDS.found(pool="bench", osds=3, of=12)
    lines = since_lines(diagnosis([written(1, SCRUB)]), diagnosis([written(2, few)]))
    assert lines == [f"{WHEN}new: few OSDs", f"{WHEN}gone: scrub"]


def test_runs_of_another_load_are_not_compared() -> None:
    before = diagnosis([written(1, split=stages(0.0003, 0.0001, 0.0001, 0.0009))])
    now = diagnosis([written(2, iodepth=16, split=stages(0.0003, 0.0001, 0.0001, 0.0061))])
    assert since_lines(before, now) == ["as on 2026-11-21 10:01 UTC (tuning)"]
