"""Records what rbd bench and rados load-gen print: ``record_ceph_tools.py tests/recordings/ceph-tools-16.2`` in a lab.

As root, with ``CEPH_CONF`` and a keyring in it that may create and delete pools. It makes a pool of its own,
``recorded``, and deletes it. Each ``NAME.jsonl`` has the command and its exit status, then the pieces of its output:
stream, seconds since the start, text.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import selectors
import signal
import subprocess
import time
from pathlib import Path

POOL = "recorded"
IMAGE = f"{POOL}/image"


def bench(kind: str, *words: str, image: str = IMAGE, cache: str = "false") -> list[str]:
    return ["rbd", "bench", "--io-type", kind, *words, f"--rbd-cache={cache}", image]


def small(pattern: str) -> list[str]:
    return ["--io-size", "4K", "--io-threads", "16", "--io-total", "8192000000000", "--io-pattern", pattern]


def load(size: str, seconds: int, *words: str) -> list[str]:
    sizes = ["--num-objects", "8", "--min-object-size", size, "--max-object-size", size]
    return ["rados", "-p", POOL, "load-gen", *sizes, "--run-length", str(seconds), *words]


FILL = ["--io-size", "4M", "--io-threads", "16", "--io-total", str(64 << 20), "--io-pattern", "full-seq"]
RATE = ["--min-op-len", "64K", "--max-op-len", "256K", "--max-ops", "16", "--target-throughput"]
RECORDINGS = {
    "bench-fill": bench("write", *FILL),
    "bench-write": bench("write", *small("rand")),
    "bench-read": bench("read", *small("seq")),
    "bench-mixed": bench("rw", "--rw-mix-read", "70", *small("rand")),
    "bench-cached": bench("write", *small("seq"), cache="true"),
    "bench-killed": bench("write", *small("seq")),
    "bench-waits": bench("write", *small("seq")),  # for the lock of the one that was killed
    "bench-no-image": bench("read", *small("rand"), image=f"{POOL}/none"),
    "load-mixed": load("4M", 4, *RATE, "4M", "--read-percent", "50"),
    "load-write": load("1M", 4, *RATE, "1G", "--read-percent", "0"),
    "load-stopped": load("4M", 60, *RATE, "4M", "--read-percent", "50"),
    "load-too-large": load("256M", 4, *RATE, "4M"),
    "load-no-pool": ["none" if word == POOL else word for word in load("4M", 4)],
}
STOPS = {
    **dict.fromkeys(("bench-write", "bench-read", "bench-mixed", "bench-cached"), (signal.SIGTERM, 5.3)),
    "bench-killed": (signal.SIGKILL, 4.6),
    "bench-waits": (signal.SIGTERM, 2.0),
    "load-stopped": (signal.SIGTERM, 4.6),
}


def record(name: str) -> list[object]:
    argv = RECORDINGS[name]
    started = time.monotonic()
    process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    sig, at = STOPS.get(name, (None, 0.0))
    pieces: list[object] = []
    with selectors.DefaultSelector() as selector:
        for stream in ("stdout", "stderr"):
            selector.register(getattr(process, stream), selectors.EVENT_READ, stream)
        while selector.get_map():
            for key, _ in selector.select(0.05):
                data = os.read(key.fd, 65536)
                if data:
                    pieces.append([key.data, round(time.monotonic() - started, 4), data.decode()])
                else:
                    selector.unregister(key.fileobj)
            if sig and time.monotonic() - started > at:
                process.send_signal(sig)
                sig = None
    return [{"argv": argv, "status": process.wait()}, *pieces]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("directory", type=Path)
    parser.add_argument("--only", nargs="*", default=list(RECORDINGS), help="the others stay as they are")
    chosen = parser.parse_args()
    chosen.directory.mkdir(parents=True, exist_ok=True)
    for words in (["osd", "pool", "create", POOL, "8"], ["osd", "pool", "application", "enable", POOL, "rbd"]):
        subprocess.run(["ceph", *words], check=True)
    try:
        subprocess.run(["rbd", "create", "--size", "64M", IMAGE], check=True)
        for name in chosen.only:
            lines = [json.dumps(line) for line in record(name)]
            (chosen.directory / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    finally:
        with contextlib.suppress(subprocess.CalledProcessError):
            subprocess.run(["ceph", "osd", "pool", "delete", POOL, POOL, "--yes-i-really-really-mean-it"], check=True)


if __name__ == "__main__":
    main()
