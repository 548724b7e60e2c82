"""Logging in to a real sshd, on a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import time

import pytest

from tests.waiting import FairClock

from .sandbox import Sandbox, wait_for

PORT = 23_456
WITHOUT_PAM = """
UsePAM no
ListenAddress 127.0.0.1
PermitRootLogin yes
"""


@pytest.mark.root
def test_a_password_is_asked_for_where_keyboard_interactive_fails_at_once(sandbox: Sandbox) -> None:
    """An sshd without PAM offers it by default, and refuses it without a prompt."""
    keys, log = sandbox.root / "keys", sandbox.root / "sshd.log"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", keys], check=True)
    (sandbox.root / ".ssh").mkdir()
    public = keys.with_suffix(".pub").read_text().split()
    for number, most in enumerate((6, 2, 1)):
        port = PORT + number
        (sandbox.root / ".ssh" / "known_hosts").write_text(f"[127.0.0.1]:{port} {public[0]} {public[1]}\n")
        settings = sandbox.root / "sshd_config"
        settings.write_text(f"{WITHOUT_PAM}MaxAuthTries {most}\nHostKey {keys}\nPidFile {sandbox.root}/sshd.pid\n")
        script = 'mount -t tmpfs none /run; mkdir /run/sshd; exec /usr/sbin/sshd -D -E "$0" -f "$1" -p "$2"'
        sshd = subprocess.Popen(["unshare", "-m", "sh", "-c", script, log, settings, str(port)])
        try:
            wait_for(lambda: log.exists() and f"port {port}" in log.read_text(), 30, "sshd listens")  # noqa: B023
            said = _on_a_terminal(sandbox, ["wrong\n", "\n"], "nodes", "--node", f"root@127.0.0.1:{port}")
        finally:
            sshd.kill()
            sshd.wait()
        assert f"127.0.0.1:{port}: Password for root@127.0.0.1: \r\n" in said, said
        assert "That was wrong. Password for root@127.0.0.1: \r\n" in said, said
        flat = "".join(said.split())
        assert "permissiondeniedforroot:triedkeyboard-interactive(theserverasksnothing):" in flat, said
        assert log.read_text().count("Failed password for root") == number + 1


def _on_a_terminal(sandbox: Sandbox, answers: list[str], *args: str) -> str:
    """What cephtui shows; each answer is typed after a line that ends in a colon and a space."""
    ours, theirs = pty.openpty()
    console = sandbox.start(*args, stdin=theirs, stdout=theirs, stderr=theirs, env={"COLUMNS": "200"})
    os.close(theirs)
    os.set_blocking(ours, False)
    said, asked, clock = "", "", FairClock()
    while clock.seconds() < 60:
        try:
            piece = os.read(ours, 4096).decode()
        except BlockingIOError:
            if said.endswith(": ") and said != asked and answers:  # typed ahead of a question, it is thrown away
                asked = said
                os.write(ours, answers.pop(0).encode())
            time.sleep(0.1)
            continue
        except OSError:
            break
        if not piece:
            break
        said += piece
    os.close(ours)
    console.wait()
    return said
