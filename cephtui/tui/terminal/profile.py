"""What a terminal can show, derived from its environment: how many colours, and whether more than ASCII."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar, get_args

from cephtui.frozen import dataclass

if TYPE_CHECKING:
    from textual.widget import Widget

T = TypeVar("T", bound=str)
Colors = Literal["truecolor", "256", "16", "8", "none"]
"""Levels of colours, from the most to the fewest."""
LEVELS: tuple[Colors, ...] = get_args(Colors)
Graph = Literal["braille", "block", "ascii"]
"""The symbols that charts are drawn with."""
GRAPHS: tuple[Graph, ...] = get_args(Graph)
DRIVER_VARIABLE = "TEXTUAL_DRIVER"
"""Set where there is no terminal but a browser, which shows everything, whatever the server was started on."""
COLORS_VARIABLE = "CEPHTUI_COLORS"
"""Overrides the level that is derived from TERM."""
GRAPH_VARIABLE = "CEPHTUI_GRAPH"
"""Overrides the symbols that were chosen in the console."""
_LOCALE_VARIABLES = ("LC_ALL", "LC_CTYPE", "LANG")
"""The first that is set decides."""
_ASCII_TERM = re.compile(r"(linux|vt\d|ansi|dumb|cons|unknown)|$")
_COLORLESS_TERM = re.compile(r"(vt\d|dumb|unknown|$|.*-(m|mono)$)")
_PLAIN_TERM = re.compile(r"(linux|cons|ansi|screen)")
"""COLORTERM does not apply to these: it is inherited from the terminal around them."""
_RICH_TERM = re.compile(r".*(-direct|kitty|alacritty|wezterm|ghostty|contour)|foot")


@dataclass(frozen=True, slots=True)
class Profile:
    """What may be sent to the terminal."""

    colors: Colors = "truecolor"
    ascii_only: bool = False
    """No character beyond ASCII: no braille, no blocks, no corners of boxes."""
    graph: Graph | None = None
    """The symbols that were chosen for charts."""

    @property
    def symbols(self) -> Graph:
        """The symbols that charts are drawn with."""
        return "ascii" if self.ascii_only else self.graph or "braille"

    @property
    def has_shades(self) -> bool:
        """Whether colours can be mixed."""
        return self.colors in ("truecolor", "256")


FULL = Profile()


def profile_of(widget: Widget) -> Profile:
    """The profile of the application of a widget: by default, a terminal that can show everything."""
    profile: Profile = getattr(widget.app, "profile", FULL)
    return profile


class UnknownLevel(ValueError):
    """The variable that names the colours, or the symbols of charts, holds something else."""


def detect(environ: Mapping[str, str], *, safe: bool = False) -> Profile:
    """The profile of the terminal of this environment; `safe` is what every terminal can show. Raises UnknownLevel."""
    if environ.get(DRIVER_VARIABLE):
        return FULL
    colors = _word_in(environ, COLORS_VARIABLE, LEVELS) or _colors(environ)
    ascii_only = safe or _ASCII_TERM.match(_term(environ)) is not None or not _is_utf8(environ)
    graph = _word_in(environ, GRAPH_VARIABLE, GRAPHS)
    return Profile(_at_most("8", colors) if safe else colors, ascii_only, graph)


def _word_in(environ: Mapping[str, str], variable: str, words: Sequence[T]) -> T | None:
    """The one of ``words`` that a variable has, None where it is not set."""
    word = environ.get(variable, "").strip().lower()
    if not word or word in words:
        return next((allowed for allowed in words if allowed == word), None)
    raise UnknownLevel(f"{variable}={word}: expected one of {', '.join(words)}")


def _colors(environ: Mapping[str, str]) -> Colors:
    term = _term(environ)
    if environ.get("NO_COLOR") or _COLORLESS_TERM.match(term):
        return "none"
    plain = _PLAIN_TERM.match(term)
    if _RICH_TERM.match(term) or (not plain and environ.get("COLORTERM", "").lower() in ("truecolor", "24bit")):
        return "truecolor"
    return "256" if "256color" in term else "16" if "16color" in term or "88color" in term else "8"


def _at_most(limit: Colors, colors: Colors) -> Colors:
    return LEVELS[max(LEVELS.index(limit), LEVELS.index(colors))]


def _term(environ: Mapping[str, str]) -> str:
    return environ.get("TERM", "").strip().lower()


def _is_utf8(environ: Mapping[str, str]) -> bool:
    locale = next((value for name in _LOCALE_VARIABLES if (value := environ.get(name))), "C")
    return "utf8" in locale.lower().replace("-", "")


def as_started(environ: Mapping[str, str], initial: Path = Path("/proc/self/environ")) -> dict[str, str]:
    """The environment with the locale that the process was started with.

    Python sets LC_CTYPE to a UTF-8 one where it finds none, whatever the terminal can show.
    """
    try:
        entries = initial.read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return dict(environ)
    before = {name: value for name, _, value in (entry.partition("=") for entry in entries)}
    rest = {name: value for name, value in environ.items() if name not in _LOCALE_VARIABLES}
    return {**rest, **{name: before[name] for name in _LOCALE_VARIABLES if name in before}}
