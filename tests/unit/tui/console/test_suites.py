"""Suites in the console: in the picker of presets, and as entries of the queue that are one order."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from cephtui.models import Node
from cephtui.models.manner import AS_USUAL, Manner
from cephtui.ordering import plans_of
from cephtui.paths import packaged_suites_dir
from cephtui.planning import new_batch
from cephtui.sessions.studies import read_studies
from cephtui.studies.base import Study
from cephtui.studies.queue import Entry
from cephtui.suites import Suite, Suites, find_suites
from cephtui.targets import parse_target, with_data_pool
from cephtui.tools.base import OptionError
from cephtui.tui.console.chooser import queued_text
from cephtui.tui.console.how_often import HowOftenScreen
from cephtui.tui.console.ordered import Site, study_of_suite
from cephtui.tui.pickers.presets import PresetPicker
from tests.support import plans
from tests.support.golden import Golden
from tests.support.replayed import connector_to, console, console_screen, held, running, said, screen_text, shown, until

ONE, THREE = (Node(name="pve1"),), tuple(Node(name=f"pve{number}") for number in (1, 2, 3))


@pytest.fixture(scope="module")
def suites() -> Suites:
    return find_suites(packaged_suites_dir(), Path("/none"), plans.catalogue())


def suite(suites: Suites, name: str) -> Suite:
    found = suites[name]
    assert isinstance(found, Suite)
    return found


def on(
    suites: Suites, name: str, target: str, nodes: tuple[Node, ...] = ONE, *, manner: Manner = AS_USUAL
) -> tuple[Study[Any], tuple[str, ...]]:
    site = Site(parse_target(target, owner_id=new_batch()), nodes, new_batch(), manner=manner)
    return study_of_suite(suite(suites, name), site)


@pytest.mark.parametrize("target", ["rbd:bench", "pool:bench"])
def test_the_images_and_the_objects_of_a_pool_are_one_target(suites: Suites, target: str) -> None:
    study, left_out = on(suites, "quick", target)
    places = [("rados-write", "pool:bench"), ("write-iops", "rbd:bench"), ("latency", "rbd:bench")]
    assert [(draft.preset.name, draft.target.spec) for draft in study.drafts()] == 3 * places  # in turns
    assert left_out == ()


def test_all_runs_are_one_study(suites: Suites, golden: Golden) -> None:
    study, _ = on(suites, "quick", "rbd:bench")
    assert (study.saved.suite, study.saved.order, len(study.saved.cells)) == ("quick", "abab", 3)
    entry = Entry(study).planned(plans_of)
    assert (entry.extent.least_runs, entry.extent.most_runs) == (12, 12)  # latency reads, then writes
    golden.same([entry.name, entry.text])


def test_what_is_optional_in_a_suite_is_so_in_the_console_and_nothing_else(suites: Suites) -> None:
    for name, value in suites.items():
        if isinstance(value, Suite):
            study, _ = on(suites, name, "rbd:bench")
            optional = {step.title: step.optional for step in value.steps}
            assert {cell.step: cell.optional for cell in study.saved.cells}.items() <= optional.items()


def test_all_runs_of_a_suite_are_measured_in_one_manner(suites: Suites) -> None:
    for manner in (Manner(drop_caches=True), Manner(quiet="all"), AS_USUAL):
        study, _ = on(suites, "quick", "rbd:bench", manner=manner)
        assert {request.manner for request in study.requests} == {manner}
        assert study.saved.manner == manner
        assert ("caches dropped" in Entry(study).text) is manner.drop_caches
        assert ("quiet cluster" in Entry(study).text) is bool(manner.quiet)


def test_each_node_in_turn_and_all_at_once(suites: Suites) -> None:
    every, _ = on(suites, "proxmox", "rbd:bench", THREE)
    assert {cell.nodes for cell in every.saved.cells} == {("pve1",), ("pve2",), ("pve3",), ("pve1", "pve2", "pve3")}
    alone, _ = on(suites, "proxmox", "rbd:bench")
    assert len(alone.saved.cells) * 4 == len(every.saved.cells)  # one node is all nodes


def test_what_can_not_use_the_target_is_left_out_and_named(suites: Suites, golden: Golden) -> None:
    study, left_out = on(suites, "quick", "file:/mnt/test")
    assert [cell.preset for cell in study.saved.cells] == ["write-iops", "latency"]
    assert left_out == ("rados-write",)
    golden.same(queued_text(Entry(study).planned(plans_of), left_out, "5 waiting"))


def test_nothing_is_put_beside_an_image_or_images_with_their_data_elsewhere(suites: Suites) -> None:
    assert on(suites, "quick", "rbd:bench/own")[1] == ("rados-write",)
    erasure = with_data_pool(parse_target("rbd:bench", owner_id=new_batch()), "data")
    assert study_of_suite(suite(suites, "quick"), Site(erasure, ONE, new_batch()))[1] == ("rados-write",)


def test_a_suite_without_a_step_for_the_target_is_an_error(suites: Suites) -> None:
    with pytest.raises(OptionError, match="rados"):
        on(suites, "study", "file:/mnt/test")


async def test_a_suite_is_found_in_the_picker_and_queued(tmp_path: Path, golden: Golden) -> None:
    hosts = held("local")
    async with console(tmp_path, connect=connector_to(hosts), speed=1, size=(120, 36)) as (app, pilot):
        await pilot.press("p")
        await until(pilot, lambda: isinstance(app.screen, PresetPicker))
        await pilot.press(*"quick", "check")
        await until(pilot, lambda: "suites" in screen_text(app) and "3 steps, 12 runs" in screen_text(app))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, HowOftenScreen) and "9 runs" in screen_text(app))
        assert "--rw=randwrite" in screen_text(app), "all commands are shown before anything starts"
        await pilot.press("enter")
        await running(app, pilot)
        (left_out,) = (text for text in said(app) if "rados-write" in text)
        assert "quick, 9 runs" in left_out
        golden.same(left_out.rpartition("; ")[2])
        (study,) = read_studies(tmp_path / "sessions" / "tuning")
        assert [cell.step for cell in study.cells] == ["write-iops", "latency"]
        assert app._dispatcher.queue.entries == ()
        assert "1 of 6: write-iops" in shown(app, "StudyLine")
        await pilot.press("M")
        await until(pilot, lambda: "Quick check" in screen_text(app) and "running 1 " in screen_text(app))
        for counted in (r"running 1 \w+ 3\b", r"\b0 \w+ 9 runs"):
            assert re.search(counted, screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is console_screen(app))
