"""Records what a version of fio prints: ``python tests/recordings/record_fio.py tests/recordings/fio-3.33``.

As root, where there is no /scratch. Those of 3.1 to 3.16, which were built without libaio, have the arguments in their
``commands.json``. ``--root DIRECTORY`` takes the fio of another system (from debootstrap, with its
/proc and /dev mounted). The rates are low so that the recordings stay small.
"""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

LIVE = ["--output-format=json+", "--status-interval=1"]
FILE = ["--filename=/scratch/test", "--size=8M", "--direct=1", "--ioengine=libaio"]
TIMED = ["--time_based", "--group_reporting"]
RAMP = ["--ramp_time=1"]
SMALL = ["--filename=/scratch/small/test", "--size=8M", "--fallocate=none"]
FILL = ["--filename=/scratch/fill", "--direct=1", "--ioengine=libaio", "--rw=write", "--bs=1M", "--end_fsync=1"]
EIGHT_JOBS = ["--rw=randwrite", "--bs=4k", "--iodepth=4", "--numjobs=8", "--offset_increment=8M", "--rate_iops=250"]
TWO_JOBS = ["--bs=4k", "--iodepth=4", "--numjobs=2", "--offset_increment=8M", "--rate_iops=200"]

RECORDINGS = {
    "randwrite": [*FILE, *TIMED, *RAMP, *EIGHT_JOBS, "--runtime=3"],
    "mixed": [*FILE, *TIMED, *RAMP, "--rw=randrw", "--rwmixread=75", "--bs=4k", "--rate_iops=450,150", "--runtime=3"],
    "jobs-apart": [*FILE, "--time_based", *RAMP, *TWO_JOBS, "--rw=randread", "--runtime=2"],
    "no-ramp": [*FILE, *TIMED, "--rw=write", "--bs=64k", "--iodepth=4", "--rate_iops=300", "--runtime=3"],
    "one-second": [*FILE, *TIMED, "--rw=randread", "--bs=4k", "--iodepth=1", "--runtime=1"],
    "stopped": [*FILE, *TIMED, *RAMP, *TWO_JOBS, "--rw=randwrite", "--runtime=30"],
    "stopped-in-ramp": [*FILE, *TIMED, "--ramp_time=20", *TWO_JOBS, "--rw=randwrite", "--runtime=30"],
    "no-latency": [*FILE, *TIMED, *RAMP, "--rw=read", "--bs=4k", "--rate_iops=400", "--gtod_reduce=1", "--runtime=2"],
    "ends-apart": [
        *[*FILE, "--rw=randwrite", "--bs=4k", "--time_based", "--runtime=3", "--rate_iops=200", "--name=second"],
        *[*FILE, "--rw=randread", "--bs=4k", "--time_based", "--runtime=1", "--rate_iops=200", "--offset=16M"],
    ],
    "fill": [*FILL, "--iodepth=4", "--size=48M", "--rate=20M"],
    "fill-short": [*FILL, "--iodepth=16", "--size=8M"],
    "no-directory": ["--filename=/scratch/test/none", "--size=8M", "--rw=randwrite", "--bs=4k", "--ioengine=libaio"],
    "no-space": [*SMALL, "--rw=write", "--bs=64k", "--rate=2M"],
    "unknown-engine": ["--filename=/scratch/test", "--size=8M", "--rw=randread", "--bs=4k", "--ioengine=libaoi"],
}  # fmt: skip
DOCUMENTS_BEFORE_STOP = {"stopped": 3, "stopped-in-ramp": 2}


def stop_after(process: subprocess.Popen[bytes], output: Path, documents: int) -> None:
    """TERM in the middle of the second after so many documents."""
    while output.read_bytes().count(b'"fio version"') < documents:
        time.sleep(0.02)
    time.sleep(0.3)
    process.send_signal(signal.SIGTERM)


def record(directory: Path, name: str, before: list[str]) -> dict[str, object]:
    argv = ["fio", f"--name={name}", *RECORDINGS[name], *LIVE]
    paths = {stream: directory / f"{name}.{stream}" for stream in ("stdout", "stderr")}
    with paths["stdout"].open("wb") as stdout, paths["stderr"].open("wb") as stderr:
        process = subprocess.Popen([*before, *argv], stdout=stdout, stderr=stderr)
        if name in DOCUMENTS_BEFORE_STOP:
            arguments = (process, paths["stdout"], DOCUMENTS_BEFORE_STOP[name])
            threading.Thread(target=stop_after, args=arguments, daemon=True).start()
        status = process.wait()
    for path in paths.values():
        if not path.stat().st_size:
            path.unlink()
    print(name, status, file=sys.stderr)
    return {"argv": argv, "status": status}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("directory", type=Path)
    parser.add_argument("--root", type=Path, default=Path("/"))
    parser.add_argument("--only", nargs="*", default=list(RECORDINGS))
    chosen = parser.parse_args()
    before = [] if chosen.root == Path("/") else ["chroot", str(chosen.root)]
    scratch = chosen.root / "scratch"
    small = scratch / "small"
    small.mkdir(parents=True)
    (scratch / "test").write_bytes(bytes(64 << 20))
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4M", "tmpfs", small], check=True)
    chosen.directory.mkdir(parents=True, exist_ok=True)
    try:
        commands = {name: record(chosen.directory, name, before) for name in chosen.only}
    finally:
        subprocess.run(["umount", small], check=True)
        shutil.rmtree(scratch)
    (chosen.directory / "commands.json").write_text(json.dumps(commands, indent=1) + "\n")


if __name__ == "__main__":
    main()
