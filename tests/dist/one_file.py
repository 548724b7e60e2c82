"""The one file: a small shell script, and behind it a zip archive that Python runs.

pex makes such a file, too, which is half as large again: it packs what all versions of Python share once for each.
"""

from __future__ import annotations

import hashlib
import io
import lzma
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

from cephtui import __version__

from tests.dist import wheels
from tests.dist.unpack import COMMON

_HERE = Path(__file__).parent
_FILTERS = [{"id": lzma.FILTER_X86}, {"id": lzma.FILTER_LZMA2, "preset": 9}]
_SIZE = b"@_SIZE_@"
"""Stands in the script for the bytes of the file; their number has as many characters."""
_EARLIEST = (1980, 1, 1, 0, 0, 0)


def make(own: Path, target: Path, unpacked: Path, epoch: int) -> None:
    """Write the one file of this wheel, with what it needs for every version of Python that is tried."""
    for minor in wheels.MINORS:
        wheels.unpack([own, *wheels.fetched(minor)], unpacked / minor)
        wheels.strip(unpacked / minor)
    common, of_minors = shared({minor: unpacked / minor for minor in wheels.MINORS})
    print("packing the one file ...", flush=True)
    first = wheels.MINORS[0]
    packed = {COMMON: compressed(unpacked / first, common, epoch)}
    packed |= {f"{minor}.tar.xz": compressed(unpacked / minor, files, epoch) for minor, files in of_minors.items()}
    digest = hashlib.sha256(b"".join(packed.values())).hexdigest()[:12]
    main = (_HERE / "unpack.py").read_text().replace("cephtui-unbuilt", f"cephtui-{__version__}-{digest}")
    file = io.BytesIO(launcher().encode())
    file.seek(0, io.SEEK_END)
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in {"__main__.py": main.encode(), **packed}.items():
            archive.writestr(zipfile.ZipInfo(name, _EARLIEST), content)
    whole = file.getvalue()
    target.write_bytes(whole.replace(_SIZE, b"%8d" % len(whole), 1))
    target.chmod(0o755)


def launcher() -> str:
    """The shell script that finds a Python that fits, and refuses a file that was copied in part."""
    oldest, newest = wheels.MINORS[0], wheels.MINORS[-1]
    text = (_HERE / "launcher.sh").read_text().replace("@VERSION@", __version__)
    text = text.replace("@OLDEST@", oldest).replace("@NEWEST@", newest)
    return text.replace("@PYTHONS@", " ".join(f"python{minor}" for minor in reversed(wheels.MINORS)))


def shared(trees: dict[str, Path]) -> tuple[list[str], dict[str, list[str]]]:
    """The files that all of these have alike, and by the name of a tree its others."""
    contents = {name: dict(_files(tree)) for name, tree in trees.items()}
    first, *others = contents.values()
    common = [name for name, digest in first.items() if all(each.get(name) == digest for each in others)]
    rest = {name: sorted(files.keys() - set(common)) for name, files in contents.items()}
    return sorted(common), rest


def _files(tree: Path) -> Iterable[tuple[str, bytes]]:
    for path in sorted(tree.rglob("*")):
        if path.is_file():
            yield str(path.relative_to(tree)), hashlib.sha256(path.read_bytes()).digest()


def compressed(tree: Path, names: Iterable[str], epoch: int) -> bytes:
    """A tar archive of these files, the same for the same files."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for name in sorted(names, key=_alike_together):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime, entry.mode = (tree / name).stat().st_size, epoch, 0o644
            with (tree / name).open("rb") as content:
                tar.addfile(entry, content)
    return lzma.compress(plain.getvalue(), lzma.FORMAT_XZ, lzma.CHECK_CRC32, filters=_FILTERS)


def _alike_together(name: str) -> tuple[str, str]:
    return Path(name).suffix, name
