"""The one file runs wherever it can, and where it can't one line says what to do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.dist.__main__ import DIST, ONE_FILE
from tests.dist.deb import RELEASES
from tests.install.forms import PACKAGES, inside
from tests.lab import releases

pytestmark = [pytest.mark.matrix, pytest.mark.root]

FILE = DIST / ONE_FILE
VERSION = r"cephtui 0\.\d+\.\d+\n"
UNPACKS = r"cephtui: unpacking into {} \.\.\.\n"
AS_USER = 'useradd -m user; as_user() { su user -c "$1"; }; memory() { mount -t tmpfs -o "$1" tmpfs "$2"; }\n'
OWN, ROOTS = "/root/.cache/cephtui/programs", "/var/cache/cephtui/programs"


@pytest.fixture(params=RELEASES, ids=lambda release: release.name)
def root(request: pytest.FixtureRequest) -> Path:
    return releases.made(request.param.name, PACKAGES)


@pytest.mark.parametrize(
    ("script", "says"),
    [
        pytest.param("unset HOME; $file --version", UNPACKS.format(OWN) + VERSION, id="no-home-variable"),
        pytest.param(
            "$file --version & $file --version; wait; ls -A ~/.cache/cephtui/programs | wc -l",
            f"({UNPACKS.format(OWN)}|{VERSION}){{3,4}}1\n",
            id="two-first-starts",
        ),
        pytest.param(
            "mkdir -p ~/.cache; memory size=20m ~/.cache; $file --version; find ~/.cache/cephtui/programs -type f",
            UNPACKS.format(OWN) + UNPACKS.format(ROOTS) + VERSION,
            id="full-disk",
        ),
        pytest.param(
            'memory ro /home/user; as_user "$file --version"; sleep 2; ls /tmp | grep unpacked || true',
            UNPACKS.format("/tmp") + VERSION,
            id="read-only-home",
        ),
        pytest.param(
            'memory noexec,mode=777 /home/user; memory noexec,mode=1777 /tmp; as_user "$file --version"',
            UNPACKS.format("/var/tmp") + VERSION,
            id="noexec",
        ),
        pytest.param(
            "for each in /home/user /tmp /var/tmp /dev/shm; do memory noexec,mode=1777 $each; done; "
            'as_user "$file --version" || echo rc $?',
            r"cephtui: no directory to unpack into.*XDG_CACHE_HOME.*/home/user/.cache/cephtui/programs .*/dev/shm .*\n"
            r"rc 1\n",
            id="no-place",
        ),
        pytest.param(
            "HOME=/home/user $file --version; find /home/user -uid 0",
            UNPACKS.format(ROOTS) + VERSION,
            id="root-in-the-home-of-a-user",
        ),
        pytest.param(
            "as_user 'mkdir -p ~/.cache; chmod 777 ~/.cache'; as_user \"$file --version\"",
            UNPACKS.format("/tmp") + VERSION,
            id="cache-that-others-can-write",
        ),
        pytest.param(
            "mkdir /tmp/own; echo 'raise SystemExit(9)' >/tmp/own/click.py; cd /tmp/own; "
            "PYTHONPATH=/tmp/own $file --version",
            UNPACKS.format(OWN) + VERSION,
            id="modules-of-others",
        ),
        pytest.param(
            "mount -o remount,noexec,bind $dist; ! $file --version 2>/dev/null; sh $file --version",
            UNPACKS.format(OWN) + VERSION,
            id="file-on-noexec",
        ),
        pytest.param(
            "head -c 9000000 $file >/tmp/part; sh /tmp/part || echo rc $?",
            r"cephtui: /tmp/part is incomplete: copy it again\nrc 1\n",
            id="incomplete",
        ),
        pytest.param(
            "cp $file /tmp/bad; printf xxxx | dd of=/tmp/bad bs=1 seek=5000000 conv=notrunc 2>/dev/null; "
            "/tmp/bad || echo rc $?; ls -A ~/.cache/cephtui/programs",
            UNPACKS.format(OWN)
            + r"cephtui: /tmp/bad is damaged: copy it again, and compare it with SHA256SUMS\nrc 1\n",
            id="damaged",
        ),
        pytest.param(
            "mkdir /tmp/bin; printf '#!/bin/sh\\n[ $1 = -V ] && echo Python 3.9.2' >/tmp/bin/python3; "
            "chmod +x /tmp/bin/*; PATH=/tmp/bin /bin/sh $file --version || echo rc $?; "
            "PATH=/none /bin/sh $file --version || echo rc $?",
            r"cephtui needs Python 3\.11 to 3\.13 .* here is Python 3\.9\.2: .*--node\nrc 1\n"
            r"cephtui needs Python 3\.11 to 3\.13 .* here is no python3: .*--node\nrc 1\n",
            id="other-python",
        ),
    ],
)
def test_where_it_is_hard_to_start(root: Path, script: str, says: str, tmp_path: Path) -> None:
    begin = f"exec 2>&1; file={FILE} dist={DIST}\n{AS_USER}"
    done = inside(root, tmp_path / "tree", begin + script)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.fullmatch(says, done.stdout), done.stdout


def test_what_was_killed_while_it_unpacked_is_replaced_and_removed(root: Path, tmp_path: Path) -> None:
    script = f"""
        {FILE} --version & killed=$!
        until ls -d ~/.cache/cephtui/programs/*/lib/python*/site-packages/* >/tmp/begun 2>/dev/null; do :; done
        kill -9 $killed
        ls ~/.cache/cephtui/programs | grep unpacked
        {FILE} --version
        ls ~/.cache/cephtui/programs
    """
    done = inside(root, tmp_path / "tree", script)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.fullmatch(rf"cephtui-unpacked-\w+\n{VERSION}cephtui-0[.\w]+-\w+-cpython-\w+-\w+\n", done.stdout)
