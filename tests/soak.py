"""An hour of use with faults at random: python -m tests.soak [--minutes 60] [--seed N].

On a lab of its own four consoles are used at once. Meanwhile consoles, sessions of sshd and tools are killed, links are
cut, OSDs stand still and servers are away for a while. At the end everything is as at the begin, or it is said what is
not.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import random
import secrets
import shutil
import signal
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.end_to_end.sandbox import Sandbox
from tests.lab import Lab, LabError
from tests.on_lab.conftest import temporary_lab
from tests.on_lab.others import peer_again
from tests.on_lab.runs import left_on, noted, processes_on
from tests.support.soak_users import LONGEST_SECONDS, SEATS, TERMINAL, Report, Seat, User
from tests.support.waiting import wait_for

LEAST_MINUTES, LONG_SECONDS = 2.0, 720.0
"""What is shorter than long is not asked for its memory, nor for a good run of everybody."""
SAMPLE_SECONDS, SAY_SECONDS, REST_SECONDS, WELL_SECONDS = 10.0, 30.0, 15.0, 120.0
FAULT_SECONDS, OUTAGE_SECONDS = (5.0, 20.0), (3.0, 15.0)
MOST_GROWTH, RUN_MIB, SLACK = 1.05, 0.2, {"fds": 8, "threads": 6}
"""Of each run a console keeps the figures, with their histograms, and a row. A connection more takes three
descriptors; threads of a pool are started when they are needed for the first time."""
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
TOOLS = {"fio", "rados", "rbd", "ioping"}
_MIB = 1 << 20

# ---------------------------------------------------------------------------------------------- what goes wrong


class Faults:
    """What is done to them; what passes again is healed in time, or at the end."""

    def __init__(self, lab: Lab, seats: Sequence[Seat], report: Report, chance: random.Random) -> None:
        self._lab, self._seats, self._report, self._chance = lab, seats, report, chance
        self._outages: dict[str, tuple[float, Callable[[], object]]] = {}
        """Until when they last, and what ends them."""
        self._kinds: dict[str, Callable[[], bool]] = {
            "console killed (KILL)": partial(self._kill_console, signal.SIGKILL),
            "console killed (TERM)": partial(self._kill_console, signal.SIGTERM),
            "session killed": self._kill_session,
            "link cut": self._cut_link,
            "tool killed": self._kill_tool,
            "OSD frozen": self._freeze_osd,
            "sshd ended": self._end_sshd,
        }

    def pause(self) -> float:
        """Seconds until the next."""
        return self._chance.uniform(*FAULT_SECONDS)

    def happen(self) -> None:
        """One of those that are possible now."""
        kinds = self._chance.sample([*self._kinds], len(self._kinds))
        self._report.faults[next((kind for kind in kinds if self._kinds[kind]()), "none was possible")] += 1

    def heal(self, until: float = math.inf) -> None:
        """End what was to last until then, by the monotonic clock."""
        for name, (at, end) in [*self._outages.items()]:
            if at <= until:
                del self._outages[name]
                end()

    def _lasts(self, name: str, begin: Callable[[], object], end: Callable[[], object]) -> bool:
        if name in self._outages:
            return False
        self._outages[name] = time.monotonic() + self._chance.uniform(*OUTAGE_SECONDS), end
        begin()
        return True

    def _kill_console(self, number: signal.Signals) -> bool:
        return any(seat.kill(number) for seat in self._chance.sample(self._seats, len(self._seats)))

    def _kill_session(self) -> bool:
        return self._kill([pid for node in self._lab.nodes for pid in self._lab.session_pids(node)])

    def _kill_tool(self) -> bool:
        commands = processes_on(self._lab)
        return self._kill([pid for pid, words in commands.items() if Path(words.split(" ")[0]).name in TOOLS])

    def _kill(self, pids: Sequence[int]) -> bool:
        with contextlib.suppress(IndexError, ProcessLookupError):
            os.kill(self._chance.choice(pids), signal.SIGKILL)
            return True
        return False

    def _cut_link(self) -> bool:
        node = self._chance.choice(self._lab.nodes)
        return self._lasts(f"link {node}", partial(self._lab.link_down, node), partial(self._lab.link_up, node))

    def _freeze_osd(self) -> bool:
        daemons = self._lab.processes("ceph-osd", "ceph").items()
        pid = self._chance.choice([pid for pid, command in daemons if command.startswith("ceph-osd ")])
        return self._lasts(f"osd {pid}", partial(os.kill, pid, signal.SIGSTOP), partial(os.kill, pid, signal.SIGCONT))

    def _end_sshd(self) -> bool:
        node = self._chance.choice(self._lab.nodes)
        return self._lasts(f"sshd {node}", partial(self._lab.end_sshd, node), partial(self._lab.start_sshd, node))


# ---------------------------------------------------------------------------------------------- what it takes


@dataclass(frozen=True)
class Sample:
    """What the console on the terminal takes, so many seconds after the begin."""

    at: float
    runs: int
    """That it has shown."""
    rss: int
    fds: int
    threads: int

    def __str__(self) -> str:
        return f"RSS {self.rss / _MIB:.1f} MiB, {self.fds} fds, {self.threads} threads"


def sample(pid: int, at: float, runs: int) -> Iterator[Sample]:
    """Nothing where the process has ended."""
    with contextlib.suppress(OSError, KeyError):
        status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
        fds = len([*Path(f"/proc/{pid}/fd").iterdir()])
        yield Sample(at, runs, int(status["VmRSS"].split()[0]) << 10, fds, int(status["Threads"]))


def grown(samples: Sequence[Sample], at_end: Sequence[Sample], seconds: float) -> Iterator[tuple[bool, str]]:
    """What is compared with what was before, and whether it has grown too much."""
    early = [each for each in samples if min(60.0, seconds / 6) <= each.at <= min(300.0, seconds / 3)]
    for name, slack in SLACK.items():
        before, after = (statistics.median(getattr(each, name) for each in some) for some in (early, at_end))
        text = f"{name}: {before:g} after the first minutes, {after:g} at the end; up to {slack} more are allowed"
        yield after > before + slack, text
    if seconds < LONG_SECONDS:
        yield False, f"memory: not compared in less than {LONG_SECONDS / 60:g} minutes"
        return
    quarters = [[each for each in samples if at <= each.at / seconds * 4 < at + 1] for at in (1, 3)]
    second, last = (statistics.mean(each.rss for each in quarter) / _MIB for quarter in quarters)
    before, after = (statistics.mean(each.runs for each in quarter) for quarter in quarters)
    most = MOST_GROWTH * second + RUN_MIB * (after - before)
    text = (
        f"memory: {second:.1f} MiB in the second quarter, {last:.1f} MiB in the last, {after - before:.0f} runs later"
    )
    yield last > most, f"{text}; up to {most:.1f} MiB"


# ---------------------------------------------------------------------------------------------- the hour


def soak(lab: Lab, root: Path, seconds: float, seed: int, report: Report) -> None:
    """Use it for so long, and look at what there is then."""
    pools = lab.ceph("osd", "pool", "ls")
    sandboxes = {name: Sandbox(root / name) for name in (TERMINAL, *SEATS)}
    chances = {name: random.Random(f"{seed} {name}") for name in (*sandboxes, "faults")}
    seats = [Seat(name, lab, sandboxes[name], report, chances[name]) for name in SEATS]
    user = User(lab, sandboxes[TERMINAL], report, chances[TERMINAL])
    over, work = threading.Event(), list[Future[None]]()
    with ThreadPoolExecutor() as threads:
        try:
            work += [threads.submit(stay, over) for stay in (user.stay, *(seat.stay for seat in seats))]
            samples = endure(seconds, Faults(lab, seats, report, chances["faults"]), user, work, report)
            over.set()
            for each in work:
                each.result()
            leave(user, samples, seconds, report)
            tidy(lab, sandboxes.values(), report)
            for line in not_as_before(lab, sandboxes.values(), pools):
                report.check(False, line)
            for name in sandboxes if seconds >= LONG_SECONDS else (TERMINAL,):
                report.check(report.outcomes[f"{name}: ok"], f"{name}: no run has come to its end")
        finally:
            over.set()
            report.is_closed, is_over = True, False
            while not is_over:  # a seat may have started one more meanwhile
                is_over = all(map(Future.done, work))
                for sandbox in sandboxes.values():
                    sandbox.kill_all()
            user.terminal.hang_up()


def endure(
    seconds: float, faults: Faults, user: User, work: Sequence[Future[None]], report: Report
) -> Sequence[Sample]:
    """Let faults happen and say how it goes, until the time is over or somebody has gone; then all is healed."""
    began, samples = time.monotonic(), list[Sample]()
    fault_at, sample_at, say_at = faults.pause(), SAMPLE_SECONDS, SAY_SECONDS
    while (elapsed := time.monotonic() - began) < seconds and not any(each.done() for each in work):
        faults.heal(time.monotonic())
        if elapsed >= fault_at:
            faults.happen()
            fault_at = elapsed + faults.pause()
        if elapsed >= sample_at:
            samples += sample(user.pid, elapsed, user.runs)
            sample_at += SAMPLE_SECONDS
        if elapsed >= say_at and samples:
            numbers = f"{report.outcomes.total()} runs ended, {report.faults.total()} faults"
            print(f"{elapsed / 60:.1f} min: {numbers}, {samples[-1]}", flush=True)
            say_at += SAY_SECONDS
        time.sleep(0.2)
    faults.heal()
    return samples


def leave(user: User, samples: Sequence[Sample], seconds: float, report: Report) -> None:
    """Look at what the console on the terminal takes when nothing has been done for a while, and end it."""
    time.sleep(REST_SECONDS)
    at_end = [*sample(user.pid, seconds, user.runs)]
    if user.status is not None or not at_end:
        report.check(False, f"{TERMINAL}: ended early: {user.terminal.describe()}")
        return
    for is_more, text in grown(samples, at_end, seconds):
        print(text)
        report.check(not is_more, f"{TERMINAL}: {text}")
    user.leave()


def keep_leases(lab: Lab) -> None:
    """An OSD that is frozen on a busy machine may stand still for longer than the 16 s of its PGs' leases.

    With Ceph 16.2 a PG whose lease has run out does not always get a new one, and serves nothing until it peers again.
    So they last 80 s, for which other OSDs would wait where one is taken for dead.
    """
    lab.ceph("config", "set", "osd", "osd_pool_default_read_lease_ratio", "4")
    peer_again(lab)


def tidy(lab: Lab, sandboxes: Iterable[Sandbox], report: Report) -> None:
    """Wait until the lab is well and nothing runs on it, and remove what killed consoles have left."""
    for what, holds in (("the lab is well", partial(is_well, lab)), ("no run goes on", lambda: not processes_on(lab))):
        try:
            wait_for(holds, WELL_SECONDS, what, lambda: f"{processes_on(lab)}\n{lab.ceph('health', 'detail')}")
        except AssertionError as error:
            report.check(False, str(error))
    for sandbox in sandboxes:
        console = sandbox.run("cleanup", "--config", str(lab.config), "--yes", seconds=LONGEST_SECONDS)
        fine = console.process.returncode == 0 and "Traceback" not in console.stderr
        report.check(fine, f"{sandbox.root.name}: {console.describe()}")


def is_well(lab: Lab) -> bool:
    """Whether all OSDs are up, with all that is on them."""
    status = lab.ceph("status")
    states = {state["state_name"] for state in status["pgmap"]["pgs_by_state"]}
    return status["osdmap"]["num_up_osds"] == status["osdmap"]["num_osds"] and states == {"active+clean"}


def not_as_before(lab: Lab, sandboxes: Iterable[Sandbox], pools: Sequence[str]) -> Iterator[str]:
    """What was not there at the begin, or is there no more."""
    yield from left_on(lab)
    yield from (f"pool {name} is new, or gone" for name in {*pools} ^ {*lab.ceph("osd", "pool", "ls")})
    for sandbox in sandboxes:
        with contextlib.suppress(AssertionError):
            sandbox.wait_gone()
        left = [*map(str, sandbox.processes()), *sandbox.left(), *(f"{target} on a list" for target in noted(sandbox))]
        yield from (f"{sandbox.root.name}: left: {each}" for each in left)
        for path in (sandbox.state / "cephtui" / "log").glob("*"):
            before, word, after = path.read_text(errors="replace").partition("Traceback")
            if word:
                yield f"{sandbox.root.name}: {path.name}: {before[-300:]}{word}{after[:3000]}"


def main() -> int:
    """The exit status: 0 where all is as at the begin."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=60.0, help=f"{LEAST_MINUTES:g} or more; default: 60")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**6), help="of an earlier soak; default: any")
    chosen = parser.parse_args()
    if chosen.minutes < LEAST_MINUTES:
        parser.error(f"--minutes: {LEAST_MINUTES:g} or more")
    for number in ENDING:
        signal.signal(number, _in_order)
    print(f"seed {chosen.seed}", flush=True)
    report, root = Report(), Path(tempfile.mkdtemp(prefix="soak-", dir="/var/tmp"))
    try:
        with temporary_lab() as lab:
            keep_leases(lab)
            soak(lab, root, chosen.minutes * 60, chosen.seed, report)
    except LabError as error:
        report.wrong.append(f"lab: {error}")
    finally:
        if not report.wrong:
            shutil.rmtree(root)
    return summary(report, f"FAILED with --seed {chosen.seed}; files are kept in {root}")


def _in_order(number: int, _: object) -> None:
    """End with all that was begun; a second signal does not disturb that."""
    for each in ENDING:
        signal.signal(each, signal.SIG_IGN)
    sys.exit(128 + number)


def summary(report: Report, failed: str) -> int:
    """Say what has happened; the exit status."""
    for title, counts in (("faults", report.faults), ("outcomes", report.outcomes)):
        print(f"{title}: {', '.join(f'{count} {name}' for name, count in sorted(counts.items()))}")
    for line in report.wrong:
        print(f"not as at the begin: {line}")
    print(failed if report.wrong else "all is as at the begin")
    return 1 if report.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
