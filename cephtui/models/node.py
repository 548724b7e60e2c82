"""A node, by itself: the console begins with it."""

from typing import Annotated

from pydantic import Field

from cephtui.models.base import Model, Name, NamesOf


class Node(Model):
    """A host that runs benchmarks, and its Ceph access. Paths are paths on that host."""

    name: Annotated[Name, NamesOf("node")]
    """The node's name in figures and files: the key in the config file, or what was typed."""
    host: Annotated[str | None, NamesOf("node")] = None
    """The name or the address for SSH, looked up in ``ssh_config``; None is the console's own machine."""
    user: str | None = None
    port: int | None = None
    ssh_config: Annotated[str | None, NamesOf("path")] = None
    """A file in the format of ssh_config(5) that is used instead of ``~/.ssh/config``."""
    prefix: tuple[str, ...] = ()
    """Words before the benchmark's command line: ``sudo -n``, ``kubectl exec ... --``."""
    ceph_prefix: tuple[str, ...] = ()
    """Words before ceph, rbd and rados, instead of ``prefix``: ``cephadm shell --``."""
    ceph_conf: Annotated[str | None, NamesOf("path")] = None
    ceph_keyring: Annotated[str | None, NamesOf("path")] = None
    ceph_id: Annotated[str | None, NamesOf("user")] = None
    """The Ceph user without ``client.``."""
    ceph_mon_host: str | None = None
    """The monitors, where there is no ``ceph_conf`` that names them."""
    programs: dict[str, str] = Field(default_factory=dict)
    """Paths of benchmark programs that are not found by their names, by these names."""
