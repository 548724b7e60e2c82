"""Runs on a node: a namespace whose ports nobody else can reach, with the one connection to the outside that is needed.

A process in it has a network of its own with nothing but loopback, and a private tmpfs for its files. Its connections
to the S3 endpoint end at a listener inside, whose address (or name, by an ``/etc/hosts`` of its own) is the endpoint's;
processes that stay outside accept there and pass the bytes on. It needs root or unprivileged user namespaces, Python
3.9, ``ip`` and ``mount``.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import socket
import subprocess
import threading
from pathlib import Path
from typing import NoReturn
from urllib.parse import urlsplit

PRIVATE = "/dev/shm"
"""Where the tmpfs of its own is mounted."""
_NEW_USER, _NEW_MOUNTS, _NEW_NETWORK = 0x10000000, 0x00020000, 0x40000000
_CHUNK_BYTES = 64 << 10
_RELAYS_MOST = 8
_CONNECT_SECONDS = 10.0
_NO_NAMESPACE = (
    "gosbench listens on every address, so cephtui runs it in its own network namespace, which can't be created: {}; "
    "run it as root (prefix sudo -n), or allow unprivileged user namespaces"
)


class Failure(Exception):
    """It can't go on; the text is for the user."""


def enter_namespace() -> None:
    """Move this process to new network and mount namespaces; raises Failure."""
    uid, gid = os.geteuid(), os.getegid()
    flags = _NEW_NETWORK | _NEW_MOUNTS | (_NEW_USER if uid else 0)
    if ctypes.CDLL(None, use_errno=True).unshare(flags):
        raise Failure(_NO_NAMESPACE.format(f"unshare: {os.strerror(ctypes.get_errno())}"))
    try:
        if uid:
            Path("/proc/self/setgroups").write_text("deny")
            Path("/proc/self/uid_map").write_text(f"0 {uid} 1")
            Path("/proc/self/gid_map").write_text(f"0 {gid} 1")
    except OSError as error:
        raise Failure(_NO_NAMESPACE.format(f"{error.filename}: {error.strerror}")) from None
    _do("mount", "--make-rprivate", "/")
    _do("mount", "-t", "tmpfs", "-o", "mode=0700,size=64m", "cephtui", PRIVATE)
    _do("ip", "link", "set", "lo", "up")


def _do(*argv: str) -> None:
    try:
        done = subprocess.run(argv, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    except OSError as error:
        raise Failure(_NO_NAMESPACE.format(f"{argv[0]}: {error.strerror}")) from None
    if done.returncode:
        raise Failure(_NO_NAMESPACE.format(f"{' '.join(argv)}: {done.stderr.strip()}"))


class Endpoint:
    """Where the S3 service is, as the worker names it and as it is reached."""

    def __init__(self, url: str) -> None:
        """Raises Failure where it does not answer."""
        parts = urlsplit(url)
        self.host = parts.hostname or ""
        self.port = parts.port or (443 if parts.scheme == "https" else 80)
        try:
            with socket.create_connection((self.host, self.port), _CONNECT_SECONDS) as connected:
                self.family, self.address = connected.family, connected.getpeername()
        except OSError as error:
            raise Failure(f"can't connect to {url}: {error.strerror or error}") from None

    def listen(self) -> socket.socket:
        """A listener at its address in the namespace, under its name."""
        address = self.address[0].partition("%")[0]
        is_v6 = self.family == socket.AF_INET6
        if not address.startswith("127.") and address != "::1":
            _do("ip", "addr", "add", f"{address}/{128 if is_v6 else 32}", "dev", "lo", *(("nodad",) if is_v6 else ()))
        if self.host != address:
            self._name(address)
        return socket.create_server((address, self.port), family=self.family, backlog=4096)

    def _name(self, address: str) -> None:
        hosts = Path(PRIVATE, "hosts")
        hosts.write_text(f"127.0.0.1 localhost\n{address} {self.host}\n")
        _do("mount", "--bind", str(hosts), "/etc/hosts")


# ---------------------------------------------------------------------------------------------- the relay


class Relays:
    """Processes that stay outside, as many as there are CPUs: each can use one."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._number = min(len(os.sched_getaffinity(0)), _RELAYS_MOST)
        self._counts = memoryview(mmap.mmap(-1, mmap.PAGESIZE)).cast("Q")
        self._ours, theirs = socket.socketpair()
        if os.fork() == 0:
            self._ours.close()
            self._outside(theirs, endpoint)
        theirs.close()

    def _outside(self, theirs: socket.socket, endpoint: Endpoint) -> NoReturn:
        """The listener comes from inside; with the program that it belongs to ends this, too."""
        os.setsid()  # a TERM of timeout(1) to its group must not fail what is in flight
        os.close(0)
        _, descriptors, _, _ = socket.recv_fds(theirs, 1, 1)
        if descriptors:
            listener = socket.socket(fileno=descriptors[0])
            number = next((child for child in range(1, self._number) if os.fork() == 0), 0)
            counts = self._counts[2 * number : 2 * number + 2]
            threading.Thread(target=accept, args=(listener, endpoint, counts), daemon=True).start()
            theirs.recv(1)
        os._exit(0)

    def hand_over(self, listener: socket.socket) -> None:
        """Let them accept there."""
        socket.send_fds(self._ours, [b"l"], [listener.fileno()])
        listener.close()

    @property
    def passed_on(self) -> tuple[int, int]:
        """Bytes to the endpoint, and from it."""
        counts = list(self._counts[: 2 * self._number])
        return sum(counts[0::2]), sum(counts[1::2])


def accept(listener: socket.socket, endpoint: Endpoint, counts: memoryview) -> None:
    """Connect each connection with the endpoint; this and all below raise nothing."""
    lock = threading.Lock()
    while True:
        inner, _ = listener.accept()
        outer = socket.socket(endpoint.family)
        threading.Thread(target=connect, args=(inner, outer, endpoint, counts, lock), daemon=True).start()


def connect(
    inner: socket.socket, outer: socket.socket, endpoint: Endpoint, counts: memoryview, lock: threading.Lock
) -> None:
    """Both directions of one connection."""
    with inner, outer:
        try:
            outer.connect(endpoint.address)
        except OSError:
            return
        for end in (inner, outer):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        back = threading.Thread(target=pass_on, args=(outer, inner, counts[1:], lock), daemon=True)
        back.start()
        pass_on(inner, outer, counts, lock)
        back.join()


def pass_on(source: socket.socket, sink: socket.socket, counts: memoryview, lock: threading.Lock) -> None:
    """All bytes from one to the other, until its end."""
    buffer = memoryview(bytearray(_CHUNK_BYTES))
    try:
        while received := source.recv_into(buffer):
            sink.sendall(buffer[:received])
            with lock:
                counts[0] += received
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
