"""The log file."""

from __future__ import annotations

import logging
from functools import cached_property
from typing import Any

from cephtui.printable import lines, printable

_LIBRARIES = ("aiohttp", "asyncio", "asyncssh", "textual-serve")
"""Their messages must not end up on the terminal."""


class _Formatter(logging.Formatter):
    """Escapes control characters, since the file is read in a terminal; a record is one line, and a traceback."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        return printable(super().formatMessage(record))

    def formatException(self, ei: Any) -> str:
        return lines(super().formatException(ei))


class _File(logging.Handler):
    """The file, which is opened for the first record: most commands have none."""

    @cached_property
    def _file(self) -> logging.Handler:
        from logging.handlers import RotatingFileHandler

        from cephtui.paths import log_file, make_private

        path = log_file()
        handler: logging.Handler
        try:
            make_private(path.parent)
            handler = RotatingFileHandler(path, maxBytes=1 << 20, backupCount=2)
        except OSError:
            handler = logging.NullHandler()  # a log that can't be written must not stop a measurement
        handler.setFormatter(_Formatter("%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"))
        return handler

    def emit(self, record: logging.LogRecord) -> None:
        self._file.handle(record)


def start_log() -> None:
    """Log into cephtui's own file from now on."""
    logging.raiseExceptions = False
    root = logging.getLogger("cephtui")
    if root.handlers:
        return
    root.setLevel(logging.INFO)
    root.propagate = False
    handler = _File()
    root.addHandler(handler)
    for name in _LIBRARIES:
        library = logging.getLogger(name)
        library.setLevel(logging.WARNING)
        library.propagate = False
        library.addHandler(handler)
