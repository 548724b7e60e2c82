"""What an audience may do: look. An application that is read-only takes no other action of its screens."""

from __future__ import annotations

import os

VARIABLE = "CEPHTUI_READ_ONLY"
"""The environment variable that makes a process's screens of saved sessions read-only."""
_TEXTUAL = frozenset(
    {"command_list", "command_palette", "copy_text", "cursor_down", "escape", "focus_next", "focus_previous", "quit"}
)
_DIALOGS = frozenset({"back", "dismiss", "filter", "help", "help_quit", "move", "pop_screen", "use"})
_PLAYING = frozenset({"next_scene", "pause", "play", "seek", "speed"})
_DRAWING = frozenset(
    {
        "by_node",
        "compare",
        "curve",
        "full_screen",
        "log",
        "matrix",
        "next_axis",
        "next_metric",
        "node",
        "number",
        "panels",
        "presenter",
        "runs",
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


def is_read_only() -> bool:
    """Whether the screens of saved sessions of this process only look."""
    return bool(os.environ.get(VARIABLE))
