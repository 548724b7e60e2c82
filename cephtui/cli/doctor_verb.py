"""The verb ``doctor``; its code is imported when it is run."""

from __future__ import annotations

from typing import Any

import click

from cephtui.cli.options import json_option, where_options


@click.command(
    epilog="""\b
Examples:
  cephtui doctor
  cephtui doctor --node pve2
  cephtui doctor --json | jq 'select(.status == "missing") | .cure'

\b
Exit codes:
  0 ready to measure: fio is there, and its data and results can be written; 1 not ready, 2 wrong usage
"""
)
@where_options
@json_option
def doctor(**given: Any) -> int:
    """Show what works on this host, what is missing, and the command that installs it.

    Python and the terminal, benchmark programs, the Ceph cluster, Proxmox VE with its storages and nodes, SSH keys;
    then the commands that try what can be measured here without touching what is there. Nothing is written.
    """
    from cephtui.cli.commands.doctor import examine

    return examine(**given)
