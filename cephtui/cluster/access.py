"""The Ceph access of a node: the ceph.conf, keyring and client id that are found on it."""

from __future__ import annotations

from cephtui.ceph import proxmox
from cephtui.models import Node
from cephtui.nodes.shell import NodeShell


async def with_access(shell: NodeShell, pool: str | None) -> Node:
    """The node with its Ceph access: as given, else of the usual places, else of a storage of Proxmox VE.

    ``pool`` chooses between several storages. Raises TransportError.
    """
    node = shell.node
    if node.ceph_conf or node.ceph_keyring or node.ceph_prefix:
        return node
    answer = await shell.run(proxmox.access_argv())
    try:
        access = proxmox.parse_access(answer.stdout)
    except ValueError:
        return node
    ways = proxmox.ceph_ways(access)
    named = proxmox.storage_of(access.storages, pool) if pool else ()
    way = next((way for way in ways if way.source in named), ways[0] if ways else None)
    if way is None or (way.source == "/etc/ceph" and node.ceph_id is None):
        return node
    return node.model_copy(
        update={
            "ceph_conf": way.conf,
            "ceph_keyring": way.keyring,
            "ceph_id": node.ceph_id or way.id,
            "ceph_mon_host": ",".join(way.monhost) or None if way.conf is None else None,
        }
    )
