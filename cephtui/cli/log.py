"""The log file."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from cephtui.printable import lines, printable


class _Formatter(logging.Formatter):
    """Escapes control characters, since the file is read in a terminal; a record is one line, and a traceback."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        return printable(super().formatMessage(record))

    def formatException(self, ei: Any) -> str:
        return lines(super().formatException(ei))


def start_log() -> Path:
    """Log into cephtui's own file from now on; its path."""
    # not at the top: --version and --help do without
    from logging.handlers import RotatingFileHandler

    from cephtui.paths import log_file, make_private

    path = log_file()
    logging.raiseExceptions = False
    root = logging.getLogger("cephtui")
    if root.handlers:
        return path
    root.setLevel(logging.INFO)
    root.propagate = False
    try:
        make_private(path.parent)
        handler: logging.Handler = RotatingFileHandler(path, maxBytes=1 << 20, backupCount=2)
    except OSError:
        handler = logging.NullHandler()  # a log that can't be written must not stop a measurement
    handler.setFormatter(_Formatter("%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"))
    root.addHandler(handler)
    for library in (
        "aiohttp",
        "asyncio",
        "asyncssh",
        "textual-serve",
    ):  # their messages must not end up on the terminal
        other = logging.getLogger(library)
        other.setLevel(logging.WARNING)
        other.propagate = False
        other.addHandler(handler)
    return path
