"""Plans of packaged presets."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from cephtui.models import Node, Plan, Step
from cephtui.paths import packaged_presets_dir
from cephtui.planning import Prefilled, Request, make_plan
from cephtui.presets import Catalogue, Preset, choose, find_presets, parse_overrides
from cephtui.targets import Target, parse_target

FILE = "file:/mnt/bench/test"
OWNER = "0a1b2c3d"
"""Who creates targets."""


@cache
def catalogue() -> Catalogue:
    """The packaged presets, without any of a user."""
    return find_presets(packaged_presets_dir(), Path("/nonexistent"))


def packaged(*names: str) -> tuple[Preset, ...]:
    """The packaged presets of these names."""
    return choose(catalogue(), names)


def request(
    *presets: str,
    nodes: Iterable[str | Node] = ("local",),
    target: str | Target = FILE,
    options: Iterable[str] = (),
    **fields: Any,
) -> Request:
    """Packaged presets with changed ``options`` (``iodepth=1,4``) on a target; a node's host has its name."""
    hosts = tuple(
        node if isinstance(node, Node) else Node(name=node, host=None if node == "local" else node) for node in nodes
    )
    parsed = parse_target(target, owner_id=OWNER) if isinstance(target, str) else target
    return Request(packaged(*presets), hosts, parsed, parse_overrides(options), **fields)


def plan_of(request: Request, prefilled: Prefilled | None = None) -> Plan:
    """Its batches are 00000001, 00000002, ..."""
    batches = (f"{number:08x}" for number in itertools.count(1))
    return make_plan(request, lambda: next(batches), prefilled)


def plan(*presets: str, **fields: Any) -> Plan:
    """The plan of such a request."""
    return plan_of(request(*presets, **fields))


def step(**fields: Any) -> Step:
    """A step of a minute, of no node."""
    usual = {
        "preset": "write-iops",
        "tool": "fio",
        "batch": "b",
        "target": FILE,
        "span_bytes": 1 << 30,
        "options": {},
        "nodes": (),
        "prepare_seconds": 0.0,
        "ramp_seconds": 0.0,
        "run_seconds": 60.0,
    }
    return Step(**{**usual, **fields})
