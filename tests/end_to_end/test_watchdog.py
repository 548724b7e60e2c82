"""The local transport and its watchdog, with tiny commands in fio's place."""

from __future__ import annotations

import asyncio
import fcntl
import gc
import os
import re
import secrets
import signal
import subprocess
import threading
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from cephtui.models import Node
from cephtui.nodes import watched as watchdog
from cephtui.nodes.local import LocalConnection
from cephtui.nodes.transport import UNLOCKED, Chunk, Command, Lock, Record, TransportError
from cephtui.nodes.watched import WatchedProcess
from cephtui.paths import packaged_text
from cephtui.running.runner import Runner
from cephtui.targets import file
from tests.end_to_end.sandbox import Process, processes_marked, wait_for
from tests.lab.processes import holders
from tests.support.waiting import LEAST_SECONDS

FOREVER = "while :; do sleep 0.1; done"
SETTLE = "sleep 0.3"
"""A TERM in the very moment of its start ends timeout(1) itself, and the watchdog then ends the command at once."""


NEVER_KILL = """kill() { [ "$1" = -KILL ] || builtin kill "$@"; }"""
"""In the watchdog's shell, every process is beyond KILL."""


class Watched:
    """Commands behind the watchdog, and what lives of them."""

    def __init__(self) -> None:
        self.token = secrets.token_hex(16)

    async def ready(
        self,
        *argv: str,
        limit: float = 60,
        lock: Lock = UNLOCKED,
        prefix: tuple[str, ...] = (),
        secrets: tuple[str, ...] = (),
        access: tuple[str, ...] = (),
        goes_on: bool = False,
        is_detached: bool = False,
    ) -> WatchedProcess:
        """Bring one up to its release."""
        connection = LocalConnection()
        command = Command(
            argv,
            prefix=prefix,
            token=self.token,
            limit_seconds=limit,
            lock=lock,
            secrets=secrets,
            goes_on=goes_on,
            is_detached=is_detached,
            access=access,
            reports_machine=True,
        )
        return await connection.start(command)

    async def start(self, *argv: str, limit: float = 60, lock: Lock = UNLOCKED) -> WatchedProcess:
        """Start one."""
        process = await self.ready(*argv, limit=limit, lock=lock)
        process.release()
        return process

    async def shell(self, script: str, limit: float = 60, lock: Lock = UNLOCKED) -> WatchedProcess:
        """Start a shell script."""
        return await self.start("bash", "-c", script, limit=limit, lock=lock)

    def living(self) -> list[Process]:
        """The commands that still run."""
        return processes_marked(f"CEPHTUI_RUN={self.token}")

    def sleeping(self) -> list[Process]:
        """Those of them that are ``sleep``."""
        return [process for process in self.living() if process.program == "sleep"]

    def fetched(self) -> list[Path]:
        """Where there is something that was fetched for them."""
        folders = [Path(folder) / f"cephtui-{self.token}" for folder in ("/run", "/dev/shm", "/tmp")]
        return [folder for folder in folders if folder.exists()]

    def assert_gone(self) -> None:
        """The watchdog has ended: it must have left nothing."""
        wait_for(lambda: not self.living(), 30, "the end of every process", lambda: str(self.living()))


@pytest.fixture
def watched() -> Iterator[Watched]:
    """Ends what a failed test has left."""
    watched = Watched()
    yield watched
    for process in watched.living():
        process.kill()


async def said_by(process: WatchedProcess) -> AsyncIterator[Chunk]:
    """The output of the command itself."""
    async for chunk in process.chunks():
        if not isinstance(chunk, Record):
            yield chunk


async def outcome(process: WatchedProcess) -> tuple[int | None, bytes, bytes]:
    """Status, stdout and stderr of a command at its end."""
    output = {"stdout": b"", "stderr": b""}
    async for chunk in said_by(process):
        output[chunk.stream] += chunk.data
    return await process.wait(), output["stdout"], output["stderr"]


async def first_line(process: WatchedProcess) -> bytes:
    """Wait until the command has printed something."""
    async for chunk in said_by(process):
        return chunk.data
    raise AssertionError("it ended without a word")


async def test_output_and_status_are_passed_on(watched: Watched) -> None:
    process = await watched.shell("echo out; echo err >&2; exit 3")
    assert await outcome(process) == (3, b"out\n", b"err\n")


@pytest.mark.parametrize(("script", "status"), [("exit 0", 0), ("exit 1", 1), ("kill -KILL $$", 137)])
async def test_every_status_is_the_commands_own(watched: Watched, script: str, status: int) -> None:
    assert (await outcome(await watched.shell(script)))[0] == status


async def test_nothing_begins_before_the_release(watched: Watched, tmp_path: Path) -> None:
    lock, made = tmp_path / "lock", tmp_path / "made"
    lock.touch()
    process = await watched.ready("touch", str(made), lock=Lock(str(lock)))
    with lock.open() as file, pytest.raises(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    await asyncio.sleep(0.3)
    assert not made.exists()
    process.release()
    assert (await outcome(process))[0] == 0
    assert made.exists()


@pytest.mark.timing
async def test_the_release_is_timed_by_the_report_of_the_start(watched: Watched) -> None:
    process = await watched.ready("date", "+%s.%N")
    await asyncio.sleep(0.3)
    before = time.monotonic()
    process.release()
    assert before <= process.released_at <= time.monotonic()
    offset = time.time() - time.monotonic()
    begun = float((await outcome(process))[1]) - offset
    assert before < process.released_at < begun < process.released_at + 0.2


@pytest.mark.timing
async def test_a_stop_before_the_release(watched: Watched, tmp_path: Path) -> None:
    made = tmp_path / "made"
    process = await watched.ready("touch", str(made))
    started = time.monotonic()
    await process.stop()
    process.release()
    assert await outcome(process) == (watchdog.NOT_RELEASED, b"", b"")
    assert time.monotonic() - started < 1
    assert not made.exists()


@pytest.mark.parametrize(
    "lines", [(), ("one",), ("the key", " go ", "secret ", "", "a'b\"c$d`e\\f%s", "\u00fc" * 2000)], ids=len
)
async def test_secrets_are_the_stdin_of_the_command(watched: Watched, lines: tuple[str, ...]) -> None:
    process = await watched.ready("cat", secrets=lines)
    process.release()
    assert await outcome(process) == (0, "".join(f"{line}\n" for line in lines).encode(), b"")


async def test_secrets_are_in_no_argument_and_no_environment(watched: Watched) -> None:
    """Also where the login shell exports and prints all that it is given."""
    secret = "canary-secret"
    process = await watched.ready(
        "bash",
        "-c",
        f'read -r key; echo "${{#key}}"; {FOREVER}',
        prefix=("env", "SHELLOPTS=allexport:xtrace"),
        secrets=(secret,),
    )
    process.release()
    assert await first_line(process) == b"13\n"
    assert holders(secret) == set()
    assert watched.living()
    await process.stop()
    _, _, stderr = await outcome(process)
    assert secret.encode() not in stderr


FETCH = ("sh", "-c", "echo canary $1; cat", "fetch", "key")
"""Its stdin is empty."""


async def test_what_it_fetches_is_only_its_users_and_away_at_the_end(watched: Watched, tmp_path: Path) -> None:
    shows = 'stat -c %a $CEPH_CONF ${CEPH_CONF%/*}; cat $CEPH_KEYRING; echo $CEPH_CONF; echo > "$0"'
    process = await watched.ready("bash", "-c", shows, str(tmp_path / "made"), access=FETCH)
    assert len(watched.fetched()) == 1
    process.release()
    status, stdout, stderr = await outcome(process)
    *modes, content, path = stdout.decode().splitlines()
    assert (status, stderr, modes, content) == (0, b"", ["600", "700"], "canary key")
    assert Path(path).parent.parent in (Path("/run"), Path("/dev/shm"))
    assert watched.fetched() == []
    assert (tmp_path / "made").stat().st_mode & 0o044, "the mask of the command is its own"


async def test_what_it_fetched_is_away_where_it_was_never_released(watched: Watched) -> None:
    process = await watched.ready("true", access=FETCH)
    assert len(watched.fetched()) == 1
    await process.stop()
    assert (await outcome(process))[0] == watchdog.NOT_RELEASED
    assert watched.fetched() == []


async def test_what_it_fetched_is_away_where_its_shell_was_killed(watched: Watched) -> None:
    process = await watched.ready("bash", "-c", f"echo $PPID; {FOREVER}", access=FETCH)
    process.release()
    timeout = int(await first_line(process))
    assert len(watched.fetched()) == 1
    os.kill(parent_of(timeout), signal.SIGKILL)
    assert (await outcome(process))[0] is None
    wait_for(lambda: not watched.fetched(), 30, "the end of what was fetched")


def parent_of(pid: int) -> int:
    return int(re.findall(r"^PPid:\s*(\d+)", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)[0])


async def test_without_what_it_fetches_nothing_begins(watched: Watched) -> None:
    process = await watched.ready("true", access=("sh", "-c", "echo canary; echo denied >&2; exit 3"))
    status, stdout, stderr = await outcome(process)
    assert (status, stdout) == (watchdog.NO_ACCESS, b"")
    assert stderr.startswith(b"denied\ncephtui: ")
    assert b"ceph_prefix" in stderr
    assert watched.fetched() == []


async def test_one_that_goes_on_waits_on_its_stdin_until_it_is_told(watched: Watched) -> None:
    script = 'read -r key; echo "$key"; read -r order; echo "$order"; read -r -t 0.2 more || echo "open $?"'
    process = await watched.ready("bash", "-c", script, secrets=("the key",), goes_on=True)
    process.release()
    assert await first_line(process) == b"the key\n"
    process.go_on()
    assert await outcome(process) == (0, b"on\nopen 142\n", b"")


async def test_one_that_never_goes_on_is_stopped(watched: Watched) -> None:
    process = await watched.ready("bash", "-c", "echo waits; read -r order; echo never", goes_on=True)
    process.release()
    assert await first_line(process) == b"waits\n"
    await process.stop()
    assert await outcome(process) == (143, b"", b"")
    process.go_on()


async def test_a_prefix_stands_before_the_watchdog(watched: Watched) -> None:
    process = await watched.ready("sh", "-c", "echo $HERE", prefix=("env", "HERE=inside"))
    process.release()
    assert await outcome(process) == (0, b"inside\n", b"")


def test_the_shell_has_no_message_of_its_own_on_a_killed_command() -> None:
    """Not even where it learns of it before it waits, as on a busy machine."""
    script = packaged_text("cephtui.nodes", "watchdog.sh")
    slow = script.replace("watcher=$!\n", "watcher=$!\nsleep 0.5\n")
    assert slow != script
    argv = ["bash", "-c", slow, "cephtui-watchdog", "token", "10", "", "", "", "", "", "0", "sh", "-c", "kill -KILL $$"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stderr
        process.stdin.write(b"\ngo\n")
        process.stdin.flush()
        assert process.wait(30) == 137
        assert process.stderr.read() == b"cephtui ready token\n"


@pytest.mark.root
async def test_in_process_numbers_of_its_own(watched: Watched) -> None:
    """As in a container, where the watchdog is the first process and no signal ends it."""
    prefix = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")
    script = f"setsid sleep 1000 & trap 'echo figures; exit 5' TERM; sleep 0.3; echo $PPID; {FOREVER}"
    process = await watched.ready("bash", "-c", script, prefix=prefix)
    process.release()
    assert int(await first_line(process)) < 10
    await process.stop()
    assert (await outcome(process))[:2] == (5, b"figures\n")
    watched.assert_gone()


async def test_a_prefix_that_does_not_pass_stdin_on(watched: Watched) -> None:
    """As ``kubectl exec`` without ``-i``: no heartbeat would ever come."""
    process = await watched.ready("echo", "never", prefix=("sh", "-c", 'exec "$@" </dev/null', "sh"))
    status, stdout, stderr = await outcome(process)
    assert (status, stdout) == (watchdog.NO_HEARTBEAT, b"")
    assert stderr.startswith(b"cephtui: ")
    assert b"stdin" in stderr


async def test_a_prefix_that_fails_tells_why(watched: Watched) -> None:
    process = await watched.ready("true", prefix=("sh", "-c", "echo sudo: a password is required >&2; exit 1"))
    assert await outcome(process) == (1, b"", b"sudo: a password is required\n")


async def test_a_prefix_that_is_not_there(watched: Watched) -> None:
    with pytest.raises(TransportError, match=r"^local: .*no-such-prefix: No such file"):
        await watched.ready("true", prefix=("no-such-prefix",))


async def test_what_is_never_ready_is_given_up(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchdog, "READY_SECONDS", 0.5)
    with pytest.raises(TransportError, match=r"^local: .* 0 s: one moment"):
        await watched.ready("true", prefix=("sh", "-c", "echo one moment; exec sleep 1000.25"))
    await asleep("1000.25", awake=True)


async def test_a_start_that_is_called_off(watched: Watched) -> None:
    starting = asyncio.create_task(watched.ready("true", prefix=("sh", "-c", "exec sleep 1000.5")))
    await asleep("1000.5")
    starting.cancel()
    await asyncio.gather(starting, return_exceptions=True)
    await asleep("1000.5", awake=True)


@pytest.mark.parametrize("calls_off", [False, True])
def test_an_event_loop_may_end_right_behind_a_start_that_failed(
    monkeypatch: pytest.MonkeyPatch, calls_off: bool
) -> None:
    """The process has ended by then: one that is left behind is a warning, which fails here."""
    if not calls_off:
        monkeypatch.setattr(watchdog, "READY_SECONDS", 0.5)

    async def start() -> None:
        starting = asyncio.create_task(Watched().ready("true", prefix=("sh", "-c", "exec sleep 1000.75")))
        if calls_off:
            await asleep("1000.75")
            starting.cancel()
        with pytest.raises((TransportError, asyncio.CancelledError)):
            await starting

    asyncio.run(start())
    gc.collect()


async def asleep(seconds: str, *, awake: bool = False) -> None:
    """Until a ``sleep`` of a length that nobody else uses lives, or has ended; the event loop must go on meanwhile."""
    async with asyncio.timeout(10 * LEAST_SECONDS):
        while awake == any(p.argv == ("sleep", seconds) for p in processes_marked(f"PATH={os.environ['PATH']}")):
            await asyncio.sleep(0.05)


async def test_what_a_shell_prints_at_its_start_is_not_the_commands_output(
    watched: Watched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noise = tmp_path / "noise"
    noise.write_text("echo 'Welcome to { \"this\": host }'\nprintf 'no line end'\necho motd >&2; printf more >&2\n")
    monkeypatch.setenv("BASH_ENV", str(noise))
    assert await outcome(await watched.start("printf", "hello")) == (0, b"hello", b"")


async def test_both_streams_are_drained(watched: Watched) -> None:
    """Either full pipe would stop a command that writes to both in turn."""
    script = "for _ in {1..20}; do head -c 300000 /dev/zero >&2; head -c 300000 /dev/zero; done"
    status, stdout, stderr = await outcome(await watched.shell(script))
    assert (status, len(stdout), len(stderr)) == (0, 6_000_000, 6_000_000)


async def test_a_stop_lets_the_command_say_its_last_words(watched: Watched) -> None:
    process = await watched.shell(f"trap 'echo figures; exit 128' TERM; {SETTLE}; echo up; {FOREVER}")
    assert await first_line(process) == b"up\n"
    await process.stop()
    assert (await outcome(process))[:2] == (128, b"figures\n")
    watched.assert_gone()


@pytest.mark.timing
async def test_a_command_that_ignores_term_is_killed(watched: Watched) -> None:
    process = await watched.shell(f"trap '' TERM; {SETTLE}; echo up; {FOREVER}")
    await first_line(process)
    started = time.monotonic()
    await process.stop()
    await process.stop()  # may be called again
    status, _, _ = await outcome(process)
    assert status == 137
    assert 2 < time.monotonic() - started < 8
    watched.assert_gone()


async def test_children_that_left_the_process_group_are_swept_on_a_stop(watched: Watched) -> None:
    process = await watched.shell("setsid bash -c 'setsid sleep 1000 & setsid sleep 1000 &' & echo up; sleep 1000")
    await first_line(process)
    wait_for(lambda: len(watched.sleeping()) == 3, 30, "two daemons", lambda: str(watched.living()))
    await process.stop()
    await outcome(process)
    watched.assert_gone()


async def test_children_that_are_left_by_a_command_that_ended_are_swept(watched: Watched) -> None:
    process = await watched.shell("setsid bash -c 'setsid sleep 1000 & echo $!'; exit 5")
    status, stdout, _ = await outcome(process)
    assert status == 5
    assert int(stdout) > 0
    watched.assert_gone()


async def test_workers_of_a_killed_command_are_swept(watched: Watched) -> None:
    process = await watched.shell("for _ in 1 2 3; do setsid sleep 1000 & done; echo up; wait; echo never")
    await first_line(process)
    wait_for(lambda: len(watched.sleeping()) == 3, 30, "three workers", lambda: str(watched.living()))
    (main,) = [p for p in watched.living() if p.program == "bash"]
    main.kill()
    assert (await outcome(process))[0] == 137
    watched.assert_gone()


async def test_a_command_is_ended_at_its_limit(watched: Watched) -> None:
    process = await watched.shell(FOREVER, limit=1)
    assert (await outcome(process))[0] == 124
    watched.assert_gone()


async def test_a_command_that_is_not_there(watched: Watched) -> None:
    status, stdout, stderr = await outcome(await watched.start("no-such-command-here"))
    assert (status, stdout) == (127, b"")
    assert b"no-such-command-here" in stderr


async def test_a_held_lock_keeps_the_command_from_starting(watched: Watched, tmp_path: Path) -> None:
    lock, made = tmp_path / "lock", tmp_path / "made"
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        status, stdout, stderr = await outcome(await watched.shell(f"touch {made}", lock=Lock(str(lock))))
    assert (status, stdout) == (watchdog.LOCK_HELD, b"")
    assert stderr.decode().startswith(f"cephtui: {lock} ")
    assert not made.exists()


async def test_a_lock_that_is_held_for_a_moment_is_waited_for(watched: Watched, tmp_path: Path) -> None:
    """Another cephtui's guard looks whether it is held, and holds it while it looks."""
    lock = tmp_path / "lock"
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        starting = asyncio.create_task(watched.shell("echo ran", lock=Lock(str(lock))))
        await asyncio.sleep(0.3)
    assert await outcome(await starting) == (0, b"ran\n", b"")


async def test_the_lock_is_held_while_the_command_runs(watched: Watched, tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    lock.touch()
    process = await watched.shell(f"echo up; {FOREVER}", lock=Lock(str(lock)))
    await first_line(process)
    with lock.open() as file:
        with pytest.raises(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        await process.stop()
        await outcome(process)
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


async def test_a_lock_that_is_not_there(watched: Watched, tmp_path: Path) -> None:
    status, _, stderr = await outcome(await watched.shell("echo never", lock=Lock(str(tmp_path / "none"))))
    assert status == 74
    assert stderr.decode().startswith(f"cephtui: {tmp_path}/none ")


async def test_what_its_path_leads_to_has_to_be_what_was_inspected(watched: Watched, tmp_path: Path) -> None:
    inspected, other, path = tmp_path / "inspected", tmp_path / "other", tmp_path / "path"
    for file_ in (inspected, other):
        file_.touch()
    path.symlink_to(inspected)
    found = inspected.stat()
    lock = Lock(str(path), identity=f"{found.st_dev}:{found.st_ino}")
    assert (await outcome(await watched.shell("echo ran", lock=lock)))[:2] == (0, b"ran\n")
    path.unlink()
    path.symlink_to(other)
    changed = f"cephtui: {path} leads to something else than when it was inspected\n"
    assert await outcome(await watched.shell("echo ran", lock=lock)) == (watchdog.NO_LOCK, b"", changed.encode())


@pytest.mark.root
async def test_a_device_is_known_by_its_number(watched: Watched) -> None:
    device = next(path for path in sorted(Path("/dev").iterdir()) if path.is_block_device())
    number = device.stat().st_rdev
    is_it, is_not = f"{os.major(number)}:{os.minor(number)}", f"{os.major(number)}:{os.minor(number) + 1}"
    assert (await outcome(await watched.shell("echo ran", lock=Lock(str(device), identity=is_it))))[0] == 0
    refused = await outcome(await watched.shell("echo ran", lock=Lock(str(device), identity=is_not)))
    assert refused[0] == watchdog.NO_LOCK


async def test_a_detached_command_leaves_what_is_in_the_background(watched: Watched, tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    lock.touch()
    script = "sleep 1000 > /dev/null 2>&1 & echo $!"
    for is_detached, lives in ((True, True), (False, False)):
        process = await watched.ready("sh", "-c", script, lock=Lock(str(lock)), is_detached=is_detached)
        process.release()
        status, stdout, _ = await outcome(process)
        left = Path(f"/proc/{int(stdout)}/cmdline")
        assert (status, left.exists() and left.read_bytes() == b"sleep\x001000\0") == (0, lives)
        with lock.open() as file_:
            fcntl.flock(file_, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if lives:
            os.kill(int(stdout), signal.SIGKILL)


async def test_only_the_last_owner_of_a_file_comes_to_use_it(watched: Watched, tmp_path: Path) -> None:
    """Whoever finds it between its making and its first use takes it over, since nobody holds it."""
    target = tmp_path / "target"
    for owner in ("first", "second"):
        made = await LocalConnection().run(file.create_argv(str(target), 1 << 20, owner))
        assert made.status == 0, made
    status, stdout, stderr = await outcome(await watched.shell("echo ran", lock=Lock(str(target), "first")))
    assert (status, stdout) == (watchdog.LOCK_HELD, b"")
    assert stderr.startswith(f"cephtui: {target} ".encode())
    holding = await watched.shell(f"echo up; {FOREVER}", lock=Lock(str(target), "second"))
    await first_line(holding)
    before = target.read_bytes()
    late = await LocalConnection().run(file.create_argv(str(target), 1 << 19, "third"))
    assert late.status == 1
    assert late.stderr.startswith(f"{target} ")
    assert target.read_bytes() == before
    await holding.stop()
    await outcome(holding)
    for owner, status in (("first", 76), ("third", 76), ("second", 0)):
        assert (await LocalConnection().run(file.remove_argv(str(target), owner))).status == status


@pytest.mark.timing
async def test_what_is_beyond_kill_is_told_before_the_console_lets_go(
    watched: Watched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a process that hangs in the kernel; here its watchdog has forgotten how to kill."""
    (tmp_path / "env").write_text(NEVER_KILL)
    monkeypatch.setenv("BASH_ENV", str(tmp_path / "env"))
    process = await watched.shell(f"setsid sleep 1000 & {SETTLE}; echo $!; wait")
    pid = int(await first_line(process))
    started = time.monotonic()
    await process.stop()
    async for chunk in said_by(process):
        text = chunk.data.decode()
        break
    assert time.monotonic() - started < 6
    assert text.startswith(f"cephtui: process {pid} (sleep) ")
    assert text.endswith(" S\n")
    for left in watched.living():
        left.kill()
    assert (await outcome(process))[0] == 143


async def test_a_killed_watchdog_says_nothing_of_the_commands_end(watched: Watched) -> None:
    process = await watched.shell("ps -o ppid= $PPID; exec >&- 2>&-; sleep 1000")
    os.kill(int(await first_line(process)), signal.SIGKILL)
    assert (await outcome(process))[0] is None
    wait_for(lambda: not watched.living(), 30, "the end of the command", lambda: str(watched.living()))


@pytest.mark.timing
async def test_a_command_beyond_kill_does_not_hold_the_console(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in an uninterruptible sleep; here it only hides from the sweep, and keeps the pipes open."""
    monkeypatch.setattr(watchdog, "_ABANDON_SECONDS", 1.0)
    process = await watched.shell("env -i setsid sleep 8 & echo up; sleep 1000")
    await first_line(process)
    started = time.monotonic()
    await process.stop()
    await outcome(process)
    assert time.monotonic() - started < 5
    watched.assert_gone()


@pytest.mark.timing
async def test_a_short_command_is_given_up_in_time() -> None:
    """As df on a dead mount; a child that can't be killed holds the pipes."""
    started = time.monotonic()
    with pytest.raises(TransportError, match="local: no answer within"):
        await LocalConnection().run(["bash", "-c", "env -i setsid sleep 5 & sleep 5"], timeout_seconds=0.5)
    assert time.monotonic() - started < 3


async def test_a_short_commands_answer() -> None:
    done = await LocalConnection().run(["bash", "-c", "echo out; echo err >&2; exit 7"])
    assert (done.status, done.stdout, done.stderr) == (7, "out\n", "err\n")


async def test_a_short_command_that_is_not_there() -> None:
    with pytest.raises(TransportError, match="no-such-command-here: No such file"):
        await LocalConnection().run(["no-such-command-here"])


@pytest.mark.parametrize("turns", range(8))
def test_nothing_waits_for_a_start_that_the_end_comes_into(turns: int) -> None:
    """As a loop ends: everything is cancelled, the opening of a process's pipes too."""

    async def end_in_the_middle() -> None:
        connection = LocalConnection()
        command = asyncio.create_task(connection.run(["sleep", "60"]))
        for _ in range(turns):
            await asyncio.sleep(0)
        await connection.close()
        with pytest.raises(TransportError, match=r"local: .*closed"):
            await connection.run(["true"])
        assert not command.done() or turns == 0

    ending = threading.Thread(target=lambda: asyncio.run(end_in_the_middle()), daemon=True)
    ending.start()
    ending.join(60)
    assert not ending.is_alive()


def test_a_runner_ends_in_the_middle_of_looking_at_its_node(tmp_path: Path) -> None:
    """At whatever moment: its thread would be waited for for ever."""
    ended: list[int] = []

    def look_and_end() -> None:
        for turn in range(30):
            with Runner(tmp_path / "sessions") as runner:
                runner.nodes.reach(Node(name="local"))
                time.sleep(turn / 1000)
            ended.append(turn)

    ending = threading.Thread(target=look_and_end, daemon=True)
    ending.start()
    ending.join(60)
    assert len(ended) == 30
