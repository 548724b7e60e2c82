"""Reading files of any origin, or what stands in their place, in bounded time and memory."""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import reprlib
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cephtui import units

DOCUMENT_MOST_BYTES = 64 << 20
"""Bytes of a file that is read as a whole. The overview of 24 h on 16 nodes has 6 MB."""
SERIES_MOST_BYTES = 64 << 30
"""Bytes of a file that is read line by line. The samples of 24 h on 16 nodes have 500 MB."""
LINE_MOST_BYTES = 1 << 20
"""Bytes of a line. A sample has 40 kB at most."""
TOML_MOST_BYTES = 64 << 10
"""Bytes of a file that a user writes."""
_TOML_LINE_MOST_DOTS = 300
"""Dots in a line of TOML: dotted keys of thousands of parts take minutes to parse."""
_PIECE_BYTES = 256 << 10
_REPR = reprlib.Repr()
_REPR.maxstring = _REPR.maxother = 100
_KINDS = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
}


def open_regular(path: Path, most_bytes: int = SERIES_MOST_BYTES) -> io.BufferedReader:
    """A file open for reading; raises OSError for what is no regular file, or larger than ``most_bytes``.

    A link to a regular file is one. A device is not even opened, since opening may have consequences.
    """
    return open(open_descriptor(path, most_bytes), "rb")


def open_descriptor(path: Path, most_bytes: int = SERIES_MOST_BYTES) -> int:
    """The descriptor of a file open for reading, which the caller closes; raises OSError as ``open_regular`` does."""
    name = str(path)
    _check(_stat(name), name, most_bytes)
    descriptor = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        _check(os.fstat(descriptor), name, most_bytes)  # it may be another one by now
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def open_to_append(path: Path) -> io.FileIO:
    """A file open for writing at its end, unbuffered, made where it is missing; raises OSError as ``open_regular``.

    A link is none: one in a session of others would lead what is written into any file of the user's.
    """
    with contextlib.suppress(FileNotFoundError):
        _check(_stat(str(path)), str(path), SERIES_MOST_BYTES)
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags, 0o666)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "a link, expected a regular file", str(path)) from None
        raise
    try:
        _check(os.fstat(descriptor), str(path), SERIES_MOST_BYTES)
        return io.FileIO(str(path), "ab", opener=lambda *_: descriptor)
    except BaseException:
        os.close(descriptor)
        raise


def _stat(path: str) -> os.stat_result:
    try:
        return Path(path).stat()
    except ValueError:  # a NUL, which a node's name in a file may have
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path) from None


def _check(file_stat: os.stat_result, path: str, most_bytes: int) -> None:
    if stat.S_ISDIR(file_stat.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if not stat.S_ISREG(file_stat.st_mode):
        kind = _KINDS.get(stat.S_IFMT(file_stat.st_mode), "no file")
        raise OSError(errno.EINVAL, f"{kind}, expected a regular file", path)
    if file_stat.st_size > most_bytes:
        raise OSError(errno.EFBIG, _too_large(file_stat.st_size, most_bytes), path)


def _too_large(size: int, most: int) -> str:
    return f"too large: {units.size(size)}, expected at most {units.size(most)}"


def read_bytes(path: Path, most_bytes: int = DOCUMENT_MOST_BYTES) -> bytes:
    """The bytes of a whole file; raises OSError."""
    descriptor, pieces, size = open_descriptor(path, most_bytes), [], 0
    try:
        while size <= most_bytes and (piece := os.read(descriptor, _PIECE_BYTES)):
            pieces.append(piece)
            size += len(piece)
    finally:
        os.close(descriptor)
    data = b"".join(pieces)
    if len(data) > most_bytes:
        raise OSError(errno.EFBIG, _too_large(len(data), most_bytes), str(path))
    return data


def read_lines(
    path: Path, most_bytes: int = DOCUMENT_MOST_BYTES, line_most_bytes: int = LINE_MOST_BYTES
) -> Iterator[bytes]:
    """The lines of a file with their newlines, the last perhaps without; raises OSError.

    Of a line that is too long there is only the beginning, without a newline.
    """
    with open_regular(path, most_bytes) as file:
        while text := file.readline(line_most_bytes):
            yield text
            while len(text) == line_most_bytes and not text.endswith(b"\n"):
                text = file.readline(line_most_bytes)


def load_json(text: str | bytes) -> Any:
    """The value of a JSON text; raises ValueError. Numbers may be infinite or NaN: the caller checks."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def load_toml(path: Path) -> dict[str, Any]:
    """The content of a TOML file; raises OSError, and ValueError with what is wrong."""
    text = read_bytes(path, TOML_MOST_BYTES).decode("utf-8")
    for number, line in enumerate(text.split("\n"), 1):
        if line.count(".") > _TOML_LINE_MOST_DOTS:
            raise ValueError(f"line {number}: more than {_TOML_LINE_MOST_DOTS} dots, expected a line without so many")
    import tomllib  # few commands read any

    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def excerpt(value: object) -> str:
    """The text of a value that was read, for an error; cut, however large or deep the value is."""
    try:
        return _REPR.repr(value)
    except ValueError:  # Python writes no number of so many digits
        return "a number of thousands of digits"
