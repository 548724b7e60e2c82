"""The wheel has all that cephtui needs, and works without the checkout."""

from __future__ import annotations

import configparser
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from cephtui import __version__
from tests import ROOT

PRESETS = {str(path.relative_to(ROOT / "presets")) for path in (ROOT / "presets").rglob("*.toml")}
PAGES = {str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")}
SCRIPTS = [str(path.relative_to(ROOT / "cephtui")) for path in (ROOT / "cephtui").rglob("*.sh")]
REPORT = """
import json, pathlib, cephtui
from cephtui.paths import packaged_presets_dir
from cephtui.presets import find_presets, by_key
from cephtui.nodes.transport import Command
from cephtui.nodes.watched import watchdog_argv
found = by_key(find_presets(packaged_presets_dir(), pathlib.Path("none")))
watchdog = watchdog_argv(Command(["true"], limit_seconds=1))
print(json.dumps([cephtui.__file__, {p.name: str(p.path) for p in found}, watchdog[2]]))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """Built with what is installed; nothing is fetched."""
    folder = tmp_path_factory.mktemp("wheel")
    argv = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    completed = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True)
    assert completed.returncode == 0, completed.stderr
    (path,) = folder.glob("*.whl")
    assert path.name == f"cephtui-{__version__}-py3-none-any.whl"
    with zipfile.ZipFile(path) as opened:
        opened.extractall(folder / "unpacked")
        return opened


@pytest.fixture(scope="module")
def unpacked(wheel: zipfile.ZipFile) -> Path:
    return Path(str(wheel.filename)).parent / "unpacked"


def test_every_file_of_the_package_is_in_it(wheel: zipfile.ZipFile) -> None:
    package = ROOT / "cephtui"
    sources = {
        f"cephtui/{path.relative_to(package)}"
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {"cephtui/nodes/watchdog.sh", "cephtui/targets/devices/inspect.sh", "cephtui/tui/app.tcss"} <= sources
    files = {name for name in wheel.namelist() if not name.startswith(f"cephtui-{__version__}.dist-info/")}
    presets = {f"cephtui/preset_files/{name}" for name in PRESETS}
    assert files == sources | presets | {f"cephtui/doc_files/{name}" for name in PAGES}
    assert "suites/quick.toml" in PRESETS


def test_the_files_are_the_same(unpacked: Path) -> None:
    for name in PRESETS:
        packed = unpacked / "cephtui" / "preset_files" / name
        assert packed.read_bytes() == (ROOT / "presets" / name).read_bytes()
    for name in PAGES:
        assert (unpacked / "cephtui" / "doc_files" / name).read_bytes() == (ROOT / "docs" / name).read_bytes()
    for name in ("tui/app.tcss", *SCRIPTS):
        assert (unpacked / "cephtui" / name).read_bytes() == (ROOT / "cephtui" / name).read_bytes()


def test_it_has_the_command_the_licence_and_the_version(unpacked: Path) -> None:
    information = unpacked / f"cephtui-{__version__}.dist-info"
    commands = configparser.ConfigParser()
    commands.read(information / "entry_points.txt")
    assert dict(commands["console_scripts"]) == {"cephtui": "cephtui.cli.main:main"}
    assert f"\nVersion: {__version__}\n" in (information / "METADATA").read_text()
    assert (information / "licenses" / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()


def test_the_presets_are_found_without_the_checkout(unpacked: Path, tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(unpacked)}
    completed = subprocess.run(
        [sys.executable, "-c", REPORT], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert completed.returncode == 0, completed.stderr
    place, found, watchdog = json.loads(completed.stdout)
    assert place == str(unpacked / "cephtui" / "__init__.py")
    assert list(found) == [
        *("write-throughput", "write-iops", "read-throughput", "read-iops", "latency", "mixed-75-25"),
    ]
    assert all(Path(path).parent == unpacked / "cephtui" / "preset_files" for path in found.values())
    assert watchdog == (ROOT / "cephtui" / "nodes" / "watchdog.sh").read_text()
