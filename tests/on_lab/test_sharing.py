"""Several consoles at once on one pool, image, device or file."""

from __future__ import annotations

from typing import Any

from tests.on_lab.others import SMALL, Others, said
from tests.on_lab.runs import ENDLESS, Bench, Console, sets

LONG: dict[str, Any] = {**SMALL, "runtime": ENDLESS}


def made_by(console: Console) -> set[str]:
    """What a console has said that it makes."""
    (plan,) = [event for event in console.events if event["event"] == "plan"]
    return {part["spec"] for step in plan["steps"] for node in step["nodes"] for part in node["parts"]}


def test_what_a_killed_console_left_is_removed_without_harm_to_one_that_runs(bench: Bench, pool: str) -> None:
    """Both with the same lists of what they made, on the same pool, and on one host."""
    lab = bench.lab
    others = Others(lab, pool)
    words = ["--shared-pool"]
    few = [*words, *sets(**{"block-size": "4K", "concurrent-ios": 1})]
    living = bench.start("write-iops", target=f"rbd:{pool}", words=words, **LONG)
    objects = bench.start("rados-write", on=["lab2"], target=f"pool:{pool}", words=few, runtime=ENDLESS)
    dying = [
        bench.start("write-iops", target=f"rbd:{pool}", words=words, **LONG),
        bench.start("rados-write", on=["lab2"], target=f"pool:{pool}", words=few, runtime=ENDLESS),
    ]
    for console in (living, objects, *dying):
        console.wait_for_samples(1, seconds=90)
    parts = [made_by(console) for console in (living, objects, *dying)]
    assert len(set().union(*parts)) == len(parts)  # no two have anything in common
    for console in dying:
        console.process.kill()
    for console in dying:
        console.wait()

    cleanup = bench.cleanup("--yes", env={"COLUMNS": "400"})

    assert cleanup.process.returncode == 0, cleanup.describe()
    text = cleanup.stdout + cleanup.stderr
    assert [target for target in parts[2] | parts[3] if target not in text] == []
    assert not any(target in text for target in parts[0] | parts[1])
    for console in (living, objects):
        assert console.process.poll() is None
        seen = len(console.samples())
        console.wait_for_samples(seen + 2)
        console.process.terminate()
        assert console.wait() == 4, console.describe()
        assert console.runs[0]["outcome"] == "stopped"
        after = [flow for one in console.samples()[seen:] for flow in (one["read"], one["write"]) if flow]
        assert sum(flow["ios"] for flow in after) > 0
    others.assert_unchanged()


def test_what_one_console_uses_is_refused_to_another(bench: Bench, pool: str) -> None:
    lab = bench.lab
    lab.rbd("create", "--size", "16", f"{pool}/data")
    file = "file:/var/tmp/cephtui-shared"
    with lab.loop_device(16 << 20) as device:
        asked = [
            ("lab1", f"rbd:{pool}/data", ["--destroy", "data", "--shared-pool"], f"{pool}/data "),
            ("lab2", f"device:{device}", ["--destroy", device.name], f"{device} "),
            ("lab3", file, [], "/var/tmp/cephtui-shared "),
        ]
        first = [
            bench.start("write-iops", on=[node], target=target, words=words, **LONG) for node, target, words, _ in asked
        ]
        for console in first:
            console.wait_for_samples(1, seconds=90)
        second = [
            bench.start("write-iops", on=[node], target=target, words=[*words, "--dry-run"], **SMALL)
            for node, target, words, _ in asked
        ]
        for console, (_, _, _, why) in zip(second, asked, strict=True):
            assert why in said(console)
        # for real, too
        third = [
            bench.start("write-iops", on=[node], target=target, words=words, **SMALL)
            for node, target, words, _ in asked
        ]
        for console in third:
            assert console.wait() == 3, console.describe()
        for console in first:
            assert console.process.poll() is None
            console.process.terminate()
        for console in first:
            assert console.wait() == 4, console.describe()
            assert console.runs[0]["outcome"] == "stopped"
    assert lab.rbd("ls", pool).split() == ["data"]
    assert not lab.outside("lab3", "/var/tmp/cephtui-shared").exists()


def test_two_consoles_on_one_pool_end_as_if_alone(bench: Bench, pool: str) -> None:
    lab = bench.lab
    others = Others(lab, pool)
    words = ["--shared-pool"]
    consoles = [
        bench.start("write-iops", "read-iops", on=["lab1", "lab2"], target=f"rbd:{pool}", words=words, **SMALL),
        bench.start("read-iops", on=["lab1"], target=f"rbd:{pool}", words=words, **SMALL),
        bench.start("rados-seq", on=["lab2", "lab3"], target=f"pool:{pool}", words=words, runtime=2),
    ]
    for console in consoles:
        assert console.wait(120) == 0, console.describe()
        assert {run["outcome"] for run in console.runs} == {"ok"}
    names = {run["session"] for console in consoles for run in console.runs}
    assert len(names) == len(consoles)
    others.assert_unchanged()
    assert bench.cephtui("cleanup", "--yes").complaints == []
