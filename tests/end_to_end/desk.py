"""A console with fio at a fixed rate, for checks whose answer is certain.

A change that slows down is a file: while it exists, the fio of these tests keeps to a lower rate.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import cephtui
from cephtui.models import Mark
from cephtui.sessions.changes import Ran
from cephtui.sessions.writer import append_lines
from tests.end_to_end.sandbox import CERTAIN, ENDLESS, Console, Event, Sandbox, sets

RATE, SLOWER = 100, 40
END_SECONDS = 120.0
PRESET = "write-iops"
FIO = f"""
case " $* " in *" --name={PRESET} "*) ;; *) exec "$FIO" "$@";; esac
echo run >> log
if [ -e slow ]; then set -- "$@" --rate_iops={SLOWER}; fi
if [ -e slow ] && [ -e hold ]; then set -- "$@" --runtime={ENDLESS}; fi
{CERTAIN}
"""
"""With the file ``hold`` a run after the change goes on until it is stopped."""
CHANGE, UNDO = "echo change >> log; touch slow", "echo undo >> log; rm slow"
THERE_AND_BACK = ["--change", CHANGE, "--undo", UNDO]
OWN_TREE = str(Path(cephtui.__file__).parent.parent)


def steady(rate: int = RATE) -> list[str]:
    """``--set`` for a short run with this rate."""
    return sets(runtime=2, ramp_time=0, size="1M", numjobs=1, iodepth=4, rate_iops=rate)


class Desk:
    """A sandbox in whose own folder the changes are made."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox, self.root = sandbox, sandbox.root
        self.slow, self.hold = self.root / "slow", self.root / "hold"
        self.env = sandbox.program("fio", f"cd {self.root}{FIO}")
        self.target = f"file:{sandbox.files}/target"

    def start(self, *words: str) -> Console:
        return self.sandbox.start(*words, env=self.env)

    def run(self, *words: str, code: int, seconds: float = END_SECONDS) -> Console:
        """To its end, which has to be with this exit code."""
        console = self.start(*words)
        assert console.wait(seconds) == code, console.describe()
        return console

    def measure(self, session: str, runs: int = 3, rate: int = RATE) -> None:
        words = ["--repeat", str(runs), "--target", self.target, "--session", session]
        self.run("run", PRESET, *steady(rate), *words, code=0)

    def guided(self, session: str = "C", runs: int | None = 3) -> list[str]:
        """A check that measures."""
        number = ["--runs", str(runs)] if runs else []
        return ["check", "--preset", PRESET, *steady(), "--target", self.target, *number, "--session", session]

    def mark(self, session: str, text: str) -> None:
        """As the console keeps one between two runs."""
        append_lines(self.sandbox.session(session) / "marks.jsonl", [Mark(at=datetime.now(UTC), text=text)])

    def kept(self, session: str, name: str = "verdicts.jsonl") -> list[Event]:
        path = self.sandbox.session(session) / name
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    @property
    def log(self) -> list[str]:
        """What the changes and fio have written down, in order."""
        path = self.root / "log"
        return path.read_text().split() if path.exists() else []

    def outcomes(self, session: str = "C") -> list[str]:
        paths = sorted(self.sandbox.session(session).glob("*/run.json"))
        return [json.loads(path.read_text())["outcome"] for path in paths]

    def left(self, undo: str, session: str = "C") -> None:
        """A session as a killed check leaves it, with its change in place."""
        folder, at = self.sandbox.data / "sessions" / session, datetime.now(UTC).isoformat()
        folder.mkdir(parents=True)
        append_lines(folder / "changes.jsonl", [Ran(at=datetime.now(UTC), kind="change", command="x", undo=undo)])
        (folder / "session.json").write_text(
            json.dumps({"session": session, "created_at": at, "cephtui_version": "0", "schema_version": 1})
        )

    def in_time(self, seconds: int, *words: str) -> Console:
        """Started with so short a time limit for changes and undos."""
        limit = f"from cephtui.running import command\ncommand.TIME_LIMIT_SECONDS = {seconds}\n"
        return self.sandbox.start(*words, env={**self.env, **self.before(limit)})

    def before(self, code: str) -> dict[str, str]:
        """The environment of a cephtui that runs this code first."""
        folder = self.root / "site"
        folder.mkdir(exist_ok=True)
        (folder / "sitecustomize.py").write_text(code)
        return {"PYTHONPATH": f"{folder}:{OWN_TREE}", "PYTHONDONTWRITEBYTECODE": "1"}

    def wait_in_after(self, console: Console) -> None:
        """Until it measures after the change."""

        def is_measuring() -> bool:
            runs = sorted(self.sandbox.session("C").glob("*/samples.jsonl")) if self.slow.exists() else []
            return self.log[-1:] == ["run"] and len(runs) > 1 and runs[-1].read_bytes().count(b"\n") > 2

        console.wait_for(is_measuring, END_SECONDS, "samples after the change")


def word_of(console: Console) -> str:
    """The word of the first verdict, which decides."""
    return str(next(event["word"] for event in console.events if event["event"] == "verdict"))


def conclusion(console: Console) -> Event:
    """Of ``--json``: all that is printed after the runs are verdicts, those that decide first, then this."""
    events = console.events
    last = events.pop()
    assert last["event"] == "conclusion"
    verdicts = [event for event in events if event["event"] == "verdict"]
    assert events[len(events) - len(verdicts) :] == verdicts
    decides = [verdict["decides"] for verdict in verdicts]
    assert decides == sorted(decides, reverse=True)
    assert decides[0]
    assert last["exit_code"] == console.process.returncode
    return last
