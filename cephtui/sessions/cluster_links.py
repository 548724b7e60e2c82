"""The links that were measured between the hosts of a cluster, kept with the cluster for runs of any session.

Format: ``clusters/FSID.jsonl`` beside the directory of the sessions; a line is a ``ClusterLink``, and of those between
the same hosts the last one counts.
"""

from __future__ import annotations

import re
from pathlib import Path

from cephtui.analysis.runs.batches import host_name
from cephtui.analysis.runs.links import links_of
from cephtui.models import ClusterLink, Run
from cephtui.paths import make_private
from cephtui.reading import open_to_append
from cephtui.sessions.jsonlines import as_json
from cephtui.sessions.store import readable_lines

_FSID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def keep_links(root: Path, run: Run, fsid: str) -> None:
    """Keep the links that a run has measured, one direction at a time, if the cluster is known; raises OSError."""
    links = [
        ClusterLink(
            source=host_name(run, link.source),
            destination=host_name(run, link.destination),
            network=link.network,
            bandwidth_bytes=link.bandwidth_bytes,
            session=run.session,
            run=run.run,
            measured_at=run.started_at,
        )
        for link in links_of([run])
        if not link.is_bidirectional
    ]
    path = _file(root, fsid)
    if path is None or not links:
        return
    make_private(path.parent)
    with open_to_append(path) as file:
        file.write("".join(f"{as_json(link)}\n" for link in links).encode())


def kept_links(root: Path, run: Run) -> list[ClusterLink]:
    """The newest measurement of each link of a run's cluster; none where the cluster is not known."""
    path = _file(root, (run.cluster and run.cluster.fsid) or "")
    links = readable_lines(path, ClusterLink) if path else ()
    return list({(link.source, link.destination, link.network): link for link in links}.values())


def _file(root: Path, fsid: str) -> Path | None:
    return root.parent / "clusters" / f"{fsid}.jsonl" if _FSID.fullmatch(fsid) else None
