"""One attempt to connect to a host and log in, and what its failure means."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import socket
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

import asyncssh

from cephtui.nodes.ssh.config import Hop
from cephtui.nodes.ssh.hostkeys import HostKey, KnownKeys
from cephtui.nodes.ssh.login import Login
from cephtui.nodes.ssh.proxy import Proxy
from cephtui.nodes.transport import Question, TurnedAway
from cephtui.printable import one_line

Reached: TypeAlias = asyncssh.SSHClientConnection | Question
"""A connection, or a question that has to be answered first."""
LOGIN_SECONDS = 120.0
"""Seconds that a login may take, as for sshd (LoginGraceTime): PAM may wait for somebody who confirms it on a phone."""
KEEPALIVE_SECONDS, KEEPALIVE_MISSES = 5, 3
"""A link that is down is noticed after 20 s: three keepalives without an answer, and the time of the next one."""
_ADDRESS_SECONDS = 10.0
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
_TURNED_AWAY = "kex_exchange_identification"
"""A word that OpenSSH's ssh, as a ProxyCommand, prints for a server that hangs up before the login."""
_OPTIONS: dict[str, Any] = {
    "client_keys": None,
    "x509_trusted_certs": None,
    "gss_host": None,
    "agent_forwarding": False,
    "x11_forwarding": False,
    "canonicalize_hostname": False,
    "proxy_command": None,
    "connect_timeout": None,
    "login_timeout": 0,
}
"""Options against what asyncssh would do by itself, or because of ssh_config."""


class NoSuchAuthority(Exception):
    """The server has shown a certificate of an unknown authority; its key may still be known."""


class AsksNothing(Exception):
    """The server hung up after keyboard-interactive, for which it asked nothing; it may take a password instead."""


class Attempt:
    """One attempt, through a tunnel where there is one.

    ``certificates`` if those of hosts are wanted, ``interactive`` if keyboard-interactive is tried.
    """

    def __init__(
        self,
        hop: Hop,
        answers: Mapping[str, str],
        tunnel: asyncssh.SSHClientConnection | None,
        *,
        certificates: bool,
        interactive: bool,
    ) -> None:
        self.proxy: Proxy | None = None
        """The ProxyCommand, where there is one."""
        self._hop, self._tunnel, self._certificates = hop, tunnel, certificates
        self._login = Login(hop, answers, self._close_proxy, interactive=interactive)
        self._socket: socket.socket | None = None

    @property
    def is_logging_in(self) -> bool:
        """Whether the server has proved that its key is its own."""
        return self._login.began

    async def make(self, limit: asyncio.Timeout) -> Reached:
        """The connection, or the question that has to be answered first; the limit is put off when the login begins.

        Raises TransportError, TimeoutError, and NoSuchAuthority and AsksNothing, after which it may be tried again.
        """
        loop = asyncio.get_running_loop()
        self._login.at_begin = lambda: limit.reschedule(loop.time() + LOGIN_SECONDS)
        try:
            return await self._log_in()
        except (asyncssh.Error, OSError, ValueError) as error:
            reason = one_line(error.reason if isinstance(error, asyncssh.Error) else str(error))
            denied = isinstance(error, asyncssh.PermissionDenied) or "authentication failures" in reason
            if question := self._login.questions.open_question(denied=denied):
                return question
            raise await self._explain(error, reason) from None
        finally:
            if not self._login.logged_in:
                self._close_proxy()
                if self._socket:
                    self._socket.close()

    async def _log_in(self) -> asyncssh.SSHClientConnection:
        hop, known_keys = self._hop, self._hop.entry.known_keys
        if not self._tunnel:
            await self._open()
        return await asyncssh.connect(
            hop.original_host,
            hop.port,
            tunnel=cast(Any, self._tunnel),
            sock=self._socket,
            config=list(hop.config),
            client_factory=lambda: self._login,
            username=hop.user,
            known_hosts=([], [], _import_keys(known_keys.revoked)),
            server_host_key_algs=() if hop.own_key_types else _key_algorithms(known_keys, self._certificates),
            host_key_alias=hop.alias,
            keepalive_interval=KEEPALIVE_SECONDS,
            keepalive_count_max=KEEPALIVE_MISSES,
            **_OPTIONS,
        )

    async def _open(self) -> None:
        if not self._hop.proxy_command:
            self._socket = await _tcp(self._hop)
            return
        self._socket, theirs = socket.socketpair()
        with theirs:
            self.proxy = await Proxy.start(self._hop.proxy_command, theirs)

    def _close_proxy(self) -> None:
        if self.proxy:
            self.proxy.close()

    async def _explain(self, error: Exception, reason: str) -> Exception:
        """The error in plain words."""
        hop, login = self._hop, self._login
        if login.problem:
            return hop.error(login.problem)
        match error:
            case asyncssh.HostKeyNotVerifiable() if login.unknown_authority and self._certificates:
                return NoSuchAuthority()
            case asyncssh.HostKeyNotVerifiable():
                return hop.error(f"the host key can't be trusted: {reason}")
            case asyncssh.PermissionDenied():
                return hop.error(f"permission denied for {hop.user}: tried {login.tried}: {login.remedy}")
            case asyncssh.KeyExchangeFailed():
                return hop.error(f"no algorithm in common: {reason}")
            case asyncssh.ChannelOpenError():
                return hop.error(f"the jump host can't reach {hop.host} port {hop.port}: {reason}")
            case asyncssh.ConnectionLost() | ConnectionError():
                return await self._loss()
            case asyncssh.DisconnectError() if "authentication failures" in reason:
                if login.asks_nothing:
                    return AsksNothing()
                return hop.error(
                    f"{reason}: tried {login.tried}: choose the key with IdentityFile and IdentitiesOnly, "
                    "or the method with PreferredAuthentications"
                )
        return hop.error(f"can't connect: {reason}")

    async def _loss(self) -> Exception:
        if self.proxy and (why := await self.proxy.failure()):
            failed = self._hop.error(f"the ProxyCommand failed: {why}")
            return TurnedAway(str(failed)) if _TURNED_AWAY in why else failed
        if self._login.began:
            return self._hop.error("the connection was lost during the login")
        return TurnedAway(str(self._hop.error("the server closed the connection before the login")))


async def _tcp(hop: Hop) -> socket.socket:
    """A connection to the first address that answers; raises TransportError."""
    loop = asyncio.get_running_loop()
    try:
        places = await loop.getaddrinfo(hop.host, hop.port, family=hop.family, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        raise hop.error(f"no such host: {hop.host} ({error.strerror})") from None
    problem = ""
    for family, kind, protocol, _, address in places:
        try:
            async with asyncio.timeout(_ADDRESS_SECONDS / len(places)):
                return await _connect_socket(socket.socket(family, kind, protocol), hop.bind, address)
        except OSError as error:  # TimeoutError is one
            what = _ERRORS.get(error.errno or errno.ETIMEDOUT) or f"{os.strerror(error.errno or 0).lower()}:"
            problem = problem or f"{what} {address[0]!s} port {hop.port}"
    raise hop.error(problem)


async def _connect_socket(sock: socket.socket, bind: str | None, address: Any) -> socket.socket:
    """The socket after it was connected; it is closed where that fails."""
    try:
        sock.setblocking(False)
        if bind:
            sock.bind((bind, 0))
        await asyncio.get_running_loop().sock_connect(sock, address)
    except BaseException:
        sock.close()
        raise
    return sock


def _import_keys(keys: Sequence[HostKey]) -> list[asyncssh.SSHKey]:
    imported = []
    for key in keys:
        with contextlib.suppress(asyncssh.KeyImportError):  # of a type that it does not know
            imported.append(asyncssh.import_public_key(key.text))
    return imported


def _key_algorithms(known_keys: KnownKeys, certificates: bool) -> list[str]:
    """The algorithms of host keys in the order in which they are wanted: a server shows the first that it has.

    Those of known keys come first; else a server with several would show one that is not known. Certificates only
    where an authority is known: asyncssh does not fall back from a certificate to the key in it.
    """
    types = {key.type for key in (*known_keys.keys, *known_keys.elsewhere)}
    kinds = sorted(_KEY_TYPES, key=lambda kind: kind not in types)
    plain = [algorithm for kind in kinds for algorithm in _KEY_TYPES[kind]]
    certified = [f"{algorithm}-cert-v01@openssh.com" for algorithm in plain]
    return [*(certified if certificates and known_keys.authorities else []), *plain]
