"""Sets up an application so that it sends only what its terminal can show."""

from __future__ import annotations

import re
from io import StringIO

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from textual.app import App
from textual.color import Color
from textual.drivers.linux_driver import LinuxDriver
from textual.filter import ANSIToTruecolor, Monochrome, NoColor
from textual.theme import BUILTIN_THEMES, Theme

from cephtui.tui.charts.colors import FLOW_COLORS
from cephtui.tui.terminal.downgrade import BLACK, RGB, VGA, WHITE
from cephtui.tui.terminal.filters import AsciiOnly, FewColors, OnLight, Printable
from cephtui.tui.terminal.profile import Profile
from cephtui.tui.terminal.themes import BASIC_DARK, BASIC_LIGHT, DARK, LIGHT, PLAIN
from cephtui.tui.textual_private import TerminalDriver, line_filters, set_line_filters

VGA_NAMES = TerminalTheme(VGA[BLACK], VGA[WHITE], [*VGA[:8]], [*VGA[8:]])
"""So that a colour named by a widget comes out as that colour."""
_UNKNOWN = re.compile(r"\x1b(\].*\x07|\[[<>][\d;]*u|\[\?\d+\$p)")
"""Requests that plain terminals print in part: the pointer's shape, the kitty keyboard, what they support."""


class PlainDriver(TerminalDriver):
    """The driver of a terminal that knows the old sequences only, and may have no other screen to go back to."""

    def write(self, data: str) -> None:
        """Textual writes each of its requests by itself."""
        if not _UNKNOWN.fullmatch(data):
            super().write(data)

    def stop_application_mode(self) -> None:
        """Leave an empty screen; also before the process is suspended."""
        self.write("\x1b[0m\x1b[2J\x1b[H")
        super().stop_application_mode()


def apply(app: App[None], profile: Profile) -> None:
    """Make an application that has not been started send only what the terminal can show."""
    few = profile.colors in ("16", "8", "none")
    app.console = _console({"truecolor": "truecolor", "256": "256"}.get(profile.colors, "standard"))
    app.no_color = profile.colors == "none"
    app.set_class(few, "-few-colors").set_class(app.no_color, "-no-color").set_class(profile.ascii_only, "-ascii")
    if few or profile.ascii_only:
        app.animation_level = "none"
        app.driver_class = PlainDriver
    elif app.driver_class is LinuxDriver:
        app.driver_class = TerminalDriver
    _offer_themes(app, profile)
    _install_filters(app, profile)


def _console(color_system: str) -> Console:
    """Like Textual's own but for the colours, which it guesses."""
    return Console(
        color_system=color_system,  # type: ignore[arg-type]
        file=StringIO(),
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
        force_terminal=True,
        safe_box=False,
        _environ={},
    )


def _offer_themes(app: App[None], profile: Profile) -> None:
    """Ours alone where the terminal does not have the shades that the others are made of."""
    few = profile.colors in ("16", "8", "none")
    themes = (PLAIN,) if profile.colors == "none" else (BASIC_DARK, BASIC_LIGHT) if few else (DARK, LIGHT)
    for name in BUILTIN_THEMES if few else ():
        app.unregister_theme(name)
    for theme in themes:
        app.register_theme(theme)
    app.set_reactive(App.ansi_theme_dark, VGA_NAMES if few else named_colors(DARK))
    app.set_reactive(App.ansi_theme_light, VGA_NAMES if few else named_colors(LIGHT))
    app.theme = themes[0].name


def named_colors(theme: Theme) -> TerminalTheme:
    """What the colours that a widget names, such as green, are in a theme."""
    ground, error, success, warning, blue, text = (
        _rgb(getattr(theme, name)) for name in ("background", "error", "success", "warning", "primary", "foreground")
    )
    write, read = _rgb(FLOW_COLORS["write"]), _rgb(FLOW_COLORS["read"])
    return TerminalTheme(ground, text, [ground, error, success, warning, blue, write, read, text])


def _install_filters(app: App[None], profile: Profile) -> None:
    count = {"16": 16, "8": 8, "none": 0}.get(profile.colors)
    colors = OnLight() if count is None else FewColors(count)
    replaced = (Monochrome, NoColor, ANSIToTruecolor)
    remaining = [line_filter for line_filter in line_filters(app) if not isinstance(line_filter, replaced)]
    named = ANSIToTruecolor(app.ansi_theme, enabled=not app.native_ansi_color)
    set_line_filters(app, [Printable(), named, *remaining, colors, *([AsciiOnly()] if profile.ascii_only else [])])

    def follow() -> None:
        colors.stand_on(_rgb(app.current_theme.to_color_system().generate()["background"]))

    app.watch(app, "theme", follow)


def _rgb(color: str) -> RGB:
    parsed = Color.parse(color)
    return (0, 0, 0) if parsed.ansi is not None else parsed.rgb
