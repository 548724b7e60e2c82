"""Users of a Ceph object gateway that a run makes for itself, and removes with all they have.

radosgw-admin prints their keys: what it prints is in no error and no log.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from cephtui.cluster import reader
from cephtui.cluster.reader import ClusterReader
from cephtui.nodes.shell import Shell, failure_reason
from cephtui.targets.base import OWNER_KEY, Removed, TargetFault

_ADMIN_SECONDS, _PURGE_SECONDS = 60.0, 3600.0
_ROOT_POOL = ".rgw.root"
_NO_USER = "no user info saved"


async def data_pool(shell: Shell) -> str | None:
    """The pool of new objects, empty where it is not there yet; None where this node can't make users.

    Raises TransportError. Without a gateway's pools radosgw-admin would make some, so it is not asked.
    """
    osd_map = await ClusterReader(shell).optional(reader.OSD_MAP)
    if osd_map is None or _ROOT_POOL not in osd_map.pools:
        return None
    done = await shell.ceph(("radosgw-admin", "zone", "get"), timeout_seconds=_ADMIN_SECONDS)
    if done.status != 0:
        return None
    pool = _data_pool(done.stdout)
    return pool if pool in osd_map.pools else ""


def _data_pool(text: str) -> str:
    try:
        placements = json.loads(text)["placement_pools"]
        return str(placements[0]["val"]["storage_classes"]["STANDARD"]["data_pool"])
    except (ValueError, LookupError, TypeError):
        return ""


async def create_user(shell: Shell, uid: str, owner: str, most_bytes: int) -> None:
    """Make a user that may write so many bytes; raises TargetFault and TransportError."""
    create_user = ("radosgw-admin", "user", "create", "--uid", uid, "--display-name", _mark(owner))
    set_quota = ("radosgw-admin", "quota", "set", "--quota-scope", "user", "--uid", uid, "--max-size", str(most_bytes))
    enable_quota = ("radosgw-admin", "quota", "enable", "--quota-scope", "user", "--uid", uid)
    for argv in (create_user, set_quota, enable_quota):
        done = await shell.ceph(argv, timeout_seconds=_ADMIN_SECONDS)
        if done.status != 0:
            raise TargetFault(f"{shell.node.name}: {' '.join(argv[:3])} {uid} failed: {failure_reason(done)}")


async def keys_of(shell: Shell, uid: str) -> tuple[str, str]:
    """The access key and the secret key of a user; raises TargetFault and TransportError."""
    info = await _info(shell, uid)
    try:
        first = (info or {})["keys"][0]
        return str(first["access_key"]), str(first["secret_key"])
    except (LookupError, TypeError):
        raise TargetFault(f"{shell.node.name}: user {uid} has no keys") from None


async def remove_user(shell: Shell, uid: str, owner: str) -> Removed:
    """Remove a user that carries its owner, with its buckets and objects; raises TransportError."""
    try:
        info = await _info(shell, uid)
    except TargetFault as error:
        return Removed("failed", str(error))
    if info is None:
        return Removed("done", "it was removed already")
    if info.get("display_name") != _mark(owner):
        return Removed(
            "not ours",
            f"its display name does not carry its session; if it is yours: radosgw-admin user rm --uid {uid}",
        )
    argv = ("radosgw-admin", "user", "rm", "--uid", uid, "--purge-data")
    done = await shell.ceph(argv, timeout_seconds=_PURGE_SECONDS)
    return Removed("done") if done.status == 0 else Removed("failed", failure_reason(done))


async def _info(shell: Shell, uid: str) -> Mapping[str, Any] | None:
    """The info of a user; None where there is no user of this name. Raises TargetFault and TransportError."""
    done = await shell.ceph(("radosgw-admin", "user", "info", "--uid", uid), timeout_seconds=_ADMIN_SECONDS)
    if done.status != 0 and _NO_USER in done.stderr:
        return None
    try:
        user = json.loads(done.stdout) if done.status == 0 else None
    except ValueError:
        user = None
    if not isinstance(user, dict):
        raise TargetFault(f"{shell.node.name}: radosgw-admin user info failed: {failure_reason(done)}")
    return user


def _mark(owner: str) -> str:
    return f"{OWNER_KEY} {owner}"
