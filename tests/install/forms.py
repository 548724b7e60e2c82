"""The forms in which cephtui is handed to users, and trees of fresh roots of Debian to try them in."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cephtui import __version__
from tests.dist.__main__ import DIST, ONE_FILE
from tests.dist.deb import Release
from tests.dist.wheels import fetched
from tests.lab import releases

HERE = Path(__file__).parent
PACKAGES = ("python3", "fio", "man-db", "mount", "util-linux")
WHEEL = DIST / f"cephtui-{__version__}-py3-none-any.whl"


@dataclass(frozen=True, slots=True)
class Form:
    """How cephtui is installed on a release of Debian, and removed."""

    release: Release
    install: str
    remove: str
    packages: tuple[str, ...] = ()
    """Of Debian, that it needs besides the others."""
    needs: tuple[Path, ...] = ()
    """Directories of this machine that it is installed from, besides dist/."""

    @property
    def root(self) -> Path:
        """A root directory to try it on; it is made where there is none, which takes a minute."""
        return releases.made(self.release.name, (*PACKAGES, *self.packages))


def deb_of(release: Release) -> Path:
    """The package for a release."""
    return DIST / f"cephtui_{release.package_version}_amd64.deb"


def _deb(release: Release) -> Form:
    install = f"apt-get -q install -y --no-install-recommends {deb_of(release)}"
    return Form(release, install, "apt-get -q purge -y cephtui")


def _one_file(release: Release) -> Form:
    return Form(
        release,
        f"install {DIST / ONE_FILE} /usr/local/bin/cephtui",
        "rm -r /usr/local/bin/cephtui ~/.cache/cephtui",
    )


def _wheel(release: Release) -> Form:
    folder = fetched(release.minor)[0].parent
    offline = f"--no-index --find-links {folder}"
    programs = "/opt/cephtui"
    return Form(
        release,
        f"python3 -m venv {programs}; {programs}/bin/pip -q install {offline} '{WHEEL}[web]'; "
        f"ln -s {programs}/bin/cephtui /usr/local/bin/",
        f"rm -r {programs} /usr/local/bin/cephtui",
        ("python3-venv",),
        (folder,),
    )


FORMS = {"deb": _deb, "one-file": _one_file, "wheel": _wheel}
"""How each form is installed on a release of Debian."""


def inside(root: Path, at: Path, script: str, *kept: Path) -> subprocess.CompletedProcess[str]:
    """Run a script in a tree of a root directory, which ends with it; ``kept`` are directories of this machine."""
    apart = ("unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--")
    command: Sequence[str | Path] = ("sh", HERE / "inside.sh", root, at, script, DIST, HERE, *kept)
    return subprocess.run(
        [*apart, *map(str, command)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
