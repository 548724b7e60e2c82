"""By what output and commands of benchmarks are known where no tool finds a run in them. To add one: its row."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

Kind: TypeAlias = Literal["output", "begun", "error", "command"]


class Sign(NamedTuple):
    """How a line begins, behind the blanks, by which it is known."""

    tool: str
    """A tool's name, or what a program is called that is none of cephtui's tools."""
    kind: Kind
    pattern: str
    which: str = ""
    """Which output of the tool it is, if none such can be read: ``iperf3 over UDP``."""


SIGNS: Sequence[Sign] = (
    Sign("fio", "output", r"\S.{0,199}: \(groupid=\d"),
    Sign("fio", "output", r"(?:read|write|trim|mixed) *: *(?:IOPS|io|bw)="),
    Sign("fio", "output", r"(?:READ|WRITE|TRIM|MIXED): (?:bw|io)="),
    Sign("fio", "output", r'(?:\{ ?)?"fio version"', "fio that is no whole JSON"),
    Sign("fio", "output", r"\d;fio-\d"),
    Sign("fio", "begun", r"\S.{0,199}: \(g=\d+\): rw="),
    Sign("fio", "error", r"fio: (?:pid=|engine |failed |unable |job |bad |.*(?:\berr|not loadable|No such|denied))"),
    Sign("fio --write_*_log", "output", r"\d+, +\d+, +[012], +\d+(?:, +\d+)*$",
         "fio --write_*_log without that of its run"),
    Sign("rados-bench", "output", r"(?:Total time run|Total (?:writes|reads) made|Average IOPS) *: *\d"),
    Sign("rados-bench", "output", r"Bandwidth \(MB/sec\) *: *\d"),
    Sign("rados-bench", "output", r"\d+ +\d+ +\d+ +\d+ +\d[\d.]* +\d[\d.]* +(?:-|\d\S*) +\d\S*$"),
    Sign("rados-bench", "output", r"\{?\"(?:sec|cur_ops|total_time_run)\""),
    Sign("rados-bench", "begun", r"Maintaining \d+ concurrent \w+ of \d+ bytes"),
    Sign("rados-bench", "error", r"error during benchmark|Must write data before"),
    Sign("rbd-bench", "output", r"bench(?:-write|-read)? +(?:type|io_size) |SEC +OPS +OPS/SEC"),
    Sign("rbd-bench", "output", r"elapsed: +\d+ +ops: ", "rbd bench without its first line"),
    Sign("osd-bench", "output", r'(?:osd\.\d+: *)?\{?\s*"bytes_written"|bench: wrote \d'),
    Sign("iperf3", "begun", r"Connecting to host \S+, port \d"),
    Sign("iperf3", "output", r'\[ *ID\] Interval .*Total Datagrams|"protocol" *: *"UDP"', "iperf3 over UDP"),
    Sign("iperf 2", "output", r"\[ *\d+\] +\d+\.\d- *\d+\.\d sec +[\d.]+ [KMGT]?Bytes"),
    Sign("iperf3", "output", r"\[ *(?:\d+|SUM)\] .*bits/sec|\"test_start\""),
    Sign("iperf3", "error", r"iperf3: error - "),
    Sign("netperf", "output", r"(?:MIGRATED )?(?:TCP|UDP)[ _]\w+.* TEST from "),
    Sign("dd", "output", r"\d+ bytes.*\bcopied, ", "dd without its command, or of a copy"),
    Sign("ioping", "output", r".*\bioping statistics ---", "ioping before 1.0"),
    Sign("ioping", "output", r"min/avg/max/mdev = .* / |\d+ requests completed in |\d\S* \S+ \S+ /\S+ .*\btime="),
    Sign("hsbench", "output", r"(?:\S+ \S+ )?(?:Running Loop \d|Loop: \d+, Int: )"),
    Sign("gosbench", "output", r"gosbench_\w+\{", "gosbench whose test has not ended"),
    Sign("hdparm", "output", r"Timing (?:O_DIRECT |buffered |cached )*(?:disk )?reads:"),
    Sign("elbencho", "output", r"OPERATION +RESULT TYPE +FIRST DONE"),
    Sign("warp", "output", r"Operation: (?:PUT|GET|DELETE|STAT|LIST)\b"),
    Sign("sysbench", "output", r"sysbench \d+\.\d"),
    Sign("pveperf", "output", r"FSYNCS/SECOND:"),
    Sign("bonnie++", "output", r"Version +\d\S* +-+Sequential"),
    Sign("CrystalDiskMark", "output", r"CrystalDiskMark \d"),
    Sign("IOR", "output", r"IOR-[\d.]+|access +bw\(MiB/s\)"),
    Sign("smallfile", "output", r"hosts in test :"),
    Sign("s3-benchmark", "output", r"Wasabi benchmark program"),
)  # fmt: skip
"""The first that matches counts."""
PROGRAMS: Sequence[tuple[str, str]] = (
    (r'"intervals"\s*:\s*\[\s*\][\s\S]{0,400}"error"\s*:', "iperf3 that has failed"),
    (r"\belbencho\b", "elbencho"),
    (r"(?m)^warp: |\bwarp (?:get|put|mixed|analyze)\b", "warp"),
    (r"\bsysbench \S*(?:fileio|oltp|--)", "sysbench"),
    (r"\b[Bb]onnie\+\+", "bonnie++"),
    (r"\bI[Oo]zone\b", "iozone"),
    (r"\bCrystalDiskMark\b", "CrystalDiskMark"),
    (r"\b[Vv]dbench\b", "vdbench"),
    (r"\bsmallfile(?:_cli)?\b", "smallfile"),
    (r"\bmdtest\b", "mdtest"),
    (r"\bs3-benchmark\b", "s3-benchmark"),
    (r"\b[Cc][Oo][Ss][Bb]ench\b|<workload\b[^>]{0,400}>\s*(?:<auth\b[^>]{0,400}>\s*)?<storage\b", "COSBench"),
    (r"\b[Dd]isk[Ss]pd\b|\bDISKSPD\b", "DISKSPD"),
    (r"(?m)^# (?:HELP|TYPE) \w+ |\"resultType\"\s*:\s*\"(?:matrix|vector)\"", "Prometheus"),
    (r"(?m)^cluster: *\n *id: +[0-9a-f-]{36}|\"fsid\"\s*:[\s\S]{0,100}\"health\"\s*:", "ceph -s"),
    (r"(?m)^osd +commit_latency(?:\(ms\))? +apply_latency|\"osd_perf_infos\"", "ceph osd perf"),
    (r"(?m)^ID +CLASS +WEIGHT +(?:REWEIGHT +SIZE|TYPE NAME)", "ceph osd df or tree"),
    (r"(?m)^--- RAW STORAGE ---|^GLOBAL: *\n *SIZE +AVAIL", "ceph df"),
    (r"(?m)^Device:? +.*(?:r/s|tps|rkB/s)\b", "iostat"),
    (r"(?m)^\d+,\d+ +\d+ +\d+ +\d+\.\d{9} +\d+ +[A-Z]+ +[A-Z]+ ", "blktrace"),
    (r"(?m)^procs -+memory-+", "vmstat"),
    (r"(?m)^Linux \d[\w.+-]+ \(.*\) .*\n\n\d\d:\d\d:\d\d", "sar"),
    (r"(?m)^\d+(?: \d+){9}$", "ioping without its command"),
)  # fmt: skip
"""By what the whole of a file is known in which nothing else is, as of a program that is no benchmark, or a word that
other text may have, too: a pattern, and the program. The first that matches counts.
"""
COMMANDS = {
    "fio": ("fio ", r"\s--?(?:name|rw|readwrite|filename|ioengine)\b|\.(?:fio|job|ini)\b"),
    "rados-bench": ("rados ", r"\sbench\s"),
    "rbd-bench": ("rbd ", r"\sbench"),
    "osd-bench": ("ceph ", r"\stell\s.*\sbench"),
    "iperf3": ("iperf3 ", r"\s(?:-c|--client)"),
}
"""By the tool: the program with a blank, and what is in a command that runs a benchmark."""
KNOWN = re.compile(rf"\s*(?:{'|'.join(f'(?P<s{at}>{sign.pattern})' for at, sign in enumerate(SIGNS))})", re.ASCII)
"""Any of the signs: the group ``s3`` is the fourth of them."""
