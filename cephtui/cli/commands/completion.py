"""``cephtui completion``: a shell's completion script."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


def print_completion(command: click.Command, shell: str) -> None:
    """Print the script by which a shell completes a command line."""
    completion_class = get_completion_class(shell)
    assert completion_class is not None
    click.echo(completion_class(command, {}, "cephtui", "_CEPHTUI_COMPLETE").source())
