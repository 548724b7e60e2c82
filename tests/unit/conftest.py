"""The recorded session that comes with cephtui, and directories of a user without any."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cephtui.sessions import demo
from tests.support import two_copies


@pytest.fixture(scope="session")
def demo_session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recorded session of three nodes, which no test changes; the only one in its directory."""
    return two_copies.unpack(tmp_path_factory.mktemp("demo") / "sessions")


@pytest.fixture
def demo_copy(demo_session: Path, tmp_path: Path) -> Path:
    """A copy of it that may be changed."""
    return Path(shutil.copytree(demo_session, tmp_path / "sessions" / demo.SESSION))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Where sessions are; there are none yet."""
    return tmp_path / "sessions"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing of the user's own is read or written; sessions are in ``data/sessions``."""
    monkeypatch.setenv("CEPHTUI_DATA_DIR", str(tmp_path / "data"))
    for name in ("CACHE", "CONFIG", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    return tmp_path
