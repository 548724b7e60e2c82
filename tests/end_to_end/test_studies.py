"""Studies of all kinds in one session, each killed in the middle, with others begun since: every one is resumed."""

from __future__ import annotations

import json
import signal
from collections import Counter

import pytest

from tests.end_to_end.conftest import NewSandbox
from tests.end_to_end.sandbox import ENDLESS, Event, Sandbox, light

SECOND_IS_LONG = f"""
case " $* " in *" --name=fill "* | *" --version "*) exec "$FIO" "$@";; esac
echo x >> runs
[ -e resumed ] || [ $(( $(wc -l < runs) % 2 )) -ne 0 ] || set -- "$@" --runtime={ENDLESS}
exec "$FIO" "$@"
"""
"""So that each is in the middle when it is killed."""
CHANGE, UNDO = "echo change >> log", "echo undo >> log"
STARTS: dict[str, list[str]] = {
    "runs": ["run", "write-iops", "read-iops", "--repeat", "2", "--order", "abba"],
    "stable": ["run", "write-iops", "--until-stable", "100"],
    "sweep": ["run", "write-iops", "--sweep-depth", "auto"],
    "bounded": ["run", "write-iops", "--within", "latency=1us"],
    "check": ["check", "--preset", "write-iops", "--runs", "2", "--change", CHANGE, "--undo", UNDO],
}
CODES = {"bounded": 5, "check": 6}
"""Of those that do not end with 0: even depth 1 is above, and two runs a side are no verdict."""


@pytest.fixture(scope="module")
def many(new_sandbox: NewSandbox) -> Sandbox:
    """All of them killed, then resumed, the last first."""
    sandbox = new_sandbox()
    fio = sandbox.program("fio", SECOND_IS_LONG.replace("runs", str(sandbox.root / "runs"), 2).replace(
        "-e resumed", f"-e {sandbox.root}/resumed"))  # fmt: skip
    for number, words in enumerate(STARTS.values()):
        console = sandbox.start(*words, *light(1), "--json", "--session", "many", env=fio)
        console.wait_for(lambda c=console, n=2 * number + 2: c.samples(run=n), 90, "its second run")  # type: ignore[misc]
        console.process.send_signal(signal.SIGKILL)
        console.wait()
        sandbox.wait_gone()
    (sandbox.root / "resumed").touch()
    for number, (kind, words) in reversed([*enumerate(STARTS.items(), 1)]):
        again = ["check", "--continue"] if kind == "check" else ["run", "--resume"]
        commands = words[-4:] if kind == "check" else []
        console = sandbox.start(*again, "many", f"s{number}", *commands, "--json", env=fio)
        assert console.wait(180) == CODES.get(kind, 0), console.describe()
    return sandbox


def test_nothing_is_twice_and_nothing_is_missing(many: Sandbox) -> None:
    runs = [json.loads(path.read_text()) for path in sorted(many.session("many").glob("*/run.json"))]
    good = Counter((run["batch"], run["step"]) for run in runs if run["outcome"] == "ok")
    assert max(good.values()) == 1
    assert [run["outcome"] for run in runs if run["outcome"] != "ok"] == ["lost"] * 5
    per_batch = Counter(batch for batch, _ in good)
    (swept,) = (Counter(per_batch.values()) - Counter([2, 2, 5, 4, 2, 2])).elements()
    assert swept >= 4  # how far a sweep climbs is up to its figures


def test_all_are_listed_as_finished(many: Sandbox) -> None:
    rows: list[Event] = many.run("studies", "many", "--json").events
    assert [(row["study"], row["kind"], row["finished"]) for row in rows] == [
        (f"s{number}", kind, True) for number, kind in enumerate(STARTS, 1)
    ]
    nothing = many.run("run", "--resume", "many")
    assert nothing.process.returncode == 0
    assert nothing.stdout == ""


def test_a_study_names_no_command(many: Sandbox) -> None:
    assert "echo" not in (many.session("many") / "studies.jsonl").read_text()
