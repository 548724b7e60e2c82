"""The beginning of what needs a screen."""

from __future__ import annotations

import gc
import os
import sys

import click


def begin_screen(verb: str, instead: str = "") -> None:
    """Before anything of Textual is imported; raises UsageError where there is no terminal and no browser."""
    if not (os.environ.get("TEXTUAL_DRIVER") or (sys.stdin.isatty() and sys.stdout.isatty())):
        raise click.UsageError(f"{verb} needs a terminal{instead}")
    gc.disable()  # saves a fifth of the time to the first paint; the application enables it again
