"""A machine on which the commands of the documentation are run: its own home, saved sessions, logs, nodes, a cluster.

Nodes are this machine, whatever their host is called; ``ceph`` and ``rbd`` on them answer as a recorded cluster did.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import select
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cephtui.models import Node
from cephtui.models.study import CHECK, Cell, CheckGoal, SavedStudy
from cephtui.nodes.local import LocalConnection
from cephtui.nodes.transport import COMMAND_SECONDS, Completed, Connection, Question
from cephtui.sessions import demo
from cephtui.sessions.changes import CHANGES_FILE, Ran
from cephtui.sessions.jsonlines import as_json
from cephtui.sessions.store import STUDIES_FILE
from cephtui.writing import write_whole
from tests import RECORDINGS, ROOT
from tests.support import two_copies
from tests.support.clusters import ANSWERS, COMMANDS

PROGRAMS = ROOT / "tests" / "documented_programs"

EXAMPLES = ROOT / "examples"
SESSIONS = ("tuning", "before", "today", "cluster-a", "cluster-b", "a", "b", "night", "knee",
            "2026-11-21-101530", "2026-11-22-090000")  # fmt: skip
"""Sessions of the reader's that the pages name: each is a recorded one, and of each something is left to measure.

Their first runs are three repeats, as a reader's would be.
"""
_FIRST = "first"
LEFT = "compression"
"""A session whose check was killed before it took its change back."""
FILES = {
    "fio-before.txt": "logs/fio-3.33-text.txt",
    "fio-before.json": "logs/fio-3.33-json.txt",
    "proxmox-rbd-fio.txt": "logs/fio-3.33-text.txt",
    "bench-2025/fio-osd1.json": "logs/fio-3.33-json.txt",
    "bench-2025/ioping.txt": "forms/ioping.txt",
    "bench/2025-04/fio.txt": "logs/fio-3.33-text.txt",
}
"""Logs of the reader's that the pages name, by what was recorded."""
JOB_FILE = """\
[global]
ioengine=libaio
direct=1
bs=4k
rw=randwrite
iodepth=32
runtime=60
time_based
[ssd-test]
filename=/dev/sdb
"""
_PROGRAM_PATHS = {"/usr/local/bin/hsbench": PROGRAMS / "hsbench", "/opt/gosbench": PROGRAMS / "gosbench"}
"""Where the programs are that the example of a config names."""
GOSBENCH = """\
s3_config:
  - access_key: EXAMPLE
    secret_key: EXAMPLE
    region: default
    endpoint: http://gw:7480
    skipSSLverify: false
tests:
  - name: Small objects
    read_weight: 50
    write_weight: 50
    objects: {size_min: 64, size_distribution: constant, unit: KB, number_min: 100, number_distribution: constant}
    buckets: {number_min: 1, number_distribution: constant}
    bucket_prefix: bench-
    object_prefix: obj
    stop_with_runtime: 60s
    workers: 1
    parallel_clients: 16
    clean_after: True
"""
_ADDRESSES = (("eth0", "10.77.0.{}", 24), ("eth1", "198.51.100.{}", 24))
"""Of each host, in the public network and in that of the OSDs."""
_AT = datetime(2026, 11, 21, 18, tzinfo=UTC)
_MEASURED: dict[str, Any] = {"target": "rbd:bench", "nodes": ("pve1",)}
_RUNS = SavedStudy(
    id="s1", at=_AT, cells=(Cell(step="latency", preset="latency", batch="left", repeats=2, **_MEASURED),)
)
_MORE = SavedStudy(
    id="s2", at=_AT, cells=(Cell(step="latency", preset="latency", batch="more", repeats=2, **_MEASURED),)
)
_GOAL = CheckGoal(before=("b1",), after=("a1",), before_runs=6, most=12, require_percent=-10, same_percent=10,
                  confidence=0.95, takes_turns=True, is_commanded=True)  # fmt: skip
_CHECK = SavedStudy(
    id="s2", at=_AT, kind=CHECK, cells=(Cell(step="write-iops", preset="write-iops", batch="b1", **_MEASURED),),
    goal=_GOAL.model_dump(),
)  # fmt: skip
_CHANGE = Ran(at=_AT, kind="change", command="ceph osd pool set bench compression_mode aggressive",
              undo="ceph osd pool set bench compression_mode none", status=0)  # fmt: skip
_HISTORY = "history() { echo '  1  fio -name=writes -rw=write -bs=4k -direct=1 -filename=/dev/sdx'; }"
_GIB = 1 << 30
Answer = tuple[int, str, str]
"""An exit code, output, errors."""
_SPACE = {"free": 900 * _GIB, "total": 999 * _GIB, "filesystem": "ext4"}
_SAID: Mapping[str, Mapping[str, object]] = {
    "cephtui-inspect": {"kind": "missing", "writable": "yes", "directory": "yes", "root": "yes", **_SPACE},
    "cephtui-device": {"kind": "device", "name": "vdb", "number": "254:16", "size": 64 * _GIB, "root": "yes",
                       "signatures": "", "claim": "free", "alias": "/dev/vdb"},
    "cephtui-cephfs": {"type": "ceph", "pool": "cephfs_data"},
    "cephtui-krbd-inspect": {"kernel": "6.8.12", "root": "yes", "module": "loaded", "features": "0x3d",
                             "udev": "yes", "mkfs": "yes"},
    "cephtui-guests": {"done": ""},
    "cephtui-images": {"images": 0, "looked": 0, "used": 0},
}  # fmt: skip
"""What the scripts of cephtui report of a path on a node."""
_ANSWERED: dict[tuple[str, ...], Completed] = {}
"""All machines are alike: what one has answered is not asked again."""


class DocumentedNode(LocalConnection):
    """This machine, which has every path and device that a page names, all of them unused."""

    async def run(self, argv: Sequence[str], *, timeout_seconds: float = COMMAND_SECONDS, stdin: str = "") -> Completed:
        """See Connection."""
        words = tuple(argv)
        name = words[words.index("-c") + 2] if "-c" in words[:-2] else ""
        if name == "cephtui-s3":
            return Completed(0, "<ListAllMyBucketsResult/>\n200\n", "")
        if name == "cephtui-host":
            return Completed(0, f"interfaces\t{json.dumps(self._interfaces())}\nport\t5201\n", "")
        if words[:2] == ("ip", "-j") and "to" in words:  # each host has addresses of its own
            return Completed(0, "[]", "")
        if name in _SAID:
            return Completed(0, "".join(f"{key}\t{value}\n" for key, value in _SAID[name].items()), "")
        if words not in _ANSWERED:
            _ANSWERED[words] = await super().run(argv, timeout_seconds=timeout_seconds, stdin=stdin)
        return _ANSWERED[words]

    def _interfaces(self) -> list[dict[str, Any]]:
        number = sum(self.node.name.encode()) % 200 + 1
        return [
            {"ifname": name, "addr_info": [{"scope": "global", "local": address.format(number), "prefixlen": bits}]}
            for name, address, bits in _ADDRESSES
        ]


async def connect(node: Node, answers: Mapping[str, str]) -> Connection | Question:
    """Any node, without asking."""
    return DocumentedNode(node)


@dataclass(frozen=True, slots=True)
class Machine:
    """Where the commands of one page are run, one after the other."""

    folder: Path

    @property
    def home(self) -> Path:
        """Of its user; the commands are run there."""
        return self.folder / "home"

    @property
    def environment(self) -> dict[str, str]:
        """Of its shell."""
        home = self.home
        return {
            "HOME": str(home),
            "PATH": f"{PROGRAMS}:{os.environ['PATH']}",
            "DOCUMENTED": str(self.folder),
            "CEPH_CONF": str(self.folder / "ceph.conf"),
            "CEPHTUI_DATA_DIR": str(home / "data"),
            **{f"XDG_{name}_HOME": str(home / f".{name.lower()}") for name in ("CONFIG", "DATA", "CACHE", "STATE")},
            "LC_ALL": "C.UTF-8",
            "TERM": "xterm-256color",
            "COLUMNS": "200",
        }

    def shell(self, line: str, answer: Callable[[list[str], str], Answer]) -> Answer:
        """Run a line in bash: each call of cephtui in it is ``answer`` of its arguments and its input."""
        asked = self.folder / "asked"
        argv = ["bash", "-c", f"{_HISTORY}\n{line}"]
        environment = {**os.environ, **self.environment}
        reader = os.open(asked, os.O_RDWR | os.O_NONBLOCK)
        output, errors = self.folder / "shell.out", self.folder / "shell.err"
        with (
            output.open("wb") as to,
            errors.open("wb") as to_errors,
            subprocess.Popen(
                argv,
                cwd=self.home,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=to,
                stderr=to_errors,
                start_new_session=True,
            ) as bash,
        ):
            try:
                while bash.poll() is None:
                    if select.select([reader], [], [], 0.005)[0]:
                        self._give(answer(_words(reader), (self.folder / "input").read_text()))
            except BaseException:
                os.killpg(bash.pid, signal.SIGKILL)
                raise
            finally:
                os.close(reader)
        return bash.returncode, output.read_text(), errors.read_text()

    def prepare(self, words: Sequence[str]) -> None:
        """Make what a command needs to be there, or not to be there yet."""
        sessions = self.home / "data" / "sessions"
        named = dict(itertools.pairwise(words))
        if "import" in words[:1] and "--session" in named:
            shutil.rmtree(sessions / named["--session"], ignore_errors=True)
        if "cleanup" in words[:1] and "--undo" in named:
            write_whole(sessions / named["--undo"] / CHANGES_FILE, as_json(_CHANGE))

    def forget(self) -> None:
        """Remove what commands have made: sessions and presets."""
        kept = {*SESSIONS, LEFT, demo.SESSION, *(path.name for path in (EXAMPLES / "presets").iterdir())}
        for folder in (self.home / "data" / "sessions", self.home / ".config" / "cephtui" / "presets"):
            for path in folder.iterdir():
                if path.name not in kept:
                    shutil.rmtree(path) if path.is_dir() else path.unlink()

    def _give(self, answer: Answer) -> None:
        code, output, errors = answer
        (self.folder / "output").write_text(output)
        (self.folder / "errors").write_text(errors)
        (self.folder / "answered").write_text(f"{code}\n")


def recorded_demo(folder: Path) -> Path:
    """The session that is to be copied."""
    return two_copies.unpack(folder)


def make(folder: Path, session: Path) -> Machine:
    """A machine with the reader's sessions, logs and config; ``session`` is what they are copied from."""
    machine = Machine(folder)
    sessions = machine.home / "data" / "sessions"
    sessions.mkdir(parents=True)
    for name in (*SESSIONS, LEFT):
        _copy_session(session, sessions / name)
    for name in SESSIONS:
        _repeat_first(sessions / name)
    for name in (*SESSIONS, LEFT):
        studies = [_RUNS, _CHECK] if name == LEFT else [_RUNS, _MORE]
        write_whole(sessions / name / STUDIES_FILE, "".join(f"{as_json(study)}\n" for study in studies))
    write_whole(sessions / LEFT / CHANGES_FILE, as_json(_CHANGE))
    for name, source in FILES.items():
        path = machine.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(RECORDINGS / source, path)
    for name in ("ssd-test", "mixed", "jobs"):
        (machine.home / f"{name}.fio").write_text(JOB_FILE.replace("ssd-test", name))
    written = (RECORDINGS / "rados-16.2" / "write.stdout").read_text()
    for name in ("rados-before.log", "rados-before.txt"):
        (machine.home / name).write_text(f"# rados bench -p bench 4 write -t 4 -b 262144\n{written}")
    (machine.home / "gosbench.yaml").write_text(GOSBENCH)
    _at_home(machine)
    _configure(machine)
    for name in ("asked", "answered"):
        os.mkfifo(folder / name)
    (folder / "ceph.conf").touch()
    (folder / "answers.json").write_text(json.dumps(_cluster()))
    return machine


def _at_home(machine: Machine) -> None:
    """What a clone and its lab have: the program in ``.venv``, and a config with the lab's hosts."""
    program = machine.home / ".venv" / "bin" / "cephtui"
    program.parent.mkdir(parents=True)
    program.symlink_to(PROGRAMS / "cephtui")
    config = machine.home / ".lab" / "config.toml"
    config.parent.mkdir()
    config.write_text('[nodes.lab1]\n[nodes.lab2]\n[nodes.lab3]\n[groups]\nlab = ["lab1", "lab2", "lab3"]\n')


def _copy_session(source: Path, folder: Path) -> None:
    shutil.copytree(source, folder, copy_function=os.link)
    described = json.loads((folder / "session.json").read_text()) | {"session": folder.name}
    (folder / "session.json").unlink()
    (folder / "session.json").write_text(json.dumps(described))


def _repeat_first(session: Path) -> None:
    """Let the runs 1 to 3 be as 7 to 9."""
    batch, plans = json.loads((session / "007" / "run.json").read_text())["batch"], session / "plans.jsonl"
    write_whole(plans, "".join(f"{line}\n{line.replace(batch, _FIRST)}\n" for line in plans.read_text().splitlines()))
    for number in range(1, 4):
        folder = session / f"{number:03}"
        shutil.rmtree(folder)
        shutil.copytree(session / f"{number + 6:03}", folder, copy_function=os.link)
        run = json.loads((folder / "run.json").read_text()) | {"run": number, "batch": _FIRST}
        write_whole(folder / "run.json", json.dumps(run))


def _configure(machine: Machine) -> None:
    """The examples are where their pages say that they belong."""
    shutil.copytree(EXAMPLES, machine.home / "examples")
    (machine.home / ".config" / "fish" / "completions").mkdir(parents=True)
    config = machine.home / ".config" / "cephtui"
    config.mkdir()
    text = (EXAMPLES / "config.toml").read_text()
    for named, there in _PROGRAM_PATHS.items():
        text = text.replace(f'"{named}"', f'"{there}"')
    (config / "config.toml").write_text(text)
    shutil.copy(EXAMPLES / "volumes.toml", machine.home)
    for kind in ("presets", "suites"):
        shutil.copytree(EXAMPLES / kind, config / kind)
    keys = machine.home / ".aws" / "credentials"
    keys.parent.mkdir()
    keys.write_text("[bench]\naws_access_key_id = EXAMPLE\naws_secret_access_key = EXAMPLE\n")
    keys.chmod(0o600)


def _cluster() -> dict[str, tuple[int, str, str]]:
    """What the cluster answers, by the command without its format."""
    answers: dict[str, tuple[int, str, str]] = {}
    for name, said in COMMANDS.items():
        if name.startswith(("healthy/", "images/plain.")):
            words = [word for word in said["argv"] if word not in ("-f", "json", "--format")]
            answers[" ".join(words)] = (said["status"], (ANSWERS / f"{name}.stdout").read_text(), said["stderr"])
    widened = {name: (0, _with_pools(answers[name][1]), "") for name in ("ceph osd dump", "ceph df detail")}
    roomy = {"ceph osd df": (0, _BYTES.sub(r"\g<0>000", answers["ceph osd df"][1]), "")}
    others = {
        "ceph osd tree": {
            "nodes": [*_BUCKETS, *({"id": osd, "type": "osd", "name": f"osd.{osd}"} for osd in range(9))]
        },
        "rbd config image list --pool rec --image plain": [
            {"name": "rbd_qos_iops_limit", "value": "8000", "source": "image"}
        ],
        "ceph tell osd.0 version": {"version": "16.2.15"},
        "ceph osd metadata": [{"id": osd, "hostname": "pve1", "devices": "sda"} for osd in range(3)],
    }
    return answers | widened | roomy | {name: (0, json.dumps(said), "") for name, said in others.items()}


_BUCKETS = (
    {"id": -1, "name": "default", "type": "root", "children": [-2, -3, -4]},
    *(
        {"id": -1 - at, "name": f"pve{at}", "type": "host", "children": [3 * at - 3 + n for n in range(3)]}
        for at in (1, 2, 3)
    ),
)
_BYTES = re.compile(r'"(?:kb|kb_avail|max_avail|avail_raw|total_bytes|total_avail_bytes)":\d+')
"""The recorded cluster is a small one: its room, a thousandfold."""
POOLS = ("ssd", "hdd", "vms", "volumes", "cephfs_data", "ec-data")
"""Pools that the pages name beside those of the recorded cluster."""


def _with_pools(text: str) -> str:
    text = text.replace('"cluster_addr":"10.77.0.', '"cluster_addr":"198.51.100.')
    known = json.loads(_BYTES.sub(r"\g<0>000", text))
    like = next(each for each in known["pools"] if "rec" in (each.get("pool_name"), each.get("name")))
    key, number = ("pool_name", "pool") if "pool_name" in like else ("name", "id")
    known["pools"] += [{**like, key: name, number: 100 + at} for at, name in enumerate(POOLS)]
    return json.dumps(known)


def _words(reader: int) -> list[str]:
    """The arguments of a call, behind how many they are."""
    received = b""
    while True:
        if select.select([reader], [], [], 0.005)[0]:
            received += os.read(reader, 1 << 16)
        count, zero, _ = received.partition(b"\0")
        if zero and received.count(b"\0") == int(count) + 1:
            return [word.decode() for word in received.split(b"\0")[1:-1]]
