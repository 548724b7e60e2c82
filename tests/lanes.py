"""All tests, and the check of the types, in the least time: lanes side by side.

    python -m tests.lanes [--all [--soak-minutes N]] [--load N] [PYTEST OPTION]...

Each lane is a process of its own. What it says goes to ``build/tests/LANE.log``, and to the terminal if it fails.
Nothing runs, at the end, beside the tests marked ``timing``, which assert how long something takes. With ``--all``
those of the lab run again before, on the Ceph and the fio of other releases of Debian.

A test that fails is run again, alone, three times. If it passes each time it is flaky: that is said, and kept in
``build/flaky.jsonl``, and fails nothing; more than a few of them do.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.lab import releases
from tests.lab.releases import RELEASES
from tests.support import flaky, outcomes
from tests.support.costs import Group, Meter, cpu_seconds_of
from tests.support.outcomes import Outcome

LAB, UNITS = ("tests/on_lab",), ("tests/unit",)
PROCESSES = ("tests/end_to_end", "tests/on_terminal", "tests/on_browser")
TIMED = tuple(str(path) for path in Path("tests").rglob("test_*.py") if "pytest.mark.timing" in path.read_text())
AGAIN = ("pytest", "-c", "pyproject.toml", "-p", "tests.support.outcomes")
"""The file names what ids of tests are relative to, wherever they are."""
PYTEST = (*AGAIN, "--durations=25")
LANES = {
    "types": ("mypy",),
    "lab": (*PYTEST, *LAB, "-v", "-n", "2", "--dist", "loadscope", "--no-loadscope-reorder"),
    "processes": (*PYTEST, *PROCESSES, "-n", "2", "--dist", "loadfile"),
    "units": (*PYTEST, *UNITS, "-n", "2", "--dist", "worksteal"),
}
LAST = {"timing": (*PYTEST, *TIMED)}
"""With nothing beside it."""
CHOSEN = "chosen"
"""The lane of tests that are named."""
RELEASED = {f"lab-{release}": ("--release", release) for release in RELEASES}
"""The lab's tests again, one after the other: options of the lanes that have the programs of a release."""
PRIORITIES = {"lab": -5, **dict.fromkeys(RELEASED, -5), "soak": -5, "types": 10, "units": 10}
"""As nice(1) has them: the first wait for other processes; who may not have theirs runs as the rest does, with 0.

The last wait for nothing. They come after all others until the first have ended, and from then on after none.
"""
IN_MEMORY = ("units",)
"""Lanes whose temporary files need no disk, which may take milliseconds to free each of tens of thousands."""
MEMORY, MEMORY_BYTES = Path("/dev/shm"), 2 << 30
"""Where these are, if that has so much room."""
LOGS = Path("build") / "tests"
_PROGRESS_EVERY_SECONDS = 30.0
_SHOWN_CHARACTERS = 4000
_SLOWEST = 10
_NO_TESTS = 5
"""pytest's exit status where all tests were deselected."""
_LEFT_SECONDS, _SHOWN_COMMAND = 30.0, 200
_BUSY = "while True: pass"


@dataclass(frozen=True, slots=True)
class Lane:
    """A process that runs."""

    name: str
    process: subprocess.Popen[bytes]
    began: float
    group: Group | None
    folder: Path | None
    """Of its temporary files, if that is not where others are."""

    @property
    def log(self) -> Path:
        """What it says."""
        return LOGS / f"{self.name}.log"

    @property
    def text(self) -> str:
        """All that it has said."""
        return self.log.read_text(errors="replace").rstrip()

    @property
    def percent(self) -> str:
        """How far it is, in pytest's own words."""
        percents = re.findall(r"\[ *(\d+%)\]", self.text)
        return percents[-1] if percents else "begins"


@dataclass(frozen=True, slots=True)
class Ended:
    """A lane that has ended."""

    name: str
    status: int
    text: str
    """All that it has said."""
    outcome: Outcome
    seconds: float
    cpu_seconds: float | None
    """None where it can't be counted."""
    left: tuple[str, ...]
    """What still ran then."""

    @property
    def passed(self) -> bool:
        """Whether all that it was to do was done, and nothing failed."""
        return self.status in (0, _NO_TESTS) and not self.outcome.failures and not self.left

    @property
    def is_broken(self) -> bool:
        """Whether it failed in a way that no other try can mend."""
        return bool(self.outcome.internal or self.left) or not (self.passed or self.outcome.failures)


def start(name: str, words: Sequence[str]) -> Lane:
    """Start a lane."""
    LOGS.mkdir(parents=True, exist_ok=True)
    records = _records(name)
    records.unlink(missing_ok=True)
    folder = Path(tempfile.mkdtemp(dir=MEMORY, prefix="t")) if name in IN_MEMORY and _has_memory() else None
    command = ["nice", "-n", str(PRIORITIES.get(name, 0)), sys.executable, "-m", *words]
    group = Group.make(name)
    with (LOGS / f"{name}.log").open("wb") as log:
        # A process group of its own: Ctrl+C comes from here, and once, so that what was started is ended in order.
        process = subprocess.Popen(
            group.command(command) if group else command,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={
                **_environment(),
                **({"TMPDIR": str(folder)} if folder else {}),
                outcomes.VARIABLE: str(records.resolve()),
            },
            process_group=0,
        )
    return Lane(name, process, time.monotonic(), group, folder)


def _has_memory() -> bool:
    return MEMORY.is_dir() and shutil.disk_usage(MEMORY).free >= MEMORY_BYTES


def _records(name: str) -> Path:
    return LOGS / f"{name}.jsonl"


def _environment() -> dict[str, str]:
    """This one, but that Python keeps what it has compiled: many processes import the same."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def end(lane: Lane) -> Ended:
    """What a lane came to that has ended."""
    cpu, left = None, tuple[str, ...]()
    if lane.group:
        left = tuple(_left(lane.group))
        cpu = lane.group.cpu_seconds()
        lane.group.remove()
    if lane.folder:
        shutil.rmtree(lane.folder, ignore_errors=True)
    seconds = time.monotonic() - lane.began
    return Ended(lane.name, lane.process.returncode, lane.text, outcomes.read(_records(lane.name)), seconds, cpu, left)


def _left(group: Group) -> list[str]:
    """What still runs in a group a while after its lane has ended."""
    until = time.monotonic() + _LEFT_SECONDS
    while (processes := group.processes()) and time.monotonic() < until:
        time.sleep(0.5)
    return [f"{pid}: {command[:_SHOWN_COMMAND]}" for pid, command in processes.items()]


def run(lanes: Mapping[str, Sequence[str]], *, quietly: bool = False) -> list[Ended]:
    """Run lanes side by side, saying how far they are and what they came to."""
    running, ended, shown = [start(name, words) for name, words in lanes.items()], list[Ended](), time.monotonic()
    try:
        while running:
            time.sleep(0.5)
            for lane in [lane for lane in running if lane.process.poll() is not None]:
                running.remove(lane)
                ended.append(end(lane))
                _let_run(running)
                if not quietly:
                    _show(ended[-1])
            if running and not quietly and time.monotonic() - shown > _PROGRESS_EVERY_SECONDS:
                shown = time.monotonic()
                print("  ".join(f"{lane.name} {lane.percent}" for lane in running), flush=True)
    except KeyboardInterrupt:
        for lane in running:
            lane.process.send_signal(signal.SIGINT)
            print(f"--- {lane.name}\n{lane.text[-_SHOWN_CHARACTERS:]}", flush=True)
        for lane in running:
            lane.process.wait()
            end(lane)
        raise
    return ended


def _let_run(running: Sequence[Lane]) -> None:
    """Where none that waits for others is left, all go on as other processes of the machine do."""
    if not any(PRIORITIES.get(lane.name, 0) < 0 for lane in running):
        for lane in running:
            with contextlib.suppress(OSError):  # only root may, and it may have ended
                os.setpriority(os.PRIO_PGRP, lane.process.pid, 0)


def _show(ended: Ended) -> None:
    text = "\n".join(_summary(ended.text)) if ended.passed else ended.text
    left = [f"left running: {process}" for process in ended.left]
    print("\n".join([f"--- {ended.name}, {ended.seconds / 60:.1f} min", text, *left]), flush=True)


def _summary(text: str) -> list[str]:
    """The slowest tests and the last line."""
    lines = text.splitlines()
    begins = next((n for n, line in enumerate(lines) if "slowest" in line and "durations" in line), len(lines) - 1)
    return lines[begins:]


# ---------------------------------------------------------------------------------------------- what failed


def all_passed(ended: Sequence[Ended], lanes: Mapping[str, Sequence[str]]) -> bool:
    """Whether nothing failed but what is flaky; runs that again, and each lane that did not come to all its tests."""
    failures = list[outcomes.Failure]()
    while not any(lane.is_broken for lane in ended):
        new = [
            (failure, partial(run_again, options=RELEASED.get(lane.name, ())))
            for lane in ended
            for failure in lane.outcome.failures
        ]
        failures += [failure for failure, _ in new]
        if not flaky.are_few(failures) or not all(flaky.is_flaky(failure, again) for failure, again in new):
            return False
        incomplete = [lane.name for lane in ended if not lane.passed and not lane.outcome.is_complete]
        if not incomplete:
            return True
        ended = run({name: lanes[name] for name in incomplete})
    return False


def run_again(failure: outcomes.Failure, options: Sequence[str]) -> str:
    """What fails of this where it runs alone; empty if nothing does."""
    (again,) = run({"again": [*AGAIN, *options, *failure.tests]}, quietly=True)
    return "" if again.passed and again.status == 0 else again.text


# ---------------------------------------------------------------------------------------------- what it cost


def costs(ended: Sequence[Ended], minutes: float, cpu_seconds: float) -> str:
    """What each lane took, the whole, and the modules that took longest."""
    rows = [(lane.name, f"{lane.seconds / 60:.1f}", _minutes(lane.cpu_seconds)) for lane in ended]
    rows.append(("whole machine", f"{minutes:.1f}", _minutes(cpu_seconds)))
    modules = sorted((cost for lane in ended for cost in lane.outcome.costs), key=lambda cost: -cost.seconds)
    return "\n".join(
        [
            f"{'lane':50} {'min':>7} {'CPU min':>8}",
            *(f"{name:50} {wall:>7} {cpu:>8}" for name, wall, cpu in rows),
            f"{'slowest modules':50} {'s':>7} {'CPU s':>8}",
            *(f"{cost.module:50} {cost.seconds:7.1f} {cost.cpu_seconds:8.1f}" for cost in modules[:_SLOWEST]),
        ]
    )


def _minutes(seconds: float | None) -> str:
    return "unknown" if seconds is None else f"{seconds / 60:.1f}"


@contextlib.contextmanager
def kept_busy(cores: int) -> Iterator[Callable[[], float]]:
    """In the block so many cores do something else; gives the CPU seconds that this took so far."""
    loads = [subprocess.Popen([sys.executable, "-c", _BUSY]) for _ in range(cores)]
    try:
        yield lambda: sum(cpu_seconds_of(load.pid) for load in loads)
    finally:
        for load in loads:
            load.kill()
            load.wait()


def main(words: Sequence[str]) -> int:
    """Run all lanes, or just what the options name; gives the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.lanes", description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--all", action="store_true", help="also what takes long: tests marked matrix, other releases, the soak"
    )
    parser.add_argument("--soak-minutes", type=float, default=60.0, metavar="N", help="of the soak; default: 60")
    parser.add_argument(
        "--load", type=int, default=0, metavar="N", help="keep N cores busy, but not beside what runs alone"
    )
    chosen, options = parser.parse_known_args(words)
    # Ended from outside, it says which tests were waited for; and what is started does not inherit that INT is ignored.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    beside, last = _lanes(options, everything=chosen.all)
    in_turn = dict[str, Sequence[str]]()
    if chosen.all and CHOSEN not in beside:
        in_turn = {name: (*beside["lab"], *words) for name, words in RELEASED.items()}
        beside = {"soak": ("tests.soak", "--minutes", str(chosen.soak_minutes)), **beside}
    began, meter = time.monotonic(), Meter.start()
    try:
        with kept_busy(chosen.load) as busy_seconds:
            _show_versions(beside)
            ended = run(beside)
            for name, lane in in_turn.items():
                _show_versions({name: lane})
                ended += run({name: lane})
            busy = busy_seconds()
        ended += run(last)
        passed = all_passed(ended, beside | in_turn | last)
        minutes, cpu_seconds = (time.monotonic() - began) / 60, meter.cpu_seconds() - busy
    except KeyboardInterrupt:
        return 130
    print(costs(ended, minutes, cpu_seconds))
    print(f"{'passed' if passed else 'FAILED'} after {minutes:.1f} min", flush=True)
    return 0 if passed else 1


def _show_versions(lanes: Iterable[str]) -> None:
    """What Ceph and fio the lab of a lane has."""
    for name in lanes:
        if name in RELEASED:
            print(f"{name}: {releases.versions(releases.root_of(RELEASED[name][-1]))}", flush=True)
        elif name == "lab":
            print(f"{name}: {releases.versions()}", flush=True)


def _lanes(options: Sequence[str], *, everything: bool) -> tuple[dict[str, Sequence[str]], dict[str, Sequence[str]]]:
    """Those that run side by side, and then the last: with these options, or for the tests that they name."""
    if any(Path(option.partition("::")[0]).exists() for option in options):
        return {CHOSEN: (*PYTEST, *options)}, {}
    not_all = "" if everything else " and not matrix"
    beside: dict[str, Sequence[str]] = {
        name: (*words, "-m", f"not timing{not_all}", *options) if words[0] == "pytest" else words
        for name, words in LANES.items()
    }
    if everything:
        beside["units"] = (*beside["units"], "--hypothesis-profile", "thorough")  # of conftest.py
    return beside, {name: (*words, "-m", f"timing{not_all}", *options) for name, words in LAST.items()}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
