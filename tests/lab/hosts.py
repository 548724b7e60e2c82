"""The hosts of a lab: an OpenSSH server each, and what a client needs to reach them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.lab import processes
from tests.lab.machines import ADDRESSES, CONSOLE, HOSTS, Machine, script

SSHD = "/usr/sbin/sshd"

# Where on a host the files are its own, and the folder that has them.
OWN_FILES = {"~": "home", "/tmp": "tmp", "/var/tmp": "var-tmp", "/var/log": "var-log"}

# OpenSSH 9.8 and later have a program of its own for a connection.
_SERVERS = ("sshd", "sshd-session")


def prepare(directory: Path, names: Sequence[str] = HOSTS, root: str = "") -> None:
    """Makes the keys and the files of every host, which has this root directory."""
    key = directory / "id_ed25519"
    _make_key(key, "cephtui lab")
    for name in names:
        host = directory / "hosts" / name
        for folder in OWN_FILES.values():
            (host / folder).mkdir(parents=True)
        for folder in ("tmp", "var-tmp"):
            (host / folder).chmod(0o1777)
        (host / "passwd").write_text(_passwd(host / "home", root))
        _make_key(host / "host_key", name)
        (host / "authorized_keys").write_text(key.with_suffix(".pub").read_text())
        (host / "sshd_config").write_text(_sshd_config(name, host))
    (directory / "known_hosts").write_text("".join(_known(directory, name) for name in names))
    (directory / "ssh_config").write_text(_ssh_config(directory, names))


def _make_key(path: Path, comment: str) -> None:
    processes.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", path])


def _passwd(home: Path, root: str) -> str:
    lines = Path(f"{root}/etc/passwd").read_text().splitlines(keepends=True)
    return "".join(line.replace(":/root:", f":{home}:") if line.startswith("root:") else line for line in lines)


def _known(directory: Path, name: str) -> str:
    key = (directory / "hosts" / name / "host_key.pub").read_text().split()
    return f"{name},{ADDRESSES[name]} {key[0]} {key[1]}\n"


def _sshd_config(name: str, host: Path) -> str:
    # MaxStartups and MaxSessions are left out on purpose: clients meet OpenSSH's own limits, as elsewhere.
    # StrictModes would look at the directories above the lab, which are not the lab's.
    return f"""\
ListenAddress {ADDRESSES[name]}
HostKey {host}/host_key
PidFile {host}/sshd.pid
AuthorizedKeysFile {host}/authorized_keys
StrictModes no
PermitRootLogin prohibit-password
KbdInteractiveAuthentication no
PasswordAuthentication no
UsePAM no
PrintMotd no
AcceptEnv LANG LC_*
Subsystem sftp internal-sftp
"""


def _ssh_config(directory: Path, names: Sequence[str]) -> str:
    relay = shlex.join(script("relay.py", directory))
    hosts = "\n".join(f"Host {name}\n    HostName {ADDRESSES[name]}\n" for name in names)
    return f"""\
# The hosts of the lab: ssh -F {directory}/ssh_config {HOSTS[0]}
{hosts}
Host {" ".join(names)}
    Port 22
    User root
    IdentityFile {directory}/id_ed25519
    IdentitiesOnly yes
    UserKnownHostsFile {directory}/known_hosts
    StrictHostKeyChecking yes
    ProxyCommand {relay} %h %p
"""


def start_sshd(host: Machine) -> None:
    """Starts the server of a host; it answers when this returns."""
    folder = host.directory / "hosts" / host.name
    host.run(SSHD, "-f", folder / "sshd_config", "-E", folder / "sshd.log")
    processes.wait_until(f"the sshd of {host.name} runs", lambda: sshd_pid(host), 10, every=0.02)


def start(machines: Mapping[str, Machine]) -> None:
    """Starts the server of every host, and sees that the console reaches it."""
    for name in HOSTS:
        start_sshd(machines[name])
    for name in HOSTS:
        reach(machines[CONSOLE], name)


def reach(console: Machine, name: str) -> None:
    """Sees that the server of a host answers; raises LabError."""
    script = f"exec 3<>/dev/tcp/{ADDRESSES[name]}/22; read -r -t 10 banner <&3; [[ $banner == SSH-2.0-* ]]"
    console.run("bash", "-c", script)


def sshd_pid(host: Machine) -> int | None:
    """The listening server of a host, by its number outside."""
    try:
        inside = int((host.directory / "hosts" / host.name / "sshd.pid").read_text())
    except (FileNotFoundError, ValueError):
        return None
    for pid in host.pids():
        if processes.inner_pid(pid) == inside and processes.Process.of(pid):
            return pid
    return None


def session_pids(host: Machine) -> list[int]:
    """The processes of a host's server that serve a connection each, by their number outside."""
    servers = {pid for pid in host.pids() if processes.name_of(pid) in _SERVERS and processes.Process.of(pid)}
    # A connection can have a process that watches the one that serves it: while somebody logs in, or always.
    return sorted(servers - {sshd_pid(host)} - {processes.parent_of(pid) for pid in servers})
