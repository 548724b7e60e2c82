"""What is expected of a run: fio holds itself to a rate, and that is what is found."""

from __future__ import annotations

import json

import pytest

from tests.end_to_end.sandbox import CERTAIN, Console, Sandbox, sets

RATE, NEARLY = 100, 93
"""I/Os a second at which it is held, and what a busy machine reaches of them."""
UNDECIDED, OTHERS = 6, "by programs other than the benchmark"
_TIMES_MOST = 8
CAPPED = ["run", "write-iops", *sets(runtime=4, ramp_time=1, size="4M", numjobs=1, iodepth=4, rate_iops=RATE)]


def found(console: Console) -> dict[str, str]:
    """What became of each expectation."""
    return {event["expectation"]: event["word"] for event in console.events if event["event"] == "expectation"}


def run(sandbox: Sandbox, *words: str, code: int) -> Console:
    console = sandbox.start(*CAPPED, *words, env=sandbox.program("fio", CERTAIN))
    assert console.wait() == code, console.describe()
    return console


def test_what_is_reached_and_what_is_exceeded_is_kept(sandbox: Sandbox) -> None:
    wanted = [f"iops>={NEARLY}", f"write iops>={RATE // 2}", "p95<=30s", f"bandwidth>={NEARLY * 4096}B/s"]
    options = [word for text in wanted for word in ("--expect", text)]
    console = run(sandbox, "--json", "--session", "S", *options, code=0)
    assert list(found(console).values()) == ["PASS", "PASS", "PASS", "PASS"]
    rate = next(event for event in console.events if event.get("expectation") == wanted[0])
    assert rate["measured"] == pytest.approx(console.runs[0]["summary"]["write"]["iops"])
    assert rate["measured"] == pytest.approx(RATE, rel=0.07)
    assert rate["seconds_reached"] == rate["seconds"] >= 3
    kept = json.loads((sandbox.session("S") / "studies.jsonl").read_text())
    assert kept["cells"][0]["expect"] == wanted


def run_undisturbed(sandbox: Sandbox, *words: str, code: int) -> Console:
    """Where other programs took the CPU, a run decides nothing that it does not reach, and says so: then again."""
    for _ in range(_TIMES_MOST):
        console = sandbox.start(*CAPPED, *words, env=sandbox.program("fio", CERTAIN))
        if console.wait() != UNDECIDED or OTHERS not in console.stdout:
            break
    assert console.wait() == code, console.describe()
    return console


def test_what_is_not_reached(sandbox: Sandbox) -> None:
    console = run_undisturbed(sandbox, "--expect", f"iops>={2 * RATE}", "--expect", f"iops>={NEARLY}", code=5)
    lines = console.stdout.splitlines()[-2:]
    assert lines[0].startswith("FAIL write-iops: ")
    assert f"{2 * RATE} IOPS, 0.0 %" in lines[0]
    assert lines[1].startswith("PASS write-iops: ")


def test_what_a_run_does_not_do_is_undecided(sandbox: Sandbox) -> None:
    console = run(sandbox, "--json", "--expect", "read iops>=10", code=6)
    assert found(console) == {"read iops>=10": "INVALID"}
    (why,) = [each["why"] for each in console.events[-1]["left_out"]]
    assert "read IOPS" in why
