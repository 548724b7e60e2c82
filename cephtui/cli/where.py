"""Options for where it is measured, which the console has too; and what refuses those that a verb does not take."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import click

from cephtui.cli.complete import complete_targets
from cephtui.cli.neighbours import complete_nodes
from cephtui.frozen import dataclass

TARGET_HELP = (
    "What to test: file:PATH, rbd:POOL, rbd:POOL/IMAGE, krbd:POOL (mapped by the kernel), krbd:POOL+ext4 (or +xfs), "
    "cephfs:PATH (a mounted one), device:PATH, pool:POOL (its objects), host:NODE (the network to it; host:* is every "
    "pair of the nodes), s3:ENDPOINT or s3:ENDPOINT/BUCKET (buckets of the run's own), new-pool:pg=32,size=3 (created "
    "for the run, deleted at the end) or OSDs: osd:*, osd:0,1, osd:host=NAME, osd:class=NAME. Default: a scratch file."
)


@dataclass(frozen=True, slots=True)
class Where:
    """The options that name nodes and their Ceph access."""

    names: tuple[str, ...]
    config: Path | None
    ssh_config: Path | None
    ceph: dict[str, str]
    """Fields of a node for its Ceph access."""
    ceph_node: str | None

    def with_more(self, more: Where) -> Where:
        """Both; ``more`` takes precedence."""
        return Where(
            more.names or self.names,
            more.config or self.config,
            more.ssh_config or self.ssh_config,
            {**self.ceph, **more.ceph},
            more.ceph_node or self.ceph_node,
        )


_existing = click.Path(exists=True, dir_okay=False, path_type=Path)
_where_options = (
    click.option(
        "--node",
        "nodes",
        multiple=True,
        metavar="NODE",
        shell_complete=complete_nodes,
        help="Where to run: [USER@]HOST[:PORT], or a node or group of the config file. Default: local.",
    ),
    click.option("--config", type=_existing, metavar="FILE", help="Named nodes and groups (TOML). See cephtui info."),
    click.option("-F", "ssh_config", type=_existing, metavar="FILE", help="SSH config instead of ~/.ssh/config."),
    click.option("--ceph-conf", metavar="PATH", help="ceph.conf, on the node."),
    click.option("--ceph-id", metavar="ID", help="Ceph user, without the 'client.' prefix."),
    click.option("--ceph-keyring", metavar="PATH", help="Keyring of the Ceph user, on the node."),
    click.option("--ceph-node", metavar="NODE", help="The node that queries the cluster. Default: the first."),
)


def where_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options that name nodes; the command gets them as ``where``."""

    @functools.wraps(command)
    def wrapped(
        nodes: tuple[str, ...],
        config: Path | None,
        ssh_config: Path | None,
        ceph_conf: str | None,
        ceph_id: str | None,
        ceph_keyring: str | None,
        ceph_node: str | None,
        **others: Any,
    ) -> Any:
        texts = {"ceph_conf": ceph_conf, "ceph_id": ceph_id, "ceph_keyring": ceph_keyring}
        ceph = {key: value for key, value in texts.items() if value}
        where = Where(nodes, config, ssh_config, ceph, ceph_node)
        context = click.get_current_context()
        before = context.find_object(Where)  # given before the verb
        context.obj = where if before is None else before.with_more(where)
        return command(where=context.obj, **others)

    for option in reversed(_where_options):
        wrapped = option(wrapped)
    return wrapped


data_pool_option = click.option(
    "--data-pool", metavar="POOL", help="Erasure-coded pool for the data of created images."
)
session_option = click.option(
    "--session", metavar="NAME", help="Save into this session. Default: a new one, named after the time."
)
target_option = click.option("--target", metavar="TARGET", shell_complete=complete_targets, help=TARGET_HELP)


_OF_ALL = ("--safe",)
"""Options that stand before a verb and hold for each."""


def given_options() -> list[str]:
    """The options on the command line of the verb, and of nodes before it, by their longest names: ``--mark``."""
    context = click.get_current_context(silent=True)
    typed = click.core.ParameterSource.COMMANDLINE
    names: dict[str, None] = {}
    while context is not None:
        for option in context.command.params:
            is_typed = option.name and context.get_parameter_source(option.name) is typed
            if isinstance(option, click.Option) and is_typed:
                names[max(option.opts, key=len)] = None
        context = context.parent
    return [name for name in names if name not in _OF_ALL]


def refuse_options(wrong: Collection[str], why: str) -> None:
    """Raises UsageError for the first of these options that is given: none is taken and then ignored.

    ``why`` stands behind its name: ``belongs to a verdict``.
    """
    if option := next((option for option in given_options() if option in wrong), None):
        raise click.UsageError(f"{option} {why}")


def refuse_other_options(right: Collection[str], why: str) -> None:
    """The same for any option that is none of these."""
    refuse_options({*given_options()}.difference(right), why)
