"""The config file: named nodes, groups of them, and their Ceph access.

ssh_config = "ssh_config"            # relative to this file; default: ~/.ssh/config

[nodes.pve1]
host = "pve1.example.net"            # default: the node's name
user = "root"
port = 22
prefix = ["sudo", "-n"]              # before the benchmark
ceph_prefix = ["cephadm", "shell", "--"]
ceph_conf = "/etc/ceph/ceph.conf"    # paths on the node
ceph_keyring = "/etc/ceph/ceph.client.bench.keyring"
ceph_id = "bench"

[groups]
pve = ["pve1", "pve2", "pve3"]
"""

from __future__ import annotations

import contextlib
import difflib
import glob
import itertools
import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import field
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cephtui.frozen import dataclass
from cephtui.models import Node
from cephtui.reading import load_toml, shown

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}")
_USER, _HOST = re.compile(r"[\w.][\w.@:+#\\-]{0,254}(?<!\\)"), re.compile(r"[\w.:][\w.:+%-]{0,254}")
_USER_HAS = "up to 255 letters, digits and . _ - + @ : # \\, a letter, digit, dot or underscore first, no \\ last"
_HOST_HAS = "up to 255 letters, digits and . _ - + : %, no - + % first"
LOCAL = "local"
"""The console's own machine."""
_SSH_CONFIGS = ("~/.ssh/config", "/etc/ssh/ssh_config")
_SSH_DEPTH, _SSH_FILES, _SSH_CHARACTERS, _SSH_HOSTS = 5, 64, 1 << 20, 1000
"""Bounds of what is read for a list of hosts: a mistake in Include must not take for ever."""


class ConfigError(ValueError):
    """The config file, or a node's name, can't be used; the text names it and what was expected."""


class NodeSection(BaseModel):
    """``[nodes.NAME]``."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)

    host: str | None = None
    user: str | None = None
    port: Annotated[int, Field(ge=1, le=65535)] | None = None
    prefix: list[str] = []
    ceph_prefix: list[str] | None = None
    """By default as ``prefix``."""
    ceph_conf: str | None = None
    ceph_keyring: str | None = None
    ceph_id: str | None = None


class ConfigFile(BaseModel):
    """The content of the config file."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)

    ssh_config: str | None = None
    notify: bool = True
    nodes: dict[str, NodeSection] = {}
    groups: dict[str, list[str]] = {}


@dataclass(frozen=True, slots=True)
class Config:
    """Named nodes, and what holds for those that are not named."""

    nodes: dict[str, Node] = field(default_factory=dict)
    groups: dict[str, tuple[str, ...]] = field(default_factory=dict)
    ssh_config: str | None = None
    notify: bool = True
    """Whether the console has the terminal notify the user at the end of a run that took over a minute."""

    def choose(self, names: Iterable[str]) -> tuple[Node, ...]:
        """The nodes of these names, groups or ``[USER@]HOST[:PORT]``, each once; raises ConfigError."""
        found: dict[str, Node] = {}
        for node in (node for name in names for node in self._named(name)):
            if found.setdefault(node.name, node) != node:
                raise ConfigError(f"node {node.name!r} has two different settings: name them in the config file")
        return tuple(found.values())

    def _named(self, name: str) -> Iterator[Node]:
        if name in self.nodes:
            yield self.nodes[name]
        elif name in self.groups:
            for member in self.groups[name]:
                yield from self._named(member)
        elif name == LOCAL:
            yield Node(name=LOCAL)
        else:
            yield self._typed(name)

    def _typed(self, text: str) -> Node:
        try:
            return parse_node(text, self.ssh_config)
        except ValueError as error:
            near = difflib.get_close_matches(text, [*self.nodes, *self.groups], n=1)
            hint = f", did you mean {near[0]}?" if near else ""
            raise ConfigError(f"{error}{hint}") from None


def check_login(host: str | None, user: str | None) -> None:
    """Raises ValueError for what is no name of a host or user: a ProxyCommand would hand it to a shell."""
    for what, name, fits, expected in (("host", host, _HOST, _HOST_HAS), ("user", user, _USER, _USER_HAS)):
        if name is not None and not fits.fullmatch(name):
            raise ValueError(f"{what} {name!r}: expected {expected}")


def parse_node(text: str, ssh_config: str | None) -> Node:
    """A node from ``[USER@]HOST[:PORT]``, an IPv6 address with a port in brackets; raises ValueError."""
    user, _, rest = text.rpartition("@")
    host, port = rest, ""
    if rest.startswith("["):
        host, _, port = rest[1:].partition("]:")
    elif rest.count(":") == 1:
        host, _, port = rest.partition(":")
    expected = f"node {text!r}: expected [USER@]HOST[:PORT] or a name from the config file"
    wrong = not host or ("@" in text and not user)
    if wrong or (rest != host and not (port.isdecimal() and 0 < int(port) < 65536)):
        raise ValueError(expected)
    try:
        check_login(host, user or None)
    except ValueError as error:
        raise ValueError(f"{expected}: {error}") from None
    return Node(name=rest, host=host, user=user or None, port=int(port) if port else None, ssh_config=ssh_config)


def load(path: Path, *, required: bool, ssh_config: str | None = None) -> Config:
    """The config in a file; an empty one where it is optional and missing. Raises ConfigError."""
    try:
        content = load_toml(path)
    except FileNotFoundError:
        if required:
            raise ConfigError(f"{path}: no such file") from None
        return Config(ssh_config=ssh_config)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from None
    try:
        file = ConfigFile.model_validate(content)
    except ValidationError as error:
        raise ConfigError(f"{path}: {_explain(error)}") from None
    return _checked(path, file, ssh_config or _beside(path, file.ssh_config))


def _beside(path: Path, name: str | None) -> str | None:
    return str(path.absolute().parent / Path(name).expanduser()) if name else None


def _checked(path: Path, file: ConfigFile, ssh_config: str | None) -> Config:
    for name in (*file.nodes, *file.groups):
        if not _NAME.fullmatch(name):
            raise ConfigError(
                f"{path}: {shown(name)}: expected a name of letters, digits, dots, dashes and underscores"
            )
    nodes = {name: _node(name, section, ssh_config) for name, section in file.nodes.items()}
    for name, node in nodes.items():
        try:
            check_login(node.host, node.user)
        except ValueError as error:
            raise ConfigError(f"{path}: nodes.{name}: {error}") from None
    for group, members in file.groups.items():
        if group in nodes:
            raise ConfigError(f"{path}: groups.{group}: there is a node of this name")
        unknown = [member for member in members if member not in nodes]
        if unknown or not members:
            raise ConfigError(
                f"{path}: groups.{group}: expected names of nodes, got {shown(unknown) if unknown else 'nothing'}"
            )
    groups = {group: tuple(members) for group, members in file.groups.items()}
    return Config(nodes, groups, ssh_config, file.notify)


def _node(name: str, section: NodeSection, ssh_config: str | None) -> Node:
    prefix = tuple(section.prefix)
    here = name == LOCAL and section.host is None
    return Node(
        name=name,
        host=None if here else section.host or name,
        user=section.user,
        port=section.port,
        ssh_config=None if here else ssh_config,
        prefix=prefix,
        ceph_prefix=prefix if section.ceph_prefix is None else tuple(section.ceph_prefix),
        ceph_conf=section.ceph_conf,
        ceph_keyring=section.ceph_keyring,
        ceph_id=section.ceph_id,
    )


def _explain(error: ValidationError) -> str:
    first = error.errors()[0]
    key = f"{'.'.join(map(str, first['loc'])):.200}"
    if first["type"] == "extra_forbidden":
        section = NodeSection if key.startswith("nodes.") else ConfigFile
        return f"{key}: unknown key, expected one of {', '.join(section.model_fields)}"
    return f"{key}: {first['msg'].replace('Input should be', 'expected')}, got {shown(first['input'])}"


def ssh_hosts(ssh_config: str | None) -> tuple[str, ...]:
    """The hosts that an SSH configuration has by name, without patterns; reads files, and passes over what it can't.

    ``ssh_config`` is read instead of the user's and the system's.
    """
    files = (ssh_config,) if ssh_config else _SSH_CONFIGS
    seen: set[Path] = set()
    found = (name for file in files for name in _hosts_in(Path(file).expanduser(), seen, _SSH_DEPTH))
    return tuple(itertools.islice(dict.fromkeys(found), _SSH_HOSTS))


def _hosts_in(path: Path, seen: set[Path], depth: int) -> Iterator[str]:
    for keyword, words in _ssh_lines(path, seen):
        if keyword == "host":
            yield from filter(_is_host, words)
        elif keyword == "include" and depth:
            for file in itertools.chain.from_iterable(map(_included, words)):
                yield from _hosts_in(file, seen, depth - 1)


def _ssh_lines(path: Path, seen: set[Path]) -> Iterator[tuple[str, list[str]]]:
    """The keyword, in small letters, and the words of each line; each file is read once."""
    try:
        real = path.resolve()
        if real in seen or len(seen) >= _SSH_FILES or not real.is_file():
            return
        seen.add(real)
        with real.open(encoding="utf-8", errors="replace") as file:
            text = file.read(_SSH_CHARACTERS)
    except (OSError, RuntimeError):
        return
    for keyword, rest in re.findall(r"^\s*(\w+)[ \t=]+(.*)$", text, re.MULTILINE):
        with contextlib.suppress(ValueError):
            yield keyword.lower(), shlex.split(rest, comments=True)


def _included(pattern: str) -> Iterator[Path]:
    """The files of an Include, which stand in ``~/.ssh`` unless their path is absolute."""
    whole = Path("~/.ssh").expanduser() / Path(pattern).expanduser()
    return map(Path, sorted(itertools.islice(glob.iglob(str(whole)), _SSH_FILES)))  # noqa: PTH207 - Path.glob takes no absolute pattern


def _is_host(name: str) -> bool:
    """Whether it is a name, no pattern and no negation, that can be typed as a node's."""
    try:
        return not set(name) & set("*?!") and parse_node(name, None).host == name
    except ValueError:
        return False
