"""Suites in the console: in the picker of presets, and as entries of the queue that are one order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from cephtui.models import Node
from cephtui.paths import packaged_presets_dir, packaged_suites_dir
from cephtui.planning import new_batch
from cephtui.presets import Catalogue, find_presets
from cephtui.running.queue import Queue
from cephtui.sessions import store
from cephtui.suites import Suite, Suites, find_suites
from cephtui.targets import parse_target, with_data_pool
from cephtui.tools.base import OptionError
from cephtui.tui.console.suites import Queued, notice, queued
from cephtui.tui.pickers.presets import PresetPicker
from tests.golden import Golden
from tests.replayed import connector_to, console, console_screen, held, running, said, screen_text, until

ONE, THREE = (Node(name="pve1"),), tuple(Node(name=f"pve{number}") for number in (1, 2, 3))


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return find_presets(packaged_presets_dir(), Path("/none"))


@pytest.fixture(scope="module")
def suites(catalogue: Catalogue) -> Suites:
    return find_suites(packaged_suites_dir(), Path("/none"), catalogue)


def suite(suites: Suites, name: str) -> Suite:
    found = suites[name]
    assert isinstance(found, Suite)
    return found


def on(suites: Suites, name: str, target: str, nodes: Sequence[Node] = ONE) -> Queued:
    return queued(suite(suites, name), parse_target(target, owner_id=new_batch()), nodes, new_batch())


@pytest.mark.parametrize("target", ["rbd:bench", "pool:bench"])
def test_the_images_and_the_objects_of_a_pool_are_one_target(suites: Suites, target: str, golden: Golden) -> None:
    found = on(suites, "quick", target)
    places = [("rados-write", "pool:bench"), ("write-iops", "rbd:bench"), ("latency", "rbd:bench")]
    assert [(entry.request.preset.name, entry.target) for entry in found.entries] == 3 * places  # in turns
    golden.same(entry.text for entry in found.entries[3:6])  # the last one reads and writes
    assert found.left_out == ()


def test_all_runs_are_one_order(suites: Suites) -> None:
    found = on(suites, "quick", "rbd:bench")
    (ordered,) = {id(entry.ordered): entry.ordered for entry in found.entries}.values()
    assert ordered is not None
    assert (ordered.suite, ordered.order, len(ordered.cells)) == ("quick", "abab", 3)
    assert {entry.batch for entry in found.entries} == {cell.batch for cell in ordered.cells}
    assert found.runs == sum(entry.left for entry in found.entries) == 12  # latency reads, then writes
    assert Queue().push(found.entries).summary.startswith(f"{found.runs} runs waiting, about ")


def test_caches_are_dropped_before_all_runs_of_a_suite_or_before_none(suites: Suites) -> None:
    quick, target = suite(suites, "quick"), parse_target("rbd:bench", owner_id=new_batch())
    for drops in (True, False):
        found = queued(quick, target, ONE, new_batch(), drop_caches=drops)
        assert {entry.request.drop_caches for entry in found.entries} == {drops}
        assert {entry.ordered.drop_caches for entry in found.entries if entry.ordered} == {drops}
        assert all(("caches dropped" in entry.text) is drops for entry in found.entries)


def test_each_node_in_turn_and_all_at_once(suites: Suites) -> None:
    def nodes(found: Queued) -> set[tuple[str, ...]]:
        return {tuple(node.name for node in entry.request.nodes) for entry in found.entries}

    every = on(suites, "proxmox", "rbd:bench", THREE)
    assert nodes(every) == {("pve1",), ("pve2",), ("pve3",), ("pve1", "pve2", "pve3")}
    assert len(on(suites, "proxmox", "rbd:bench").entries) * 4 == len(every.entries)  # one node is all nodes


def test_what_can_not_use_the_target_is_left_out_and_named(suites: Suites, golden: Golden) -> None:
    found = on(suites, "quick", "file:/mnt/test")
    assert {entry.request.preset.name for entry in found.entries} == {"write-iops", "latency"}
    assert found.left_out == ("rados-write",)
    text = notice(suite(suites, "quick"), found, "5 waiting")
    golden.same(text)


def test_nothing_is_put_beside_an_image_or_images_with_their_data_elsewhere(suites: Suites) -> None:
    assert on(suites, "quick", "rbd:bench/own").left_out == ("rados-write",)
    erasure = with_data_pool(parse_target("rbd:bench", owner_id=new_batch()), "data")
    assert queued(suite(suites, "quick"), erasure, ONE, new_batch()).left_out == ("rados-write",)


def test_a_suite_without_a_step_for_the_target_is_an_error(suites: Suites) -> None:
    with pytest.raises(OptionError, match="rados"):
        queued(suite(suites, "study"), parse_target("file:/mnt/test"), ONE, new_batch())


async def test_a_suite_is_found_in_the_picker_and_queued(tmp_path: Path, golden: Golden) -> None:
    hosts = held("local")
    async with console(tmp_path, connect=connector_to(hosts), speed=1, size=(120, 36)) as (app, pilot):
        await pilot.press("p")
        await until(pilot, lambda: isinstance(app.screen, PresetPicker))
        await pilot.press(*"quick", "check")
        await until(pilot, lambda: "suites" in screen_text(app) and "3 steps, 12 runs" in screen_text(app))
        await pilot.press("enter")
        await running(app, pilot)
        (left_out,) = (text for text in said(app) if "rados-write" in text)
        assert "quick, 9 runs" in left_out
        golden.same(left_out.rpartition("; ")[2])
        ordered = store.read_ordered(tmp_path / "sessions" / "tuning")
        assert ordered is not None
        assert [cell.step for cell in ordered.cells] == ["write-iops", "latency"]
        assert len(app._dispatcher.queue.entries) == 5
        await pilot.press("M")
        await until(pilot, lambda: "Quick check" in screen_text(app) and "running 1 " in screen_text(app))
        for counted in (r"running 1 \w+ 3\b", r"\b0 \w+ 9 runs"):
            assert re.search(counted, screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is console_screen(app))
