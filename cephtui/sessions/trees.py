"""Directories of results, as cbt and fio-plot's bench_fio leave them: what their names say of the runs in them.

cbt has a directory for each test, with a file for each client and process, ``output.0.HOST``, which ran at the same
time: they are one run on these nodes. Beside them are ``json_output.0.HOST``, which has the same once more, and what
Ceph was set to; ``benchmark_config.yaml`` is in the same directory or above it. bench_fio has ``randread-16-8.json`` of
depth 16 and 8 jobs, in directories for the target and mostly the block size.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from cephtui import stats
from cephtui.models import NodeResult, Summary, Total
from cephtui.models.results import Latency
from cephtui.reading import read_bytes
from cephtui.tools.base import V
from cephtui.tools.logs import FoundRun

_OUTPUT = re.compile(r"output\.(?P<process>\d{1,6})\.(?P<host>[A-Za-z0-9][\w.-]{0,62})")
_OF_CBT = re.compile(
    r"json_output\.\d+.*|ceph_settings\.out(?:\..*)?|benchmark_config\.yaml|cbt_config\.yaml|objecter\.\d+\.log.*"
    r"|historic_ops\.out.*|pgautoscaler\.log|output\.\d+_\w+\.\d+\.log.*"
)
_BENCH_FIO = re.compile(r"(?:rand)?(?:read|write|rw)\d*-\d{1,5}-\d{1,5}\.json")
_SIZE_OR_MIX = re.compile(r"\d{1,7}[kKmM]?|(?:rand)?rw\d{1,3}")
_LEVEL = re.compile(r"(?:[a-z]+_[a-z_]+|iodepth|numjobs)-\d+|(?:rand)?(?:read|write|rw)|readwrite|seq|rand|prefill")
_SETTING = re.compile(r"\s{2,}(\w{2,40}): +([^\s{\[&*!|>'\"%@`#][^#]*?)\s*")
_NO_OPTIONS = re.compile(
    r"mode|op_size|cmd_path.*|fio_cmd|benchmark|iteration|log_\w+|fio_out_format|idle_monitor_sleep|.*_timeout|.*dir"
)
"""Settings that the output itself has, and settings that do not change what is measured."""
UNKNOWN_COMMAND = "(the command is not in the log)"
_CONFIG = "benchmark_config.yaml"
_CONFIG_MOST_BYTES, _LEVELS_MOST = 64 << 10, 8


def by_test(paths: Iterable[Path]) -> Iterator[list[Path]]:
    """The files in their order; those that cbt's clients have written in the same test are together."""
    for folder, group in groupby(paths, lambda path: path.parent):
        files = list(group)
        outputs = [path for path in files if _OUTPUT.fullmatch(path.name)]
        if len(outputs) > 1 and _is_of_cbt(folder, files):
            yield outputs
            files = [path for path in files if path not in outputs]
        yield from ([path] for path in files)


def _is_of_cbt(folder: Path, files: Iterable[Path]) -> bool:
    """Whether the files are cbt's; other programs name files ``output.1.txt``, too."""
    if "op_size-" in str(folder) or any(_OF_CBT.fullmatch(path.name) for path in files):
        return True
    return any((above / _CONFIG).is_file() for above in list(folder.parents)[:_LEVELS_MOST])


def is_beside(path: Path) -> bool:
    """Whether a file is one of cbt's beside its output, and has no run of its own."""
    if not _OF_CBT.fullmatch(path.name):
        return False
    try:
        names = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return False
    return path.name in (_CONFIG, "cbt_config.yaml") or any(map(_OUTPUT.fullmatch, names))


def heading_of(path: Path) -> str:
    """The heading of a file by the names of the directories above it; empty where these are of no such tree."""
    if _OUTPUT.fullmatch(path.name):
        levels = [part for part in path.parts[-_LEVELS_MOST:-1] if _LEVEL.fullmatch(part)]
        return " / ".join(levels)
    if _BENCH_FIO.fullmatch(path.name):
        parts = [part for part in path.parts[-4:-1] if part != path.anchor]
        first = next((index for index in reversed(range(len(parts))) if not _SIZE_OR_MIX.fullmatch(parts[index])), 0)
        return " / ".join(parts[first:])
    return ""


def join_clients(clients: Sequence[tuple[Path, FoundRun]]) -> tuple[FoundRun, dict[str, str]]:
    """The run of all clients of a test, and the file of each node; of several processes on a node the first."""
    runs = [run for _, run in clients]
    by_node: dict[str, list[FoundRun]] = {}
    files: dict[str, str] = {}
    for path, run in clients:
        host = _host(path)
        by_node.setdefault(host, []).append(run)
        files.setdefault(host, path.name)
    processes = max(map(len, by_node.values()))
    options = _common([run.options for run in runs])
    other = {**_settings(clients[0][0]), **_common([run.other_options for run in runs])}
    if processes > 1:
        other["processes"] = str(processes)
    whole = replace(
        runs[0],
        name=str(options.get("rw", runs[0].name)),
        options=options,
        other_options={name: value for name, value in other.items() if name not in options},
        target=next(iter({run.target for run in runs})) if len({run.target for run in runs}) == 1 else "",
        node=next(iter(by_node)),
        duration_seconds=max(run.duration_seconds for run in runs),
        stopped=any(run.stopped for run in runs),
        error=next((run.error for run in runs if run.error), None),
        summary=_sum(runs),
        jobs=(),
        nodes=tuple(_node(host, host_runs) for host, host_runs in by_node.items()) if len(by_node) > 1 else (),
        findings=tuple({finding.code: finding for run in runs for finding in run.findings}.values()),
        readings=runs[0].readings if len(runs) == 1 else (),
        depths=runs[0].depths if len(runs) == 1 else {},
        latency_shares=runs[0].latency_shares if len(runs) == 1 else (),
        disks=runs[0].disks if len(runs) == 1 else (),
    )
    return whole, files


def _host(path: Path) -> str:
    match = _OUTPUT.fullmatch(path.name)
    return match["host"] if match else path.name


def _common(options: Sequence[Mapping[str, V]]) -> dict[str, V]:
    return {name: value for name, value in options[0].items() if all(other.get(name) == value for other in options)}


def _node(host: str, runs: Sequence[FoundRun]) -> NodeResult:
    """The result of a client with all its processes."""
    error = next((run.error for run in runs if run.error), None)
    return NodeResult(
        node=host,
        outcome="failed" if error else "stopped" if any(run.stopped for run in runs) else "ok",
        error=error,
        command=next((run.command for run in runs if run.command), UNKNOWN_COMMAND),
        summary=_sum(runs),
    )


def _sum(runs: Sequence[FoundRun]) -> Summary:
    if len(runs) == 1:
        return runs[0].summary
    flows = [{name: _flow(total) for name, total in run.summary.flows.items()} for run in runs]
    if not all(flow.buckets for by_name in flows for flow in by_name.values()):  # those of some would be taken for all
        flows = [{name: replace(flow, buckets={}) for name, flow in by_name.items()} for by_name in flows]
    return stats.summarise(flows, histogram=True)


def _flow(total: Total) -> stats.Flow:
    """A total as the flow that it was before its percentiles were taken."""
    low, high = total.latency_min_seconds, total.latency_max_seconds
    return stats.Flow(
        ios=total.ios,
        bytes=total.bytes,
        runtime_seconds=total.runtime_seconds,
        iops=total.iops,
        bandwidth_bytes=total.bandwidth_bytes,
        buckets=total.latency_buckets or {},
        moments=_moments(total.ios, total.latency_mean_seconds, total.latency_stddev_seconds),
        bounds=None if low is None or high is None else (low, high),
        slat=_times(total.ios, total.slat),
        lat=_times(total.ios, total.lat),
        ios_reported=total.ios_reported,
    )


def _moments(ios: int | None, mean: float | None, deviation: float | None) -> stats.Moments | None:
    return stats.Moments(ios, mean, deviation) if ios and mean is not None else None


def _times(ios: int | None, latency: Latency | None) -> stats.Times | None:
    if latency is None:
        return None
    moments = _moments(ios, latency.mean_seconds, latency.stddev_seconds)
    low, high = latency.min_seconds, latency.max_seconds
    return stats.Times(moments, None if low is None or high is None else (low, high)) if moments else None


def _settings(path: Path) -> dict[str, str]:
    """The settings of cbt for a test, from the file beside the output or above it."""
    for folder in [path.parent, *path.parent.parents][:_LEVELS_MOST]:
        try:
            text = read_bytes(folder / _CONFIG, _CONFIG_MOST_BYTES).decode("utf-8", "replace")
        except OSError:
            continue
        matches = (match for line in text.splitlines() if (match := _SETTING.fullmatch(line)))
        return {match[1]: match[2] for match in matches if not _NO_OPTIONS.fullmatch(match[1])}
    return {}
