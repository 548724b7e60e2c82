"""The slowest operations of a run: its OSDs are asked for theirs as it ends."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Iterable

from cephtui.ceph.slow_operations import SlowOperation
from cephtui.cluster import reader
from cephtui.cluster.reader import ClusterReader
from cephtui.models import SlowestOperation, Step
from cephtui.models.plan import RadosPlace, RbdPlace
from cephtui.nodes.shell import NodeShell
from cephtui.nodes.transport import TransportError

OSDS_MOST, IMAGES_MOST, KEPT = 64, 8, 3
"""More OSDs are not asked, of more images the ids are not, and more operations are not kept of the run's own."""
_ASKED_SECONDS = 10.0
_CLOCKS_SECONDS = 1.0
"""The clocks of the hosts of OSDs may be so far from the console's; a shorter ramp tells less from the prefill."""
log = logging.getLogger(__name__)


async def slowest_operations(
    shell: NodeShell, step: Step, osds: Collection[str], begun: float
) -> tuple[SlowestOperation, ...]:
    """The slowest of what was measured on OSDs of these ids; none where they can't be asked, or there are too many.

    ``begun`` is when the benchmark was released, in seconds since 1970.
    """
    if not osds or len(osds) > OSDS_MOST:
        return ()
    cluster = ClusterReader(shell)
    queries = [reader.slow_operations(f"osd.{osd}") for osd in osds]
    try:
        async with asyncio.timeout(_ASKED_SECONDS):
            await cluster.fetch(*queries)
            answers = [await cluster.optional(query) or () for query in queries]
            ids = await _image_ids(cluster, step)
    except (TransportError, TimeoutError) as error:
        log.warning("the slowest operations are not known: %s", error)
        return ()
    measured = begun + step.ramp_seconds - min(_CLOCKS_SECONDS, step.ramp_seconds / 2)
    operations = [one for answer in answers for one in answer if one.begun >= measured]
    return kept(((one, _is_own(one, step, ids)) for one in operations), begun)


def kept(operations: Iterable[tuple[SlowOperation, bool | None]], begun: float) -> tuple[SlowestOperation, ...]:
    """The slowest of those that an OSD did as the primary: some that are the run's own, or may be, and one of others.

    ``begun`` is when the benchmark was released, in seconds since 1970.
    """
    slowest = sorted((pair for pair in operations if not pair[0].is_replica), key=lambda pair: -pair[0].seconds)
    own = [pair for pair in slowest if pair[1] is not False][:KEPT]
    others = [pair for pair in slowest if pair[1] is False][:1]
    return tuple(
        SlowestOperation(
            osd=one.osd,
            seconds=one.seconds,
            stages=dict(one.stages),
            at_seconds=round(one.begun - begun, 3),
            own=is_own,
        )
        for one, is_own in (*own, *others)
    )


async def _image_ids(cluster: ClusterReader, step: Step) -> frozenset[str]:
    """The ids of the run's images; none where there are none, or too many to ask for all."""
    places = [node.place for node in step.nodes if isinstance(node.place, RbdPlace)]
    images = [(place.pool, name) for place in places for name in place.images]
    if not 0 < len(images) <= IMAGES_MOST:
        return frozenset()
    found = await asyncio.gather(*(cluster.optional(reader.image_info(*image)) for image in images))
    return frozenset(info.prefix.rpartition(".")[2] for info in found if info and info.prefix)


def _is_own(operation: SlowOperation, step: Step, ids: Collection[str]) -> bool | None:
    """Whether an operation is the run's; None where that can't be told."""
    places = [node.place for node in step.nodes]
    if ids:
        is_own = any(image_id in operation.object for image_id in ids)  # its header has the id, too
        return is_own or (False if operation.image_id else None)
    namespaces = {place.namespace for place in places if isinstance(place, RadosPlace)}
    return operation.namespace in namespaces if namespaces else None
