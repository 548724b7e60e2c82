"""Clean runs and lies one after the other: each result is kept as it comes; at the end all are judged."""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from cephtui.frozen import dataclass
from tests.bench.conditions import conditions
from tests.bench.honest import clean
from tests.bench.honest.judging import CLASSES, Counters, Expected, Judgement, Observed, doubts, judge
from tests.bench.honest.lies import LIES, Lie
from tests.bench.honest.scene import HEALTHY_SECONDS, NotProvoked, Scene
from tests.bench.table import Row, at_least, at_most, row
from tests.lab import Lab, LabError, releases
from tests.lab.cluster import OSDS
from tests.on_lab.conftest import SLOW_OSDS, temporary_lab
from tests.on_lab.others import all_serve, kill_osd, start_osd, still, wait_clean
from tests.on_lab.runs import wait_for

FOLDER = Path(__file__).resolve().parents[3] / ".bench"
FILE, SESSIONS = FOLDER / "honest.json", FOLDER / "honest"
CLEAN_RUNS = 100
_STILL_SECONDS = 5.0
"""What the cluster says of its PGs is some seconds old."""
_MOST_INVENTED, _LEAST_CAUGHT = 2, 32
_HELD: tuple[str, ...] = ("caught", "prevented")
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Options:
    """What is run, of what; what was run before is counted too."""

    lies: tuple[str, ...]
    clean: int
    release: str
    """Of Debian, whose Ceph and fio the lab has; empty: those of this machine."""
    resumes: bool
    """Whether to leave out what has a result by the same commit."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """To a command line, those of this measure."""
    group = parser.add_argument_group("honest", f"results are added to those in {FILE.relative_to(FOLDER.parent)}")
    told = "which are provoked, all or none; default: %(default)s"
    group.add_argument("--lies", type=_named, default="all", metavar="L7,L23", help=told)
    group.add_argument("--clean", type=int, default=CLEAN_RUNS, metavar="N", help="clean runs; default: %(default)s")
    group.add_argument("--release", choices=releases.RELEASES, default="", help="of Debian, whose Ceph and fio is used")
    group.add_argument("--resume", action="store_true", help="leave out what has a result by this commit")


def options(asked: argparse.Namespace) -> Options:
    """What a command line has asked for."""
    return Options(asked.lies, asked.clean, asked.release, resumes=asked.resume)


def _named(text: str) -> tuple[str, ...]:
    every = [lie.name for lie in LIES]
    meant = {"all": every, "none": []}.get(text, text.split(","))
    if unknown := {*meant} - {*every}:
        raise argparse.ArgumentTypeError(f"no such lie: {', '.join(sorted(unknown))}; they are L1 to {every[-1]}")
    return tuple(name for name in every if name in meant)


class Results:
    """Those of one release of the lab, in a file that is written again with each of them."""

    def __init__(self, release: str, file: Path = FILE) -> None:
        self._file, self._release, self._commit = file, release or "this machine", _commit()
        self._all: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
        self._own: dict[str, Any] = self._all.setdefault(self._release, {})

    def has(self, name: str) -> bool:
        """Whether there is one by the present commit."""
        return bool(self._own.get(name, {}).get("commit") == self._commit)

    def keep(self, name: str, observed: Observed | str) -> None:
        """Add a result; a text is why there is none."""
        result = {"why": observed} if isinstance(observed, str) else {"observed": asdict(observed)}
        self._own[name] = {**result, "commit": self._commit, "conditions": conditions()}
        self._file.parent.mkdir(exist_ok=True)
        partial = self._file.with_suffix(".new")
        partial.write_text(json.dumps(self._all, indent=1) + "\n")
        partial.replace(self._file)

    def get(self, name: str) -> Observed | str | None:
        """The result of a lie (``L7``) or a clean run (``clean 7``), by whatever commit."""
        kept = self._own.get(name)
        if kept is None or "why" in kept:
            return kept and str(kept["why"])
        fields = kept["observed"]
        return Observed(**{**fields, "findings": tuple(fields["findings"]), "counters": Counters(**fields["counters"])})


def rows(options: Options, say: Say) -> Iterator[Row]:
    """What was invented and what was caught, of all results that there are of the release."""
    results = Results(options.release)
    made_of = ("--release", options.release) if options.release else ()
    lies = [lie for lie in LIES if lie.name in options.lies and not (options.resumes and results.has(lie.name))]
    numbers = [n for n in range(1, options.clean + 1) if not (options.resumes and results.has(_clean(n)))]
    usual = [lie for lie in lies if not lie.has_kernel]
    if numbers or usual:
        with slow_lab(*made_of) as lab:
            for number in numbers:
                shape = clean.shape_of(number)
                say(f"clean run {number} of {options.clean}: {shape}")
                _carry_out(lab, results, _clean(number), partial(clean.run, shape), say)
            _provoke(lab, results, usual, say)
    for lie in lies:
        if lie.has_kernel:
            with slow_lab(*made_of, "--kernel") as lab:
                _provoke(lab, results, [lie], say)
    yield from _clean_rows(results, say)
    yield from _lie_rows(results, say)


def _provoke(lab: Lab, results: Results, lies: Sequence[Lie], say: Say) -> None:
    for lie in lies:
        say(f"{lie.name}: {lie.title}")
        _carry_out(lab, results, lie.name, lie.provoke, say)


def _carry_out(lab: Lab, results: Results, name: str, run: Callable[[Scene], Observed], say: Say) -> None:
    """Runs it, keeps what came of it and its session, and sees that nothing of it is left."""
    root = SESSIONS / name.replace(" ", "-")
    shutil.rmtree(root, ignore_errors=True)
    scene, began = Scene(lab, root), time.monotonic()
    result: Observed | str
    try:
        result = run(scene)
    except (NotProvoked, LabError, AssertionError) as error:
        result = f"{type(error).__name__}: {error}"
    finally:
        scene.bench.sandbox.kill_all()
    results.keep(name, result)
    if left := scene.end():
        say(f"left behind: {left}")
    say(f"{time.monotonic() - began:.0f} s: {result if isinstance(result, str) else _outcome(result)}")


def _outcome(observed: Observed) -> str:
    codes = ", ".join(finding["code"] for finding in observed.findings) or "no finding"
    return "; ".join(filter(None, [observed.outcome or observed.error, observed.figures, codes, observed.limit]))


@contextmanager
def slow_lab(*options: str) -> Iterator[Lab]:
    """A lab whose OSDs are as slow as disks, and on three hosts by CRUSH.

    Then it is not the CPUs, which all its parts share, that limit each run, and data is as far away as in a cluster.
    An OSD waits in the thread that receives messages: it has one, or connections that share one would be slower than
    others, and the OSD with them.
    """
    with temporary_lab(*options) as lab:
        lab.ceph("balancer", "off")  # it moves data minutes after an OSD was out
        lab.ceph("config", "set", "osd", "ms_async_op_threads", "1")
        for osd in OSDS:
            kill_osd(lab, osd)
            start_osd(lab, osd)
            lab.ceph("osd", "crush", "move", f"osd.{osd}", f"host=storage{osd + 1}", "root=default")
        serves = partial(still, partial(all_serve, lab), _STILL_SECONDS)
        wait_for(serves, HEALTHY_SECONDS, "PGs that are where they belong")
        wait_clean(lab, HEALTHY_SECONDS)
        for name, value in SLOW_OSDS.items():
            lab.ceph("config", "set", "osd", name, value)
        yield lab


# --- Counting ------------------------------------------------------------------------------------


def _clean(number: int) -> str:
    return f"clean {number}"


def _clean_rows(results: Results, say: Say) -> Iterator[Row]:
    runs = 0
    invented, confirmed = 0, 0
    for number in range(1, 10_000):
        observed = results.get(_clean(number))
        if observed is None:
            break
        if isinstance(observed, str):
            say(f"{_clean(number)}: no run: {observed}")
            continue
        runs += 1
        shape = clean.shape_of(number)
        for doubt in doubts(observed, shape.expected):
            confirmed += doubt.is_confirmed
            invented += not doubt.is_confirmed
            word = "confirmed" if doubt.is_confirmed else "INVENTED"
            say(f"{_clean(number)} ({shape}): {word} {doubt.code}: {doubt.text} [{observed.counters}]")
    goal = at_most(_MOST_INVENTED) if runs >= CLEAN_RUNS else None
    how = f"findings that limit or invalidate, of {runs} runs of {len(clean.SHAPES)} shapes"
    yield row("invented findings", invented, f"of {runs} runs", goal, how=how)
    yield row("findings that a counter of the kernel confirms", confirmed, f"of {runs} runs", how=how)


def _lie_rows(results: Results, say: Say) -> Iterator[Row]:
    judgements = {lie: judged(lie.expected, found) for lie in LIES if (found := results.get(lie.name)) is not None}
    for lie, judgement in judgements.items():
        say(f"{lie.name:>3}  {judgement.of:<16}  {lie.title}: {judgement.words}")
    number = Counter(judgement.of for judgement in judgements.values())
    unit, is_whole = f"of {len(judgements)} lies", len(judgements) == len(LIES)
    held = sum(number[name] for name in CLASSES if name in _HELD)
    yield row("lies caught or prevented", held, unit, at_least(_LEAST_CAUGHT) if is_whole else None)
    for name in CLASSES:
        goal = at_most(0) if name == "explained wrongly" and is_whole else None
        yield row(f"lies {name}", number[name], unit, goal)


def judged(expected: Expected, result: Observed | str) -> Judgement:
    """A result, or the reason why there is none."""
    return Judgement("not provoked", result) if isinstance(result, str) else judge(expected, result)


def _commit() -> str:
    command = ["git", "-C", str(FOLDER.parent), "describe", "--always", "--dirty"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip()
