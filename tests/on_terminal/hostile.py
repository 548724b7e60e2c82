"""Every screen and dialog with text that a terminal would obey, one after the other: ``python -m`` in a terminal.

Arguments: the folders of the sessions and of the presets, and which of the screens.
It prints the names of those on which the text was to be seen.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock

from rich.text import Text
from textual import work
from textual.screen import Screen

from cephtui.analysis.runs.sides import side_of
from cephtui.cli.log import start_log
from cephtui.config import Config
from cephtui.models import ClusterSample, Mark, Node, NodeSample, Run, SessionNotes
from cephtui.planning import Request, make_plan, new_batch
from cephtui.presets import find_presets, load_preset
from cephtui.sessions import demo, store
from cephtui.sessions.undo import Undo
from cephtui.studies.queue import Entry, Queue
from cephtui.suites import SuiteStep
from cephtui.targets.candidates import Candidate, OnFound
from cephtui.targets.discovery import POOLS, KnownNode
from cephtui.targets.file import FileTarget
from cephtui.tui import app as tui_app
from cephtui.tui.app import SavedApp
from cephtui.tui.console.edits import Edits
from cephtui.tui.console.form import FormScreen
from cephtui.tui.console.ordered import Site, study_of_presets
from cephtui.tui.console.queue import QueueScreen
from cephtui.tui.dialogs import Confirm, Details, EnterText, NodeQuestion, TypeName, Wait
from cephtui.tui.pickers.nodes import NodePicker
from cephtui.tui.pickers.presets import PresetPicker
from cephtui.tui.pickers.runs import RunPicker
from cephtui.tui.pickers.targets import TargetPicker
from cephtui.tui.screens.compare import CompareScreen
from cephtui.tui.screens.details import DetailsScreen
from cephtui.tui.screens.log import LogScreen
from cephtui.tui.screens.replay import ReplayScreen, WatchScreen
from cephtui.tui.screens.session import SessionScreen
from cephtui.tui.screens.sessions import SessionsScreen
from cephtui.tui.screens.why import WhyScreen
from cephtui.tui.terminal.profile import as_started, detect
from tests.support import two_copies
from tests.support.canaries import CANARY, NAME, filled

SEEN = "Pw]"
UNSEEN = ("watch",)
"""Screens on which the text may be hidden: nobody writes the session."""
GROUPS = ("saved", "asked")
TOML = '"' + "".join(f"\\U{ord(char):08x}" for char in CANARY) + '"'
PRESET = f"""
title = {TOML}
description = {TOML}
key = 2
[options]
rw = "randwrite"
bs = "4k"
size = "4M"
runtime = 2
"""


def write_presets(folder: Path) -> None:
    """One whose title, and one whose name is hostile; and a broken one."""
    folder.mkdir(parents=True)
    (folder / "write-iops.toml").write_text(PRESET)
    (folder / f"{NAME}.toml").write_text(PRESET)
    (folder / f"broken{NAME}.toml").write_text(f"title = 1\n{TOML} = 2")


def write_sessions(root: Path) -> Path:
    """A session: its first run can be played, its second has the canary in every field; others are not sessions."""
    directory = two_copies.unpack(root)
    for number in range(1, two_copies.STAR):
        shutil.rmtree(directory / f"{number:03}")
    (directory / f"{two_copies.STAR:03}").rename(directory / "001")
    second = directory / "002"
    second.mkdir()
    keep(directory / "001" / "run.json", list(filled(Run)), run=1)
    (directory / "001" / "overview.json").unlink()
    with (directory / "001" / "raw" / "lab1.stderr").open("w") as file:
        file.write(f"{CANARY}\n{CANARY}")
    run = filled(Run, run=2, tool="fio", outcome="failed", session=directory.name)
    (second / "run.json").write_text(json.dumps(run))
    sample = json.loads((directory / "001" / "samples.jsonl").read_text().splitlines()[-1])
    samples = [{**sample, "run": 2, "node": node, "preset": CANARY} for node in (CANARY, "n2", None)]
    write_lines(second / "samples.jsonl", [{**each, "missing": [CANARY]} for each in samples])
    for folder in (directory / "001", second):
        write_lines(folder / "cluster.jsonl", [filled(ClusterSample, run=int(folder.name), elapsed_seconds=5.0)])
        write_lines(folder / "nodes.jsonl", [filled(NodeSample, run=int(folder.name), elapsed_seconds=5.0)])
    write_lines(directory / "marks.jsonl", [filled(Mark, run=number, elapsed_seconds=5.0) for number in (1, 2)])
    (directory / "notes.json").write_text(json.dumps(filled(SessionNotes, baseline=1)))
    write_lines(directory / "undo.jsonl", [filled(Undo, done=False)])
    for name in (NAME.encode(), b"not \xff UTF-8"):
        Path(os.fsdecode(bytes(root) + b"/" + name)).mkdir()
        Path(os.fsdecode(bytes(root) + b"/" + name + b"/session.json")).write_text("{}")
    return directory


def keep(path: Path, names: list[str], **given: object) -> None:
    """A run that can be played, with hostile words in it where playing does not need the true ones."""
    run = json.loads(path.read_text())
    hostile = filled(Run)
    free = ("error", "target", "command", "findings", "cluster", "environment", "cephtui_version")
    nodes = [{**node, "error": CANARY, "command": CANARY} for node in run["nodes"]]
    run |= {name: hostile[name] for name in free if name in names} | {"nodes": nodes, "outcome": "failed"} | given
    path.write_text(json.dumps(run))


def write_lines(path: Path, rows: Iterable[object]) -> None:
    """A file of JSON Lines."""
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def discover(of: str, on_found: OnFound) -> Future[str]:
    """What a hostile node says of itself."""
    on_found([Candidate(f"rbd:{of}{CANARY}", CANARY), Candidate(f"rbd:{of}/{CANARY}", CANARY, CANARY, CANARY)])
    done: Future[str] = Future()
    done.set_result(CANARY if of == POOLS else "")
    return done


def screens(root: Path, directory: Path, users: Path, group: str) -> Iterator[tuple[str, Screen[Any]]]:
    """By their names."""
    run = store.read_run(directory, 2)
    side = side_of(run, [run])
    preset = load_preset(users / f"{NAME}.toml", user=True)
    node = Node(name=CANARY)
    study = study_of_presets([SuiteStep(preset, preset.name, {})], Site(FileTarget(CANARY), (node,), "0a1b2c3d"))
    study.requests = tuple(replace(request, overrides={CANARY: CANARY}) for request in study.requests)
    entry = Entry(study)
    hostile = Request((preset,), (node,), FileTarget(CANARY), {})
    known = (KnownNode(CANARY, CANARY), KnownNode(f"group {CANARY}", CANARY, (CANARY,)))
    saved: dict[str, Callable[[], Screen[Any]]] = {
        "sessions": lambda: SessionsScreen(root),
        "session": lambda: SessionScreen(directory),
        "replay": lambda: ReplayScreen(directory, 1, 20),
        "watch": lambda: WatchScreen(directory),
        "log": lambda: LogScreen(directory, store.read_run(directory, 1)),
        "run": lambda: DetailsScreen(directory, run),
        "why": lambda: WhyScreen(directory),
        "text": lambda: Details("text", Text(CANARY)),
        "compare": lambda: CompareScreen(side, side, {}, {}),
        "run picker": lambda: RunPicker(root, ("another", 1)),
    }
    asked: dict[str, Callable[[], Screen[Any]]] = {
        "target picker": lambda: TargetPicker(CANARY, CANARY, discover, CANARY),
        "node picker": lambda: NodePicker(Config(), known, (), {CANARY: CANARY}, AsyncMock()),
        "preset picker": lambda: PresetPicker(find_presets(users, users), {}),
        "form": lambda: FormScreen(preset, Edits(), lambda edits: make_plan(hostile, new_batch)),
        "queue": lambda: QueueScreen(lambda: Queue((entry,), note=CANARY), lambda queue: None),
        "confirm": lambda: Confirm(CANARY, "yes", "no"),
        "type name": lambda: TypeName(CANARY, CANARY),
        "ask": lambda: NodeQuestion(CANARY, CANARY, secret=True),
        "wait": lambda: Wait(lambda: CANARY),
        "enter text": lambda: EnterText(CANARY, CANARY, lambda text: CANARY),
    }
    yield from ((name, make()) for name, make in (saved if group == "saved" else asked).items())


class Hostile(SavedApp):
    """Shows one screen after the other, and ends."""

    CSS_PATH = Path(tui_app.__file__).with_name("app.tcss")

    def __init__(self, root: Path, users: Path, group: str, *, safe: bool) -> None:
        super().__init__(root, (), detect(as_started(os.environ), safe=safe))
        self._each = screens(root, root / demo.SESSION, users, group)
        self.seen: list[str] = []

    def on_mount(self) -> None:
        """Begin."""
        self._show()

    @work
    async def _show(self) -> None:
        for name, screen in self._each:
            await self.push_screen(screen)
            await self._look_for(name)
        self.notify(CANARY, title=CANARY)
        await self._look_for("notice")
        self.exit()

    async def _look_for(self, name: str) -> None:
        for _ in range(20 if name in UNSEEN else 300):
            await asyncio.sleep(0.05)
            if self.screen.is_mounted and SEEN in "".join(s.text for s in self.screen._compositor.render_strips()):
                self.seen.append(name)
                break
        await asyncio.sleep(0.1)  # until it is sent


def main(root: Path, users: Path, group: str) -> None:
    """Show all; then say on which the text was."""
    start_log()
    app = Hostile(root, users, group, safe="--safe" in sys.argv)
    app.run()
    print("seen:", ", ".join(app.seen), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
