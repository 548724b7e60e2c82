"""By what output and commands of benchmarks are known where no tool finds a run in them.

Those of a tool stand in its ``saved``; here are those of programs that are none of cephtui's tools. To add one: its
row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

from cephtui.tools.logs import Finder

SignKind: TypeAlias = Literal["output", "begun", "error", "command"]


class Sign(NamedTuple):
    """How a line begins, behind the blanks, by which it is known."""

    kind: SignKind
    pattern: str
    which: str = ""
    """The kind of output, where none such can be read: ``iperf3 over UDP``."""


class Saved(NamedTuple):
    """How saved output of a tool is read, and by what it is known where no run is found in it."""

    find: Finder
    signs: Sequence[Sign]
    """The first that matches counts."""
    command: tuple[str, str] | None = None
    """The program, and a pattern of what is in a command of it that runs a benchmark."""
    files: Sequence[tuple[str, str]] = ()
    """As PROGRAMS, of which output of the tool the whole of a file is."""


OTHERS: Sequence[tuple[str, str]] = (
    ("netperf", r"(?:MIGRATED )?(?:TCP|UDP)[ _]\w+.* TEST from "),
    ("iperf 2", r"\[ *\d+\] +\d+\.\d- *\d+\.\d sec +[\d.]+ [KMGT]?Bytes"),
    ("hdparm", r"Timing (?:O_DIRECT |buffered |cached )*(?:disk )?reads:"),
    ("elbencho", r"OPERATION +RESULT TYPE +FIRST DONE"),
    ("warp", r"Operation: (?:PUT|GET|DELETE|STAT|LIST)\b"),
    ("sysbench", r"sysbench \d+\.\d"),
    ("pveperf", r"FSYNCS/SECOND:"),
    ("bonnie++", r"Version +\d\S* +-+Sequential"),
    ("CrystalDiskMark", r"CrystalDiskMark \d"),
    ("IOR", r"IOR-[\d.]+|access +bw\(MiB/s\)"),
    ("iozone", r"(?:kB|KB) +reclen +write"),
    ("smallfile", r"hosts in test :"),
    ("s3-benchmark", r"Wasabi benchmark program"),
)
"""Of programs that are none of cephtui's tools: the name, and how a line of output begins."""
PROGRAMS: Sequence[tuple[str, str]] = (
    ("elbencho", r"\belbencho\b"),
    ("warp", r"(?m)^warp: |\bwarp (?:get|put|mixed|analyze)\b"),
    ("sysbench", r"\bsysbench \S*(?:fileio|oltp|--)"),
    ("bonnie++", r"(?i)\bbonnie\+\+"),
    ("iozone", r"(?i)\biozone\b"),
    ("CrystalDiskMark", r"\bCrystalDiskMark\b"),
    ("vdbench", r"(?i)\bvdbench\b"),
    ("smallfile", r"\bsmallfile(?:_cli)?\b"),
    ("mdtest", r"\bmdtest\b"),
    ("s3-benchmark", r"\bs3-benchmark\b"),
    ("COSBench", r"(?i:\bcosbench\b)|<workload\b[^>]{0,400}>\s*(?:<auth\b[^>]{0,400}>\s*)?<storage\b"),
    ("DISKSPD", r"(?i)\bdiskspd\b"),
    ("Prometheus", r"(?m)^# (?:HELP|TYPE) \w+ |\"resultType\"\s*:\s*\"(?:matrix|vector)\""),
    ("ceph -s", r"(?m)^cluster: *\n *id: +[0-9a-f-]{36}|\"fsid\"\s*:[\s\S]{0,100}\"health\"\s*:"),
    ("ceph osd perf", r"(?m)^osd +commit_latency(?:\(ms\))? +apply_latency|\"osd_perf_infos\""),
    ("ceph osd df or tree", r"(?m)^ID +CLASS +WEIGHT +(?:REWEIGHT +SIZE|TYPE NAME)"),
    ("ceph df", r"(?m)^--- RAW STORAGE ---|^GLOBAL: *\n *SIZE +AVAIL"),
    ("iostat", r"(?m)^Device:? +.*(?:r/s|tps|rkB/s)\b"),
    ("blktrace", r"(?m)^\d+,\d+ +\d+ +\d+ +\d+\.\d{9} +\d+ +[A-Z]+ +[A-Z]+ "),
    ("vmstat", r"(?m)^procs -+memory-+"),
    ("sar", r"(?m)^Linux \d[\w.+-]+ \(.*\) .*\n\n\d\d:\d\d:\d\d"),
)
"""By what the whole of a file is known in which nothing else is, as of a program that is no benchmark, or a word that
other text may have, too: the program, and a pattern. The first that matches counts.
"""
