"""Completion by a shell of presets and their options, sessions and runs.

Every start of cephtui loads this module, so its functions import what they need themselves.
"""

from __future__ import annotations

import contextlib
import re

import click

_WORD = re.compile(r"[A-Za-z0-9._-]+")
"""Names that need no quotes in a shell; others are not completed."""
_TARGET = re.compile(r"[A-Za-z0-9._/:,+=@-]+")
"""Targets of the same kind."""
_NEWEST = "last"


def complete_presets(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Names of presets."""
    from cephtui.paths import packaged_presets_dir, user_presets_dir
    from cephtui.presets import find_presets

    names = find_presets(packaged_presets_dir(), user_presets_dir())
    return [name for name in names if name.startswith(incomplete) and _WORD.fullmatch(name)]


def complete_listed(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Names of presets and suites."""
    from cephtui.paths import packaged_suites_dir, user_suites_dir

    folders = (packaged_suites_dir(), user_suites_dir())
    suites = sorted({path.stem for folder in folders for path in folder.glob("*.toml")})
    fitting = [name for name in suites if name.startswith(incomplete) and _WORD.fullmatch(name)]
    return [*complete_presets(context, parameter, incomplete), *fitting]


def complete_targets(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Schemes, endpoints and nodes of the config file, and what was measured before, the newest first.

    Nothing is asked of a node.
    """
    from cephtui.cli.neighbours import complete_nodes, config_of
    from cephtui.paths import sessions_dir
    from cephtui.sessions.listing import list_sessions
    from cephtui.sessions.store import StoreError
    from cephtui.targets import KINDS
    from cephtui.targets.host import HostKind
    from cephtui.targets.s3 import S3Kind
    from cephtui.targets.scratch import is_scratch

    targets, host = [f"{scheme}:" for scheme in KINDS], f"{HostKind.scheme}:"
    if incomplete.startswith(host):
        targets += [f"{host}{node}" for node in complete_nodes(context, parameter, incomplete.removeprefix(host))]
    targets += [f"{S3Kind.scheme}:{endpoint}" for endpoint in config_of(context).s3]
    with contextlib.suppress(StoreError):
        rows = [row for row in list_sessions(sessions_dir())[::-1] if not row.imported]
        targets += [target for row in rows for target in row.targets if not is_scratch(target)]
    return [text for text in dict.fromkeys(targets) if text.startswith(incomplete) and _TARGET.fullmatch(text)]


def complete_findings(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Codes of findings."""
    from cephtui.models.findings import KINDS

    return [code for code in KINDS if code.startswith(incomplete)]


def complete_options(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """``OPTION=`` of the presets before it; the only one that fits with the preset's value."""
    from cephtui.paths import packaged_presets_dir, user_presets_dir
    from cephtui.presets import Preset, choice_text, find_presets

    catalogue = find_presets(packaged_presets_dir(), user_presets_dir())
    words = [*(context.params.get("presets") or ()), *(context.params.get("names") or ()), *context.args]
    named = [word for word in words if word in catalogue] or [*catalogue]
    presets = [preset for name in named if isinstance(preset := catalogue.get(name), Preset)]
    values = {field.name: "" for preset in presets for field in preset.tool.fields()}
    for preset in reversed(presets):
        values |= {option: choice_text(value) for option, value in preset.file.options.items() if option in values}
    fitting = [option for option in values if f"{option}=".startswith(incomplete)]
    return [f"{option}={values[option] if len(fitting) == 1 else ''}" for option in fitting]


def complete_sessions(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Names of saved sessions, ``last``, and the demo."""
    from cephtui.sessions.demo import SESSION

    sessions = complete_own_sessions(context, parameter, incomplete)
    return [*sessions, *[SESSION] * (SESSION not in sessions and SESSION.startswith(incomplete))]


def complete_own_sessions(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Names of the sessions of the user's, and ``last``."""
    from cephtui.paths import sessions_dir

    with contextlib.suppress(OSError):
        names = sorted(path.name for path in sessions_dir().iterdir() if _WORD.fullmatch(path.name))
        return [name for name in [*names, *[_NEWEST] * bool(names)] if name.startswith(incomplete)]
    return []


def complete_served(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """What can be served, and then its session or run."""
    words = context.params.get("words") or ()
    complete = {("watch",): complete_sessions, ("replay",): complete_runs}.get(tuple(words))
    if complete:
        return complete(context, parameter, incomplete)
    return [word for word in ("demo", "watch", "replay") if not words and word.startswith(incomplete)]


def complete_runs(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Sessions, or the runs of the only session that fits: a shell adds a space to a single answer."""
    from cephtui.paths import sessions_dir
    from cephtui.sessions.listing import run_numbers
    from cephtui.sessions.names import find_session
    from cephtui.sessions.store import StoreError

    name, slash, number = incomplete.partition("/")
    if not slash:
        sessions = complete_sessions(context, parameter, name)
        if len(sessions) != 1:
            return [f"{session}/" for session in sessions]
        name = sessions[0]
    with contextlib.suppress(OSError, StoreError):
        runs = run_numbers(find_session(sessions_dir(), name))
        return [f"{name}/{run}" for run in runs if str(run).startswith(number)]
    return []
