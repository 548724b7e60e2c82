"""``s3:ENDPOINT[/BUCKET]``: buckets of the run's own at an S3 endpoint.

hsbench and gosbench number the buckets that they use, so neither can use one that has a name already: with ``BUCKET``
the names of the new ones begin with it, as a policy may ask for that lets its keys make no others.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from cephtui import units
from cephtui.cluster import preflight, reader
from cephtui.cluster.reader import ClusterReader
from cephtui.config import endpoint_of
from cephtui.frozen import dataclass
from cephtui.keys import NAMES
from cephtui.models import Kind, NameKind, Node, Part, Place, S3Place
from cephtui.models.refusal import Refusal
from cephtui.nodes.shell import Shell
from cephtui.nodes.vault import VaultError
from cephtui.targets.base import (
    OWN_NAME,
    OWN_PREFIX,
    DataLayout,
    Removed,
    SecretsMissing,
    Target,
    TargetError,
    TargetFault,
    TargetKind,
    TargetState,
    Use,
)
from cephtui.targets.candidates import Candidate
from cephtui.targets.s3 import users
from cephtui.targets.s3.gateway import Gateway, GatewayError

_NO_MORE = "QuotaExceeded"
"""The error code of a gateway where a user has written as much as the quota allows."""
_USER = "user:"
"""The text before the name of a user in a part's name; other names are prefixes of buckets."""
_BUCKET = re.compile(r"[a-z0-9][a-z0-9-]{0,18}")
"""A prefix for the names of buckets, which have 63 characters at most, 43 of them cephtui's and the tools'."""
_PREFIX = re.compile(rf"({_BUCKET.pattern}-)?{OWN_NAME.pattern}")
_USER_NAME = re.compile(rf"{_USER}{OWN_NAME.pattern}")
_OWNER = re.compile(r"[A-Za-z0-9._-]+")
_WHERE_KEYS_ARE = "there are none in [s3.NAME] of the config or in ~/.aws/credentials"


@dataclass(frozen=True, slots=True)
class S3Target(Target):
    """New buckets at an endpoint, with the user's own keys or of users that the run makes."""

    kind: ClassVar[Kind] = "s3"
    persists_between_steps: ClassVar[bool] = False
    default_span_bytes: ClassVar[int] = 1 << 40
    secrets: ClassVar[tuple[str, ...]] = NAMES

    endpoint: str
    owner_id: str | None = None
    """An id that makes the names of buckets and users unique."""
    has_own_users: bool = False
    """Whether each node makes a user of the gateway for the run."""
    bucket: str = ""
    """The prefix of the names of the buckets; empty for cephtui's own."""

    @property
    def spec(self) -> str:
        return f"{self._name_at}/{self.bucket}" if self.bucket else self._name_at

    @property
    def _name_at(self) -> str:
        return f"s3:{self.endpoint}"

    async def resolve_access(self, shells: Sequence[Shell]) -> S3Target:
        """The target with keys meant for the endpoint, else users of its own, else the keys of AWS's files."""
        vault = shells[0].vault
        try:
            if vault.named(self.endpoint):
                return self
            pools = [await users.data_pool(shell) for shell in shells]
            if all(pool is not None for pool in pools):
                return replace(self, has_own_users=True, pool=pools[0] or None)
            if vault.get(self.endpoint):
                return self
        except VaultError as error:
            raise TargetFault(str(error)) from None
        raise SecretsMissing(self.endpoint, self.secrets, _WHERE_KEYS_ARE)

    def lay_out(self, node: Node, layout: DataLayout) -> tuple[Place, tuple[Part, ...]]:
        """Names for each node; a bucket's name has 63 characters at most, some of which are the tool's."""
        name = f"{OWN_PREFIX}{self.owner_id}-{_short_name(f'{layout.batch}/{node.name}', 8)}"
        prefix = f"{self.bucket}-{name}-" if self.bucket else f"{name}-"
        part = f"{_USER}{name}" if self.has_own_users else prefix
        place = S3Place(kind="s3", endpoint=self.endpoint, bucket_prefix=prefix)
        most = layout.size_bytes if self.has_own_users else 0  # nothing else is kept to a size
        return place, (Part(spec=f"{self._name_at}/{part}", bytes=most),)

    async def inspect(self, shell: Shell, use: Use) -> TargetState:
        """Check that the endpoint answers and takes the keys; a user of the run's own is checked by making it."""
        if self.has_own_users:
            most = units.size(sum(part.bytes for part in use.parts))
            why = f"the user of the run may write only {most}, so that the pool can't become full: choose a shorter run"
            return TargetState(to_create=use.parts, causes={_NO_MORE: why})
        prefix = use.parts[0].spec.rpartition("/")[2]
        try:
            buckets = await self._gateway(shell).buckets(prefix)
        except GatewayError as error:
            return TargetState(refusal=Refusal(str(error), "the keys are not accepted" if error.is_about_keys else ""))
        if buckets:
            return TargetState(refusal=Refusal(f"{self.spec}: there are buckets {prefix}* already", "cephtui cleanup"))
        return TargetState(to_create=use.parts)

    async def create(self, shell: Shell, part: Part, owner: str) -> str:
        """Make a user whose name and display name are the run's, or a bucket that marks the owner of a prefix."""
        name = part.spec.removeprefix(f"{self._name_at}/")
        if not self.has_own_users:
            await self._gateway(shell).make(_marking(name, owner))
            return part.spec
        uid = name.removeprefix(_USER)
        await users.create_user(shell, uid, owner, part.bytes)
        try:
            await Gateway(shell, self.endpoint, await users.keys_of(shell, uid)).buckets("")
        except GatewayError as error:
            if not error.is_about_keys:
                raise
            raise TargetFault(
                f"{self.spec} is not a gateway of this node's cluster: add its keys to [s3.NAME] in the config"
            ) from None
        return part.spec

    async def secrets_for(self, shell: Shell, place: Place) -> Mapping[str, str]:
        """The keys of the user, or of the user that the node has made for the run."""
        uid = place.bucket_prefix.removeprefix(f"{self.bucket}-").removesuffix("-")
        keys = await users.keys_of(shell, uid) if self.has_own_users else self._gateway(shell).keys
        return dict(zip(NAMES, keys, strict=True))

    async def room(self, shell: Shell, nodes: int) -> int | None:
        """Half of what the guards allow, where the pool is known: it becomes the quota of the run's own users."""
        most = await preflight.room_bytes(shell, self.pool) if self.pool else None
        return None if most is None else most // 2 // nodes

    def _gateway(self, shell: Shell) -> Gateway:
        return _gateway(shell, self.endpoint)


class S3Kind(TargetKind):
    """S3 endpoints."""

    scheme = "s3"
    examples = ("s3:ENDPOINT", "s3:ENDPOINT/BUCKET")
    secrets = NAMES

    def parse(self, name: str, owner_id: str | None = None) -> S3Target:
        text = self.spec(name)
        endpoint, _, bucket = _split(name)
        if bucket and not _BUCKET.fullmatch(bucket):
            raise TargetError(f"target {text!r}: expected up to 19 of a-z, 0-9 and - as BUCKET, got {bucket!r:.99}")
        try:
            return S3Target(endpoint_of(endpoint), owner_id, bucket=bucket)
        except ValueError as error:
            raise TargetError(f"target {text!r}: {error}") from None

    async def on_node(self, shell: Shell) -> Sequence[Candidate]:
        """The endpoints that the user has keys for, and those of the cluster's gateways."""
        endpoints = dict.fromkeys(await ClusterReader(shell).optional(reader.GATEWAYS) or (), "an object gateway")
        endpoints |= dict.fromkeys(shell.vault.services, "an endpoint of your config")
        return [self.candidate(endpoint, f"new buckets at {what}", None) for endpoint, what in endpoints.items()]

    def names_in(self, name: str) -> Mapping[str, NameKind]:
        endpoint, _, bucket = _split(name)
        host = endpoint.rpartition("://")[2].rpartition(":")[0] or endpoint.rpartition("://")[2]
        return {host.strip("[]"): "node", **({bucket: "bucket"} if _BUCKET.fullmatch(bucket) else {})}

    def service(self, name: str) -> str:
        endpoint, _, part = _split(name)
        return "" if part.startswith(_USER) else endpoint

    async def remove(self, shell: Shell, name: str, owner: str | None) -> Removed:
        endpoint, _, part = _split(name)
        is_owned = owner and _OWNER.fullmatch(owner)
        if not is_owned or not (_USER_NAME if part.startswith(_USER) else _PREFIX).fullmatch(part):
            return Removed("not ours", f"{part} does not have a name that cephtui gives buckets and users")
        if part.startswith(_USER):
            return await users.remove_user(shell, part.removeprefix(_USER), owner or "")
        try:
            return await _remove_buckets(_gateway(shell, endpoint), part, owner or "")
        except TargetFault as error:
            return Removed("failed", str(error))


async def _remove_buckets(gateway: Gateway, prefix: str, owner: str) -> Removed:
    """Remove the buckets of a prefix, last the one that marks its owner: without it nothing is removed."""
    buckets, mark = await gateway.buckets(prefix), _marking(prefix, owner)
    if not buckets:
        return Removed("done", "it was removed already")
    if mark not in buckets:
        return Removed("not ours", f"its {len(buckets)} buckets do not carry the mark of its session")
    for bucket in sorted(buckets, key=mark.__eq__):
        await gateway.remove(bucket)
    return Removed("done")


def _gateway(shell: Shell, endpoint: str) -> Gateway:
    """The gateway at an endpoint, with its keys; raises TargetFault without keys."""
    try:
        keys = shell.vault.get(endpoint)
    except VaultError as error:
        raise TargetFault(str(error)) from None
    if keys is None:
        raise TargetFault(f"the keys of {endpoint} are not known: {_WHERE_KEYS_ARE}")
    return Gateway(shell, endpoint, keys)


def _split(name: str) -> tuple[str, str, str]:
    """The endpoint of a name such as ``http://gw:80/rest``, the slash, and the rest."""
    scheme, slashes, location = name.rpartition("://")
    host, slash, rest = location.partition("/")
    return f"{scheme}{slashes}{host}", slash, rest


def _short_name(text: str, digits: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:digits]


def _marking(prefix: str, owner: str) -> str:
    """The name of the bucket that marks the owner of a prefix: the mark is its name, so it is never half written."""
    return f"{prefix}{_short_name(owner, 16)}"
