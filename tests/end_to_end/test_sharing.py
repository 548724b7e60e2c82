"""Several cephtui at once, and one after another that was killed."""

from __future__ import annotations

import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest

from cephtui.nodes.local import LocalConnection
from cephtui.targets import file
from tests.end_to_end.conftest import NewSandbox
from tests.end_to_end.sandbox import ENDLESS, Console, Sandbox, light, sets, wait_for

RUN = ["run", "read-iops", *light(3), "--json"]


@pytest.fixture(scope="module")
def shared(new_sandbox: NewSandbox) -> dict[str, Console]:
    """Several in one sandbox: one that measures, and those that come into its way after it has begun."""
    sandbox = new_sandbox()
    target = ["--target", f"file:{sandbox.files}/target"]
    first = sandbox.start(*RUN, *sets(runtime=ENDLESS), *target, "--session", "S")
    first.wait_for_samples(1)
    consoles = {
        "same target": sandbox.start(*RUN, *target),
        "same session": sandbox.start(*RUN, "--session", "S"),
        "scratch": sandbox.start(*RUN, *sets(runtime=1)),
        "another scratch": sandbox.start(*RUN, *sets(runtime=1)),
    }
    for console in consoles.values():
        console.wait()
    assert (sandbox.files / "target").exists(), "somebody removed the target of a run"
    first.wait_for_samples(len(first.samples()) + 1)
    first.process.send_signal(signal.SIGINT)
    first.wait()
    return {"first": first, **consoles}


def test_a_target_in_use_is_refused(shared: dict[str, Console]) -> None:
    second = shared["same target"]
    assert second.process.returncode == 3, second.describe()
    (line,) = second.complaints
    assert "target" in line


def test_a_session_in_use_is_refused(shared: dict[str, Console]) -> None:
    second = shared["same session"]
    assert second.process.returncode == 3, second.describe()
    (line,) = second.complaints
    assert "session S " in line
    assert line.endswith(" --session")
    assert second.stdout == ""


def test_the_one_that_was_first_is_unharmed(shared: dict[str, Console]) -> None:
    first = shared["first"]
    assert first.process.returncode == 4, first.describe()
    assert (first.runs[0]["outcome"], first.runs[0]["error"]) == ("stopped", None)
    assert first.sandbox.run("show", "S", "--json").events == first.runs
    first.sandbox.assert_clean()


def test_each_has_a_scratch_file_of_its_own(shared: dict[str, Console]) -> None:
    both = shared["scratch"], shared["another scratch"]
    for console in both:
        assert console.process.returncode == 0, console.describe()
    assert len({console.runs[0]["target"] for console in both}) == 2
    assert len({console.runs[0]["session"] for console in both}) == 2


def test_guards_that_look_at_a_target_do_not_disturb_its_run(sandbox: Sandbox) -> None:
    """Each look holds the file's lock for a moment."""
    target = str(sandbox.files / "target")
    console = sandbox.start(*RUN, *sets(runtime=1, iodepth="1,2"), "--target", f"file:{target}")
    looked = 0
    while console.process.poll() is None:
        subprocess.run(file.inspect_file_argv(target), check=True, capture_output=True)
        looked += 1
    assert console.process.returncode == 0, f"after {looked} looks\n{console.describe()}"
    sandbox.assert_clean()


async def test_a_file_that_came_into_being_since_the_guard_is_not_taken(tmp_path: Path) -> None:
    """Between looking and creating, somebody's file may have appeared under the name."""
    theirs = tmp_path / "target"
    theirs.write_text("precious")
    done = await LocalConnection().run(file.create_argv(str(theirs), 1 << 20))
    assert done.status != 0
    assert theirs.read_text() == "precious"
    assert done.stderr.strip()


def test_runs_killed_one_after_another_leave_nothing_after_the_next(sandbox: Sandbox) -> None:
    for number in range(4):
        console = sandbox.start(*RUN, *sets(runtime=ENDLESS, numjobs=2))
        console.wait_for_samples(1)
        time.sleep(0.2 * number)
        console.process.send_signal(signal.SIGKILL if number % 2 else signal.SIGTERM)
        console.wait()
    sandbox.wait_gone()
    last = sandbox.run(*RUN, *sets(runtime=1))
    assert last.process.returncode == 0, last.describe()
    sandbox.assert_clean()
    outcomes = Counter(name for row in sandbox.run("sessions", "--json").events for name in row["outcomes"])
    assert outcomes == {"stopped": 2, "lost": 2, "ok": 1}


@pytest.fixture(scope="module")
def left(new_sandbox: NewSandbox) -> dict[str, Sandbox]:
    """Sandboxes in which a run on a target was killed."""
    sandboxes = {name: new_sandbox() for name in ("used again", "somebody's now")}
    for sandbox in sandboxes.values():
        sandbox.start(*RUN, "--target", f"file:{sandbox.files}/target")
    for sandbox in sandboxes.values():
        sandbox.consoles[0].wait_for_samples(1)
        sandbox.consoles[0].process.kill()
    for sandbox in sandboxes.values():
        sandbox.wait_gone()
        assert (sandbox.files / "target").exists(), "nothing was left, the tests are void"
    return sandboxes


def test_a_killed_run_is_taken_up_on_the_same_target(left: dict[str, Sandbox]) -> None:
    """The left file carries the mark: it is removed or used again, without being asked for."""
    sandbox = left["used again"]
    again = sandbox.run(*RUN, *sets(runtime=1), "--target", f"file:{sandbox.files}/target")
    assert again.process.returncode == 0, again.describe()
    sandbox.assert_clean()


def test_what_was_left_is_only_removed_while_it_carries_the_mark(left: dict[str, Sandbox]) -> None:
    sandbox = left["somebody's now"]
    target = sandbox.files / "target"
    target.write_text("precious")
    after = sandbox.run(*RUN, *sets(runtime=1))
    assert after.process.returncode == 0, after.describe()
    assert target.read_text() == "precious"


def test_many_at_once_on_a_new_file_never_share_it(sandbox: Sandbox) -> None:
    """All look before one of them has created it: one measures, the others are refused."""
    target = ["--target", f"file:{sandbox.files}/target"]
    consoles = [sandbox.start(*RUN, *sets(runtime=ENDLESS), *target, "--session", name) for name in "ABCD"]

    def running() -> list[Console]:
        return [console for console in consoles if console.process.poll() is None]

    wait_for(lambda: len(running()) == 1, 30, "all but one refused", sandbox.describe)
    (first,) = running()
    first.wait_for_samples(1)
    first.process.send_signal(signal.SIGINT)
    codes = sorted(console.wait() for console in consoles)
    assert codes == [3, 3, 3, 4], "\n".join(console.describe() for console in consoles)
    sandbox.assert_clean()
