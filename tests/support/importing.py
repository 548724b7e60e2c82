"""``cephtui import-preset`` in a test: where its presets go, and what became of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from cephtui.cli.verbs import cli
from cephtui.paths import packaged_presets_dir
from cephtui.presets import Preset, find_presets


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have a directory of the user's presets, and no terminal to ask at; gives the directory."""
    folder = tmp_path / "presets"
    monkeypatch.setattr("cephtui.paths.user_presets_dir", lambda: folder)
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    return folder


def run(*words: str) -> int:
    """Import; gives the exit status."""
    return int(cli.main(["import-preset", *words], prog_name="cephtui", standalone_mode=False) or 0)


def written(own: Path) -> dict[str, Preset]:
    """The presets of the user."""
    found = find_presets(packaged_presets_dir(), own)
    return {name: each for name, each in found.items() if isinstance(each, Preset) and each.user}
