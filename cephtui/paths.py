"""Where cephtui keeps things on the console's machine: the only reader of the XDG directories."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

_DIRS = platformdirs.PlatformDirs("cephtui")


def sessions_dir() -> Path:
    """The directory of saved sessions: under ``CEPHTUI_DATA_DIR`` where that is set."""
    data_dir = os.environ.get("CEPHTUI_DATA_DIR")
    return (Path(data_dir).expanduser().absolute() if data_dir else _DIRS.user_data_path) / "sessions"


def config_dir() -> Path:
    """The directory of the user's configuration."""
    return _DIRS.user_config_path


def user_presets_dir() -> Path:
    """The directory of the user's own presets."""
    return config_dir() / "presets"


def packaged_presets_dir() -> Path:
    """The directory of the presets that come with cephtui: in the package, or beside it in a checkout."""
    installed = Path(__file__).parent / "preset_files"
    return installed if installed.is_dir() else Path(__file__).parent.parent / "presets"


def user_suites_dir() -> Path:
    """The directory of the user's own suites."""
    return config_dir() / "suites"


def packaged_suites_dir() -> Path:
    """The directory of the suites that come with cephtui."""
    return packaged_presets_dir() / "suites"


def packaged_docs_dir() -> Path:
    """The directory of the documentation: in the package, or beside it in a checkout."""
    installed = Path(__file__).parent / "doc_files"
    return installed if installed.is_dir() else Path(__file__).parent.parent / "docs"


def packaged_text(package: str, name: str) -> str:
    """The text of a file of the package, such as a script: ``packaged_text("cephtui.ceph", "watch.sh")``."""
    return Path(__file__).parent.joinpath(*package.split(".")[1:], name).read_text("utf-8")


def cache_dir() -> Path:
    """The directory of the scratch files of running consoles."""
    return _DIRS.user_cache_path


def log_file() -> Path:
    """The file for tracebacks and for what was done."""
    return _DIRS.user_log_path / "cephtui.log"


def make_private(directory: Path) -> None:
    """Make a directory for its user alone, with those above it that are missing; raises OSError.

    One that exists keeps its mode.
    """
    try:
        directory.mkdir(mode=0o700, exist_ok=True)
    except FileNotFoundError:
        if directory.parent == directory:
            raise
        make_private(directory.parent)
        directory.mkdir(mode=0o700, exist_ok=True)


def theme_file() -> Path:
    """The file with the name of the theme that was chosen last."""
    return _DIRS.user_state_path / "theme"


def graph_file() -> Path:
    """The file with the name of the symbols that were chosen last for charts."""
    return _DIRS.user_state_path / "graph"
