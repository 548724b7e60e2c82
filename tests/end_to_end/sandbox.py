"""A cephtui of a test's own: its directories, its processes, and what it leaves behind."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
import shlex
import shutil
import signal
import subprocess
import sys
import termios
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypedDict, Unpack

from tests.end_to_end.forks import Forked, fork
from tests.support.waiting import LEAST_SECONDS
from tests.support.waiting import wait_for as wait_for

MARK = "CEPHTUI_TEST_SANDBOX"
"""In the environment of everything that a sandbox starts, forked fio workers included."""
GONE_SECONDS = LEAST_SECONDS
"""However cephtui ends, nothing of it may be left after so long."""
FIO = shutil.which("fio") or "fio"

Event = dict[str, Any]


class Streams(TypedDict, total=False):
    """Where a console reads and writes, as subprocess.Popen takes it."""

    stdin: int | IO[Any]
    stdout: int | IO[Any]
    stderr: int | IO[Any]


class Places(Streams, total=False):
    """Also how its process starts."""

    start_new_session: bool
    preexec_fn: Callable[[], object]


def on_terminal(descriptor: int) -> Streams:
    """All three streams on one open terminal."""
    return {"stdin": descriptor, "stdout": descriptor, "stderr": descriptor}


def control_terminal() -> None:
    """Makes the terminal on stdin that of the process: its end is then the process's SIGHUP."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def own_terminal(descriptor: int) -> Places:
    """All three streams on a terminal that becomes that of the process."""
    places: Places = {**on_terminal(descriptor), "start_new_session": True, "preexec_fn": control_terminal}
    return places


@dataclass(frozen=True)
class Process:
    """A living process of a sandbox."""

    pid: int
    parent: int
    state: str
    """A letter, as ps shows it."""
    argv: tuple[str, ...]

    @property
    def program(self) -> str:
        """The name of what runs, without its folder."""
        return Path(self.argv[0]).name if self.argv else ""

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Send a signal, if it still lives."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)


def _process(directory: Path, mark: bytes) -> Process | None:
    try:
        if mark not in (directory / "environ").read_bytes().split(b"\0"):
            return None
        argv = tuple(word.decode(errors="replace") for word in (directory / "cmdline").read_bytes().split(b"\0")[:-1])
        state, parent = (directory / "stat").read_text().rpartition(")")[2].split()[:2]
    except OSError:
        return None  # it has ended meanwhile, or is somebody else's
    return None if state in "ZX" else Process(int(directory.name), int(parent), state, argv)


def processes_marked(mark: str) -> list[Process]:
    """Every living process with this ``NAME=VALUE`` in its environment."""
    found = (_process(path, mark.encode()) for path in Path("/proc").iterdir() if path.name.isdigit())
    return [process for process in found if process]


CERTAIN = '{ chrt -f -p 1 $$ || renice -n -15 -p $$; } > /dev/null 2>&1; exec "$FIO" "$@" --ioengine=null'
"""In a ``program``: fio without a disk, and before all others where that is allowed: no other load changes its rate."""
WAITS = ("cephtui: connecting ...", "cephtui: inspecting the target ...", "cephtui: removing ")
LIGHT_JOBS = 2
"""Of a ``light`` run."""
ENDLESS = 3600
"""The seconds of a run that a test ends: on a busy machine a shorter one may have come to its end by then."""
READ_LATE = {"PATH", "COLUMNS", "CEPHTUI_DATA_DIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"}
"""Variables that nothing reads while it is imported: a fork finds them as a process of its own would."""


class Console:
    """One started ``cephtui``; its output goes to files, unless a test gives it other places."""

    def __init__(
        self,
        sandbox: Sandbox,
        args: Sequence[str],
        env: Mapping[str, str],
        *,
        forks: bool,
        terminal: int | None,
        **places: Unpack[Places],
    ) -> None:
        self.sandbox, self.args = sandbox, args
        name = f"{len(sandbox.consoles):02}"
        self._stdout, self._stderr = sandbox.root / f"stdout.{name}", sandbox.root / f"stderr.{name}"
        with self._stdout.open("wb") as stdout, self._stderr.open("wb") as stderr:
            given: Places = {"stdin": subprocess.DEVNULL, "stdout": stdout, "stderr": stderr}
            given.update(places if terminal is None else own_terminal(terminal))
            command = [str(Path(sys.executable).with_name("cephtui")), *args]
            self.process: subprocess.Popen[bytes] | Forked
            if forks:
                with Path(os.devnull).open("rb") as nothing:
                    files = [nothing.fileno(), stdout.fileno(), stderr.fileno()]
                    streams = files if terminal is None else [terminal] * len(files)
                    self.process = fork(command, env, str(sandbox.root), streams, terminal=terminal is not None)
            else:
                self.process = subprocess.Popen(command, env=env, cwd=sandbox.root, **given)

    @property
    def stdout(self) -> str:
        """All that it has printed."""
        return self._stdout.read_text("utf-8")

    @property
    def stderr(self) -> str:
        """All that it has complained about."""
        return self._stderr.read_text("utf-8")

    @property
    def complaints(self) -> list[str]:
        """The same line by line, without what is said of a longer wait, as on a busy machine."""
        return [line for line in self.stderr.splitlines() if not line.startswith(WAITS)]

    @property
    def events(self) -> list[Event]:
        """The complete lines of ``--json``; anything else among them fails."""
        return [json.loads(line) for line in self.stdout.splitlines(keepends=True) if line.endswith("\n")]

    @property
    def sorted_events(self) -> list[Event]:
        """The same, each kind for itself, which ``show`` prints one after the other."""
        return sorted(self.events, key=lambda event: str(event["event"]))

    @property
    def runs(self) -> list[Event]:
        """The runs that have ended."""
        return [event for event in self.events if event["event"] == "run"]

    def samples(self, phase: str = "run", node: str | None = None, run: int = 1) -> list[Event]:
        """The printed samples of one phase."""
        return [
            event
            for event in self.events
            if event["event"] == "sample" and (event["phase"], event["node"], event["run"]) == (phase, node, run)
        ]

    def wait(self, seconds: float = 60.0) -> int:
        """Its exit status."""
        wait_for(lambda: self.process.poll() is not None, seconds, "the end of cephtui", self.describe)
        assert self.process.returncode is not None
        return self.process.returncode

    def wait_for(self, condition: Callable[[], object], seconds: float, what: str) -> float:
        """See the function; fails at once when cephtui ends before."""

        def holds() -> bool:
            ended = self.process.poll() is not None
            held = bool(condition())
            assert held or not ended, f"cephtui ended before: {what}\n{self.describe()}"
            return held

        return wait_for(holds, seconds, what, self.describe)

    def wait_for_samples(self, number: int = 2, phase: str = "run", seconds: float = 90) -> None:
        """Until a run is well under way."""
        self.wait_for(lambda: len(self.samples(phase)) >= number, seconds, f"{number} samples of phase {phase}")

    def describe(self) -> str:
        """What a failed test needs to know."""
        lines = [line[:300] for line in self.stdout.splitlines()[-6:]]
        stacks = self.process.stacks(self.sandbox.root) if isinstance(self.process, Forked) else ""
        return "\n".join(
            [
                f"$ cephtui {shlex.join(self.args)}",
                f"status: {self.process.poll()}",
                *(f"stdout: {line}" for line in lines),
                *(f"stderr: {line}" for line in self.stderr.splitlines()),
                *stacks.splitlines(),
                self.sandbox.describe(),
            ]
        )


class Sandbox:
    """Directories that no other cephtui uses, and all processes that were started in them."""

    def __init__(self, root: Path, *, forks: bool = False) -> None:
        self.root = root
        self.forks = forks
        """Whether a console is forked where it needs neither places nor an environment that Python reads itself.

        The command and the environment of such a process can't be seen from outside.
        """
        self.token = secrets.token_hex(8)
        self.data, self.cache, self.config, self.state = (root / n for n in ("data", "cache", "config", "state"))
        self.files = root / "files"
        """For targets."""
        self.consoles: list[Console] = []
        for directory in (self.cache, self.config, self.state, self.files):
            directory.mkdir(parents=True)

    # ------------------------------------------------------------------ starting

    @property
    def env(self) -> dict[str, str]:
        """The whole environment of a cephtui here."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.root),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "CEPHTUI_DATA_DIR": str(self.data),
            "XDG_CACHE_HOME": str(self.cache),
            "XDG_CONFIG_HOME": str(self.config),
            "XDG_STATE_HOME": str(self.state),
            MARK: self.token,
        }

    def start(
        self,
        *args: str,
        env: Mapping[str, str | None] | None = None,
        terminal: int | None = None,
        **places: Unpack[Places],
    ) -> Console:
        """Start cephtui; ``env`` changes the environment, None removes from it; ``terminal`` becomes its own."""
        chosen = {k: v for k, v in {**self.env, **(env or {})}.items() if v is not None}
        forks = self.forks and not places and set(env or ()) <= READ_LATE
        console = Console(self, args, chosen, forks=forks, terminal=terminal, **places)
        self.consoles.append(console)
        return console

    def run(
        self, *args: str, seconds: float = 60.0, env: Mapping[str, str | None] | None = None, **places: Unpack[Places]
    ) -> Console:
        """Run cephtui to its end."""
        console = self.start(*args, env=env, **places)
        console.wait(seconds)
        return console

    def program(self, name: str, script: str) -> dict[str, str]:
        """An environment in which ``name`` is this shell script; ``$FIO`` in it is the real fio."""
        folder = self.root / f"bin-{secrets.token_hex(4)}"
        folder.mkdir()
        path = folder / name
        path.write_text(f"#!/bin/bash\nFIO={shlex.quote(FIO)}\n{script}\n")
        path.chmod(0o755)
        return {"PATH": f"{folder}:{os.environ['PATH']}"}

    # ------------------------------------------------------------------ looking

    def processes(self, program: str | None = None) -> list[Process]:
        """The living processes, the consoles themselves included."""
        found = [*processes_marked(f"{MARK}={self.token}"), *self._forked()]
        return [process for process in found if program in (None, process.program)]

    def _forked(self) -> list[Process]:
        living = [console for console in self.consoles if isinstance(console.process, Forked)]
        return [
            Process(console.process.pid, os.getpid(), "", ("cephtui", *console.args))
            for console in living
            if console.process.poll() is None
        ]

    def fio_main(self) -> Process:
        """The one fio that forked the others."""
        workers = self.processes("fio")
        main = [process for process in workers if process.parent not in {p.pid for p in workers}]
        assert len(main) == 1, f"expected one main process of fio: {main}\n{self.describe()}"
        return main[0]

    def watchdog(self) -> Process:
        """The shell that a console started for its benchmark, not the watcher that it forked."""
        consoles = {console.process.pid for console in self.consoles}
        found = [p for p in self.processes("bash") if p.parent in consoles and "cephtui-watchdog" in p.argv]
        assert len(found) == 1, f"expected one watchdog: {found}\n{self.describe()}"
        return found[0]

    @property
    def log(self) -> str:
        """All of the log file; empty where nothing was logged."""
        path = self.state / "cephtui" / "log" / "cephtui.log"
        return path.read_text() if path.exists() else ""

    def session(self, name: str | None = None) -> Path:
        """The directory of a session, or of the only one."""
        sessions = sorted((self.data / "sessions").iterdir())
        if name is None:
            assert len(sessions) == 1, f"expected one session: {sessions}"
            return sessions[0]
        return self.data / "sessions" / name

    def left(self) -> list[str]:
        """What a cephtui that has ended should have removed: scratch files, and targets; the demo and pages stay."""
        cache = self.cache / "cephtui"
        kept = {*cache.glob("packaged-*"), cache / "pages"}
        paths = (path for folder in (cache, self.files) if folder.is_dir() for path in folder.rglob("*"))
        return [str(path) for path in paths if kept.isdisjoint((path, *path.parents))]

    def wait_gone(self, seconds: float = GONE_SECONDS) -> float:
        """Until no process lives; gives the seconds that took."""
        return wait_for(lambda: not self.processes(), seconds, "the end of every process", self.describe)

    def assert_clean(self) -> None:
        """No process, no scratch file and no target is left."""
        self.wait_gone()
        assert not self.left(), f"left behind: {self.left()}\n{self.describe()}"

    def describe(self) -> str:
        """Processes and files."""
        living = [f"process: {p.pid} (of {p.parent}) {p.state} {shlex.join(p.argv)[:160]}" for p in self.processes()]
        return "\n".join([*living, *(f"file: {path}" for path in self.left())])

    def kill_consoles(self) -> None:
        """Kill those that still run, and wait for the end of what they have started."""
        running = [console for console in self.consoles if console.process.poll() is None]
        for console in running:
            console.process.kill()
        if running:
            self.wait_gone()

    def kill_all(self) -> list[Process]:
        """End what a failed test has left, and tell what it was."""
        left = self.processes()
        for process in left:
            process.kill(signal.SIGCONT)
            process.kill()
        for console in self.consoles:
            console.process.wait(10)
        return left


def sets(**options: object) -> list[str]:
    """``--set`` for each option."""
    return [word for option, value in options.items() for word in ("--set", f"{option}={value}")]


def light(runtime: float, **options: object) -> list[str]:
    """``--set`` for a run that leaves the disk and the processors to others, of a preset whose figures do not matter.

    At so low a rate fio sleeps between two I/Os. At a higher one it spins, as long as a sleep takes on a busy machine.
    """
    return sets(**{"runtime": runtime, "ramp_time": 0, "size": "1M", "numjobs": LIGHT_JOBS, "rate_iops": 20, **options})


def read_samples(run_directory: Path) -> list[Event]:
    """The complete lines of a run's samples."""
    lines = (run_directory / "samples.jsonl").read_bytes().splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith(b"\n")]


_SIZES = {"k": 1 << 10, "m": 1 << 20}


def completed_ios(document: Event, part: Event) -> int:
    """The I/Os of a direction that were completed, by their bytes, by no code of cephtui's: fio counts those begun."""
    options = {**document.get("global options", {}), **document["jobs"][0].get("job options", {})}
    block = options["bs"].lower()
    ios: int = part["io_bytes"] // (int(block[:-1]) * _SIZES[block[-1]])
    return ios


def fio_documents(path: Path) -> list[Event]:
    """Every JSON document in fio's raw output, by no code of cephtui's."""
    text, at, found = path.read_text(), 0, []
    while (at := text.find("{", at)) >= 0:
        document, at = json.JSONDecoder().raw_decode(text, at)
        found.append(document)
    return found
