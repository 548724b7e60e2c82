"""A config of gosbench's server as options of presets: what is taken of each test, what is not and why."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from cephtui.config import endpoint_of
from cephtui.printable import one_line
from cephtui.reading import excerpt
from cephtui.tools.adopted import Adopted
from cephtui.tools.base import OptionError
from cephtui.tools.gosbench.options import WEIGHTS, GosbenchOptions
from cephtui.units import short_size

if TYPE_CHECKING:
    from cephtui.tools.gosbench.given import GosbenchConfig

_SUFFIXES = (".yaml", ".yml")
_BEGIN = re.compile(r"""[\s{]*["']?(?:s3_config|grafana_config|tests)["']?\s*:""")
_BEGIN_MOST = 4096
_UNITS = {"B": 1, **{name: 1 << 10 * power for power, n in enumerate("KMGT", 1) for name in (n, f"{n}B")}}
"""Bytes of a unit as gosbench has it: a KB is 1024 bytes."""
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_DURATION = re.compile(r"([0-9]+(?:\.[0-9]*)?)(h|ms|us|µs|ns|m|s)")
_TAKEN = {
    *("name", "stop_with_runtime", "stop_with_ops", "parallel_clients", *WEIGHTS),
    *(f"objects.{name}" for name in ("size_min", "size_max", "size_distribution", "unit")),
    *(f"{section}.number_{name}" for section in ("objects", "buckets") for name in ("min", "max", "distribution")),
}
_PATH_STYLE = "cephtui always uses path style, which needs no DNS names for buckets"


def is_config(file_name: str, text: str) -> bool:
    """Whether it is one by its name, or begins as one."""
    lines = (line.strip() for line in text[:_BEGIN_MOST].splitlines())
    first = next((line for line in lines if line not in ("", "---", "{") and not line.startswith("#")), "")
    return file_name.lower().endswith(_SUFFIXES) or bool(_BEGIN.match(first))


def find_tests(text: str) -> list[tuple[str, Callable[[], Adopted]]]:
    """Each test of a config with its name, and what makes a preset of it, which raises OptionError where none can be.

    Raises ValueError for what is no config.
    """
    from cephtui.tools.gosbench.given import read_config

    config = read_config(text)
    names = [test.get("name") or f"test-{number}" for number, test in enumerate(config.tests, 1)]
    return [(name, partial(_adopt, name, test, config)) for name, test in zip(names, config.tests, strict=True)]


def _adopt(name: str, test: Mapping[str, str], config: GosbenchConfig) -> Adopted:
    left_out = _not_of_tests(config)
    weights = {weight: _number(test, weight) for weight in WEIGHTS}
    weights["read_weight"] += _number(test, "existing_read_weight")
    options = GosbenchOptions.check(
        {**weights, **_sizes(test, left_out), **_numbers(test, left_out), **_end(test, left_out)}
    )
    left_out |= {option: _reason_against(option, value) for option, value in test.items() if _matters(option, value)}
    targets, notes = _services(config)
    return Adopted(
        name=name,
        tool="gosbench",
        options={**options},
        left_out=tuple(left_out.items()),
        notes=tuple(notes),
        target=",".join(targets),
        at_once=targets[1:] and targets,
        waits=True,
    )


def _not_of_tests(config: GosbenchConfig) -> dict[str, str]:
    """The options of S3 services and other sections, each with why it is not taken."""
    named = [name for service in config.services for name, value in service.items() if value]
    reasons = {name: GosbenchOptions.reason_to_leave_out(name) for name in (*named, *config.other_sections)}
    reasons.pop("usePathStyle", None)  # there is a note where it matters
    return reasons


def _services(config: GosbenchConfig) -> tuple[tuple[str, ...], list[str]]:
    """The targets that are proposed, and how they differ from those of the config."""
    endpoints: list[str] = []
    notes = []
    for service in config.services:
        try:
            endpoints.append(endpoint_of(service.get("endpoint", "")))
        except ValueError:  # whose text would have what stands there
            notes.append("endpoint: expected http://HOST:PORT or https://HOST:PORT, so no target is named")
    if any(service.get("usePathStyle", "").lower() not in ("true", "yes", "on", "y") for service in config.services):
        notes.append(f"usePathStyle is not true in it: {_PATH_STYLE}")
    if any(service.get("skipSSLverify", "").lower() in ("true", "yes", "on", "y") for service in config.services):
        notes.append("skipSSLverify: certificates are always verified")
    targets = tuple(dict.fromkeys(f"s3:{endpoint}" for endpoint in endpoints))
    if len(endpoints) > len(targets):
        notes.append("s3_config has several users for an endpoint: a run uses the keys of one, or creates one per node")
    return targets, list(dict.fromkeys(notes))


def _number(test: Mapping[str, str], name: str, *, required: bool = False) -> int:
    text = test.get(name, "")
    if text and not re.fullmatch(r"0|[1-9][0-9]{0,18}", text):
        raise OptionError(name, f"expected a whole number, got {excerpt(text)}")
    if required and not int(text or 0):
        raise OptionError(name, "missing, expected a number above 0")
    return int(text or 0)


def _sizes(test: Mapping[str, str], left_out: dict[str, str]) -> dict[str, object]:
    """The sizes of objects, in the same bytes with their unit."""
    unit = _UNITS.get(test.get("objects.unit", "").upper())
    if unit is None:
        raise OptionError("objects.unit", f"expected one of B, KB, MB, GB, TB, got {excerpt(test.get('objects.unit'))}")
    least, most = _number(test, "objects.size_min", required=True), _number(test, "objects.size_max")
    distribution = test.get("objects.size_distribution", "")
    sizes: dict[str, object] = {"size_min": short_size(least * unit), "size_distribution": distribution}
    if distribution != "constant":
        return {**sizes, "size_max": short_size(most * unit)}
    if most not in (0, least):
        left_out["objects.size_max"] = "not needed: constant sizes are all size_min"
    return sizes


def _numbers(test: Mapping[str, str], left_out: dict[str, str]) -> dict[str, object]:
    """How many objects, buckets and clients."""
    numbers: dict[str, object] = {"parallel_clients": _number(test, "parallel_clients", required=True)}
    for section in ("objects", "buckets"):
        least, most = f"{section}.number_min", f"{section}.number_max"
        distribution = test.get(f"{section}.number_distribution", "")
        if distribution != "constant":
            problem = f"expected constant, since a preset has one number of {section}, got {excerpt(distribution)}"
            raise OptionError(f"{section}.number_distribution", problem)
        numbers[section] = _number(test, least, required=True)
        if _number(test, most) not in (0, numbers[section]):
            left_out[most] = "not needed: with number_distribution constant gosbench takes number_min"
    return numbers


def _end(test: Mapping[str, str], left_out: dict[str, str]) -> dict[str, object]:
    """When it ends; too few operations would end before the mix is the one asked for."""
    seconds, operations = _seconds(test.get("stop_with_runtime", "")), _number(test, "stop_with_ops")
    if seconds and operations:
        left_out["stop_with_ops"] = "not needed: with both gosbench takes stop_with_runtime"
    if seconds:
        return {"runtime": seconds}
    queue = _number(test, "objects.number_min") * _number(test, "buckets.number_min")
    if not operations:
        raise OptionError("stop_with_runtime", "missing, and so is stop_with_ops: gosbench would not run this either")
    if operations >= queue:
        return {"stop_with_ops": operations}
    early = f"{operations} operations are fewer than {queue} objects, one each"
    left_out["stop_with_ops"] = f"not allowed: {early}, so it runs for 60 s: runtime is for other times"
    return {"runtime": 60}


def _seconds(text: str) -> float:
    """The seconds of one of Go's durations: ``1m30s``; raises OptionError."""
    parts = _DURATION.findall(text)
    if "".join(map("".join, parts)) == text and len(text) < 100:
        return sum(float(number) * _SECONDS[unit] for number, unit in parts)
    if text == "0":
        return 0.0
    unitless = ": without a unit gosbench takes nanoseconds" if text.isdecimal() else ""
    raise OptionError("stop_with_runtime", f"expected a time such as 60s, 5m or 1h30m, got {excerpt(text)}{unitless}")


def _matters(option: str, value: str) -> bool:
    """Whether it is to be answered; what is not set, or 0, does nothing."""
    return option not in _TAKEN and value not in ("", "0")


def _reason_against(option: str, value: str) -> str:
    if option == "existing_read_weight":
        return "not needed: buckets are new, and objects are written before they are read: read_weight includes both"
    reason = GosbenchOptions.reason_to_leave_out(option.rpartition(".")[2])
    replaced = (
        f"; {one_line(value)[:63]} is replaced by names that begin with cephtui-" if option == "bucket_prefix" else ""
    )
    return f"{reason}{replaced}"
