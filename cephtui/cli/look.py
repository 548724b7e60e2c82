"""The look of the screens, by the user's terminal."""

from __future__ import annotations

import os

import click

from cephtui.tui.terminal.profile import Profile, UnknownLevel, as_started, detect


def find_look() -> Profile:
    """Colours and characters that the terminal can show; --safe may stand before a verb. Raises UsageError."""
    try:
        return detect(as_started(os.environ), safe=click.get_current_context().find_root().params["safe"])
    except UnknownLevel as error:
        raise click.UsageError(str(error)) from None
