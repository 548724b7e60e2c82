"""CPU of the console's process while nodes stream."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .console import SESSION, Console, console
from .nodes import TARGET, names, nodes

WINDOW_SECONDS = 16.0
PRESET, KEY = "mixed-75-25", "6"
_START_SECONDS = 90.0
_RUNTIME = 20
_DRAWN = b"--direct=1"
"""In the preview of the command, which is drawn when the console listens to keys."""


@dataclass(frozen=True, slots=True)
class Use:
    """What the console's process used."""

    percent: float
    """Of one core."""
    samples_per_second: float
    """That it has stored of its nodes: 1 for each, where it kept pace."""
    missing: int
    """Merged seconds that closed without some node."""


def measure(number: int, directory: Path, *, drawing: bool) -> Use:
    """With so many nodes, in the console or (not ``drawing``) in ``run --json``."""
    directory.mkdir(parents=True)
    with nodes("recorded", directory / "ssh") as ssh_config:
        where = ["-F", str(ssh_config), *(word for name in names(number) for word in ("--node", name))]
        common = ["--target", TARGET, "--session", SESSION]
        if drawing:
            words = [*where, *common]
        else:
            words = ["run", PRESET, *where, *common, "--set", f"runtime={_RUNTIME}", "--json"]
        with console(words, directory, terminal=drawing) as running:
            if drawing:
                running.wait_for_text(_DRAWN, _START_SECONDS)
                time.sleep(1.0)
                running.press(KEY)
            running.wait_for_run(_START_SECONDS)
            return _watch(running)


def _watch(running: Console) -> Use:
    running.look()
    before, stored, began = running.cpu_seconds(), len(running.seen), time.monotonic()
    time.sleep(WINDOW_SECONDS)
    seconds, used = time.monotonic() - began, running.cpu_seconds() - before
    running.look()
    new = running.seen[stored:]
    of_nodes = sum(sample.node is not None for sample in new)
    return Use(100 * used / seconds, of_nodes / seconds, sum(bool(sample.missing) for sample in new))
