"""A full disk: the run is refused or stopped with a clear message, and earlier sessions are left alone."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.end_to_end.conftest import Mount
from tests.end_to_end.sandbox import Sandbox, light, read_samples, sets

QUICK = ["run", "read-iops", *light(1, numjobs=1), "--session", "earlier", "--json"]
LONG = ["run", "write-iops", *light(60, numjobs=1, rate_iops=500), "--session", "long", "--json"]


def content(directory: Path) -> dict[str, str]:
    """Every file of a session and the sum of what is in it."""
    files = (path for path in directory.rglob("*") if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def fill(folder: Path) -> Path:
    """Take all space that is left."""
    path = folder / "somebody-elses"
    with pytest.raises(OSError, match="No space left"), path.open("wb", buffering=0) as file:  # noqa: PT012
        while True:
            file.write(b"x" * 4096)
    return path


@pytest.mark.parametrize("size", ["512k", "2m"])
def test_a_run_that_does_not_fit_is_refused_before_it_starts(sandbox: Sandbox, mounted: Mount, size: str) -> None:
    folder = mounted(f"size={size}")
    console = sandbox.run(*LONG, env={"CEPHTUI_DATA_DIR": str(folder)})
    assert console.process.returncode == 3, console.describe()
    (line,) = console.complaints
    assert line.startswith("cephtui: ")
    for part in (str(folder), "needs about 2.", " free: ", "CEPHTUI_DATA_DIR"):
        assert part in line, console.describe()
    assert console.stdout == ""
    sandbox.assert_clean()


def test_a_plan_that_is_refused_leaves_no_empty_session(sandbox: Sandbox, mounted: Mount) -> None:
    env = {"CEPHTUI_DATA_DIR": str(mounted("size=2m"))}
    assert sandbox.run(*LONG, env=env).process.returncode == 3
    assert sandbox.run("sessions", "--json", env=env).events == []


def test_a_disk_without_any_space_is_told(sandbox: Sandbox, mounted: Mount) -> None:
    folder = mounted("size=1m")
    fill(folder)
    console = sandbox.run(*QUICK, env={"CEPHTUI_DATA_DIR": str(folder)})
    assert console.process.returncode == 3, console.describe()
    (line,) = console.complaints
    assert str(folder) in line
    assert ", 0 B free: " in line
    sandbox.assert_clean()


def test_a_short_run_fits_on_two_mebibytes(sandbox: Sandbox, mounted: Mount) -> None:
    env = {"CEPHTUI_DATA_DIR": str(mounted("size=2m"))}
    console = sandbox.run(*QUICK, env=env)
    assert console.process.returncode == 0, console.describe()
    shown = sandbox.run("show", "earlier/1", "--json", env=env)
    assert shown.sorted_events == [event for event in console.sorted_events if event["event"] != "plan"]


def test_a_disk_that_fills_up_stops_the_run(sandbox: Sandbox, mounted: Mount) -> None:
    folder = mounted("size=8m")
    env = {"CEPHTUI_DATA_DIR": str(folder)}
    assert sandbox.run(*QUICK, env=env).process.returncode == 0
    earlier = content(folder / "sessions" / "earlier")
    console = sandbox.start(*LONG, env=env)
    console.wait_for_samples(2)
    fill(folder)
    assert console.wait() == 4, console.describe()
    (run,) = console.runs
    assert run["outcome"] == "stopped"
    directory = folder / "sessions" / "long" / "001"
    assert run["error"].endswith(f": No space left on device ({directory})")
    assert console.complaints == [f"cephtui: write-iops #1 stopped: {run['error']}"]
    assert run["summary"]["write"]["ios"] > 0
    sandbox.assert_clean()
    # what is on disk can be read, and is what was printed
    shown = sandbox.run("show", "long/1", "--json", env=env)
    assert shown.process.returncode == 0, shown.describe()
    assert shown.events[-1] == run
    printed = [event for event in console.events if event["event"] == "sample"]
    samples = [event for event in shown.events if event["event"] == "sample"]
    assert samples == read_samples(directory) == printed
    # and what was there before is as it was
    assert content(folder / "sessions" / "earlier") == earlier
    assert sandbox.run("show", "earlier/1", "--json", env=env).process.returncode == 0
    rows = {row["session"]: row for row in sandbox.run("sessions", "--json", env=env).events}
    assert rows["earlier"]["outcomes"] == {"ok": 1}
    assert rows["long"]["outcomes"] == {"stopped": 1}


def test_a_target_whose_disk_fills_up_is_a_failed_run(sandbox: Sandbox, mounted: Mount) -> None:
    """Between the guard and the filling somebody takes the space: fio tells it, and the target goes again."""
    folder = mounted("size=32m")
    script = f"""
        case " $* " in
            *" --name=fill "*) head -c 100M /dev/zero > {folder}/somebody-elses;;
        esac
        exec "$FIO" "$@" """
    command = ["run", "read-iops", *sets(runtime=1, ramp_time=0, size="8M"), "--target", f"file:{folder}/target"]
    console = sandbox.run(*command, "--json", env=sandbox.program("fio", script))
    assert console.process.returncode == 1, console.describe()
    (run,) = console.runs
    assert run["outcome"] == "failed"
    assert "No space left on device" in run["error"]
    assert [path.name for path in folder.iterdir()] == ["somebody-elses"]
    sandbox.assert_clean()
