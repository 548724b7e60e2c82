"""A Debian package is installed, upgraded, removed and purged, and lintian finds nothing in it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.dist.deb import RELEASES, Release
from tests.install.forms import PACKAGES, deb_of, inside
from tests.lab import releases

pytestmark = [pytest.mark.matrix, pytest.mark.root]


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release.name)
def test_a_package_is_upgraded_removed_and_installed_again(tmp_path: Path, release: Release) -> None:
    install = f"apt-get -q install -y --no-install-recommends {deb_of(release)}"
    script = f"""
        {install}
        {install} --reinstall
        dpkg -i {deb_of(release)}
        cephtui --version
        man -w cephtui
        for shell in bash-completion/completions/cephtui zsh/vendor-completions/_cephtui \
            fish/vendor_completions.d/cephtui.fish; do grep -q _CEPHTUI_COMPLETE /usr/share/$shell; done
        test -n "$(find /usr/lib/cephtui -name '*.pyc' -print -quit)"
        apt-get -q remove -y cephtui
        test ! -e /usr/lib/cephtui
        {install}
        cephtui --version
        dpkg --purge cephtui
        test ! -e /usr/lib/cephtui
    """
    done = inside(releases.made(release.name, PACKAGES), tmp_path / "tree", script)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "error" not in done.stderr.lower()


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release.name)
def test_debian_finds_no_error_in_a_package(release: Release) -> None:
    subprocess.run(["lintian", "--fail-on", "error,warning", "--allow-root", str(deb_of(release))], check=True)
