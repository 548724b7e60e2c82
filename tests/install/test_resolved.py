"""With packages that requirements.lock does not have: the newest, the oldest, and a Textual that nobody has tried."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.dist.wheels import CHECKOUT
from tests.install.forms import HERE, WHEEL

pytestmark = [pytest.mark.matrix, pytest.mark.root]  # it wants the package index, too

TESTS = ("hypothesis", "pytest", "pytest-asyncio", "pytest-timeout", "pytest-xdist")
"""What runs tests."""
OF_THE_CONSOLE = ("tests/test_console.py", "tests/test_pickers.py", "tests/test_dialogs.py", "tests/test_keys.py")


def environment(folder: Path, *packages: str, resolution: str = "highest") -> Path:
    """A virtual environment with these packages from the package index; gives its directory of programs."""
    _run(sys.executable, "-m", "venv", folder)
    _run(folder / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", "uv")
    _install(folder / "bin", f"--resolution={resolution}", *packages)
    return folder / "bin"


def _install(programs: Path, *words: str) -> None:
    _run(programs / "uv", "pip", "install", f"--python={programs / 'python'}", *words)


def _run(*command: str | Path, home: Path | None = None) -> str:
    here = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environ = here | {"TERM": "xterm-256color"} | ({"HOME": str(home)} if home else {})
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, cwd=CHECKOUT, env=environ, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


@pytest.mark.parametrize("resolution", ["highest", "lowest-direct"])
def test_it_measures_reports_and_draws(resolution: str, tmp_path: Path) -> None:
    programs = environment(tmp_path / "env", f"{WHEEL}[web]", resolution=resolution)
    cephtui, home = programs / "cephtui", tmp_path / "home"
    home.mkdir()
    _run(cephtui, "run", "write-iops", "--set", "runtime=3", "--set", "size=64M", home=home)
    report = tmp_path / "report.html"
    _run(cephtui, "report", "last", "-o", report, home=home)
    assert "</html>" in report.read_text()
    assert "Write IOPS" in _run(sys.executable, HERE / "draw.py", "Write IOPS", cephtui, home=home)


def test_the_console_works_with_the_newest_textual(tmp_path: Path) -> None:
    programs = environment(tmp_path / "env", f"{WHEEL}[web]", *TESTS)
    _install(programs, "--upgrade-package=textual", "textual")
    _run(programs / "python", "-m", "pytest", "-q", "-n", "2", "-m", "not timing and not root", *OF_THE_CONSOLE)
