"""What the user's terminal can show."""

from __future__ import annotations

import os

import click

from cephtui.tui.look import Look, UnknownLevel, as_started, detect


def find_look() -> Look:
    """The look of the screens, --safe standing before a verb too; raises UsageError."""
    try:
        return detect(as_started(os.environ), safe=click.get_current_context().find_root().params["safe"])
    except UnknownLevel as error:
        raise click.UsageError(str(error)) from None
