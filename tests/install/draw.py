"""Runs the console on a terminal of 80 by 24 until it shows a text, and ends it: draw.py TEXT COMMAND...

It prints all that the console wrote, and exits as the console does. It runs where cephtui is installed, on any Python.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import sys
import termios
import time
from collections.abc import Sequence

_SECONDS = 60.0


def main(text: str, command: Sequence[str]) -> int:
    """The exit status of the console; 99 if it never showed the text."""
    pid, terminal = pty.fork()
    if not pid:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        os.execvp(command[0], list(command))
    written = _until(terminal, text.encode())
    shown = text.encode() in written
    os.write(terminal, b"q" if shown else b"\x03")
    written += _until(terminal, None)
    _, status = os.waitpid(pid, 0)
    sys.stdout.buffer.write(written)
    return os.waitstatus_to_exitcode(status) if shown else 99


def _until(terminal: int, text: bytes | None) -> bytes:
    """What is written until this appears, or the end."""
    written, end = b"", time.monotonic() + _SECONDS
    while (text is None or text not in written) and (left := end - time.monotonic()) > 0:
        if select.select([terminal], [], [], left)[0]:
            try:
                written += os.read(terminal, 65536)
            except OSError:  # the console has ended
                break
    return written


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
