"""How the rates and latencies of a job are spread, as fio sums them up where it prints no seconds and no bins.

Format (fio 2.0 to 3.42)::

    bw (  KiB/s): min=30240, max=56512, per=100.00%, avg=52901.95, stdev=5872.82, samples=39
    iops        : min= 7560, max=14128, avg=13225.49, stdev=1468.21, samples=39
    lat (usec)   : 250=0.01%, 500=12.30%
    lat (msec)   : 4=0.01%, 10=67.78%, >=2000=0.02%

A rate is sampled every ``bwavgtime`` or ``iopsavgtime``. A share of all I/Os took longer than the end before it, and no
longer than its own, from begin to completion. In JSON these are ``bw_min`` (KiB/s), ``iops_min``, ``latency_us`` and
their like.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from cephtui.models import LatencyShare, RateSamples
from cephtui.stats import Flow
from cephtui.tools.fio.document import figure_or_none
from cephtui.tools.fio.printed import A_SECOND, in_bytes, printed_figure

_SAMPLES = re.compile(
    r"\s*(?P<rate>bw|iops)\s*(?:\( *(?P<unit>[kKMGTP]?i?(?:B|bit)) */s\))?\s*: *min= *(?P<least>[\d.]+) *,"
    r" *max= *(?P<greatest>[\d.]+) *,(?: *per= *[\d.]+% *,)? *avg= *(?P<mean>[\d.]+) *, *stdev= *(?P<stddev>[\d.]+)"
    r"(?: *, *samples= *(?P<count>\d{1,18}))?"
)
_SHARES = re.compile(r"\s*lat \((?P<unit>nsec|usec|msec)\) *: *(?P<shares>(?:>=)?\d+ *= *[\d.]+%.*)")
_SHARE = re.compile(r"(?P<last>>=)?(?P<end>\d{1,9}) *= *(?P<percent>[\d.]+)%")
_IN_JSON = {"latency_ns": "nsec", "latency_us": "usec", "latency_ms": "msec"}
_KIB = 1024


def with_printed(flow: Flow, lines: Iterable[str], *, old: bool) -> Flow:
    """A flow with what the lines below its rates say of these; ``old`` is fio 2, whose KB are KiB."""
    by_rate: dict[str, RateSamples] = {}
    for text in lines:
        match = _SAMPLES.match(text)
        if match is None or (match["unit"] is None) is (match["rate"] == "bw"):
            continue
        if samples := _samples(match.groupdict(), partial(_value, unit=match["unit"] or "", old=old)):
            by_rate.setdefault(match["rate"], samples)
    return replace(flow, iops_samples=by_rate.get("iops"), bandwidth_samples=by_rate.get("bw"))


def _value(number: str, *, unit: str, old: bool) -> float | None:
    return in_bytes(number, unit, old=old) if unit else printed_figure(number)


def with_document(flow: Flow, part: Mapping[str, Any]) -> Flow:
    """A flow with what a job's JSON says of its rates."""
    return replace(flow, iops_samples=_of(part, "iops", "stddev", 1), bandwidth_samples=_of(part, "bw", "dev", _KIB))


def _of(part: Mapping[str, Any], rate: str, deviation: str, unit: int) -> RateSamples | None:
    names = {"least": "min", "greatest": "max", "mean": "mean", "stddev": deviation}
    figures = {name: figure_or_none(part.get(f"{rate}_{key}")) for name, key in names.items()}
    values = {name: None if value is None else value * unit for name, value in figures.items()}
    return _samples({**values, "count": figure_or_none(part.get(f"{rate}_samples"))}, lambda value: value)


def _samples(figures: Mapping[str, Any], value: Callable[[Any], float | None]) -> RateSamples | None:
    """The samples; None where a figure is missing, or nothing was sampled."""
    count = None if figures["count"] is None else int(figures["count"])
    names = ("least", "mean", "greatest", "stddev")
    values = {name: value(figures[name]) for name in names if figures[name] is not None}
    if len(values) < 4 or None in values.values() or count == 0 or not values["greatest"]:
        return None
    return RateSamples(count=count, **values)


def printed_shares(lines: Iterable[str]) -> tuple[LatencyShare, ...]:
    """The shares that are printed, in the order of their ranges."""
    ranges: list[tuple[float, bool, float]] = []
    for text in lines:
        if "lat (" in text and (match := _SHARES.match(text)):
            for share in _SHARE.finditer(match["shares"]):
                end = int(share["end"]) / A_SECOND[match["unit"]]
                ranges.append((end, bool(share["last"]), printed_figure(share["percent"]) or 0.0))
    return _shares(ranges)


def document_shares(job: Mapping[str, Any]) -> tuple[LatencyShare, ...]:
    """The shares in a job's JSON, in the order of their ranges."""
    ranges: list[tuple[float, bool, float]] = []
    for name, unit in _IN_JSON.items():
        shares = job.get(name)
        for end, percent in shares.items() if isinstance(shares, dict) else ():
            number, value = str(end).removeprefix(">="), figure_or_none(percent)
            if number.isdecimal() and value is not None:
                ranges.append((int(number) / A_SECOND[unit], str(end).startswith(">="), value))
    return _shares(ranges)


def _shares(ranges: Iterable[tuple[float, bool, float]]) -> tuple[LatencyShare, ...]:
    return tuple(
        LatencyShare(up_to_seconds=None if is_last else end, percent=percent)
        for end, is_last, percent in sorted(ranges)
        if percent
    )
