"""Nodes, target and session as the options name them; each function raises UsageError for a wrong option."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace

import click

from cephtui import config, paths
from cephtui.cli.errors import Refused
from cephtui.cli.neighbours import with_neighbours
from cephtui.cli.where import Where
from cephtui.keys import vault
from cephtui.models import Node
from cephtui.nodes.vault import Vault
from cephtui.planning import new_batch
from cephtui.sessions import names
from cephtui.sessions.store import StoreError
from cephtui.targets import KINDS, Target, TargetError, parse_target, target_kind, with_data_pool
from cephtui.targets.scratch import scratch_target

_NEXT_TARGET = re.compile(rf",(?=(?:{'|'.join(KINDS)}):)")
"""A comma behind which another target begins; others are part of a path."""


def load_config(where: Where) -> config.Config:
    """The config file."""
    path = where.config or paths.config_dir() / "config.toml"
    ssh_config = str(where.ssh_config.absolute()) if where.ssh_config else None
    try:
        return with_neighbours(config.load_config(path, required=where.config is not None, ssh_config=ssh_config))
    except config.ConfigError as error:
        raise click.UsageError(str(error)) from None


def known_secrets(where: Where) -> Vault:
    """The user's secrets, of the config file and of where it says that they are."""
    return vault(load_config(where).s3)


def chosen_nodes(where: Where) -> tuple[Node, ...]:
    """The nodes to run on, with the Ceph access of the options; by default this machine."""
    try:
        chosen = load_config(where).choose(where.names or (config.LOCAL,))
    except config.ConfigError as error:
        raise click.UsageError(str(error)) from None
    names = [node.name for node in chosen]
    if where.ceph_node and where.ceph_node not in names:
        raise click.UsageError(f"--ceph-node {where.ceph_node}: expected one of {', '.join(names)}")
    return tuple(node.model_copy(update=where.ceph) for node in chosen)


def known_nodes(where: Where) -> dict[str, Node]:
    """This machine, the nodes of the config file and of its cluster, and the chosen ones, by their names."""
    settings = load_config(where)
    every = replace(where, names=(config.LOCAL, *settings.nodes, *settings.neighbours), ceph_node=None)
    return {node.name: node for node in (*chosen_nodes(every), *chosen_nodes(where))}


def check_session_name(name: str | None) -> None:
    """Check that a session may have this name, and is not read-only."""
    try:
        names.check_session_name(paths.sessions_dir(), name)
    except StoreError as error:
        raise click.UsageError(str(error)) from None


def chosen_target(
    text: str | None,
    stack: ExitStack,
    nodes: Sequence[Node],
    data_pool: str | None,
    owner_id: str,
    earlier: str = "",
) -> Target:
    """The target; by default a scratch file, which the stack removes. Raises Refused where that can't be made.

    An ``earlier`` scratch file has its path again.
    """
    remote = [node.name for node in nodes if node.host is not None]
    if not text and remote:
        raise click.UsageError(f"--target is missing: name one on {remote[0]}, such as rbd:POOL or file:PATH")
    kind = target_kind(text) if text else None
    if text and remote and kind and kind.is_path and not text.partition(":")[2].startswith("/"):
        raise click.UsageError(f"target {text!r}: expected an absolute path on {remote[0]}")
    try:
        if text:
            return parse_target(text, owner_id=owner_id, data_pool=data_pool)
        return stack.enter_context(scratch_target(paths.cache_dir(), earlier))
    except TargetError as error:
        raise click.UsageError(str(error)) from None
    except OSError as error:
        raise Refused(f"can't make a scratch file in {paths.cache_dir()}: {error.strerror}: use --target") from None


def each_of(target: Target, nodes: Sequence[Node], where: Where) -> tuple[Target, ...]:
    """What a target stands for on these nodes; raises UsageError."""
    try:
        return target.expand(nodes, lambda name: load_config(where).choose([name]))
    except TargetError as error:
        raise click.UsageError(str(error)) from None


def chosen_targets(
    texts: Sequence[str], stack: ExitStack, nodes: Sequence[Node], data_pool: str | None, where: Where
) -> list[list[Target]]:
    """Of expanded text its targets, several with commas; without any text a scratch file, as ``chosen_target``."""
    values = [_NEXT_TARGET.split(text) for text in texts] or [[None]]
    named = [[chosen_target(text, stack, nodes, None, new_batch()) for text in value] for value in values]
    chosen = [[expanded for target in targets for expanded in each_of(target, nodes, where)] for targets in named]
    every = [target for targets in chosen for target in targets]
    specs = [target.spec for target in every]
    if again := next((spec for spec in specs if specs.count(spec) > 1), None):
        raise click.UsageError(f"--target {again} is given twice")
    if data_pool is None:
        return chosen
    if not any(target.creates_images for target in every):
        raise click.UsageError("--data-pool is for the images that rbd:POOL creates")
    return [[with_data_pool(t, data_pool) if t.creates_images else t for t in targets] for targets in chosen]
