"""The shell scripts of the package are correct bash."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests import PACKAGE

SCRIPTS = sorted(str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.sh"))
CHECKS = [["bash", "-n"]]
if shutil.which("shellcheck"):
    CHECKS.append(["shellcheck", "--shell=bash", "--severity=warning"])


def test_there_are_scripts() -> None:
    assert {"ceph/in_use.sh", "nodes/watchdog.sh", "targets/devices/inspect.sh", "targets/file_create.sh"} <= {*SCRIPTS}


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_is_correct(script: str) -> None:
    for check in CHECKS:
        completed = subprocess.run([*check, str(PACKAGE / script)], capture_output=True, text=True)
        assert (completed.returncode, completed.stdout, completed.stderr) == (0, "", ""), check
