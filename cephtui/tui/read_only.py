"""What an audience may do: look. An application that is read-only takes no other action of its screens."""

from __future__ import annotations

VARIABLE = "CEPHTUI_READ_ONLY"
"""The environment variable that makes a process's screens of saved sessions read-only."""
_TEXTUAL = frozenset(
    {"command_list", "command_palette", "copy_text", "cursor_down", "escape", "focus_next", "focus_previous", "quit"}
)
_DIALOGS = frozenset({"back", "dismiss", "filter", "help", "help_quit", "move", "pop_screen", "use"})
_PLAYING = frozenset({"pause", "play", "seek", "speed"})
_DRAWING = frozenset(
    {
        "by_node",
        "compare",
        "curve",
        "log",
        "matrix",
        "next_axis",
        "next_metric",
        "node",
        "number",
        "panels",
        "presenter",
        "swap",
        "toggle_panel",
        "why",
        "zoom",
    },
)
LOOKING = _TEXTUAL | _DIALOGS | _PLAYING | _DRAWING
"""Actions of applications and screens that change no file and show nothing but the session that is open.

What is not among them is off: a new key acts in a browser only once it has been thought of here.
"""
