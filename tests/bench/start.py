"""How far apart nodes begin that are released together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from cephtui.models import Node, OptionValue
from tests.bench import precedence
from tests.bench.interactive import ConsoleSession, NotMeasured, console_session, ssh_nodes
from tests.bench.nodes import nodes, told_starts
from tests.bench.recording import names
from tests.bench.table import Row, at_most, row_of_times
from tests.lab import Lab

RUNS = 10
SIMULATED = 16
OPTIONS: dict[str, OptionValue] = {
    "rw": "randread",
    "bs": "4k",
    "size": "1M",
    "rate_iops": 50,  # the nodes share one machine: their load must not be what is measured
    "ramp_time": 0,
    "runtime": 1,
}
_TRUE = "by one clock, beyond the release also bash, env and timeout on each, all of them on this machine's CPUs"
_HOW = f"median of {RUNS} runs; spread: least and greatest"


def lab_rows(lab: Lab, root: Path, say: Callable[[str], None]) -> Iterator[Row]:
    """On the hosts of the lab."""
    spreads = _spreads(root, ssh_nodes(lab.nodes, lab.ssh_config), "file:/var/tmp/cephtui-bench", say, lab)
    goal = at_most(10)
    yield row_of_times(f"start spread, {len(lab.nodes)} lab nodes", spreads, goal, f"as cephtui reports it, {_HOW}")


def simulated_rows(root: Path, say: Callable[[str], None]) -> Iterator[Row]:
    """On simulated nodes, and beside it by the clock of the nodes, which is one here."""
    with nodes("real", root / "ssh") as ssh_config:
        found = ssh_nodes(names(SIMULATED), ssh_config)
        spreads = _spreads(root / "sessions", found, f"file:{root}/bench", say, None)
        starts = told_starts(root / "ssh")
    measure = f"start spread, {SIMULATED} simulated nodes"
    yield row_of_times(measure, spreads, at_most(50), f"as cephtui reports it, {_HOW}")
    yield row_of_times("the same, by when fio was executed", _true_spreads(starts), None, _TRUE)


def _true_spreads(starts: list[float]) -> list[float]:
    """Of each run, from the moments at which its nodes began; the run that filled the files is left out."""
    runs = [starts[first : first + SIMULATED] for first in range(SIMULATED, len(starts), SIMULATED)]
    return [max(run) - min(run) for run in runs]


def _spreads(
    root: Path, found: tuple[Node, ...], target: str, say: Callable[[str], None], lab: Lab | None
) -> list[float]:
    with console_session(root, found, target, OPTIONS) as session:
        if lab:
            precedence.servers(lab)
        session.run()  # which fills the files
        return [_spread(session, number, say) for number in range(1, RUNS + 1)]


def _spread(session: ConsoleSession, number: int, say: Callable[[str], None]) -> float:
    say(f"run {number} of {RUNS} on {len(session.request.nodes)} nodes")
    spread = session.run().start_spread_seconds
    if spread is None:
        raise NotMeasured("a run without a start spread")
    return spread
