"""The form of a preset: every option of its tool, and what is typed is what ``--set`` gives."""

from __future__ import annotations

import contextlib
import math
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.app import App
from textual.pilot import Pilot
from textual.widget import Widget
from textual.widgets import Input, Static

from cephtui import units
from cephtui.models import Node, Plan
from cephtui.models.manner import Manner
from cephtui.paths import packaged_presets_dir
from cephtui.planning import Request, make_plan, new_batch
from cephtui.presets import Choice, Preset, choice_text, load_preset, parse_overrides
from cephtui.targets import parse_target
from cephtui.tools.fio.options import FioOptions
from cephtui.tools.rados_bench.options import RadosBenchOptions
from cephtui.tui import app as app_module
from cephtui.tui.app import CephtuiApp
from cephtui.tui.console import form as form_module
from cephtui.tui.console.app import ConsoleApp
from cephtui.tui.console.edits import Edits
from cephtui.tui.console.form import Direction, Field, FormScreen, neighbour
from cephtui.tui.console.panels import Panels, PresetPanel
from cephtui.tui.widgets.runs_table import RunsTable
from tests.support.golden import Golden
from tests.support.plans import FILE
from tests.support.replayed import (
    burst,
    columns,
    console,
    console_screen,
    finished,
    in_a_run,
    rows,
    saved,
    screen_text,
    shown,
    text_of,
    until,
)
from tests.support.runs import WRITE_IOPS

SMALL, USUAL = (80, 24), (120, 36)
GUIDED = "0a1b2c3d"


def preset(name: str) -> Preset:
    return load_preset(packaged_presets_dir() / f"{name}.toml", user=False)


async def form(app: ConsoleApp, pilot: Pilot[None]) -> FormScreen:
    """Open it."""
    await pilot.press("e")
    await until(pilot, lambda: isinstance(app.screen, FormScreen) and bool(app.screen.query("Input")))
    await pilot.pause()
    assert isinstance(app.screen, FormScreen)
    return app.screen


async def kept(app: ConsoleApp, pilot: Pilot[None], key: str = "enter") -> None:
    """Leave it."""
    await pilot.press(key)
    await until(pilot, lambda: not isinstance(app.screen, FormScreen))


async def type_in(app: App[None], pilot: Pilot[None], option: str, text: str) -> None:
    """Type over what is in a field."""
    app.screen.query_one(f"#{option}").focus()
    await pilot.press("ctrl+u", "ctrl+k", *text)


def values(app: App[None]) -> dict[str, str]:
    return {str(each.id): each.value for each in app.screen.query(Field)}


def said_below(app: App[None], what: str = "preview") -> str:
    return str(app.screen.query_one(f"#{what}", Static).render())


class Bare(CephtuiApp):
    """A form and what it gives."""

    CSS_PATH = Path(app_module.__file__).with_name("app.tcss")

    def __init__(self, name: str, edits: Edits, target: str) -> None:
        super().__init__(Path("/nonexistent"))
        self.preset, self.edits, self.target = preset(name), edits, target
        self.results: list[Edits | None] = []

    def on_mount(self) -> None:
        self.push_screen(FormScreen(self.preset, self.edits, self.preview), self.results.append)

    def preview(self, edits: Edits) -> Plan:
        self.edited = edits
        return self.plan(edits, self.target)

    def plan(self, edits: Edits, spec: str) -> Plan:
        target = parse_target(spec, owner_id=GUIDED)
        request = Request((self.preset,), (Node(name="local"),), target, edits.overrides(self.preset), edits.repeats)
        return make_plan(replace(request, manner=edits.manner), new_batch)


@contextlib.asynccontextmanager
async def bare(
    name: str = "write-iops",
    *,
    edits: Edits | None = None,
    target: str = FILE,
    size: tuple[int, int] = SMALL,
) -> AsyncIterator[tuple[Bare, Pilot[None]]]:
    """A form without the console around it."""
    app = Bare(name, edits or Edits(runtime="20"), target)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: bool(app.screen.query("#repeats")))
        await pilot.pause()
        yield app, pilot


@contextlib.asynccontextmanager
async def opened(
    root: Path, key: str = "2", size: tuple[int, int] = SMALL
) -> AsyncIterator[tuple[ConsoleApp, Pilot[None]]]:
    """The form of a preset with a key."""
    async with console(root, run=WRITE_IOPS, speed=60, size=size) as (app, pilot):
        await pilot.press(*["right"] * (int(key) - 1))
        await form(app, pilot)
        yield app, pilot


# ------------------------------------------------------------------ what is in it


async def test_every_option_of_fio_has_a_field() -> None:
    async with bare() as (app, _):
        fields = values(app)
    assert {*fields} == {*FioOptions.model_fields, "repeats", "order", "drop-caches", "quiet-cluster"}
    own = {option: choice_text(value) for option, value in preset("write-iops").file.options.items()}
    assert {option: fields[option] for option in own if option != "runtime"} == {
        option: value for option, value in own.items() if option != "runtime"
    }
    assert {option for option, value in fields.items() if value} == {*own, "repeats", "drop-caches", "quiet-cluster"}


async def test_every_option_of_rados_bench_has_a_field(tmp_path: Path, golden: Golden) -> None:
    async with console(tmp_path, run=WRITE_IOPS, speed=60, size=SMALL, target="pool:bench") as (app, pilot):
        await pilot.press("p", *"rados-seq", "enter")
        await until(pilot, lambda: "rados-seq: " in shown(app, "#form"))
        await form(app, pilot)
        fields = values(app)
        await type_in(app, pilot, "concurrent-ios", "32")
        assert " -t 32 " in said_below(app)
        golden.same(said_below(app).rpartition("#")[2])  # how much that is turns out in the run
        await kept(app, pilot)
        assert " -t 32 " in shown(app, "#command")
    assert {*fields} == {field.alias or name for name, field in RadosBenchOptions.model_fields.items()} | {
        "repeats",
        "order",
        "drop-caches",
        "quiet-cluster",
    }


async def test_the_command_is_shown_below_as_one_types() -> None:
    async with bare() as (app, pilot):
        assert "--bs=4k --iodepth=64" in said_below(app)
        await type_in(app, pilot, "bs", "64k")
        assert "--bs=64k --iodepth=64" in said_below(app)
        await type_in(app, pilot, "iodepth", "1,4")
        assert "--bs=64k --iodepth=1 " in said_below(app)
        assert "then 1 more" in said_below(app)


def is_scrolled_to(app: App[Any], field: Widget) -> bool:
    """Whether a field can be seen, in full."""
    return field.region.height == 1 and app.screen.query_one("VerticalScroll").region.contains_region(field.region)


async def test_the_keys_go_round_all_fields_and_what_is_allowed_is_said_of_each(golden: Golden) -> None:
    async with bare() as (app, pilot):
        fields, hints = list(values(app)), {}
        order = [*fields[:8], "filter", *fields[8:]]
        for size in (SMALL, USUAL):
            await pilot.resize_terminal(*size)
            seen = []
            for _ in order:
                assert app.focused is not None
                seen.append(str(app.focused.id))
                hints[seen[-1]] = said_below(app, "hint")
                if seen[-1] in fields[8:]:
                    await until(pilot, is_scrolled_to, app, app.focused)
                assert hints[seen[-1]] in " ".join(text_of(app, app.screen.query_one("#hint")).split())
                await pilot.press("tab")
            assert seen == order
            assert app.focused is not None
            assert app.focused.id == fields[0] == "bs", "after the last comes the first"
            await pilot.press("shift+tab")
            assert app.focused.id == fields[-1]
            await pilot.press("tab")
    assert fields[:7] == ["bs", "iodepth", "numjobs", "runtime", "repeats", "order", "drop-caches"]
    assert fields[7] == "quiet-cluster"
    golden.same(hints["iodepth"])
    assert hints["runtime"].endswith("for all presets")
    golden.same(hints["ramp_time"].split("; ")[-2])
    assert hints["direct"].startswith("direct: yes or no")
    assert hints["rw"].startswith("rw: one of read, write, randread")
    golden.same(hints["repeats"])
    assert hints["order"].startswith("order: A B A B or A B B A; for several values")
    assert hints["drop-caches"] == "drop-caches: yes or no; " + form_module.DROP_CACHES.about


ROWS = [["bs", "iodepth"], ["numjobs", "runtime"], ["repeats"], ["filter"], ["size", "rw"], ["rate"]]


@pytest.mark.parametrize(
    ("here", "direction", "there"),
    [
        ("bs", "down", "numjobs"),
        ("iodepth", "down", "runtime"),
        ("runtime", "down", "repeats"),
        ("filter", "down", "size"),
        ("rw", "down", "rate"),
        ("rate", "down", "bs"),
        ("iodepth", "up", "rate"),
        ("runtime", "up", "iodepth"),
        ("bs", "right", "iodepth"),
        ("iodepth", "right", "iodepth"),
        ("runtime", "left", "numjobs"),
        ("numjobs", "left", "numjobs"),
    ],
)
def test_an_arrow_goes_where_it_points(here: str, direction: Direction, there: str) -> None:
    assert neighbour(ROWS, here, direction) == there


async def test_an_arrow_to_the_side_moves_within_the_text_first() -> None:
    async with bare() as (app, pilot):
        await pilot.press("right")
        assert app.focused is not None
        assert app.focused.id == "iodepth"
        await pilot.press("end", "left")
        assert app.focused.id == "iodepth"
        await pilot.press("home", "left")
        assert app.focused.id == "bs"
        await pilot.press("down", "end", "right")
        assert app.focused.id == "runtime"


async def test_the_other_options_are_found_by_their_names_and_what_they_do() -> None:
    async with bare() as (app, pilot):
        everything = list(values(app))
        await pilot.press("slash", *"flush")
        shown = [str(field.id) for field in app.screen.query(Field) if field.display]
        assert shown == [*everything[:8], "fsync"]
        await pilot.press("down", *"32")
        assert values(app)["fsync"] == "32"
        await pilot.press("enter")
        await pilot.pause()
        assert app.focused is app.screen.query_one("#fsync")
        assert all(field.display for field in app.screen.query(Field)), "the form is whole again"
        assert app.results == []
        await pilot.press("enter")
        await until(pilot, lambda: bool(app.results))
    assert app.results[0] is not None
    assert app.results[0].overrides(app.preset) == {"fsync": "32", "runtime": "20"}


@pytest.mark.parametrize("size", [SMALL, USUAL])
async def test_enter_in_the_filter_goes_to_the_first_option_and_escape_shows_all(size: tuple[int, int]) -> None:
    async with bare(size=size) as (app, pilot):
        dialog = app.screen.query_one(".dialog")
        fields = len(values(app))
        await pilot.press("slash", *"refill")
        await pilot.pause()
        assert said_below(app, "more-count") == f"1 of {fields}"
        assert "enter goes to it" in str(dialog.border_subtitle)
        await pilot.press("enter")
        await until(pilot, lambda: app.focused is app.screen.query_one("#refill_buffers"))
        await until(pilot, lambda: is_scrolled_to(app, app.screen.query_one("#refill_buffers")))
        assert said_below(app, "more-count") == "more"
        assert "enter keeps" in str(dialog.border_subtitle)
        await pilot.press("slash", *"no such option", "enter")
        await pilot.pause()
        assert said_below(app, "more-count") == f"0 of {fields}"
        assert (app.results, app.focused) == ([], app.screen.query_one("#filter"))
        await pilot.press(*["backspace"] * len("no such option"), *"runtime", "enter")
        await until(pilot, lambda: app.focused is app.screen.query_one("#runtime"))
        await pilot.press("slash", "x", "escape")
        await pilot.pause()
        assert app.results == []
        assert all(field.display for field in app.screen.query(Field))
        await pilot.press("escape")
        await until(pilot, lambda: app.results == [None])


async def test_what_the_target_runs_instead_is_said() -> None:
    async with bare(target="rbd:bench/image") as (app, pilot):
        assert {"runs", "ioengine=rbd", "iodepth=512", "numjobs=1"} <= {*said_below(app, "summary").split()}
        labels = {str(field.id): str(field.label.render()) for field in app.screen.query(Field)}
        assert (labels["ioengine"], labels["iodepth"]) == ("ioengine, runs rbd", "depth (iodepth), runs 512")
        await pilot.press("tab")
        await pilot.pause()
        assert said_below(app, "hint").endswith("; this target runs 512")


async def test_an_empty_field_shows_what_it_uses() -> None:
    async with bare() as (app, pilot):
        for option in ("numjobs", "rw", "end_fsync", "size"):
            await type_in(app, pilot, option, "")
        shown = {str(field.id): field.placeholder for field in app.screen.query(Field)}
        assert (shown["numjobs"], shown["rw"]) == ("8", "randwrite"), "the preset's"
        assert (shown["ramp_time"], shown["end_fsync"]) == ("2", "not set")
        assert "--numjobs=8 " in said_below(app)
        assert f"--size={shown['size']} " in said_below(app)
        await type_in(app, pilot, "numjobs", "2")
        assert f"--size={app.screen.query_one('#size', Field).placeholder} " in said_below(app)
        assert app.screen.query_one("#size", Field).placeholder == "512M"


async def test_what_differs_from_the_preset_is_bold() -> None:
    async with bare(edits=Edits()) as (app, pilot):
        field = app.screen.query_one("#iodepth", Field)
        assert not app.screen.query(".changed")
        await type_in(app, pilot, "iodepth", "32")
        assert field.styles.text_style.bold
        assert field.label.styles.text_style.bold
        await type_in(app, pilot, "iodepth", "64")
        assert not app.screen.query(".changed")


async def test_what_it_costs_is_said_in_a_line() -> None:
    async with bare() as (app, pilot):
        assert said_below(app, "summary") == "1 run, about 28 s, writes 1.00 GiB first"
        await type_in(app, pilot, "iodepth", "1,4,16")
        await type_in(app, pilot, "repeats", "2")
        assert said_below(app, "summary") == "6 runs, about 2:23 min, writes 1.00 GiB first"


async def test_dropping_caches_is_ticked_with_space_and_part_of_what_is_kept() -> None:
    async with bare() as (app, pilot):
        app.screen.query_one("#drop-caches", Input).focus()
        for value, kept, note in (("yes", True, True), ("no", False, False), ("yes", True, True)):
            await pilot.press("space")
            await pilot.pause()
            assert app.screen.query_one("#drop-caches", Input).value == value
            assert app.edited.manner.drop_caches is kept
            assert said_below(app).endswith(", drops caches") is note
        await pilot.press("enter")
        await until(pilot, lambda: bool(app.results))
    assert app.results[0] is not None
    assert app.results[0].manner == Manner(drop_caches=True)
    assert app.results[0].overrides(app.preset) == {"runtime": "20"}


async def test_a_quiet_cluster_is_ticked_with_space_or_typed_where_it_is_all(golden: Golden) -> None:
    async with bare() as (app, pilot):
        app.screen.query_one("#quiet-cluster", Input).focus()
        await pilot.press("space")
        await pilot.pause()
        assert app.edited.manner == Manner(quiet="scrubs")
        golden.same(said_below(app).rpartition("#")[2])
        await type_in(app, pilot, "quiet-cluster", "all")
        await pilot.press("enter")
        await until(pilot, lambda: bool(app.results))
    assert app.results[0] is not None
    assert app.results[0].manner == Manner(quiet="all")


async def test_an_order_that_has_no_effect_says_so(golden: Golden) -> None:
    async with bare() as (app, pilot):
        for iodepth, repeats, has_effect in (("4", "2", False), ("1,4", "1", False), ("1,4", "2", True)):
            await type_in(app, pilot, "iodepth", iodepth)
            await type_in(app, pilot, "repeats", repeats)
            await type_in(app, pilot, "order", "ABBA")
            golden.same(said_below(app, "summary"))
            assert app.edited.order_of(app.preset) == ("abba" if has_effect else None)
        await pilot.press("enter")
        await until(pilot, lambda: bool(app.results))


@pytest.mark.parametrize("size", [SMALL, USUAL])
async def test_nothing_moves_when_a_message_changes_its_length(size: tuple[int, int]) -> None:
    async with bare(size=size) as (app, pilot):
        regions = []
        for text in ("4k", "nonsense", "4k,8k,16k,32k,64k,128k,256k,512k,1M,2M"):
            await type_in(app, pilot, "bs", text)
            await pilot.pause()
            regions.append({widget.id: widget.region for widget in app.screen.query("#summary, #preview, #hint, #bs")})
        assert regions[0] == regions[1] == regions[2]
        assert app.screen.query_one("#summary").region.height == 2


# ------------------------------------------------------------------ wrong values


WRONG = [
    ("bs", "4kib"),
    ("bs", "4k,5x"),
    ("iodepth", "0"),
    ("numjobs", "many"),
    ("rw", "randwrit"),
    ("direct", "perhaps"),
    ("runtime", "0"),
    ("runtime", "1 week"),
    ("size", "1k"),
    ("rwmixread", "101"),
    ("random_distribution", "zipf"),
    ("repeats", "0"),
    ("repeats", "1e3"),
    ("repeats", "1001"),
    ("order", "aabb"),
    ("drop-caches", "perhaps"),
    ("quiet-cluster", "quite"),
]


async def test_a_wrong_value_is_named_as_one_types_and_can_not_be_kept() -> None:
    async with bare() as (app, pilot):
        before = values(app)
        for option, text in WRONG:
            app.screen.query_one(f"#{option}", Input).value = text
            await pilot.pause()
            assert said_below(app, "summary").startswith(f"{option}: expected "), (option, text)
            assert {str(each.id) for each in app.screen.query("Input.wrong")} == {option}, (option, text)
            await pilot.press("enter")
            await pilot.pause()
            assert app.results == [], (option, text)
            assert app.focused is not None
            assert app.focused.id == option
            app.screen.query_one(f"#{option}", Input).value = before[option]
            await pilot.pause()
            assert not app.screen.query("Input.wrong"), "mended"
        await type_in(app, pilot, *WRONG[0])
        assert {str(each.id) for each in app.screen.query("Input.wrong")} == {WRONG[0][0]}, "as one types"
        await pilot.press("escape")
        await until(pilot, lambda: app.results == [None])


async def test_what_would_be_too_many_runs_is_refused(golden: Golden) -> None:
    async with bare() as (app, pilot):
        app.screen.query_one("#iodepth", Input).value = ",".join(map(str, range(1, 20)))
        await type_in(app, pilot, "repeats", "100")
        assert "1,900 steps" in said_below(app, "summary")
        golden.same(said_below(app, "summary"))
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(app.screen, FormScreen)


@pytest.mark.parametrize(
    ("target", "problem"),
    [("rbd:", "unknown target 'rbd:'"), ("pool:bench", "fio needs a file, a device or images: press t and choose one")],
)
async def test_a_target_that_does_not_fit_is_named_and_what_was_typed_is_kept(target: str, problem: str) -> None:
    """It is chosen elsewhere: nothing that could be typed here would mend it."""
    async with bare(target=target) as (app, pilot):
        await type_in(app, pilot, "bs", "8k")
        assert said_below(app, "summary").startswith(problem)
        assert not app.screen.query("Input.wrong")
        await pilot.press("enter")
        await until(pilot, lambda: bool(app.results))
    assert app.results[0] is not None
    assert app.results[0].overrides(app.preset) == {"bs": "8k", "runtime": "20"}


async def test_text_of_the_users_is_no_markup() -> None:
    async with bare() as (app, pilot):
        await type_in(app, pilot, "bs", "[b]4k")
        assert "[b]4k" in said_below(app, "summary")


# ------------------------------------------------------------------ what becomes of it


async def test_what_was_typed_is_run(tmp_path: Path) -> None:
    async with opened(tmp_path) as (app, pilot):
        await pilot.press(*"8k", "tab", *"32")
        await kept(app, pilot)
        assert isinstance(app.focused, Panels)
        assert "8k randwrite, depth 32" in text_of(app, console_screen(app).query_one("#form"))
        assert "--bs=8k --iodepth=32 " in shown(app, "#command").replace("\n", " ")
        await pilot.press("enter")
        await finished(app, pilot)
    options = saved(tmp_path)[0].options
    assert (options["bs"], options["iodepth"], options["runtime"]) == ("8k", 32, 20)


async def test_what_is_typed_at_once_is_kept_whole(tmp_path: Path) -> None:
    async with opened(tmp_path) as (app, pilot):
        burst(app, "16384", "enter")
        await until(pilot, lambda: "16384 randwrite" in text_of(app, console_screen(app).query_one("#form")))


async def test_a_sweep_runs_once_for_each_value(tmp_path: Path) -> None:
    async with opened(tmp_path, size=USUAL) as (app, pilot):
        await type_in(app, pilot, "iodepth", "1, 4,16")
        assert "then 2 more" in said_below(app)
        await kept(app, pilot)
        await pilot.press("enter")
        await until(pilot, lambda: len(saved(tmp_path)) == 3)
        await finished(app, pilot)
        heading, *_ = rows(app)
        apart = columns(console_screen(app).query_one(RunsTable), "differs")
    runs = saved(tmp_path)
    assert [run.options["iodepth"] for run in runs] == [1, 4, 16]
    assert len({run.batch for run in runs}) == 1
    assert heading == ["", "write-iops  iodepth=1,4,16 (3 runs)"]
    assert apart == [["qd16 20s"], ["qd4 20s"], ["qd1 20s"]]


async def test_repeats_run_it_so_often(tmp_path: Path) -> None:
    async with opened(tmp_path) as (app, pilot):
        await type_in(app, pilot, "repeats", "2")
        await kept(app, pilot)
        assert "2 times" in shown(app, "#form")
        await pilot.press("enter")
        await until(pilot, lambda: len(saved(tmp_path)) == 2)
        await finished(app, pilot)
        table = columns(console_screen(app).query_one(RunsTable), "#", "preset", "IOPS", "outcome")
        tile = console_screen(app).query_one("#panel-2", PresetPanel).result
    runs = saved(tmp_path)
    written = [run.summary.write.iops for run in runs if run.summary.write and run.summary.write.iops]
    mean = units.iops(math.sqrt(math.prod(written)))
    assert table == [["1-2", "▸ write-iops", mean, "n=2"]]
    assert (tile.text, tile.longer[0].split()[0], tile.longer[0].split()[-1]) == (mean, mean, "n=2")
    assert [run.repeat for run in runs] == [1, 2]
    assert len({run.batch for run in runs}) == 1


async def test_repeats_of_a_sweep_run_in_the_order_that_was_typed(tmp_path: Path) -> None:
    async with opened(tmp_path, size=USUAL) as (app, pilot):
        await type_in(app, pilot, "iodepth", "1,4")
        await type_in(app, pilot, "repeats", "2")
        await type_in(app, pilot, "order", "abba")
        await kept(app, pilot)
        assert "2 times, order A B B A" in shown(app, "#form")
        await pilot.press("enter")
        await until(pilot, lambda: len(saved(tmp_path)) == 4)
        await finished(app, pilot)
        await pilot.press("6", "enter")
        await until(pilot, lambda: len(saved(tmp_path)) == 6)  # one value: the order has no effect
        await finished(app, pilot)
    runs = saved(tmp_path)
    assert [run.options["iodepth"] for run in runs[:4]] == [1, 4, 4, 1]
    assert [run.repeat for run in runs] == [1, 1, 2, 2, 1, 2]


async def test_escape_forgets_what_was_typed(tmp_path: Path) -> None:
    async with opened(tmp_path) as (app, pilot):
        await type_in(app, pilot, "bs", "8k")
        await type_in(app, pilot, "repeats", "3")
        await kept(app, pilot, "escape")
        assert "--bs=4k" in shown(app, "#command")
        assert "times" not in shown(app, "#form")
        await form(app, pilot)
        assert (values(app)["bs"], values(app)["repeats"]) == ("4k", "1")


async def test_ctrl_r_makes_it_as_the_preset_says(tmp_path: Path) -> None:
    async with opened(tmp_path) as (app, pilot):
        await type_in(app, pilot, "bs", "8k")
        await type_in(app, pilot, "fsync", "32")
        await type_in(app, pilot, "repeats", "3")
        await kept(app, pilot)
        await form(app, pilot)
        assert (values(app)["bs"], values(app)["fsync"], values(app)["repeats"]) == ("8k", "32", "3")
        await pilot.press("ctrl+r")
        own = {option: choice_text(value) for option, value in preset("write-iops").file.options.items()}
        once = {"repeats": "1", "drop-caches": "no", "quiet-cluster": "no"}
        assert {option: text for option, text in values(app).items() if text} == {**own, **once}
        await kept(app, pilot)
        assert "--runtime=60" in shown(app, "#command").replace("\n", " ")
        assert "--fsync" not in shown(app, "#command")


async def test_the_runtime_is_that_of_all_presets_and_the_rest_is_each_presets_own(tmp_path: Path) -> None:
    async with opened(tmp_path) as (app, pilot):
        await type_in(app, pilot, "bs", "8k")
        await type_in(app, pilot, "runtime", "2m")
        await kept(app, pilot)
        await pilot.press("right", "right")
        assert "4k randread, depth 64, jobs 1, 2:00 min" in shown(app, "#form")
        await form(app, pilot)
        assert (values(app)["bs"], values(app)["runtime"]) == ("4k", "2m")
        await type_in(app, pilot, "iodepth", "7")
        await kept(app, pilot)
        await pilot.press("left", "left")
        assert "8k randwrite, depth 64, jobs 8, 2:00 min" in shown(app, "#form")
        await pilot.press("right", "right")
        assert "4k randread, depth 7, jobs 1, 2:00 min" in shown(app, "#form")


async def test_the_form_during_a_run_is_about_the_next_one(tmp_path: Path) -> None:
    async with in_a_run(tmp_path, size=SMALL) as (app, pilot, _):
        assert shown(app, "#command").startswith("$ fio"), "the command of the run in progress"
        await form(app, pilot)
        await type_in(app, pilot, "bs", "16k")
        await kept(app, pilot)
        assert "16k randwrite" in shown(app, "#command"), "what would run next"
        assert shown(app, "#command").startswith("next ")
        assert shown(app, "#form").startswith("running  4k randwrite")
        assert app.busy
    assert [run.options["bs"] for run in saved(tmp_path)] == ["4k"]


async def test_a_click_on_the_settings_opens_it(tmp_path: Path) -> None:
    async with console(tmp_path, run=WRITE_IOPS, speed=60, size=SMALL) as (app, pilot):
        await pilot.click("#form")
        await until(pilot, lambda: isinstance(app.screen, FormScreen))


# ------------------------------------------------------------------ the same as --set

TYPED: dict[str, list[dict[str, str]]] = {
    "write-iops": [
        {},
        {"bs": "8k", "iodepth": "32"},
        {"iodepth": "1, 4,16", "numjobs": "1,2"},
        {"runtime": "5m", "ramp_time": "0"},
        {"direct": "no", "size": "2G", "rate_iops": "100", "random_distribution": "zipf:1.2"},
    ],
    "latency": [{"rw": "randread", "norandommap": "true"}],
    "mixed-75-25": [{"rwmixread": "50", "ioengine": "io_uring", "group_reporting": "false"}],
}


def without_batches(plan: Plan) -> object:
    steps = [step.model_copy(update={"batch": ""}) for step in plan.steps]
    return plan.model_copy(update={"steps": tuple(steps)})


@pytest.mark.parametrize("name", TYPED)
async def test_the_form_and_set_make_the_same_plan(name: str) -> None:
    async with bare(name) as (app, pilot):
        before = values(app)
        for typed in TYPED[name]:
            for option, text in (before | typed).items():
                app.screen.query_one(f"#{option}", Input).value = text
            await pilot.pause()
            assert values(app) == before | typed
            for target in (FILE, "rbd:bench/image", "device:/dev/sdb"):
                assert without_batches(app.plan(app.edited, target)) == by_set(app.preset, typed, target)
        await pilot.press("enter")
        await until(pilot, lambda: app.results == [app.edited])


def by_set(chosen: Preset, typed: dict[str, str], target: str) -> object:
    """The plan that ``--set`` makes."""
    texts = [f"{option}={text}" for option, text in {"runtime": "20", **typed}.items()]
    spec = parse_target(target, owner_id=GUIDED)
    return without_batches(
        make_plan(Request((chosen,), (Node(name="local"),), spec, parse_overrides(texts)), lambda: "")
    )


def test_an_empty_field_is_as_the_preset_says() -> None:
    chosen = preset("write-iops")
    edits = Edits().edited(chosen, {"bs": " ", "iodepth": "64", "numjobs": " 2 ", "runtime": ""})
    assert edits.overrides(chosen) == {"numjobs": "2"}
    assert Edits(runtime="30").edited(chosen, {"runtime": ""}).overrides(chosen) == {}


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, ""), (True, "yes"), (False, "no"), (60.0, "60"), (0.5, "0.5"), ("4k", "4k"), ([1, 4], "1,4")],
)
def test_a_value_as_it_is_typed(value: Choice | None, text: str) -> None:
    assert choice_text(value) == text


# ------------------------------------------------------------------ as it looks


async def test_nothing_is_cut_off() -> None:
    async with bare("write-throughput") as (app, pilot):
        await type_in(app, pilot, "ioengine", "io_uring")
        for size in (SMALL, (93, 25), USUAL, (200, 50)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            seen = " ".join(text_of(app, app.screen.query_one("#preview")).split())
            assert " ".join(said_below(app).split()).startswith(seen)
            assert len(seen) > (280 if size[1] >= USUAL[1] else 180)
            assert said_below(app).endswith("# prefills 1.00 GiB first")
            for option in ("bs", "iodepth_batch_complete_min", "buffer_compress_percentage", "repeats"):
                app.screen.query_one(f"#{option}").focus()
                await until(
                    pilot,
                    lambda option: f" {option} " in screen_text(app) or f"({option}) " in screen_text(app),
                    option,
                )
                assert app.screen.query_one(f"#{option}").size.width >= 9
            assert "enter keeps  esc cancels  ctrl+r resets  / filter" in screen_text(app)
            assert "Write throughput: fio options" in screen_text(app)


async def test_the_form_at_80x24(golden: Golden) -> None:
    async with bare() as (app, pilot):
        await type_in(app, pilot, "iodepth", "1,4,16")
        await pilot.pause()
        golden.same(screen_text(app))
