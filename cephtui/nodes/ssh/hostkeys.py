"""known_hosts: which host keys are known, and what that makes of the key that a host shows.

Names are compared and never addresses, as OpenSSH does; lines that can't be understood are skipped, as it does too.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import os
import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypeAlias

from cephtui.frozen import dataclass

SSH_PORT = 22
HostKeyVerdict: TypeAlias = Literal["known", "unknown", "changed", "revoked"]


@dataclass(frozen=True, slots=True)
class HostKey:
    """A public key as it stands in a file."""

    type: str
    """The type: ``ssh-ed25519`` and so on."""
    blob: bytes

    @property
    def fingerprint(self) -> str:
        """The fingerprint as ``ssh-keygen -l`` prints it."""
        return "SHA256:" + base64.b64encode(hashlib.sha256(self.blob).digest()).decode().rstrip("=")

    @property
    def text(self) -> str:
        """Type and key, as they are on a line of a file."""
        return f"{self.type} {base64.b64encode(self.blob).decode()}"

    def __str__(self) -> str:
        return f"{self.type} {self.fingerprint}"


@dataclass(frozen=True, slots=True)
class _Line:
    hosts: str
    marker: str
    key: HostKey

    def is_of(self, name: str) -> bool:
        return _hash_matches(self.hosts, name) if self.hosts.startswith("|") else _list_matches(self.hosts, name)


@dataclass(frozen=True, slots=True)
class KnownKeys:
    """The keys that are known of one host."""

    keys: tuple[HostKey, ...] = ()
    authorities: tuple[HostKey, ...] = ()
    """Authorities whose certificates are believed."""
    revoked: tuple[HostKey, ...] = ()
    elsewhere: tuple[HostKey, ...] = ()
    """Keys of the same host on its standard port, used only where no key is known for this port."""
    places: tuple[tuple[Path, str], ...] = ()
    """The files that have ``keys``, and the host's name in each."""

    @property
    def removal(self) -> str:
        """The commands that remove ``keys`` from these files."""
        default = Path("~/.ssh/known_hosts").expanduser()
        commands = [
            ["ssh-keygen", *([] if path == default else ["-f", str(path)]), "-R", name] for path, name in self.places
        ]
        return " and ".join(shlex.join(command) for command in commands)

    def judge(self, key: HostKey) -> HostKeyVerdict:
        """The verdict on a key that a host shows. ``changed``: the host has other keys; that is never accepted."""
        if key in self.revoked:
            return "revoked"
        if self.keys:
            return "known" if key in self.keys else "changed"
        return "known" if key in self.elsewhere else "unknown"

    def trusts(self, authority: HostKey) -> bool:
        """Whether certificates that an authority signed are believed."""
        return authority in self.authorities and authority not in self.revoked


def entry_name(host: str, port: int) -> str:
    """The name of a host in known_hosts."""
    host = host.lower()
    return host if port == SSH_PORT else f"[{host}]:{port}"


def find_keys(places: Iterable[tuple[Path, str]], *, portless: str | None = None) -> KnownKeys:
    """The keys of a host in these files, each given with the name that the host has in it.

    ``portless`` is its name without the port, where it has one.
    """
    places = list(places)
    known_keys = _keys_in(places)
    if portless is None:
        return known_keys
    portless_keys = _keys_in((path, portless) for path, _ in places)
    return replace(known_keys, elsewhere=portless_keys.keys, revoked=known_keys.revoked + portless_keys.revoked)


def append(path: Path, name: str, key: HostKey) -> None:
    """Add a key to a known_hosts file, which is made where it is missing; raises OSError."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        size = os.fstat(file).st_size
        torn = size > 0 and os.pread(file, 1, size - 1) != b"\n"
        line = f"{name} {key.text}\n"
        os.write(file, (f"\n{line}" if torn else line).encode())
    finally:
        os.close(file)


def _keys_in(places: Iterable[tuple[Path, str]]) -> KnownKeys:
    by_marker: dict[str, list[HostKey]] = {"": [], "@cert-authority": [], "@revoked": []}
    holding = []
    for path, name in places:
        lines = [line for line in _lines(path) if line.is_of(name)]
        for line in lines:
            by_marker[line.marker].append(line.key)
        if any(not line.marker for line in lines):
            holding.append((path, name))
    keys, authorities, revoked = (tuple(dict.fromkeys(keys)) for keys in by_marker.values())
    return KnownKeys(keys, authorities, revoked, places=tuple(holding))


def _lines(path: Path) -> Iterator[_Line]:
    try:
        text = path.read_text("utf-8", "replace")
    except OSError:
        return  # none of the files must be there
    for line in text.splitlines():
        if parsed := _parse(line):
            yield parsed


def _parse(line: str) -> _Line | None:
    words = line.split()
    marker = words.pop(0) if words and words[0] in ("@cert-authority", "@revoked") else ""
    if len(words) < 3 or words[0].startswith(("#", "@")):
        return None
    hosts, kind, key = words[:3]
    try:
        return _Line(hosts, marker, HostKey(kind, base64.b64decode(key, validate=True)))
    except binascii.Error:
        return None


def _hash_matches(hashed: str, name: str) -> bool:
    try:
        _, method, salt, digest = hashed.split("|")
        expected = hmac.digest(base64.b64decode(salt), name.encode(), "sha1")
        return method == "1" and hmac.compare_digest(expected, base64.b64decode(digest))
    except (ValueError, binascii.Error):
        return False


def _list_matches(patterns: str, name: str) -> bool:
    """Whether one of the patterns fits, and none of those with ``!``."""
    fits = {pattern.startswith("!") for pattern in patterns.lower().split(",") if _fits(pattern.lstrip("!"), name)}
    return fits == {False}


def _fits(pattern: str, name: str) -> bool:
    """Whether a pattern fits; ``*`` and ``?`` are wildcards, the brackets of ``[host]:port`` are none."""
    expression = "".join({"*": ".*", "?": "."}.get(letter, re.escape(letter)) for letter in pattern)
    return re.fullmatch(expression, name) is not None
