"""The pickers, driven by keys and by the mouse, with candidates that come when the test says so."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from rich.console import RenderableType
from rich.text import Text
from textual.pilot import Pilot
from textual.widgets import Button, Static

from cephtui.config import Config
from cephtui.models import Node
from cephtui.nodes.transport import TransportError
from cephtui.paths import packaged_presets_dir
from cephtui.presets import Catalogue, Preset, find_presets, load_preset
from cephtui.targets.candidates import Candidate, OnFound
from cephtui.targets.discovery import DEVICES, POOLS, SURROUNDINGS, KnownNode
from cephtui.tui.pickers.nodes import NodePicker
from cephtui.tui.pickers.picker import Filter, Picker
from cephtui.tui.pickers.presets import PresetPicker, described
from cephtui.tui.pickers.targets import TargetPicker
from cephtui.tui.terminal.in_order import OrderedApp
from cephtui.tui.widgets.pick_list import PickList, PickRow, RowVisual, matching, widths
from tests.support.golden import Golden
from tests.support.known import known
from tests.support.replayed import burst, screen_text, until

UNSET = "nothing was chosen yet"
SIZES = [(80, 24), (93, 25), (120, 36), (200, 50)]
SOURCES = {SURROUNDINGS, POOLS, DEVICES}
SCRATCH = "file:/root/.cache/cephtui/scratch-0123abcd/scratch"
RBD = Candidate("rbd:bench", "new images, replicated x3, 128 PGs, autoscale on, room for 96.0 GiB")
POOL = Candidate("pool:bench", "objects for rados bench, room for 96.0 GiB")
ERASURE = Candidate(
    "rbd:data", "new images, EC 2+1", "pool data is erasure-coded: it can't store images", "use a replicated pool"
)
ERASURE_POOL = Candidate("pool:data", "objects for rados bench, room for 1.00 TiB")
GUESTS = Candidate("rbd:bench/vm-1", "image", "image bench/vm-1 is by its name a guest's disk", "choose another image")
IMAGE = Candidate("rbd:bench/[b]own", "image of 1.00 GiB, needs confirmation")
DISK = Candidate("device:/dev/sda", "1.82 TiB", "/dev/sda is mounted on /", "choose another")
FREE = Candidate("device:/dev/sdb", "1.82 TiB, needs confirmation")


@dataclass
class Discovery:
    """A node that is asked, and answers when it is told to."""

    puts: dict[str, OnFound] = field(default_factory=dict)
    futures: dict[str, Future[str]] = field(default_factory=dict)

    def __call__(self, of: str, put: OnFound) -> Future[str]:
        assert of not in self.puts, f"{of} was asked for twice"
        self.puts[of], self.futures[of] = put, Future()
        return self.futures[of]

    def tell(self, of: str, *candidates: Candidate, problem: str | None = "") -> None:
        """Answer; the search goes on where there is no word about its end."""
        self.puts[of](candidates)
        if problem is not None:
            self.futures[of].set_result(problem)


@dataclass
class Shown:
    """A picker on the screen, and what it gave."""

    pilot: Pilot[None]
    picker: Picker[Any]
    results: list[Any]

    @property
    def result(self) -> Any:
        return self.results[0] if self.results else UNSET

    @property
    def text(self) -> str:
        return screen_text(self.pilot.app)

    @property
    def words(self) -> str:
        """All text in one line, without the frame."""
        return " ".join(self.text.translate({ord(letter): " " for letter in "│─╭╮╰╯"}).split())

    @property
    def rows(self) -> list[PickRow]:
        return list(self.picker.query_one(PickList).shown)

    @property
    def names(self) -> list[str]:
        """The first cells of what can be gone to."""
        return [row.cells[0] for row in self.rows if not row.heading]

    @property
    def here(self) -> str:
        row = self.picker.highlighted
        return row.cells[0] if row else ""

    @property
    def note(self) -> str:
        return str(self.picker.query_one(".note", Static).render())

    async def type(self, text: str) -> None:
        await self.pilot.press(*text)

    async def go_to(self, name: str) -> None:
        for _ in self.rows:
            if self.here == name:
                return
            await self.pilot.press("down")
        raise AssertionError(f"{name} is not among {self.names}")

    async def in_each_size(self) -> AsyncIterator[tuple[int, int]]:
        """Resize the terminal to one after the other."""
        for size in SIZES:
            await self.pilot.resize_terminal(*size)
            await until(self.pilot, lambda size: tuple(self.pilot.app.size) == size, size)
            await self.pilot.pause()
            yield size

    async def until_shown(self, text: str) -> None:
        await until(self.pilot, lambda: text in self.words)

    def said(self) -> list[str]:
        return [notice.message for notice in self.pilot.app._notifications]


class Bare(OrderedApp):
    """Nothing but what the pickers bring themselves."""


@contextlib.asynccontextmanager
async def shown(picker: Picker[Any], size: tuple[int, int] = (100, 30)) -> AsyncIterator[Shown]:
    app = Bare()
    results: list[Any] = []
    async with app.run_test(size=size, notifications=True) as pilot:
        app.push_screen(picker, results.append)
        await until(pilot, lambda: app.screen is picker and bool(picker.query(PickList)))
        await pilot.pause()
        yield Shown(pilot, picker, results)


# ---------------------------------------------------------------------------------------------- rows


def test_the_filter_wants_every_word() -> None:
    rows = [
        PickRow("h1", ("one",), heading=True),
        PickRow("a", ("Alpha",), "big disk"),
        PickRow("h2", ("two",), heading=True),
        PickRow("b", ("beta",), "small disk", more="hidden"),
        PickRow("h3", ("three",), heading=True, always=True),
        PickRow("t", ("typed",), always=True),
    ]

    def keys(typed: str) -> list[str]:
        return [row.key for row in matching(rows, typed)]

    assert keys("") == ["h1", "a", "h2", "b", "h3", "t"]
    assert keys("DISK alp") == ["h1", "a", "h3", "t"]
    assert keys("hidden disk") == ["h2", "b", "h3", "t"]
    assert keys("nowhere") == ["h3", "t"]


@pytest.mark.parametrize("width", [1, 12, 30, 60, 74, 200])
def test_a_row_is_never_cut_off(width: int) -> None:
    rows = [
        PickRow(
            "a", ("1", "name"), "some words that say what it is and take more than one line at most of these widths"
        ),
        PickRow("b", ("", "a-name-of-more-than-twenty-four-letters"), "short"),
        PickRow("c", ("", "x")),
    ]
    columns = widths(rows)
    for row in rows:
        lines = RowVisual(row, columns).lines(width)
        assert all(line.cell_length <= width for line in lines)
        assert "".join("".join(line.plain for line in lines).split()) == "".join([*row.cells, *row.text.split()])


def test_cells_stand_close_where_their_columns_have_no_room() -> None:
    figures = ("write-throughput", "3 runs, 11-29 21:42", "393 IOPS")
    rows = [PickRow("own", ("#9-11", *figures)), PickRow("other", ("a-session-of-others/9-11", *figures))]
    columns = widths(rows)
    assert RowVisual(rows[0], columns).lines(100)[0].plain.index("write-throughput") == columns[0] + 2
    (only,) = RowVisual(rows[0], columns).lines(72)
    assert only.plain == "#9-11  write-throughput  3 runs, 11-29 21:42  393 IOPS"


def test_text_stands_behind_its_column_or_below_it(golden: Golden) -> None:
    rows = [PickRow("a", ("[x]", "pve1"), "ready for all that may come now"), PickRow("b", ("[ ]", "p" * 30), "typed")]
    columns = widths(rows)

    def plain(row: PickRow, width: int) -> list[str]:
        return [line.plain.rstrip() for line in RowVisual(row, columns).lines(width)]

    assert columns == (3, 4)
    golden.same(plain(rows[0], 60))
    assert plain(rows[0], 38) == ["[x]  pve1  ready for all that may come", "           now"]
    assert plain(rows[0], 30) == ["[x]  pve1", "    ready for all that may", "    come now"]
    assert plain(rows[1], 60) == [f"[ ]  {'p' * 30}", "           typed"]


# ---------------------------------------------------------------------------------------------- presets


@pytest.fixture
def catalogue(tmp_path: Path) -> Catalogue:
    (tmp_path / "broken.toml").write_text('title = "Broken"\n[options]\nrw = "sideways"\n')
    (tmp_path / "mine.toml").write_text('title = "My [b]own[/b]"\n[options]\nrw = "read"\nbs = ["4k", "64k"]\n')
    return find_presets(packaged_presets_dir(), tmp_path)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ('rw = "read"\nbs = "1M"', "1M read, depth 1, jobs 1, 60 s"),
        ('rw = ["randread", "randwrite"]\nbs = "4k"', "4k randread,randwrite, depth 1, jobs 1, 60 s"),
        ('rw = ["read", "write"]\nbs = ["4k", "1M"]', "4k,1M read,write, depth 1, jobs 1, 60 s"),
        ('rw = "read"\niodepth = [1, 16]\nnumjobs = [1, 2, 4]', "4k read, depth 1,16, jobs 1,2,4, 60 s"),
        ('rw = "read"\ntime_based = true\nruntime = [30, 60]', "4k read, depth 1, jobs 1, 30,60 s"),
        ('rw = "read"\ntime_based = true\nruntime = [30, 120]', "4k read, depth 1, jobs 1, 30 s,2:00 min"),
    ],
)
def test_what_a_preset_does(tmp_path: Path, options: str, text: str) -> None:
    (tmp_path / "x.toml").write_text(f'title = "X"\n[options]\n{options}\n')

    assert described(load_preset(tmp_path / "x.toml", user=True)) == text


async def test_every_preset_is_shown_with_what_it_does(catalogue: Catalogue) -> None:
    async with shown(PresetPicker(catalogue, {}), SIZES[0]) as picker:
        assert [row.cells[1] for row in picker.rows if not row.heading][:2] == ["write-throughput", "write-iops"]
        assert {row.key for row in picker.rows if not row.heading} == set(catalogue)
        async for _ in picker.in_each_size():
            assert "4k randwrite, depth 64, jobs 8, 60 s" in picker.words
        assert picker.picker.focused is picker.picker.query_one(Filter)
        await picker.type("mine")
        async for _ in picker.in_each_size():
            assert "My [b]own[/b] (yours)" in picker.words
            assert "4k,64k read, depth 1, jobs 1" in picker.words


async def test_typing_filters_and_enter_chooses(catalogue: Catalogue, golden: Golden) -> None:
    async with shown(PresetPicker(catalogue, {})) as picker:
        await picker.type("rados read")
        assert [row.key for row in picker.rows if not row.heading] == [
            *("rados-1m", "rados-all", "rados-rand", "rados-seq"),
        ]
        await picker.pilot.press("down", "down", "down")
        golden.same(picker.note)
        await picker.pilot.press("up", "down", "enter")
        assert isinstance(picker.result, Preset)
        assert picker.result.name == "rados-seq"


async def test_keys_that_come_at_once_are_taken_in_their_order(catalogue: Catalogue) -> None:
    async with shown(PresetPicker(catalogue, {})) as picker:
        burst(picker.pilot.app, "rados read", "down", "down", "down", "enter")
        await until(picker.pilot, lambda: bool(picker.results))
        assert picker.result.name == "rados-seq"


async def test_a_broken_preset_says_why_and_is_not_chosen(catalogue: Catalogue) -> None:
    async with shown(PresetPicker(catalogue, {}), (80, 24)) as picker:
        await picker.type("broken")
        assert "broken.toml: options.rw" in picker.words
        assert "broken" in picker.rows[-1].cells
        await picker.pilot.press("enter")
        assert picker.result == UNSET
        assert any("options.rw" in said for said in picker.said())


async def test_escape_and_the_button_close_without_a_choice(catalogue: Catalogue) -> None:
    for how in ("escape", "close"):
        async with shown(PresetPicker(catalogue, {})) as picker:
            if how == "escape":
                await picker.pilot.press("escape")
            else:
                await picker.pilot.click("#dismiss")
            assert picker.results == [None]


async def test_the_list_has_keys_of_its_own(catalogue: Catalogue) -> None:
    async with shown(PresetPicker(catalogue, {})) as picker:
        await picker.type("j")
        assert picker.picker.query_one(Filter).value == "j"
        await picker.pilot.press("backspace", "tab", "j", "j", "k")
        assert picker.picker.focused is picker.picker.query_one(PickList)
        assert known(picker.picker.highlighted).key == "write-iops"
        await picker.pilot.press("slash", "l", "a", "t")
        assert picker.picker.query_one(Filter).value == "lat"
        await picker.pilot.press("tab", "enter")
        assert picker.result.name == "latency"


async def test_the_mouse_is_enough(catalogue: Catalogue) -> None:
    async with shown(PresetPicker(catalogue, {}), (200, 50)) as picker:
        await picker.pilot.click(PickList, offset=(5, 2))
        assert picker.result.name == "write-iops"
    async with shown(PresetPicker(catalogue, {}), (200, 50)) as picker:
        await picker.pilot.click("#use")
        assert picker.result.name == "write-throughput"


async def test_nothing_that_fits(catalogue: Catalogue, golden: Golden) -> None:
    async with shown(PresetPicker(catalogue, {})) as picker:
        await picker.type("zzz")
        golden.same(picker.note)
        await picker.pilot.press("enter", "down", "pagedown", "pageup", "up", "enter")
        assert picker.result == UNSET


# ---------------------------------------------------------------------------------------------- targets


def targets(discovery: Discovery, current: str = "rbd:bench") -> TargetPicker:
    return TargetPicker(current, SCRATCH, discovery, "pve1")


async def test_targets_are_shown_as_they_are_found() -> None:
    discovery = Discovery()
    async with shown(targets(discovery), SIZES[0]) as picker:
        async for _ in picker.in_each_size():
            assert picker.names == ["rbd:bench", SCRATCH]
            assert "current target" in picker.words
            assert "pve1 (querying" in picker.words
            assert "pve1 (inspecting" in picker.words
        discovery.tell(DEVICES, DISK, FREE)
        await until(picker.pilot, lambda: "device:/dev/sdb" in picker.names)
        assert "pve1 (querying" in picker.words
        discovery.tell(POOLS, RBD, POOL, ERASURE, ERASURE_POOL)
        await until(picker.pilot, lambda: "rbd:data" in picker.names)
        assert "querying" not in picker.words
        assert picker.names == [
            *("rbd:bench", SCRATCH, "rbd:bench", "pool:bench", "+ rbd:bench/...", "rbd:data", "pool:data"),
            *("device:/dev/sda", "device:/dev/sdb"),
        ]
        await picker.type("sda")
        async for _ in picker.in_each_size():
            assert "allowed: is mounted on /" in picker.words
            assert "/dev/sda is mounted on /: choose another" in picker.words


async def test_what_files_say_of_a_storage_stands_first_and_the_cluster_adds_to_it() -> None:
    discovery = Discovery()
    async with shown(TargetPicker(SCRATCH, SCRATCH, discovery, "pve1"), (120, 30)) as picker:
        near = [Candidate(each.spec, f"storage {each.spec[4:]}: new images") for each in (RBD, ERASURE)]
        discovery.tell(SURROUNDINGS, *near)
        await picker.until_shown("rbd:bench storage bench: new images")
        assert picker.names == [SCRATCH, "rbd:bench", "rbd:data"]
        discovery.tell(POOLS, RBD, ERASURE)
        await picker.until_shown("storage bench: new images, replicated x3")
        assert [row.refused != "" for row in picker.rows if row.cells[0] == "rbd:data"] == [True, True]
        await picker.go_to("rbd:bench")
        await picker.pilot.press("right")
        assert "rbd:bench" in discovery.puts, "its images are asked for"


async def test_what_is_highlighted_stays_so_when_more_arrives() -> None:
    discovery = Discovery()
    async with shown(targets(discovery)) as picker:
        discovery.tell(DEVICES, FREE)
        await until(picker.pilot, lambda: FREE.spec in picker.names)
        await picker.go_to(FREE.spec)
        discovery.tell(POOLS, RBD, POOL)
        await until(picker.pilot, lambda: POOL.spec in picker.names)
        assert picker.here == FREE.spec
        await picker.pilot.press("enter")
        assert picker.result == FREE.spec


async def test_a_refused_target_is_dim_and_says_why() -> None:
    discovery = Discovery()
    async with shown(targets(discovery)) as picker:
        discovery.tell(POOLS, RBD, POOL, ERASURE, ERASURE_POOL)
        await until(picker.pilot, lambda: "rbd:data" in picker.names)
        await picker.go_to("rbd:data")
        why = "pool data is erasure-coded: it can't store images: use a replicated pool"
        assert picker.note == why
        assert "allowed: is erasure-coded: it can't store images" in picker.words
        await picker.pilot.press("enter")
        assert (picker.result, picker.said()) == (UNSET, [why])
        dim = {row.cells[0]: bool(row.refused) for row in picker.rows if not row.heading}
        assert [name for name, refused in dim.items() if refused] == ["rbd:data"]


async def test_the_present_target_is_refused_too_where_a_guard_refuses_it() -> None:
    discovery = Discovery()
    async with shown(targets(discovery, DISK.spec)) as picker:
        await picker.pilot.press("down", "up")
        assert picker.here == DISK.spec
        discovery.tell(DEVICES, DISK)
        await picker.until_shown("allowed: is mounted on /")
        await picker.pilot.press("enter")
        assert picker.result == UNSET


@pytest.mark.parametrize("key", ["right", "enter", "click"])
async def test_images_are_shown_when_they_are_asked_for(key: str) -> None:
    discovery = Discovery()
    async with shown(targets(discovery)) as picker:
        discovery.tell(POOLS, RBD, POOL, ERASURE, ERASURE_POOL)
        await until(picker.pilot, lambda: POOL.spec in picker.names)
        await picker.go_to("+ rbd:bench/...")
        if key == "click":
            top = next(y for y, line in enumerate(picker.text.splitlines()) if "+ rbd:bench/..." in line)
            await picker.pilot.click(offset=(10, top))
        else:
            await picker.pilot.press(key)
        await until(picker.pilot, lambda: set(discovery.puts) == {*SOURCES, "rbd:bench"})
        await until(picker.pilot, lambda: picker.words.count("reading the images") == 1)
        discovery.tell("rbd:bench", Candidate(IMAGE.spec, "image, not inspected"), GUESTS, problem=None)
        await until(picker.pilot, lambda: IMAGE.spec in picker.names)
        discovery.tell("rbd:bench", IMAGE)
        await picker.until_shown("image of 1.00 GiB, needs confirmation")
        assert "reading the images" not in picker.words
        await picker.pilot.press("left")
        assert IMAGE.spec not in picker.names
        await picker.pilot.press("right")
        await picker.go_to(IMAGE.spec)
        assert "rbd:bench/[b]own" in picker.words
        await picker.pilot.press("enter")
        assert picker.result == "rbd:bench/[b]own"


async def test_a_pool_that_can_hold_no_images_does_not_open() -> None:
    discovery = Discovery()
    async with shown(targets(discovery)) as picker:
        discovery.tell(POOLS, ERASURE, ERASURE_POOL, problem="")
        await until(picker.pilot, lambda: ERASURE.spec in picker.names)
        await picker.go_to("pool:data")
        await picker.pilot.press("right", "left")
        assert set(discovery.puts) == SOURCES
        assert not [name for name in picker.names if name.startswith("+")]


async def test_arrows_move_in_what_was_typed() -> None:
    discovery = Discovery()
    async with shown(targets(discovery)) as picker:
        discovery.tell(POOLS, RBD, POOL)
        await until(picker.pilot, lambda: POOL.spec in picker.names)
        await picker.type("ool:b")
        await picker.pilot.press("left", "left", "left", "left", "left", "p", "right", "right")
        assert picker.picker.query_one(Filter).value == "pool:b"
        assert "rbd:bench" not in discovery.puts


@pytest.mark.parametrize(
    ("typed", "spec"),
    [
        ("rbd:other", "rbd:other"),
        ("file:/mnt/x", "file:/mnt/x"),
        ("device:/dev/../dev/sdq", "device:/dev/sdq"),
        ("pool:far", "pool:far"),
    ],
)
async def test_what_is_typed_can_be_used(typed: str, spec: str) -> None:
    async with shown(targets(Discovery())) as picker:
        await picker.type(typed)
        assert picker.here == spec
        assert "as typed" in picker.words
        await picker.pilot.press("enter")
        assert picker.result == spec


async def test_what_is_typed_and_refused_can_be_used_for_reading() -> None:
    discovery = Discovery()
    async with shown(targets(discovery)) as picker:
        discovery.tell(DEVICES, DISK, FREE)
        await until(picker.pilot, lambda: DISK.spec in picker.names)
        await picker.type(FREE.spec)
        assert picker.names == [FREE.spec]
        for _ in FREE.spec:
            await picker.pilot.press("backspace")
        await picker.type(DISK.spec)
        assert picker.names == [DISK.spec, DISK.spec]
        assert "as typed, although " in picker.words
        await picker.pilot.press("enter")
        assert picker.result == DISK.spec


async def test_what_is_typed_and_no_target_is_told() -> None:
    async with shown(targets(Discovery()), (80, 24)) as picker:
        await picker.type("nfs:export")
        assert picker.note.startswith("unknown target 'nfs:export': expected file:PATH")
        await picker.pilot.press("enter")
        assert picker.result == UNSET


async def test_a_node_without_ceph_offers_devices() -> None:
    discovery = Discovery()
    async with shown(targets(discovery, SCRATCH), (80, 24)) as picker:
        discovery.tell(POOLS, problem="can't query the cluster: Ceph's programs are not installed")
        discovery.futures[DEVICES].set_exception(TransportError("pve1: the connection was lost"))
        await picker.until_shown("can't query the cluster: Ceph's programs are not installed")
        await picker.until_shown("pve1: the connection was lost")
        assert picker.names == [SCRATCH]
        await picker.pilot.press("enter")
        assert picker.result == SCRATCH


async def test_closing_ends_the_search() -> None:
    discovery = Discovery()
    async with shown(targets(discovery)) as picker:
        await picker.pilot.press("escape")
        await until(picker.pilot, lambda: all(future.cancelled() for future in discovery.futures.values()))
        assert picker.results == [None]
        assert set(discovery.futures) == SOURCES


# ---------------------------------------------------------------------------------------------- nodes


CONFIG = Config(
    {"pve1": Node(name="pve1", host="10.0.0.1"), "pve2": Node(name="pve2", host="pve2")}, {"pve": ("pve1", "pve2")}
)
KNOWN = (
    KnownNode("local", "this machine"),
    KnownNode("pve1", "10.0.0.1"),
    KnownNode("pve2", "pve2"),
    KnownNode("pve", "group: pve1, pve2", ("pve1", "pve2")),
    KnownNode("web", "from the SSH configuration"),
)


def nodes(*chosen: str, reports: dict[str, str] | None = None) -> NodePicker:
    async def details(names: Sequence[str]) -> RenderableType:
        return Text(f"hardware of {' and '.join(names)}")

    return NodePicker(CONFIG, KNOWN, chosen or ("local",), reports or {}, details)


def marks(picker: Shown) -> str:
    return " ".join(f"{row.cells[0][1]}{row.cells[1]}" for row in picker.rows)


async def test_nodes_are_shown_with_what_is_known_of_them() -> None:
    reports = {"local": "ready: fio-3.33", "pve1": "pve1: no route to host", "web2:22": "ready"}
    async with shown(nodes("local", "root@web2:22", reports=reports), SIZES[0]) as picker:
        assert marks(picker) == "xlocal  pve1  pve2  pve  web xroot@web2:22"
        async for _ in picker.in_each_size():
            assert "[x] local" in picker.words
            assert "this machine; ready: fio-3.33" in picker.words
            assert "10.0.0.1; pve1: no route to host" in picker.words
            assert "group: pve1, pve2" in picker.words
            assert "typed; ready" in picker.words
        assert picker.note == "space marks; enter uses local, root@web2:22"


async def test_space_marks_and_enter_uses_what_is_marked() -> None:
    async with shown(nodes()) as picker:
        await picker.pilot.press("down", "space", "down", "space", "up", "space")
        assert marks(picker) == "xlocal  pve1 xpve2 -pve  web"
        assert picker.note == "space marks; enter uses local, pve2"
        await picker.pilot.press("enter")
        assert picker.result == ("local", "pve2")


async def test_a_group_stands_for_its_members(golden: Golden) -> None:
    async with shown(nodes("pve2")) as picker:
        assert marks(picker) == " local  pve1 xpve2 -pve  web"
        assert known(picker.picker.highlighted).key == "pve2"
        await picker.pilot.press("down", "space")
        assert marks(picker) == " local xpve1 xpve2 xpve  web"
        await picker.pilot.press("space")
        assert marks(picker) == " local  pve1  pve2  pve  web"
        assert picker.note == "space marks; enter uses nothing yet"
        await picker.pilot.press("enter")
        assert picker.result == UNSET
        golden.same(picker.said())
        await picker.pilot.press("space", "enter")
        assert picker.result == ("pve1", "pve2")


async def test_a_group_that_was_chosen_is_its_members() -> None:
    async with shown(nodes("pve", "local")) as picker:
        assert marks(picker) == "xlocal xpve1 xpve2 xpve  web"
        await picker.pilot.press("enter")
        assert picker.result == ("pve1", "pve2", "local")


async def test_enter_without_a_new_mark_uses_the_node_that_is_highlighted() -> None:
    async with shown(nodes("local", "pve1")) as picker:
        await picker.type("web")
        assert picker.note == "space marks; enter uses web"
        await picker.pilot.press("enter")
        assert picker.result == ("web",)


async def test_a_node_that_is_typed() -> None:
    async with shown(nodes()) as picker:
        await picker.type("root@h:22")
        assert [row.cells for row in picker.rows] == [("[ ]", "root@h:22")]
        await picker.pilot.press("space")
        assert marks(picker) == "xlocal  pve1  pve2  pve  web xroot@h:22"
        assert picker.picker.query_one(Filter).value == ""
        await picker.type("h2")
        await picker.pilot.press("space", "enter")
        assert picker.result == ("local", "root@h:22", "h2")


async def test_what_is_typed_and_no_node_is_told(golden: Golden) -> None:
    async with shown(nodes()) as picker:
        await picker.type("a/b")
        golden.same(picker.note)
        await picker.pilot.press("space", "enter")
        assert picker.result == UNSET


async def test_one_node_in_two_ways_is_told(golden: Golden) -> None:
    async with shown(nodes("h:22")) as picker:
        await picker.type("root@h:22")
        await picker.pilot.press("space", "enter")
        assert picker.result == UNSET
        golden.same(picker.said())


async def test_details_of_a_node_or_of_a_group_lie_over_the_list() -> None:
    async with shown(nodes("root@web2:22", reports={"web2:22": "ready"})) as picker:
        await picker.pilot.press("ctrl+d")
        await until(picker.pilot, lambda: "hardware of web2:22" in screen_text(picker.pilot.app))
        await picker.pilot.press("escape", "up", "up")
        await until(picker.pilot, lambda: known(picker.picker.highlighted).key == "pve")
        await picker.pilot.click("#details")
        await until(picker.pilot, lambda: "hardware of pve1 and pve2" in screen_text(picker.pilot.app))
        assert picker.result == UNSET


async def test_nodes_with_the_mouse_alone() -> None:
    async with shown(nodes(), (120, 36)) as picker:
        await picker.pilot.click(PickList, offset=(8, 1))
        await picker.pilot.click(PickList, offset=(8, 0))
        assert marks(picker) == " local xpve1  pve2 -pve  web"
        assert str(picker.picker.query_one("#use", Button).label) == "use (enter)"
        await picker.pilot.click("#use")
        assert picker.result == ("pve1",)
