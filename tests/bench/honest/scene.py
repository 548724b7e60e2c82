"""The lab as clean runs and lies use it: the real command line, and what it leaves in its session."""

from __future__ import annotations

import json
import os
import re
import secrets
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from cephtui.models.metrics import BY_NAME
from tests.bench.honest.counters import watched
from tests.bench.honest.judging import Counters, Observed
from tests.end_to_end.sandbox import Console, Event, Sandbox
from tests.lab import Lab, LabError
from tests.on_lab.others import wait_clean
from tests.on_lab.runs import Bench, left_on

SHARED = ("--shared-pool",)
RUN_SECONDS, SHOW_SECONDS, HEALTHY_SECONDS = 300.0, 60.0, 180.0
_UNDER_WAY = 2
"""Samples."""
_CONCLUSION = re.compile(r"(limited by|nearest limit:|above its own ceiling|no known limit|limit unknown).*")
During = Callable[[], AbstractContextManager[object]]


class NotProvoked(Exception):
    """A lie that could not be provoked on this machine; its text is the reason."""


class Scene:
    """The directories of one run, or of one lie, on the lab: no other run's sessions and links are known there."""

    def __init__(self, lab: Lab, root: Path) -> None:
        root.mkdir(parents=True)
        self.lab, self.bench = lab, Bench(lab, Sandbox(root))
        self.undo: list[Callable[[], object]] = []
        """What the lab needs afterwards to be as before; where it fails, what was observed is kept all the same."""

    def run(self, preset: str, *, during: During = nullcontext, words: Sequence[str] = (), **how: Any) -> Observed:
        """The command line to its end; the block of ``during`` is entered as the run is under way."""
        console, counters = self.bench.start(preset, words=[*SHARED, *words], **how), Counters()
        if self._is_under_way(console):
            with watched() as watch, during():
                console.wait(RUN_SECONDS)
                counters = watch.counters()
        run = console.runs[-1] if console.runs else None
        if run is None:
            return Observed(console.process.returncode or 0, error=_last_line(console), counters=counters)
        return Observed(
            status=console.process.returncode or 0,
            outcome=run["outcome"],
            error=run["error"] or "",
            findings=tuple(run["findings"]),
            limit=self._limit(run),
            command=" ".join([run["command"], *(node["command"] for node in run["nodes"])]),
            pool=json.dumps([(run["cluster"] or {}).get(key) for key in ("pool", "pool_settings")]),
            figures=_figures(run),
            counters=counters,
        )

    def _is_under_way(self, console: Console) -> bool:
        """Waits for it; a run that was refused never is."""

        def holds() -> bool:
            measured = [event for event in console.events if event.get("phase") == "run" and event["event"] == "sample"]
            return len(measured) >= _UNDER_WAY or console.process.poll() is not None

        console.wait_for(holds, RUN_SECONDS, "samples of a run")
        return console.process.poll() is None

    def _limit(self, run: Event) -> str:
        shown = self.bench.cephtui("show", f"{run['session']}/{run['run']}", "--format", "md", seconds=SHOW_SECONDS)
        found = _CONCLUSION.search(shown.stdout)
        return found[0].rstrip(" |\\") if found else ""

    def file(self, node: str, name: str) -> Path:
        """A path on a node, by where it is outside."""
        return self.lab.outside(node, f"/var/tmp/{name}")

    def end(self) -> list[str]:
        """Wait for a healthy cluster, and tell what was left on the lab; raises LabError."""
        try:
            for step in self.undo:
                step()
            wait_clean(self.lab, HEALTHY_SECONDS)
        except AssertionError as error:
            raise LabError(f"the lab is not as it was before: {error}") from error
        return left_on(self.lab)


def _last_line(console: Console) -> str:
    return next((line for line in reversed(console.complaints) if line.strip()), "")


def _figures(run: Event) -> str:
    """``write 1.2k IOPS 5 MiB/s``, of each flow."""
    parts = []
    for flow, total in run["summary"].items():
        if total:
            named = ((BY_NAME[name], total.get(name)) for name in ("iops", "bandwidth_bytes", "latency_mean_seconds"))
            texts = [metric.as_text(value) for metric, value in named if value is not None]
            parts += [f"{flow} {' '.join(texts)}"] if texts else []
    return ", ".join(parts)


@contextmanager
def beside(lab: Lab, machine: str, *command: str | Path) -> Iterator[subprocess.Popen[bytes]]:
    """Another's command on a machine while the block lasts; its end is that of all processes of it."""
    mark = f"beside-{secrets.token_hex(4)}"
    words = lab.command(machine, "env", f"BESIDE={mark}", *command)
    nowhere = subprocess.DEVNULL
    with subprocess.Popen(words, stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True) as process:
        try:
            yield process
        finally:
            for pid in lab.processes(mark, machine):
                os.kill(pid, signal.SIGKILL)
