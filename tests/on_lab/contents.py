"""Prints every object and image of a pool, and what is in it. Started as a script by Ceph's own Python: POOL."""

import hashlib
import sys
from typing import Any

import rados
import rbd

_PIECE_BYTES = 4 << 20


def checksum(read: Any) -> str:
    """Of all that ``read(offset, length)`` gives."""
    found, at = hashlib.sha256(), 0
    while piece := read(at, _PIECE_BYTES):
        found.update(piece)
        at += len(piece)
    return found.hexdigest()


def objects(pool: Any) -> list[str]:
    """All but those that make up images, of every namespace."""
    pool.set_namespace(rados.LIBRADOS_ALL_NSPACES)
    lines = []
    for one in sorted(pool.list_objects(), key=lambda one: (one.nspace, one.key)):
        pool.set_namespace(one.nspace)
        kept = "" if one.key.startswith("rbd_") else checksum(lambda at, most, key=one.key: pool.read(key, most, at))
        lines.append(f"object {one.nspace}/{one.key} {kept}")
    pool.set_namespace("")
    return lines


def image(pool: Any, name: str) -> list[str]:
    """What is in an image, and what it is."""
    with rbd.Image(pool, name, read_only=True) as opened:
        size = opened.size()
        kept = checksum(lambda at, most: opened.read(at, min(most, size - at)) if at < size else b"")
        facts = {"id": opened.id(), "size": size, "features": opened.features(), "snaps": len([*opened.list_snaps()])}
    return [f"image {name} {kept}", *(f"{name} {fact} {value}" for fact, value in facts.items())]


def main(name: str) -> None:
    """Prints them, a line each."""
    with rados.Rados(conffile="") as cluster, cluster.open_ioctx(name) as pool:
        print(*objects(pool), *(line for one in rbd.RBD().list(pool) for line in image(pool, one)), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1])
