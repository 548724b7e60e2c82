"""Output that is recognised and can't be read, so that it can be named. To add one: its row in the table."""

from __future__ import annotations

import contextlib
import json
import re

from cephtui.tools.logs import Log

_LINES_MOST, _LINE_MOST = 5000, 400
"""Lines of a file, and characters of each, that are looked at."""
_TABLE: tuple[tuple[str, str], ...] = (
    (r"(?m)^(?:MIGRATED )?(?:TCP|UDP)[ _]\w+.* TEST from ", "netperf"),
    (r"(?m)^\[ *\d+\] +\d+\.\d- *\d+\.\d sec +[\d.]+ [KMGT]?Bytes", "iperf 2"),
    (r"(?m)^\[ *ID\] Interval .*Total Datagrams|\"protocol\"\s*:\s*\"UDP\"", "iperf3 over UDP"),
    (r"iperf3: error - |\"intervals\"\s*:\s*\[\s*\][\s\S]{0,400}\"error\"\s*:", "iperf3 that has failed"),
    (r"(?m)^OPERATION +RESULT TYPE\b|\belbencho\b", "elbencho"),
    (r"(?m)^Operation: (?:GET|PUT|STAT|DELETE|LIST)\b.*Concurrency|^warp: |\bwarp (?:get|put|mixed|analyze)\b",
     "warp"),
    (r"(?m)^sysbench \d|\bsysbench \S*(?:fileio|oltp|--)", "sysbench"),
    (r"(?m)^Version +[\d.]+ .*-+Sequential Output-+|\b[Bb]onnie\+\+", "bonnie++"),
    (r"\bI[Oo]zone\b", "iozone"),
    (r"\bCrystalDiskMark\b", "CrystalDiskMark"),
    (r"\b[Vv]dbench\b", "vdbench"),
    (r"(?m)^ *Timing (?:O_DIRECT |buffered |cached )*(?:disk )?reads:", "hdparm"),
    (r"(?m)\bsmallfile(?:_cli)?\b|^ *hosts in test :", "smallfile"),
    (r"\bmdtest\b", "mdtest"),
    (r"(?m)^IOR-[\d.]+|^access +bw\(MiB/s\)", "IOR"),
    (r"Wasabi benchmark program|\bs3-benchmark\b", "s3-benchmark"),
    (r"\b[Cc][Oo][Ss][Bb]ench\b|<workload\b[^>]{0,400}>\s*(?:<auth\b[^>]{0,400}>\s*)?<storage\b", "COSBench"),
    (r"\b[Dd]isk[Ss]pd\b|\bDISKSPD\b", "DISKSPD"),
    (r"(?m)^# (?:HELP|TYPE) \w+ |\"resultType\"\s*:\s*\"(?:matrix|vector)\"", "Prometheus"),
    (r"(?m)^ *cluster: *\n +id: +[0-9a-f-]{36}|\"fsid\"\s*:[\s\S]{0,100}\"health\"\s*:", "ceph -s"),
    (r"(?m)^ *osd +commit_latency(?:\(ms\))? +apply_latency|\"osd_perf_infos\"", "ceph osd perf"),
    (r"(?m)^ *ID +CLASS +WEIGHT +(?:REWEIGHT +SIZE|TYPE NAME)", "ceph osd df or tree"),
    (r"(?m)^--- RAW STORAGE ---|^GLOBAL: *\n +SIZE +AVAIL", "ceph df"),
    (r"(?m)^Device:? +.*(?:r/s|tps|rkB/s)\b", "iostat"),
    (r"(?m)^ *\d+,\d+ +\d+ +\d+ +\d+\.\d{9} +\d+ +[A-Z]+ +[A-Z]+ ", "blktrace"),
    (r"(?m)^procs -+memory-+", "vmstat"),
    (r"(?m)^Linux \d[\w.+-]+ \(.*\) .*\n *\n\d\d:\d\d:\d\d", "sar"),
    (r"(?m)^ *(?:Total time run|Bandwidth \(MB/sec\)|Average IOPS): +[\d.]+", "rados bench that is not whole"),
    (r"(?m)^ *elapsed: +\d+ +ops: +\d+ +ops/sec:", "rbd bench without its first line"),
    (r"(?m)^ *\d+ bytes .{0,100}copied, [\d.e-]+ s", "dd without its command, or of a copy"),
    (r"(?m)^\d+(?: \d+){9}$", "ioping without its command"),
    (r"\bioping statistics ---", "ioping before 1.0"),
)  # fmt: skip
"""A pattern, and whose output has it; the first that matches counts."""
_PATTERNS = tuple((re.compile(pattern), name) for pattern, name in _TABLE)


def problem_of(log: Log) -> str:
    """What a file is in which no tool has found a run; empty where that is not known."""
    text = "\n".join(line.text[:_LINE_MOST] for line in log.lines[:_LINES_MOST])
    name = next((name for pattern, name in _PATTERNS if pattern.search(text)), "")
    if name:
        return f"this is output of {name}, which can't be read"
    return "JSON of an unknown program" if _is_json(log.text) else ""


def _is_json(text: str) -> bool:
    """Whether it is a document, or a line of it is one."""
    if not text.lstrip().startswith(("{", "[")):
        return False
    for part in (text, text.lstrip().split("\n", 1)[0]):
        with contextlib.suppress(ValueError, RecursionError):
            json.loads(part)
            return True
    return False
