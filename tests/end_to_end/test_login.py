"""Logging in to a real sshd: with passwords and codes on a terminal, and where it has no place for another login."""

from __future__ import annotations

import contextlib
import os
import pty
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.end_to_end.sandbox import Sandbox, wait_for
from tests.lab.processes import holders
from tests.support.waiting import FairClock

WITHOUT_PAM = "UsePAM no\n"
WITH_PAM = "UsePAM yes\nKbdInteractiveAuthentication yes\nPasswordAuthentication no\n"
USER, PASSWORD, CODE = "cephtui-tester", "correct horse", "271828"
HASH = "$6$cephtui$a0v8o0ceHvl8jWvObd8H5PbmGx0YBLBiAFqK3ZFH0sMUg2FRU1mrt6K7EPHNLTFMrGzQ0oxXFpq5NSMiHh0pn."
"""Of the password."""
REST_OF_PAM = "account required pam_unix.so\nsession required pam_permit.so\npassword required pam_unix.so\n"
ONE, CODED = (
    "auth required pam_unix.so\n",
    "auth required pam_stress.so\nauth required pam_exec.so expose_authtok quiet ",
)
"""What PAM asks: the password; and a code, by a module that takes any, which a program then looks at."""
AGAIN, ASKED, CODE_ASKED = "That was wrong. ", f"{USER}@127.0.0.1: Password: ", f"{USER}@127.0.0.1: STRESS Password: "


@dataclass(frozen=True)
class Sshd:
    """An sshd that listens on every address of the loopback."""

    port: int
    log: Path

    def node(self, number: int = 1, user: str = "root") -> list[str]:
        """The server by one of its names."""
        return ["--node", f"{user}@127.0.0.{number}:{self.port}"]


@contextlib.contextmanager
def sshd(sandbox: Sandbox, settings: str, files: Mapping[str, str] | None = None) -> Iterator[Sshd]:
    """Until the end of the block; the user's own key is let in. It sees ``files`` in place of the machine's."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    folder = sandbox.root / f"sshd-{port}"
    folder.mkdir()
    mine = sandbox.root / ".ssh"
    mine.mkdir(exist_ok=True)
    for path in (folder / "host_key", mine / "id_ed25519"):
        if not path.exists():
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path], check=True)
    key = " ".join((folder / "host_key.pub").read_text().split()[:2])
    (mine / "known_hosts").write_text("".join(f"[127.0.0.{number}]:{port} {key}\n" for number in range(1, 9)))
    (folder / "config").write_text(
        f"{settings}ListenAddress 0.0.0.0\nPermitRootLogin yes\nStrictModes no\nHostKey {folder}/host_key\n"
        f"AuthorizedKeysFile {mine}/id_ed25519.pub\nPidFile {folder}/pid\n"
    )
    mounts = ["mount -t tmpfs none /run; mkdir /run/sshd"]
    for number, (name, text) in enumerate((files or {}).items()):
        (folder / str(number)).write_text(text)
        (folder / str(number)).chmod(Path(name).stat().st_mode)
        mounts.append(f"mount --bind {folder}/{number} {name}")
    log = folder / "log"
    start = f'{"; ".join(mounts)}; exec /usr/sbin/sshd -D -E "$0" -f {folder}/config -p {port}'
    server = subprocess.Popen(["unshare", "-m", "sh", "-ec", start, log])
    try:
        wait_for(lambda: log.exists() and f"port {port}" in log.read_text(), 30, "sshd listens")
        yield Sshd(port, log)
    finally:
        server.kill()
        server.wait()


@contextlib.contextmanager
def pam(sandbox: Sandbox, auth: str, settings: str = "", changed_on: int = 20_000) -> Iterator[Sshd]:
    """An sshd with a PAM and a user of its own, whose password was changed on this day; the user's key is gone."""
    users, hashes = Path("/etc/passwd").read_text(), Path("/etc/shadow").read_text()
    files = {
        "/etc/pam.d/sshd": auth + REST_OF_PAM,
        "/etc/passwd": f"{users.rstrip()}\n{USER}:x:0:0::{sandbox.root}:/bin/sh\n",
        "/etc/shadow": f"{hashes.rstrip()}\n{USER}:{HASH}:{changed_on}:0:99999:7:::\n",
    }
    with sshd(sandbox, WITH_PAM + settings, files) as server:
        yield server


def without_key(sandbox: Sandbox) -> None:
    (sandbox.root / ".ssh" / "id_ed25519").unlink()


@pytest.mark.root
def test_a_password_is_asked_for_where_keyboard_interactive_fails_at_once(sandbox: Sandbox) -> None:
    """An sshd without PAM offers it by default, and refuses it without a prompt."""
    for most in (6, 2, 1):
        with sshd(sandbox, f"{WITHOUT_PAM}MaxAuthTries {most}\n") as server:
            without_key(sandbox)
            said, code = _on_a_terminal(sandbox, ["wrong", ""], "nodes", *server.node())
        assert code == 3
        assert f"127.0.0.1:{server.port}: Password for root@127.0.0.1: \n" in said, said
        assert said.count("Password for root@127.0.0.1: \n") == 2, said
        assert "keyboard-interactive(" in "".join(said.split()), said
        assert server.log.read_text().count("Failed password for root") == 1


# ---------------------------------------------------------------------------------------------- by PAM


@pytest.mark.root
@pytest.mark.parametrize(
    ("is_coded", "answers", "questions", "status"),
    [
        (False, ["wrong", PASSWORD], [ASKED, AGAIN + ASKED], 0),
        (True, [PASSWORD, "9", PASSWORD, CODE], [ASKED, CODE_ASKED, AGAIN + ASKED, CODE_ASKED], 0),
        (True, [PASSWORD, ""], [ASKED, CODE_ASKED], 3),
    ],
)
def test_what_pam_asks_is_asked_and_kept_nowhere(
    sandbox: Sandbox, is_coded: bool, answers: list[str], questions: list[str], status: int
) -> None:
    checks = sandbox.root / "code"
    checks.write_text(f'#!/bin/sh\nread -r code; [ "$code" = {CODE} ]\n')
    checks.chmod(0o755)
    with pam(sandbox, f"{ONE}{CODED}{checks}\n" if is_coded else ONE) as server:
        without_key(sandbox)
        said, code = _on_a_terminal(sandbox, answers, "nodes", *server.node(user=USER))
        assert code == status, said
        assert [line for line in said.splitlines() if line.endswith(": ")] == [
            f"127.0.0.1:{server.port}: {asked}" for asked in questions
        ]
        assert ("ready" in said) == (not status), said
    checks.unlink()
    kept = [path for path in sandbox.root.rglob("*") if path.is_file()]
    assert not [path for path in kept for secret in (PASSWORD, CODE) if secret.encode() in path.read_bytes()]


@pytest.mark.root
def test_a_password_that_has_expired_is_not_changed(sandbox: Sandbox) -> None:
    with pam(sandbox, ONE, changed_on=0) as server:
        without_key(sandbox)
        said, code = _on_a_terminal(sandbox, [PASSWORD], "nodes", *server.node(user=USER))
    assert code == 3
    assert f"{USER}@127.0.0.1" in "".join(said.split()), said
    assert "expired" in said, said


@pytest.mark.root
def test_a_key_and_a_password_are_both_wanted(sandbox: Sandbox) -> None:
    with pam(sandbox, ONE, "AuthenticationMethods publickey,keyboard-interactive\n") as server:
        said, code = _on_a_terminal(sandbox, [PASSWORD], "nodes", *server.node(user=USER))
        assert code == 0, said
        without_key(sandbox)
        console = sandbox.run("nodes", *server.node(user=USER))
        assert console.process.returncode == 3
        assert "key" in console.stdout


@pytest.mark.root
def test_without_a_terminal_the_question_is_named_and_nothing_is_run(sandbox: Sandbox) -> None:
    with pam(sandbox, ONE) as server:
        without_key(sandbox)
        target = ["--target", f"file:{sandbox.files}/x"]
        console = sandbox.run("run", "write-iops", "--json", *target, *server.node(user=USER))
        said, code = _on_a_terminal(sandbox, ["\x03"], "run", "write-iops", *target, *server.node(user=USER))
    question = f"127.0.0.1:{server.port}: {ASKED.rstrip()}"
    (line,) = console.complaints
    assert line.startswith(f"cephtui: {question} ")
    assert (console.process.returncode, console.stdout) == (3, "")
    assert code == 4
    assert said.endswith(" cephtui: interrupted\n")
    sandbox.assert_clean()


# ---------------------------------------------------------------------------------------------- no place


@pytest.mark.root
@pytest.mark.parametrize("settings", ["MaxStartups 1\n", "PerSourceMaxStartups 1\n"])
def test_a_server_without_a_place_is_waited_for_by_every_node_of_two_consoles(sandbox: Sandbox, settings: str) -> None:
    """The place is held by a client that does not log in, until all have been turned away."""
    with sshd(sandbox, WITHOUT_PAM + settings) as server:
        with socket.create_connection(("127.0.0.1", server.port)) as holds:
            holds.recv(1)
            nodes = [word for number in (1, 2) for word in server.node(number)]
            consoles = [sandbox.start("nodes", "--json", *nodes) for _ in range(2)]
            waits = " 130 s"
            for console in consoles:
                console.wait_for(lambda: waits in console.stderr, 60, "that it waits")  # noqa: B023
                assert "are connected" not in console.stderr
        for console in consoles:
            assert console.wait() == 0, console.describe()
            assert [row["ready"] for row in console.events] == [True] * 2
        assert server.log.read_text().count("Accepted publickey") == len(consoles) * 2
    sandbox.assert_clean()


@pytest.mark.root
def test_a_console_that_waits_for_a_place_can_be_stopped(sandbox: Sandbox) -> None:
    with (
        sshd(sandbox, f"{WITHOUT_PAM}MaxStartups 1\n") as server,
        socket.create_connection(("127.0.0.1", server.port)) as holds,
    ):
        holds.recv(1)
        target = ["--target", f"file:{sandbox.files}/x"]
        console = sandbox.start("run", "write-iops", "--json", *target, *server.node())
        console.wait_for(lambda: "trying again" in console.stderr, 60, "that it waits")
        console.process.terminate()
        assert console.wait() == 4, console.describe()
    assert console.complaints == ["cephtui: interrupted"]
    sandbox.assert_clean()


def _on_a_terminal(sandbox: Sandbox, answers: Sequence[str], *args: str) -> tuple[str, int]:
    """What cephtui shows, and its exit status; each answer is typed after a line that ends in a colon and a space.

    No answer may be in an argument or the environment of a process.
    """
    ours, theirs = pty.openpty()
    console = sandbox.start(*args, terminal=theirs, env={"COLUMNS": "200"})
    os.close(theirs)
    os.set_blocking(ours, False)
    left, said, asked, clock = [*answers], "", "", FairClock()
    while clock.seconds() < 60:
        try:
            piece = os.read(ours, 4096).decode()
        except BlockingIOError:
            if said.endswith(": ") and said != asked and left:  # typed ahead of a question, it is thrown away
                asked = said
                assert holders(PASSWORD, CODE) == set()
                os.write(ours, f"{left.pop(0)}\n".encode())
            time.sleep(0.1)
            continue
        except OSError:
            break
        if not piece:
            break
        said += piece
    os.close(ours)
    return said.replace("\r\n", "\n"), console.wait()
