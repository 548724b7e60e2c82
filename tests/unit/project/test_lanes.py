"""What becomes of tests that fail once, twice, always, in whatever place: by made-up ones, in real processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from cephtui.frozen import dataclass
from tests import ROOT
from tests.lanes import run
from tests.support import flaky
from tests.support.costs import Group
from tests.support.outcomes import outcome

TIMES = """
    import os
    from pathlib import Path
    def times():
        '''How often this was asked in this module, in whatever process.'''
        file = Path(__file__).with_suffix(".times")
        with file.open("a") as lines:
            lines.write("x")
        return file.stat().st_size
"""
FAILS_ONCE = "def test_it(): assert times() > 1"
FAILS_TWICE = "def test_it(): assert times() > 2"
FAILS_ALWAYS = "def test_it(): assert times() > 99"
AT_IMPORT = "assert times() > 1\ndef test_it(): pass"
IN_A_FIXTURE = """
    import pytest
    @pytest.fixture(scope="module")
    def thing(): assert times() > 1
    def test_it(thing): pass
    def test_more(thing): pass
"""
AFTER_A_FIXTURE = """
    import pytest
    @pytest.fixture(scope="module")
    def thing():
        yield
        assert times() > 1
    def test_it(thing): pass
    def test_more(thing): pass
"""
IN_A_CRASH = """
    def test_it():
        if times() == 1:
            os.kill(os.getpid(), 9)
"""
AT_THE_END = """
    import atexit
    def test_it():
        if times() == 1:
            atexit.register(os._exit, 1)
"""
LEAKS_AT_THE_END = """
    import gc, subprocess
    class Ring: pass
    def test_it():
        if times() == 1:
            gc.disable()
            ring = Ring()
            ring.itself, ring.process = ring, subprocess.Popen(["sleep", "0.2"])
"""
SLOW = """
    import time
    def test_it():
        until = time.process_time() + 0.5
        while time.process_time() < until:
            pass
"""
GOOD = "def test_it(): pass"


@dataclass(frozen=True, slots=True)
class Said:
    """Of a run of the lanes."""

    status: int
    text: str
    kept: Sequence[dict[str, object]]

    def of(self, begin: str) -> list[str]:
        """What follows this word in the lines that begin with it."""
        return [line.removeprefix(begin).strip() for line in self.text.splitlines() if line.startswith(begin)]


HASTY = "import sys; from tests import lanes; lanes._LEFT_SECONDS = 2.0; sys.exit(lanes.main(sys.argv[1:]))"
"""The same, but that what is left running is waited for hardly at all."""


def lanes(folder: Path, *options: str, begun: Sequence[str] = ("-m", "tests.lanes"), **modules: str) -> Said:
    """Run made-up modules; their names in this folder are those given."""
    (folder / "made").mkdir()
    (folder / "pyproject.toml").write_text('[tool.pytest.ini_options]\nfilterwarnings = ["error"]\n')
    for name, text in modules.items():
        (folder / "made" / f"test_{name}.py").write_text(f"{dedent(TIMES)}\n{dedent(text)}\n")
    done = subprocess.run(
        [sys.executable, *begun, "made", *options],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    kept = folder / flaky.FILE
    lines = kept.read_text().splitlines() if kept.exists() else []
    return Said(done.returncode, done.stdout + done.stderr, [json.loads(line) for line in lines])


WORKERS = ("-p", "xdist", "-n", "2", "--dist", "loadfile")
ONCE = {
    "call": (FAILS_ONCE, "made/test_call.py::test_it"),
    "import": (AT_IMPORT, "made/test_import.py: import"),
    "setup": (IN_A_FIXTURE, "made/test_setup.py: setup"),
    "teardown": (AFTER_A_FIXTURE, "made/test_teardown.py: teardown"),
    "end": (AT_THE_END, "made/test_end.py: at the end of its process"),
    "leak": (LEAKS_AT_THE_END, "made/test_leak.py: at the end of its process"),
}


@pytest.mark.parametrize(
    ("names", "options"),
    [
        (("call", "import", "setup"), WORKERS),
        pytest.param(("leak",), (), marks=pytest.mark.matrix),
        pytest.param(("call", "import", "setup"), (), marks=pytest.mark.matrix),
        pytest.param(("teardown",), WORKERS, marks=pytest.mark.matrix),
        pytest.param(("end",), (), marks=pytest.mark.matrix),
        pytest.param(("end",), WORKERS, marks=pytest.mark.matrix),
        pytest.param(("leak",), WORKERS, marks=pytest.mark.matrix),
    ],
)
def test_what_fails_once_is_flaky_and_stops_nothing(
    tmp_path: Path, names: Sequence[str], options: Sequence[str]
) -> None:
    said = lanes(tmp_path, *options, **{name: ONCE[name][0] for name in names})
    assert said.status == 0, said.text
    assert sorted(line["test"] for line in said.kept) == sorted(ONCE[name][1] for name in names)  # type: ignore[type-var]
    assert all({"commit", "load_average", "at", "text"} <= line.keys() for line in said.kept)
    assert len(said.of("FLAKY: ")) == len(names)
    assert len(said.of("again, alone, ")) == flaky.RUNS * len(names)
    assert said.of("passed after ")


@pytest.mark.matrix
def test_a_crash_of_a_worker_is_of_the_test_that_it_ran(tmp_path: Path) -> None:
    said = lanes(tmp_path, *WORKERS, crash=IN_A_CRASH, good=GOOD)
    assert said.status == 0, said.text
    assert [line["test"] for line in said.kept] == ["made/test_crash.py::test_it"]


@pytest.mark.matrix
def test_a_crash_of_all_is_of_the_module_and_the_rest_is_run_then(tmp_path: Path) -> None:
    said = lanes(tmp_path, crash=IN_A_CRASH, second=FAILS_ONCE)
    assert said.status == 0, said.text
    assert [line["test"] for line in said.kept] == [
        "made/test_crash.py: in the middle of its process",
        "made/test_second.py::test_it",
    ]


@pytest.mark.parametrize("text", [FAILS_TWICE, pytest.param(FAILS_ALWAYS, marks=pytest.mark.matrix)])
def test_what_fails_again_is_red(tmp_path: Path, text: str) -> None:
    said = lanes(tmp_path, it=text, once=FAILS_ONCE)
    assert said.status == 1
    assert said.of("FAILED again: ") == ["made/test_it.py::test_it"]
    assert said.of("FAILED after ")
    assert not said.kept


@pytest.mark.matrix
def test_more_than_three_are_red_and_not_run_again(tmp_path: Path) -> None:
    said = lanes(tmp_path, **dict.fromkeys(("a", "b", "c", "d"), FAILS_ONCE))
    assert said.status == 1
    assert "4 failures are more than 3: none is run again" in said.text
    assert not said.of("again, alone")


@pytest.mark.matrix
def test_an_error_of_pytest_itself_is_red(tmp_path: Path) -> None:
    said = lanes(tmp_path, "--no-such-option", good=GOOD)
    assert said.status == 1
    assert "unrecognized arguments: --no-such-option" in said.text


def test_what_a_lane_leaves_running_is_red_and_named_where_it_can_be_known(tmp_path: Path) -> None:
    leaves = 'import subprocess\ndef test_it(): subprocess.Popen(["setsid", "sleep", "45.67"]).returncode = 0'
    group = Group.make("probe")
    said = lanes(tmp_path, begun=("-c", HASTY), leaves=leaves)
    if not group:
        assert said.status == 0, said.text
        assert ["chosen", "unknown"] in [line.split()[::2] for line in said.text.splitlines()]
        return
    group.remove()
    assert said.status == 1, said.text
    (left,) = said.of("left running: ")
    assert left.endswith("sleep 45.67")
    os.kill(int(left.partition(":")[0]), 9)


def test_what_each_lane_cost_and_the_slowest_modules_are_said(tmp_path: Path) -> None:
    said = lanes(tmp_path, slow=SLOW, good=GOOD)
    assert said.status == 0, said.text
    rows = [line.split() for line in said.text.splitlines()]
    slowest = rows.index(["slowest", "modules", "s", "CPU", "s"])
    assert [row[0] for row in rows[slowest - 2 : slowest]] == ["chosen", "whole"]
    (module, _, cpu), (second, _, _) = rows[slowest + 1 : slowest + 3]
    assert (module, second) == ("made/test_slow.py", "made/test_good.py")
    assert float(cpu) >= 0.5


def test_one_setup_that_fails_is_of_its_test() -> None:
    base: dict[str, Any] = {"process": 1, "when": "setup", "text": "no", "load": 1.0}
    begun: list[dict[str, Any]] = [{"process": 1, "runs": True}, {"process": 1, "begins": "a.py"}]
    ended: list[dict[str, Any]] = [{"process": 1, "finished": 1}, {"process": 1, "ended": True}]
    closed: dict[str, Any] = {"process": 1, "module": "a.py", "seconds": 1.0, "cpu_seconds": 1.0}
    one = [{**base, "test": "a.py::test_one"}]
    two = [*one, {**base, "test": "a.py::test_two"}]
    assert [f.tests for f in outcome([*begun, *one, closed, *ended]).failures] == [("a.py::test_one",)]
    assert [f.tests for f in outcome([*begun, *two, closed, *ended]).failures] == [("a.py",)]


@pytest.mark.root
def test_what_comes_last_is_behind_no_other_work_once_the_first_have_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{ROOT}")
    Path("first.py").write_text("import os, time\ntime.sleep(1)\nprint(os.nice(0))")
    Path("second.py").write_text(
        "import os, time\nprint(os.nice(0))\nwhile os.nice(0): time.sleep(0.1)\nprint(os.nice(0))"
    )
    own = os.getpriority(os.PRIO_PROCESS, 0)  # of the lane that this test is in, and other lanes' would add to it
    os.setpriority(os.PRIO_PROCESS, 0, 0)
    try:
        ended = run({"lab": ["first"], "units": ["second"]}, quietly=True)
    finally:
        os.setpriority(os.PRIO_PROCESS, 0, own)
    assert [(lane.name, lane.text.split()) for lane in ended] == [("lab", ["-5"]), ("units", ["10", "0"])]
