"""Starts cephtui by forking a process that has imported it: importing takes two thirds of a short run's CPU.

Started as a script, with the number of a socket: CONTROL. A message on it is a JSON object with what to start, and its
three streams; the answers are that it was started, and later that it has ended, with its process id and exit status.
On a terminal, the terminal becomes that of the process: its end is then the process's SIGHUP.
"""

import faulthandler
import fcntl
import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import sys
import termios
from collections.abc import Iterator
from typing import Any

STREAMS = 3
MESSAGE_BYTES = 1 << 17
STACKS = "stacks.{}"
"""A file in its folder, by its process id, where it writes what each of its threads does when it gets a SIGUSR1."""


def modules() -> Iterator[str]:
    """All of cephtui."""
    package = importlib.import_module("cephtui")
    for module in pkgutil.walk_packages(package.__path__, "cephtui."):
        yield module.name


def serve(control: socket.socket) -> tuple[Any, list[int]]:
    """What to start, with its streams: in the fork that is to become it. Else it ends with its client."""
    poll, children = select.poll(), dict[int, int]()
    poll.register(control, select.POLLIN)
    while True:
        for descriptor, _ in poll.poll():
            if descriptor in children:
                poll.unregister(descriptor)
                os.close(descriptor)
                pid, status = os.waitpid(children.pop(descriptor), 0)
                control.send(json.dumps(["ended", pid, os.waitstatus_to_exitcode(status)]).encode())
                continue
            message, streams, _, _ = socket.recv_fds(control, MESSAGE_BYTES, STREAMS)
            if not message:
                sys.exit()
            pid = os.fork()
            if not pid:
                control.close()
                return json.loads(message), streams
            for stream in streams:
                os.close(stream)
            ended = os.pidfd_open(pid)
            children[ended] = pid
            poll.register(ended, select.POLLIN)
            control.send(json.dumps(["started", pid, 0]).encode())


def become(what: Any, streams: list[int]) -> None:
    """Let this process be as if it had just been started."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    if what["terminal"]:
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.closerange(STREAMS, max(streams) + 64)
    os.chdir(what["cwd"])
    faulthandler.register(signal.SIGUSR1, os.open(STACKS.format(os.getpid()), os.O_CREAT | os.O_WRONLY))
    os.environ.clear()
    os.environ.update(what["env"])
    sys.argv = what["argv"]
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)


if __name__ == "__main__":
    for name in modules():
        importlib.import_module(name)
    importlib.import_module("asyncssh")
    gc.freeze()
    become(*serve(socket.socket(fileno=int(sys.argv[1]))))
    importlib.import_module("cephtui.cli.main").main()
