"""How each tool is run where it loses its console, its session, its link or its own process: a row for each tool.

    pytest tests/on_lab/test_lost.py -k NAME

runs all of them for one tool.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cephtui.frozen import dataclass
from tests.end_to_end.sandbox import ENDLESS


@dataclass(frozen=True, slots=True)
class Row:
    """A gentle and long run of a tool, on one node."""

    preset: str
    target: str
    """``{pool}`` in it is the lab's pool, ``{name}`` another text for each run, ``{other}`` another node, ``{gateway}``
    the endpoint of the lab's S3."""
    program: str
    """What measures: the first word of its command on the node, or the script that is the second; then others of it."""
    options: Mapping[str, Any]
    made: str = ""
    """How what it has on the undo list begins; empty where it makes nothing."""
    ships_with_ceph: bool = False
    """Whether the program runs behind the node's ``ceph_prefix``."""
    gone_seconds: float = 20.0
    """However its console is lost, nothing of it is left on the node after so long."""
    in_container: bool = False
    """Whether it runs in a container too: once for each of the two prefixes of a node is enough."""


ROWS: Mapping[str, Row] = {
    "fio": Row(
        preset="mixed-75-25",
        target="rbd:{pool}",
        program="fio",
        options={"size": "4M", "numjobs": 1, "runtime": ENDLESS, "ramp_time": 0, "rate_iops": 20},
        made="rbd:{pool}/cephtui-",
        in_container=True,
    ),
    "rados-bench": Row(
        preset="rados-write",
        target="pool:{pool}",
        program="rados",
        options={"runtime": ENDLESS, "block-size": "64K", "concurrent-ios": 1},
        made="pool:{pool}/cephtui-",
        ships_with_ceph=True,
        in_container=True,
    ),
    "ioping": Row(
        preset="ping",
        target="file:/var/tmp/cephtui-{name}",
        program="ioping",
        options={"runtime": ENDLESS, "work-size": "1M"},
        made="file:/var/tmp/cephtui-{name}",
    ),
    "dd": Row(
        preset="dd-write",
        target="file:/var/tmp/cephtui-{name}",
        program="dd",
        options={"bs": "512", "size": "1G"},
        made="file:/var/tmp/cephtui-{name}",
    ),
    "rbd-bench": Row(
        preset="rbd-bench-write",
        target="rbd:{pool}",
        program="rbd",
        options={"runtime": ENDLESS, "io-threads": 1, "size": "4M"},
        made="rbd:{pool}/cephtui-",
        ships_with_ceph=True,
    ),
    "load-gen": Row(
        preset="load-gen",
        target="new-pool:pg=1,size=1",
        program="rados",
        options={
            "runtime": ENDLESS,
            "num-objects": 2,
            **dict.fromkeys(("min-object-size", "max-object-size"), "1M"),
            **dict.fromkeys(("min-op-len", "max-op-len", "target-throughput"), "64K"),
        },
        made="new-pool:cephtui-",
        ships_with_ceph=True,
    ),
    "iperf3": Row(
        preset="network",
        target="host:{other}",
        program="iperf3",
        options={"runtime": ENDLESS, "parallel": 1, "window": "4K", "omit": 0},
        gone_seconds=40.0,  # its server, on another node, is ended by the console once that has missed the client
    ),
    "osd-bench": Row(
        preset="osd-write",
        target="osd:0",
        program="python3 cephtui-osd-bench",
        options={"runtime": ENDLESS, "block-size": "4K"},
        ships_with_ceph=True,
    ),
    "hsbench": Row(
        preset="s3-put-get-delete",
        target="s3:{gateway}",
        program="hsbench",
        options={"runtime": ENDLESS, "size": "16K", "threads": 1},
        made="s3:{gateway}/user:cephtui-",
    ),
    "gosbench": Row(
        preset="s3-mixed",
        target="s3:{gateway}",
        program="worker",
        options={"runtime": ENDLESS, "size_min": "16K", "objects": 10, "buckets": 1, "parallel_clients": 1},
        made="s3:{gateway}/user:cephtui-",
    ),
}
