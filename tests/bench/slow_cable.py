"""Run on the switch of a lab: a cable on which every frame takes longer, each way, and some are lost.

    python3 slow_cable.py MACHINE SECONDS LOST

LOST is the share of the frames that are lost, from 0 to 1. It is so until its standard input ends. The machine's end of
the cable is taken from the bridge and joined to it again by two TAP interfaces, between which the frames wait: netem is
not in every kernel.
"""

import fcntl
import os
import random
import select
import struct
import subprocess
import sys
import time
from collections import deque

TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 0x0002, 0x1000
BRIDGE, APART, ENDS = "lan", "apart", ("slow0", "slow1")
FRAME_MOST = 65536


def tap(name: str) -> int:
    """The descriptor of a new TAP interface."""
    descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(descriptor, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TAP | IFF_NO_PI))
    return descriptor


def ip(*words: str) -> None:
    """One command of ip(8)."""
    subprocess.run(["ip", *words], check=True)


def forward(ends: tuple[int, int], seconds: float, lost: float) -> None:
    """Every frame of one end to the other, so much later, until the standard input ends."""
    chance = random.Random(1)
    other = {ends[0]: ends[1], ends[1]: ends[0]}
    waiting: deque[tuple[float, int, bytes]] = deque()
    while True:
        patience = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
        ready, _, _ = select.select([*ends, sys.stdin], [], [], patience)
        if sys.stdin in ready and not os.read(sys.stdin.fileno(), 1):
            return
        for end in (end for end in ends if end in ready):
            frame = os.read(end, FRAME_MOST)
            if chance.random() >= lost:
                waiting.append((time.monotonic() + seconds, other[end], frame))
        while waiting and waiting[0][0] <= time.monotonic():
            _, end, frame = waiting.popleft()
            os.write(end, frame)


def main(machine: str, seconds: float, lost: float) -> None:
    """Make the cable longer, say so, and make it as it was."""
    ends = tap(ENDS[0]), tap(ENDS[1])
    ip("link", "add", "dev", APART, "type", "bridge", "stp_state", "0", "forward_delay", "0")
    try:
        ip("link", "set", "dev", APART, "up")
        ip("link", "set", "dev", machine, "master", APART)
        for name, bridge in zip(ENDS, (BRIDGE, APART), strict=True):
            ip("link", "set", "dev", name, "master", bridge, "up")
        print("slow", flush=True)
        forward(ends, seconds, lost)
    finally:
        ip("link", "set", "dev", machine, "master", BRIDGE)
        ip("link", "del", "dev", APART)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), float(sys.argv[3]))
