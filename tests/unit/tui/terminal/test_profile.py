"""What is sent to a terminal: only colours and characters that it has, readable, and a notice where it is too small."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.color import Color as RichColor
from rich.color import ColorSystem
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.color import Color
from textual.containers import Vertical
from textual.drivers import headless_driver
from textual.geometry import Size
from textual.pilot import Pilot
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.theme import Theme
from textual.widget import Widget
from textual.widgets import Button, Checkbox, DataTable, Digits, Footer, Input, OptionList, Static

from cephtui import paths
from cephtui.stats import bucket_of
from cephtui.tui.app import CephtuiApp
from cephtui.tui.charts.axes import TimeSpan
from cephtui.tui.charts.chart import Chart, ChartLine, Picture
from cephtui.tui.charts.heat_map import _ASCII, _SHADES, _TICK, GUTTER, HeatMap
from cephtui.tui.main import _run
from cephtui.tui.terminal import downgrade, themes
from cephtui.tui.terminal.apply import apply
from cephtui.tui.terminal.downgrade import BLACK, BRIGHT, VGA, contrast
from cephtui.tui.terminal.filters import FewColors, OnLight, fitted_style, in_ascii, readable_style
from cephtui.tui.terminal.profile import GRAPHS, LEVELS, Colors, Graph, Profile, UnknownLevel, as_started, detect
from cephtui.tui.terminal.themes import BASIC_DARK, BASIC_LIGHT, DARK, LIGHT, PLAIN
from cephtui.tui.terminal.too_small import MinimumSizeApp, is_too_small, message
from tests.support import replayed
from tests.support.golden import Golden
from tests.support.replayed import screen_text, until
from tests.support.runs import WRITE_IOPS

SGR = re.compile(r"\x1b\[([\d;]*)m")
OKABE_ITO = {
    "orange": "#e69f00",
    "sky": "#56b4e9",
    "green": "#009e73",
    "yellow": "#f0e442",
    "blue": "#0072b2",
    "red": "#d55e00",
    "purple": "#cc79a7",
}


def rgb(color: str) -> downgrade.RGB:
    return Color.parse(color).rgb


# ---------------------------------------------------------------------------------------------- judging


UTF8 = {"LANG": "C.UTF-8"}


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"TERM": "xterm-256color", **UTF8}, Profile("256")),
        ({"TERM": "tmux-256color", **UTF8}, Profile("256")),
        ({"TERM": "screen-256color", "COLORTERM": "truecolor", **UTF8}, Profile("256")),
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor", **UTF8}, Profile("truecolor")),
        ({"TERM": "xterm", "COLORTERM": "24bit", **UTF8}, Profile("truecolor")),
        ({"TERM": "xterm-kitty", **UTF8}, Profile("truecolor")),
        ({"TERM": "xterm", **UTF8}, Profile("8")),
        ({"TERM": "screen", "COLORTERM": "truecolor", **UTF8}, Profile("8")),
        ({"TERM": "xterm-16color", **UTF8}, Profile("16")),
        ({"TERM": "linux", **UTF8}, Profile("8", ascii_only=True)),
        ({"TERM": "linux", "COLORTERM": "truecolor", **UTF8}, Profile("8", ascii_only=True)),
        ({"TERM": "linux-16color", **UTF8}, Profile("16", ascii_only=True)),
        ({"TERM": "cons25", **UTF8}, Profile("8", ascii_only=True)),
        ({"TERM": "ansi", **UTF8}, Profile("8", ascii_only=True)),
        ({"TERM": "vt220", **UTF8}, Profile("none", ascii_only=True)),
        ({"TERM": "dumb", **UTF8}, Profile("none", ascii_only=True)),
        ({**UTF8}, Profile("none", ascii_only=True)),
        ({"TERM": "vte-256color", **UTF8}, Profile("256")),
        ({"TERM": "xterm-256color", "NO_COLOR": "1", **UTF8}, Profile("none")),
        ({"TERM": "xterm-256color", "NO_COLOR": "", **UTF8}, Profile("256")),
        ({"TERM": "xterm", "CEPHTUI_COLORS": "Truecolor", **UTF8}, Profile("truecolor")),
        ({"TERM": "vt220", "CEPHTUI_COLORS": "8", "NO_COLOR": "1", **UTF8}, Profile("8", ascii_only=True)),
        ({"TERM": "xterm-256color"}, Profile("256", ascii_only=True)),
        ({"TERM": "xterm-256color", "LANG": "C"}, Profile("256", ascii_only=True)),
        ({"TERM": "xterm-256color", "LANG": "de_DE.ISO-8859-1"}, Profile("256", ascii_only=True)),
        ({"TERM": "xterm-256color", "LANG": "de_DE.utf8"}, Profile("256")),
        ({"TERM": "xterm-256color", "LANG": "C", "LC_CTYPE": "en_US.UTF-8"}, Profile("256")),
        ({"TERM": "xterm-256color", "LC_ALL": "C", "LC_CTYPE": "en_US.UTF-8"}, Profile("256", ascii_only=True)),
        ({"TERM": "xterm-256color", "LC_ALL": "", **UTF8}, Profile("256")),
    ],
)
def test_the_environment_tells_what_a_terminal_can_show(environ: dict[str, str], expected: Profile) -> None:
    assert detect(environ) == expected


@pytest.mark.parametrize("colors", LEVELS)
def test_safe_is_ascii_with_eight_colors_at_most(colors: Colors) -> None:
    profile = detect({"TERM": "xterm-256color", "CEPHTUI_COLORS": colors, **UTF8}, safe=True)
    assert profile == Profile("none" if colors == "none" else "8", ascii_only=True)


def test_an_unknown_number_of_colors_is_refused_with_the_known_ones(golden: Golden) -> None:
    with golden.raises(UnknownLevel):
        detect({"CEPHTUI_COLORS": "7"})


def test_the_symbols_of_charts_are_chosen_by_a_variable_where_the_terminal_has_them(golden: Golden) -> None:
    assert detect({"TERM": "xterm-256color", **UTF8}).symbols == "braille"
    for graph in GRAPHS:
        environ = {"TERM": "xterm-256color", "CEPHTUI_GRAPH": graph.upper(), **UTF8}
        assert detect(environ).symbols == graph
        assert detect({**environ, "TERM": "linux"}).symbols == "ascii"
    with golden.raises(UnknownLevel):
        detect({"CEPHTUI_GRAPH": "dots"})


class Chooser(CephtuiApp):
    """Ends at once, after symbols were chosen."""

    def __init__(self, root: Path, profile: Profile, choice: Graph | None = None) -> None:
        super().__init__(root, profile)
        self.choice = choice

    def on_mount(self) -> None:
        if self.choice:
            self.choose_graph(self.choice)
        self.exit()

    def run(self, **_: Any) -> None:
        super().run(headless=True)


def test_the_chosen_symbols_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "graph_file", lambda: tmp_path / "state" / "graph")
    monkeypatch.setattr(paths, "theme_file", lambda: tmp_path / "state" / "theme")

    def symbols(profile: Profile, choice: Graph | None = None) -> Graph:
        app = Chooser(tmp_path, profile, choice)
        _run(app)
        return app.profile.symbols

    assert symbols(Profile()) == "braille"
    assert not (tmp_path / "state").exists()
    assert symbols(Profile(), "block") == "block"
    assert symbols(Profile()) == "block"
    assert symbols(Profile(graph="ascii")) == "ascii", "a variable wins"
    assert symbols(Profile(ascii_only=True)) == "ascii"
    (tmp_path / "state" / "graph").write_text("dots")
    assert symbols(Profile()) == "braille"


class Charted(CephtuiApp):
    """One chart on a screen."""

    def compose(self) -> ComposeResult:
        yield Chart()

    def on_mount(self) -> None:
        line = ChartLine("write", tuple((float(at), 5.0 + at % 3) for at in range(20)), "#e69f00", "zero")
        self.query_one(Chart).show(Picture([line], str))


async def test_the_palette_changes_the_symbols_of_a_chart_at_once(tmp_path: Path) -> None:
    app = Charted(tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        found = {command.title: command.callback for command in app.get_system_commands(app.screen)}
        for graph, cells in (("ascii", "*:"), ("block", "▄"), ("braille", "⣿⣤")):
            found[f"graph symbols: {graph}"]()
            await until(pilot, lambda cells: any(cell in screen_text(app) for cell in cells), cells)
    plain = Charted(tmp_path, Profile("8", ascii_only=True))
    async with plain.run_test(size=(80, 24)):
        assert not [c for c in plain.get_system_commands(plain.screen) if c.title.startswith("graph symbols")]


def test_the_locale_is_the_one_that_the_process_was_started_with(tmp_path: Path) -> None:
    (tmp_path / "environ").write_bytes(b"TERM=linux\0LANG=C\0")
    environ = as_started({"TERM": "xterm", "LANG": "C", "LC_CTYPE": "C.UTF-8"}, tmp_path / "environ")
    assert environ == {"TERM": "xterm", "LANG": "C"}
    assert as_started({"LC_CTYPE": "C.UTF-8"}, tmp_path / "none") == {"LC_CTYPE": "C.UTF-8"}


@pytest.mark.parametrize(("given", "ascii_only"), [({}, True), ({"LANG": "C"}, True), ({"LC_CTYPE": "C.UTF-8"}, False)])
def test_a_locale_that_python_has_set_by_itself_does_not_count(given: dict[str, str], ascii_only: bool) -> None:
    program = "import os; from cephtui.tui.terminal.profile import *; print(detect(as_started(os.environ)).ascii_only)"
    environ = {"TERM": "xterm-256color", "PATH": os.environ["PATH"], **given}
    done = subprocess.run([sys.executable, "-c", program], env=environ, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(ascii_only)


# ---------------------------------------------------------------------------------------------- characters


def test_every_character_of_boxes_blocks_and_braille_has_a_look_alike() -> None:
    for char in map(chr, (*range(0x2500, 0x25A0), *range(0x2800, 0x2900))):
        replaced = in_ascii(char)
        assert (len(replaced), cell_len(char)) == (1, 1), char
        assert replaced.isascii(), char
        assert replaced.isprintable(), char
        assert replaced != "?", char


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("╭─ IOPS ─╮", "+- IOPS -+"),
        ("│ ┃ ║ ═ ┼ ╱", "| | | = + /"),
        ("▁▂▃▄▅▆▇█", "_..::###"),
        ("⣿⠀⡀", "* *"),
        ("↑↓←→ ● ✓ ✗ …", "^v<> * v x ."),
        ("73 µs ±3 %, 5 × 2", "73 us ~3 %, 5 x 2"),
        ("Zürich é", "Zurich e"),
        ("名 🔎|", "?? ??|"),
        ("e\N{COMBINING ACUTE ACCENT}.", "e."),
        ("plain", "plain"),
    ],
)
def test_a_text_keeps_its_width_and_as_much_of_its_look_as_can_be(text: str, expected: str) -> None:
    assert in_ascii(text) == expected
    assert len(in_ascii(text)) == cell_len(text)


@given(st.text(st.characters(exclude_categories=("Cc", "Cs"))))
def test_any_text_becomes_ascii_of_the_same_width(text: str) -> None:
    replaced = in_ascii(text)
    assert replaced.isascii()
    assert len(replaced) == cell_len(text)


# ---------------------------------------------------------------------------------------------- colours

_LEVELS = (0, 40, 90, 128, 190, 255)
STEPS = tuple(product(_LEVELS, _LEVELS, _LEVELS))


@pytest.mark.parametrize("count", [8, 16])
@pytest.mark.parametrize("bold", [False, True])
def test_any_text_can_be_read_on_any_background(count: int, bold: bool) -> None:
    grounds = {downgrade.paper(background, count) for background in STEPS}
    assert max(grounds) < count
    for on in grounds:
        for color in STEPS:
            assert contrast(VGA[downgrade.ink(color, on, count, bold=bold)], VGA[on]) >= 3


@pytest.mark.parametrize("index", range(16))
def test_a_color_that_the_terminal_has_stays_that_color(index: int) -> None:
    on = max(BLACK, downgrade.WHITE | BRIGHT, key=lambda background: contrast(VGA[index], VGA[background]))
    assert downgrade.paper(VGA[index], 16) == index
    assert downgrade.ink(VGA[index], on, 16) == index
    if index < BRIGHT:
        assert downgrade.paper(VGA[index], 8) == index


@pytest.mark.parametrize("count", [8, 16])
def test_a_frame_that_goes_through_twice_stays_as_it_is(count: int) -> None:
    """A screen below a dialog does."""
    for on, color in product(range(count), STEPS):
        once = downgrade.ink(color, on, count)
        assert downgrade.ink(VGA[once], on, count, bold=count == BRIGHT and once >= BRIGHT) == once


def test_light_and_dark_grey_is_white_and_black() -> None:
    assert [downgrade.paper(rgb(c), 8) for c in ("#121212", "#262626", "#13283a", "#eeeeee", "#d0e4f4")] == [
        0,
        0,
        0,
        7,
        7,
    ]
    assert downgrade.ink(rgb("#555555"), 0, 8) == downgrade.WHITE
    assert downgrade.ink(rgb("#e4e4e4"), 0, 8) == downgrade.WHITE
    assert downgrade.ink(rgb("#e4e4e4"), 0, 8, bold=True) == downgrade.WHITE | BRIGHT
    assert downgrade.ink(rgb("#ffffff"), 7, 8) == BLACK


@pytest.mark.parametrize("count", [8, 16])
def test_the_colors_of_lines_stay_apart(count: int) -> None:
    names = ("orange", "sky", "green", "blue", "red", "purple")
    assert len({downgrade.ink(rgb(OKABE_ITO[name]), BLACK, count) for name in names}) == len(names)


def style_of(
    color: str | None,
    background: str | None,
    *,
    bold: bool | None = None,
    italic: bool | None = None,
    reverse: bool | None = None,
) -> Style:
    return Style(color=color, bgcolor=background, bold=bold, italic=italic, reverse=reverse)


def indexes(style: Style) -> tuple[int | None, int | None]:
    return style.color.number if style.color else None, style.bgcolor.number if style.bgcolor else None


def test_what_is_reversed_is_told_by_its_colors() -> None:
    fitted, _ = fitted_style(style_of("#ffffff", "#0000aa", reverse=True), (0, 0, 0), 8)
    assert indexes(fitted) == (downgrade.BLUE, downgrade.WHITE)
    assert not fitted.reverse


@pytest.mark.parametrize(("theme", "background", "reverse"), [(PLAIN, "#ffffff", True), (PLAIN, "#000000", None)])
def test_without_colors_a_background_that_stands_out_is_reversed(
    theme: Theme, background: str, reverse: bool | None
) -> None:
    fitted, _ = fitted_style(style_of("#808080", background, bold=True, italic=True), rgb(str(theme.background)), 0)
    assert fitted == Style(bold=True, reverse=reverse)


@pytest.mark.parametrize("count", [0, 8, 16])
def test_a_letter_that_is_hidden_by_its_color_stays_hidden(count: int) -> None:
    """The X of a check box that is off."""
    few = FewColors(count)
    few.stand_on((0, 0, 0))
    faint = Style(color="#1c1c1c", bgcolor="#262626")
    assert few.apply([Segment("▐X▌", faint)], Color(0, 0, 0))[0].text == "▐ ▌"
    assert few.apply([Segment("▐X▌", Style(color="#262626", bgcolor="#262626"))], Color(0, 0, 0))[0].text == "   "
    assert few.apply([Segment("X", Style(color="#808080", bgcolor="#262626"))], Color(0, 0, 0))[0].text == "X"


def test_what_a_style_means_to_the_mouse_is_kept() -> None:
    style = Style(color="red", link="https://example.com") + Style.from_meta({"@click": "quit"})
    for count in (0, 8, 16):
        fitted, _ = fitted_style(style, (0, 0, 0), count)
        assert fitted.meta == {"@click": "quit"}
        assert fitted.link is None


@pytest.mark.parametrize("color", OKABE_ITO.values())
@pytest.mark.parametrize("background", [LIGHT.background, LIGHT.surface, LIGHT.panel])
def test_a_color_chosen_for_dark_is_darkened_on_light(color: str, background: str) -> None:
    fitted, _ = readable_style(style_of(color, background), rgb(background))
    assert fitted.color
    assert fitted.color.triplet
    assert contrast(fitted.color.triplet, rgb(background)) >= 4.5
    on_dark = style_of(color, "#121212")
    assert readable_style(on_dark, rgb(background))[0] == on_dark


# ---------------------------------------------------------------------------------------------- themes


def variables(theme: Theme) -> dict[str, str]:
    return {**theme.to_color_system().generate(), **theme.variables}


def in_256(color: downgrade.RGB) -> downgrade.RGB:
    return RichColor.from_rgb(*color).downgrade(ColorSystem.EIGHT_BIT).get_truecolor()


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=lambda theme: theme.name)
@pytest.mark.parametrize("background", ["background", "surface", "panel"])
@pytest.mark.parametrize("few", [False, True])
def test_text_has_a_contrast_of_4_5_in_both_themes(theme: Theme, background: str, few: bool) -> None:
    values = variables(theme)
    ground = Color.parse(values[background])
    texts = {name: Color.parse(values[name]) for name in ("foreground", "accent", "warning", "error", "success")}
    texts |= {name: Color.parse(values[f"text-{name}"]) for name in ("primary", "warning", "error", "success")}
    texts["60%"] = ground + Color.parse(values["foreground"]).with_alpha(0.6)
    convert = in_256 if few else lambda color: color
    found = {name: contrast(convert(color.rgb), convert(ground.rgb)) for name, color in texts.items()}
    limit = 4.0 if few else 4.45  # of 256 the nearest one is taken
    assert {name: value for name, value in found.items() if value < limit} == {}


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=lambda theme: theme.name)
@pytest.mark.parametrize("background", ["primary", "primary-darken-1", "primary-darken-2", "error"])
def test_text_on_an_accent_can_be_read(theme: Theme, background: str) -> None:
    ground = Color.parse(variables(theme)[background])
    assert contrast((ground + ground.get_contrast_text(0.87)).rgb, ground.rgb) >= 3.5


@pytest.mark.parametrize("theme", [BASIC_DARK, BASIC_LIGHT, PLAIN], ids=lambda theme: theme.name)
def test_the_themes_for_few_colors_are_made_of_those_only(theme: Theme) -> None:
    allowed = {"#{:02x}{:02x}{:02x}".format(*color) for color in VGA}
    allowed = {"#000000", "#ffffff"} if theme is PLAIN else allowed
    own = {name: value for name, value in theme.variables.items() if value.startswith("#")}
    base = {name: getattr(theme, name) for name in ("primary", "error", "background", "surface", "panel", "foreground")}
    assert {name: value for name, value in {**own, **base}.items() if value not in allowed} == {}


# ---------------------------------------------------------------------------------------------- what is sent


class Dialog(ModalScreen[None]):
    """Something over the rest."""

    BINDINGS = [("escape", "dismiss", "close")]
    DEFAULT_CSS = "Dialog { align: center middle; } Dialog Vertical { width: 30; height: 7; border: round $primary; }"

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static("sure — or not…")
            yield Button("yes", variant="error")


class Everything(MinimumSizeApp):
    """A bit of everything that draws."""

    CSS = themes.CSS + "DataTable { height: 5; } OptionList { height: 5; } #bar { background: $primary-darken-2; }"
    BINDINGS = [("d", "dialog", "dialog"), ("t", "toast", "toast"), ("q", "quit", "quit")]

    def __init__(self, profile: Profile, *, busy: bool = False) -> None:
        super().__init__()
        self.profile, self.occupied = profile, busy
        apply(self, profile)

    @property
    def busy(self) -> bool:
        return self.occupied

    def compose(self) -> ComposeResult:
        yield Static("● bar", id="bar")
        yield Static(Text.assemble(*((f"{name} ", color) for name, color in OKABE_ITO.items())), id="colors")
        named = ("red", "green", "yellow", "dim", "bold", "reverse")
        yield Static(Text.assemble(*((f"{name} ", name) for name in named)))
        yield Static(
            "[$error]error[/] [$text-success]ok[/] [$foreground 60%]dim[/] [link='https://example.com']link[/]"
        )
        yield Static("⣿⣀⡇ ▁▂▃▄▅▆▇█ → ± µ 名 🔎")
        yield Button("go")
        yield Checkbox("off")
        yield Checkbox("on", True)
        yield DataTable(cursor_type="row")
        yield OptionList(*(f"option {number}" for number in range(20)))
        yield Input("text")
        yield Digits("1.4")
        yield Footer()

    def on_mount(self) -> None:
        table = self.query_one(DataTable)
        table.add_columns("preset", "IOPS")
        for number in range(20):
            table.add_row(str(number), "16.7k")

    def action_dialog(self) -> None:
        self.push_screen(Dialog())

    def action_toast(self) -> None:
        self.notify("stops it", title="busy", severity="warning")


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Everything that is written to the terminal."""
    written: list[str] = []

    class Recording(headless_driver.HeadlessDriver):
        is_headless = False

        def write(self, data: str) -> None:
            written.append(data)

    render = Strip.render_style.__func__  # type: ignore[attr-defined]
    drawn: dict[int, Style] = {}

    def fresh(cls: type[Strip], style: Style, text: str, color_system: ColorSystem) -> str:
        if drawn.get(id(style)) is not style:
            drawn[id(style)] = style
            style._ansi = None  # it may come from a terminal with other colours, in a test before
        return str(render(cls, style, text, color_system))

    monkeypatch.setattr(Strip, "render_style", classmethod(fresh))
    monkeypatch.setattr(headless_driver, "HeadlessDriver", Recording)
    return written


async def visit_everything(app: Everything, pilot: Pilot[None]) -> None:
    """All that the application can show, in each of its themes."""
    for theme in [name for name in app.available_themes if name.startswith("cephtui")]:
        app.theme = theme
        await pilot.pause()
        for _ in range(7):
            await pilot.press("tab")
        app.screen.set_focus(None)
        await pilot.press("t", "d", "escape", "ctrl+p")
        await pilot.pause()
        await pilot.press("q", "u", "down", "escape")
    await pilot.resize_terminal(100, 40)
    await pilot.resize_terminal(120, 36)


def codes(written: list[str]) -> set[str]:
    """Every number in a colour sequence; those that begin with 38 or 48 whole."""
    found: set[str] = set()
    for parameters in set(SGR.findall("".join(written))):
        head, mark, rest = re.sub(r"(?:^|;)([34]8;.*)$", r"|\1", parameters).partition("|")
        found |= {*head.split(";")} | ({rest.partition(";")[0]} if mark else set())
    return found - {""}


def numbers(*ranges: range) -> set[str]:
    return {str(number) for one in ranges for number in one}


EIGHT = {"0", "1", "4"} | numbers(range(30, 38), range(40, 48))
SIXTEEN = EIGHT | numbers(range(90, 98), range(100, 108))
ALLOWED: dict[Colors, set[str]] = {"none": {"0", "1", "4", "7"}, "8": EIGHT, "16": SIXTEEN}


@pytest.mark.parametrize(
    ("colors", "ascii_only"),
    [
        ("8", True),
        *(
            pytest.param(*each, marks=pytest.mark.matrix)
            for each in (("truecolor", False), ("256", True), ("16", False), ("8", False), ("none", True))
        ),
    ],
)
async def test_only_what_the_terminal_has_is_sent_and_it_can_be_read(
    wire: list[str], colors: Colors, ascii_only: bool
) -> None:
    app = Everything(Profile(colors, ascii_only=ascii_only))
    async with app.run_test(size=(120, 36), notifications=True) as pilot:
        await visit_everything(app, pilot)
    text = "".join(wire)
    assert "go" in text
    assert "sure" in text
    assert "stops it" in text
    if ascii_only:
        assert sorted({char for char in text if not char.isascii()}) == []
    else:
        assert "⣿" in text
    if colors in ALLOWED:
        assert codes(wire) - ALLOWED[colors] == set()
        assert "\x1b]8" not in text  # links, which old consoles print
    if colors in ("8", "16"):
        pairs = {pair_of(parameters) for parameters in set(SGR.findall(text))}
        assert len(pairs) > 5
        assert [pair for pair in pairs if pair and contrast(VGA[pair[0]], VGA[pair[1]]) < 3] == [], "can't be read"
    if colors == "256":
        assert "38;5;" in text
        assert "38;2;" not in text
    if colors == "truecolor":
        assert "38;2;" in text


def pair_of(parameters: str) -> tuple[int, int] | None:
    """The colours that a sequence selects, bold being bright."""
    ink = paper = None
    for number in (int(part) for part in parameters.split(";") if part):
        if 30 <= number <= 37 or 90 <= number <= 97:
            ink = number - 30 if number < 90 else number - 82
        elif 40 <= number <= 47 or 100 <= number <= 107:
            paper = number - 40 if number < 100 else number - 92
    return None if ink is None or paper is None else (ink | (BRIGHT if parameters.startswith("1;") else 0), paper)


@pytest.mark.parametrize("colors", ["none", "8"])
async def test_focus_and_what_is_selected_can_be_seen(colors: Colors) -> None:
    app = Everything(Profile(colors))
    async with app.run_test(size=(120, 36)) as pilot:
        for widget in (Button, DataTable, OptionList, Input):
            app.screen.set_focus(None)
            await pilot.pause()
            before = styles_of(app, app.query_one(widget))
            app.query_one(widget).focus()
            await pilot.pause()
            assert styles_of(app, app.query_one(widget)) != before, widget


def styles_of(app: Everything, widget: Widget) -> set[Style]:
    """How the cells of a widget look."""
    strips = [strip.crop(widget.region.x, widget.region.right) for strip in app.screen._compositor.render_strips()]
    found = {one.style for strip in strips[widget.region.y : widget.region.bottom] for one in strip if one.style}
    return {style.clear_meta_and_links() for style in found}


def inks(app: Everything, widget: Widget) -> set[downgrade.RGB]:
    """The colours of its text."""
    return {s.color.triplet for s in styles_of(app, widget) if s.color and s.color.triplet}


async def test_a_check_box_that_is_off_does_not_look_like_one_that_is_on() -> None:
    for colors in ("none", "8", "16"):
        app = Everything(Profile(colors, ascii_only=True))
        async with app.run_test(size=(120, 36)):
            off, on = (
                [s.text for s in app.screen._compositor.render_strips()][w.region.y + 1] for w in app.query(Checkbox)
            )
            assert ("X" in off, "X" in on) == (False, True)


async def test_the_real_console_in_mid_run_keeps_to_its_terminal(tmp_path: Path, wire: list[str]) -> None:
    basic = Profile("8", ascii_only=True)
    async with replayed.console(tmp_path, run=WRITE_IOPS, speed=10, size=(80, 24), profile=basic) as (app, pilot):
        assert app.profile.ascii_only
        await pilot.press("2", "enter")
        await until(pilot, lambda: app.busy)
        await until(pilot, lambda: "IOPS" in "".join(wire))
        await pilot.press("question_mark", "escape", "s")
        await until(pilot, lambda: not app.busy)
    text = "".join(wire)
    assert "cephtui" in text
    assert sorted({char for char in text if not char.isascii()}) == []
    assert codes(wire) - EIGHT == set()


async def test_the_look_of_the_terminal_wins_over_what_textual_guesses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = Everything(Profile("truecolor"))
    async with app.run_test(size=(120, 36)):
        assert not app.no_color
        assert app.theme == DARK.name
        assert rgb("#e69f00") in inks(app, app.query_one("#colors"))


async def test_light_and_dark_are_offered_and_readable_where_colors_were_chosen_for_dark() -> None:
    app = Everything(Profile("truecolor"))
    async with app.run_test(size=(120, 36)) as pilot:
        widget = app.query_one("#colors")
        await until(pilot, lambda: all(rgb(color) in inks(app, widget) for color in OKABE_ITO.values()))
        app.theme = LIGHT.name
        await until(pilot, lambda: all(contrast(color, (255, 255, 255)) >= 4.5 for color in inks(app, widget)))
        assert len(inks(app, widget)) >= len(OKABE_ITO)


class Mapped(MinimumSizeApp):
    """A heat map whose cells have all pairs of numbers above each other, none among them."""

    CSS = themes.CSS + "HeatMap { height: 2; }"
    NUMBERS = (0, *(4**power for power in range(8)))

    def __init__(self, profile: Profile) -> None:
        super().__init__()
        self.profile = profile
        apply(self, profile)
        self.pairs = [*product(self.NUMBERS, repeat=2)]

    def compose(self) -> ComposeResult:
        yield HeatMap(id="heat")

    def on_mount(self) -> None:
        middles = [bucket_of(round(1e6 * 10 ** ((line + 0.5) / 4))) // 16 for line in range(4)]  # of 1 ms to 10 ms
        full = [{row: pair[line % 2] for line, row in enumerate(middles) if pair[line % 2]} for pair in self.pairs]
        columns = [(float(second), rows) for second, rows in enumerate(full, 1)]
        self.query_one(HeatMap).show(columns, TimeSpan(0.0, float(len(columns))))

    def cells(self) -> list[tuple[str, Style]]:
        """The characters of the map's lower row, with their styles."""
        region = self.query_one(HeatMap).region
        strip = self.screen._compositor.render_strips()[region.bottom - 1].crop(region.x + GUTTER, region.right)
        return [(letter, style or Style()) for text, style, _ in strip for letter in text]


def in_colors(color: RichColor | None, profile: Profile) -> downgrade.RGB:
    """A colour as the terminal shows it."""
    assert color
    few = color.downgrade(ColorSystem.EIGHT_BIT) if profile.colors == "256" else color
    return few.get_truecolor()


@pytest.mark.parametrize("profile", [Profile("truecolor"), Profile("256")], ids=str)
async def test_more_completions_stand_out_more_from_the_ground_in_every_theme(profile: Profile) -> None:
    app = Mapped(profile)
    async with app.run_test(size=(GUTTER + len(app.pairs), 30)) as pilot:
        for theme in app.available_themes:
            app.theme = theme
            await pilot.pause()
            found: dict[int, set[downgrade.RGB]] = {}
            for (lower, upper), (letter, style) in zip(app.pairs, app.cells(), strict=True):
                assert letter == ("▀" if upper else "▄" if lower else _TICK)
                if upper or lower:
                    found.setdefault(upper or lower, set()).add(in_colors(style.color, profile))
                if upper and lower:
                    found.setdefault(lower, set()).add(in_colors(style.bgcolor, profile))
            assert {number: len(colors) for number, colors in found.items()} == dict.fromkeys(app.NUMBERS[1:], 1), theme
            bright = [downgrade.luminance(color) for number in app.NUMBERS[1:] for color in found[number]]
            assert bright == sorted(bright, reverse=not app.current_theme.dark), theme
            assert len(set(bright)) > 6, theme
            word = "brighter" if app.current_theme.dark else "darker"
            assert f"{word} = more I/Os" in str(app.query_one(HeatMap).border_title)


@pytest.mark.parametrize("profile", [Profile("16"), Profile("8", ascii_only=True), Profile("none")], ids=str)
async def test_more_completions_are_denser_where_there_are_few_colors(profile: Profile) -> None:
    app = Mapped(profile)
    async with app.run_test(size=(GUTTER + len(app.pairs), 30)) as pilot:
        for theme in app.available_themes:
            app.theme = theme
            await pilot.pause()
            cells = app.cells()
            shades = _ASCII if profile.ascii_only else _SHADES
            levels = [shades.find(letter) for letter, _ in cells]  # less than none where only a tick is
            dense = [level for _, level in sorted(zip(map(sum, app.pairs), levels, strict=True))]
            assert dense == sorted(dense)
            assert len({*dense}) > 4
            assert len({(style.color, style.bgcolor) for letter, style in cells if letter in shades}) == 1
            assert "denser = more I/Os" in str(app.query_one(HeatMap).border_title)


def test_a_frame_that_was_drawn_before_costs_no_new_style() -> None:
    few, light = FewColors(8), OnLight()
    light.stand_on((255, 255, 255))
    for one in (few, light):
        line = [Segment("IOPS", Style(color=color, bgcolor="#123456")) for color in OKABE_ITO.values()]
        one.apply(line, Color(0, 0, 0))
        misses = one._fitted.cache_info().misses
        one.apply(line, Color(0, 0, 0))
        assert one._fitted.cache_info().misses == misses == len(OKABE_ITO)


# ---------------------------------------------------------------------------------------------- too small


@pytest.mark.parametrize(
    ("size", "expected"), [((80, 24), False), ((79, 24), True), ((80, 23), True), ((250, 70), False)]
)
def test_80x24_is_the_least(size: tuple[int, int], expected: bool) -> None:
    assert is_too_small(Size(*size)) == expected


@pytest.mark.parametrize("busy", [False, True])
@given(size=st.tuples(st.integers(1, 200), st.integers(1, 60)))
def test_the_notice_fills_the_terminal_exactly(busy: bool, size: tuple[int, int]) -> None:
    lines = message(Size(*size), busy=busy)
    assert {len(line) for line in lines} == {size[0]}
    assert len(lines) == size[1]
    if size[0] >= 60 and size[1] >= 2:
        text = "\n".join(lines)
        assert re.findall(r"\d+x\d+", text) == ["80x24", f"{size[0]}x{size[1]}"]
        assert ("continues" in text, " q " in text) == (busy, not busy)


def last_frame(wire: list[str]) -> str:
    """What has been written since the notice was seen last or the wire was cut."""
    return SGR.sub("", "".join(wire))


async def test_a_terminal_that_is_made_too_small_shows_the_notice_until_it_grows(wire: list[str]) -> None:
    app = Everything(Profile())
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.press("d")
        await pilot.pause()
        dialog = app.screen
        wire.clear()
        await pilot.resize_terminal(60, 15)
        await until(pilot, lambda: "60x15" in last_frame(wire))
        assert "sure" not in last_frame(wire)
        await pilot.press("escape", "t", "tab", "enter")
        await pilot.click(offset=(30, 7))
        assert app.screen is dialog
        assert not app._notifications
        wire.clear()
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: "sure" in last_frame(wire))
        assert app.screen is dialog
        await pilot.press("escape")
        assert app.screen is not dialog


async def test_one_that_is_too_small_from_the_start_works_once_it_grows(wire: list[str]) -> None:
    app = Everything(Profile())
    async with app.run_test(size=(40, 5)) as pilot:
        await until(pilot, lambda: "80x24" in last_frame(wire))
        assert "option" not in last_frame(wire)
        for size in ((1, 1), (3, 2), (79, 70), (200, 50)):
            await pilot.resize_terminal(*size)
        await until(pilot, lambda: "option" in last_frame(wire))


@pytest.mark.parametrize("pressed", ["q", "ctrl+q", "ctrl+c"])
async def test_it_can_be_left_there(wire: list[str], pressed: str) -> None:
    app = Everything(Profile())
    async with app.run_test(size=(60, 15)) as pilot:
        await pilot.press(pressed)
        await until(pilot, lambda: app._exit)


async def test_but_not_while_a_run_goes_on(wire: list[str]) -> None:
    app = Everything(Profile(), busy=True)
    async with app.run_test(size=(60, 15)) as pilot:
        await until(pilot, lambda: "continues" in last_frame(wire))
        await pilot.press("q", "ctrl+q", "ctrl+c")
        assert not app._exit
