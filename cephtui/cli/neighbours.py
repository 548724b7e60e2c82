"""The other nodes of a Proxmox VE cluster that this machine is in, as nodes that can be named; and their completion.

Every start of cephtui loads this module, so its functions import what they need themselves.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from cephtui.config import Config

ROOT = Path("/")
"""Of this machine's files."""
_PROXMOX, _COROSYNC = "usr/bin/pveversion", "etc/corosync/corosync.conf"
_MOST_BYTES = 1 << 18
_USER = "root"
"""Proxmox VE has set up SSH between the nodes of a cluster for this user."""


def with_neighbours(settings: Config, root: Path | None = None) -> Config:
    """With the nodes of this machine's Proxmox VE cluster that the SSH configuration does not name.

    Read is each node's own copy of corosync.conf, which is there while /etc/pve is not.
    """
    root = root or ROOT
    text = _text(root / _COROSYNC) if (root / _PROXMOX).exists() else ""
    if not text:
        return settings
    from cephtui.ceph.corosync import parse_corosync
    from cephtui.config import ssh_hosts
    from cephtui.models import Node

    named = {*ssh_hosts(settings.ssh_config), *settings.nodes, *settings.groups}
    near = {
        node.name: Node(
            name=node.name, host=node.address, user=_USER, ssh_config=settings.ssh_config, programs=settings.programs
        )
        for node in parse_corosync(text)
        if node.address and node.name not in named
    }
    return replace(settings, neighbours=near)


def _text(path: Path) -> str:
    """Of a regular file that is not too large; empty where it can't be read."""
    from cephtui.reading import read_bytes

    try:
        return read_bytes(path, _MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


def complete_nodes(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Nodes and groups of the config file, hosts of the SSH configuration, nodes of the Proxmox VE cluster."""
    from cephtui import config

    settings = with_neighbours(config_of(context))
    names = [
        config.LOCAL,
        *settings.nodes,
        *settings.groups,
        *settings.neighbours,
        *config.ssh_hosts(settings.ssh_config),
    ]
    return [name for name in dict.fromkeys(names) if name.startswith(incomplete)]


def config_of(context: click.Context) -> Config:
    """The config file of a command line that is being completed; an empty one where it can't be read."""
    from cephtui import config, paths

    file, ssh_config = context.params.get("config"), context.params.get("ssh_config")
    settings = config.Config(ssh_config=str(ssh_config) if ssh_config else None)
    with contextlib.suppress(config.ConfigError):
        path = file or paths.config_dir() / "config.toml"
        return config.load_config(path, required=False, ssh_config=settings.ssh_config)
    return settings
