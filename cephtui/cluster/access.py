"""The Ceph access of a node: the ceph.conf, keyring and client id that are found on it."""

from __future__ import annotations

import logging

from cephtui.ceph import proxmox
from cephtui.models import Node
from cephtui.nodes.shell import NodeShell
from cephtui.nodes.transport import TransportError

log = logging.getLogger(__name__)


async def with_access(shell: NodeShell, pool: str | None) -> Node:
    """The node with its Ceph access: its own settings, else what the usual places have, else a storage of Proxmox VE.

    ``pool`` chooses between several storages.
    """
    node = shell.node
    if node.ceph_conf or node.ceph_keyring or node.ceph_prefix:
        return node
    try:
        answer = await shell.run(proxmox.access_argv(), timeout_seconds=proxmox.READ_SECONDS)
        access = proxmox.parse_access(answer.stdout)
    except (TransportError, ValueError) as error:
        log.warning("%s: its Ceph access can't be read: %s", node.name, error)
        return node
    candidates = proxmox.found_access(access)
    pool_storages = proxmox.storage_of(access.storages, pool) if pool else ()
    of_pool = [candidate for candidate in candidates if candidate.source in pool_storages]
    chosen = next(iter((*of_pool, *candidates)), None)
    if chosen is None or (chosen.source == "/etc/ceph" and node.ceph_id is None):
        return node
    return node.model_copy(
        update={
            "ceph_conf": chosen.conf,
            "ceph_keyring": chosen.keyring,
            "ceph_id": node.ceph_id or chosen.id,
            "ceph_mon_host": ",".join(chosen.monhost) or None if chosen.conf is None else None,
        }
    )
