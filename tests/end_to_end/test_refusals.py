"""Guards and bad input: the exit code, one line that says what to do, and nothing written.

All of them are tried side by side, each in a sandbox of its own.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from cephtui.paths import packaged_presets_dir
from cephtui.sessions.listing import list_sessions
from tests.end_to_end.conftest import Mount, NewSandbox
from tests.end_to_end.sandbox import FIO, Console, Sandbox, sets, wait_for

SHORT = sets(runtime=1, ramp_time=0, size="1M")
USAGE, REFUSED = 2, 3


@dataclass
class Case:
    """Something that must not work; ``{files}`` and the like in its arguments are the sandbox's folders."""

    args: list[str]
    code: int
    says: list[str]
    prepare: Callable[[Sandbox], object] = lambda sandbox: None
    env: dict[str, str | None] = field(default_factory=dict)


def run(*args: str, preset: str = "write-iops") -> list[str]:
    """A short run's command line."""
    return ["run", preset, *SHORT, *args, "--json"]


def on(target: str) -> list[str]:
    """The same on a target."""
    return run("--target", target)


def user_preset(text: str) -> Callable[[Sandbox], object]:
    """A preset of the user's own, named ``mine``."""

    def write(sandbox: Sandbox) -> None:
        path = sandbox.config / "cephtui" / "presets" / "mine.toml"
        path.parent.mkdir(parents=True)
        path.write_text(text)

    return write


OPTIONS = 'title = "Mine"\n[options]\nrw = "randread"\nruntime = 1\n'


def foreign(sandbox: Sandbox) -> None:
    """Somebody's file."""
    (sandbox.files / "theirs").write_bytes(os.urandom(100_000))


def loop_device() -> str | None:
    """A block device that may be named, since it is never opened for writing."""
    devices = sorted(path for path in Path("/dev").glob("[lsv][od][oa]*") if path.is_block_device())
    return str(devices[0]) if devices else None


def without_fio(sandbox: Sandbox) -> None:
    """Every program but fio."""
    folder = sandbox.root / "bin"
    folder.mkdir()
    for source in map(Path, os.environ["PATH"].split(":")):
        for program in source.iterdir() if source.is_dir() else ():
            if program.name != "fio" and not (folder / program.name).exists():
                (folder / program.name).symlink_to(program)


def old_fio(sandbox: Sandbox) -> None:
    """A fio that is too old."""
    folder = sandbox.root / "bin"
    folder.mkdir()
    (folder / "fio").write_text("#!/bin/sh\necho fio-2.1\n")
    (folder / "fio").chmod(0o755)


CASES: dict[str, Case] = {
    # ------------------------------------------------------------------ usage
    "unknown preset": Case(run(preset="write-iop"), USAGE, ["'write-iop'", "write-iops?"]),
    "no such preset": Case(run(preset="x"), USAGE, ["'x'", "cephtui presets"]),
    "no preset": Case(["run"], USAGE, ["PRESET is missing"]),
    "unknown option": Case(run("--set", "iodeph=4"), USAGE, ["iodeph", "iodepth?"]),
    "bad value": Case(run("--set", "iodepth=many"), USAGE, ["iodepth", "many"]),
    "bad size": Case(run("--set", "size=-1M"), USAGE, ["size", "-1M"]),
    "bad runtime": Case(run("--set", "runtime=0"), USAGE, ["runtime"]),
    "size below a block": Case(run("--set", "size=1k"), USAGE, ["size", "4k"]),
    "no value": Case(run("--set", "iodepth"), USAGE, ["iodepth", "OPTION=VALUE"]),
    "too long a sweep": Case(run("--set", f"iodepth={','.join(map(str, range(1, 300)))}"), USAGE, ["299 steps"]),
    "a command": Case(run("--set", "exec_prerun=touch {files}/ran"), USAGE, ["exec_prerun"]),
    "an own output": Case(run("--set", "output={files}/out"), USAGE, ["output"]),
    "an own log": Case(run("--set", "write_bw_log={files}/log"), USAGE, ["write_bw_log"]),
    "an own file": Case(run("--set", "filename={files}/other"), USAGE, ["filename", "--target"]),
    "a mounted device": Case(run("--set", "allow_mounted_write=1"), USAGE, ["allow_mounted_write"]),
    "another tool's engine": Case(run("--set", "ioengine=rbd"), USAGE, ["ioengine", "rbd"]),
    "a command in a preset": Case(
        run(preset="mine"),
        USAGE,
        ["mine.toml", "options.exec_prerun"],
        user_preset(OPTIONS + 'exec_prerun = "touch {files}/ran"\n'),
    ),
    "a bad value in a preset": Case(
        run(preset="mine"), USAGE, ["mine.toml", "options.iodepth", "'deep'"], user_preset(OPTIONS + 'iodepth = "deep"')
    ),
    "an unknown key in a preset": Case(
        run(preset="mine"), USAGE, ["mine.toml", "colour: "], user_preset('colour = "red"\n' + OPTIONS)
    ),
    "a preset that is no TOML": Case(run(preset="mine"), USAGE, ["mine.toml", "TOML"], user_preset("= 1")),
    "no node": Case(run("--node", "pve1:port"), USAGE, ["'pve1:port'", "[USER@]HOST[:PORT]"]),
    "no target on a node": Case(run("--node", "pve1"), USAGE, ["--target", "pve1", "rbd:POOL"]),
    "unknown target": Case(on("tape:pool/image"), USAGE, ["'tape:pool/image'", "file:PATH"]),
    "image in a namespace": Case(on("rbd:pool/space/image"), USAGE, ["'rbd:pool/space/image'", "rbd:POOL/IMAGE"]),
    "target without a path": Case(on("file:"), USAGE, ["'file:'", "file:PATH"]),
    "target that fio would cut": Case(on("file:{files}/a;b"), USAGE, ["a;b"]),
    "target that fio would strip": Case(on("file:{files}/a "), USAGE, ["{files}/a "]),
    "target that is no text": Case(on(os.fsdecode(b"file:{files}/\xff")), USAGE, ["UTF-8"]),
    "target of two lines": Case(on("file:{files}/a\nb"), USAGE, [r"{files}/a\nb"]),
    "bad session name": Case(run("--session", "../x"), USAGE, ["'../x'"]),
    "bad repeat": Case(run("--repeat", "0"), USAGE, ["--repeat"]),
    "no session yet": Case(["show", "none"], USAGE, ["cephtui run"]),
    "unknown command": Case(["runn"], USAGE, ["runn"]),
    "no terminal": Case([], USAGE, ["cephtui run PRESET"]),
    # ------------------------------------------------------------------ targets
    "missing directory": Case(on("file:{files}/none/x"), REFUSED, ["{files}/none"]),
    "a directory": Case(on("file:{files}"), REFUSED, ["{files} ", "directory"]),
    "a fifo": Case(on("file:{files}/p"), REFUSED, ["{files}/p ", "fifo"], lambda s: os.mkfifo(s.files / "p")),
    "a character device": Case(on("file:/dev/null"), REFUSED, ["/dev/null ", "character special file"]),
    "a block device": Case(on(f"file:{loop_device()}"), REFUSED, [f"{loop_device()} ", "block special file"]),
    "a dangling link": Case(
        on("file:{files}/link"), REFUSED, ["symbolic link"], lambda s: (s.files / "link").symlink_to("nowhere")
    ),
    "somebody's file": Case(on("file:{files}/theirs"), REFUSED, ["97.7 KiB", "--destroy theirs"], foreign),
    "somebody's file by another name": Case(
        run("--target", "file:{files}/theirs", "--destroy", "their"), REFUSED, ["--destroy theirs"], foreign
    ),
    "not enough space": Case(
        run("--set", f"size={shutil.disk_usage('/var/tmp').total}"),
        REFUSED,
        ["free space", "needs ", "size x numjobs"],
    ),
    "a cache that fio would cut": Case(run(), USAGE, ["{root}/a;b"], env={"XDG_CACHE_HOME": "{root}/a;b"}),
    "far too large": Case(run("--set", "size=999T"), REFUSED, ["free space", "7.80 PiB (size x numjobs)", "a smaller"]),
    "fio missing": Case(run(), REFUSED, ["apt-get install fio"], without_fio, {"PATH": "{root}/bin"}),
    "fio too old": Case(run(), REFUSED, ["fio-2.1 ", "3."], old_fio, {"PATH": "{root}/bin:/usr/bin:/bin"}),
    # ------------------------------------------------------------------ places
    "data in a file's place": Case(run(), REFUSED, ["data"], lambda s: s.data.write_text("")),
    "cache in a file's place": Case(run(), REFUSED, ["--target"], lambda s: (s.cache / "cephtui").write_text("")),
}
if loop_device() is None:
    del CASES["a block device"]


def filled_in(text: str, sandbox: Sandbox) -> str:
    """The sandbox's folders in place of their names."""
    return text.replace("{files}", str(sandbox.files)).replace("{root}", str(sandbox.root))


def tree(sandbox: Sandbox) -> dict[str, str]:
    """Everything where targets, presets and scratch files are, with its content."""
    found = {}
    for path in (path for folder in (sandbox.files, sandbox.config, sandbox.cache) for path in folder.rglob("*")):
        regular = path.is_file() and not path.is_symlink()
        found[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest() if regular else str(path.lstat().st_mode)
    if (sandbox.cache / "cephtui").is_dir():
        del found[str(sandbox.cache / "cephtui")]  # kept for the next scratch file
    return found


@pytest.fixture(scope="module")
def refused(new_sandbox: NewSandbox) -> dict[str, tuple[Console, dict[str, str]]]:
    """Every case after its end, and the files from before."""
    tried = {}
    for name, case in CASES.items():
        sandbox = new_sandbox()
        case.prepare(sandbox)
        before = tree(sandbox)
        env = {k: v and filled_in(v, sandbox) for k, v in case.env.items()}
        tried[name] = sandbox.start(*(filled_in(arg, sandbox) for arg in case.args), env=env), before
        while sum(console.process.poll() is None for console, _ in tried.values()) >= 6:
            time.sleep(0.02)
    for console, _ in tried.values():
        console.wait()
    return tried


@pytest.mark.parametrize("name", [*CASES])
def test_it_is_one_line_that_says_what_to_do(refused: dict[str, tuple[Console, dict[str, str]]], name: str) -> None:
    console, _ = refused[name]
    case = CASES[name]
    assert console.process.returncode == case.code, console.describe()
    assert len(console.complaints) == 1, console.describe()
    assert console.complaints[0].startswith("cephtui: "), console.describe()
    for part in case.says:
        assert filled_in(part, console.sandbox) in console.stderr


@pytest.mark.parametrize("name", [*CASES])
def test_nothing_is_written(refused: dict[str, tuple[Console, dict[str, str]]], name: str) -> None:
    console, before = refused[name]
    assert tree(console.sandbox) == before
    console.sandbox.wait_gone()
    if CASES[name].code == USAGE:
        assert console.stdout == "", "an error of usage comes before the plan"
        assert not console.sandbox.data.exists()


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.code == REFUSED and "place" not in name])
def test_a_refused_run_leaves_no_session_and_the_log_says_why(
    refused: dict[str, tuple[Console, dict[str, str]]], name: str
) -> None:
    console, _ = refused[name]
    log = console.sandbox.log
    for run in console.runs:
        assert run["outcome"] == "refused"
        assert " ".join(run["error"].split()) in console.stderr
        assert " ".join(run["error"].split()) in log
    assert ("is not kept" if console.runs else f"exit code {REFUSED}: ") in log
    assert list_sessions(console.sandbox.data / "sessions") == []


def test_a_named_session_that_had_runs_keeps_a_refused_one(new_sandbox: NewSandbox) -> None:
    sandbox = new_sandbox()
    foreign(sandbox)
    assert sandbox.run(*run("--session", "S")).process.returncode == 0
    assert sandbox.run(*run("--session", "S", "--target", f"file:{sandbox.files}/theirs")).process.returncode == REFUSED
    (row,) = list_sessions(sandbox.data / "sessions")
    assert (row.session, row.outcomes) == ("S", {"ok": 1, "refused": 1})


def test_a_kill_before_anything_was_measured_leaves_no_session(new_sandbox: NewSandbox) -> None:
    """Between the kill and the next start its files may be there; it is no session then either."""
    sandbox = new_sandbox()
    env = sandbox.program("fio", 'case "$*" in --version) exec "$FIO" --version;; esac; exec sleep 60')
    console = sandbox.start(*run("--set", "runtime=30"), env=env)
    root = sandbox.data / "sessions"
    wait_for(lambda: [*root.glob("*/001/run.json")], 30, "a run", console.describe)
    console.process.kill()
    console.wait()
    assert list_sessions(root) == []
    sandbox.wait_gone()
    assert sandbox.run(*run()).process.returncode == 0
    assert [row.outcomes for row in list_sessions(root)] == [{"ok": 1}]
    assert len([*root.glob("*/session.json")]) == 1


def test_a_broken_preset_is_listed_among_the_others(new_sandbox: NewSandbox) -> None:
    sandbox = new_sandbox()
    user_preset(OPTIONS + "exec_prerun = 'x'")(sandbox)
    console = sandbox.run("presets", "--json")
    assert console.process.returncode == 0, console.describe()
    rows = {row["preset"]: row for row in console.events if row["event"] == "preset"}
    assert len(rows) == len([*packaged_presets_dir().glob("*.toml")]) + 1
    assert "exec_prerun" in rows["mine"]["error"]
    assert not rows["latency"]["error"]


def test_a_given_up_file_is_used_and_stays(new_sandbox: NewSandbox) -> None:
    sandbox = new_sandbox()
    foreign(sandbox)
    before = (sandbox.files / "theirs").read_bytes()
    command = run("--target", f"file:{sandbox.files}/theirs", "--destroy", "theirs", preset="read-iops")
    console = sandbox.run(*command)
    assert console.process.returncode == 0, console.describe()
    assert console.events[0]["destroy"] == ["theirs"]
    assert console.runs[0]["outcome"] == "ok"
    after = (sandbox.files / "theirs").read_bytes()
    assert after[: len(before)] != before, "its contents were given up, and are what is read"
    assert sandbox.left() == [str(sandbox.files / "theirs")]


def test_a_broken_session_is_named_and_the_rest_is_listed(new_sandbox: NewSandbox) -> None:
    sandbox = new_sandbox()
    quick = run("--set", "rate_iops=20", "--set", "numjobs=1", preset="read-iops")
    for name in ("one", "two", "three"):
        assert sandbox.run(*quick, "--session", name, "--dry-run").process.returncode == 0
    assert sandbox.run(*quick, "--session", "one").process.returncode == 0
    for name in ("two", "three"):
        shutil.copytree(sandbox.session("one"), sandbox.session(name))
    (sandbox.session("two") / "001" / "run.json").write_text('{"event": "run"')
    (sandbox.session("three") / "session.json").unlink()
    listed = sandbox.run("sessions", "--json")
    assert listed.process.returncode == 0, listed.describe()
    errors = {row["session"]: row["error"] for row in listed.events}
    assert errors["one"] is None
    assert "two/001/run.json" in errors["two"]
    assert "three/session.json" in errors["three"]
    table = sandbox.run("sessions").stdout
    assert "one" in table
    assert "broken" in table
    shown = sandbox.run("show", "two")
    assert shown.process.returncode == 1
    assert shown.stderr.startswith("cephtui: ")
    assert "two/001/run.json" in shown.stderr
    assert shown.stderr.count("\n") == 1


@pytest.mark.parametrize("extra", [[], ["--json"]])
def test_a_dry_run_creates_nothing(new_sandbox: NewSandbox, extra: list[str]) -> None:
    sandbox = new_sandbox()
    log = sandbox.root / "bin-log"
    env = sandbox.program("fio", f'echo "$*" >> {log}; exec "$FIO" "$@"')
    target = sandbox.files / "target"
    for where in ([], ["--target", f"file:{target}"]):
        command = ["run", "write-iops", "latency", *sets(runtime=1, size="1M"), *where, "--dry-run", *extra]
        console = sandbox.run(*command, env=env)
        assert console.process.returncode == 0, console.describe()
        assert console.complaints == []
        assert "--rw=randwrite" in console.stdout
        if extra:
            (plan,) = console.events
            assert len(plan["steps"]) == 3
        else:
            assert "3 runs take about" in console.stdout
            assert "writes" in console.stdout
    assert set(log.read_text().splitlines()) == {"--version"}, "fio was run"
    assert not sandbox.left()
    assert not sandbox.data.exists()


def test_a_dry_run_tells_what_would_be_refused(new_sandbox: NewSandbox) -> None:
    sandbox = new_sandbox()
    foreign(sandbox)
    console = sandbox.run(*run("--target", f"file:{sandbox.files}/theirs", "--dry-run"))
    assert console.process.returncode == REFUSED, console.describe()
    assert "--destroy theirs" in console.stderr
    assert len(console.complaints) == 1
    assert [event["event"] for event in console.events] == ["plan"]


# ---------------------------------------------------------------------------------------------- small and read-only


def test_a_target_on_a_read_only_place(sandbox: Sandbox, mounted: Mount) -> None:
    target = mounted("ro,size=1m") / "target"
    console = sandbox.run(*on(f"file:{target}"))
    assert console.process.returncode == REFUSED, console.describe()
    assert console.complaints == [
        f"cephtui: write-iops #1 refused: {target} can't be written: "
        "check its permissions and that the file system is writable"
    ]


def test_too_little_free_space_is_told_with_the_figures(sandbox: Sandbox, mounted: Mount) -> None:
    folder = mounted("size=20m")
    console = sandbox.run(*run("--target", f"file:{folder}/target", "--set", "size=4M"))
    assert console.process.returncode == REFUSED, console.describe()
    for figure in ("32.0 MiB", "20.0 MiB free", "1.00 MiB"):
        assert figure in console.stderr, console.describe()
    assert not list(folder.iterdir())


def test_data_in_a_read_only_place(sandbox: Sandbox, mounted: Mount) -> None:
    console = sandbox.run(*run(), env={"CEPHTUI_DATA_DIR": str(mounted("ro,size=1m"))})
    assert console.process.returncode == REFUSED, console.describe()
    (line,) = console.complaints
    assert "Read-only file system" in line
    sandbox.assert_clean()


def test_a_home_that_can_not_be_written_does_not_matter(sandbox: Sandbox, mounted: Mount) -> None:
    """Where data and target are elsewhere; the log is given up."""
    home = str(mounted("ro,size=1m"))
    env = {"HOME": home, "XDG_CACHE_HOME": None, "XDG_CONFIG_HOME": None, "XDG_STATE_HOME": None}
    console = sandbox.run(*run("--target", f"file:{sandbox.files}/target", preset="read-iops"), env=env)
    assert console.process.returncode == 0, console.describe()
    assert console.complaints == []
    sandbox.assert_clean()


# ---------------------------------------------------------------------------------------------- odd surroundings


SURROUNDINGS: dict[str, dict[str, str | None]] = {
    "LANG=C": {"LANG": "C", "LC_ALL": "C"},
    "NO_COLOR": {"NO_COLOR": "1"},
    "TERM=dumb": {"TERM": "dumb"},
    "nothing set": {"TERM": None, "LANG": None, "HOME": None},
    "no UTF-8": {"PYTHONIOENCODING": "ascii"},
}


@pytest.fixture(scope="module")
def elsewhere(new_sandbox: NewSandbox) -> dict[str, Console]:
    """A run in each of the surroundings."""
    command = run("--set", "rate_iops=20", "--set", "numjobs=1", preset="read-iops")[:-1]
    consoles = {name: new_sandbox().start(*command, env=env) for name, env in SURROUNDINGS.items()}
    for console in consoles.values():
        console.wait()
    return consoles


@pytest.mark.parametrize("name", [*SURROUNDINGS])
def test_the_terminals_kind_does_not_matter(elsewhere: dict[str, Console], name: str) -> None:
    console, env = elsewhere[name], SURROUNDINGS[name]
    assert console.process.returncode == 0, console.describe()
    assert "\x1b" not in console.stdout, "no colours in a file"
    assert "questionable" in console.stdout, "it was short"
    session = console.sandbox.session().name
    for listing in (["show", f"{session}/1"], ["presets"]):
        shown = console.sandbox.run(*listing, env=env)
        assert (shown.process.returncode, shown.stderr) == (0, ""), shown.describe()


def test_info_tells_the_places(new_sandbox: NewSandbox) -> None:
    sandbox = new_sandbox()
    (info,) = sandbox.run("info", "--json").events
    version = subprocess.run([FIO, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    assert info["tools"].get("fio") == version
    assert info["sessions"] == str(sandbox.data / "sessions")
    assert info["log"].startswith(str(sandbox.state))
    assert json.dumps(info)


def test_a_cluster_whose_answer_has_no_end_is_a_problem_of_the_node(sandbox: Sandbox) -> None:
    env = sandbox.program("ceph", 'case $* in *-v*) echo "ceph version 18.2.1 (0) reef (stable)";; *) exec yes;; esac')
    console = sandbox.run("nodes", "--json", env=env)
    assert console.process.returncode == 3, console.describe()
    (row,) = console.events
    assert not row["ready"]
    assert row["environment"]["tools"]["ceph"]
    assert [problem for problem in row["problems"] if "64 MiB" in problem], row["problems"]
    sandbox.assert_clean()
