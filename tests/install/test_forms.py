"""On a fresh Debian without network each form installs, measures, draws, reports and is removed without a trace."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.dist.deb import RELEASES, Release
from tests.install.forms import FORMS, HERE, inside

pytestmark = [pytest.mark.matrix, pytest.mark.root]

USE = r"""
list() { find / -xdev '(' -path /proc -o -path /tmp -o -path /dev -o -path /sys -o -path "$kept" ')' -prune -o -print; }
list | sort >/tmp/before
%(install)s
cephtui --version
cephtui run write-iops --set runtime=3 --set size=64M --json >"$kept/run.jsonl"
cephtui report last -o "$kept/report.html"
python3 %(here)s/draw.py "Write IOPS" cephtui >"$kept/console"
mv /usr/bin/fio /usr/bin/fio.away
cephtui run write-iops 2>"$kept/without-fio" && exit 9
mv /usr/bin/fio.away /usr/bin/fio
%(remove)s
! command -v cephtui
list | sort >/tmp/after
comm -13 /tmp/before /tmp/after >"$kept/left"
"""
OWN = re.compile(r"/root/\.(cache(/cephtui)?|local(/share|/state|/bin)?)$|/root/\.local/(share|state)/cephtui\b")
"""What is the user's: sessions, the log, and the directories above these and above scratch files."""
OF_DEBIAN = re.compile(r"/var/(cache|log|lib/(apt|dpkg))\b")
"""What apt and dpkg have from any package."""


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release.name)
@pytest.mark.parametrize("name", FORMS)
def test_a_form_is_installed_used_and_removed(name: str, release: Release, tmp_path: Path) -> None:
    form = FORMS[name](release)
    kept = tmp_path / "kept"
    kept.mkdir()
    script = USE % {"install": form.install, "remove": form.remove, "here": HERE}
    done = inside(form.root, tmp_path / "tree", f"kept={kept}\n{script}", kept, *form.needs)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    events = [json.loads(line) for line in (kept / "run.jsonl").read_text().splitlines()]
    assert [event["event"] for event in events if event["event"] in ("plan", "run")] == ["plan", "run"]
    assert "</html>" in (kept / "report.html").read_text()
    assert b"Write IOPS" in (kept / "console").read_bytes()
    assert "fio" in (kept / "without-fio").read_text()
    left = (kept / "left").read_text().splitlines()
    assert any("/sessions/" in path for path in left)
    assert [path for path in left if not OWN.match(path) and not OF_DEBIAN.match(path)] == []
