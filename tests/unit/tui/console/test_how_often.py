"""How often it is measured, chosen in the console: what is typed becomes a study, with its cost before it starts."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, Static

from cephtui.ceph.qos import Limits
from cephtui.models import Node
from cephtui.models.manner import Manner
from cephtui.models.study import Cell, CheckGoal
from cephtui.ordering import plans_of
from cephtui.running.node_requests import NodeRequests
from cephtui.sessions.studies import read_studies
from cephtui.studies import KINDS, StudyKind, WrongText, kind_of
from cephtui.studies.queue import Entry, Queue
from cephtui.targets import parse_target
from cephtui.targets.base import TargetFault
from cephtui.tools.base import OptionError
from cephtui.tui.console.app import ConsoleApp
from cephtui.tui.console.form import FormScreen
from cephtui.tui.console.how_often import HowOftenScreen, OptionInput, commands_of
from cephtui.tui.console.ordered import Site, study_of_volume
from tests.support.conducting import study
from tests.support.golden import Golden
from tests.support.plans import packaged
from tests.support.replayed import console, console_screen, finished, in_a_run, said, saved, shown, until
from tests.support.runs import WRITE_IOPS

ROWS = pytest.mark.parametrize("row", KINDS.values(), ids=lambda row: row.kind)


# ------------------------------------------------------------------ what is typed


@ROWS
def test_each_field_says_what_it_is(row: StudyKind) -> None:
    names = [option.field for option in row.fields]
    assert len({*names}) == len(names)
    assert all(option.title and option.help and option.field for option in row.fields)
    assert all(option.example for option in row.fields if not option.is_flag)


@ROWS
def test_the_example_of_a_figure_is_one(row: StudyKind) -> None:
    texts = {option.field: option.example for option in row.fields if not (option.is_command or option.is_flag)}
    texts = {name: text for name, text in texts.items() if text != "none"}
    values = row.values(texts)
    assert values.keys() == texts.keys()
    study("write-iops", kind=row.kind, goal=kind_of(row.kind).ordered(study("write-iops").saved, values).goal)


@ROWS
def test_nothing_typed_is_as_usual(row: StudyKind) -> None:
    if row.kind == "bounded":
        with pytest.raises(WrongText, match="such as p99=5ms"):
            row.values({"within": " "})
    else:
        assert row.values({option.field: " " for option in row.fields}) == {}


@pytest.mark.parametrize(
    ("kind", "field", "text"),
    [
        ("runs", "repeats", "x"),
        ("runs", "repeats", "1001"),
        ("runs", "order", "aabb"),
        ("runs", "expect", "iops"),
        ("runs", "promised", "many"),
        ("stable", "percent", "0"),
        ("sweep", "confirm", "perhaps"),
        ("check", "change", "a\x1b[2J"),
        ("check", "most", "9"),
        ("bounded", "within", "p99"),
    ],
)
def test_what_is_wrong_is_said_with_its_field(kind: str, field: str, text: str, golden: Golden) -> None:
    with pytest.raises(WrongText) as error:
        KINDS[kind].values({field: text})
    assert error.value.option.field == field
    golden.same(str(error.value))


def ordered(kind: str, **values: Any) -> tuple[CheckGoal | None, tuple[Cell, ...]]:
    saved = kind_of(kind).ordered(study("write-iops", "read-iops", repeats=2).saved, values)
    return (CheckGoal.model_validate(saved.goal) if kind == "check" else None), saved.cells


def test_runs_have_their_repeats_and_what_is_expected_of_them() -> None:
    _, cells = ordered("runs", repeats=3, expect=("iops>=5",))
    assert [(cell.repeats, cell.expect) for cell in cells] == [(3, ("iops>=5",))] * 2
    assert [cell.repeats for cell in ordered("runs")[1]] == [2, 2], "as in the form, where nothing is typed"


def test_other_kinds_decide_themselves_how_often() -> None:
    assert [cell.repeats for cell in ordered("stable", percent=5.0)[1]] == [1, 1]


def test_a_check_asks_what_is_typed() -> None:
    usual, cells = ordered("check")
    assert usual
    assert usual.before == tuple(cell.batch for cell in cells)
    assert (usual.takes_turns, usual.is_commanded, usual.before_runs, usual.most) == (False, False, 6, 12)
    goal, _ = ordered("check", change="x", undo="y", fixed=3, require_percent=-5.0)
    assert goal
    assert (goal.takes_turns, goal.is_commanded, goal.fixed, goal.most) == (True, True, 3, None)
    assert (goal.require_percent, goal.same_percent) == (-5.0, 5.0)
    with pytest.raises(ValueError, match="--undo needs --change"):
        ordered("check", undo="y")


def test_a_check_is_of_one_place() -> None:
    several = study("write-iops", paths=["/x", "/y"])
    kind = kind_of("check")
    with pytest.raises(ValueError, match="one target"):
        kind(kind.ordered(several.saved, {}), several.requests).drafts()


def test_commands_are_no_part_of_what_is_saved() -> None:
    values = {"change": "ceph osd set noscrub", "undo": "ceph osd unset noscrub"}
    saved = kind_of("check").ordered(study("write-iops").saved, values)
    assert "noscrub" not in saved.model_dump_json()
    commands = commands_of(KINDS["check"], values)
    assert (commands.change, commands.undo) == (values["change"], values["undo"])


def test_of_a_volume_reads_writes_and_both_have_to_reach_what_is_promised(golden: Golden) -> None:
    (preset,) = packaged("provisioned")
    nodes = Node(name="pve1"), Node(name="pve2")
    site = Site(
        parse_target("rbd:bench/disk", owner_id="0a1b2c3d"), nodes[:1], "0a1b2c3d", manner=Manner(drop_caches=True)
    )
    promised = study_of_volume(preset, {"runtime": 90}, site, Limits(iops=8000.0), [1], 2)
    assert [(cell.options["rw"], cell.expect, cell.repeats) for cell in promised.saved.cells] == [
        (rw, ("iops>=8000",), 2) for rw in ("randread", "randwrite", "randrw")
    ]
    assert all(cell.volume and cell.volume.name == "rbd:bench/disk" for cell in promised.saved.cells)
    assert {request.manner for request in promised.requests} == {Manner(drop_caches=True)}
    entry = Entry(promised).planned(plans_of)
    golden.same([entry.name, entry.text, Queue((entry,)).summary])
    with golden.raises(OptionError):
        study_of_volume(preset, {}, replace(site, nodes=nodes), Limits(iops=8000.0), [1], 1)
    pool = replace(site, target=parse_target("rbd:bench", owner_id="0a1b2c3d"))
    with golden.raises(OptionError):
        study_of_volume(preset, {}, pool, Limits(iops=8000.0), [1, 8], 1)
    jobs = study_of_volume(preset, {}, site, Limits(read_iops=500.0), [1, 8], 1)
    assert [(cell.options["numjobs"], cell.options["rw"]) for cell in jobs.saved.cells] == [
        (1, "randread"), (1, "randrw"), (8, "randread"), (8, "randrw")
    ]  # fmt: skip


# ------------------------------------------------------------------ the dialog


def text_of(app: ConsoleApp, selector: str) -> str:
    return str(app.screen.query_one(selector, Static).visual)


async def opened(app: ConsoleApp, pilot: Pilot[None], kind: str) -> None:
    """Open the dialog at this kind."""
    await pilot.press("H")
    await until(pilot, lambda: isinstance(app.screen, HowOftenScreen))
    await pilot.press(*["down"] * [*KINDS].index(kind))
    assert app.screen.query_one(OptionList).highlighted == [*KINDS].index(kind)


async def test_until_stable_is_planned_shown_and_measured(tmp_path: Path, golden: Golden) -> None:
    async with console(tmp_path, run=WRITE_IOPS, speed=200, size=(80, 24)) as (app, pilot):
        await pilot.press("2")
        await opened(app, pilot, "stable")
        golden.same(text_of(app, "#cost"))
        assert "--rw=randwrite" in text_of(app, "#plan")
        assert saved(tmp_path) == [], "nothing starts before it is asked for"
        await pilot.press("enter")
        await until(pilot, lambda: len(saved(tmp_path)) == 5)
        await finished(app, pilot)
        golden.same(shown(app, "StudyLine"))
    (kept,) = read_studies(tmp_path / "sessions" / "tuning")
    assert kept.kind == "stable"
    assert {run.batch for run in saved(tmp_path)} == {kept.cells[0].batch}


async def test_what_is_wrong_is_shown_and_not_started(tmp_path: Path, golden: Golden) -> None:
    async with console(tmp_path, run=WRITE_IOPS, speed=200, size=(80, 24)) as (app, pilot):
        await pilot.press("2")
        await opened(app, pilot, "bounded")
        golden.same(text_of(app, "#cost"))
        await pilot.press("enter")
        assert isinstance(app.screen, HowOftenScreen)
        assert app.screen.focused is app.screen.query_one("#fields-bounded Input", Input)
        await pilot.press(*"p99=5ms")
        await until(pilot, lambda: " runs, " in text_of(app, "#cost"))
        app.screen.query_one("#presets", Input).value = "latency, nothing"
        await until(pilot, lambda: "nothing" in text_of(app, "#cost"))
        app.screen.query_one("#presets", Input).value = "latency"
        await until(pilot, lambda: "latency" in text_of(app, "#cost"))
        golden.same(text_of(app, "#cost"))
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(app.screen, HowOftenScreen))
    assert saved(tmp_path) == []


async def test_what_is_expected_is_judged_kept_and_told(tmp_path: Path, golden: Golden) -> None:
    async with console(tmp_path, run=WRITE_IOPS, speed=200, size=(80, 24)) as (app, pilot):
        await pilot.press("2")
        await opened(app, pilot, "runs")
        fields = {field.placeholder: field for field in app.screen.query("#fields-runs Input").results(Input)}
        fields["iops>=5000, p99<=5ms"].value = "iops>=1"
        await pilot.press("enter")
        await until(pilot, lambda: any("iops" in text for text in said(app)))
        golden.same(said(app))
    (kept,) = read_studies(tmp_path / "sessions" / "tuning")
    assert kept.cells[0].expect == ("iops>=1",)


async def test_each_preset_of_a_check_has_its_command_and_no_number_that_is_not_known(tmp_path: Path) -> None:
    async with console(tmp_path, run=WRITE_IOPS, speed=200, size=(80, 40)) as (app, pilot):
        await opened(app, pilot, "check")
        names = next(iter(app.screen.query("#presets").results(Input)))
        names.value = "write-iops, read-iops"
        await until(pilot, lambda: "--rw=randread" in text_of(app, "#plan"))
        assert "--rw=randwrite" in text_of(app, "#plan")
        assert "more" not in text_of(app, "#plan")


async def test_a_promise_is_measured_instead_of_the_presets(tmp_path: Path, golden: Golden) -> None:
    async with console(tmp_path, run=WRITE_IOPS, speed=200, size=(80, 24)) as (app, pilot):
        await opened(app, pilot, "runs")
        (field,) = (field for field in app.screen.query(OptionInput) if field.option.title == "promised IOPS")
        field.value = "8k"
        await until(pilot, lambda: "--rw=randrw" in text_of(app, "#plan"))
        golden.same(text_of(app, "#cost"))
        await pilot.press("enter")
        await until(pilot, lambda: len(saved(tmp_path)) == 3 and not app.busy)
        await until(pilot, lambda: any("8,000" in text for text in said(app)))
        golden.same(text for text in said(app) if "8,000" in text)
    (kept,) = read_studies(tmp_path / "sessions" / "tuning")
    assert (kept.suite, len(kept.cells)) == ("provisioned", 3)


@pytest.mark.parametrize(
    "limits", [Limits(write_iops=500.0), Limits(), TargetFault("no answer")], ids=["set", "none", "unknown"]
)
async def test_the_limits_that_are_set_can_be_the_promise(
    tmp_path: Path, golden: Golden, monkeypatch: pytest.MonkeyPatch, limits: Limits | TargetFault
) -> None:
    answer = Future[Limits]()
    monkeypatch.setattr(NodeRequests, "limits", lambda *_: answer)
    async with console(tmp_path, run=WRITE_IOPS, speed=200, size=(80, 24)) as (app, pilot):
        await opened(app, pilot, "runs")
        fields = {field.option.field: field for field in app.screen.query(OptionInput)}
        fields["promised"].value, fields["jobs"].value = "limits", "8"
        await until(pilot, lambda: "reading the limits" in text_of(app, "#cost"))
        answer.set_exception(limits) if isinstance(limits, TargetFault) else answer.set_result(limits)
        await until(pilot, lambda: "reading the limits" not in text_of(app, "#cost"))
        assert ("--numjobs=8" in text_of(app, "#plan")) == (limits == Limits(write_iops=500.0))
        golden.same(text_of(app, "#cost"))
        fields["promised"].value = ""
        await until(pilot, lambda: "for a volume" in text_of(app, "#cost"))


async def test_during_a_run_it_is_queued_and_the_form_leads_there(tmp_path: Path) -> None:
    async with in_a_run(tmp_path, size=(120, 36)) as (app, pilot, _):
        await pilot.press("e")
        await until(pilot, lambda: isinstance(app.screen, FormScreen))
        await pilot.press("f2")
        await until(pilot, lambda: isinstance(app.screen, HowOftenScreen))
        await pilot.press("down", "down", "enter")
        (waiting,) = console_screen(app).dispatcher.queue.entries
        assert (waiting.study.kind, waiting.name) == ("sweep", "write-iops")
        assert any(text.startswith("queued: write-iops, to the knee") for text in said(app))
