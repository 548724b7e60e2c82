"""The recorded session that comes with cephtui, for the tests that read or change it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cephtui.sessions import demo


@pytest.fixture(scope="session")
def demo_session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recorded session of three nodes, which no test changes; the only one in its directory."""
    return demo.unpack(tmp_path_factory.mktemp("demo") / "sessions")


@pytest.fixture
def demo_copy(demo_session: Path, tmp_path: Path) -> Path:
    """A copy of it that may be changed."""
    return Path(shutil.copytree(demo_session, tmp_path / "sessions" / demo.SESSION))
