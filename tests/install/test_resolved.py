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
OF_THE_CONSOLE = (
    "tests/unit/tui/console/test_screen.py",
    "tests/unit/tui/pickers/test_pickers.py",
    "tests/unit/tui/test_dialogs.py",
    "tests/unit/tui/test_keys.py",
)


def _uv(folder: Path) -> Path:
    """An environment of Python with uv; gives its directory of programs."""
    _run(sys.executable, "-m", "venv", folder)
    _run(folder / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", "uv")
    return folder / "bin"


def piped(folder: Path, resolution: str) -> Path:
    """The command that pipx installs with packages of the package index, as uv resolves them."""
    wanted, versions = folder / "wanted.txt", folder / "versions.txt"
    wanted.write_text(f"cephtui[web] @ {WHEEL.as_uri()}\n")
    uv = _uv(folder / "uv") / "uv"
    named = (f"--resolution={resolution}", "--no-emit-package=cephtui", f"--output-file={versions}")
    _run(uv, "pip", "compile", "--quiet", *named, wanted)
    places = {"PIPX_HOME": str(folder / "pipx"), "PIPX_BIN_DIR": str(folder / "bin")}
    _run("pipx", "install", f"--pip-args=--constraint={versions}", f"{WHEEL}[web]", **places)
    return folder / "bin" / "cephtui"


def _run(*command: str | Path, **environment: str) -> str:
    here = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environ = here | {"TERM": "xterm-256color"} | environment
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, cwd=CHECKOUT, env=environ, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


@pytest.mark.parametrize("resolution", ["highest", "lowest-direct"])
def test_pipx_installs_what_measures_reports_and_draws(resolution: str, tmp_path: Path) -> None:
    cephtui, home = piped(tmp_path, resolution), tmp_path / "home"
    home.mkdir()
    _run(cephtui, "run", "write-iops", "--set", "runtime=3", "--set", "size=64M", HOME=str(home))
    report = tmp_path / "report.html"
    _run(cephtui, "report", "last", "-o", report, HOME=str(home))
    assert "</html>" in report.read_text()
    assert "Write IOPS" in _run(sys.executable, HERE / "draw.py", "Write IOPS", cephtui, HOME=str(home))


def test_the_console_works_with_the_newest_textual(tmp_path: Path) -> None:
    programs = _uv(tmp_path / "env")
    install = (programs / "uv", "pip", "install", f"--python={programs / 'python'}")
    _run(*install, f"{WHEEL}[web]", *TESTS)
    _run(*install, "--upgrade-package=textual", "textual")
    _run(programs / "python", "-m", "pytest", "-q", "-n", "2", "-m", "not timing and not root", *OF_THE_CONSOLE)
