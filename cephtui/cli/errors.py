"""Errors of the command line beside click's own."""

from __future__ import annotations

import click

from cephtui.exit_codes import EXIT_REFUSED


class ReaderGone(Exception):
    """What reads stdout has closed it. Click ends a BrokenPipeError with 1, which means a failed benchmark."""


class Refused(click.ClickException):
    """A guard or the environment is in the way: one line, and exit code 3."""

    exit_code = EXIT_REFUSED
