"""Ceph's access for programs that do not run where ``ceph`` does: fetched for the time of a run."""

from __future__ import annotations

from cephtui.models import Node
from cephtui.paths import packaged_text

_SCRIPT = packaged_text("cephtui.ceph", "access_fetch.sh")
_DEFAULT_ID = "admin"


def is_elsewhere(node: Node) -> bool:
    """Whether the node has its Ceph access only behind ``ceph_prefix``, as with cephadm or rook."""
    has_own = node.ceph_conf or node.ceph_keyring or node.ceph_mon_host
    return bool(node.ceph_prefix) and node.ceph_prefix != node.prefix and not has_own


def fetch_argv(node: Node) -> tuple[str, ...]:
    """The command that prints a ceph.conf which is a keyring, too."""
    return (*node.ceph_prefix, "sh", "-c", _SCRIPT, "cephtui-access", ceph_user(node))


def ceph_user(node: Node) -> str:
    """The Ceph user of a node, without ``client.``."""
    return node.ceph_id or _DEFAULT_ID
