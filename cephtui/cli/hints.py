"""What is meant by verbs and options that other programs have, and cephtui calls otherwise."""

from __future__ import annotations

from collections.abc import Iterable

import click

from cephtui.cli.topics import verbs_of
from cephtui.printable import suggestion

_VERBS = {
    "version": "--version",
    **dict.fromkeys(("list", "ls", "history", "results", "runs"), "sessions"),
    **dict.fromkeys(("bench", "benchmark", "start", "measure", "test"), "run"),
    **dict.fromkeys(("console", "tui", "ui"), ""),
    **dict.fromkeys(("web", "http"), "serve"),
    **dict.fromkeys(("diff", "cmp"), "compare"),
    **dict.fromkeys(("export", "html"), "report"),
    **dict.fromkeys(("clean", "rm", "purge"), "cleanup"),
    **dict.fromkeys(("status", "diagnose"), "doctor"),
    **dict.fromkeys(("man", "docs"), "help"),
    "hosts": "nodes",
}
"""What they do here: a verb, an option, or empty for the console."""
_OPTIONS = {
    **dict.fromkeys(("-n", "-H", "--host", "--hosts", "--nodes", "--server", "--client"), "--node NODE"),
    **dict.fromkeys(("-p", "--pool"), "--target rbd:POOL"),
    "--image": "--target rbd:POOL/IMAGE",
    **dict.fromkeys(("--file", "--filename", "--path", "--directory"), "--target file:PATH"),
    **dict.fromkeys(("--device", "--disk"), "--target device:PATH"),
    **dict.fromkeys(("-t", "--time", "--duration", "--seconds"), "--set runtime=SECONDS"),
    **dict.fromkeys(("--depth", "--qd", "--queue-depth"), "--set iodepth=N"),
    **dict.fromkeys(("-b", "--block-size", "--blocksize"), "--set bs=SIZE"),
    **dict.fromkeys(("-j", "--jobs", "--threads"), "--set numjobs=N"),
    **dict.fromkeys(("--runs", "--count", "--loops", "--iterations", "--repeats"), "--repeat N"),
    **dict.fromkeys(("--csv", "--html", "--md", "--xlsx"), "--format FORMAT"),
    "--out": "-o FILE",
    **dict.fromkeys(("-u", "--user", "--ssh-user"), "--node USER@HOST"),
    "--conf": "--ceph-conf PATH",
    "--name": "--session NAME",
    "--quiet": "--quiet-cluster",
    "--dryrun": "--dry-run",
}
"""Of the options that a verb has, the one with this meaning, as it is typed."""
_ASKED = ("--shared-pool", "--destroy", "--drop-caches", "--quiet-cluster", "--quiet-all")
"""What the console asks for by itself."""
_GLOBAL = {"--safe": "--safe", **dict.fromkeys(("--version", "-V", "-v"), "--version")}
"""Options that stand before a verb and hold for each, by what is typed."""


def unknown_verb(word: str, verbs: Iterable[str]) -> str:
    """The error for a verb that there is none of, with the one that is meant."""
    meant = _VERBS.get(word.lower())
    near = suggestion(word, verbs) if meant is None else f"did you mean {f'cephtui {meant}'.strip()}?"
    return f"no command {word!r}: {' '.join(filter(None, (near, 'cephtui --help lists them')))}"


def unknown_option(error: click.NoSuchOption) -> str:
    """The error for an option that a verb has not, with the one that is meant or where it belongs."""
    context, name = error.ctx, error.option_name
    if context is None:
        return error.format_message()
    path, own = context.command_path, options_of(context.command)
    verbs = verbs_of(context) if context.parent is None else {}
    having = sorted((verb for verb, command in verbs.items() if name in options_of(command)), key="run".__ne__)
    return (
        _meant(path, name, own)
        or _elsewhere(path, name, having)
        or _of_presets(path, name, own)
        or f"{path} has no option {name}: {suggestion(name, own) or f'{path} --help lists them'}"
    )


def options_of(command: click.Command) -> set[str]:
    """All names of its options, ``-o`` and ``--output``."""
    return {name for parameter in command.params if isinstance(parameter, click.Option) for name in parameter.opts}


def _meant(path: str, name: str, own: set[str]) -> str:
    meant = _OPTIONS.get(name, "")
    is_there = meant.partition(" ")[0] in own
    return f"{path} has no option {name}: did you mean {meant}?" if is_there else ""


def _elsewhere(path: str, name: str, verbs: list[str]) -> str:
    """The error for an option that stands before or behind a verb instead."""
    if option := _GLOBAL.get(name):
        return f"{path} has no option {name}: did you mean cephtui {option}?"
    if verbs and name in _ASKED:
        return f"{name} is an option of cephtui {verbs[0]}: leave it out, the console asks when needed"
    return f"{name} belongs after a command: {path} {verbs[0]} {name}" if verbs else ""


def _of_presets(path: str, name: str, own: set[str]) -> str:
    """The error for an option of tools, which presets have and --set changes."""
    from cephtui.tools import TOOLS

    option = name.lstrip("-")
    tools = [tool.title for tool in TOOLS.values() if any(field.name == option for field in tool.fields())]
    if not tools:
        return ""
    where = "" if "--set" in own else " of cephtui run"
    return f"{option} is an option of presets ({', '.join(tools)}): --set {option}=VALUE{where}"
