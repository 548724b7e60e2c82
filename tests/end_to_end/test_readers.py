"""Who reads the output may stand still or go away; the measurement does not depend on them."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.end_to_end.conftest import NewSandbox
from tests.end_to_end.sandbox import ENDLESS, Console, Sandbox, light, on_terminal, read_samples, sets, wait_for

RUN = ["run", "write-iops", *light(3), "--session", "S"]
F_SETPIPE_SZ = 1031

EACH_SECOND = ("sample", "node-sample")
CLOSED = ((0,), (1,), (2,), (0, 1, 2))
"""Streams that a caller has closed, by their numbers."""


def closing(numbers: tuple[int, ...]) -> Callable[[], None]:
    """Close them where cephtui is about to start."""

    def close() -> None:
        for number in numbers:
            os.close(number)

    return close


def small_pipe() -> tuple[int, int]:
    """A pipe that is full after one page."""
    ours, theirs = os.pipe()
    fcntl.fcntl(theirs, F_SETPIPE_SZ, 4096)
    return ours, theirs


def nearly_full_terminal() -> tuple[int, int]:
    """A terminal with room for a few of the lines that a run shows, however seldom a busy machine lets it draw."""
    ours, theirs = os.openpty()
    os.set_blocking(theirs, False)
    with contextlib.suppress(BlockingIOError):
        while os.write(theirs, b"." * 64):
            pass
    os.set_blocking(theirs, True)
    os.read(ours, 2048)
    return ours, theirs


def outcome(sandbox: Sandbox) -> str | None:
    """What the run's file says; None while it goes on."""
    path = sandbox.data / "sessions" / "S" / "001" / "run.json"
    return json.loads(path.read_text())["outcome"] if path.exists() else None


def read_all(descriptor: int) -> bytes:
    """What is there until the other side closes."""
    parts = []
    with contextlib.suppress(OSError), os.fdopen(descriptor, "rb", buffering=0) as file:  # a terminal ends with EIO
        while part := file.read(65536):
            parts.append(part)
    return b"".join(parts)


@pytest.fixture(scope="module")
def stalled(new_sandbox: NewSandbox) -> dict[str, tuple[Console, int]]:
    """Runs whose output nobody has read until they were saved, with the end to read."""
    pipe, written = small_pipe()
    terminal, shown = nearly_full_terminal()
    stopping, unread = small_pipe()
    full, filled = nearly_full_terminal()
    consoles = {
        "pipe": (new_sandbox().start(*RUN, "--json", stdout=written), pipe),
        "terminal": (new_sandbox().start(*RUN, *sets(runtime=8), **on_terminal(shown)), terminal),
        "stopped": (new_sandbox().start(*RUN, *sets(runtime=ENDLESS), "--json", stdout=unread), stopping),
        "stopped terminal": (new_sandbox().start(*RUN, *sets(runtime=ENDLESS), **on_terminal(filled)), full),
    }
    for descriptor in (written, shown, unread, filled):
        os.close(descriptor)
    for numbers in CLOSED:
        console = new_sandbox().start(*RUN, *sets(runtime=1), "--json", preexec_fn=closing(numbers))
        consoles[f"closed {numbers}"] = console, -1
    consoles["followed"] = new_sandbox().start(*RUN, *sets(runtime=ENDLESS), "--json"), -1
    for name, options in (("gone", sets(runtime=ENDLESS)), ("gone before the table", sets(runtime=1))):
        ours, theirs = os.pipe()
        how = ["--json"] if name == "gone" else []
        consoles[name] = new_sandbox().start(*RUN, *options, *how, stdout=theirs), -1
        os.close(theirs)
        with os.fdopen(ours, "rb") as file:
            assert not how or json.loads(file.readline())["event"] == "plan"
    for name in ("stopped", "stopped terminal"):
        console = consoles[name][0]
        samples = console.sandbox.data / "sessions" / "S" / "001" / "samples.jsonl"
        wait_for(lambda: samples.exists() and samples.read_bytes().count(b"\n") > 9, 30, "samples", console.describe)  # noqa: B023
        console.process.send_signal(signal.SIGTERM)
    return consoles


def test_a_run_whose_reader_stands_still_completes_and_is_saved(stalled: dict[str, tuple[Console, int]]) -> None:
    console, pipe = stalled["pipe"]
    console.wait_for(lambda: outcome(console.sandbox) == "ok", 30, "the end of the run")
    assert console.process.poll() is None, "it has more to say than the pipe holds"
    lines = read_all(pipe).splitlines()
    assert console.wait() == 0, console.describe()
    events = [json.loads(line) for line in lines]
    assert [event["event"] for event in events if event["event"] not in EACH_SECOND] == ["plan", "run"]
    samples = [event for event in events if event["event"] == "sample"]
    assert samples == read_samples(console.sandbox.session() / "001"), "not a sample was lost"
    console.sandbox.assert_clean()


def test_a_run_on_a_terminal_that_stands_still_completes_and_is_saved(
    stalled: dict[str, tuple[Console, int]],
) -> None:
    console, terminal = stalled["terminal"]
    console.wait_for(lambda: outcome(console.sandbox) == "ok", 30, "the end of the run")
    assert console.process.poll() is None, "the terminal was never full, the test is void"
    text = read_all(terminal).decode()
    assert console.wait() == 0, console.describe()
    assert "write-iops" in text
    assert "cephtui show S" in text
    console.sandbox.assert_clean()


def test_a_reader_that_goes_away_stops_the_run(stalled: dict[str, tuple[Console, int]]) -> None:
    """As with ``| head -1``."""
    console, _ = stalled["gone"]
    assert console.wait() == 4, console.describe()
    assert outcome(console.sandbox) == "stopped"
    assert console.complaints == ["cephtui: write-iops #1 stopped"]
    console.sandbox.assert_clean()


def test_a_table_that_nobody_reads_is_no_failure(stalled: dict[str, tuple[Console, int]]) -> None:
    """The run was over when the reader was found to be gone."""
    console, _ = stalled["gone before the table"]
    assert console.wait() == 0, console.describe()
    assert outcome(console.sandbox) == "ok"
    assert "Traceback" not in console.stderr
    console.sandbox.assert_clean()


def test_a_full_disk_behind_stdout_stops_the_run(sandbox: Sandbox) -> None:
    with Path("/dev/full").open("w") as full:
        console = sandbox.run(*RUN, *sets(runtime=ENDLESS), "--json", stdout=full)
    assert console.process.returncode == 4, console.describe()
    assert console.stderr.startswith("cephtui: ")
    assert "Traceback" not in console.stderr
    sandbox.assert_clean()


@pytest.mark.parametrize("closed", CLOSED)
def test_closed_streams_harm_nothing(stalled: dict[str, tuple[Console, int]], closed: tuple[int, ...]) -> None:
    """As when a service starts it without any; no other file may take their numbers."""
    console, _ = stalled[f"closed {closed}"]
    assert console.wait() == 0, console.describe()
    assert outcome(console.sandbox) == "ok"
    assert console.complaints == []
    printed = [event["event"] for event in console.events if event["event"] not in EACH_SECOND]
    assert printed == ([] if 1 in closed else ["plan", "run"])
    console.sandbox.assert_clean()


def test_errors_never_go_to_stdout(sandbox: Sandbox) -> None:
    """It is for JSON Lines alone, whatever has become of stderr."""
    console = sandbox.run("run", "no-such-preset", "--json", preexec_fn=closing((2,)))
    assert console.process.returncode == 2
    assert console.stdout == ""


@pytest.mark.parametrize(
    "words",
    [
        ["show", "demo", "--json"],
        ["show", "demo/14", "--json"],
        ["show", "demo"],
        ["report", "demo"],
        ["report", "demo", "--format", "html", "-o", "-"],
        ["sessions"],
        ["presets", "--json"],
        ["explain"],
        ["schema"],
        ["help", "presets"],
        ["run", "write-iops", "--dry-run"],
        ["completion", "bash"],
    ],
)
def test_a_reader_that_has_seen_enough_of_a_listing_is_no_failure(sandbox: Sandbox, words: list[str]) -> None:
    """As with ``| head -1``, where the pipe may be full."""
    if any("demo" in word for word in words):
        assert sandbox.run("show", "demo/8").process.returncode == 0, "unpacking it would be announced"
    ours, theirs = small_pipe()
    console = sandbox.start(*words, stdout=theirs)
    os.close(theirs)
    with os.fdopen(ours, "rb") as file:
        assert file.readline()
    assert console.wait() == 0, console.describe()
    assert [line for line in console.complaints if "no verdict" not in line] == []


def test_a_verdict_that_nobody_reads_keeps_its_exit_code(sandbox: Sandbox) -> None:
    ours, theirs = os.pipe()
    console = sandbox.start("check", "demo", stdout=theirs)
    os.close(theirs)
    os.close(ours)
    assert console.wait() == sandbox.run("check", "demo").process.returncode, console.describe()


@pytest.mark.parametrize("listing", ["sessions", "presets", "schema", "info", "doctor", "--help"])
def test_a_listing_that_can_not_be_written_is_one_line(sandbox: Sandbox, listing: str) -> None:
    with Path("/dev/full").open("w") as full:
        console = sandbox.run(listing, stdout=full)
    assert console.process.returncode == 1
    assert console.stderr.startswith("cephtui: ")
    assert console.stderr.count("\n") == 1, console.describe()


def test_the_live_display_of_a_terminal(sandbox: Sandbox) -> None:
    """Progress while it runs, the table at the end, and a whole terminal afterwards."""
    ours, theirs = os.openpty()
    console = sandbox.start(*RUN, **on_terminal(theirs))
    os.close(theirs)
    parts = []
    with os.fdopen(ours, "rb", buffering=0) as file, contextlib.suppress(OSError):
        while select.select([file], [], [], 20)[0]:
            parts.append(file.read(65536))
    text = b"".join(parts).decode()
    assert console.wait() == 0, console.describe()
    assert "\x1b[?25l" in text, "the cursor is hidden while it runs"
    assert text.rindex("\x1b[?25h") > text.rindex("\x1b[?25l"), "and shown again"
    assert "left" in text, "no estimate of the time that is left"
    assert "cephtui show S" in text
    sandbox.assert_clean()


def test_a_second_reader_follows_the_session(stalled: dict[str, tuple[Console, int]]) -> None:
    """A session that is being written can be looked at, and is not taken for lost."""
    console, _ = stalled["followed"]
    console.wait_for_samples(1)
    seen = console.sandbox.run("sessions", "--json").events[0]
    shown = console.sandbox.run("show", "S/1", "--json")
    assert (seen["writing"], seen["outcomes"]) == (True, {"running": 1})
    assert shown.events[-1]["outcome"] is None
    assert len(shown.events) > 1
    console.process.send_signal(signal.SIGINT)
    assert console.wait() == 4, console.describe()


@pytest.mark.parametrize("name", ["stopped", "stopped terminal"])
def test_a_stop_with_a_reader_that_stands_still_saves_the_run_and_ends(
    stalled: dict[str, tuple[Console, int]], name: str
) -> None:
    console, descriptor = stalled[name]
    console.wait_for(lambda: outcome(console.sandbox) == "stopped", 30, "the end of the run")
    assert console.wait() == 4, console.describe()
    assert "Traceback" not in console.stderr
    os.close(descriptor)
    console.sandbox.assert_clean()
