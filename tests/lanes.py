"""All tests, and the check of the types, in the least time: lanes side by side.

    python -m tests.lanes [PYTEST OPTION]...

Each lane is a process of its own. What it says goes to ``build/tests/LANE.log``, and to the terminal if it fails.
Nothing runs, at the end, beside the tests marked ``timing``, which assert how long something takes.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

LAB, PROCESSES = ("tests/on_lab",), ("tests/end_to_end", "tests/on_terminal", "tests/on_browser")
UNITS = tuple(f"--ignore={folder}" for folder in (*LAB, *PROCESSES))
TIMED = tuple(str(path) for path in Path("tests").rglob("test_*.py") if "pytest.mark.timing" in path.read_text())
LAST = "timing"
PYTEST = ("pytest", "--durations=25")
LANES = {
    "types": ("mypy",),
    "lab": (*PYTEST, "-m", "not timing", *LAB, "-v", "-n", "3", "--dist", "loadscope", "--no-loadscope-reorder"),
    "processes": (*PYTEST, "-m", "not timing", *PROCESSES, "-n", "2", "--dist", "loadfile"),
    "units": (*PYTEST, "-m", "not timing", "tests", *UNITS, "-n", "2", "--dist", "worksteal"),
    LAST: (*PYTEST, "-m", "timing", *TIMED),
}
PRIORITIES = {"lab": -5, "processes": 0, LAST: 0}
"""As nice(1) has them, of lanes that wait for other processes; who may not have the first one runs as the others do."""
LOGS = Path("build") / "tests"
_PROGRESS_EVERY_SECONDS = 30.0
_SHOWN_CHARACTERS = 4000
_NO_TESTS = 5
"""pytest's exit status where all tests were deselected."""


@dataclass(frozen=True, slots=True)
class Lane:
    """A process that runs."""

    name: str
    process: subprocess.Popen[bytes]
    began: float

    @property
    def log(self) -> Path:
        """What it says."""
        return LOGS / f"{self.name}.log"

    @property
    def percent(self) -> str:
        """How far it is, in pytest's own words."""
        found = re.findall(r"\[ *(\d+%)\]", self.log.read_text(errors="replace"))
        return found[-1] if found else "begins"


def start(name: str, options: Sequence[str]) -> Lane:
    """Start a lane."""
    program, *words = LANES[name]
    command = [*_priority(name), sys.executable, "-m", program, *words, *(options if program == "pytest" else ())]
    LOGS.mkdir(parents=True, exist_ok=True)
    with (LOGS / f"{name}.log").open("wb") as log:
        # A group of its own: Ctrl+C comes from here, and once, so that what was started is ended in order.
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=_environment(), process_group=0)
    return Lane(name, process, time.monotonic())


def _priority(name: str) -> Sequence[str]:
    """A Ceph that gets no time calls its own OSDs down, and who waits for a process waits only so long."""
    return ("nice", "-n", str(PRIORITIES.get(name, 10)))


def _environment() -> dict[str, str]:
    """This one, but that Python keeps what it has compiled: many processes import the same."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def run(names: Sequence[str], options: Sequence[str]) -> int:
    """Run lanes side by side, saying how far they are; gives how many have failed."""
    running, failed, shown = [start(name, options) for name in names], 0, time.monotonic()
    try:
        while running:
            time.sleep(0.5)
            for lane in [each for each in running if each.process.poll() is not None]:
                running.remove(lane)
                failed += _has_failed(lane)
            if running and time.monotonic() - shown > _PROGRESS_EVERY_SECONDS:
                shown = time.monotonic()
                print("  ".join(f"{lane.name} {lane.percent}" for lane in running), flush=True)
    except KeyboardInterrupt:
        for lane in running:
            lane.process.send_signal(signal.SIGINT)
            print(f"--- {lane.name}\n{lane.log.read_text(errors='replace')[-_SHOWN_CHARACTERS:]}", flush=True)
        for lane in running:
            lane.process.wait()
        raise
    return failed


def _has_failed(lane: Lane) -> bool:
    is_bad = lane.process.returncode not in (0, _NO_TESTS)
    text = lane.log.read_text(errors="replace").rstrip()
    shown = text if is_bad else "\n".join(_summary(text))
    print(f"--- {lane.name}, {(time.monotonic() - lane.began) / 60:.1f} min\n{shown}", flush=True)
    return is_bad


def _summary(text: str) -> list[str]:
    """The slowest tests and the last line."""
    lines = text.splitlines()
    begins = next((n for n, line in enumerate(lines) if "slowest" in line and "durations" in line), len(lines) - 1)
    return lines[begins:]


def main(options: Sequence[str]) -> int:
    """Run all lanes, or just what the options name; gives the exit status."""
    if any(Path(option.partition("::")[0]).exists() for option in options):
        return subprocess.call([sys.executable, "-m", "pytest", *options])
    # Ended from outside, it says which tests were waited for; and what is started does not inherit that INT is ignored.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    began = time.monotonic()
    try:
        failed = run([name for name in LANES if name != LAST], options) + run([LAST], options)
    except KeyboardInterrupt:
        return 130
    print(f"{'FAILED' if failed else 'passed'} after {(time.monotonic() - began) / 60:.1f} min", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
