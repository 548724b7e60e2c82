"""The recorded session, and the console fed from it: shared by the console's tests and the screenshots."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path

from textual.pilot import Pilot

from cephtui import store
from cephtui.models import Node
from cephtui.places import packaged_presets_dir
from cephtui.presets import find_presets
from cephtui.replay import ReplayConnection
from cephtui.runner import Runner
from cephtui.transport import Connection, Question
from cephtui.tui.app import ConsoleApp
from cephtui.tui.console import Start

SESSION = Path(__file__).parent / "recordings" / "replay"
WRITE_IOPS, MIXED = 1, 2


def connector(run: int, speed: float) -> Callable[[Node, Mapping[str, str]], Awaitable[Connection | Question]]:
    """A node that plays one of the recorded runs, whatever it is asked to run."""
    environment = store.read_run(SESSION, run).environment["local"]

    async def connect(node: Node, answers: Mapping[str, str]) -> Connection | Question:
        return ReplayConnection(SESSION / f"{run:03}" / "raw", environment, speed=speed, node=node)

    return connect


@contextlib.asynccontextmanager
async def console(
    root: Path, *, run: int, speed: float, size: tuple[int, int]
) -> AsyncIterator[tuple[ConsoleApp, Pilot[None]]]:
    """The console on a replayed node, with the recorded runtime already typed in."""
    catalogue = find_presets(packaged_presets_dir(), root / "no-presets-of-the-user")
    with Runner(root / "sessions", "tuning", connect_node=connector(run, speed)) as runner:
        app = ConsoleApp(catalogue, Start((Node(name="local"),), "file:/mnt/bench/test"), runner, [])
        async with app.run_test(size=size) as pilot:
            await until(pilot, lambda: bool(app.screen.query("#runtime")))
            app.screen.query_one("#runtime").value = "20"
            await pilot.pause()
            yield app, pilot


async def until(pilot: Pilot[None], condition: Callable[[], bool], seconds: float = 30.0) -> None:
    """Wait for what another thread brings about; raises TimeoutError."""
    async with asyncio.timeout(seconds):
        while not condition():
            await pilot.pause(0.05)
