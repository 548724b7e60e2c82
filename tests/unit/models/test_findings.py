"""A finding is a row of one table: with its level, the figures that it limits, its words and what helps."""

from __future__ import annotations

import ast
import json
import re

import pytest
from click.testing import CliRunner

from cephtui.cli.verbs import cli
from cephtui.models import Finding, Run
from cephtui.models.findings import KINDS, limiting
from cephtui.models.findings.cluster import FLAG
from cephtui.models.findings.examples import example_findings
from cephtui.models.findings.kind import LATENCIES
from cephtui.models.findings.measurement import IN_FLIGHT, SHORT, STALLED
from cephtui.models.metrics import METRICS
from cephtui.reports.words.quality import effect_of, finding_line, limited_figures, outcome_word, quality_of
from tests import PACKAGE
from tests.support.golden import Golden
from tests.support.runs import run

LEVELS = {
    "note": {
        *("autoscale", "busy-osd", "classes-mixed", "clock", "compressible", "console", "depth", "few-osds", "flag"),
        *("health-other", "krbd"),
        *(
            "low-limits",
            "monitors",
            "mtu",
            "network-unknown",
            "one-stream",
            "one-thread",
            "osd-counters",
            "osd-pings",
            "osds",
            "partly-saved",
        ),
        *(
            "portion",
            "ramp",
            "random-data",
            "debug-levels",
            "rate-set",
            "raw-cut",
            "residue",
            "round-trip",
            "slow-job",
            "space",
        ),
        *("debug-levels", "unkillable", "unsaved", "working-set", "zeros"),
    },
    "limits": {
        *(
            "above-ceiling",
            "bluestore-throttle",
            "cache-device",
            "caches",
            "client-cpu",
            "clock-step",
            "cluster-silent",
            "coarse",
        ),
        *("collapse", "compressed", "cpu-quota", "cpu-taken", "deviation", "dip", "disordered", "errors"),
        *("errors-counted", "failed-ops", "file-system-cache", "first-byte", "health-speed", "in-flight"),
        *(
            "kernel-errors",
            "left-changed",
            "mclock-capacity",
            "memory-wanted",
            "message-cap",
            "nic-drops",
            "nic-errors",
        ),
        "no-seconds",
        *("node-ended", "not-settled", "osd-down", "osd-out", "other-clients", "overrun", "pgs", "pgs-inactive"),
        *(
            "pgs-split",
            "qos-limit",
            "rate-limited",
            "recovery",
            "retransmits",
            "slow-commits",
            "saw",
            "scrub",
            "short",
            "slow-link",
            "slow-node",
        ),
        *("qos-limit", "slow-ops"),
        *("slow-osd", "snaptrim", "stalled", "steal", "stuck", "throttled", "unreadable", "unverified"),
    },
    "invalidates": {
        *("holes", "incomplete", "librbd-cache", "memory", "page-cache", "pgs-mostly-inactive", "thin"),
        "zeros-compressed",
    },
}
PARTS = {
    "coarse": "latency",
    "first-byte": "latency",
    "in-flight": "iops",
    "no-seconds": "seconds",
}
"""Those that do not limit all figures."""


def test_each_code_has_its_level() -> None:
    assert {level: {kind.code for kind in KINDS.values() if kind.level == level} for level in LEVELS} == LEVELS


def test_only_these_limit_a_part_of_the_figures() -> None:
    parts = {code: kind.figures for code, kind in KINDS.items() if kind.figures is not None}
    assert parts.keys() == PARTS.keys()
    for code, figures in parts.items():
        assert all(PARTS[code] in figure for figure in figures)


@pytest.mark.parametrize("code", KINDS)
def test_each_kind_says_what_it_is_why_it_matters_and_what_helps(code: str) -> None:
    kind = KINDS[code]
    assert kind.code == code
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", code)
    assert kind.title
    assert len(kind.title.split()) <= 4
    assert kind.why.endswith(".")
    assert kind.cure
    assert not kind.cure.endswith(".")
    assert not kind.source or kind.source.startswith("https://")
    assert set(kind.figures or ()) <= {*(metric.name for metric in METRICS), *_RARE, "seconds"}


_RARE = {f"latency_{part}_seconds" for part in ("p90", "p995", "p9995", "p9999")}


@pytest.mark.parametrize("code", KINDS)
def test_each_form_of_the_words_is_a_line_from_values_alone(code: str) -> None:
    for finding in example_findings(code):
        assert finding.text
        assert finding.text == finding.text.strip()
        assert not re.search(r"[{}]|\bNone\b|  ", finding.text)
        span = (finding.from_seconds or 0.0, finding.to_seconds or 0.0) if finding.from_seconds is not None else None
        assert KINDS[code].found(span, **finding.values) == finding
        assert Finding.model_validate_json(finding.model_dump_json()) == finding


def test_findings_are_made_by_their_kinds_alone() -> None:
    """A code as a string, and a text of its own, is what no table knows."""
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        made = [
            node.lineno
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Finding"
        ]
        assert not made or path.name == "kind.py", f"{path}:{made}"


def test_no_code_stands_anywhere_but_in_the_table() -> None:
    codes = {code for code in KINDS if "-" in code}
    for path in PACKAGE.rglob("*.py"):
        if path.is_relative_to(PACKAGE / "models"):
            continue
        found = {
            node.value
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
            if isinstance(node, ast.Constant) and node.value in codes
        }
        assert not found, f"{path}: {found}"


def test_a_note_marks_nothing() -> None:
    noted = run(1, findings=[finding for code in LEVELS["note"] for finding in example_findings(code)])
    assert noted.validity == "VALID"
    assert outcome_word(noted) == "ok"
    assert all(limiting([finding.code for finding in noted.findings], metric.name) == () for metric in METRICS)


def test_validity_follows_from_the_outcome_and_the_levels() -> None:
    short, thin = SHORT.found(measured_seconds=3.0), example_findings("thin")[0]
    assert run(1).validity == "VALID"
    assert run(1, findings=[short]).validity == "SUSPECT"
    assert run(1, findings=[short, thin]).validity == "INVALID"
    assert run(1, outcome="failed").validity == "INVALID"
    assert run(1, outcome=None).validity is None


def test_validity_is_computed_when_a_run_is_read() -> None:
    saved = run(1, findings=(SHORT.found(measured_seconds=3.0),)).model_dump(mode="json")
    assert saved["validity"] == "SUSPECT"
    assert Run.model_validate({**saved, "validity": "INVALID"}).validity == "SUSPECT"


def test_an_unknown_code_limits_all_figures() -> None:
    """A later version may have found more than this one knows."""
    assert run(1, findings=[Finding(code="from-later", text="something")]).validity == "SUSPECT"
    assert limiting(["from-later"], "latency_p99_seconds") == ("from-later",)
    assert finding_line(Finding(code="from-later", text="something")) == "questionable (counted): something"


def test_a_finding_limits_its_figures_alone() -> None:
    assert limiting(["in-flight", "coarse", "krbd"], "iops") == ("in-flight",)
    assert limiting(["in-flight", "coarse", "krbd"], "latency_p99_seconds") == ("coarse",)
    assert limiting(["in-flight", "coarse", "krbd"], "bandwidth_bytes") == ()


def test_the_figures_that_are_limited_are_named() -> None:
    assert limited_figures("limits", None) == "all figures"
    assert limited_figures("limits", ("iops", "bandwidth_bytes")) == "IOPS, bandwidth"
    assert limited_figures("limits", (*LATENCIES, "seconds")) == "latency, the sums by second"
    assert limited_figures("note", ("iops",)) == ""


def test_the_words_say_what_a_finding_means_and_what_helps() -> None:
    assert effect_of(IN_FLIGHT.found(missing_ios=64, ios=1500)) == "IOPS questionable"
    assert effect_of(SHORT.found(measured_seconds=3.0)) == "questionable (counted)"
    assert effect_of(example_findings("thin")[0]) == "not counted"
    assert effect_of(example_findings("krbd")[0]) == "note"
    short = SHORT.found(measured_seconds=3.0)
    assert finding_line(short, " (in 1 of 2 runs: #4)").endswith(f" (in 1 of 2 runs: #4); what helps: {short.cure}")


def test_what_helps_against_a_short_run_is_what_ends_it(golden: Golden) -> None:
    """dd has no time that it runs for, and no objects."""
    cures = [finding.cure for finding in example_findings("short")]
    assert len(set(cures)) == len(cures) == 3
    golden.same(cures)


@pytest.mark.parametrize(
    ("code", "cure"),
    [
        ("osd-down", "measure again with all OSDs up and in"),
        ("recovery", "wait until recovery is complete"),
        ("from-later", KINDS["stalled"].cure),
        (None, KINDS["stalled"].cure),
    ],
)
def test_what_helps_is_to_remove_the_cause(code: str | None, cure: str) -> None:
    """Sessions of an earlier cephtui have causes without a code."""
    assert STALLED.found((16.0, 20.0), seconds=4.0, cause="so", cause_code=code).cure == cure


def test_the_quality_of_several_runs_is_that_of_the_worst(golden: Golden) -> None:
    good, short = run(1), run(2, findings=[SHORT.found(measured_seconds=3.0)])
    assert quality_of([good]) == "valid"
    assert quality_of([short]) == "questionable (counted)"
    golden.same(quality_of([good, short, good]))
    golden.same(quality_of([good, short, run(3, outcome="lost")]))


def test_how_long_an_operation_may_take_is_named_as_a_default() -> None:
    assert "osd_op_complaint_time (30 s by default)" in KINDS["slow-ops"].why


def test_what_an_osd_that_is_down_had_is_recovered_once_it_is_out() -> None:
    """Of one that is out, but up, no copy is lacking."""
    down, out = KINDS["osd-down"].why, KINDS["osd-out"].why
    assert "mon_osd_down_out_interval (600 s by default; never with noout)" in down
    assert "move to the other OSDs" in out
    assert "recovered" not in out


@pytest.mark.parametrize(
    ("code", "flags"), [("scrub", ["noscrub", "nodeep-scrub"]), ("snaptrim", ["nosnaptrim"]), ("recovery", [])]
)
def test_a_flag_that_is_to_be_set_for_runs_is_not_to_be_cleared_for_them(code: str, flags: list[str]) -> None:
    assert [flag for flag in ("noscrub", "nodeep-scrub", "nosnaptrim") if f"{flag} " in KINDS[code].cure] == flags
    pause = FLAG.found((16.0, 20.0), flag="pauserd").cure
    for flag in flags:
        cure = FLAG.found((16.0, 20.0), flag=flag).cure
        assert f"both sides with {flag} set" in cure
        assert cure != pause


def test_what_helps_against_a_flag_is_said_of_that_flag(golden: Golden) -> None:
    golden.same(FLAG.found((16.0, 20.0), flag=flag).cure for flag in ("noscrub", "noout"))
    several = FLAG.found((16.0, 20.0), flag="noscrub", things=("noscrub set", "pauserd set"), number=5)
    assert several.cure == FLAG.cure


def test_the_time_to_the_first_byte_limits_the_latency_of_reads_alone() -> None:
    p99 = "latency_p99_seconds"
    assert limiting(["first-byte"], p99) == limiting(["first-byte"], p99, "read") == ("first-byte",)
    assert limiting(["first-byte"], p99, "write") == limiting(["first-byte"], "bandwidth_bytes", "read") == ()
    assert limiting(["coarse"], p99, "write") == ("coarse",)


def test_the_values_of_a_finding_are_in_base_units(golden: Golden) -> None:
    stalled = STALLED.found((16.0, 20.0), seconds=4.0, everywhere=True, cause=None)
    assert stalled.values == {"seconds": 4.0, "everywhere": True}
    assert (stalled.from_seconds, stalled.to_seconds) == (16.0, 20.0)
    golden.same(stalled.label)


def test_explain_lists_all_and_has_each_in_full() -> None:
    listed = CliRunner().invoke(cli, ["explain", "--json"])
    rows = [json.loads(line) for line in listed.stdout.splitlines()]
    assert [row["code"] for row in rows] == list(KINDS)
    shown = CliRunner().invoke(cli, ["explain", "thin"])
    assert shown.exit_code == 0
    text = " ".join(shown.stdout.split())
    assert KINDS["thin"].why in text
    assert KINDS["thin"].cure in text
    assert KINDS["thin"].source in text
    table = CliRunner().invoke(cli, ["explain"]).stdout
    assert all(code in table for code in KINDS)


def test_explain_names_what_is_near_to_an_unknown_code() -> None:
    wrong = CliRunner().invoke(cli, ["explain", "inflight"])
    assert wrong.exit_code == 2
    assert "did you mean in-flight?" in wrong.stderr
