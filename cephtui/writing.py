"""Writing files so that each is whole, whatever happens meanwhile."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path
from typing import IO


def write_all(file: IO[bytes], data: bytes) -> None:
    """Add to an unbuffered file, so that the data survives the process; a full disk takes all of it or nothing."""
    start, view = file.tell(), memoryview(data)
    try:
        while view:
            view = view[file.write(view) :]
    except OSError:
        file.truncate(file.seek(start))
        raise


def write_whole(path: Path, content: str | bytes) -> None:
    """A file that is there complete or not at all; raises OSError."""
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with partial.open("wb", buffering=0) as file:
            write_all(file, content.encode() if isinstance(content, str) else content)
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        with contextlib.suppress(OSError):
            partial.unlink()
