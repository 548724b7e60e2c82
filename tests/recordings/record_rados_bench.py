"""Records what rados bench prints: ``record_rados_bench.py tests/recordings/rados-16.2``, on a host of a lab.

As root, with ``CEPH_CONF`` and a keyring in it that may create and delete pools. It makes two pools of its own,
``recorded`` and ``recorded-quota``, and deletes them. ``commands.json`` has of each recording the command, its exit
status, and the pieces of output: stream, seconds since the start, bytes.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

POOL, QUOTA = "recorded", "recorded-quota"
END = ["--run-name", "cephtui", "--show-time"]


def write(namespace: str, seconds: int, concurrent: int, block: str, objects: int, *more: str) -> list[str]:
    sizes = ["-b", block, *more, "--max-objects", str(objects), "--no-cleanup"]
    return [*place(namespace), "bench", str(seconds), "write", "-t", str(concurrent), *sizes, *END]


def read(namespace: str, seconds: int, mode: str, concurrent: int, *more: str) -> list[str]:
    return [*place(namespace), "bench", str(seconds), mode, "-t", str(concurrent), *more, *END]


def place(namespace: str, pool: str = POOL) -> list[str]:
    return ["rados", "-p", pool, "-N", namespace]


RECORDINGS = {
    "write": write("a", 4, 4, "256K", 100000),
    "write-objects": write("b", 30, 4, "256K", 600),
    "write-long": write("c", 43, 1, "4K", 1000000, "-O", "4M"),
    "fill-again": [*write("b", 600, 16, "256K", 900), "--reuse-bench"],
    "fill-short": write("d", 600, 16, "64K", 40),
    "seq": read("c", 5, "seq", 1),
    "seq-short": read("b", 30, "seq", 4),
    "rand": read("b", 4, "rand", 4),
    "rand-deep": read("b", 3, "rand", 512, "--no-verify"),
    "no-time": [word for word in read("b", 3, "rand", 4) if word != "--show-time"],
    "stopped-int": write("e", 30, 4, "256K", 100000),
    "stopped-term": write("f", 30, 4, "256K", 100000),
    "stopped-rand": read("b", 30, "rand", 1),
    "stopped-at-once": write("g", 30, 4, "256K", 100000),
    "quota": [word if word != POOL else QUOTA for word in write("h", 8, 1, "64K", 100000)],
    "no-data": read("nothing", 4, "seq", 4),
    "no-pool": [word if word != POOL else "none" for word in write("a", 4, 4, "256K", 100)],
    "no-keyring": ["rados", "--id", "nobody", *read("a", 4, "seq", 4)[1:]],
    "denied": ["rados", "--id", "bench-only", *write("a", 4, 4, "256K", 100)[1:]],
    "too-large": write("i", 4, 1, "100M", 10),
    "missing-object": read("d", 4, "seq", 4),
    "changed-object": read("d", 4, "seq", 4),
}
STOPS = {
    "stopped-int": (signal.SIGINT, 3.6),
    "stopped-term": (signal.SIGTERM, 3.4),
    "stopped-rand": (signal.SIGTERM, 2.5),
    "stopped-at-once": (signal.SIGTERM, 0.5),
    "quota": (signal.SIGTERM, 24.0),
}


def run(*argv: str, **given: Any) -> str:
    done: subprocess.CompletedProcess[str] = subprocess.run(argv, check=True, capture_output=True, text=True, **given)
    return done.stdout


def before(name: str) -> None:
    """What has to be so for a recording."""
    if name in ("missing-object", "changed-object"):
        first = next(line for line in run(*place("d"), "ls").splitlines() if line.startswith("benchmark_data_"))
        changed = first.rpartition("_object")[0] + "_object20"
        if name == "missing-object":
            run(*place("d"), "rm", changed)
        else:
            run(*place("d"), "put", changed, "/dev/stdin", input="z" * 65536)


def record(directory: Path, name: str) -> dict[str, object]:
    argv = RECORDINGS[name]
    started = time.monotonic()
    process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    sig, at = STOPS.get(name, (None, 0.0))
    output = {"stdout": b"", "stderr": b""}
    pieces: list[tuple[str, float, int]] = []
    with selectors.DefaultSelector() as selector:
        for stream in output:
            selector.register(getattr(process, stream), selectors.EVENT_READ, stream)
        while selector.get_map():
            for key, _ in selector.select(0.05):
                data = os.read(key.fd, 65536)
                if not data:
                    selector.unregister(key.fileobj)
                    continue
                output[key.data] += data
                pieces.append((key.data, round(time.monotonic() - started, 4), len(data)))
            if sig and time.monotonic() - started > at:
                process.send_signal(sig)
                sig = None
    status = process.wait()
    for stream, data in output.items():
        if data:
            (directory / f"{name}.{stream}").write_bytes(data)
    print(name, status, file=sys.stderr)
    return {"argv": argv, "status": status, "pieces": pieces}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("directory", type=Path)
    parser.add_argument("--only", nargs="*", default=list(RECORDINGS), help="the others stay as they are")
    chosen = parser.parse_args()
    directory = chosen.directory
    directory.mkdir(parents=True, exist_ok=True)
    index = directory / "commands.json"
    commands = json.loads(index.read_text()) if index.exists() else {}
    for pool in (POOL, QUOTA):
        run("ceph", "osd", "pool", "create", pool, "8")
    try:
        run("ceph", "osd", "pool", "set-quota", QUOTA, "max_bytes", "10M")
        for name in chosen.only:
            before(name)
            commands[name] = record(directory, name)
    finally:
        for pool in (POOL, QUOTA):
            with contextlib.suppress(subprocess.CalledProcessError):
                run("ceph", "osd", "pool", "delete", pool, pool, "--yes-i-really-really-mean-it")
    lines = [f" {json.dumps(name)}: {json.dumps(commands[name])}" for name in RECORDINGS if name in commands]
    index.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
