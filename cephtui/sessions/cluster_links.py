"""The links that were measured between the hosts of a cluster, kept with the cluster for runs of any session.

Format: ``clusters/FSID.jsonl`` beside the directory of the sessions; a line is a ``ClusterLink``. Which of those
between the same hosts counts for a run is decided in ``analysis.detectors.network``.
"""

from __future__ import annotations

import re
from pathlib import Path

from cephtui.analysis.runs.links import cluster_links
from cephtui.models import ClusterLink, Run
from cephtui.paths import make_private
from cephtui.reading import open_to_append
from cephtui.sessions.jsonlines import as_json
from cephtui.sessions.store import readable_lines

_FSID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def keep_links(root: Path, run: Run, fsid: str) -> None:
    """Keep the links that a run has measured, one direction at a time, if the cluster is known; raises OSError."""
    links = cluster_links(run)
    path = _file(root, fsid)
    if path is None or not links:
        return
    make_private(path.parent)
    with open_to_append(path) as file:
        file.write("".join(f"{as_json(link)}\n" for link in links).encode())


def kept_links(root: Path, run: Run) -> list[ClusterLink]:
    """All that was measured of the links of a run's cluster; none where the cluster is not known."""
    path = _file(root, (run.cluster and run.cluster.fsid) or "")
    return list(readable_lines(path, ClusterLink)) if path else []


def _file(root: Path, fsid: str) -> Path | None:
    return root.parent / "clusters" / f"{fsid}.jsonl" if _FSID.fullmatch(fsid) else None
