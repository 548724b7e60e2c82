"""Completion by a shell of presets, sessions and runs.

Every start of cephtui loads this module, so its functions import what they need themselves.
"""

from __future__ import annotations

import contextlib
import re

import click

_WORD = re.compile(r"[A-Za-z0-9._-]+")
"""Names that need no quotes in a shell; others are not completed."""


def complete_presets(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Names of presets."""
    from cephtui.paths import packaged_presets_dir, user_presets_dir
    from cephtui.presets import find_presets

    names = find_presets(packaged_presets_dir(), user_presets_dir())
    return [name for name in names if name.startswith(incomplete) and _WORD.fullmatch(name)]


def complete_sessions(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Names of saved sessions."""
    from cephtui.paths import sessions_dir

    with contextlib.suppress(OSError):
        names = [path.name for path in sessions_dir().iterdir()]
        return sorted(name for name in names if name.startswith(incomplete) and _WORD.fullmatch(name))
    return []


def complete_runs(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Sessions, or the runs of the only session that fits: a shell adds a space to a single answer."""
    from cephtui.paths import sessions_dir

    name, slash, number = incomplete.partition("/")
    if not slash:
        found = complete_sessions(context, parameter, name)
        if len(found) != 1:
            return [f"{session}/" for session in found]
        name = found[0]
    with contextlib.suppress(OSError):
        runs = sorted(int(p.name) for p in (sessions_dir() / name).iterdir() if p.name.isdecimal())
        return [f"{name}/{run}" for run in runs if str(run).startswith(number)]
    return []
