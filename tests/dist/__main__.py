"""Makes in ``dist/`` all that is handed to users: the same bytes for the same commit.

python -m tests.dist
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cephtui import __version__

from tests.dist import deb, one_file, wheels
from tests.dist.wheels import CHECKOUT

DIST = CHECKOUT / "dist"
ONE_FILE = f"cephtui-{__version__}-linux-amd64"


def main() -> None:
    """Make everything, and list it."""
    epoch = _epoch()
    os.environ["SOURCE_DATE_EPOCH"] = str(epoch)
    os.umask(0o022)
    shutil.rmtree(DIST, ignore_errors=True)
    print("building the wheel and the sdist ...", flush=True)
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-d", str(DIST)], cwd=CHECKOUT, check=True)
    (wheel,) = DIST.glob("*.whl")
    for minor in wheels.MINORS:
        wheels.fetched(minor)
    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor() as pool:
        packing = [pool.submit(one_file.make, wheel, DIST / ONE_FILE, Path(work) / "unpacked", epoch)]
        packing += [pool.submit(_package, release, wheel, Path(work), epoch) for release in deb.RELEASES]
        for each in packing:
            each.result()
    made = sorted(DIST.iterdir())
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in made]
    (DIST / "SHA256SUMS").write_text("".join(sums))
    for path in [*made, DIST / "SHA256SUMS"]:
        print(f"{path.stat().st_size / 1e6:8.2f} MB  {path.relative_to(CHECKOUT)}")


def _package(release: deb.Release, wheel: Path, work: Path, epoch: int) -> None:
    package = deb.make(release, wheel, DIST, work / release.name, epoch)
    subprocess.run(["lintian", "--fail-on", "error,warning", "--allow-root", str(package)], check=True)


def _epoch() -> int:
    """Unix seconds: SOURCE_DATE_EPOCH where it is set, else of the last commit."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    command = ["git", "log", "-1", "--format=%ct"]
    return int(given or subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=True).stdout)


if __name__ == "__main__":
    main()
