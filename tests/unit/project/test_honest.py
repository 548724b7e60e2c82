"""How `make bench ARGS=honest` judges what was said of a run; what it provokes is no matter of tests."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import pytest

from tests.bench.__main__ import chosen
from tests.bench.honest import clean
from tests.bench.honest.judging import Counters, Doubt, Expected, Judgement, Observed, Sign, doubts, judge
from tests.bench.honest.lies import LIES
from tests.bench.honest.rows import Options, Results, add_options, judged, options

BUSY = Counters(queue=4.0)
SLOW_OSD = Expected((Sign("slow-osd", r"osd\.1"),), ("not-settled", "stalled"), ("pgs",), limits="OSDs")
FULL = Expected(untrue=("unverified",), kept="force")


def observed(*findings: tuple[str, str, str], **fields: Any) -> Observed:
    """Of a run that ended well, with findings of these codes, levels and texts."""
    told = tuple({"code": code, "level": level, "text": text} for code, level, text in findings)
    return Observed(**{"status": 0, "outcome": "ok", "findings": told, **fields})


@pytest.mark.parametrize(
    ("run", "judgement"),
    [
        (observed(("slow-osd", "limits", "osd.1 took 40 ms")), "caught"),
        (observed(("slow-osd", "limits", "osd.2 took 40 ms")), "explained wrongly"),
        (observed(("slow-osd", "limits", "osd.2 took 40 ms"), counters=BUSY), "missed"),
        (observed(("not-settled", "limits", "fell")), "symptom"),
        (observed(("pgs", "limits", "1 PG")), "missed"),
        (observed(("scrub", "limits", "2 PGs")), "explained wrongly"),
        (observed(("autoscale", "note", "on")), "missed"),
        (observed(("not-settled", "limits", "fell"), limit="nearest limit: network"), "explained wrongly"),
        (observed(("slow-osd", "limits", "osd.1"), limit="limited by network"), "explained wrongly"),
        (observed(("slow-osd", "limits", "osd.1"), limit="no known limit was near: 40 % (network)"), "caught"),
        (observed(limit="limited by OSDs"), "missed"),
        (observed(limit="nearest limit: client CPU", counters=BUSY), "missed"),
        (observed(outcome="stopped", error="slow ops"), "missed"),
        (observed(), "missed"),
    ],
)
def test_a_lie_is_caught_only_where_its_own_cause_is_named(run: Observed, judgement: str) -> None:
    assert judge(SLOW_OSD, run).of == judgement


def test_the_words_that_decide_are_kept() -> None:
    run = observed(("not-settled", "limits", "fell"), ("slow-osd", "limits", "osd.1 took 40 ms"))

    assert judge(SLOW_OSD, run) == Judgement("caught", "slow-osd: osd.1 took 40 ms")


def test_a_run_that_stops_with_the_effect_is_a_symptom() -> None:
    expected = Expected((Sign("slow-osd"),), ("stopped",))

    assert judge(expected, observed(outcome="stopped", error="slow ops")).of == "symptom"


@pytest.mark.parametrize(
    ("run", "judgement"),
    [
        (Observed(3, error="osd.1 is nearly full"), "prevented"),
        (observed(outcome="refused", error="osd.1 is nearly full"), "prevented"),
        (Observed(3, error="no such node"), "not provoked"),
        (Observed(3), "not provoked"),
    ],
)
def test_a_refusal_counts_only_for_its_own_reason(run: Observed, judgement: str) -> None:
    assert judge(Expected(refused="nearly full"), run).of == judgement


def test_a_command_that_can_not_lie_is_prevented() -> None:
    expected = Expected(prevented="--offset_increment=")

    assert judge(expected, observed(command="fio --offset_increment=1m")).of == "prevented"
    assert judge(expected, observed(command="fio")).of == "missed"


@pytest.mark.parametrize(
    ("run", "judgement"),
    [
        (observed(pool='"compression_mode": "force"'), "caught"),
        (observed(("not-settled", "limits", "fell"), pool="force"), "caught"),
        (observed(pool="none"), "missed"),
        (observed(("unverified", "limits", "holes"), pool="force"), "explained wrongly"),
    ],
)
def test_of_a_run_that_is_right_nothing_is_to_be_said(run: Observed, judgement: str) -> None:
    assert judge(FULL, run).of == judgement


def test_a_ceiling_can_be_what_tells_the_cause() -> None:
    expected = Expected(limited_by="limited by .*network", limits="network")

    assert judge(expected, observed(limit="limited by the client's network")).of == "caught"
    assert judge(expected, observed(limit="nearest limit: network")).of == "missed"
    assert judge(expected, observed(limit="limited by OSDs")).of == "explained wrongly"


def test_the_doubts_of_a_clean_run_are_what_limits_it_beyond_how_it_is_made() -> None:
    run = observed(
        ("short", "limits", "6 s"),
        ("depth", "note", "1"),
        ("not-settled", "limits", "fell"),
        ("thin", "invalidates", "x"),
    )

    assert doubts(run, ["short"]) == [Doubt("not-settled", "fell", False), Doubt("thin", "x", False)]


def test_a_clean_run_that_failed_or_was_refused_is_a_doubt() -> None:
    assert doubts(observed(outcome="lost", error="no answer")) == [Doubt("lost", "no answer", False)]
    assert doubts(Observed(3, error="no such node")) == [Doubt("refused", "no such node", False)]


@pytest.mark.parametrize(
    ("counters", "code", "is_confirmed"),
    [
        (Counters(), "not-settled", False),
        (Counters(steal=0.1), "not-settled", True),
        (Counters(queue=3.0), "client-cpu", True),
        (Counters(cpu_pressure=0.6), "slow-osd", True),
        (Counters(steal=0.1, queue=3.0, cpu_pressure=0.6), "unverified", False),
        (Counters(io_pressure=0.8), "not-settled", False),
        (Counters(io_pressure=0.8), "slow-osd", True),
    ],
)
def test_a_counter_confirms_only_what_it_causes(counters: Counters, code: str, is_confirmed: bool) -> None:
    assert counters.confirm(code) == is_confirmed


def test_each_lie_has_its_number_and_something_that_is_expected() -> None:
    assert [lie.number for lie in LIES] == [*range(1, 37)]
    for lie in LIES:
        told = lie.expected
        assert told.caught or told.untrue or told.limited_by or told.refused or told.prevented, lie.name
        assert not {sign.code for sign in told.caught} & {*told.untrue}, lie.name


def test_a_hundred_clean_runs_have_all_shapes() -> None:
    shapes = [clean.shape_of(number) for number in range(1, 101)]

    assert {shape.preset for shape in shapes} >= {
        *("write-iops", "read-iops", "latency", "mixed-75-25", "write-throughput", "rados-write"),
        *("rbd-bench-write", "ping"),
    }
    assert {shape.nodes for shape in shapes} == {("lab1",), ("lab",)}
    assert sum(shape.options["runtime"] for shape in shapes) < 1800, "well under an hour with what a run takes beside"


def test_results_are_kept_by_release_and_read_as_they_were(tmp_path: Path) -> None:
    file = tmp_path / "bench" / "honest.json"
    run = observed(("short", "limits", "3 s"), counters=BUSY)
    Results("", file).keep("L7", run)
    Results("", file).keep("L35", "no kernel")
    Results("sid", file).keep("L7", observed())

    kept = Results("", file)
    assert kept.get("L7") == run
    assert kept.has("L7")
    assert judged(Expected(), kept.get("L35") or "") == Judgement("not provoked", "no kernel")
    assert kept.get("L1") is None
    assert not kept.has("L1")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], Options(tuple(lie.name for lie in LIES), 100, "", resumes=False)),
        (["--lies", "L7,L23", "--clean", "5"], Options(("L7", "L23"), 5, "", resumes=False)),
        (["--lies", "none", "--release", "sid", "--resume"], Options((), 100, "sid", resumes=True)),
    ],
)
def test_it_is_run_in_parts(words: list[str], expected: Options) -> None:
    parser = argparse.ArgumentParser()
    add_options(parser)

    assert options(parser.parse_args(words)) == expected


def test_a_lie_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    add_options(parser)

    with pytest.raises(SystemExit):
        parser.parse_args(["--lies", "L7,L99"])
    assert "L99" in capsys.readouterr().err


def test_what_takes_an_hour_is_measured_only_where_it_is_named() -> None:
    assert "honest" not in chosen([])
    assert chosen(["honest", "keys"]) == ["keys", "honest"]
