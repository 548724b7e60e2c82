"""Carries a connection from outside the lab to an address inside, as the ProxyCommand of ssh: DIRECTORY HOST PORT.

It ends when either side does, or the lab; while the network of the lab is cut it just waits, as the network would.
"""

import contextlib
import ctypes
import errno
import json
import os
import select
import socket
import sys

_CLONE_NEWNET = 0x40000000
_CHUNK = 1 << 17


def main() -> None:
    """Enters the network of the console, connects, and carries."""
    directory, host, port = sys.argv[1:]
    console = enter(directory)
    # A signal from the terminal is meant for ssh, which a network would not hear either.
    with contextlib.suppress(PermissionError):
        os.setsid()
    with socket.socket() as there:
        if error := connect(there, (host, int(port)), console):
            sys.exit(f"the lab: {host} port {port}: {os.strerror(error)}")
        # Whatever is wrong with a connection by now ends it, as it does without a relay.
        with contextlib.suppress(OSError):
            carry(there, console)


def enter(directory: str) -> int:
    """Moves this process into the network of the console, and returns a handle on what holds that."""
    try:
        with open(f"{directory}/state.json") as file:
            pid, start = json.load(file)["machines"]["console"].values()
        console = os.pidfd_open(pid)
        with open(f"/proc/{pid}/stat") as file:
            ticks = file.read().rpartition(")")[2].split()[19]
    except (OSError, KeyError):
        sys.exit(f"no lab is up in {directory}")
    if start.partition("@")[0] != ticks:
        sys.exit(f"no lab is up in {directory}")
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(console, _CLONE_NEWNET):
        sys.exit(f"the lab's network cannot be entered: {os.strerror(ctypes.get_errno())}")
    return console


def connect(there: socket.socket, address: tuple[str, int], console: int) -> int:
    """Connects, and returns the number of the error. It may take minutes, which ssh need not wait for."""
    there.setblocking(False)
    there.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    error = there.connect_ex(address)
    if error != errno.EINPROGRESS:
        return error
    poll = select.poll()
    poll.register(there, select.POLLOUT)
    poll.register(console, select.POLLIN)
    poll.register(0, 0)
    if there.fileno() not in dict(poll.poll()):
        sys.exit("the lab: not waited for")
    return there.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)


def carry(there: socket.socket, console: int) -> None:
    """Carries both ways until one side has ended."""
    for stream in (0, 1):
        os.set_blocking(stream, False)
    outward = inward = b""
    while True:
        poll = select.poll()
        poll.register(console, select.POLLIN)
        # Without a bit of their own these two still tell that ssh is gone.
        poll.register(0, 0 if outward else select.POLLIN)
        poll.register(1, select.POLLOUT if inward else 0)
        wanted = (select.POLLOUT if outward else 0) | (0 if inward else select.POLLIN)
        if wanted:
            poll.register(there, wanted)
        for stream, events in poll.poll():
            if stream == console:
                return
            if stream == 1:
                if not events & select.POLLOUT:
                    return
                inward = inward[os.write(1, inward) :]
            elif stream == 0:
                if not events & select.POLLIN or not (outward := os.read(0, _CHUNK)):
                    return
            else:
                readable = events & (select.POLLIN | select.POLLHUP | select.POLLERR)
                if readable and not inward and not (inward := there.recv(_CHUNK)):
                    return
                if outward and events & select.POLLOUT:
                    outward = outward[there.send(outward) :]


if __name__ == "__main__":
    main()
