"""Debian packages, one for each release: with all Python packages that cephtui needs, below /usr/lib/cephtui."""

from __future__ import annotations

import gzip
import hashlib
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path

from cephtui import __version__
from cephtui.cli.commands.completion import completion_of
from cephtui.cli.verbs import cli

from tests.dist import manual, notices, wheels
from tests.dist.unpack import lay, site_packages
from tests.dist.wheels import CHECKOUT

_HERE = Path(__file__).parent
_PROGRAMS = "usr/lib/cephtui"
_MAINTAINER = "The cephtui developers <cephtui@localhost>"
_COMPLETIONS = {
    "bash": "usr/share/bash-completion/completions/cephtui",
    "zsh": "usr/share/zsh/vendor-completions/_cephtui",
    "fish": "usr/share/fish/vendor_completions.d/cephtui.fish",
}
_DESCRIPTION = """terminal console that benchmarks Ceph and other storage
 cephtui measures files, block devices, RBD images, pools, CephFS, S3 and the
 network between hosts with fio and the tools of Ceph, on this host or over SSH
 on others, and shows the results live, with what limits them.
 .
 This package brings all Python packages that it needs."""


@dataclass(frozen=True, slots=True)
class Release:
    """A release of Debian, and the version of Python that it has."""

    name: str
    version: str
    minor: str

    @property
    def package_version(self) -> str:
        """Of the package: an upgrade of Debian brings that of the next release."""
        return f"{__version__}-1~{self.version}"

    @property
    def next_minor(self) -> str:
        """The first version of Python that is too new."""
        major, minor = self.minor.split(".")
        return f"{major}.{int(minor) + 1}"


RELEASES = (Release("bookworm", "deb12", "3.11"), Release("trixie", "deb13", "3.13"))


def make(release: Release, own: Path, folder: Path, root: Path, epoch: int) -> Path:
    """Write a release's package into this folder; ``root`` is where its files are laid out."""
    print(f"packing the Debian package for {release.name} ...", flush=True)
    packages = site_packages(root / _PROGRAMS, release.minor)
    lay(root / _PROGRAMS, Path(f"/usr/bin/python{release.minor}"), release.minor)
    python = root / _PROGRAMS / "bin" / "python"
    python.unlink()
    python.symlink_to(f"../../../bin/python{release.minor}")  # as Debian wants it
    wheels.unpack([own, *wheels.fetched(release.minor)], packages)
    wheels.strip(packages)
    for name, content in _files(release, packages, epoch).items():
        _write(root / name, content)
    _write(root / "DEBIAN" / "control", _control(release, _kibibytes(root)).encode())
    _write(root / "DEBIAN" / "md5sums", _sums(root).encode())
    programs = {"usr/bin/cephtui": "command.sh", "DEBIAN/postinst": "postinst.sh", "DEBIAN/prerm": "prerm.sh"}
    settle(root, set(programs), epoch)
    target = folder / f"cephtui_{release.package_version}_amd64.deb"
    options = ["--root-owner-group", "-Zxz", "-z9", "-Sextreme", "--threads-max=1"]
    subprocess.run(["dpkg-deb", *options, "--build", str(root), str(target)], check=True, stdout=subprocess.DEVNULL)
    return target


def _files(release: Release, packages: Path, epoch: int) -> Mapping[str, bytes]:
    """What a package has besides Python packages."""
    doc = "usr/share/doc/cephtui"
    changes = CHECKOUT / "CHANGELOG.md"
    return {
        "usr/bin/cephtui": (_HERE / "command.sh").read_bytes(),
        "DEBIAN/postinst": (_HERE / "postinst.sh").read_bytes(),
        "DEBIAN/prerm": (_HERE / "prerm.sh").read_bytes(),
        **{place: completion(shell).encode() for shell, place in _COMPLETIONS.items()},
        **{f"usr/share/man/man{name[-1]}/{name}.gz": _packed(page) for name, page in manual.pages(epoch).items()},
        f"{doc}/copyright": notices.copyright_of(packages).encode(),
        f"{doc}/changelog.Debian.gz": _packed(_changelog(release, epoch).encode()),
        **({f"{doc}/changelog.gz": _packed(changes.read_bytes())} if changes.exists() else {}),
        "usr/share/lintian/overrides/cephtui": (_HERE / "lintian-overrides").read_bytes(),
    }


def completion(shell: str) -> str:
    """What makes a shell complete cephtui's command line."""
    script = completion_of(cli, shell)
    return str(script.source_template % script.source_vars())


def _packed(content: bytes) -> bytes:
    return gzip.compress(content, 9, mtime=0)


def _changelog(release: Release, epoch: int) -> str:
    at = format_datetime(datetime.fromtimestamp(epoch, UTC))
    return (
        f"cephtui ({release.package_version}) {release.name}; urgency=medium\n\n"
        f"  * cephtui {__version__}.\n\n -- {_MAINTAINER}  {at}\n"
    )


def _control(release: Release, installed_kibibytes: int) -> str:
    fields = {
        "Package": "cephtui",
        "Version": release.package_version,
        "Architecture": "amd64",
        "Maintainer": _MAINTAINER,
        "Installed-Size": str(installed_kibibytes),
        "Depends": f"python3 (>= {release.minor}), python3 (<< {release.next_minor}), libc6 (>= 2.28), "
        "libgcc-s1, libstdc++6",
        "Recommends": "fio, ceph-common, iperf3",
        "Suggests": "ioping",
        "Section": "admin",
        "Priority": "optional",
        "Description": _DESCRIPTION,
    }
    return "".join(f"{name}: {value}\n" for name, value in fields.items())


def _kibibytes(root: Path) -> int:
    return sum(-(-path.lstat().st_size // 1024) for path in root.rglob("*"))


def _sums(root: Path) -> str:
    files = sorted(path for path in root.rglob("*") if path.is_file() and not path.is_symlink())
    named = [(path, str(path.relative_to(root))) for path in files if "DEBIAN" not in path.parts]
    return "".join(f"{hashlib.md5(path.read_bytes()).hexdigest()}  {name}\n" for path, name in named)


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def settle(root: Path, programs: set[str], epoch: int) -> None:
    """Give all below the same modes and times, wherever and whenever they were written."""
    for path in sorted(root.rglob("*"), reverse=True):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or str(path.relative_to(root)) in programs else 0o644)
        os.utime(path, (epoch, epoch), follow_symlinks=False)
    root.chmod(0o755)
    os.utime(root, (epoch, epoch))
