"""``cephtui info``: versions and paths."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Sequence

from cephtui import __version__, paths
from cephtui.cli.emit import Output, emit
from cephtui.models.rows import Info
from cephtui.reports.views.listings import info_view
from cephtui.terminal import deferred_signals
from cephtui.tools import TOOLS


def print_info(output: Output) -> None:
    """Print the versions of cephtui and its tools on this machine, and where things are kept."""
    tools = {name: _version(tool.version_argv) for name, tool in TOOLS.items()}
    info = Info(
        cephtui_version=__version__,
        python_version=platform.python_version(),
        tools={name: version for name, version in tools.items() if version},
        presets=(str(paths.packaged_presets_dir()), str(paths.user_presets_dir())),
        sessions=str(paths.sessions_dir()),
        config=str(paths.config_dir()),
        cache=str(paths.cache_dir()),
        log=str(paths.log_file()),
    )
    emit(info_view(info), output)


def _version(argv: Sequence[str]) -> str | None:
    """The version that a program on this machine prints; None where it is not installed."""
    process = None
    try:
        with deferred_signals():
            process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        return process.communicate(timeout=10)[0].strip() or None
    except (OSError, subprocess.TimeoutExpired):
        return None
    finally:
        if process:
            with process:
                process.kill()
