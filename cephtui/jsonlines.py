"""The public JSON Lines: events to text and back, and their schema."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, TypeAlias, get_args

from pydantic import TypeAdapter

from cephtui.models import (
    ClusterSample,
    Difference,
    Figure,
    Info,
    Interval,
    Mark,
    Model,
    NodeRow,
    Phase,
    Plan,
    PresetRow,
    Run,
    Sample,
    SessionRow,
)
from cephtui.printable import printable

_PHASES = get_args(Phase)
_RAW = re.compile(r"[^\n -~]")
_Public: TypeAlias = (
    Plan | Sample | ClusterSample | Run | Mark | SessionRow | PresetRow | NodeRow | Info | Difference | Figure
)


def _interval(interval: Interval | None) -> dict[str, Any] | None:
    if interval is None:
        return None
    return {
        "ios": interval.ios,
        "bytes": interval.bytes,
        "iops": round(interval.iops, 3),
        "bandwidth_bytes": round(interval.bandwidth_bytes, 1),
        "latency_mean_seconds": _rounded(interval.latency_mean_seconds),
        "latency_p99_seconds": interval.latency_p99_seconds,
        "latency_buckets": interval.latency_buckets,
    }


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 10)


def sample_line(sample: Sample) -> str:
    """A sample as one line without its newline; by hand, since there are up to hundreds of thousands of them."""
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
        },
        separators=(",", ":"),
        allow_nan=False,
    )


def line(event: Model | Sample) -> str:
    """Any public object as one line without its newline."""
    return sample_line(event) if isinstance(event, Sample) else as_json(event)


def as_json(model: Model, *, indent: int | None = None) -> str:
    """The text of a model: the same data to a program, and nothing in it that a terminal obeys."""
    try:
        text = model.model_dump_json(indent=indent)
    except ValueError:  # a path that is not UTF-8
        text = json.dumps(model.model_dump(mode="json"), indent=indent)
    return text if text.isascii() and text.isprintable() else _RAW.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    char = found[0]
    return char if printable(char) == char else json.dumps(char)[1:-1].replace("\x7f", "\\u007f")


def parse_sample(text: str | bytes) -> Sample:
    """A line that ``sample_line`` wrote; raises ValueError."""
    try:
        row = json.loads(text)
        if row["phase"] not in _PHASES:
            raise ValueError(f"not a sample: phase {row['phase']!r}")
        return Sample(
            run=int(row["run"]),
            node=None if row["node"] is None else printable(row["node"]),
            preset=printable(row["preset"]),
            phase=row["phase"],
            elapsed_seconds=float(row["elapsed_seconds"]),
            interval_seconds=float(row["interval_seconds"]),
            read=_parse_interval(row["read"]),
            write=_parse_interval(row["write"]),
            missing=tuple(printable(str(name)) for name in row.get("missing", ())),
        )
    except (KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise ValueError(f"not a sample: {error}") from None


def _parse_interval(row: Mapping[str, Any] | None) -> Interval | None:
    if row is None:
        return None
    buckets = row["latency_buckets"]
    return Interval(
        ios=int(row["ios"]),
        bytes=int(row["bytes"]),
        iops=float(row["iops"]),
        bandwidth_bytes=float(row["bandwidth_bytes"]),
        latency_mean_seconds=_number(row["latency_mean_seconds"]),
        latency_p99_seconds=_number(row["latency_p99_seconds"]),
        latency_buckets=None if buckets is None else {int(k): int(v) for k, v in buckets.items()},
    )


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def schema() -> dict[str, Any]:
    """JSON Schema of every line that ``--json`` prints, and so of what a session keeps."""
    return {
        "title": "cephtui events",
        **TypeAdapter(_Public).json_schema(mode="serialization"),
    }
