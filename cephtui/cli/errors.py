"""Errors of the command line beside click's own."""

from __future__ import annotations

import click

from cephtui.exit_codes import EXIT_REFUSED


class Refused(click.ClickException):
    """Something can't be used or is not safe; one line, and its exit code."""

    exit_code = EXIT_REFUSED
