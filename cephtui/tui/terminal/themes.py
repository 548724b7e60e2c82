"""The themes: dark and light, and what stands for them where a terminal has few colours or none."""

from __future__ import annotations

from textual.design import NUMBER_OF_SHADES, ColorSystem
from textual.theme import Theme

from cephtui.tui.charts.colors import ERROR_COLOR, FLOW_COLORS, GOOD_COLOR, WARNING_COLOR

# Frames and cursors are blue, keys have no colour. Colours of words are darker on light, so that text in them has a
# contrast of 4.5. The greys are among the 256 of a terminal without truecolor.
DARK = Theme(
    name="cephtui-dark",
    primary="#0072b2",
    secondary=FLOW_COLORS["read"],
    accent="#e4e4e4",
    warning=WARNING_COLOR,
    error=ERROR_COLOR,
    success=GOOD_COLOR,
    foreground="#e4e4e4",
    background="#121212",
    surface="#1c1c1c",
    panel="#262626",
    variables={
        "border-blurred": "#585858",
        "scrollbar": "#585858",
        "scrollbar-hover": "#808080",
        "scrollbar-active": "#56b4e9",
        "scrollbar-background": "#1c1c1c",
        "footer-description-foreground": "#a8a8a8",
    },
)
LIGHT = Theme(
    name="cephtui-light",
    dark=False,
    primary="#0068a3",
    secondary="#14699a",
    accent="#121212",
    warning="#6d6609",
    error="#a54900",
    success="#007353",
    foreground="#121212",
    background="#ffffff",
    surface="#eeeeee",
    panel="#e4e4e4",
    variables={
        "border-blurred": "#a8a8a8",
        "scrollbar": "#a8a8a8",
        "scrollbar-hover": "#808080",
        "scrollbar-active": "#0068a3",
        "scrollbar-background": "#eeeeee",
        "footer-description-foreground": "#4e4e4e",
    },
)


def _unmixed(name: str, ground: str, text: str, accents: dict[str, str], variables: dict[str, str]) -> Theme:
    """A theme without shades: one background, one colour of text, and accents."""
    base = {**accents, "foreground": text, **dict.fromkeys(("background", "surface", "panel"), ground)}
    shades = {
        f"{color}-{way}-{number}": base.get(color, ground)
        for color in (*ColorSystem.COLOR_NAMES, "foreground")
        for way in ("lighten", "darken")
        for number in range(1, NUMBER_OF_SHADES + 1)
    }
    quiet = ("text-muted", "text-disabled", "foreground-muted", "foreground-disabled")
    derived = {
        **{f"{accent}-muted": ground for accent in accents},
        **{f"text-{accent}": color for accent, color in accents.items()},
        **dict.fromkeys(quiet, text),
        "text": "auto 100%",
        "surface-active": ground,
        "boost": ground,
        "scrollbar-background": ground,
    }
    variables = {**shades, **derived, **variables}
    return Theme(name=name, dark=ground == "#000000", **base, variables=variables)  # type: ignore[arg-type]


_BLUE = {
    "footer-background": "#0000aa",
    "footer-foreground": "#ffffff",
    "footer-description-foreground": "#aaaaaa",
    "footer-key-foreground": "#ffffff",
    "link-background-hover": "#00aaaa",
    "input-selection-background": "#00aaaa",
    "input-selection-foreground": "#000000",
    "scrollbar-hover": "#00aaaa",
    "scrollbar-active": "#00aaaa",
}
BASIC_DARK = _unmixed(
    DARK.name,
    "#000000",
    "#ffffff",
    {
        "primary": "#0000aa",
        "secondary": "#00aaaa",
        "accent": "#ffffff",
        "warning": "#ffff55",
        "error": "#ff5555",
        "success": "#55ff55",
    },
    {
        **_BLUE,
        "text-primary": "#55ffff",
        "border": "#55ffff",
        "border-blurred": "#aaaaaa",
        "block-cursor-foreground": "#000000",
        "block-cursor-background": "#00aaaa",
        "block-cursor-blurred-background": "#0000aa",
        "block-hover-background": "#0000aa",
        "scrollbar": "#aaaaaa",
    },
)
"""A theme of the sixteen colours only, so that a terminal with eight or sixteen has nothing to guess."""
BASIC_LIGHT = _unmixed(
    LIGHT.name,
    "#ffffff",
    "#000000",
    {
        "primary": "#0000aa",
        "secondary": "#0000aa",
        "accent": "#000000",
        "warning": "#aa5500",
        "error": "#aa0000",
        "success": "#00aa00",
    },
    {
        **_BLUE,
        "border-blurred": "#000000",
        "block-cursor-foreground": "#ffffff",
        "block-cursor-background": "#0000aa",
        "block-cursor-blurred-background": "#00aaaa",
        "block-hover-background": "#00aaaa",
        "scrollbar": "#0000aa",
    },
)
"""A theme of the sixteen colours on white."""
PLAIN = _unmixed(
    "cephtui-plain",
    "#000000",
    "#ffffff",
    dict.fromkeys(("primary", "secondary", "accent", "warning", "error", "success"), "#ffffff"),
    {
        "border-blurred": "#ffffff",
        "block-cursor-foreground": "#000000",
        "block-cursor-blurred-background": "#000000",
        "block-cursor-blurred-text-style": "underline",
        "block-hover-background": "#000000",
        "input-selection-background": "#ffffff",
        "input-selection-foreground": "#000000",
        "footer-background": "#000000",
        "scrollbar": "#ffffff",
        "scrollbar-hover": "#ffffff",
    },
)
CSS = """
.-few-colors ModalScreen { background: transparent; }
.-few-colors Button.-style-default { border-top: tall $border-blurred; border-bottom: tall $border-blurred; }
.-few-colors Button.-style-default.-textual-compact { border: none; }
.-no-color Button, .-no-color Button.-style-default { background: $background; color: $foreground; text-style: none; }
.-no-color Button:focus { text-style: bold reverse; }
.-no-color Input:focus { text-style: underline; }
"""
"""What the terminals with few colours need besides a theme: nothing is blended, focus is a text style."""
