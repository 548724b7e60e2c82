"""Nodes over SSH, against asyncssh's own server on loopback; what it is told to run really runs."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import shutil
import socket
import stat
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import asyncssh
import pytest

from cephtui.models import Node
from cephtui.nodes import answers, ssh, watched
from cephtui.nodes.asyncio_private import transport_of
from cephtui.nodes.local import LocalConnection
from cephtui.nodes.ssh import attempt, config, route
from cephtui.nodes.ssh.connection import LOGIN_LINE, SshConnection, script_of
from cephtui.nodes.ssh.hostkeys import HostKey
from cephtui.nodes.transport import Command, Question, TransportError
from cephtui.nodes.vault import Vault
from cephtui.nodes.watched import WatchedProcess
from cephtui.running import connections
from cephtui.running.connections import Connections
from tests.support.golden import Golden

USER, PASSWORD = "tester", "a pass word"
CHECK = "check the user, and the key in IdentityFile"
FOREVER = "while :; do sleep 0.1; done"
StartServer = Callable[..., Awaitable["Server"]]


@functools.cache
def new_key(name: str, kind: str = "ssh-ed25519") -> asyncssh.SSHKey:
    """A key for each name."""
    return asyncssh.generate_private_key(kind, key_size=2048) if kind == "ssh-rsa" else _plain_key(kind)


def _plain_key(kind: str) -> asyncssh.SSHKey:
    return asyncssh.generate_private_key(kind)


def text_of(key: asyncssh.SSHKey) -> str:
    """As it stands in a known_hosts line."""
    return key.export_public_key().decode().strip()


class Login(asyncssh.SSHServer):
    """Lets in whoever knows a key, a password or the answers."""

    def __init__(self, server: Server) -> None:
        self.server, self.tries_left = server, server.tries_left

    def begin_auth(self, username: str) -> bool:
        self.server.users.append(username)
        if self.server.hangs_up:
            self.server.drop()
        return True

    def public_key_auth_supported(self) -> bool:
        return bool(self.server.keys)

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        right = username == USER and any(key.public_data == known.public_data for known in self.server.keys)
        return right or self._refuse()

    def password_auth_supported(self) -> bool:
        return self.server.password is not None

    def validate_password(self, username: str, password: str) -> bool:
        self.server.passwords.append(password)
        if self.server.expired:
            raise asyncssh.PasswordChangeRequired("expired")
        return password == self.server.password or self._refuse()

    def kbdint_auth_supported(self) -> bool:
        return bool(self.server.prompts) or self.server.asks_nothing is not None

    def get_kbdint_challenge(self, username: str, lang: str, submethods: str) -> Any:
        self.server.challenges += 1
        self.rounds = [self.server.prompts, *self.server.further]
        if self.server.asks_nothing is False:
            return self._refuse()
        return "", "", "", [(prompt, False) for prompt in self.server.prompts]

    def validate_kbdint_response(self, username: str, responses: Any) -> Any:
        self.server.responses.append(list(responses))
        if list(responses) != list(self.rounds.pop(0).values()) or self.server.asks_nothing is not None:
            return self._refuse()
        return ("", "", "", [(prompt, False) for prompt in self.rounds[0]]) if self.rounds else True

    def _refuse(self) -> bool:
        self.tries_left -= 1
        if not self.tries_left:
            raise asyncssh.DisconnectError(asyncssh.DISC_PROTOCOL_ERROR, "Too many authentication failures")
        return False

    def connection_requested(self, host: str, port: int, from_host: str, from_port: int) -> bool:
        return True

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self.server.connections.append(conn)


class Server:
    """An SSH server on a free port of the loopback."""

    def __init__(self) -> None:
        self.keys: list[asyncssh.SSHKey] = []
        self.password: str | None = None
        self.expired = False
        self.prompts: Mapping[str, str] = {}
        self.further: list[Mapping[str, str]] = []
        """Prompts that come after those were answered."""
        self.asks_nothing: bool | None = None
        """Keyboard-interactive that fails at once (False), or after an empty list of prompts (True)."""
        self.challenges = 0
        self.responses: list[list[str]] = []
        self.passwords: list[str] = []
        self.users: list[str] = []
        self.commands: list[str] = []
        self.connections: list[asyncssh.SSHServerConnection] = []
        self.hangs_up = False
        self.tries_left = 100
        self.before = ""
        """A shell script that stands for the start-up files of the login shell."""
        self.shell = ("sh", "-c")
        self.host_keys: list[asyncssh.SSHKey] = [new_key("host")]
        self.port = 0
        self._acceptor: asyncssh.SSHAcceptor | None = None
        self._children: set[asyncio.subprocess.Process] = set()

    async def start(self, **options: Any) -> None:
        """Listen."""
        self._acceptor = await asyncssh.create_server(
            lambda: Login(self),
            "127.0.0.1",
            0,
            **{"server_host_keys": self.host_keys, "process_factory": self._run, "encoding": None, **options},
        )
        self.port = self._acceptor.get_port()

    async def stop(self) -> None:
        """Hang up, and wait for the end of what was started."""
        assert self._acceptor is not None
        self.drop()
        self._acceptor.close()
        await self._acceptor.wait_closed()
        for child in list(self._children):
            if child.stdin:
                child.stdin.close()
            async with asyncio.timeout(60):
                while child.returncode is None:  # wait() also waits for pipes, which nobody reads any more
                    await asyncio.sleep(0.01)
            transport_of(child).close()  # a grandchild may hold its pipes

    def drop(self) -> None:
        """Lose every connection."""
        for connection in self.connections:
            connection.abort()

    async def _run(self, process: asyncssh.SSHServerProcess[bytes]) -> None:
        command = process.command or ""
        self.commands.append(command)
        child = await asyncio.create_subprocess_exec(
            *self.shell, f"{self.before}\n{command}" if self.before else command, stdin=-1, stdout=-1, stderr=-1
        )
        self._children.add(child)
        assert child.stdin
        assert child.stdout
        assert child.stderr
        feeding = asyncio.create_task(_feed(process.stdin, child.stdin))
        await asyncio.gather(_carry(child.stdout, process.stdout), _carry(child.stderr, process.stderr))
        status = await child.wait()
        self._children.discard(child)
        transport_of(child).close()  # there may be output that nobody wants any more
        if status < 0:
            process.exit_with_signal("KILL")
        else:
            process.exit(status)
        await feeding


async def _feed(source: asyncssh.SSHReader[bytes], sink: asyncio.StreamWriter) -> None:
    with contextlib.suppress(asyncssh.Error, OSError):
        while data := await source.read(65536):
            sink.write(data)
            await sink.drain()
    sink.close()


async def _carry(source: asyncio.StreamReader, sink: asyncssh.SSHWriter[bytes]) -> None:
    with contextlib.suppress(asyncssh.Error, OSError):
        while data := await source.read(65536):
            sink.write(data)
            await sink.drain()


class Cable:
    """A TCP port that carries to another, and can be cut (nothing comes through, nobody hears) or unplugged."""

    def __init__(self, port: int) -> None:
        self.refuse = 0
        """How many of the next connections are hung up at once."""
        self.refused = 0
        self.port = 0
        self._to, self._uncut = port, asyncio.Event()
        self._uncut.set()
        self._tasks: set[asyncio.Task[None]] = set()

    @contextlib.asynccontextmanager
    async def plugged(self) -> AsyncIterator[Cable]:
        """Until the end."""
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def cut(self) -> None:
        """From now on nothing comes through."""
        self._uncut.clear()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.refuse:
            self.refuse -= 1
            self.refused += 1
            writer.transport.abort()
            return
        there, back = await asyncio.open_connection("127.0.0.1", self._to)
        for source, sink in ((reader, back), (there, writer)):
            task = asyncio.create_task(self._carry(source, sink))
            self._tasks.add(task)

    async def _carry(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        try:
            while data := await source.read(65536):
                await self._uncut.wait()
                sink.write(data)
            await self._uncut.wait()
        finally:
            sink.transport.abort()


# ---------------------------------------------------------------------- fixtures


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without anything: no test may see the real one's files, nor the machine's."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    for name in ("SYSTEM_CONFIG", "SYSTEM_KNOWN_HOSTS", "PVE_NODES"):
        monkeypatch.setattr(config, name, tmp_path / "machine" / name)
    return home


@pytest.fixture
async def start_server() -> AsyncIterator[StartServer]:
    """Starts servers that run until the end of the test."""
    servers: list[Server] = []

    async def start(options: Mapping[str, Any] | None = None, **attributes: Any) -> Server:
        server = Server()
        for name, value in attributes.items():
            setattr(server, name, value)
        await server.start(**(options or {}))
        servers.append(server)
        return server

    yield start
    for server in servers:
        await server.stop()


@pytest.fixture
async def server(start_server: StartServer, home: Path) -> Server:
    """One that lets in the user's own key, and whose key the user knows."""
    server = await start_server(keys=[new_key("user")])
    add_key(home)
    know(home, server)
    return server


@pytest.fixture
async def connected(server: Server) -> AsyncIterator[SshConnection]:
    """A connection to it."""
    connection = await connect(server)
    yield connection
    await connection.close()


@pytest.fixture
async def all_connections() -> AsyncIterator[Connections]:
    """Connections to nodes, which are closed at the end."""
    made = Connections(ssh.connect, Vault())
    yield made
    await made.close()


def add_key(home: Path, name: str = "user", file: str = "id_ed25519", passphrase: str | None = None) -> Path:
    """Give the user a key."""
    path = home / ".ssh" / file
    path.parent.mkdir(mode=0o700, exist_ok=True)
    key = new_key(name)
    if passphrase:
        path.write_bytes(key.export_private_key("openssh", passphrase, rounds=1, ignore_few_rounds=True))
    else:
        path.write_bytes(key.export_private_key("openssh"))
    path.with_suffix(".pub").write_bytes(key.export_public_key())
    path.chmod(0o600)
    return path


def know(home: Path, server: Server, hosts: str = "", key: asyncssh.SSHKey | None = None, marker: str = "") -> Path:
    """Add a line to the user's known_hosts."""
    path = home / ".ssh" / "known_hosts"
    path.parent.mkdir(mode=0o700, exist_ok=True)
    hosts = hosts or f"[127.0.0.1]:{server.port}"
    with path.open("a") as file:
        file.write(f"{marker} {hosts} {text_of(key or server.host_keys[0])}\n".lstrip())
    return path


def configure(home: Path, text: str) -> None:
    """Write ~/.ssh/config."""
    (home / ".ssh").mkdir(mode=0o700, exist_ok=True)
    (home / ".ssh" / "config").write_text(text)


def node_of(server: Server | Cable, **more: Any) -> Node:
    """The node that a server is."""
    return Node(**{"name": "n1", "host": "127.0.0.1", "port": server.port, "user": USER, **more})


async def ask(node: Node, answers: Mapping[str, str] | None = None) -> Question:
    """Try to connect; it must ask."""
    question = await ssh.connect(node, answers or {})
    assert isinstance(question, Question), question
    return question


async def connect(server: Server | Cable, answers: Mapping[str, str] | None = None, **more: Any) -> SshConnection:
    """Connect; it must not ask."""
    connection = await ssh.connect(node_of(server, **more), answers or {})
    assert isinstance(connection, SshConnection), connection
    return connection


async def check(server: Server | Cable, answers: Mapping[str, str] | None = None, **more: Any) -> None:
    """Connect, and run something."""
    connection = await connect(server, answers, **more)
    assert (await connection.run(["echo", "it works"])).stdout == "it works\n"
    await connection.close()


async def refused(node: Node, answers: Mapping[str, str] | None = None) -> str:
    """Try to connect; it must fail, with these words."""
    with pytest.raises(TransportError) as error:
        await ssh.connect(node, answers or {})
    return str(error.value)


# ---------------------------------------------------------------------- host keys


async def test_a_node_without_a_host_is_the_consoles_own_machine() -> None:
    connection = await ssh.connect(Node(name="here"), {})
    assert isinstance(connection, LocalConnection)
    assert (connection.node.name, connection.round_trip_seconds, connection.closed) == ("here", 0.0, False)


def test_asyncssh_is_not_imported_for_the_consoles_own_machine() -> None:
    program = (
        "import asyncio, sys; from cephtui.nodes.ssh import connect; from cephtui.models import Node;"
        "asyncio.run(connect(Node(name='local'), {})); print('asyncssh' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("False\n", "")


async def test_an_unknown_host_key_is_asked_for_stored_and_then_known(
    start_server: StartServer, home: Path, golden: Golden
) -> None:
    server = await start_server(keys=[new_key("user")])
    identity = add_key(home)
    shutil.copytree(home / ".ssh", home / "keys")
    shutil.rmtree(home / ".ssh")
    config = home / "config"
    config.write_text(f"IdentityFile {home}/keys/{identity.name}\n")
    node = node_of(server, ssh_config=str(config))
    question = await ask(node)
    fingerprint = HostKey("ssh-ed25519", server.host_keys[0].public_data).fingerprint
    assert (question.node, question.key, question.secret) == ("n1", f"hostkey:{fingerprint}", False)
    assert f"[127.0.0.1]:{server.port}" in question.text
    assert f"{home}/.ssh/known_hosts" in question.text
    golden.same(question.text.replace(str(server.port), "PORT").replace(fingerprint, "KEY"))
    assert not (home / ".ssh").exists()
    await check(server, {question.key: "yes"}, ssh_config=str(config))
    stored = home / ".ssh" / "known_hosts"
    assert stored.read_text() == f"[127.0.0.1]:{server.port} {text_of(server.host_keys[0])}\n"
    assert (stat.S_IMODE(stored.stat().st_mode), stat.S_IMODE(stored.parent.stat().st_mode)) == (0o600, 0o700)
    await check(server, ssh_config=str(config))


async def test_the_fingerprint_is_the_one_that_ssh_keygen_prints(tmp_path: Path) -> None:
    key = new_key("host")
    path = tmp_path / "key.pub"
    path.write_bytes(key.export_public_key())
    printed = subprocess.run(["ssh-keygen", "-l", "-f", path], capture_output=True, text=True, check=True).stdout
    assert HostKey("ssh-ed25519", key.public_data).fingerprint == printed.split()[1]


async def test_a_host_key_that_is_not_accepted(start_server: StartServer, home: Path, golden: Golden) -> None:
    server = await start_server(keys=[new_key("user")])
    add_key(home)
    question = await ask(node_of(server))
    text = await refused(node_of(server), {question.key: "no"})
    golden.same(text.replace(question.key.removeprefix("hostkey:"), "KEY"))
    assert not (home / ".ssh" / "known_hosts").exists()


async def test_only_the_accepted_fingerprint_is_accepted(start_server: StartServer, home: Path) -> None:
    first, second = await start_server(), await start_server(host_keys=[new_key("other")])
    accepted = (await ask(node_of(first))).key
    assert (await ask(node_of(second), {accepted: "yes"})).key != accepted
    assert not (home / ".ssh" / "known_hosts").exists()


@pytest.mark.parametrize("answers", [{}, {"yes": "yes"}, "its own"])
async def test_a_changed_host_key_is_never_accepted(
    start_server: StartServer, home: Path, answers: Mapping[str, str] | str, golden: Golden
) -> None:
    server = await start_server(keys=[new_key("user")])
    add_key(home)
    known = know(home, server, key=new_key("other"))
    before = known.read_bytes()
    old, new = (HostKey("ssh-ed25519", key.public_data).fingerprint for key in (new_key("other"), new_key("host")))
    given = {f"hostkey:{new}": "yes"} if isinstance(answers, str) else answers
    text = await refused(node_of(server), given)
    golden.same(text.replace(str(server.port), "PORT").replace(old, "OLD").replace(new, "NEW"))
    assert f"ssh-keygen -R '[127.0.0.1]:{server.port}'" in text
    assert known.read_bytes() == before
    assert not server.users


async def test_a_changed_host_key_in_other_files_than_the_default(server: Server, home: Path, tmp_path: Path) -> None:
    (home / ".ssh" / "known_hosts").unlink()
    old = know(home, server, key=new_key("other")).rename(home / ".ssh" / "known hosts")
    configure(home, f"Host *\n UserKnownHostsFile {tmp_path}/none '{old}'\n")
    config.SYSTEM_KNOWN_HOSTS.parent.mkdir()
    shutil.copy(old, config.SYSTEM_KNOWN_HOSTS)
    name = f"'[127.0.0.1]:{server.port}'"
    assert (await refused(node_of(server))).endswith(
        f"with ssh-keygen -f '{old}' -R {name} and ssh-keygen -f {config.SYSTEM_KNOWN_HOSTS} -R {name}"
    )


async def test_a_revoked_host_key_is_refused_even_where_it_is_known(server: Server, home: Path, golden: Golden) -> None:
    know(home, server, hosts="*", marker="@revoked")
    golden.same(await refused(node_of(server)))
    assert not server.users


@pytest.mark.parametrize("known", ["ssh-ed25519", "ssh-rsa", "ecdsa-sha2-nistp256"])
async def test_a_server_with_several_keys_shows_the_known_one(
    start_server: StartServer, home: Path, known: str
) -> None:
    kinds = ("ssh-rsa", "ecdsa-sha2-nistp256", "ssh-ed25519")
    server = await start_server(keys=[new_key("user")], host_keys=[new_key("host", kind) for kind in kinds])
    add_key(home)
    know(home, server, key=new_key("host", known))
    await check(server)


async def test_a_key_of_another_type_is_a_changed_one(start_server: StartServer, home: Path) -> None:
    """Else whoever stands between would only have to show a key of a type that is not known."""
    server = await start_server(keys=[new_key("user")])
    add_key(home)
    know(home, server, key=new_key("host", "ssh-rsa"))
    assert HostKey("ssh-rsa", new_key("host", "ssh-rsa").public_data).fingerprint in await refused(node_of(server))


async def test_hashed_entries_are_found(server: Server, home: Path) -> None:
    known = home / ".ssh" / "known_hosts"
    subprocess.run(["ssh-keygen", "-q", "-H", "-f", known], check=True, capture_output=True)
    assert known.read_text().startswith("|1|")
    await check(server)


@pytest.mark.parametrize(
    ("hosts", "found"),
    [
        ("[127.0.0.1]:PORT", True),
        ("other,[127.0.0.1]:PORT", True),
        ("[127.0.0.*]:PORT", True),
        ("[127.0.0.?]:*", True),
        ("127.0.0.1", True),
        ("*", True),
        ("[127.0.0.1]:1", False),
        ("127.0.0.2", False),
        ("*,![127.0.0.1]:PORT,!127.0.0.1", False),
    ],
)
async def test_patterns_of_known_hosts(start_server: StartServer, home: Path, hosts: str, found: bool) -> None:
    server = await start_server(keys=[new_key("user")])
    add_key(home)
    know(home, server, hosts=hosts.replace("PORT", str(server.port)))
    if found:
        await check(server)
    else:
        await ask(node_of(server))


async def test_another_key_on_the_standard_port_says_nothing(start_server: StartServer, home: Path) -> None:
    server = await start_server(keys=[new_key("user")])
    know(home, server, hosts="127.0.0.1", key=new_key("other"))
    await ask(node_of(server))


async def test_lines_that_cant_be_understood_are_skipped(server: Server, home: Path) -> None:
    path = home / ".ssh" / "known_hosts"
    rest = b"# comment\n\nbroken\n@what * ssh-rsa AAAA\n|1|x|y ssh-rsa AAAA\n|x ssh-rsa AAAA\n* ssh-x %%%\n\xff\xfe\n"
    path.write_bytes(rest + path.read_bytes())
    await check(server)


async def test_a_torn_last_line_is_not_lengthened(start_server: StartServer, home: Path) -> None:
    server = await start_server(keys=[new_key("user")])
    add_key(home)
    known = home / ".ssh" / "known_hosts"
    known.write_text("other ssh-ed25519 AAAA")
    await check(server, {(await ask(node_of(server))).key: "yes"})
    assert known.read_text().splitlines()[0] == "other ssh-ed25519 AAAA"
    await check(server)


async def test_a_key_that_cant_be_stored_is_asked_for_again(start_server: StartServer, home: Path) -> None:
    server = await start_server(keys=[new_key("user")])
    add_key(home)
    (home / ".ssh" / "known_hosts").mkdir()
    question = await ask(node_of(server))
    await check(server, {question.key: "yes"})
    assert await ask(node_of(server)) == question


async def test_everyones_known_hosts_count_too(start_server: StartServer, home: Path) -> None:
    server = await start_server(keys=[new_key("user")])
    add_key(home)
    config.SYSTEM_KNOWN_HOSTS.parent.mkdir()
    config.SYSTEM_KNOWN_HOSTS.write_text(f"[127.0.0.1]:{server.port} {text_of(server.host_keys[0])}\n")
    await check(server)


async def test_proxmox_keeps_the_keys_of_its_nodes_under_their_names(start_server: StartServer, home: Path) -> None:
    server = await start_server(keys=[new_key("user")])
    add_key(home)
    configure(home, "Host pve2\n  HostName 127.0.0.1\n")
    folder = config.PVE_NODES / "pve2"
    folder.mkdir(parents=True)
    (folder / "ssh_known_hosts").write_text(f"pve2 {text_of(server.host_keys[0])}\n")
    await check(server, host="pve2")
    await ask(node_of(server))


async def test_the_files_and_the_alias_of_ssh_config(start_server: StartServer, home: Path, tmp_path: Path) -> None:
    server = await start_server(keys=[new_key("user")])
    add_key(home)
    configure(
        home, f"Host n\n HostName 127.0.0.1\n HostKeyAlias The-Node\n UserKnownHostsFile ~/kh-%k {tmp_path}/second\n"
    )
    question = await ask(node_of(server, host="n"))
    assert f"{home}/kh-The-Node" in question.text
    await check(server, {question.key: "yes"}, host="n")
    assert (home / "kh-The-Node").read_text() == f"the-node {text_of(server.host_keys[0])}\n"
    (home / "kh-The-Node").rename(tmp_path / "second")
    await check(server, host="n")


async def certified(start_server: StartServer, authority: asyncssh.SSHKey, name: str = "127.0.0.1") -> Server:
    """A server whose key is certified."""
    key = new_key("host")
    certificate = authority.generate_host_certificate(key, "host", principals=[name])
    return await start_server({"server_host_keys": [(key, certificate)]}, keys=[new_key("user")])


async def test_a_certificate_of_a_known_authority(start_server: StartServer, home: Path) -> None:
    server = await certified(start_server, new_key("authority"))
    add_key(home)
    know(home, server, hosts="[127.*]:*", key=new_key("authority"), marker="@cert-authority")
    await check(server)


async def test_a_certificate_for_another_host(start_server: StartServer, home: Path, golden: Golden) -> None:
    server = await certified(start_server, new_key("authority"), name="elsewhere")
    know(home, server, hosts="*", key=new_key("authority"), marker="@cert-authority")
    golden.same(await refused(node_of(server)))


async def test_a_certificate_of_a_revoked_authority(start_server: StartServer, home: Path) -> None:
    server = await certified(start_server, new_key("authority"))
    know(home, server, hosts="*", key=new_key("authority"), marker="@cert-authority")
    know(home, server, hosts="*", key=new_key("authority"), marker="@revoked")
    assert "revoked" in await refused(node_of(server))


async def test_a_certificate_of_somebody_else_leaves_the_key_in_it(start_server: StartServer, home: Path) -> None:
    server = await certified(start_server, new_key("someone"))
    add_key(home)
    know(home, server, hosts="*", key=new_key("authority"), marker="@cert-authority")
    question = await ask(node_of(server))
    await check(server, {question.key: "yes"})
    await check(server)


# ---------------------------------------------------------------------- logging in


async def test_a_default_key(server: Server) -> None:
    await check(server)
    assert server.users == [USER]


async def test_no_key_at_all(start_server: StartServer, home: Path, golden: Golden) -> None:
    server = await start_server(keys=[new_key("user")])
    know(home, server)
    golden.same(await refused(node_of(server)))


async def test_a_key_that_is_not_wanted(server: Server, home: Path, golden: Golden) -> None:
    add_key(home, "stranger")
    add_key(home, "another", "id_rsa")
    text = await refused(node_of(server))
    assert f"publickey ({home}/.ssh/id_ed25519, {home}/.ssh/id_rsa)" in text
    golden.same(text)


async def test_more_keys_than_a_server_wants_to_see(server: Server, home: Path) -> None:
    add_key(home, "stranger")
    add_key(home, "another", "id_rsa")
    server.tries_left = 2
    text = await refused(node_of(server))
    tried = f"publickey ({home}/.ssh/id_ed25519, {home}/.ssh/id_rsa)"
    assert text.startswith(f"n1: Too many authentication failures: tried {tried}: choose the key with IdentityFile")


async def test_a_server_that_hangs_up_in_the_middle(server: Server, golden: Golden) -> None:
    server.hangs_up = True
    golden.same(await refused(node_of(server)))


async def test_a_named_key_that_is_not_there(server: Server, home: Path, golden: Golden) -> None:
    configure(home, "IdentityFile ~/nothing\n")
    text = await refused(node_of(server))
    assert f"{home}/nothing" in text
    golden.same(text)


async def test_a_password(start_server: StartServer, home: Path, golden: Golden) -> None:
    server = await start_server(password=PASSWORD)
    know(home, server)
    question = await ask(node_of(server))
    assert question == Question("n1", f"password:{USER}@127.0.0.1", question.text, secret=True)
    again = await ask(node_of(server), {question.key: "wrong"})
    assert again == Question("n1", question.key, again.text, secret=True)
    golden.same([question.text, again.text])
    await check(server, {question.key: PASSWORD})
    assert server.passwords == ["wrong", PASSWORD]
    golden.same(await refused(node_of(server), {question.key: ""}))
    server.expired = True
    golden.same(await refused(node_of(server), {question.key: PASSWORD}))


async def test_what_the_server_asks_for(start_server: StartServer, home: Path, golden: Golden) -> None:
    server = await start_server(prompts={"Password: ": PASSWORD, "\x1b[31mCode:": "123"})
    know(home, server)
    first = await ask(node_of(server))
    assert (first.text, first.secret) == (f"{USER}@127.0.0.1: Password:", True)
    second = await ask(node_of(server), {first.key: PASSWORD})
    assert second.text == f"{USER}@127.0.0.1: \\x1b[31mCode:"
    golden.same((await ask(node_of(server), {first.key: PASSWORD, second.key: "0"})).text)
    await check(server, {first.key: PASSWORD, second.key: "123"})


@pytest.mark.parametrize("asks_nothing", [False, True])
@pytest.mark.parametrize("tries", [1, 2, 6])
async def test_a_password_where_keyboard_interactive_asks_nothing(
    start_server: StartServer, home: Path, asks_nothing: bool, tries: int, golden: Golden
) -> None:
    """As an sshd without PAM does by default; it may hang up after the first failure."""
    server = await start_server(password=PASSWORD, asks_nothing=asks_nothing)
    know(home, server)

    server.tries_left = tries

    async def tried(answers: dict[str, str]) -> Any:
        server.challenges = 0
        return await ssh.connect(node_of(server), answers)

    key = f"password:{USER}@127.0.0.1"
    question = await tried({})
    assert question.key == key
    golden.same([question.text, (await tried({key: "wrong"})).text])
    connection = await tried({key: PASSWORD})
    assert isinstance(connection, SshConnection)
    await connection.close()
    assert server.challenges == 1
    server.password, server.keys = None, [new_key("somebody")]
    configure(home, "IdentityFile ~/nothing\n")
    golden.same(await refused(node_of(server)))
    assert server.passwords[-2:] == ["wrong", PASSWORD]


async def test_a_code_is_asked_for_again_after_a_wrong_password(
    start_server: StartServer, home: Path, golden: Golden
) -> None:
    server = await start_server(prompts={"Password: ": PASSWORD}, further=[{}, {"Code: ": "123"}])
    know(home, server)
    password, code = f"prompt:{USER}@127.0.0.1:Password:", f"prompt:{USER}@127.0.0.1:Code:"
    assert (await ask(node_of(server), {password: PASSWORD})).key == code
    again = await ask(node_of(server), {password: PASSWORD, code: "000"})
    assert (again.key, again.refused) == (password, (code,))
    golden.same(again.text)
    server.tries_left = 1
    assert await ask(node_of(server), {password: PASSWORD, code: "000"}) == again
    server.tries_left = 10
    await check(server, {password: PASSWORD, code: "123"})


async def test_the_same_prompt_twice_is_two_questions(start_server: StartServer, home: Path) -> None:
    server = await start_server(prompts={"Password:": "one"}, further=[{"Password:": "two"}])
    know(home, server)
    first = await ask(node_of(server))
    second = await ask(node_of(server), {first.key: "one"})
    assert second.key != first.key
    await check(server, {first.key: "one", second.key: "two"})


async def test_a_prompt_that_is_passed_over_leaves_the_password(start_server: StartServer, home: Path) -> None:
    server = await start_server(prompts={"Code:": "1"}, password=PASSWORD)
    know(home, server)
    code = await ask(node_of(server))
    password = await ask(node_of(server), {code.key: ""})
    assert password.key == f"password:{USER}@127.0.0.1"
    await check(server, {code.key: "", password.key: PASSWORD})
    wrong = await ask(node_of(server), {code.key: "", password.key: "wrong"})
    assert (wrong.key, wrong.refused) == (password.key, ())
    await check(server, {code.key: "1"})


@pytest.mark.parametrize("public", [True, False])
async def test_a_passphrase(start_server: StartServer, home: Path, public: bool, golden: Golden) -> None:
    server = await start_server(keys=[new_key("user")])
    know(home, server)
    path = add_key(home, passphrase="sesame")
    if not public:
        path.with_suffix(".pub").unlink()
    question = await ask(node_of(server))
    assert question == Question("n1", str(path), question.text, secret=True)
    assert str(path) in question.text
    golden.same([question.text, (await ask(node_of(server), {question.key: "wrong"})).text])
    await check(server, {question.key: "sesame"})


async def test_a_passphrase_is_asked_for_only_when_the_key_is_needed(server: Server, home: Path) -> None:
    add_key(home, "other", "id_rsa", passphrase="sesame")
    await check(server)


async def test_a_passphrase_is_not_asked_for_where_the_server_does_not_want_the_key(
    start_server: StartServer, home: Path
) -> None:
    server = await start_server(keys=[new_key("somebody")], password=PASSWORD)
    know(home, server)
    add_key(home, passphrase="sesame")
    assert (await ask(node_of(server))).key == f"password:{USER}@127.0.0.1"


async def test_an_empty_passphrase_passes_over_the_key(start_server: StartServer, home: Path) -> None:
    server = await start_server(keys=[new_key("user")], password=PASSWORD)
    know(home, server)
    path = add_key(home, passphrase="sesame")
    assert (await ask(node_of(server), {str(path): ""})).key == f"password:{USER}@127.0.0.1"


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Path], None]]:
    """A running agent; gives what adds a key to it."""
    place = f"{tmp_path}/agent"
    with subprocess.Popen(["ssh-agent", "-D", "-a", place], stdout=subprocess.DEVNULL) as process:
        while not Path(place).exists():
            time.sleep(0.01)
        monkeypatch.setenv("SSH_AUTH_SOCK", place)

        def add(path: Path) -> None:
            subprocess.run(["ssh-add", "-q", path], check=True)

        yield add
        process.terminate()


async def test_a_key_of_the_agent(
    start_server: StartServer, home: Path, agent: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = await start_server(keys=[new_key("user")])
    know(home, server)
    path = add_key(home)
    agent(path)
    path.unlink()
    await check(server)
    monkeypatch.setenv("ELSEWHERE", os.environ["SSH_AUTH_SOCK"])
    monkeypatch.delenv("SSH_AUTH_SOCK")
    await refused(node_of(server))
    configure(home, "IdentityAgent $ELSEWHERE\n")
    await check(server)
    configure(home, "IdentityAgent none\n")
    await refused(node_of(server))


async def test_identities_only_leaves_the_agents_other_keys_alone(
    start_server: StartServer, home: Path, agent: Callable[[Path], None], golden: Golden
) -> None:
    server = await start_server(keys=[new_key("user")])
    know(home, server)
    for name in ("one", "two", "three"):
        agent(add_key(home, name, name))
    wanted = add_key(home, "user", "wanted")
    agent(wanted)
    wanted.unlink()
    configure(home, "IdentityFile ~/.ssh/one\nIdentitiesOnly yes\n")
    golden.same(await refused(node_of(server)))
    configure(home, "IdentityFile ~/.ssh/wanted.pub\nIdentitiesOnly yes\n")
    await check(server)


async def test_keys_of_the_agent_and_of_files_that_are_not_wanted(
    server: Server, home: Path, agent: Callable[[Path], None], golden: Golden
) -> None:
    for name in ("one", "two"):
        agent(add_key(home, name, name))
    add_key(home, "stranger")
    text = await refused(node_of(server))
    assert f"publickey ({home}/.ssh/id_ed25519, 2 keys" in text
    golden.same(text)


async def test_an_agent_that_is_gone(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSH_AUTH_SOCK", "/nowhere")
    await check(server)


# ---------------------------------------------------------------------- the way there


async def test_ssh_config_and_what_the_node_says_against_it(server: Server, home: Path, golden: Golden) -> None:
    configure(home, f"Host n1 other\n HostName 127.0.0.1\n Port {server.port}\n User {USER}\n")
    node = Node(name="n1", host="n1")
    connection = await ssh.connect(node, {})
    assert isinstance(connection, SshConnection)
    await connection.close()
    golden.same(await refused(Node(name="n1", host="n1", port=1)))
    golden.same(await refused(Node(name="n1", host="n1", user="somebody")))


async def test_a_config_that_runs_a_command(server: Server, home: Path) -> None:
    configure(home, f"Match exec true\n User {USER}\nMatch exec false\n Port 1\n")
    await check(server, user=None)


@pytest.mark.parametrize("text", ["Port x\n", "Match what ever\n", "User 'x\n"])
async def test_a_config_that_cant_be_understood(home: Path, text: str, golden: Golden) -> None:
    configure(home, f"Host *\n{text}")
    problem = await refused(Node(name="n1", host="n1"))
    assert f"{home}/.ssh/config line 2" in problem
    golden.same(problem)


async def test_a_config_that_is_not_there(golden: Golden) -> None:
    golden.same(await refused(Node(name="n1", host="n1", ssh_config="/no/config")))


async def test_options_that_would_change_the_session_are_ignored(server: Server, home: Path) -> None:
    configure(home, "RemoteCommand false\nRequestTTY force\nSendEnv *\nSetEnv A=b\nUnknownOption x\nForwardAgent yes\n")
    connection = await connect(server)
    done = await connection.run(["sh", "-c", "tty; echo ${A-}; echo ${SSH_TTY-}"])
    assert done.stdout == "not a tty\n\n\n"
    await connection.close()


async def test_connection_refused(golden: Golden) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    golden.same(await refused(Node(name="n1", host="127.0.0.1", port=port)))


async def test_no_such_host() -> None:
    assert (await refused(Node(name="n1", host="no-such-host.invalid"))).startswith(
        "n1: no such host: no-such-host.invalid ("
    )


async def test_a_server_that_says_nothing(monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    monkeypatch.setattr(route, "ATTEMPT_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        node = Node(name="n1", host="127.0.0.1", port=silent.getsockname()[1])
        golden.same(await refused(node))


async def test_a_login_may_take_longer_than_the_way_to_it(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with PAM that waits for somebody to confirm it; with a limit of its own."""
    limits = list[asyncio.Timeout]()
    make = attempt.Attempt.make

    async def noted(self: attempt.Attempt, limit: asyncio.Timeout) -> attempt.Reached:
        limits.append(limit)
        began = limit.when()
        reached = await make(self, limit)
        assert began is not None
        now = limit.when()
        assert now is not None
        assert now - began > attempt.LOGIN_SECONDS - route.ATTEMPT_SECONDS - 1
        return reached

    monkeypatch.setattr(attempt.Attempt, "make", noted)
    await (await connect(server)).close()
    assert len(limits) == 1


async def test_a_login_that_does_not_end(server: Server, monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    monkeypatch.setattr(attempt, "LOGIN_SECONDS", 0.0)
    monkeypatch.setattr(route, "LOGIN_SECONDS", 0.0)
    golden.same(await refused(node_of(server)))


async def test_a_server_that_is_none(golden: Golden) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        node = Node(name="n1", host="127.0.0.1", port=server.sockets[0].getsockname()[1])
        golden.same(await refused(node))


async def test_a_server_that_hangs_up_on_the_first_is_asked_again(
    all_connections: Connections, server: Server, home: Path
) -> None:
    async with Cable(server.port).plugged() as cable:
        know(home, server, hosts=f"[127.0.0.1]:{cable.port}")
        cable.refuse = 3
        await (await all_connections.shell(node_of(cable))).run(["true"])
        assert cable.refused == 3
        assert all_connections.waits == ()


async def test_a_server_that_always_hangs_up(
    all_connections: Connections, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    monkeypatch.setattr(connections, "COME_BACK_SECONDS", 1.0)
    async with Cable(1).plugged() as cable:
        cable.refuse = 1000
        with golden.raises(TransportError):
            await all_connections.shell(node_of(cable))
        assert cable.refused > 1


async def test_nodes_that_are_waited_for_keep_no_other_from_connecting(
    all_connections: Connections, server: Server, golden: Golden
) -> None:
    async with Cable(1).plugged() as cable:
        cable.refuse = 1000
        names = [f"full{number}" for number in range(2 * connections.CONNECTS_AT_ONCE)]
        waiting = [asyncio.create_task(all_connections.shell(node_of(cable, name=name))) for name in names]
        while len(all_connections.waits) < len(names):
            await asyncio.sleep(0.01)
        golden.same(all_connections.waits[0].partition(": ")[2])
        await all_connections.shell(node_of(server))
        assert not any(task.done() for task in waiting)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
    assert all_connections.waits == ()


async def test_a_proxy_command_that_is_turned_away_is_run_again(
    all_connections: Connections, server: Server, home: Path, tmp_path: Path
) -> None:
    """OpenSSH's ssh says so, as a jump host that is full hangs up."""
    (tmp_path / "relay.py").write_text(RELAY)
    away = "echo kex_exchange_identification: Connection closed by remote host >&2; exit 255"
    relay = f"exec {sys.executable} {tmp_path}/relay.py {server.port}"
    script = f"test -e {tmp_path}/again || {{ touch {tmp_path}/again; {away}; }}; {relay}"
    (tmp_path / "proxy").write_text(script)
    configure(home, f"Host 127.0.0.1\nProxyCommand sh {tmp_path}/proxy\n")
    await (await all_connections.shell(node_of(server))).run(["true"])
    assert (tmp_path / "again").exists()


RELAY = """import socket, sys, threading
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
def out():
    while data := s.recv(65536):
        sys.stdout.buffer.write(data); sys.stdout.buffer.flush()
threading.Thread(target=out, daemon=True).start()
while data := sys.stdin.buffer.read1(65536):
    s.sendall(data)
"""


async def test_a_proxy_command(server: Server, home: Path, tmp_path: Path) -> None:
    (tmp_path / "relay.py").write_text(RELAY)
    know(home, server, hosts=f"[n9]:{server.port}")
    configure(home, f"Host n9\n ProxyCommand sh -c 'echo hello %h >&2; exec {sys.executable} {tmp_path}/relay.py %p'\n")
    await check(server, host="n9")


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("sh -c 'echo no way >&2; exit 1'", "no way"),
        ("sh -c 'exit 3'", "exit status 3"),
        ("no-such-command", "not found"),
    ],
)
async def test_a_proxy_command_that_fails(home: Path, command: str, reason: str, golden: Golden) -> None:
    configure(home, f"ProxyCommand {command}\n")
    text = await refused(Node(name="n1", host="n1"))
    assert text.startswith("n1: ")
    assert "ProxyCommand" in text
    assert reason in text
    golden.same(text.split(": ")[:2])


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ("User EVIL\n", {}),
        ("HostName EVIL\n", {}),
        ("Host h EVIL\n User u\n", {"host": "EVIL"}),
        ("", {"user": "EVIL"}),
        ("Host h\n ProxyJump EVIL@j\n", {"host": "h"}),
        ("Host h\n ProxyJump j,EVIL\n", {"host": "h"}),
        ("Host h\n ProxyJump j\nHost j\n User EVIL\n", {"host": "h"}),
        ("Match exec 'true %r %h'\n User u\n", {"user": "EVIL"}),
        ("Match exec 'true %r %h'\n User u\n", {"host": "EVIL"}),
        ("LOGNAME\n", {}),
    ],
)
@pytest.mark.parametrize("evil", ["$(>made)", "`>made`", ";>made", "-oProxyCommand=x"])
async def test_a_name_is_no_command(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, config: str, named: dict[str, str], evil: str
) -> None:
    monkeypatch.chdir(tmp_path)
    if config == "LOGNAME\n":
        monkeypatch.setenv("LOGNAME", evil)
        config = "User u\n"
    # of a jump host the node's own name is good
    configure(home, f"{config.replace('EVIL', evil)}Host *\n ProxyCommand echo %r %h %n %u %p; false\n")
    node = {"host": "127.0.0.1", **{key: value.replace("EVIL", evil) for key, value in named.items()}}
    text = await refused(Node(name="n1", **node))
    assert text.startswith("n1: ")
    assert repr(evil) in text
    assert "expected up to 255 letters, digits and . _ - +" in text
    assert "\n" not in text
    assert not (tmp_path / "made").exists()


async def test_jump_hosts(server: Server, start_server: StartServer, home: Path) -> None:
    first = await start_server(keys=[new_key("user")], host_keys=[new_key("first")])
    second = await start_server(password=PASSWORD, host_keys=[new_key("second")])
    configure(
        home,
        f"Host last\n HostName 127.0.0.1\n Port {server.port}\n ProxyJump first,{USER}@127.0.0.1:{second.port}\n"
        f"Host first\n HostName 127.0.0.1\n Port {first.port}\nHost *\n User {USER}\n",
    )
    node = Node(name="n1", host="last")
    answers: dict[str, str] = {}
    while isinstance(reached := await ssh.connect(node, answers), Question):
        answers[reached.key] = PASSWORD if reached.secret else "yes"
    shown = [HostKey("ssh-ed25519", new_key(name).public_data).fingerprint for name in ("first", "second")]
    assert [*answers] == [*(f"hostkey:{fingerprint}" for fingerprint in shown), f"password:{USER}@127.0.0.1"]
    assert isinstance(reached, SshConnection)
    assert (await reached.run(["echo", "through"])).stdout == "through\n"
    assert not first.commands
    assert not second.commands
    await reached.close()
    assert reached.closed
    await gone(first, second)


async def gone(*servers: Server) -> None:
    """Nobody is connected any more."""
    async with asyncio.timeout(5):
        for server in servers:
            for connection in server.connections:
                await connection.wait_closed()


async def test_a_jump_host_with_a_changed_key(server: Server, start_server: StartServer, home: Path) -> None:
    jump = await start_server(keys=[new_key("user")])
    know(home, jump, key=new_key("other"))
    configure(home, f"Host last\n HostName 127.0.0.1\n Port {server.port}\n ProxyJump 127.0.0.1:{jump.port}\n")
    text = await refused(Node(name="n1", host="last", user=USER))
    assert text.startswith("n1: jump host 127.0.0.1: ")
    assert HostKey("ssh-ed25519", new_key("other").public_data).fingerprint in text


async def test_a_jump_host_that_cant_reach_the_node(server: Server, home: Path, golden: Golden) -> None:
    configure(home, f"Host last\n HostName 127.0.0.1\n Port 1\n ProxyJump {USER}@127.0.0.1:{server.port}\n")
    text = await refused(Node(name="n1", host="last", user=USER))
    golden.same(text.split(": ")[:2])
    await gone(server)


async def test_jump_hosts_in_a_circle(home: Path, golden: Golden) -> None:
    configure(home, "Host a\n ProxyJump b\nHost b\n ProxyJump a\n")
    text = await refused(Node(name="n1", host="a"))
    assert "a -> b -> a" in text
    golden.same(text)


async def test_a_jump_host_that_all_hosts_have_itself_included(server: Server, home: Path) -> None:
    configure(home, f"Host *\n ProxyJump 127.0.0.1:{server.port}\n User {USER}\n")
    await check(server)


async def test_a_jump_host_that_cant_be_understood(home: Path) -> None:
    configure(home, "Host a\n ProxyJump x:y\n")
    assert "ProxyJump 'x:y': expected [USER@]HOST[:PORT]" in await refused(Node(name="n1", host="a"))


# ---------------------------------------------------------------------- short commands


async def test_the_round_trip_is_measured(connected: SshConnection) -> None:
    assert 0 < connected.round_trip_seconds < 0.5


async def test_a_node_that_runs_nothing(start_server: StartServer, home: Path, golden: Golden) -> None:
    server = await start_server(keys=[new_key("user")], before="echo 'This account is not available.'; exit 1")
    know(home, server)
    add_key(home)
    golden.same(await refused(node_of(server)))
    await gone(server)


WORDS = (
    "",
    "a b",
    "it's",
    '"',
    "$HOME",
    "back\\slash",
    "\\",
    "\\'",
    "a\nb",
    "\\\\",
    "é",
    "*",
    "`x`",
    "!",
    "x" * 100_000,
)


@pytest.mark.parametrize("shell", [name for name in ("sh", "bash", "zsh", "fish", "tcsh") if shutil.which(name)])
def test_every_login_shell_understands_the_line(shell: str) -> None:
    script = script_of(["sh", "-c", 'printf "<%s>" "$@"; cat', "sh", *WORDS])
    done = subprocess.run([shell, "-c", LOGIN_LINE], input=script + b"stdin", capture_output=True, check=True)
    assert done.stdout.decode() == "".join(f"<{word}>" for word in WORDS) + "stdin"


def test_no_login_shell_sees_the_command() -> None:
    """csh takes no newline in quotes, fish sees escapes there, some know ``!`` and some a shortest word."""
    assert not set(LOGIN_LINE) & set("\n\\!~*?[]{}")
    assert len(LOGIN_LINE) < 100


@pytest.mark.parametrize(
    "noise", ["echo hello", "printf 'no newline at the end'", "printf 'kind\tfile\n' >&2; printf '\377'", "set -x"]
)
async def test_what_start_up_files_print_is_no_answer(server: Server, connected: SshConnection, noise: str) -> None:
    server.before = noise
    done = await connected.run(["sh", "-c", "echo answer; echo error >&2"])
    assert (done.stdout, done.stderr) == ("answer\n", "error\n")


async def test_what_a_short_command_reads(connected: SshConnection) -> None:
    done = await connected.run(["sh", "-c", 'read -r line; echo "$line"; cat'], stdin="canary\nmore")
    assert done.stdout == "canary\nmore"
    with_nothing = await connected.run(["cat"])
    assert (with_nothing.status, with_nothing.stdout) == (0, "")


async def test_a_short_commands_answer(connected: SshConnection) -> None:
    done = await connected.run(["sh", "-c", 'echo "out $1"; cat; echo err >&2; exit 7', "sh", "a b"])
    assert (done.status, done.stdout, done.stderr) == (7, "out a b\n", "err\n")


async def test_a_short_command_that_was_killed_has_a_status(connected: SshConnection) -> None:
    assert (await connected.run(["sh", "-c", "kill -KILL $$"])).status == 137


@pytest.mark.timing
async def test_a_short_command_is_given_up_in_time(connected: SshConnection, golden: Golden) -> None:
    started = time.monotonic()
    with golden.raises(TransportError):
        await connected.run(["sleep", "1"], timeout_seconds=0.6)
    assert time.monotonic() - started < 2
    assert (await connected.run(["echo", "on"])).stdout == "on\n"


async def test_many_short_commands_at_once(connected: SshConnection, server: Server) -> None:
    done = await asyncio.gather(*(connected.run(["sh", "-c", f"sleep 0.05; echo {n}"]) for n in range(20)))
    assert [int(each.stdout) for each in done] == list(range(20))


@pytest.mark.parametrize("stream", ["", pytest.param(">&2", marks=pytest.mark.matrix)])
async def test_a_login_script_that_prints_without_end(
    server: Server, monkeypatch: pytest.MonkeyPatch, stream: str, golden: Golden
) -> None:
    monkeypatch.setattr(answers, "ANSWER_MOST_BYTES", 1 << 20)
    monkeypatch.setattr("cephtui.nodes.ssh.connection.READY_SECONDS", 12.0)
    connection = await connect(server)
    server.before = f"exec timeout 5 yes 'good morning' {stream}"
    with golden.raises(TransportError):
        await connection.run(["echo", "x"])
    await connection.close()
    server.before = f"exec timeout 1.5 yes 'good morning' {stream}"
    text = await refused(node_of(server))
    assert text.startswith("n1: ")
    assert "good morning" in text or "12 s" in text, "what it printed, or how long was waited"
    assert len(text) < 500


async def test_a_short_command_without_a_connection(connected: SshConnection, server: Server, golden: Golden) -> None:
    running = asyncio.create_task(connected.run(["sleep", "1"]))
    await asyncio.sleep(0.2)
    server.drop()
    with golden.raises(TransportError):
        await running
    assert connected.closed
    with golden.raises(TransportError):
        await connected.run(["true"])
    with golden.raises(TransportError):
        await start(connected, "true")


async def test_a_server_without_another_session(
    connected: SshConnection, server: Server, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    def refuse(self: Any) -> Any:
        raise asyncssh.ChannelOpenError(asyncssh.OPEN_ADMINISTRATIVELY_PROHIBITED, "open failed")

    monkeypatch.setattr(asyncssh.SSHServerConnection, "_process_session_open", lambda self, packet: refuse(self))
    with golden.raises(TransportError):
        await connected.run(["true"])
    assert not connected.closed


# ---------------------------------------------------------------------- benchmarks


async def start(connection: SshConnection, script: str, **more: Any) -> WatchedProcess:
    """Bring a shell script up to its release."""
    given = {"limit_seconds": 60, **more}
    return await connection.start(Command(["bash", "-c", script], **given))


async def outcome(process: WatchedProcess, *, release: bool = True) -> tuple[int | None, bytes, bytes]:
    """Status, stdout and stderr of a process at its end."""
    if release:
        process.release()
    output = {"stdout": b"", "stderr": b""}
    async for chunk in process.chunks():
        output[chunk.stream] += chunk.data
    return await process.wait(), output["stdout"], output["stderr"]


async def first_line(process: WatchedProcess) -> bytes:
    """Release it, and wait until it has printed something."""
    process.release()
    async for chunk in process.chunks():
        return chunk.data
    raise AssertionError("it ended without a word")


@pytest.mark.parametrize(("script", "status"), [("exit 0", 0), ("exit 3", 3), ("kill -KILL $$", 137)])
async def test_output_and_status_are_passed_on(connected: SshConnection, script: str, status: int) -> None:
    process = await start(connected, f"echo out; echo err >&2; {script}")
    assert await outcome(process) == (status, b"out\n", b"err\n")


async def test_nothing_begins_before_the_release(connected: SshConnection, tmp_path: Path) -> None:
    made = tmp_path / "made"
    process = await start(connected, f"touch {made}")
    await asyncio.sleep(0.3)
    assert not made.exists()
    assert (await outcome(process))[0] == 0
    assert made.exists()


async def test_a_stop_before_the_release(connected: SshConnection, tmp_path: Path) -> None:
    made = tmp_path / "made"
    process = await start(connected, f"touch {made}")
    await process.stop()
    assert await outcome(process, release=False) == (watched.NOT_RELEASED, b"", b"")
    assert not made.exists()


async def test_what_a_login_shell_prints_is_not_the_commands_output(server: Server) -> None:
    server.before = "echo 'Welcome to { \"this\": host }'; printf 'no line end'; echo motd >&2; printf noise >&2"
    connection = await connect(server)
    assert await outcome(await start(connection, "echo out; echo err >&2")) == (0, b"out\n", b"err\n")
    await connection.close()


async def test_a_flood_before_the_start(server: Server) -> None:
    server.before = "head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2"
    connection = await connect(server)
    assert await outcome(await start(connection, "echo out")) == (0, b"out\n", b"")
    await connection.close()


async def test_the_reason_is_told_where_nothing_can_begin(connected: SshConnection, server: Server) -> None:
    process = await start(connected, "true", prefix=["sh", "-c", "echo sudo: a password is required >&2; exit 1"])
    assert await outcome(process) == (1, b"", b"sudo: a password is required\n")
    process = await start(connected, "true", prefix=["sh", "-c", "echo This account is not available; exit 1"])
    assert await outcome(process) == (1, b"", b"This account is not available\n")
    process = await start(connected, "true", prefix=["no-such-prefix"])
    status, _, stderr = await outcome(process)
    assert (status, b"no-such-prefix" in stderr) == (127, True)


async def test_a_prefix_that_does_not_pass_stdin_on(connected: SshConnection) -> None:
    process = await start(connected, "echo never", prefix=["sh", "-c", 'exec "$@" </dev/null', "sh"])
    status, stdout, stderr = await outcome(process)
    assert (status, stdout) == (watched.NO_HEARTBEAT, b"")
    assert b"nothing comes in on stdin" in stderr


@pytest.mark.timing
async def test_what_is_never_ready_is_given_up(
    connected: SshConnection, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    monkeypatch.setattr(watched, "READY_SECONDS", 0.5)
    started = time.monotonic()
    with golden.raises(TransportError):
        await start(connected, "true", prefix=["sh", "-c", "echo waiting for a password >&2; sleep 1"])
    assert time.monotonic() - started < 2


async def test_both_streams_are_drained(connected: SshConnection) -> None:
    """Either full window would stop a command that writes to both in turn."""
    script = "for _ in {1..20}; do head -c 300000 /dev/zero >&2; head -c 300000 /dev/zero; done"
    status, stdout, stderr = await outcome(await start(connected, script))
    assert (status, len(stdout), len(stderr)) == (0, 6_000_000, 6_000_000)


async def test_a_stop_lets_the_command_say_its_last_words(connected: SshConnection) -> None:
    process = await start(connected, f"trap 'echo figures; exit 128' TERM; sleep 0.3; echo up; {FOREVER}")
    assert await first_line(process) == b"up\n"
    await process.stop()
    await process.stop()
    assert (await outcome(process, release=False))[:2] == (128, b"figures\n")


async def test_a_lost_connection_is_no_status(connected: SshConnection, server: Server) -> None:
    process = await start(connected, f"echo up; {FOREVER}")
    await first_line(process)
    server.drop()
    assert await outcome(process, release=False) == (None, b"", b"")
    assert connected.closed
    await process.stop()


@pytest.mark.timing
async def test_a_silent_link_is_a_lost_connection(
    server: Server, home: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    monkeypatch.setattr(attempt, "KEEPALIVE_SECONDS", 0.2)
    async with Cable(server.port).plugged() as cable:
        know(home, server, hosts=f"[127.0.0.1]:{cable.port}")
        connection = await connect(cable)
        process = await start(connection, f"echo up; {FOREVER}")
        await first_line(process)
        started = time.monotonic()
        cable.cut()
        assert (await outcome(process, release=False))[0] is None
        assert time.monotonic() - started < 2
        with golden.raises(TransportError):
            await connection.run(["true"])
        await connection.close()


@pytest.mark.timing
async def test_a_silent_link_does_not_hold_up_a_short_command_nor_the_end(server: Server, home: Path) -> None:
    async with Cable(server.port).plugged() as cable:
        know(home, server, hosts=f"[127.0.0.1]:{cable.port}")
        connection = await connect(cable)
        cable.cut()
        started = time.monotonic()
        with pytest.raises(TransportError, match="no answer within"):
            await connection.run(["true"], timeout_seconds=0.5)
        await connection.close()
        assert time.monotonic() - started < 4


@pytest.mark.timing
async def test_what_does_not_end_after_a_stop_is_let_go(
    connected: SshConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the link is down, or a process hangs in the kernel; here it only hides, and keeps the pipes open."""
    monkeypatch.setattr(watched, "_ABANDON_SECONDS", 1.0)
    process = await start(connected, "env -i setsid sleep 3 & echo up; sleep 1000")
    await first_line(process)
    started = time.monotonic()
    await process.stop()
    assert (await outcome(process, release=False))[0] in (None, 143)
    assert time.monotonic() - started < 2.5


async def test_a_watchdog_that_was_killed_leaves_no_status(connected: SshConnection) -> None:
    process = await start(connected, "echo up; kill -KILL $(ps -o ppid= $(ps -o ppid= $$)); sleep 1000")
    await first_line(process)
    assert (await outcome(process, release=False))[0] is None


async def test_all_nodes_begin_at_the_same_time(server: Server, connected: SshConnection) -> None:
    connections = [connected, *[await connect(server) for _ in range(3)]]
    processes = [await start(connection, "date +%s.%N") for connection in connections]
    await asyncio.sleep(0.5)
    released = time.monotonic()
    for process in processes:
        process.release()
    begun = [float((await outcome(process, release=False))[1]) for process in processes]
    offset = time.time() - time.monotonic()
    assert all(released <= process.released_at < released + 3 for process in processes)
    assert all(released < time_there - offset < released + 3 for time_there in begun)
    for connection in connections:
        await connection.close()


async def test_no_secret_is_in_a_command_line(server: Server, connected: SshConnection) -> None:
    await outcome(await start(connected, "true"))
    assert set(server.commands) == {LOGIN_LINE}


async def test_asyncssh_says_nothing(
    server: Server, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    connection = await connect(server)
    process = await start(connection, f"echo up; {FOREVER}")
    await first_line(process)
    server.drop()
    await outcome(process, release=False)
    assert capfd.readouterr() == ("", "")
    assert not [record for record in caplog.records if record.name.startswith("asyncssh")]
