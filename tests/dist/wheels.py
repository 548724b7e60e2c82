"""The wheels of what cephtui needs, in the versions of requirements.lock, and what is unpacked of them."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Iterable
from importlib.metadata import requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

CHECKOUT = Path(__file__).parents[2]
CACHE = CHECKOUT / "build" / "wheels"
LOCK = CHECKOUT / "requirements.lock"
MINORS = ("3.11", "3.12", "3.13")
"""The versions of Python that are tried."""
_GLIBC = ("2_28", "2_17")
"""A wheel may want as much of glibc: all systems with Python 3.11 have 2.28."""


def fetched(minor: str) -> list[Path]:
    """All that cephtui runs with on this version of Python; they are downloaded once."""
    wanted = locked(LOCK.read_text(), needed("cephtui[web]", minor))
    folder = CACHE / f"{minor}-{zlib.crc32(wanted.encode()):08x}"
    if not folder.is_dir():
        print(f"fetching the wheels for Python {minor} ...", flush=True)
        unfinished = CACHE / f".{minor}"
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        listed = unfinished / "requirements.txt"
        listed.write_text(wanted)
        _download(minor, listed, unfinished)
        unfinished.rename(folder)
    return sorted(folder.glob("*.whl"))


def _download(minor: str, listed: Path, folder: Path) -> None:
    platforms = [f"--platform=manylinux_{version}_x86_64" for version in _GLIBC]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input"]
    command += ["--no-deps", "--only-binary=:all:", "--implementation=cp", f"--python-version={minor}", *platforms]
    subprocess.run([*command, "--require-hashes", f"--requirement={listed}", f"--dest={folder}"], check=True)


def needed(requirement: str, minor: str) -> set[str]:
    """The names of all packages that this one wants on that version of Python, as far as they are installed here."""
    names, wanted = set[str](), [Requirement(requirement)]
    seen = set[str]()
    while wanted:
        each = wanted.pop()
        if str(each) in seen:
            continue
        seen.add(str(each))
        names.add(canonicalize_name(each.name))
        for extra in ("", *each.extras):
            environment = {"python_version": minor, "python_full_version": f"{minor}.0", "extra": extra}
            wanted += [
                inner
                for inner in map(Requirement, requires(each.name) or ())
                if not inner.marker or inner.marker.evaluate(environment)
            ]
    return names - {"cephtui"}


def locked(lock: str, names: Iterable[str]) -> str:
    """The entries of a lock that have these names."""
    entries = {entry.partition("==")[0]: entry for entry in re.split(r"\n(?=\S)", lock)}
    return "".join(f"{entries[name]}\n" for name in sorted(names))


def unpack(wheels: Iterable[Path], folder: Path) -> None:
    """Lay the content of wheels beside each other, as an installer does; their commands are left out."""
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as opened:
            for name in sorted(opened.namelist()):
                top, _, below = name.partition("/")
                kind, _, file = below.partition("/")
                place = name if not top.endswith(".data") else file if kind in ("purelib", "platlib") else ""
                if place and not name.endswith("/"):
                    target = folder / place
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(opened.read(name))


def strip(folder: Path) -> None:
    """Remove from native modules what only a debugger reads."""
    modules = [str(path) for path in sorted(folder.rglob("*.so*")) if path.read_bytes()[:4] == b"\x7fELF"]
    subprocess.run(["strip", "--strip-unneeded", *modules], check=True)
