"""``cephtui doctor``: what works on a host, what is missing, and the command that installs it."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from cephtui import config, paths
from cephtui.analysis.detectors.host import ClusterFacts, Examined, Folder, Machine, can_measure, host_rows
from cephtui.cli.choice import chosen_nodes, load_config
from cephtui.cli.emit import Output, emit
from cephtui.cli.look import find_look
from cephtui.cli.prompts import connect, patiently
from cephtui.cli.where import Where
from cephtui.exit_codes import EXIT_FAILED
from cephtui.nodes.state import NodeState
from cephtui.nodes.transport import TransportError
from cephtui.reports.views.host import host_view
from cephtui.running.runner import Runner
from cephtui.targets.surroundings import candidates_in
from cephtui.terminal import deferred_signals

_ANSWER_SECONDS = 3.0
_CLIPBOARD_CURE = "tmux set -g set-clipboard on"


def examine(where: Where, output: Output) -> int:
    """Print what is there and what is missing; the exit code."""
    settings = load_config(where)
    nodes = chosen_nodes(where)
    with Runner(paths.sessions_dir()) as runner:
        states = connect(runner, nodes)
        alone = len(nodes) == 1 and not (settings.nodes or settings.neighbours)
        examined = [_examined(runner, state, alone=alone) for state in states]
    rows = host_rows(_machine(settings), examined)
    emit(host_view(rows), output)
    return 0 if can_measure(rows) else EXIT_FAILED


# ---------------------------------------------------------------------------------------------- nodes


def _examined(runner: Runner, state: NodeState, *, alone: bool) -> Examined:
    """What a node that was reached has; where the connection is lost meanwhile, that is its problem."""
    node, environment = state.node, state.environment
    if environment is None:
        return Examined(node, problem=state.problem or (state.question.topic if state.question else ""), alone=alone)
    try:
        around = patiently(runner.nodes.surroundings(node), f"{node.name}: looking for targets ...")
    except TransportError as error:
        return Examined(node, environment, str(error), alone=alone)
    cluster = None
    if environment.tools.get("ceph") and (around.has_ceph or node.ceph_conf or node.ceph_prefix or node.ceph_id):
        try:
            cluster = patiently(runner.nodes.cluster(node), f"{node.name}: querying the cluster ...")
        except TransportError as error:
            cluster = ClusterFacts(problem=str(error))
    scratch = {} if node.host else {"": "a scratch file in the cache, removed at the end"}
    served = cluster is not None and not cluster.problem
    targets = {**scratch, **{candidate.spec: candidate.text for candidate in candidates_in(around, served=served)}}
    return Examined(node, environment, "", around, cluster, targets, alone and not around.other_nodes)


# ---------------------------------------------------------------------------------------------- this machine


def _machine(settings: config.Config) -> Machine:
    look = find_look()
    problem = _clipboard(os.environ)
    return Machine(
        python=platform.python_version(),
        colors=look.colors,
        ascii_only=look.ascii_only,
        size=_size(),
        folders=(
            _folder("sessions", paths.sessions_dir()),
            _folder("config", paths.config_dir()),
            _folder("cache", paths.cache_dir()),
        ),
        clipboard=problem,
        clipboard_cure=_CLIPBOARD_CURE if problem else "",
        agent_keys=_agent_keys(os.environ),
        keys=_keys(settings.ssh_config),
        ssh_hosts=len(config.ssh_hosts(settings.ssh_config)),
    )


def _keys(ssh_config: str | None) -> tuple[str, ...]:
    """The names of those that SSH offers by itself, and of those that its configuration names."""
    usual = (path for path in Path("~/.ssh").expanduser().glob("id_*") if path.suffix != ".pub")
    return tuple(sorted({path.name for path in (*usual, *map(Path, config.ssh_keys(ssh_config)))}))


def _size() -> tuple[int, int] | None:
    """Columns and rows of the terminal; None where the output goes elsewhere."""
    try:
        columns, rows = os.get_terminal_size(sys.stdout.fileno())
    except OSError:
        return None
    return columns, rows


def _folder(name: str, path: Path) -> Folder:
    """Whether it can be written, or made; nothing is."""
    there = next(folder for folder in (path, *path.parents) if os.path.lexists(folder))
    try:
        if not there.is_dir():
            return Folder(name, str(path), f"{there} is not a folder")
        if not os.access(there, os.W_OK | os.X_OK):
            return Folder(name, str(path), f"{there} can't be written")
        return Folder(name, str(path), free_bytes=shutil.disk_usage(there).free)
    except OSError as error:
        return Folder(name, str(path), f"{there}: {error.strerror}")


def _clipboard(environ: Mapping[str, str]) -> str:
    """Why a copy does not reach the clipboard, as far as tmux knows."""
    if not environ.get("TMUX"):
        return ""
    setting = _printed(("tmux", "show-options", "-gv", "set-clipboard"))
    return f"copied text stays in tmux (set-clipboard {setting})" if setting in ("off", "external") else ""


def _agent_keys(environ: Mapping[str, str]) -> int | None:
    """How many keys the agent has; None where there is none that answers."""
    if not environ.get("SSH_AUTH_SOCK"):
        return None
    printed = _printed(("ssh-add", "-l"))
    return None if printed is None else sum(line[:1].isdigit() for line in printed.splitlines())


def _printed(argv: Sequence[str]) -> str | None:
    """What a program prints within a moment; None where it can't be run."""
    try:
        with deferred_signals():
            done = subprocess.run(
                argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_ANSWER_SECONDS, check=False
            )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip()
