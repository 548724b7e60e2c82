"""What was measured of a cluster, kept on this machine for runs of any session.

Format: ``clusters/FSID.jsonl`` beside the directory of the sessions. A line is a ``ClusterLink``, an ``OsdRates``, or a
``Run`` with one I/O in flight, without what says nothing of its latency. Which of them count for a run is decided in
``analysis.detectors``.
"""

from __future__ import annotations

import re
from pathlib import Path

from cephtui.analysis.detectors.ceiling import ClusterRecords, one_in_flight
from cephtui.analysis.detectors.osd_limit import osd_rates
from cephtui.analysis.runs.links import cluster_links
from cephtui.models import ClusterLink, Model, Run
from cephtui.models.nodes import OsdRates
from cephtui.paths import make_private
from cephtui.reading import open_to_append
from cephtui.sessions.jsonlines import as_json
from cephtui.sessions.store import readable_lines
from cephtui.writing import write_whole

_FSID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_MOST_BYTES = 4 << 20
"""Bytes of a file from which on its older half is given up: what is old counts for no run."""


def keep_records(root: Path, run: Run, fsid: str = "") -> None:
    """Keep what a run has measured of its cluster, if that is known; raises OSError.

    ``fsid`` is that of a link, whose run has no cluster.
    """
    path = _file(root, fsid or _fsid_of(run))
    measured: list[Model | None] = [*cluster_links(run), osd_rates(run), one_in_flight(run)]
    lines = "".join(f"{as_json(record)}\n" for record in measured if record).encode()
    if path is None or not lines:
        return
    make_private(path.parent)
    with open_to_append(path) as file:
        file.write(lines)
    if path.stat().st_size > _MOST_BYTES:
        kept = path.read_bytes().splitlines(keepends=True)
        write_whole(path, b"".join(kept[len(kept) // 2 :]))


def kept_records(root: Path, fsid: str | None) -> ClusterRecords:
    """All that was measured of a cluster; nothing where it is not known."""
    path = _file(root, fsid or "")
    if path is None:
        return ClusterRecords()
    return ClusterRecords(
        links=tuple(readable_lines(path, ClusterLink)),
        osds=tuple(readable_lines(path, OsdRates)),
        alone=tuple(readable_lines(path, Run)),
    )


def _fsid_of(run: Run) -> str:
    return (run.cluster and run.cluster.fsid) or ""


def _file(root: Path, fsid: str) -> Path | None:
    return root.parent / "clusters" / f"{fsid}.jsonl" if _FSID.fullmatch(fsid) else None
