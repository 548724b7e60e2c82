"""The entries of ssh_config, known_hosts and Proxmox VE for a host."""

from __future__ import annotations

import getpass
import logging
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

import asyncssh

from cephtui.config import check_login
from cephtui.frozen import dataclass
from cephtui.models import Node
from cephtui.nodes.ssh import hostkeys
from cephtui.nodes.ssh.hostkeys import SSH_PORT, HostKey, KnownKeys
from cephtui.nodes.transport import TransportError

SYSTEM_CONFIG, SYSTEM_KNOWN_HOSTS = Path("/etc/ssh/ssh_config"), Path("/etc/ssh/ssh_known_hosts")
PVE_NODES = Path("/etc/pve/nodes")
"""Where Proxmox VE keeps the host key of each node of a cluster, under the node's name."""
_KEY_FILES = ("id_ed25519", "id_ecdsa", "id_rsa", "id_ecdsa_sk", "id_ed25519_sk")
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class KnownHost:
    """A host in known_hosts."""

    name: str
    known_keys: KnownKeys
    file: Path | None
    """The file to which accepted keys are added."""

    def store(self, key: HostKey) -> None:
        """Add a key that the user has accepted; one that can't be stored is asked for again next time."""
        if not self.file:
            return
        try:
            hostkeys.append(self.file, self.name, key)
        except OSError as error:
            log.warning("can't add the key of %s to %s: %s", self.name, self.file, error.strerror)


@dataclass(frozen=True, slots=True)
class Identities:
    """The keys to show to a host."""

    files: tuple[Path, ...]
    certificates: tuple[Path, ...]
    named: bool
    """Whether the files are the user's choice, not what lies in ``~/.ssh``."""
    only: bool
    """Whether the agent's other keys are left alone."""
    agent: str | None
    """The path of the agent's socket."""


@dataclass(frozen=True, slots=True)
class Hop:
    """One host of a route, as ssh_config has it: the node itself, or a jump host."""

    node: Node
    original_host: str
    """The name before ssh_config replaced it by an address."""
    host: str
    user: str
    port: int
    alias: str | None
    jumps: tuple[str, ...]
    proxy_command: str | None
    entry: KnownHost
    identities: Identities
    family: int
    bind: str | None
    own_key_types: bool
    """Whether ssh_config has HostKeyAlgorithms."""
    config: tuple[str, ...]

    @property
    def login(self) -> str:
        """``user@host``, for questions."""
        return f"{self.user}@{self.original_host}"

    def error(self, text: str) -> TransportError:
        """An error that names the node, and the jump host where it is one."""
        place = "" if self.original_host == self.node.host else f"jump host {self.original_host}: "
        return TransportError(f"{self.node.name}: {place}{text}")


def look_up(node: Node, host: str, user: str | None, port: int | None) -> Hop:
    """The settings of a host; raises TransportError. It may run a command (Match exec): not for the event loop.

    Names that a ProxyCommand or a Match exec would hand to a shell are checked first, and again as ssh_config has them.
    """
    try:
        check_login(host, user)
    except ValueError as error:
        raise TransportError(f"{node.name}: {error}") from None
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
    hop = _hop(node, host, _HostOptions(host, options), config)
    try:
        check_login(hop.host, hop.user)
        if hop.proxy_command:
            check_login(None, getpass.getuser())  # which may be in it, too
    except ValueError as error:
        raise hop.error(f"the SSH configuration has {error}") from None
    return hop


def split_host(text: str) -> tuple[str, str | None, int | None]:
    """Host, user and port of a jump host; raises ValueError."""
    fits = re.fullmatch(r"(?:ssh://)?(?:([^@]+)@)?(?:\[([^]]+)\]|([^:@\[\]]+))(?::(\d+))?/?", text.strip())
    if not fits:
        raise ValueError(f"ProxyJump {text!r}: expected [USER@]HOST[:PORT]")
    return fits[2] or fits[3], fits[1], int(fits[4]) if fits[4] else None


class _HostOptions:
    """The options of ssh_config for one host."""

    def __init__(self, original_host: str, options: asyncssh.SSHClientConnectionOptions) -> None:
        self.options, self._get = options, options.config.get
        self.alias = self.text("HostKeyAlias")
        self._tokens = {
            "%": "%",
            "d": str(Path.home()),
            "h": options.host,
            "i": str(os.getuid()),
            "k": self.alias or original_host,
            "n": original_host,
            "p": str(options.port),
            "r": options.username,
        }

    def has(self, option: str) -> bool:
        return self._get(option) is not None

    def yes(self, option: str) -> bool:
        return bool(self._get(option))

    def text(self, option: str, default: str | None = None) -> str | None:
        return cast("str | None", self._get(option, default))

    def files(self, option: str, default: Sequence[Path] = ()) -> tuple[Path, ...]:
        named = cast("list[str] | None", self._get(option))
        return tuple(default) if named is None else tuple(_expand(name, self._tokens) for name in named)


def _hop(node: Node, original_host: str, host_options: _HostOptions, config: tuple[str, ...]) -> Hop:
    options, jumps = host_options.options, host_options.text("ProxyJump")
    return Hop(
        node=node,
        original_host=original_host,
        host=options.host,
        user=options.username,
        port=options.port,
        alias=host_options.alias,
        jumps=tuple(jumps.split(",")) if jumps else (),
        proxy_command=host_options.text("ProxyCommand"),
        entry=_entry(original_host, host_options),
        identities=_identities(host_options),
        family=options.family,
        bind=host_options.text("BindAddress"),
        own_key_types=host_options.has("HostKeyAlgorithms"),
        config=config,
    )


def _entry(original_host: str, host_options: _HostOptions) -> KnownHost:
    host, port = host_options.options.host, host_options.options.port
    name = host_options.alias.lower() if host_options.alias else hostkeys.entry_name(host, port)
    portless = None if host_options.alias or port == SSH_PORT else host.lower()
    ssh = Path("~/.ssh").expanduser()
    users = host_options.files("UserKnownHostsFile", [ssh / "known_hosts", ssh / "known_hosts2"])
    everyones = host_options.files("GlobalKnownHostsFile", [SYSTEM_KNOWN_HOSTS])
    places = [*((path, name) for path in (*users, *everyones)), *_pve_key_files(original_host)]
    return KnownHost(name, hostkeys.find_keys(places, portless=portless), users[0] if users else None)


def _pve_key_files(host: str) -> list[tuple[Path, str]]:
    """The files with the key of a node of the same Proxmox VE cluster, and the node's name in each."""
    is_name = re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.-]*", host)
    return [(PVE_NODES / host / "ssh_known_hosts", host.lower())] if is_name else []


def _identities(host_options: _HostOptions) -> Identities:
    ssh = Path("~/.ssh").expanduser()
    return Identities(
        files=host_options.files("IdentityFile", [ssh / name for name in _KEY_FILES]),
        certificates=host_options.files("CertificateFile"),
        named=host_options.has("IdentityFile"),
        only=host_options.yes("IdentitiesOnly"),
        agent=_agent(host_options.text("IdentityAgent", "SSH_AUTH_SOCK")),
    )


def _agent(name: str | None) -> str | None:
    """The path of the agent's socket, from IdentityAgent, which may name a variable."""
    if name is not None and (name == "SSH_AUTH_SOCK" or name.startswith("$")):
        return os.environ.get(name.strip("${}")) or None
    return str(Path(name).expanduser()) if name else None


def _expand(name: str, tokens: Mapping[str, str]) -> Path:
    """``~`` and the ``%`` tokens of ssh_config(5) in a file name."""
    return Path(re.sub("%(.)", lambda match: tokens.get(match[1], match[0]), name)).expanduser()
