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

[nodes.pve1.programs]                # where a benchmark program is, if its name alone is not enough
hsbench = "/opt/hsbench"

[programs]                           # the same for all nodes
hsbench = "/usr/local/bin/hsbench"

[groups]
pve = ["pve1", "pve2", "pve3"]

[s3.prod]                            # the keys of an S3 endpoint
endpoint = "http://gw.example.net:7480"
profile = "bench"                    # of ~/.aws/credentials or ~/.aws/config

[s3.test]
endpoint = "https://s3.example.net"
access_key_file = "~/keys/access"    # each on one line, in a file that nobody else can read;
secret_key_file = "~/keys/secret"    # access_key and secret_key are for the keys, if nobody else can read this file
"""

from __future__ import annotations

import contextlib
import glob
import itertools
import os
import re
import shlex
import stat
from collections.abc import Iterable, Iterator
from dataclasses import field
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from cephtui.frozen import dataclass
from cephtui.models import Node
from cephtui.printable import suggestion
from cephtui.reading import excerpt, load_toml

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}")
_USER, _HOST = re.compile(r"[\w.][\w.@:+#\\-]{0,254}(?<!\\)"), re.compile(r"[\w.:][\w.:+%-]{0,254}")
_USER_HAS = "up to 255 letters, digits and . _ - + @ : # \\, a letter, digit, dot or underscore first, no \\ last"
_HOST_HAS = "up to 255 letters, digits and . _ - + : %, no - + % first"
LOCAL = "local"
"""The name of the console's own machine."""
_DEFAULT_PORTS = {"http": 80, "https": 443}
_SSH_CONFIGS = ("~/.ssh/config", "/etc/ssh/ssh_config")
_SSH_DEPTH, _SSH_FILES, _SSH_CHARACTERS, _SSH_HOSTS = 5, 64, 1 << 20, 1000
"""Bounds of what is read for a list of hosts: a mistake in an Include must not take for ever."""


class ConfigError(ValueError):
    """The config file, or the name of a node, can't be used; the text says which and what was expected."""


class NodeSection(BaseModel):
    """A section ``[nodes.NAME]``."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)

    host: str | None = None
    user: str | None = None
    port: Annotated[int, Field(ge=1, le=65535)] | None = None
    prefix: list[str] = []
    ceph_prefix: list[str] | None = None
    """None for the same as ``prefix``."""
    ceph_conf: str | None = None
    ceph_keyring: str | None = None
    ceph_id: str | None = None
    programs: dict[str, str] = {}


class S3Section(BaseModel):
    """A section ``[s3.NAME]``: an endpoint, and where its keys are."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)

    endpoint: str
    profile: str | None = None
    access_key_file: str | None = None
    secret_key_file: str | None = None
    access_key: SecretStr | None = None
    secret_key: SecretStr | None = None

    @property
    def has_secrets(self) -> bool:
        """Whether the config file itself has a key."""
        return bool(self.access_key or self.secret_key)

    @property
    def is_whole(self) -> bool:
        """Whether the section has a profile, or each key once."""
        keys = [(self.access_key, self.access_key_file), (self.secret_key, self.secret_key_file)]
        counts = [sum(source is not None for source in key) for key in keys]
        return counts == ([0, 0] if self.profile is not None else [1, 1])


class ConfigFile(BaseModel):
    """The content of the config file."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)

    ssh_config: str | None = None
    notify: bool = True
    nodes: dict[str, NodeSection] = {}
    groups: dict[str, list[str]] = {}
    programs: dict[str, str] = {}
    s3: dict[str, S3Section] = {}


@dataclass(frozen=True, slots=True)
class Config:
    """Named nodes, and the settings for nodes without a name."""

    nodes: dict[str, Node] = field(default_factory=dict)
    groups: dict[str, tuple[str, ...]] = field(default_factory=dict)
    ssh_config: str | None = None
    notify: bool = True
    """Whether the terminal notifies the user at the end of a run that took over a minute."""
    programs: dict[str, str] = field(default_factory=dict)
    """Paths of benchmark programs, by their names, for nodes that have no path of their own."""
    neighbours: dict[str, Node] = field(default_factory=dict)
    """The nodes of this machine's cluster, by their names; nodes of the config file come before them."""
    s3: dict[str, S3Section] = field(default_factory=dict, repr=False)
    """S3 endpoints, spelled as by ``endpoint_of``, and where their keys are."""

    def choose(self, names: Iterable[str]) -> tuple[Node, ...]:
        """The nodes of these names, groups or ``[USER@]HOST[:PORT]``, each once; raises ConfigError."""
        chosen: dict[str, Node] = {}
        for node in (node for name in names for node in self._nodes_named(name)):
            if chosen.setdefault(node.name, node) != node:
                raise ConfigError(
                    f"node {node.name!r} is given twice with different settings: use two names in the config file"
                )
        return tuple(chosen.values())

    def _nodes_named(self, name: str) -> Iterator[Node]:
        if name in self.nodes:
            yield self.nodes[name]
        elif name in self.groups:
            for member in self.groups[name]:
                yield from self._nodes_named(member)
        elif name == LOCAL:
            # known to be valid: the console's first frame does not wait for the schema of nodes
            yield Node.model_construct(name=LOCAL, programs=self.programs)
        elif name in self.neighbours:
            yield self.neighbours[name]
        else:
            yield self._node_typed(name)

    def _node_typed(self, text: str) -> Node:
        try:
            return parse_node(text, self.ssh_config).model_copy(update={"programs": self.programs})
        except ValueError as error:
            near = suggestion(text, (*self.nodes, *self.groups, *self.neighbours))
            raise ConfigError(", ".join(filter(None, (str(error), near)))) from None


def check_login(host: str | None, user: str | None) -> None:
    """Raises ValueError for a text that is no name of a host or a user: a ProxyCommand would hand it to a shell."""
    for what, name, fits, expected in (("host", host, _HOST, _HOST_HAS), ("user", user, _USER, _USER_HAS)):
        if name is not None and not fits.fullmatch(name):
            raise ValueError(f"{what} {name!r}: expected {expected}")


def parse_node(text: str, ssh_config: str | None) -> Node:
    """A node from ``[USER@]HOST[:PORT]``, an IPv6 address with a port in brackets; raises ValueError."""
    user, _, address = text.rpartition("@")
    host, port = address, ""
    if address.startswith("["):
        host, _, port = address[1:].partition("]:")
    elif address.count(":") == 1:
        host, _, port = address.partition(":")
    expected = f"node {text!r}: expected [USER@]HOST[:PORT] or a name from the config file"
    wrong = not host or ("@" in text and not user)
    if wrong or (address != host and not (port.isdecimal() and 0 < int(port) < 65536)):
        raise ValueError(expected)
    try:
        check_login(host, user or None)
    except ValueError as error:
        raise ValueError(f"{expected}: {error}") from None
    return Node(name=address, host=host, user=user or None, port=int(port) if port else None, ssh_config=ssh_config)


def load_config(path: Path, *, required: bool, ssh_config: str | None = None) -> Config:
    """The config in a file; an empty one where the file is optional and missing. Raises ConfigError."""
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
    return _config_of(path, file, ssh_config or _path_beside(path, file.ssh_config))


def _path_beside(path: Path, name: str | None) -> str | None:
    return str(path.absolute().parent / Path(name).expanduser()) if name else None


def _config_of(path: Path, file: ConfigFile, ssh_config: str | None) -> Config:
    for name in (*file.nodes, *file.groups):
        if not _NAME.fullmatch(name):
            raise ConfigError(
                f"{path}: {excerpt(name)}: expected a name of letters, digits, dots, dashes and underscores"
            )
    nodes = {name: _node(name, section, ssh_config, file.programs) for name, section in file.nodes.items()}
    for name, node in nodes.items():
        try:
            check_login(node.host, node.user)
        except ValueError as error:
            raise ConfigError(f"{path}: nodes.{name}: {error}") from None
    for group, members in file.groups.items():
        if group in nodes:
            raise ConfigError(f"{path}: groups.{group}: a node has the same name")
        unknown = [member for member in members if member not in nodes]
        if unknown or not members:
            raise ConfigError(
                f"{path}: groups.{group}: expected names of nodes, got {excerpt(unknown) if unknown else 'nothing'}"
            )
    groups = {group: tuple(members) for group, members in file.groups.items()}
    return Config(nodes, groups, ssh_config, file.notify, file.programs, s3=_endpoints(path, file))


def _endpoints(path: Path, file: ConfigFile) -> dict[str, S3Section]:
    """The sections by their endpoints; raises ConfigError."""
    sections: dict[str, S3Section] = {}
    for name, section in file.s3.items():
        location = f"{path}: s3.{name:.64}"
        if not section.is_whole:
            raise ConfigError(f"{location}: expected a profile, or access_key_file and secret_key_file")
        if section.has_secrets and stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise ConfigError(f"{location}: it contains a key, but others can read this file: chmod 600 {path}")
        try:
            endpoint = endpoint_of(section.endpoint)
        except ValueError as error:
            raise ConfigError(f"{location}.endpoint: {error}") from None
        if endpoint in sections:
            raise ConfigError(f"{location}: another section has keys of {endpoint}")
        sections[endpoint] = section
    return sections


def endpoint_of(text: str) -> str:
    """An S3 endpoint in its one spelling, ``http://gw.example.net:7480``; without a scheme it is http.

    Raises ValueError for anything else, such as a path or a user.
    """
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise ValueError(f"{error}, got {text!r:.200}") from None
    extras = (parts.path.strip("/"), parts.query, parts.fragment, "@" in parts.netloc, "%" in host)
    is_bare = re.fullmatch(r"[!-~]+", text) and not any(extras)
    if parts.scheme not in _DEFAULT_PORTS or not is_bare or not _HOST.fullmatch(host) or port == 0:
        raise ValueError(f"expected http://HOST:PORT or https://HOST:PORT, got {text!r:.200}")
    shown_host = f"[{host}]" if ":" in host else host
    is_usual = port in (None, _DEFAULT_PORTS[parts.scheme])
    return f"{parts.scheme}://{shown_host}" + ("" if is_usual else f":{port}")


def _node(name: str, section: NodeSection, ssh_config: str | None, programs: dict[str, str]) -> Node:
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
        programs={**programs, **section.programs},
    )


def _explain(error: ValidationError) -> str:
    first = error.errors()[0]
    key = f"{'.'.join(map(str, first['loc'])):.200}"
    if first["type"] == "extra_forbidden":
        sections: dict[str, type[BaseModel]] = {"nodes": NodeSection, "s3": S3Section}
        section = sections.get(key.partition(".")[0], ConfigFile) if "." in key else ConfigFile
        return f"{key}: unknown key, expected one of {', '.join(section.model_fields)}"
    problem = f"{key}: {first['msg'].replace('Input should be', 'expected')}"
    return problem if key.startswith("s3") else f"{problem}, got {excerpt(first['input'])}"  # it may be a key


def ssh_hosts(ssh_config: str | None) -> tuple[str, ...]:
    """The hosts that an SSH configuration names, without patterns; files that can't be read are passed over.

    ``ssh_config`` is read instead of the user's and the system's.
    """
    return tuple(itertools.islice(dict.fromkeys(filter(_is_host, _ssh_words(ssh_config, "host"))), _SSH_HOSTS))


def ssh_keys(ssh_config: str | None) -> tuple[str, ...]:
    """The key files that an SSH configuration names and that exist; it is read as by ``ssh_hosts``."""
    paths = dict.fromkeys(_ssh_words(ssh_config, "identityfile"))
    return tuple(name for name in paths if os.access(Path(name).expanduser(), os.R_OK))


def _ssh_words(ssh_config: str | None, keyword: str) -> Iterator[str]:
    """The words behind a keyword in all lines of an SSH configuration."""
    files = (ssh_config,) if ssh_config else _SSH_CONFIGS
    seen: set[Path] = set()
    for file in files:
        yield from _words_in(Path(file).expanduser(), keyword, seen, _SSH_DEPTH)


def _words_in(path: Path, wanted_keyword: str, seen: set[Path], depth: int) -> Iterator[str]:
    for keyword, words in _ssh_lines(path, seen):
        if keyword == wanted_keyword:
            yield from words
        elif keyword == "include" and depth:
            for file in itertools.chain.from_iterable(map(_included, words)):
                yield from _words_in(file, wanted_keyword, seen, depth - 1)


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
    for keyword, words in re.findall(r"^\s*(\w+)[ \t=]+(.*)$", text, re.MULTILINE):
        with contextlib.suppress(ValueError):
            yield keyword.lower(), shlex.split(words, comments=True)


def _included(pattern: str) -> Iterator[Path]:
    """The files of an Include; paths that are not absolute are below ``~/.ssh``."""
    whole = Path("~/.ssh").expanduser() / Path(pattern).expanduser()
    return map(Path, sorted(itertools.islice(glob.iglob(str(whole)), _SSH_FILES)))  # noqa: PTH207 - Path.glob takes no absolute pattern


def _is_host(name: str) -> bool:
    """Whether a name can be typed as that of a node: it is no pattern and no negation."""
    try:
        return not set(name) & set("*?!") and parse_node(name, None).host == name
    except ValueError:
        return False
