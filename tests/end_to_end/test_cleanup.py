"""cephtui cleanup: removes what undo lists name, and runs none of their commands without consent."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from cephtui.nodes.local import LocalConnection
from cephtui.sessions.undo import Undo, pending
from cephtui.targets.file import create_argv
from tests.end_to_end.sandbox import Console, Sandbox, sets


def leave(sandbox: Sandbox, name: str, entries: Sequence[Mapping[str, object]]) -> Path:
    """A session copied from elsewhere."""
    directory = sandbox.data / "sessions" / name
    directory.mkdir(parents=True)
    (directory / "undo.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    return directory


def cleanup(sandbox: Sandbox, *words: str, code: int) -> Console:
    console = sandbox.run("cleanup", *words, env={"COLUMNS": "400"})
    assert console.process.returncode == code, console.describe()
    return console


async def test_nothing_of_a_list_is_run_unasked(sandbox: Sandbox, tmp_path: Path) -> None:
    file, trap = tmp_path / "file", tmp_path / "trap"
    proxy = tmp_path / "ssh_config"
    proxy.write_text(f"Host *\n  ProxyCommand touch {trap}\n")
    touch = ["sh", "-c", f'touch {trap}; exec "$@"', "sh"]
    made = await LocalConnection().run(create_argv(str(file), 4096, "copied-0f"))
    assert made.status == 0
    ways: list[dict[str, object]] = [
        {"node": "local", "at": {"name": "local", "prefix": touch}},
        {"node": "local", "at": {"name": "local", "ceph_prefix": touch}},
        {"node": "pve9", "at": {"name": "local", "host": "127.0.0.1", "ssh_config": str(proxy)}},
        {"node": "local", "at": {"name": "local", "host": "127.0.0.1", "ssh_config": str(proxy)}},
        {"node": "-oProxyCommand=touch x", "at": {"name": "x", "host": f"-oProxyCommand=touch {trap}"}},
    ]
    entries = [{**way, "target": f"file:{file}{number}", "owner": "copied-0f"} for number, way in enumerate(ways)]
    directory = leave(sandbox, "copied", entries)
    left = pending(directory)
    assert len(left) == len(ways)

    shown = cleanup(sandbox, "--dry-run", code=0).stdout
    assert shown.count(f"file:{file}") == len(ways)
    assert json.dumps(touch) in shown
    assert f'host="127.0.0.1" ssh_config="{proxy}"' in shown
    refused = cleanup(sandbox, "--yes", code=3).stderr
    assert refused.count("--node") == len(ways) - 1
    assert "host or user" in refused
    assert sandbox.run("run", "write-iops", *sets(size="1M", numjobs=1, runtime=1, ramp_time=0)).process.returncode == 0
    assert not trap.exists()
    # a file's prefix is not that of Ceph: that entry was of this very machine, where there is no such file
    assert pending(directory) == [left[0], *left[2:]]

    (directory / "undo.jsonl").write_text(json.dumps(entries[0]) + "\n")
    agreed = cleanup(sandbox, "--yes", "--as-listed", code=0).stderr
    assert f"local: removed file:{file}0" in agreed
    assert trap.exists()
    assert file.exists()
    assert pending(directory) == []


def test_a_list_that_cannot_be_read_is_no_empty_one(sandbox: Sandbox) -> None:
    for name, make in (("fifo", os.mkfifo), ("loop", lambda path: path.symlink_to(path)), ("folder", os.mkdir)):
        path = leave(sandbox, name, []) / "undo.jsonl"
        path.unlink()
        make(path)
    for words in ((), ("--dry-run",), ("--yes",)):
        said = cleanup(sandbox, *words, code=1)
        assert len(said.stdout.splitlines()) == 1
        assert sorted(line.partition("/undo.jsonl: ")[0].rpartition("/")[2] for line in said.complaints) == [
            *("fifo", "folder", "loop")
        ]
        assert "fifo/undo.jsonl: a FIFO" in said.stderr
    leave(sandbox, "killed", [{"node": "local", "target": f"file:{sandbox.files}/none", "owner": "killed-0f"}])
    assert f"local: removed file:{sandbox.files}/none" in cleanup(sandbox, "--yes", code=1).stderr


async def test_what_is_somebodys_is_said_and_stays(sandbox: Sandbox, tmp_path: Path) -> None:
    theirs, ours, other = (tmp_path / name for name in ("theirs", "ours", "other"))
    theirs.write_text("precious")
    for path, owner in ((ours, "killed-0f"), (other, "another-0f")):
        assert (await LocalConnection().run(create_argv(str(path), 4096, owner))).status == 0
    targets = [f"file:{path}" for path in (theirs, ours, other)]
    targets += ["rbd:bench/vm-100-disk-0", "pool:bench", "file:/etc/passwd", "file:/x\n\x1b[2J"]
    entries = [Undo(node="local", target=target, owner="killed-0f") for target in targets]
    directory = leave(sandbox, "killed", [entry.model_dump(mode="json") for entry in entries])

    console = cleanup(sandbox, "--yes", code=1)

    assert f"removed file:{ours}" in console.stderr
    for path in (other, theirs):
        assert f"{path} " in console.stderr
        assert f"removed file:{path}" not in console.stderr
    assert "\x1b" not in console.stdout + console.stderr
    assert (theirs.read_text(), other.exists(), ours.exists()) == ("precious", True, False)
    assert pending(directory) == []
    assert cleanup(sandbox, "--yes", code=0).complaints == []


def test_a_long_list_is_short_to_read(sandbox: Sandbox) -> None:
    entries = [{"node": "local", "target": f"device:/dev/{number}"} for number in range(3000)]
    leave(sandbox, "long", entries)
    shown = cleanup(sandbox, "--dry-run", code=0).stdout
    assert len(shown.splitlines()) < 250
    assert "and 2800 more" in shown
