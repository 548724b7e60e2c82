"""What the tests of a lane came to: a plugin of pytest that writes it down in every process, and the reader of that.

    OUTCOMES=FILE python -m pytest -p tests.support.outcomes ...

A line of the file is a JSON object with the number of the process that wrote it. Also what pytest itself can't say is
there: which modules a process has run, whether it came to its end, and what was raised behind its last test.
"""

from __future__ import annotations

import atexit
import json
import os
import sys
import time
import traceback
from collections import defaultdict
from collections.abc import Generator, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

VARIABLE = "OUTCOMES"
_CRASHED = "crashed while running"
"""In what xdist says of the test in which a worker has ended."""


# ---------------------------------------------------------------------------------------------- the plugin


class _Recorder:
    """Writes lines that are whole, whoever else writes to the file."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        self._pid = os.getpid()
        self.is_behind_the_tests = False

    def write(self, **record: Any) -> None:
        if os.getpid() == self._pid:  # not in a fork of a test
            os.write(self._file, f"{json.dumps({'process': self._pid, **record})}\n".encode())

    def unraisable(self, args: sys.UnraisableHookArgs) -> None:
        """What nobody can catch: pytest looks at it between tests, and at nothing behind the last one."""
        sys.__unraisablehook__(args)
        if self.is_behind_the_tests:
            self.write(end=f"{args.err_msg or 'Exception ignored in'} {args.object!r}: {args.exc_value!r}")


class _Plugin:
    """One for each process: the one that is started, and those that run the tests for it."""

    def __init__(self, recorder: _Recorder, *, has_workers: bool, is_worker: bool) -> None:
        self._recorder, self._runs, self._reports = recorder, not has_workers, not is_worker
        self._module, self._began, self._cpu = "", 0.0, 0.0

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> Generator[None, object, object]:
        module = _module(item.nodeid)
        if module != self._module:
            self._module, self._began, self._cpu = module, time.monotonic(), _cpu_seconds()
            self._recorder.write(begins=module)
        result = yield
        if nextitem is None or _module(nextitem.nodeid) != module:
            cost = {"seconds": time.monotonic() - self._began, "cpu_seconds": _cpu_seconds() - self._cpu}
            self._recorder.write(module=module, **cost)
            self._module = ""
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and self._reports:
            self._failed(report.nodeid, report.when or "call", report.longreprtext)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        # xdist reports also that two processes have collected different tests, as where one of them had failed
        if report.failed and self._reports and _module(report.nodeid).endswith(".py"):
            self._failed(report.nodeid, "collect", report.longreprtext)

    def pytest_internalerror(self, excrepr: object) -> None:
        self._recorder.write(internal=str(excrepr))

    def _failed(self, test: str, when: str, text: str) -> None:
        self._recorder.write(test=test, when=when, text=text, load=os.getloadavg()[0])

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        self._recorder.is_behind_the_tests = True
        if self._reports:
            self._recorder.write(finished=int(exitstatus))

    @pytest.hookimpl(wrapper=True)
    def pytest_unconfigure(self) -> Generator[None, object, object]:
        try:
            return (yield)
        except BaseException:
            if self._runs:
                self._recorder.write(end=traceback.format_exc())
            raise


def pytest_configure(config: pytest.Config) -> None:
    """Begin to write, where the environment says so."""
    path = os.environ.get(VARIABLE)
    if not path:
        return
    recorder, is_worker = _Recorder(path), hasattr(config, "workerinput")
    has_workers = not is_worker and bool(config.getoption("tx", None))
    recorder.write(runs=not has_workers)
    sys.unraisablehook = recorder.unraisable
    atexit.register(recorder.write, ended=True)
    config.pluginmanager.register(_Plugin(recorder, has_workers=has_workers, is_worker=is_worker))


def _module(test: str) -> str:
    return test.partition("::")[0]


def _cpu_seconds() -> float:
    """Of this process, and of those that it has waited for."""
    return sum(os.times()[:4])


# ---------------------------------------------------------------------------------------------- the reader


@dataclass(frozen=True, slots=True)
class Failure:
    """Something that failed, and what has to be run again to see whether it fails again."""

    what: str
    """A test, or in what of a module or of a process it was."""
    tests: tuple[str, ...]
    """Tests and modules, as pytest takes them."""
    text: str
    load: float
    """The load average of that moment."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What the tests of a module took, in all processes; of those they have started, what was waited for."""

    module: str
    seconds: float
    cpu_seconds: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """Of a process of pytest, and of those that ran tests for it."""

    failures: tuple[Failure, ...]
    costs: tuple[Cost, ...]
    is_complete: bool
    """Whether all tests were run: a module that can't be imported ends the run before the first."""
    internal: str
    """An error of pytest's own; empty if there was none."""


@dataclass(slots=True)
class _Process:
    runs: bool = True
    """Whether it runs tests itself."""
    open_module: str = ""
    modules: list[str] = field(default_factory=list)
    ends: list[str] = field(default_factory=list)
    has_ended: bool = False


def read(path: Path) -> Outcome:
    """The outcome that is written in a file."""
    lines = path.read_text(errors="replace").splitlines() if path.exists() else []
    return outcome([json.loads(line) for line in lines])


def outcome(records: Iterable[dict[str, Any]]) -> Outcome:
    """The outcome of these records."""
    processes: dict[int, _Process] = defaultdict(_Process)
    reports: list[dict[str, Any]] = []
    costs: dict[str, Cost] = {}
    finished, internal = False, ""
    for record in records:
        process = processes[record["process"]]
        match record:
            case {"runs": runs}:
                process.runs = runs
            case {"begins": module}:
                process.open_module = module
                process.modules.append(module)
            case {"module": module, "seconds": seconds, "cpu_seconds": cpu}:
                process.open_module = ""
                before = costs.get(module, Cost(module, 0.0, 0.0))
                costs[module] = Cost(module, before.seconds + seconds, before.cpu_seconds + cpu)
            case {"test": _}:
                reports.append(record)
            case {"end": text}:
                process.ends.append(text)
            case {"ended": _}:
                process.has_ended = True
            case {"finished": _}:
                finished = True
            case {"internal": text}:
                internal = text
    failures = [*_reported(reports), *_at_the_end(processes.values(), reports)]
    is_complete = finished and not any(report["when"] == "collect" for report in reports)
    return Outcome(tuple(failures), tuple(costs.values()), is_complete, internal)


def _reported(reports: Iterable[dict[str, Any]]) -> list[Failure]:
    """A test that failed; or its module, where what failed may be of all its tests: in an import, in a fixture."""
    setups, failures = defaultdict[str, list[dict[str, Any]]](list), dict[str, Failure]()
    for report in reports:
        test, when = report["test"], report["when"]
        module = _module(test)
        if when == "setup":
            setups[module].append(report)
        elif when not in ("collect", "teardown"):  # a crash is of no phase
            failures.setdefault(test, Failure(test, (test,), report["text"], report["load"]))
        else:
            what = {"collect": f"{module}: import", "teardown": f"{module}: teardown"}[when]
            failures.setdefault(what, Failure(what, (module,), report["text"], report["load"]))
    for module, (first, *others) in setups.items():
        alone = first["test"]
        what, tests = (f"{module}: setup", (module,)) if others else (alone, (alone,))
        failures.setdefault(what, Failure(what, tests, first["text"], first["load"]))
    return [*failures.values()]


def _at_the_end(processes: Iterable[_Process], reports: Iterable[dict[str, Any]]) -> Iterable[Failure]:
    """What was raised behind the last test of a process, and processes that have not come to their end."""
    crashes = [_module(report["test"]) for report in reports if _CRASHED in report["text"]]
    for process in processes:
        if not process.runs or (process.has_ended and not process.ends):
            continue
        if process.open_module in crashes:
            continue  # xdist names the test
        modules = (process.open_module,) if process.open_module else tuple(dict.fromkeys(process.modules))
        if not modules:
            continue
        shown = modules[0] if len(modules) == 1 else f"{modules[0]} and {len(modules) - 1} modules more"
        where = "in the middle" if process.open_module else "at the end"
        text = "\n".join(process.ends) or f"the process that ran {', '.join(modules)} ended {where}"
        yield Failure(f"{shown}: {where} of its process", modules, text, os.getloadavg()[0])
