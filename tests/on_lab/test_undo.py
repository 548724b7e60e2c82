"""What was made is on a list before it is made, and goes again: at the end, after a stop, after a kill."""

from __future__ import annotations

import json
import os
import signal
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from cephtui.sessions.undo import Undo
from tests.lab import Lab
from tests.on_lab.others import SMALL, Others, still
from tests.on_lab.runs import ENDLESS, Bench, Console, sets, wait_for

LONG: dict[str, Any] = {**SMALL, "runtime": ENDLESS}
FEW: dict[str, Any] = {"block-size": "4K", "concurrent-ios": 1}
"""Of rados bench: little is written, however long it takes."""


def listed(bench: Bench) -> dict[str, bool]:
    """What is on the lists of all sessions, and whether it is done."""
    lines = [
        line for path in bench.sandbox.data.glob("sessions/*/undo.jsonl") for line in path.read_text().splitlines()
    ]
    return {undo.target: undo.done for undo in map(Undo.model_validate_json, lines)}


def own_images(lab: Lab, pool: str, others: Others | None = None) -> set[str]:
    """Images that are not those of others."""
    theirs = {line.split()[1] for line in others.before if line.startswith("image ")} if others else set()
    return set(lab.rbd("ls", pool).split()) - theirs


def shown_by(bench: Bench, *words: str) -> str:
    """What cleanup prints, in one line as wide as it likes to be."""
    console = bench.cleanup(*words, env={"COLUMNS": "400"})
    assert console.process.returncode == 0, console.describe()
    return console.stdout + console.stderr


def assert_nothing_to_clean(bench: Bench) -> None:
    for words in ([], ["--dry-run"], ["--yes"]):
        assert len(shown_by(bench, *words).splitlines()) == 1


def running(lab: Lab) -> dict[str, list[str]]:
    """The commands that run on each host."""
    return {node: sorted(lab.processes(machine=node).values()) for node in lab.nodes}


# --- Before --------------------------------------------------------------------------------------

_GATE = """\
#!/bin/bash
# lets everything pass but what is to make something: that waits
case "$*" in *'{what}'*)
    touch '{folder}/reached'
    until [ -e '{folder}/open' ]; do sleep 0.1; done
esac
exec "$@"
"""


def gate(folder: Path, what: str) -> Path:
    """The folder, with a prefix in it that holds back the command that makes something."""
    folder.mkdir()
    script = folder / "gate"
    script.write_text(_GATE.format(what=what, folder=folder))
    script.chmod(0o755)
    return folder


@pytest.fixture
def gates_folder(bench: Bench) -> Iterator[Path]:
    """A folder that every host sees."""
    with tempfile.TemporaryDirectory(prefix="gates-", dir=bench.lab.directory) as folder:
        yield Path(folder)


@pytest.mark.essential
def test_what_is_to_be_made_is_on_the_list_before_it_is_there(
    bench: Bench, pool: str, others: Others, gates_folder: Path
) -> None:
    """With the console killed in between: what is made all the same is found by the list."""
    lab = bench.lab
    gates = {
        "lab1": gate(gates_folder / "image", "rbd create"),
        "lab2": gate(gates_folder / "objects", "rados --id admin"),
        "lab3": gate(gates_folder / "file", "cephtui-create"),
    }
    by = {"lab1": "ceph_prefix", "lab2": "ceph_prefix", "lab3": "prefix"}
    bench.configure(**{node: {by[node]: [str(folder / "gate")]} for node, folder in gates.items()})
    path = "/var/tmp/cephtui-gated"
    consoles = [
        bench.start("write-iops", on=["lab1"], target=f"rbd:{pool}", words=["--shared-pool"], **LONG),
        bench.start("rados-write", on=["lab2"], target=f"pool:{pool}", words=["--shared-pool"], runtime=ENDLESS, **FEW),
        bench.start("write-iops", on=["lab3"], target=f"file:{path}", **LONG),
    ]
    for console, folder in zip(consoles, gates.values(), strict=True):
        console.wait_for((folder / "reached").exists, 60, f"{folder.name} reached")

    found = listed(bench)
    assert not any(found.values())
    (image,) = [target for target in found if target.startswith(f"rbd:{pool}/cephtui-")]
    (namespace,) = [target for target in found if target.startswith(f"pool:{pool}/cephtui-")]
    assert set(found) == {image, namespace, f"file:{path}"}
    others.assert_unchanged()
    assert not lab.outside("lab3", path).exists()
    for console in consoles:
        console.process.kill()
        console.wait()
    for folder in gates.values():
        (folder / "open").touch()
    wait_for(lambda: own_images(lab, pool, others), 30, "an image that nobody waits for any more")
    wait_for(lambda: not lab.processes("cephtui-create", "lab3"), 30, "the end of what makes a file")
    bench.wait_nothing_runs()

    text = shown_by(bench, "--dry-run")
    assert [target for target in found if target not in text] == []
    assert own_images(lab, pool, others)  # only listed
    shown_by(bench, "--yes")

    others.assert_unchanged()
    assert not lab.outside("lab3", path).exists()
    assert all(listed(bench).values())
    assert_nothing_to_clean(bench)


# --- After a kill --------------------------------------------------------------------------------


def test_cleanup_waits_for_the_watch_of_a_dead_client(bench: Bench, pool: str, others: Others) -> None:
    lab = bench.lab
    console = bench.start("write-iops", target=f"rbd:{pool}", words=["--shared-pool"], **{**LONG, "numjobs": 2})
    console.wait_for_samples(2, seconds=90)
    made = {f"rbd:{pool}/{name}" for name in own_images(lab, pool, others)}
    assert len(made) == 2
    # what a living console uses is nobody's to remove
    assert_nothing_to_clean(bench)
    assert not console.process.poll()

    fio = [pid for pid, command in lab.processes(machine="lab1").items() if command.startswith("fio ")]
    assert fio
    for pid in [console.process.pid, *fio]:
        os.kill(pid, signal.SIGKILL)
    console.wait()
    # at once: it is gone after 30 s, which a busy machine may take for the next steps
    assert "watcher=" in lab.rbd("status", sorted(made)[0].removeprefix("rbd:"))
    text = shown_by(bench, "--dry-run")
    assert {word for word in text.split() if word.startswith("rbd:")} == made
    assert {f"rbd:{pool}/{name}" for name in own_images(lab, pool, others)} == made
    # without a terminal it wants to be told
    assert bench.cleanup().process.returncode == 3

    text = shown_by(bench, "--yes")

    assert [target for target in made if f"removed {target}" not in text] == []
    bench.wait_nothing_runs()
    others.assert_unchanged()
    assert listed(bench) == dict.fromkeys(made, True)
    assert_nothing_to_clean(bench)
    # and the session has what was measured until then
    shown = json.loads(bench.cephtui("sessions", "--json").stdout)
    assert shown["outcomes"] == {"lost": 1}


@pytest.mark.essential
def test_cleanup_right_after_a_kill_removes_objects_and_files(bench: Bench, pool: str, others: Others) -> None:
    lab = bench.lab
    mine, path = lab.outside("lab2", "/var/tmp/cephtui-not-mine"), "/var/tmp/cephtui-target"
    mine.write_bytes(b"somebody's" * 1000)
    before = running(lab)
    consoles = [
        bench.start("rados-write", on=["lab1"], target=f"pool:{pool}", words=["--shared-pool"], runtime=ENDLESS, **FEW),
        bench.start("write-iops", on=["lab2"], target=f"file:{path}", **LONG),
    ]
    for console in consoles:
        console.wait_for_samples(2, seconds=90)
    objects = {line.split("\t")[0] for line in lab.rados("--pool", pool, "ls", "--all").splitlines()}
    (namespace,) = {name for name in objects if name.startswith("cephtui-")} - {"cephtui-0badcafe-lab1"}
    made = {f"pool:{pool}/{namespace}", f"file:{path}"}
    assert listed(bench) == dict.fromkeys(made, False)
    for console in consoles:
        console.process.kill()
    for console in consoles:
        console.wait()

    text = shown_by(bench, "--yes")

    assert [target for target in made if f"removed {target}" not in text] == []
    others.assert_unchanged()
    assert not lab.outside("lab2", path).exists()
    assert mine.read_bytes() == b"somebody's" * 1000
    mine.unlink()
    assert_nothing_to_clean(bench)
    bench.wait_nothing_runs()
    wait_for(lambda: running(lab) == before, 30, "the processes of before", lambda: str(running(lab)))


# --- Without a kill ------------------------------------------------------------------------------


def test_nothing_is_left_by_any_kind_of_run_to_its_end_or_to_a_stop(bench: Bench, pool: str, others: Others) -> None:
    lab = bench.lab
    before = running(lab)
    few = {"size": "8M", "numjobs": 2, "ramp_time": 0}
    kinds: dict[str, tuple[str, str, Mapping[str, object]]] = {
        "images": ("write-iops", f"rbd:{pool}", few),
        "objects": ("rados-write", f"pool:{pool}", FEW),
        "file": ("mixed-75-25", "file:/var/tmp/cephtui-target", few),
        "filling": ("write-throughput", f"rbd:{pool}", {"size": "2G", "numjobs": 1}),
        "in order": ("rados-seq", f"pool:{pool}", {"block-size": "1M"}),
        "at random": ("rados-rand", f"pool:{pool}", {"block-size": "512K"}),
        "theirs": ("read-iops", f"rbd:{pool}/data", few),
    }

    def start(kind: str, node: str, runtime: int) -> Console:
        preset, target, options = kinds[kind]
        words = ["--shared-pool", *sets(**options)]
        return bench.start(preset, on=[node], target=target, words=words, runtime=runtime)

    def to_the_end(*names: str) -> None:
        for console in [start(kind, node, 2) for kind, node in zip(names, lab.nodes, strict=False)]:
            assert console.wait() == 0, console.describe()
        others.assert_unchanged()

    def stopped(*names: str) -> None:
        consoles = {kind: start(kind, node, ENDLESS) for kind, node in zip(names, lab.nodes, strict=False)}
        for kind, console in consoles.items():
            phase = "prepare" if kind == "filling" else "run"
            console.wait_for_samples(1, phase, seconds=90)
            console.process.send_signal(signal.SIGINT)
        for console in consoles.values():
            assert console.wait() == 4, console.describe()
            assert console.runs[0]["outcome"] == "stopped"
        others.assert_unchanged()

    def stored() -> int:
        (found,) = [one for one in lab.ceph("df", "detail")["pools"] if one["name"] == pool]
        return int(found["stats"]["stored"])

    def wait_counted() -> None:
        """What was removed is counted as stored some seconds later, and for some more."""
        wait_for(
            lambda: still(lambda: stored() < 64 << 20, 8),
            180,
            f"the end of what {pool} had stored",
            lambda: str(stored()),
        )

    to_the_end("images", "objects", "file")
    stopped("images", "objects", "file")
    stopped("filling")
    wait_counted()
    # so that what is filled for reading is little: it is as much as the run needs and there is room for
    lab.ceph("osd", "pool", "set-quota", pool, "max_bytes", str(300 << 20))
    to_the_end("in order", "theirs")
    wait_counted()
    to_the_end("at random")
    wait_counted()
    stopped("at random", "theirs")

    wait_for(lambda: running(lab) == before, 30, "the processes of before", lambda: str(running(lab)))
    assert all(listed(bench).values())
    assert_nothing_to_clean(bench)
    assert not list(lab.outside("lab3", "/var/tmp").glob("cephtui-*"))
