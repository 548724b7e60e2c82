"""The public JSON Lines: events to text and back, and their schema."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, get_args

from pydantic import TypeAdapter

from cephtui.models import (
    ELAPSED_MOST_SECONDS,
    FIGURE_MOST,
    ClusterSample,
    Interval,
    JobSample,
    Mark,
    Model,
    NodeEnded,
    NodeSample,
    OsdSample,
    Phase,
    Plan,
    Run,
    Sample,
)
from cephtui.models.samples import GRID_BUCKETS
from cephtui.printable import printable
from cephtui.reading import excerpt, load_json

_PHASES = get_args(Phase)
_RAW = re.compile(r"[^\n -~]")
_NUMBERS = {int, float}


def _interval(interval: Interval | None) -> dict[str, Any] | None:
    if interval is None:
        return None
    return {
        "ios": interval.ios,
        "bytes": interval.bytes,
        "iops": None if interval.iops is None else round(interval.iops, 3),
        "bandwidth_bytes": None if interval.bandwidth_bytes is None else round(interval.bandwidth_bytes, 1),
        "latency_mean_seconds": _rounded(interval.latency_mean_seconds),
        "latency_p99_seconds": interval.latency_p99_seconds,
        "latency_buckets": interval.latency_buckets,
        **({} if interval.retransmits is None else {"retransmits": interval.retransmits}),
        **({} if interval.rtt_seconds is None else {"rtt_seconds": _rounded(interval.rtt_seconds)}),
    }


def _job(job: JobSample) -> dict[str, Any]:
    fields = {name: getattr(job, name) for name in ("job", "direction", "ios", "bytes", "group", "place")}
    return {**fields, "seconds": round(job.seconds, 6)}


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 10)


def sample_line(sample: Sample) -> str:
    """A sample as one line without its newline; made by hand, since there may be hundreds of thousands of them."""
    return json.dumps(
        {
            "event": "sample",
            "run": sample.run,
            "node": sample.node,
            "preset": sample.preset,
            "phase": sample.phase,
            "elapsed_seconds": round(sample.elapsed_seconds, 3),
            "interval_seconds": round(sample.interval_seconds, 3),
            "read": _interval(sample.read),
            "write": _interval(sample.write),
            **({"missing": sample.missing} if sample.missing else {}),
            **({"other": {name: _interval(flow) for name, flow in sample.other.items()}} if sample.other else {}),
            **({"jobs": [_job(job) for job in sample.jobs]} if sample.jobs else {}),
        },
        separators=(",", ":"),
        allow_nan=False,
    )


def line(event: Model | Sample) -> str:
    """A public object as one line without its newline."""
    return sample_line(event) if isinstance(event, Sample) else as_json(event)


def as_json(model: Model, *, indent: int | None = None) -> str:
    """The JSON of a model, without anything that a terminal would obey."""
    try:
        text = model.model_dump_json(indent=indent)
    except ValueError:  # a path that is not UTF-8
        text = json.dumps(model.model_dump(mode="json"), indent=indent)
    return text if text.isascii() and text.isprintable() else _RAW.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    char = match[0]
    return char if printable(char) == char else json.dumps(char)[1:-1].replace("\x7f", "\\u007f")


def parse_sample(text: str | bytes) -> Sample:
    """The sample in a line of ``sample_line``; raises ValueError, which names the field with a wrong value."""
    try:
        row = load_json(text)
        if row["phase"] not in _PHASES:
            raise ValueError(f"not a sample: phase {excerpt(row['phase'])}")
        return Sample(
            run=_count(row, "run"),
            node=None if row["node"] is None else printable(_text(row, "node")),
            preset=printable(_text(row, "preset")),
            phase=row["phase"],
            elapsed_seconds=_figure(row, "elapsed_seconds", -ELAPSED_MOST_SECONDS, ELAPSED_MOST_SECONDS),
            interval_seconds=_figure(row, "interval_seconds", -ELAPSED_MOST_SECONDS, ELAPSED_MOST_SECONDS),
            read=_parse_interval(row["read"]),
            write=_parse_interval(row["write"]),
            missing=tuple(printable(str(name)) for name in row.get("missing", ())),
            other={
                printable(name): interval
                for name, figures in row.get("other", {}).items()
                if (interval := _parse_interval(figures))
            },
            jobs=tuple(map(_parse_job, row.get("jobs", ()))),
        )
    except (LookupError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError(f"not a sample: {error}") from None


def _parse_interval(row: Mapping[str, Any] | None) -> Interval | None:
    if row is None:
        return None
    buckets, mean, p99 = row["latency_buckets"], row["latency_mean_seconds"], row["latency_p99_seconds"]
    ios, nbytes, iops, bandwidth = row["ios"], row["bytes"], row["iops"], row["bandwidth_bytes"]
    figures = (nbytes, *[0 if figure is None else figure for figure in (ios, iops, bandwidth, mean, p99)])
    if not (
        _are_numbers(figures)
        and type(nbytes) is int
        and (ios is None or type(ios) is int)
        and min(figures) >= 0 <= sum(figures) <= FIGURE_MOST
    ):
        _check_each(row)
    return Interval(
        ios=None if ios is None else int(ios),
        bytes=int(nbytes),
        iops=None if iops is None else iops + 0.0,  # -0.0 is no figure
        bandwidth_bytes=None if bandwidth is None else bandwidth + 0.0,
        latency_mean_seconds=None if mean is None else mean + 0.0,
        latency_p99_seconds=None if p99 is None else p99 + 0.0,
        latency_buckets=None if buckets is None else _parse_buckets(buckets),
        retransmits=_count(row, "retransmits") if row.get("retransmits") is not None else None,
        rtt_seconds=_figure(row, "rtt_seconds") if row.get("rtt_seconds") is not None else None,
    )


def _parse_job(row: Mapping[str, Any]) -> JobSample:
    return JobSample(
        **{name: printable(_text(row, name)) for name in ("job", "direction", "group", "place")},
        ios=None if row["ios"] is None else _count(row, "ios"),
        bytes=_count(row, "bytes"),
        seconds=_figure(row, "seconds"),
    )


def _are_numbers(values: Iterable[Any]) -> bool:
    return _NUMBERS.issuperset(map(type, values))


def _check_each(row: Mapping[str, Any]) -> None:
    """Raises ValueError for the first field that is no figure, with the field's name."""
    for name in ("ios", "bytes"):
        if name == "bytes" or row[name] is not None:
            _count(row, name)
    for name in ("iops", "bandwidth_bytes", "latency_mean_seconds", "latency_p99_seconds"):
        if row[name] is not None:
            _figure(row, name)


def _parse_buckets(row: Mapping[str, Any]) -> dict[int, int]:
    buckets = {int(name): number for name, number in row.items()}
    if buckets and not 0 <= min(buckets) <= max(buckets) < GRID_BUCKETS:
        raise ValueError(f"not a sample: latency_buckets: expected buckets 0 to {GRID_BUCKETS - 1}")
    counts = buckets.values()
    if buckets and (not {int}.issuperset(map(type, counts)) or not 0 <= min(counts) <= max(counts) <= FIGURE_MOST):
        raise ValueError("not a sample: latency_buckets: expected counts")
    return buckets


def _figure(row: Mapping[str, Any], name: str, least: float = 0.0, most: float = FIGURE_MOST) -> float:
    value = row[name]
    if type(value) not in _NUMBERS or not least <= value <= most:
        raise ValueError(f"not a sample: {name}: expected a number from {least:g} to {most:g}, got {excerpt(value)}")
    return float(value) + 0.0


def _count(row: Mapping[str, Any], name: str) -> int:
    value = row[name]
    if type(value) is not int or not 0 <= value <= FIGURE_MOST:
        raise ValueError(f"not a sample: {name}: expected a count, got {excerpt(value)}")
    return value


def _text(row: Mapping[str, Any], name: str) -> str:
    value = row[name]
    if not isinstance(value, str):
        raise ValueError(f"not a sample: {name}: expected text, got {excerpt(value)}")
    return value


def schema() -> dict[str, Any]:
    """The JSON Schema of every line that ``--json`` prints, and so of what a session keeps."""
    from cephtui.models.expectation import Expected
    from cephtui.models.host import HostRow
    from cephtui.models.preset_rows import PresetRow, SuiteRow
    from cephtui.models.rows import (
        CauseRow,
        ConcludedRow,
        CurvePointRow,
        DiagnosisRow,
        Difference,
        Figure,
        ImportedFile,
        ImportedPart,
        Info,
        KneeRow,
        KnownCeiling,
        LinkRow,
        MatrixCell,
        NodeRow,
        StudyRow,
    )
    from cephtui.models.session_row import SessionRow
    from cephtui.models.verdict import Conclusion, Verdict

    lines: Any = Plan | Sample | ClusterSample | NodeSample | OsdSample | NodeEnded | Run | Mark
    lines |= SessionRow | PresetRow | SuiteRow | NodeRow | HostRow | Info | Difference | Figure | MatrixCell
    lines |= (
        KnownCeiling | LinkRow | Verdict | Conclusion | Expected | ImportedFile | ImportedPart | CurvePointRow | KneeRow
    )
    lines |= StudyRow | ConcludedRow | DiagnosisRow | CauseRow
    return {
        "title": "cephtui events",
        **TypeAdapter(lines).json_schema(mode="serialization"),
    }
