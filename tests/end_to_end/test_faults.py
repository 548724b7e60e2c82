"""A fio that fails, hangs or talks nonsense: the run ends with the right outcome and says what happened."""

from __future__ import annotations

import json
import re
import resource
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.end_to_end.conftest import NewSandbox
from tests.end_to_end.sandbox import ENDLESS, Console, Event, Sandbox, light, sets

RUN = ["run", "read-iops", *light(2), "--session", "S", "--json"]
FILLS = 'case " $* " in *" --version "*|*" --name=fill "*) exec "$FIO" "$@";; esac'
"""A fake fio's beginning: its version and its filling are real."""


def saved(console: Console) -> Event:
    """The run, printed and saved alike."""
    (run,) = console.runs
    assert json.loads((console.sandbox.session("S") / "001" / "run.json").read_text()) == run
    return run


@dataclass(frozen=True)
class Fault:
    """What is wrong with fio where it measures, and what is said of it."""

    script: str
    error: str = ""
    code: int = 1
    outcome: str = "failed"
    args: tuple[str, ...] = ()


FAULTS = {
    "does nothing": Fault("exit 0", "it ended without any I/O"),
    "fails": Fault("exit 3", "fio ended with status 3"),
    "fails with a word": Fault("echo 'fio: something is wrong' >&2; exit 1", "fio: something is wrong"),
    "is killed": Fault("kill -SEGV $$", "fio ended with status 139"),
    "prints garbage": Fault("head -c 300000 /dev/urandom; exit 0"),
    "complains in garbage": Fault("head -c 300000 /dev/urandom >&2; exit 1"),
    "prints another document": Fault('echo \'{"fio version": "fio-3.33", "jobs": [{}]}\'; echo; exit 0'),
    "is cut short": Fault('"$FIO" "$@" | head -c 3000; exit 0'),
    "knows an option no more": Fault('exec -a fio "$FIO" "$@" --no-such-option=1', "no-such-option"),
    "hangs": Fault("exec sleep 1000", "stalled: no output from local for ", 4, "stopped", ("--stall-timeout", "12")),
}
ALMOST = {
    # not only where it measures: these scripts are the whole fio
    "text between": f'{FILLS}\necho "note: {{hello"; "$FIO" "$@" | sed "s/^}}/}}\\nfio: some text {{/"; exit 0',
    "fills no more": 'case " $* " in *" --name=fill "*) ulimit -f 100;; esac; exec "$FIO" "$@"',
    "fills a part": 'case " $* " in *" --name=fill "*) exec "$FIO" "$@" --io_size=1M;; esac; exec "$FIO" "$@"',
    "fails once": f'{FILLS}\ncase " $* " in *--iodepth=1" "*) exit 9;; esac; exec "$FIO" "$@"',
    "freezes": 'exec "$FIO" "$@"',
    "page cache": 'exec "$FIO" "$@"',
}
MORE = {
    "fills a part": sets(size="4M"),
    "fails once": sets(iodepth="1,2", runtime=1),
    "freezes": [*sets(runtime=ENDLESS), "--stall-timeout", "10"],
    "page cache": sets(direct=0, runtime=1),
}


@pytest.fixture(scope="module")
def faulty(new_sandbox: NewSandbox) -> dict[str, Console]:
    """A run with each of them, side by side."""
    consoles = {}
    for name, fault in FAULTS.items():
        sandbox = new_sandbox()
        consoles[name] = sandbox.start(*RUN, *fault.args, env=sandbox.program("fio", f"{FILLS}\n{fault.script}"))
    for name, script in ALMOST.items():
        sandbox = new_sandbox()
        target = ["--target", f"file:{sandbox.files}/target"]
        consoles[name] = sandbox.start(*RUN, *MORE.get(name, []), *target, env=sandbox.program("fio", script))
    consoles["freezes"].wait_for_samples()
    consoles["freezes"].sandbox.fio_main().kill(signal.SIGSTOP)
    return consoles


NAMES = ("sp ace", "co:lon", "back\\slash\\:", "qu'ote\"s", "$HOME", "ünï✓", "-x", "a=b,c%s")


@pytest.fixture(scope="module")
def named(new_sandbox: NewSandbox, faulty: dict[str, Console]) -> tuple[list[Console], set[str]]:
    """Runs on targets of these names, while fio hangs elsewhere; and every name that was seen in their directory."""
    sandbox, seen = new_sandbox(), set[str]()
    consoles = [
        sandbox.start(*RUN, "--target", f"file:{sandbox.files}/{name}", "--session", f"S{number}")
        for number, name in enumerate(NAMES)
    ]
    while any(console.process.poll() is None for console in consoles):
        seen.update(path.name for path in sandbox.files.iterdir())
        time.sleep(0.02)
    return consoles, seen


def test_a_name_with_special_characters_is_used_as_it_is(named: tuple[list[Console], set[str]]) -> None:
    """fio gives some of them a meaning, and would write to a file of another name."""
    consoles, seen = named
    for console in consoles:
        assert console.wait() == 0, console.describe()
    assert seen == set(NAMES)
    consoles[0].sandbox.assert_clean()


@pytest.mark.parametrize("name", [*FAULTS])
def test_a_fault_of_fio_is_told(faulty: dict[str, Console], name: str) -> None:
    console, fault = faulty[name], FAULTS[name]
    assert console.wait(30) == fault.code, console.describe()
    run = saved(console)
    assert run["outcome"] == fault.outcome
    assert run["error"]
    assert fault.error in run["error"]
    said = f"cephtui: read-iops #1 {fault.outcome}: {' '.join(run['error'].split())}"
    assert console.complaints[-1] == said
    assert "Traceback" not in console.stderr
    console.sandbox.assert_clean()


def test_silence_is_reported_after_ten_seconds(faulty: dict[str, Console]) -> None:
    """While it goes on, and with the run."""
    console = faulty["hangs"]
    assert [line.startswith("cephtui: stalled: ") for line in console.complaints] == [True, False]
    assert re.search(r"\bfio\b.* local .*\b1\d* s", console.complaints[0])
    (finding,) = [finding for finding in saved(console)["findings"] if finding["code"] == "stalled"]
    assert finding["from_seconds"] == 0
    assert finding["values"]["to_the_end"]


def test_what_a_fio_that_fell_silent_had_measured_is_kept(faulty: dict[str, Console]) -> None:
    console = faulty["freezes"]
    assert console.wait(30) == 4, console.describe()
    run = saved(console)
    assert run["outcome"] == "stopped"
    assert run["error"].startswith("stalled: ")
    assert " local " in run["error"]
    total = run["summary"]["read"]["ios"]
    assert sum(sample["read"]["ios"] for sample in console.samples()) == pytest.approx(total, rel=0.01)
    console.sandbox.assert_clean()


def test_text_between_the_documents_harms_nothing(faulty: dict[str, Console]) -> None:
    console = faulty["text between"]
    assert console.wait() == 0, console.describe()
    run = saved(console)
    assert run["summary"]["read"]["ios"] == sum(sample["read"]["ios"] for sample in console.samples())


@pytest.mark.parametrize(("name", "error"), [("fills no more", ""), ("fills a part", "not all data was written")])
def test_a_fill_that_fails_is_named_and_its_target_removed(faulty: dict[str, Console], name: str, error: str) -> None:
    """What it leaves unwritten would be read as zeros, faster than any disk."""
    console = faulty[name]
    assert console.wait() == 1, console.describe()
    run = saved(console)
    assert run["outcome"] == "failed"
    assert run["error"].startswith(f"prefilling {run['target']}: ")
    assert error in run["error"]
    console.sandbox.assert_clean()


def test_a_failed_step_does_not_end_the_plan(faulty: dict[str, Console]) -> None:
    """The next may work; the worst outcome decides the exit code."""
    console = faulty["fails once"]
    assert console.wait() == 1, console.describe()
    assert [run["outcome"] for run in console.runs] == ["failed", "ok"]
    console.sandbox.assert_clean()


def test_a_target_that_can_not_be_made_is_not_left_half_made(sandbox: Sandbox) -> None:
    """As on a file system that takes no large files, or over a quota."""
    target = sandbox.files / "target"

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, resource.RLIM_INFINITY))

    console = sandbox.run(*RUN, *sets(size="8M"), "--target", f"file:{target}", preexec_fn=limit)
    assert console.process.returncode == 3, console.describe()
    (run,) = console.runs
    assert run["outcome"] == "refused"
    assert f"{target}: " in run["error"]
    assert not console.sandbox.session("S").exists()
    sandbox.assert_clean()


# ---------------------------------------------------------------------------------------------- what the target is


def is_tmpfs(path: Path) -> bool:
    """Whether it is memory."""
    asked = subprocess.run(["stat", "-f", "-c", "%T", path], capture_output=True, text=True, check=False)
    return asked.stdout.strip() == "tmpfs"


@pytest.mark.skipif(not is_tmpfs(Path("/dev/shm")), reason="/dev/shm is no tmpfs here")
def test_memory_is_a_finding(sandbox: Sandbox) -> None:
    target = Path(f"/dev/shm/cephtui-test-{sandbox.token}")
    console = sandbox.run(*RUN, *sets(runtime=1), "--target", f"file:{target}")
    # whether direct=1 works there depends on the kernel
    assert console.process.returncode in (0, 1), console.describe()
    (finding,) = [finding for finding in saved(console)["findings"] if finding["code"] == "memory"]
    assert "tmpfs" in finding["text"]
    assert "memory" in sandbox.run("show", "S/1").stdout
    assert not target.exists()


def test_the_page_cache_is_a_finding(faulty: dict[str, Console]) -> None:
    console = faulty["page cache"]
    assert console.wait() == 0, console.describe()
    assert "page-cache" in {finding["code"] for finding in saved(console)["findings"]}
    console.sandbox.assert_clean()
