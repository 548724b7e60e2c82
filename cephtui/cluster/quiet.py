"""Holds the cluster's own background work back for a session, and puts it back as it was."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from cephtui.ceph import answers, quiet
from cephtui.ceph.pools import OsdMap
from cephtui.ceph.quiet import Holder
from cephtui.cluster import reader
from cephtui.cluster.reader import NEEDS_ADMIN, ClusterError, ClusterReader, Query
from cephtui.models.base import Quiet
from cephtui.nodes.shell import Shell, failure_reason

_BALANCER: Query[bool] = Query(quiet.BALANCER_ARGV, quiet.parse_balancer, "can't read the state of the balancer")
_HOLDERS: Query[Mapping[str, Holder]] = Query(
    quiet.HOLDERS_ARGV,
    quiet.parse_holders,
    "can't read which sessions hold back background work",
    NEEDS_ADMIN,
)
_OWNER = re.compile(r"[A-Za-z0-9._-]+")


async def to_hold(shell: Shell, what: Quiet, owner: str) -> tuple[Holder, str]:
    """What a session is to hold back, to be put back at its end, and the id of the cluster.

    It is what is at work, and what sessions of cephtui hold already, this one or another: their keys say how it was at
    first. Raises ClusterError and TransportError.
    """
    # before and after: one that ends in between has put back some of what it held
    first = await _holders(shell)
    osd_map, asked = await _osd_map(shell), ClusterReader(shell)
    balancer = await asked.ask(_BALANCER) if what == "all" else False
    config = await asked.ask(reader.CONFIG) if what == "all" else None
    found = quiet.at_work(what, osd_map, balancer, config.options if config else {})
    holders = {**first, **(await _holders(shell))}
    mine = holders.get(owner) or Holder(frozenset(), datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"))
    of_all = {item for holder in holders.values() for item in holder.items}
    held = mine.items | {item for item in of_all if what == "all" or item in quiet.FLAGS}
    known = {quiet.subject(item) for item in held}
    items = held | {item for item in found if quiet.subject(item) not in known}
    return replace(mine, items=items, is_leaving=False), osd_map.fsid


async def hold(shell: Shell, holder: Holder, owner: str) -> None:
    """Note in the cluster what a session holds back, and do so; raises ClusterError and TransportError."""
    await _run(shell, quiet.keep_argv(owner, holder))
    osd_map = await _osd_map(shell)
    for argv in (argv for item in sorted(holder.items) for argv in quiet.hold_argvs(item, osd_map)):
        await _run(shell, argv)


async def put_back(shell: Shell, owner: str) -> str | None:
    """Put back what a session holds, but for what another one holds as well, and say so; None where it holds nothing.

    It may be killed at any point, and called again. Of two sessions that do so at the same time each sees that the
    other one is leaving: what both hold is put back twice. Raises ClusterError and TransportError.
    """
    holder = (await _holders(shell)).get(owner) if _OWNER.fullmatch(owner) else None
    if holder is None:
        return None
    await _run(shell, quiet.keep_argv(owner, replace(holder, is_leaving=True)))
    holders, osd_map = await _holders(shell), await _osd_map(shell)
    others = {key: other for key, other in holders.items() if key != owner and not other.is_leaving}
    stays = holder.items.intersection(item for other in others.values() for item in other.items)
    for argv in (argv for item in sorted(holder.items - stays) for argv in quiet.put_back_argvs(item, osd_map)):
        await _run(shell, argv)
    await _run(shell, quiet.forget_argv(owner))
    return _said(holder.items - stays, stays, others)


def _said(back: frozenset[str], stays: frozenset[str], others: Mapping[str, Holder]) -> str:
    texts = [f"as before: {quiet.in_words(back, 'cleared', 'on again')}"] if back else []
    if stays:
        since = min(other.since for other in others.values() if other.items & stays)
        stay = quiet.in_words(stays, "still set", "still off")
        texts.append(
            f"{stay} for another session of cephtui since {since}: at its end, or by cephtui cleanup, as before"
        )
    return "; ".join(texts)


async def _osd_map(shell: Shell) -> OsdMap:
    return await ClusterReader(shell).ask(reader.OSD_MAP)


async def _holders(shell: Shell) -> Mapping[str, Holder]:
    return await ClusterReader(shell).ask(_HOLDERS)


async def _run(shell: Shell, argv: tuple[str, ...]) -> None:
    done = await shell.ceph(argv)
    if done.status != 0:
        denied = answers.is_denied(done.status, done.stderr)
        why = "no permission" if denied else failure_reason(done)
        raise ClusterError(f"{' '.join(argv[:4])}: {why}", NEEDS_ADMIN if denied else "", denied=denied)
