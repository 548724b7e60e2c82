"""Why it is slow, from the command line: four short runs, the answer, and the same of a saved session."""

from __future__ import annotations

import json

import pytest

from tests.end_to_end.conftest import NewSandbox
from tests.end_to_end.sandbox import Console, sets

SHORT = sets(size="4M", runtime=1, ramp_time=0)


@pytest.fixture(scope="module")
def asked(new_sandbox: NewSandbox) -> Console:
    """On a file of this machine, to its end."""
    sandbox = new_sandbox()
    return sandbox.run("why", "--target", f"file:{sandbox.root}/file", *SHORT, "--session", "W", seconds=120)


def test_four_runs_are_measured_and_explained(asked: Console) -> None:
    assert asked.process.returncode == 0, asked.describe()
    text = asked.stdout
    assert "Not covered\n" in text
    for line in ("4k write, one at a time: ", "4k read, one at a time: ", "4k write with 16 in flight: "):
        assert any(line in said for said in asked.complaints), "each step says what it has shown"
        assert line in text
    assert not (asked.sandbox.root / "file").exists()


def test_a_saved_session_says_the_same_again(asked: Console) -> None:
    again = asked.sandbox.run("why", "W")
    assert again.process.returncode == 0, again.describe()
    assert again.stdout.splitlines()[0] == asked.stdout.splitlines()[1]
    lines = [json.loads(line) for line in asked.sandbox.run("why", "W", "--json").stdout.splitlines()]
    assert [line["event"] for line in lines][:1] == ["diagnosis"]
    assert lines[0]["runs"] == [f"W/{number}" for number in range(1, 5)]
    assert lines[0]["causes"] == [line["code"] for line in lines[1:]]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "give --target rbd:POOL"),
        (["W", "--target", "rbd:x"], "--target is for a new measurement: W is measured already"),
        (["nothing"], "no session"),
    ],
)
def test_what_does_not_go_together_is_said(asked: Console, words: list[str], says: str) -> None:
    refused = asked.sandbox.run("why", *words)
    assert refused.process.returncode == 2, refused.describe()
    assert says in " ".join(refused.complaints)
