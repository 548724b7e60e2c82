"""Tools that print without end: neither the console's memory nor its disk is theirs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.end_to_end.sandbox import Console, Sandbox, light, read_samples, wait_for

MIB = 1 << 20
MEMORY_MOST = 200 * MIB
"""Three times what a run of a second takes."""
RAW_MOST = 100 * MIB
RUN = ["run", "read-iops", *light(2, numjobs=1, rate_iops=100), "--session", "flood", "--json"]
FLOODS = {
    "stderr": ("yes 'a line of an error' | head -c 170M >&2", ""),
    "stdout": ("yes 'a line of text' | head -c 170M", ""),
    "no newline": ("head -c 170M /dev/zero | tr '\\0' x", ""),
    "a document without an end": ("printf '{\"fio version\"'; head -c 170M /dev/zero | tr '\\0' x", ""),
    "stderr of the filling": ("", "yes 'a line of an error' | head -c 170M >&2"),
}


def most_memory(console: Console) -> int:
    """Bytes of RAM that it has had at most, up to now."""
    lines = Path(f"/proc/{console.process.pid}/status").read_text().splitlines()
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), 0)


@pytest.mark.parametrize("name", FLOODS)
def test_a_flood_takes_neither_memory_nor_disk(sandbox: Sandbox, name: str) -> None:
    measuring, filling = FLOODS[name]
    script = f"""case " $* " in
        *" --name=fill "*) {filling or ":"};;
        *" --status-interval="*) {measuring or ":"};;
        esac
        exec "$FIO" "$@" """
    console = sandbox.start(*RUN, env=sandbox.program("fio", script))
    memory = [0]

    def ended() -> bool:
        if console.process.poll() is None:
            memory.append(most_memory(console))
        return console.process.poll() is not None

    wait_for(ended, 120, "the end of the run", console.describe)
    assert console.process.returncode == 0, console.describe()
    assert max(memory) < MEMORY_MOST, f"{max(memory) / MIB:.0f} MiB"
    (run,) = console.runs
    raw = sandbox.session() / "001" / "raw"
    assert sum(path.stat().st_size for path in raw.iterdir()) < RAW_MOST
    (finding,) = [found["text"] for found in run["findings"] if found["code"] == "raw-cut"]
    process = "local.prepare" if filling else "local"
    stream = "stderr" if "stderr" in name else "stdout"
    assert f" {process}.{stream} " in finding
    left_out, _, tail = (raw / f"{process}.{stream}.tail").read_bytes().partition(b"\n")
    assert left_out.startswith(b"cephtui: ")
    assert int(left_out.split()[1]) > 100 * MIB
    assert len(tail) == 64 << 10
    # the figures are as if nothing had been cut, and what is stored can be played
    assert run["summary"]["read"]["ios"] > 100
    assert [event for event in console.events if event["event"] == "sample"] == read_samples(raw.parent)
    index = [json.loads(line) for line in (raw / f"{process}.index.jsonl").read_bytes().splitlines()]
    stored = [entry for entry in index if entry["stream"] == stream]
    assert stored[-1]["offset"] + stored[-1]["bytes"] == (raw / f"{process}.{stream}").stat().st_size
    sandbox.assert_clean()
