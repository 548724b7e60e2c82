"""An example of each kind of finding, as it is explained: its values, and from when to when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cephtui.models.findings import KINDS, Finding
from cephtui.models.findings.kind import Value

_LATE_OSD: Mapping[str, Value] = {
    "cause": "osd.2 was slow: it answered 8 of 20 requests for its counters only after 100 ms or more",
    "cause_code": "slow-osd",
}
_VALUES: Mapping[str, Sequence[Mapping[str, Value]]] = {
    "slow-link": (
        {"link": "pve1 to pve3", "rate_bytes": 36e6, "others": 1.1e9},
        {"link": "pve1 to pve2", "rate_bytes": 36e6, "nic": 1.25e9},
    ),
    "incomplete": (
        {"measured_seconds": 12.0, "wanted_seconds": 60.0},
        {"measured_seconds": 60.0, "wanted_seconds": 60.0},
        {"measured_seconds": 12.0},
        {"log": True},
        {"in_ramp": True},
        {},
    ),
    "short": (
        {"measured_seconds": 3.0},
        {"measured_seconds": 1.2, "by_its_data": True},
        {"measured_seconds": 21.0, "wanted_seconds": 60.0, "objects": 1000},
    ),
    "not-settled": (
        {"figure": "IOPS", "before": 1000.0, "after": 600.0, "whole": 800.0, "settled": 600.0},
        {"figure": "IOPS", "before": 20.0, "after": 600.0, "whole": 400.0, "settled": 600.0},
        {
            "figure": "IOPS",
            "before": 1000.0,
            "after": 600.0,
            "whole": 800.0,
            "settled": 600.0,
            "cause": "recovery of up to 477 MiB/s from 0:16 to 0:40",
            "cause_code": "recovery",
        },
    ),
    "above-ceiling": (
        {
            "limit": "network",
            "direction": "write",
            "metric": "bandwidth_bytes",
            "measured": 30e6,
            "at_most": 9.6e6,
            "basis": "from 1 of 3 OSD hosts, size 2, pve1 sends: 76.5 Mbit/s to pve2",
        },
        {
            "limit": "OSDs",
            "direction": "write",
            "measured": 3e8,
            "at_most": 2e8,
            "basis": "3 OSDs, what each wrote in #1",
        },
    ),
    "collapse": (
        {"figure": "IOPS", "before": 540.0, "after": 22.0, "mark": "backup begun", "marked_seconds": 15.0},
        {"figure": "bandwidth", "before": 540e6, "after": 22e6, "unexplained": True},
    ),
    "dip": (
        {
            "figure": "IOPS",
            "before": 540.0,
            "after": 270.0,
            "beside": ("recovery of up to 477 MiB/s from 0:12 to 0:40",),
        },
        {"figure": "bandwidth", "before": 540e6, "after": 270e6},
    ),
    "saw": (
        {"figure": "IOPS", "high": 540.0, "low": 270.0, "period_seconds": 6.0},
        {"figure": "IOPS", "high": 540.0, "low": 270.0, "period_seconds": 6.0, **_LATE_OSD},
    ),
    "deviation": (
        {"figure": "IOPS", "share_percent": 62.0},
        {"figure": "IOPS", "share_percent": 62.0, **_LATE_OSD},
    ),
    "ramp": (
        {"figure": "IOPS", "first_seconds": 5.0, "first": 1350.0, "rest": 1000.0},
        {"figure": "bandwidth", "first_seconds": 5.0, "first": 4e8, "rest": 6e8},
    ),
    "stalled": (
        {"seconds": 4.0, "everywhere": True, "mark": "osd.1 frozen", "marked_seconds": 16.0},
        {"seconds": 4.0, "nodes": ("pve1", "pve2"), "to_the_end": True},
        {"seconds": 4.0, "unexplained": True},
        {"seconds": 4.0, "slow_osd": "osd.0", "slow_seconds": 9.14, "slow_stage": "throttled", "stage_seconds": 7.68},
        {
            "seconds": 4.0,
            "beside": ("recovery of up to 477 MiB/s from 0:12 to 0:40", "osd.2 was down during the whole run"),
        },
        {"seconds": 9.0, "times": 2},
        {"seconds": 3.0, "times": 1},
    ),
    "stuck": ({"seconds": 25.0}, {"seconds": 25.0, "writes": True}),
    "in-flight": ({"missing_ios": 64, "ios": 1500}, {"missing_ios": -1, "ios": 40}),
    "overrun": ({"measured_seconds": 95.0, "wanted_seconds": 60.0},),
    "rate-limited": ({"options": "target-throughput=1G"},),
    "rate-set": ({"options": "rate_iops=50"},),
    "no-seconds": ({"seconds": 20.0},),
    "unreadable": ({"reports": 2},),
    "errors": (
        {"operation": "PUT", "failed": 1},
        {"operation": "PUT", "failed": 7, "why": "QuotaExceeded", "threads": 8, "threads_least": 1, "threads_most": 2},
        {"operation": "PUT", "failed": 24, "threads": 8, "threads_least": 8, "threads_most": 8},
    ),
    "failed-ops": (
        {"operation": "GET", "failed": 1200, "share_percent": 12.5, "figures": "latency"},
        {"operation": "GET", "failed": 3, "share_percent": 0.2, "figures": "latency and bandwidth", "why": "NoSuchKey"},
    ),
    "thin": ({"image": "bench/vm-101-disk-0", "share_percent": 38.0},),
    "holes": ({}, {"path": "/dev/vg/thin", "share_percent": 38.0}),
    "unverified": ({}, {"why": "0.3 % of it was never written"}),
    "librbd-cache": (
        {"option": "rbd-cache=true"},
        {"option": "direct=0"},
        {"option": "rbd_cache=true", "image": "bench/vm-101-disk-0"},
        {"option": "rbd_persistent_cache_mode=ssd", "pool": "bench"},
    ),
    "memory": ({"file_system": "tmpfs"},),
    "file-system-cache": ({"file_system": "zfs"}, {"file_system": "loop3 (loop device without direct-io)"}),
    "cache-device": ({"caches": "vg-data (dm-cache), bcache0 (bcache, writeback)"},),
    "caches": ({"problem": "the page cache of pve1 was not dropped: Permission denied"},),
    "working-set": (
        {"working_set_bytes": 64 << 20, "cache_bytes": 12 << 30},
        {"working_set_bytes": 40 << 30, "cache_bytes": 12 << 30, "hot_bytes": 1 << 30, "hot_share": 0.025},
    ),
    "zeros-compressed": ({"pool": "bench"},),
    "compressible": ({"options": "buffer_compress_percentage=90"},),
    "compressed": ({"options": "buffer_compress_percentage=90", "pool": "bench"},),
    "space": ({"pool": "bench"}, {"pool": "bench", "by_osd": True}),
    "residue": ({"osd": 3, "count_bytes": 1073741824, "block_bytes": 4194304},),
    "depth": ({"iodepth": 64, "ioengine": "psync"},),
    "one-thread": (
        {"busy_percent": 90, "where": "on the node", "version": "3.12"},
        {"busy_percent": 90, "where": "on the target"},
    ),
    "slow-job": (
        {
            "job": "osd.2",
            "place": "pve3 sdb",
            "group": "hdd",
            "direction": "write",
            "rate_bytes": 64e6,
            "fraction": 0.38,
        },
    ),
    "slow-node": (
        {"node": "pve2", "figure": "IOPS", "rate": 37.0, "others": 173.0, "nodes": 3},
        {"node": "pve2", "figure": "bandwidth", "rate": 37e6, "others": 173e6, "nodes": 2},
        {"slow_nodes": ("pve2", "pve5"), "figure": "IOPS", "rate": 37.0, "others": 173.0, "nodes": 5},
    ),
    "mtu": ({"nodes": ("pve1 9000", "pve2 9000", "pve3 1500")},),
    "krbd": ({"kernel": "6.8.12"},),
    "network-unknown": ({"node": "pve1"},),
    "unkillable": ({"process": "pve1: process 4711 (fio) can't be ended"},),
    "console": ({},),
    "cpu-taken": (
        {"node": "pve1", "busy_ratio": 0.994, "others_ratio": 0.72},
        {
            "node": "pve1",
            "busy_ratio": 0.994,
            "others_ratio": 0.72,
            "things": ("CPU of pve1 shared", "CPU of pve2 shared"),
            "number": 5,
        },
    ),
    "client-cpu": ({"node": "pve1", "busy_ratio": 0.994, "own_ratio": 0.81},),
    "steal": ({"node": "pve1", "ratio": 0.12},),
    "memory-wanted": ({"node": "pve1", "ratio": 0.34, "pages": 12345},),
    "retransmits": ({"node": "pve1", "resent": 1234, "sent": 30000},),
    "disordered": ({"node": "pve1", "disordered": 1234, "received": 30000},),
    "qos-limit": ({"basis": "rbd_qos_iops_limit 500, 8 images"},),
    "debug-levels": ({"options": ("osd debug_osd 20/20", "osd.3 debug_bluestore 10/10")},),
    "round-trip": (
        {"node": "pve1", "addresses": ("10.0.0.5",), "far": 1, "seconds": 2.1e-3, "mean_seconds": 8e-4, "others": 1e-4},
        {"node": "pve1", "addresses": ("10.0.0.5", "10.0.0.6"), "far": 3, "seconds": 2.1e-3, "mean_seconds": 2e-3},
    ),
    "nic-drops": ({"node": "pve1", "nics": ("eth0", "eth1"), "number": 1200, "packets": 300000},),
    "nic-errors": ({"node": "pve1", "nics": ("eth0",), "number": 23, "packets": 0},),
    "throttled": ({"node": "pve1", "times": 12, "seconds": 4.0}, {"node": "pve1", "times": 12}),
    "cpu-quota": ({"node": "pve1", "times": 120, "seconds": 14.2},),
    "kernel-errors": ({"node": "pve1", "lines": ("[4711.1] I/O error, dev sdb, sector 8", "[4712.5] sdb: gone")},),
    "clock": (
        {"node": "pve1", "by_seconds": 300.0, "is_ahead": True},
        {"node": "pve1", "by_seconds": 300.0, "is_ahead": False},
    ),
    "clock-step": (
        {"node": "pve1", "by_seconds": 3.0, "is_ahead": True},
        {"node": "pve1", "by_seconds": 3.0, "is_ahead": False},
    ),
    "node-ended": ({"node": "pve2", "why": "fio was killed (SIGKILL)"},),
    "left-changed": (
        {"session": "tuning", "command": "ceph osd set noscrub", "is_in_place": True},
        {"session": "tuning", "command": "ceph osd set noscrub", "is_in_place": False},
    ),
    "health-speed": (
        {"status": "HEALTH_WARN", "details": ("1 osds down", "Degraded data redundancy")},
        {"status": "HEALTH_WARN"},
    ),
    "health-other": ({"status": "HEALTH_WARN", "details": ("1 pool(s) do not have an application enabled",)},),
    "osds": ({"osds": 1, "of": 12},),
    "osd-down": ({"osd": "osd.2", "times": 2}, {"osds": 2, "of": 12, "early": True}),
    "osd-out": ({"osd": "osd.2", "to_the_end": True}, {"things": ("osd.1 out", "osd.2 out"), "number": 5}),
    "pgs": ({"pgs": 1, "of": 32}, {"pgs": 9, "of": 32, "details": ("9 active+undersized",), "degraded": True}),
    "pgs-inactive": ({"pgs": 4, "of": 32, "details": ("4 peering",)},),
    "pgs-mostly-inactive": ({"pgs": 4, "of": 32, "early": True, "to_the_end": True},),
    "pgs-split": ({"before": 32, "after": 64}, {"before": 64, "after": 32, "pool": "bench"}),
    "autoscale": ({"pool": "bench"},),
    "recovery": ({"rate_bytes": 64e6},),
    "scrub": ({"pgs": 2, "of": 32, "scrubbed": "deep-scrubbed"},),
    "snaptrim": ({"pgs": 2, "of": 32},),
    "flag": ({"flag": "noscrub"}, {"flag": "pauserd"}),
    "slow-ops": ({"operations": 12},),
    "slow-osd": (
        {"osd": "osd.2", "seconds": 0.023, "others": 0.01},
        {
            "osd": "osd.2",
            "seconds": 0.023,
            "others": 0.01,
            "part": "commit",
            "part_seconds": 0.02,
            "part_others": 0.007,
        },
        {
            "osd": "osd.2",
            "seconds": 0.023,
            "others": 0.01,
            "part": "read",
            "part_seconds": 0.0064,
            "part_others": 0.0002,
        },
        {
            "osd": "osd.2",
            "seconds": 0.023,
            "others": 0.01,
            "part": "queue",
            "part_seconds": 0.012,
            "part_others": 0.0003,
        },
        {"osds": ("osd.1", "osd.4"), "seconds": 0.023, "others": 0.01},
        {"osd": "osd.2", "part": "commit", "commit_seconds": 0.013, "others": 0.003},
        {"osds": ("osd.1", "osd.4"), "part": "commit", "commit_seconds": 0.013, "others": 0.003},
        {"osd": "osd.2", "late": 8, "answers": 20, "late_seconds": 0.1},
        {"osds": ("osd.1", "osd.4"), "late": 15, "answers": 40, "late_seconds": 0.1},
        {"osd": "osd.2", "answer_seconds": 0.041, "others": 0.01},
        {"osds": ("osd.1", "osd.4"), "answer_seconds": 0.041, "others": 0.01},
    ),
    "busy-osd": (
        {"osd": "osd.2", "seconds": 0.028, "others": 0.011, "share": 0.4, "more": 1.33},
        {"osd": "osd.0", "seconds": 0.188, "others": 0.008, "objects": 8},
    ),
    "mclock-capacity": (
        {"osd": "osd.3", "option": "osd_mclock_max_capacity_iops_ssd", "iops": 310.0, "others": 21500.0},
        {"osds": ("osd.3", "osd.7"), "option": "osd_mclock_max_capacity_iops_hdd", "iops": 12.0, "default": 315.0},
    ),
    "classes-mixed": ({"pool": "vms", "classes": ("8 ssd", "4 hdd")},),
    "few-osds": ({"pool": "vms", "osds": 3, "of": 12}, {"pool": "vms", "osds": 1, "of": 12, "primaries": True}),
    "bluestore-throttle": ({"seconds": 0.0121, "commit_seconds": 0.014},),
    "slow-commits": ({"seconds": 0.0068, "osds": 12, "device_class": "ssd"},),
    "osd-pings": (
        {"osd": "osd.3", "pair": ("osd.3", "osd.1"), "networks": ("cluster", "public"), "seconds": 0.081, "pairs": 2},
        {"pair": ("osd.0", "osd.1"), "networks": ("cluster",), "seconds": 0.031, "pairs": 4},
    ),
    "low-limits": ({"options": ("osd bluestore_throttle_bytes 32768 (default 67108864)",)},),
    "monitors": ({"missing": 1, "of": 3},),
    "other-clients": ({"iops": 2400.0, "rate_bytes": 9.8e6, "share": 0.62}, {"rate_bytes": 200e6}),
    "message-cap": (
        {"share": 0.23, "cap": 256, "osds": 3, "in_flight": 1536},
        {"share": 0.23, "size_cap_bytes": 1 << 20, "osds": 3, "in_flight": 1536},
    ),
    "cluster-silent": ({}, {"why": "the program ended", "to_the_end": True}),
    "raw-cut": (
        {"output": "pve1.stdout", "stored_bytes": 1 << 20, "said_bytes": 9 << 20, "end_bytes": 64 << 10, "others": 2},
    ),
    "partly-saved": ({"why": "No space left on device"},),
    "unsaved": ({"why": "No space left on device"},),
}
"""By code, the values for each form that the words can have; a kind that is missing here has no values."""
_BEFORE: Mapping[str, Sequence[Mapping[str, Value]]] = {
    "node-ended": ({"node": "pve2", "why": "the connection was lost"},),
    "osd-down": ({"osds": 1, "of": 12, "details": ("osd.2",)},),
    "pgs": ({"pgs": 4, "of": 32, "details": ("4 active+undersized+degraded",)},),
    "recovery": ({"degraded_ratio": 0.02, "misplaced_ratio": 0.11, "rate_bytes": 64e6},),
    "scrub": ({"pgs": 1, "of": 32},),
    "snaptrim": ({"pgs": 1, "of": 32},),
}
"""By code, the values of kinds that are also observed in the state before a run."""
_AT_A_TIME = {
    *(
        "not-settled",
        "collapse",
        "dip",
        "saw",
        "deviation",
        "stalled",
        "console",
        "node-ended",
        "health-speed",
        "health-other",
        "osd-down",
        "osd-out",
        "pgs",
    ),
    *("pgs-inactive", "pgs-mostly-inactive", "pgs-split", "recovery", "scrub", "snaptrim", "flag", "slow-ops"),
    *("monitors", "other-clients", "message-cap", "cluster-silent"),
    *("cpu-taken", "steal", "memory-wanted", "retransmits", "disordered", "nic-drops", "nic-errors", "clock-step"),
}


def example_findings(code: str) -> tuple[Finding, ...]:
    """One finding for each form that the words of a kind can have; raises KeyError for an unknown code."""
    kind = KINDS[code]
    span = (16.0, 20.0) if code in _AT_A_TIME else None
    return (
        *(kind.found(span, **values) for values in _VALUES.get(code, ({},))),
        *(kind.found(**values) for values in _BEFORE.get(code, ())),
    )
