"""What is asked of an image before it is measured."""

from __future__ import annotations

import json
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from cephtui.nodes.transport import Completed
from cephtui.running.node_run import NodeRun
from cephtui.targets import parse_target
from tests.support.clusters import RecordedShell
from tests.support.plans import plan

IMAGE = {"name": "disk1", "id": "abc", "size": 10 << 30, "object_size": 1 << 20, "features": ["layering"]}


def asked_of(*options: dict[str, str], preset: str = "write-iops", words: Sequence[str] = ()) -> tuple[NodeRun, Any]:
    """What measures an image with these options, and its recorder."""
    step = plan(preset, target="rbd:bench", options=("bs=4M", *words)).steps[0]
    answers = {"rbd_info": json.dumps(IMAGE), "rbd_config_image_list": json.dumps(options)}
    shell = RecordedShell(**{name: Completed(0, text, "") for name, text in answers.items()})
    recorder = SimpleNamespace(operations_per_io=1.0)
    task: Any = SimpleNamespace(
        step=step, node_step=step.nodes[0], target=parse_target("rbd:bench"), shell=shell, recorder=recorder, name="n1"
    )
    return NodeRun(task), recorder


async def test_the_size_of_objects_decides_what_an_io_is() -> None:
    node, recorder = asked_of({"name": "rbd_qos_iops_limit", "value": "500", "source": "image"})
    facts = await node.image_facts()
    assert facts == {"image_features": ("layering",), "image_limits": {"rbd_qos_iops_limit": 500.0}}
    assert (recorder.operations_per_io, node.findings) == (4, [])


@pytest.mark.parametrize(("source", "where"), [("pool", "bench"), ("image", "bench/")])
async def test_a_cache_that_is_set_for_an_image_or_its_pool_is_found(source: str, where: str) -> None:
    node, recorder = asked_of({"name": "rbd_cache", "value": "true", "source": source}, words=["fsync=64"])
    await node.image_facts()
    (finding,) = node.findings
    assert (finding.code, finding.level, recorder.operations_per_io) == ("librbd-cache", "invalidates", None)
    assert finding.values["option"] == "rbd_cache=true"
    assert str(finding.values[source]).startswith(where)
    assert finding.cure.startswith(f"switch the cache off while you measure: rbd config {source} set {where}")


@pytest.mark.parametrize(
    ("preset", "words", "others", "takes_part"),
    [
        ("write-iops", (), {}, False),
        ("write-iops", ("fsync=64",), {}, True),
        ("write-iops", (), {"rbd_cache_writethrough_until_flush": ("false", "pool")}, True),
        ("write-iops", (), {"rbd_cache_writethrough_until_flush": ("false", "config")}, False),  # rbd's own
        ("write-iops", ("fsync=64",), {"rbd_cache_policy": ("writethrough", "image")}, False),
        ("write-iops", ("fsync=64",), {"rbd_cache_max_dirty": ("0", "config")}, False),
        ("read-iops", (), {}, False),
        ("read-iops", (), {"rbd_cache_policy": ("writeback", "config")}, True),
        ("read-iops", (), {"rbd_cache_policy": ("writethrough", "config")}, True),
        ("mixed-75-25", (), {"rbd_cache_policy": ("writethrough", "config")}, True),
    ],
)
async def test_only_a_cache_that_may_answer_ios_is_a_finding(
    preset: str, words: Sequence[str], others: dict[str, tuple[str, str]], takes_part: bool
) -> None:
    settings = {"rbd_cache": ("true", "image"), **others}
    options = [{"name": name, "value": value, "source": source} for name, (value, source) in settings.items()]
    node, _ = asked_of(*options, preset=preset, words=words)
    await node.image_facts()
    assert [finding.code for finding in node.findings] == (["librbd-cache"] if takes_part else [])
