"""Nodes reached over SSH, by the user's own ssh_config, keys, agent and known_hosts.

The only module that imports asyncssh, and only when the first such node is connected to: that takes 0.15 s.
Nothing is asked in the middle: ``connect`` returns the question, and is called again with its answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import random
import re
import shlex
import socket
import statistics
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from cephtui import hostkeys
from cephtui.hostkeys import SSH_PORT, HostKey, Known
from cephtui.models import Node
from cephtui.transport import (
    COMMAND_SECONDS,
    READY_SECONDS,
    Completed,
    Connection,
    LocalConnection,
    Question,
    TransportError,
    WatchedProcess,
    decoded,
    one_line,
    until_ready,
    watchdog_argv,
)

if TYPE_CHECKING:
    import asyncssh

ATTEMPT_SECONDS = 15.0
"""Bound of one attempt to connect and log in; an sshd under load or a slow PAM takes seconds."""
CONNECT_SECONDS = 20.0
"""For so long we come back to a server that hangs up: an sshd does with ten others at its door (MaxStartups)."""
_ADDRESS_SECONDS = 10.0
KEEPALIVE_SECONDS, KEEPALIVE_MISSES = 5, 3
"""A link that is down is noticed after 20 s: three keepalives without an answer, and the time of the next one."""
COMMANDS_AT_ONCE = 4
"""Short commands on one connection; an sshd allows ten sessions (MaxSessions), and a benchmark needs one."""
HOPS_MOST = 8
SYSTEM_CONFIG, SYSTEM_KNOWN_HOSTS = Path("/etc/ssh/ssh_config"), Path("/etc/ssh/ssh_known_hosts")
PVE_NODES = Path("/etc/pve/nodes")
"""Where Proxmox VE keeps the host key of each node of a cluster, under the node's name."""
_PINGS = 5
_GOODBYE_SECONDS = 2.0
_PLAIN: dict[str, Any] = {"encoding": None, "request_pty": False, "env": {}, "send_env": []}
"""Of a session: bytes, no terminal, and nothing of the console's environment, whatever ssh_config says."""
_KEY_FILES = ("id_ed25519", "id_ecdsa", "id_rsa", "id_ecdsa_sk", "id_ed25519_sk")
_KEY_TYPES = {
    "ssh-ed25519": ("ssh-ed25519",),
    "ecdsa-sha2-nistp256": ("ecdsa-sha2-nistp256",),
    "ecdsa-sha2-nistp384": ("ecdsa-sha2-nistp384",),
    "ecdsa-sha2-nistp521": ("ecdsa-sha2-nistp521",),
    "ssh-rsa": ("rsa-sha2-512", "rsa-sha2-256"),
}
"""Types of host keys, best first, and the signature algorithms of each."""
_ERRORS = {
    errno.ECONNREFUSED: "connection refused by",
    errno.EHOSTUNREACH: "no route to",
    errno.ENETUNREACH: "no route to",
    errno.ETIMEDOUT: "timed out: no answer from",
}
log = logging.getLogger(__name__)


async def connect(node: Node, answers: Mapping[str, str]) -> Connection | Question:
    """A connection to a node, or what must be known before; raises TransportError.

    ``answers`` are those to earlier questions, by their ``key``. An answer that was wrong is asked for again, with
    a text that says so. An empty one to a secret question passes over that key or password.
    """
    if node.host is None:
        return LocalConnection(node)
    await asyncio.to_thread(_import)
    route = _Route(node, answers)
    reached: asyncssh.SSHClientConnection | Question | None = None
    try:
        reached = await route.reach(await route.look_up(node.host, node.user, node.port))
    finally:
        if not isinstance(reached, asyncssh.SSHClientConnection):
            await route.leave()
    if isinstance(reached, Question):
        return reached
    connection = SshConnection(node, reached, route.proxies)
    try:
        await connection.measure()
    except BaseException:
        await connection.close()
        raise
    return connection


def _import() -> None:
    global asyncssh
    import asyncssh

    quiet = logging.getLogger("asyncssh")
    quiet.setLevel(logging.WARNING)  # below that it tells every command line
    if not quiet.handlers:
        quiet.addHandler(logging.NullHandler())  # without any handler, Python would write to the terminal


# ---------------------------------------------------------------------- what ssh_config says


@dataclass(frozen=True, slots=True)
class _Hop:
    """One host on the way, as ssh_config has it: the node itself, or a jump host."""

    node: Node
    typed: str
    """The name before ssh_config made an address of it."""
    host: str
    user: str
    port: int
    alias: str | None
    jumps: tuple[str, ...]
    proxy_command: str | None
    entry: str
    """Its name in known_hosts."""
    known: Known
    known_hosts: Path | None
    """Where accepted keys go."""
    identity_files: tuple[Path, ...]
    certificate_files: tuple[Path, ...]
    named_identities: bool
    """Whether the identities are the user's choice, not what lies in ``~/.ssh``."""
    identities_only: bool
    agent: str | None
    family: int
    bind: str | None
    own_key_types: bool
    """Whether ssh_config has HostKeyAlgorithms."""
    config: tuple[str, ...]

    @property
    def login(self) -> str:
        """``user@host``, for questions."""
        return f"{self.user}@{self.typed}"

    def error(self, text: str) -> TransportError:
        """An error that names the node, and the jump host where it is one."""
        where = "" if self.typed == self.node.host else f"jump host {self.typed}: "
        return TransportError(f"{self.node.name}: {where}{text}")

    def store(self, key: HostKey) -> None:
        """Add a key that the user has accepted; one that can't be stored is asked for again next time."""
        if not self.known_hosts:
            return
        try:
            hostkeys.append(self.known_hosts, self.entry, key)
        except OSError as error:
            log.warning("can't add the key of %s to %s: %s", self.entry, self.known_hosts, error.strerror)


def _look_up(node: Node, host: str, user: str | None, port: int | None) -> _Hop:
    """What ssh_config says of a host; it may run a command (Match exec), so not in the event loop."""
    files = (node.ssh_config,) if node.ssh_config else ("~/.ssh/config", str(SYSTEM_CONFIG))
    paths = [str(Path(file).expanduser()) for file in files]
    config = tuple(path for path in paths if node.ssh_config or os.access(path, os.R_OK))
    try:
        options = asyncssh.SSHClientConnectionOptions(
            host=host,
            port=port or (),
            username=user or (),
            config=list(config),
            client_keys=None,
            x509_trusted_certs=None,
        )
    except OSError as error:
        raise TransportError(f"{node.name}: can't read {error.filename}: {error.strerror}") from None
    except ValueError as error:
        raise TransportError(f"{node.name}: can't understand the SSH configuration: {error}") from None
    return _hop(node, host, options, config)


def _hop(node: Node, typed: str, options: asyncssh.SSHClientConnectionOptions, config: tuple[str, ...]) -> _Hop:
    get = options.config.get
    alias = cast("str | None", get("HostKeyAlias"))
    tokens = {"h": options.host, "n": typed, "p": str(options.port), "r": options.username, "k": alias or typed}

    def files(option: str, default: Sequence[Path] = ()) -> tuple[Path, ...]:
        named = cast("list[str] | None", get(option))
        return tuple(default) if named is None else tuple(_expand(name, tokens) for name in named)

    ssh = Path("~/.ssh").expanduser()
    users = files("UserKnownHostsFile", [ssh / "known_hosts", ssh / "known_hosts2"])
    everyones = files("GlobalKnownHostsFile", [SYSTEM_KNOWN_HOSTS])
    entry = alias.lower() if alias else hostkeys.entry_name(options.host, options.port)
    portless = None if alias or options.port == SSH_PORT else options.host.lower()
    jumps = cast("str | None", get("ProxyJump"))
    return _Hop(
        node=node,
        typed=typed,
        host=options.host,
        user=options.username,
        port=options.port,
        alias=alias,
        jumps=tuple(jumps.split(",")) if jumps else (),
        proxy_command=cast("str | None", get("ProxyCommand")),
        entry=entry,
        known=hostkeys.look_up([*((path, entry) for path in (*users, *everyones)), *_of_pve(typed)], portless=portless),
        known_hosts=users[0] if users else None,
        identity_files=files("IdentityFile", [ssh / name for name in _KEY_FILES]),
        certificate_files=files("CertificateFile"),
        named_identities=get("IdentityFile") is not None,
        identities_only=bool(get("IdentitiesOnly")),
        agent=_agent(cast("str | None", get("IdentityAgent", "SSH_AUTH_SOCK"))),
        family=options.family,
        bind=cast("str | None", get("BindAddress")),
        own_key_types=get("HostKeyAlgorithms") is not None,
        config=config,
    )


def _of_pve(host: str) -> list[tuple[Path, str]]:
    """Where the key of a node of the same Proxmox VE cluster is, and its name there."""
    is_name = re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.-]*", host)
    return [(PVE_NODES / host / "ssh_known_hosts", host.lower())] if is_name else []


def _expand(name: str, tokens: Mapping[str, str]) -> Path:
    """``~`` and the ``%`` tokens of ssh_config(5) in a file name."""
    known = {**tokens, "%": "%", "d": str(Path.home()), "i": str(os.getuid())}
    return Path(re.sub("%(.)", lambda found: known.get(found[1], found[0]), name)).expanduser()


def _agent(name: str | None) -> str | None:
    """The socket of an agent from IdentityAgent, which may name a variable."""
    if name is not None and (name == "SSH_AUTH_SOCK" or name.startswith("$")):
        return os.environ.get(name.strip("${}")) or None
    return str(Path(name).expanduser()) if name else None


def _split_host(text: str) -> tuple[str, str | None, int | None]:
    """Host, user and port of a jump host; raises ValueError."""
    fits = re.fullmatch(r"(?:ssh://)?(?:([^@]+)@)?(?:\[([^]]+)\]|([^:@\[\]]+))(?::(\d+))?/?", text.strip())
    if not fits:
        raise ValueError(f"ProxyJump {text!r}: expected [USER@]HOST[:PORT]")
    return fits[2] or fits[3], fits[1], int(fits[4]) if fits[4] else None


# ---------------------------------------------------------------------- connecting


class _TurnedAway(Exception):
    """The server hung up before it had looked at us: it may be busy."""


class _NoSuchAuthority(Exception):
    """The server has shown a certificate that nobody known has signed; its key may be known all the same."""


class _Route:
    """The way to a node, by way of its jump hosts."""

    def __init__(self, node: Node, answers: Mapping[str, str]) -> None:
        self.proxies: list[_Proxy] = []
        """Programs that carry a connection."""
        self._node, self._answers = node, answers

    async def look_up(self, host: str, user: str | None, port: int | None) -> _Hop:
        """What ssh_config says of a host; raises TransportError."""
        return await asyncio.to_thread(_look_up, self._node, host, user, port)

    async def reach(self, hop: _Hop, behind: tuple[str, ...] = ()) -> asyncssh.SSHClientConnection | Question:
        """Connect to a host, and before to its jump hosts; ``behind`` are those that come after it."""
        if len(behind) > HOPS_MOST:
            raise hop.error(f"its jump hosts lead in a circle: {' -> '.join(behind)}")
        jump = await self._last_jump(hop)
        tunnel = await self.reach(jump, (*behind, hop.typed)) if jump else None
        if isinstance(tunnel, Question):
            return tunnel
        reached: asyncssh.SSHClientConnection | Question | None = None
        try:
            reached = await self._keep_trying(hop, tunnel)
        finally:
            if tunnel and isinstance(reached, asyncssh.SSHClientConnection):
                reached.set_tunnel(tunnel)  # which closes it with the connection
            elif tunnel:
                tunnel.close()
        return reached

    async def leave(self) -> None:
        """Wait for the end of what carried a connection that there is not."""
        for proxy in self.proxies:
            await proxy.gone()

    async def _last_jump(self, hop: _Hop) -> _Hop | None:
        """The jump host next to a host: it is reached by way of the others before it, or as its own entry says."""
        if not hop.jumps:
            return None
        try:
            jump = await self.look_up(*_split_host(hop.jumps[-1]))
        except ValueError as error:
            raise hop.error(str(error)) from None
        if (jump.host, jump.port) == (hop.host, hop.port):
            return None  # ``Host *`` sends the jump host to itself
        return replace(jump, jumps=hop.jumps[:-1]) if len(hop.jumps) > 1 else jump

    async def _keep_trying(
        self, hop: _Hop, tunnel: asyncssh.SSHClientConnection | None
    ) -> asyncssh.SSHClientConnection | Question:
        end, pause, certificates = time.monotonic() + CONNECT_SECONDS, 0.25, True
        while True:
            attempt = _Attempt(hop, self._answers, tunnel, certificates=certificates)
            try:
                async with asyncio.timeout(ATTEMPT_SECONDS):
                    return await attempt.make()
            except _NoSuchAuthority:
                certificates = False
                continue
            except _TurnedAway as error:
                if time.monotonic() + pause > end:
                    raise hop.error(f"{error}, for {CONNECT_SECONDS:.0f} s") from None
            except TimeoutError:
                raise hop.error(f"timed out: not connected and logged in within {ATTEMPT_SECONDS:.0f} s") from None
            finally:
                self.proxies += attempt.proxies
            await asyncio.sleep(pause * random.uniform(0.5, 1.5))  # those who came together come back apart
            pause = min(2 * pause, 4.0)


class _Attempt:
    """One attempt to connect and log in."""

    def __init__(
        self, hop: _Hop, answers: Mapping[str, str], tunnel: asyncssh.SSHClientConnection | None, *, certificates: bool
    ) -> None:
        self._hop, self._tunnel, self._certificates = hop, tunnel, certificates
        self._login = _client(hop, answers)
        self._socket: socket.socket | None = None
        self.proxies: list[_Proxy] = []
        """The ProxyCommand, where there is one."""

    async def make(self) -> asyncssh.SSHClientConnection | Question:
        """The connection, or what was missing.

        Raises TransportError, TimeoutError, and _TurnedAway and _NoSuchAuthority, after which it may be tried again.
        """
        try:
            return await self._log_in()
        except (asyncssh.Error, OSError, ValueError) as error:
            reason = one_line(error.reason if isinstance(error, asyncssh.Error) else str(error))
            denied = isinstance(error, asyncssh.PermissionDenied) or "authentication failures" in reason
            if question := self._login.asked(denied=denied):
                return question
            raise await self._explain(error, reason) from None
        finally:
            if not self._login.logged_in:
                self._close_proxies()
                if self._socket:
                    self._socket.close()

    async def _log_in(self) -> asyncssh.SSHClientConnection:
        hop, login = self._hop, self._login
        if not self._tunnel:
            self._socket = await self._open()
        login.at_end = self._close_proxies
        return await asyncssh.connect(
            hop.typed,
            hop.port,
            tunnel=cast(Any, self._tunnel),
            sock=self._socket,
            config=list(hop.config),
            client_factory=lambda: login,
            username=hop.user,
            known_hosts=([], [], _imported(hop.known.revoked)),
            server_host_key_algs=() if hop.own_key_types else _key_algorithms(hop.known, self._certificates),
            host_key_alias=hop.alias,
            client_keys=None,
            x509_trusted_certs=None,
            gss_host=None,
            agent_forwarding=False,
            x11_forwarding=False,
            canonicalize_hostname=False,
            proxy_command=None,
            connect_timeout=None,
            login_timeout=0,
            keepalive_interval=KEEPALIVE_SECONDS,
            keepalive_count_max=KEEPALIVE_MISSES,
        )

    async def _open(self) -> socket.socket:
        if not self._hop.proxy_command:
            return await _tcp(self._hop)
        ours, theirs = socket.socketpair()
        with theirs:
            self.proxies.append(await _Proxy.start(self._hop.proxy_command, theirs))
        return ours

    def _close_proxies(self) -> None:
        for proxy in self.proxies:
            proxy.close()

    async def _explain(self, error: Exception, reason: str) -> Exception:
        """The same in plain words."""
        hop, login = self._hop, self._login
        if login.problem:
            return hop.error(login.problem)
        match error:
            case asyncssh.HostKeyNotVerifiable() if login.unknown_authority and self._certificates:
                return _NoSuchAuthority()
            case asyncssh.HostKeyNotVerifiable():
                return hop.error(f"the host key can't be trusted: {reason}")
            case asyncssh.PermissionDenied():
                return hop.error(f"permission denied for {hop.user}: tried {login.tried}")
            case asyncssh.KeyExchangeFailed():
                return hop.error(f"no algorithm in common: {reason}")
            case asyncssh.ChannelOpenError():
                return hop.error(f"the jump host can't reach {hop.host} port {hop.port}: {reason}")
            case asyncssh.ConnectionLost() | ConnectionError():
                return await self._lost()
            case asyncssh.DisconnectError() if "authentication failures" in reason:
                return hop.error(f"{reason}: tried {login.tried}; IdentityFile and IdentitiesOnly name the right key")
        return hop.error(f"can't connect: {reason}")

    async def _lost(self) -> Exception:
        for proxy in self.proxies:
            if why := await proxy.failure():
                return self._hop.error(f"the ProxyCommand failed: {why}")
        if self._login.began:
            return self._hop.error("the connection was lost during the login")
        return _TurnedAway("the server hangs up before the login")


async def _tcp(hop: _Hop) -> socket.socket:
    """A connection to the first address that answers; raises TransportError."""
    loop = asyncio.get_running_loop()
    try:
        places = await loop.getaddrinfo(hop.host, hop.port, family=hop.family, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        raise hop.error(f"no such host: {hop.host} ({error.strerror})") from None
    problem = ""
    for family, kind, protocol, _, address in places:
        made = socket.socket(family, kind, protocol)
        try:
            made.setblocking(False)
            if hop.bind:
                made.bind((hop.bind, 0))
            await asyncio.wait_for(loop.sock_connect(made, address), _ADDRESS_SECONDS / len(places))
            return made
        except OSError as error:  # TimeoutError is one
            made.close()
            what = _ERRORS.get(error.errno or errno.ETIMEDOUT) or f"{os.strerror(error.errno or 0).lower()}:"
            problem = problem or f"{what} {address[0]!s} port {hop.port}"
        except BaseException:
            made.close()
            raise
    raise hop.error(problem)


class _Proxy(asyncio.SubprocessProtocol):
    """A ProxyCommand. asyncssh's own would take what the command says on stderr for the server's."""

    def __init__(self) -> None:
        self._ended = asyncio.Event()
        self._ending: asyncio.TimerHandle | None = None
        self._said = b""
        self._transport: asyncio.SubprocessTransport | None = None

    @classmethod
    async def start(cls, command: str, end: socket.socket) -> _Proxy:
        """Run it in a shell, as ssh does, with one end of a pair of sockets as stdin and stdout."""
        _, proxy = await asyncio.get_running_loop().subprocess_exec(
            cls, "sh", "-c", f"exec {command}", stdin=end.fileno(), stdout=end.fileno(), start_new_session=True
        )
        return proxy

    async def failure(self) -> str | None:
        """Why it has ended, where it did so by itself and not because of the server."""
        await self.gone()
        if not self._ended.is_set():
            return None
        status = self._transport.get_returncode() if self._transport else None
        return one_line(decoded(self._said))[-300:] or (f"exit status {status}" if status else None)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See asyncio.BaseProtocol."""
        self._transport = cast(asyncio.SubprocessTransport, transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """See asyncio.SubprocessProtocol."""
        self._said = (self._said + data)[-4096:]

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio.BaseProtocol: it has ended, and said all."""
        self._end()
        if self._ending:
            self._ending.cancel()
        self._ended.set()

    def close(self) -> None:
        """Let it end, as its sockets do, or make it.

        Not at once: to kill a process that is just ending takes its exit status away from asyncio.
        """
        if not self._ended.is_set() and not self._ending:
            self._ending = asyncio.get_running_loop().call_later(_GOODBYE_SECONDS / 2, self._end)

    async def gone(self) -> None:
        """Wait for its end, but not for long."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._ended.wait(), _GOODBYE_SECONDS)

    def _end(self) -> None:
        if self._transport:
            self._transport.close()


# ---------------------------------------------------------------------- host keys


def _imported(keys: Sequence[HostKey]) -> list[asyncssh.SSHKey]:
    found = []
    for key in keys:
        with contextlib.suppress(asyncssh.KeyImportError):  # of a type that it does not know
            found.append(asyncssh.import_public_key(key.text))
    return found


def _key_algorithms(known: Known, certificates: bool) -> list[str]:
    """The algorithms of host keys in the order in which they are wanted: a server shows the first that it has.

    Those of known keys come first; else a server with several would show one that is not known. Certificates only
    where an authority is known: asyncssh does not fall back from a certificate to the key in it.
    """
    types = {key.type for key in (*known.keys, *known.elsewhere)}
    wanted = sorted(_KEY_TYPES, key=lambda kind: kind not in types)
    plain = [algorithm for kind in wanted for algorithm in _KEY_TYPES[kind]]
    certified = [f"{algorithm}-cert-v01@openssh.com" for algorithm in plain]
    certified = certified if certificates and known.authorities else []
    return [*certified, *plain]


# ---------------------------------------------------------------------- logging in


def _client(hop: _Hop, answers: Mapping[str, str]) -> _Login:
    class Client(_Login, asyncssh.SSHClient):
        """asyncssh's callbacks; what _Login leaves out is left to asyncssh."""

    return Client(hop, answers)


class _Login:
    """What asyncssh wants to know while it logs in, from the answers that there are."""

    def __init__(self, hop: _Hop, answers: Mapping[str, str]) -> None:
        self.problem: str | None = None
        """Why the host key is refused."""
        self.unknown_authority = False
        """Whether the host has shown a certificate by somebody unknown."""
        self.began = self.logged_in = False
        self.at_end: Callable[[], None] | None = None
        self._hop, self._answers = hop, answers
        self._question: Question | None = None
        self._answered: Question | None = None
        self._accepted: HostKey | None = None
        self._tried: dict[str, int] = {}
        self._keys = self._offers()
        self._prompts: set[str] = set()
        self._agent: asyncssh.SSHAgentClient | None = None

    @property
    def tried(self) -> str:
        """The ways to log in that were tried."""
        tried = [f"{method} ({n} keys)" if n > 1 else method for method, n in self._tried.items()]
        missing = [str(path) for path in self._hop.identity_files if self._hop.named_identities and not path.exists()]
        text = ", ".join(tried) or "nothing, there is no key, and no password is taken"
        return f"{text} ({', '.join(missing)} is not there)" if missing else text

    def asked(self, *, denied: bool) -> Question | None:
        """The question to which there was no answer, or the last one where the server has refused us after it."""
        if self._question or not denied or not self._answered:
            return self._question
        return _wrong(self._answered)

    # ------------------------------------------------------------------ asyncssh's callbacks

    def validate_host_public_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:
        """Whether to go on with a host that shows this key; a revoked one asyncssh has refused before."""
        shown = HostKey(key.get_algorithm(), key.public_data)
        match self._hop.known.judge(shown):
            case "known":
                return True
            case "unknown":
                return self._accept(shown)
            case "changed":
                expected = " or ".join(str(known) for known in self._hop.known.keys)
                self.problem = (
                    f"host key has CHANGED: expected {expected}, got {shown}; either somebody stands between, or it "
                    f"was made anew: then remove the old one with ssh-keygen -R {shlex.quote(self._hop.entry)}"
                )
        return False

    def validate_host_ca_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:
        """Whether to believe a certificate that this key has signed."""
        trusted = self._hop.known.trusts(HostKey(key.get_algorithm(), key.public_data))
        self.unknown_authority = not trusted
        return trusted

    def begin_auth(self, username: str) -> None:
        """The host has proved that the key is its own."""
        self.began = True
        if self._accepted:
            self._hop.store(self._accepted)

    def auth_completed(self) -> None:
        """Logged in."""
        self.logged_in = True
        self._leave_agent()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection has ended."""
        self._leave_agent()
        if self.at_end:
            self.at_end()

    async def public_key_auth_requested(self) -> asyncssh.SSHKeyPair | None:
        """The next key to try."""
        key = await anext(self._keys, None)
        if key and not self._question:
            self._tried["publickey"] = self._tried.get("publickey", 0) + 1
        return None if self._question else key

    def password_auth_requested(self) -> str | None:
        """The password."""
        answer = self._answer(f"password:{self._hop.login}", f"Password for {self._hop.login}:")
        if answer:
            self._tried["password"] = 1
        return answer or None

    def kbdint_auth_requested(self) -> str | None:
        """Whether to be asked by the server at all."""
        return None if self._question else ""

    def kbdint_challenge_received(
        self, name: str, instructions: str, lang: str, prompts: Sequence[tuple[str, bool]]
    ) -> list[str] | None:
        """Answers to what the server asks."""
        answers = []
        for prompt, _ in prompts:
            text = one_line(f"{self._hop.login}: {instructions} {prompt}")
            answer = self._answer(f"prompt:{self._hop.login}:{one_line(prompt)}", text)
            if not answer:
                return None
            answers.append(answer)
        if prompts:
            self._tried["keyboard-interactive"] = 1
        return answers

    # ------------------------------------------------------------------

    def _accept(self, key: HostKey) -> bool:
        question = f"hostkey:{key.fingerprint}"
        if question in self._answers:
            self._accepted = key if self._answers[question] == "yes" else None
            self.problem = None if self._accepted else f"its host key was not accepted: {key}"
            return self._accepted is not None
        text = (
            f"The authenticity of {self._hop.entry} can't be established: {key.type} key {key.fingerprint}. "
            f"Accept{f' and add it to {self._hop.known_hosts}' if self._hop.known_hosts else ''}?"
        )
        self._question = Question(self._hop.node.name, question, text, secret=False)
        return False

    def _answer(self, key: str, text: str) -> str | None:
        """The answer to a secret question; where there is none, or it was given already, the question is put."""
        if self._question:
            return None
        question = Question(self._hop.node.name, key, text, secret=True)
        if key in self._prompts:
            self._question = _wrong(question)
        elif key not in self._answers:
            self._question = question
        else:
            self._prompts.add(key)
            self._answered = question if self._answers[key] else None
            return self._answers[key]
        return None

    async def _offers(self) -> AsyncIterator[asyncssh.SSHKeyPair]:
        """The keys to try, in the order of ssh: the agent's, then files; those with a passphrase last."""
        files = [path for path in self._hop.identity_files if path.exists()]
        wanted = await asyncio.to_thread(lambda: {blob for path in files if (blob := _public(path))})
        agent = await self._agent_keys()
        offered = set()
        for key in sorted(agent, key=lambda key: key.public_data not in wanted):
            if key.public_data in wanted or not self._hop.identities_only:
                offered.add(key.public_data)
                yield key
        locked = []
        for path in files:
            try:
                keys = await asyncio.to_thread(self._load, path, None)
            except asyncssh.KeyImportError as error:
                if str(error).startswith("Passphrase"):
                    locked.append(path)
                continue
            for key in keys:
                if key.public_data not in offered:
                    yield key
        for path in locked:
            if _public(path) not in offered:
                for key in await self._unlocked(path):
                    yield key

    def _load(self, path: Path, passphrase: Any) -> Sequence[asyncssh.SSHKeyPair]:
        certificates = [str(file) for file in self._hop.certificate_files if file.exists()]
        try:
            return asyncssh.load_keypairs(str(path), passphrase, certificates)
        except OSError as error:
            raise asyncssh.KeyImportError(str(error)) from None

    async def _unlocked(self, path: Path) -> Sequence[asyncssh.SSHKeyPair]:
        """The keys of a file with a passphrase; an unknown one is asked for when the server wants the key."""
        text = f"Passphrase for the key {path}:"
        if str(path) not in self._answers and _public(path):

            def ask(_: str) -> str:
                self._answer(str(path), text)
                raise asyncssh.KeyImportError("no passphrase yet")

            return await asyncio.to_thread(self._load, path, ask)
        passphrase = self._answer(str(path), text)
        self._answered = None  # the server has no say in it
        if not passphrase:
            return []
        try:
            return await asyncio.to_thread(self._load, path, passphrase)
        except (asyncssh.KeyImportError, asyncssh.KeyEncryptionError):
            self._question = _wrong(Question(self._hop.node.name, str(path), text, secret=True))
            return []

    async def _agent_keys(self) -> Sequence[asyncssh.SSHKeyPair]:
        """What an agent has; one that does not answer has nothing."""
        if not self._hop.agent:
            return []
        try:
            self._agent = await asyncssh.connect_agent(self._hop.agent)
            return await self._agent.get_keys()
        except (OSError, ValueError):
            return []

    def _leave_agent(self) -> None:
        if self._agent:
            self._agent.close()
            self._agent = None


def _wrong(question: Question) -> Question:
    return replace(question, text=f"That was wrong. {question.text}")


def _public(path: Path) -> bytes | None:
    """The public part of a key file, where it is at hand."""
    for file in (f"{path}.pub", str(path)):
        with contextlib.suppress(OSError, asyncssh.KeyImportError):
            return asyncssh.read_public_key(file).public_data
    return None


# ---------------------------------------------------------------------- the connection


def command_line(argv: Sequence[str]) -> str:
    """A command for the login shell, whichever it is.

    Quoted as by shlex.join; but fish reads a backslash in quotes as an escape, so it stands outside of them. ``exec``
    because a shell that stays would report the end by a signal as a status.
    """
    return "exec " + " ".join("\\\\".join(shlex.quote(part) for part in word.split("\\")) for word in argv)


class _Session:
    """Hands on what asyncssh says of a session, and is the way to its process."""

    def __init__(self, token: str, round_trip_seconds: float) -> None:
        self.process = WatchedProcess(self, token, round_trip_seconds)
        self._channel: asyncssh.SSHClientChannel[bytes] | None = None

    def connection_made(self, chan: asyncssh.SSHClientChannel[bytes]) -> None:
        """See asyncssh.SSHClientSession."""
        self._channel = chan

    def session_started(self) -> None:
        """See asyncssh.SSHClientSession."""
        self.process.opened()

    def data_received(self, data: bytes, datatype: int | None) -> None:
        """See asyncssh.SSHClientSession."""
        self.process.received("stdout" if datatype is None else "stderr", data)

    def eof_received(self) -> bool:
        """See asyncssh.SSHClientSession; the exit status may still come."""
        return True

    def exit_status_received(self, status: int) -> None:
        """See asyncssh.SSHClientSession."""
        self.process.exited(status)

    def exit_signal_received(self, signal: str, core_dumped: bool, msg: str, lang: str) -> None:
        """See asyncssh.SSHClientSession: the watchdog itself was killed."""
        self.process.exited(None)

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncssh.SSHClientSession: the session has ended, or the connection under it."""
        self.process.ended(lost=exc is not None)

    def write(self, data: bytes) -> None:
        """See Way."""
        with contextlib.suppress(OSError):
            if self._channel:
                self._channel.write(data)

    def write_eof(self) -> None:
        """See Way."""
        with contextlib.suppress(OSError):
            if self._channel:
                self._channel.write_eof()

    def abandon(self) -> None:
        """See Way."""
        if self._channel:
            self._channel.close()


class SshConnection:
    """A node reached over SSH."""

    round_trip_seconds = 0.0

    def __init__(self, node: Node, connection: asyncssh.SSHClientConnection, proxies: Sequence[_Proxy]) -> None:
        self.node = node
        self._connection, self._proxies = connection, proxies
        self._turns = asyncio.Semaphore(COMMANDS_AT_ONCE)

    @property
    def closed(self) -> bool:
        """See Connection."""
        return self._connection.is_closed()

    async def measure(self) -> None:
        """Measure the round trip: the median of a few lines sent to ``cat`` and back; raises TransportError.

        So what is measured is the way that the order to begin takes, and the report of it: network, sshd and pipe,
        but not the start of a shell, as it would be by running ``true``.
        """
        try:
            async with asyncio.timeout(READY_SECONDS):
                self.round_trip_seconds = await self._echoed()
        except TimeoutError:
            raise TransportError(f"{self.node.name}: not ready to run anything within {READY_SECONDS:.0f} s") from None
        except (asyncssh.Error, OSError) as error:
            raise self._failed(error) from None

    async def run(self, argv: Sequence[str], *, timeout_seconds: float = COMMAND_SECONDS) -> Completed:
        """See Connection."""
        async with self._turns:
            try:
                async with asyncio.timeout(timeout_seconds):
                    return await self._run(argv)
            except TimeoutError:
                raise TransportError(f"{self.node.name}: no answer within {timeout_seconds:.0f} s") from None
            except (asyncssh.Error, OSError) as error:
                raise self._failed(error) from None

    async def start(
        self, argv: Sequence[str], *, prefix: Sequence[str] = (), token: str, limit_seconds: float, lock: str
    ) -> WatchedProcess:
        """See Connection."""

        class Session(_Session, asyncssh.SSHClientSession[bytes]):
            """asyncssh's callbacks; what _Session leaves out is left to asyncssh."""

        wrapped = (*prefix, *watchdog_argv(argv, token=token, limit_seconds=limit_seconds, lock=lock))
        session = Session(token, self.round_trip_seconds)
        try:
            async with asyncio.timeout(READY_SECONDS):
                await self._connection.create_session(lambda: session, command_line(wrapped), **_PLAIN)
        except TimeoutError:
            raise TransportError(f"{self.node.name}: no new session within {READY_SECONDS:.0f} s") from None
        except (asyncssh.Error, OSError) as error:
            raise self._failed(error) from None
        await until_ready(session.process, self.node.name)
        if self.closed:
            raise self._failed(None)
        return session.process

    async def close(self) -> None:
        """See Connection."""
        self._connection.close()
        try:
            await asyncio.wait_for(self._connection.wait_closed(), _GOODBYE_SECONDS)
        except TimeoutError:
            self._connection.abort()
        for proxy in self._proxies:
            await proxy.gone()

    async def _run(self, argv: Sequence[str]) -> Completed:
        async with self._process(command_line(argv)) as process:
            process.stdin.write_eof()
            stdout, stderr = await process.communicate()
            status = process.returncode
        if status is None:
            raise self._failed(None)
        return Completed(128 - status if status < 0 else status, decoded(stdout), decoded(stderr))

    @contextlib.asynccontextmanager
    async def _process(self, line: str) -> AsyncIterator[asyncssh.SSHClientProcess[bytes]]:
        """A process that is let go of at the end; asyncssh's own context would wait for a node that is silent."""
        process = await self._connection.create_process(line, **_PLAIN)
        try:
            yield process
        finally:
            process.close()

    async def _echoed(self) -> float:
        times = []
        async with self._process(command_line(["cat"])) as process:
            for number in range(_PINGS + 1):
                line = b"cephtui %d\n" % number
                started = time.monotonic()
                process.stdin.write(line)
                try:
                    await process.stdout.readuntil(line)
                except asyncio.IncompleteReadError as error:
                    said = one_line(decoded(error.partial + await process.stderr.read()))[-300:]
                    raise TransportError(
                        f"{self.node.name}: can't run commands there: {said or 'no reason given'}"
                    ) from None
                times.append(time.monotonic() - started)
        return statistics.median(times[1:])  # the first waits for the login shell

    def _failed(self, error: Exception | None) -> TransportError:
        if self.closed or not isinstance(error, asyncssh.ChannelOpenError):
            return TransportError(f"{self.node.name}: the connection was lost")
        return TransportError(f"{self.node.name}: no session there (MaxSessions?): {one_line(error.reason)}")
