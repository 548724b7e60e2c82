"""krbd with and without file systems, and CephFS, on the host of the lab that has a kernel of its own.

Its processor is emulated: the figures are true, and mean nothing. On a busy machine a command takes half a minute.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import shlex
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from cephtui.frozen import dataclass
from cephtui.nodes.transport import Command
from cephtui.nodes.watched import watchdog_argv
from tests.lab import Lab, LabError
from tests.lab.cluster import FILE_POOLS, FILE_SYSTEM
from tests.on_lab.conftest import NewBench, temporary_lab
from tests.on_lab.runs import (
    OWN,
    RUN,
    Bench,
    Console,
    assert_agrees_with_the_tool,
    images,
    noted,
    run_directories,
    sets,
    wait_for,
)
from tests.on_lab.test_lab import beside, ssh

pytestmark = pytest.mark.timeout(3600)
PATIENCE_SECONDS = 900.0
"""For what takes seconds on an idle machine. No run ends by itself meanwhile."""
FEW: dict[str, Any] = {"size": "1M", "numjobs": 1, "iodepth": 4, "runtime": 2, "ramp_time": 0}
LONG: dict[str, Any] = {**FEW, "runtime": 4 * PATIENCE_SECONDS, "rate_iops": 20}
SHARED = ("--shared-pool",)
_CHECKOUT = str(Path(__file__).parents[2])
_LEFT = """
    ls -d /run/cephtui/* /sys/bus/rbd/devices/* 2>/dev/null
    grep -o '/run/cephtui[^ ]*' /proc/mounts
    grep -lzs CEPHTUI_RUN= /proc/[0-9]*/environ | tr '\\0' ' '
    true"""
_IMAGES = """
    ls /run/cephtui 2>/dev/null
    cat /sys/bus/rbd/devices/*/name 2>/dev/null
    grep -o '/run/cephtui/[^/]*' /proc/mounts | cut -d / -f 4
    true"""
"""Those that have anything of theirs there."""


@pytest.fixture(scope="module")
def lab(made_of: Sequence[str]) -> Iterator[Lab]:
    """A lab with that host, which starts while Ceph does, and a connection to it: to make one takes seconds."""
    try:
        with temporary_lab("--kernel", *made_of) as running:
            path = connection(running)
            with beside(ssh(running, running.kernel_node, "true", "-M", "-N", "-S", str(path))):
                wait_for(path.exists, PATIENCE_SECONDS, "a connection")
                yield running
    except LabError as error:
        pytest.fail(f"no lab with a kernel of its own to test with: {error}", pytrace=False)


def connection(lab: Lab) -> Path:
    """The socket of the open connection."""
    return lab.directory / "connection"


def in_kernel(lab: Lab, script: str) -> str:
    """What a script prints there."""
    command = ssh(lab, lab.kernel_node, script, "-S", str(connection(lab)))
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=True, stdin=subprocess.DEVNULL
    )
    return done.stdout


def on_console(lab: Lab) -> str:
    """What was written to its console so far, which costs nothing to look at."""
    return (lab.directory / "hosts" / lab.kernel_node / "console.log").read_text(errors="replace")


def wait_nothing_runs(lab: Lab, variable: str = RUN) -> None:
    """Until no process there has such a variable in its environment."""
    in_kernel(lab, f"while grep -qzs '^{variable}' /proc/[0-9]*/environ; do sleep 1; done")


def assert_nothing_left(bench: Bench) -> None:
    assert [images for images, _ in bench.lab.ceph("own", OWN).values() if images] == []
    assert in_kernel(bench.lab, _LEFT) == ""
    assert noted(bench.sandbox) == set()


def test_its_kernel_maps_an_image(lab: Lab) -> None:
    rbd = f"rbd --conf {lab.ceph_conf}"
    script = f"""set -e
        {rbd} create --size 8M --image-feature layering,exclusive-lock {lab.pool}/mapped
        device=$({rbd} map --options noudev {lab.pool}/mapped)
        dd if=/dev/urandom of=/run/data bs=64k count=1 status=none
        dd if=/run/data of=$device oflag=direct bs=64k status=none
        {rbd} unmap --options noudev $device
        {rbd} export --no-progress {lab.pool}/mapped - | cmp --bytes=65536 - /run/data
        {rbd} rm --no-progress {lab.pool}/mapped
        uname --kernel-release"""

    assert in_kernel(lab, script).endswith("-amd64\n")


def test_what_it_writes_stays_in_it(lab: Lab) -> None:
    in_kernel(lab, "echo written > /etc/of-the-virtual-machine")

    assert lab.on("lab1", "ls", "/etc/of-the-virtual-machine").returncode == 2
    assert lab.processes(f"ifname={lab.kernel_node}", machine="switch")


_STEPS_OF_THE_CLOCK = """
    up() { cut -d . -f 1 /proc/uptime; }
    begun=$(date +%s) since=$(up)
    trap 'date --set "@$((begun + $(up) - since))" > /dev/null' EXIT
    beat() { for _ in 1 2 3; do echo; sleep 1; done; }
    {
        echo
        echo go
        for step in '20 seconds' '-1 hour' '3 days' '20 years' '-30 years'; do
            beat
            date --set "$step" > /dev/null
        done
        while echo; do sleep 1; done
    } 2> /dev/null | """


def test_steps_of_its_clock_end_nothing(lab: Lab) -> None:
    """As by a time server that finds the clock to be wrong."""
    words = ("bash", "-c", "sleep 18; echo whole")
    argv = watchdog_argv(Command(words, token=f"{OWN}clock", limit_seconds=600))
    said = in_kernel(lab, f"{_STEPS_OF_THE_CLOCK} {shlex.join(argv)}; echo status $?")
    assert said.splitlines()[-2:] == ["whole", "status 0"]


def test_a_node_whose_kernel_has_no_rbd_is_refused(bench: Bench) -> None:
    """The other hosts have the kernel of this machine, and see no modules of another."""
    if Path("/sys/bus/rbd").exists():
        bench.configure(
            lab1={"prefix": ["unshare", "--mount", "bash", "-c", 'mount -t tmpfs none /sys && exec "$@"', "-"]}
        )
    console = bench.run("write-iops", target="krbd:bench", words=SHARED, **FEW)

    assert console.process.returncode == 3
    assert "rbd:bench" in console.stdout + console.stderr


# ---------------------------------------------------------------------------------------------- gates


_GATE = """\
#!/bin/bash
# Lets everything pass but one command, which is held and then not run, also one in a script. What was asked of the host
# or of the cluster once is not asked again: that is most of what a run costs here.
export what=$1
shift
hold() {
    echo "reached $what" > /dev/console
    # a process for each look, and be it sleep, is what keeps the emulated processor busy
    [ -p /run/never ] || mkfifo /run/never 2> /dev/null
    until [ -e /run/open ]; do read -r -t 0.5 <> /run/never; done
    exit 1
}
[ -e /run/open ] || case $what in
mount | umount)
    eval "$what() { hold; }"
    export -f hold "$what"
    ;;
rbd\\ * | cephtui-*) case "$*" in *"$what"*) hold ;; esac ;;
esac
case "$*" in
*cephtui-watchdog*) ;;
*"python3 -c"* | *cephtui-probe* | *"that have a watcher"*)
    known=/run/known/$(md5sum <<< "$*" | cut -c -32)
    mkdir -p /run/known
    if [ ! -e "$known.status" ]; then
        "$@" > "$known.$$"
        echo $? > "$known.$$.status"
        mv "$known.$$" "$known" && mv "$known.$$.status" "$known.status"
    fi
    cat "$known"
    exit "$(cat "$known.status")"
esac
exec "$@"
"""


@pytest.fixture(scope="module")
def gate(lab: Lab) -> Path:
    """The script before all commands of a console."""
    path = lab.directory / "hosts" / lab.kernel_node / "gate"
    path.write_text(_GATE)
    return path


def gated(bench: Bench, gate: Path, what: str) -> None:
    """Have the next consoles pass that; ``what`` is in the environment of all that they run."""
    lab = bench.lab
    head, section, tail = lab.config.read_text().partition(f"[nodes.{lab.kernel_node}]\n")
    prefix = f"prefix = {json.dumps(['bash', str(gate), what])}\n"
    bench.config = bench.sandbox.root / f"gated-{len(bench.sandbox.consoles)}.toml"
    ssh_config = head.replace('"ssh_config"', json.dumps(str(lab.ssh_config)))
    bench.config.write_text(ssh_config + section + prefix + tail)


# ---------------------------------------------------------------------------------------------- what is measured


def test_devices_and_file_systems_are_measured(bench: Bench, gate: Path) -> None:
    file_systems = (None, "ext4", "xfs")
    targets = [f"krbd:bench+{name}" if name else "krbd:bench" for name in file_systems]
    runs = measured(bench, gate, ["write-iops"], targets, FEW)

    assert tuple(run["environment"][bench.lab.kernel_node]["filesystem"] for run in runs) == file_systems
    assert all(run["summary"]["write"]["ios"] > 0 for run in runs)
    assert_nothing_left(bench)


def test_every_tool_measures_what_the_kernel_maps(bench: Bench, gate: Path) -> None:
    runs = measured(bench, gate, ["ping", "dd-read"], ["krbd:bench"], {"size": "1M", "work-size": "1M", "runtime": 2})

    assert [run["tool"] for run in runs] == ["ioping", "dd"]
    assert all(run["summary"]["read"]["ios"] > 0 for run in runs)
    assert_nothing_left(bench)


def measured(
    bench: Bench, gate: Path, presets: Sequence[str], targets: Sequence[str], options: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """The runs of these, with what all of them have to say of their device."""
    gated(bench, gate, "nothing")
    node = bench.lab.kernel_node
    where: dict[str, Any] = {"on": [node], "target": ",".join(targets), "words": SHARED}
    console = bench.run(*presets, **where, seconds=2 * PATIENCE_SECONDS, **options)

    assert console.process.returncode == 0, console.describe()
    runs = []
    for directory in run_directories(console):
        run = json.loads((directory / "run.json").read_text())
        if run["tool"] == "fio":
            assert_agrees_with_the_tool(directory)
        assert "krbd" in {finding["code"] for finding in run["findings"]}
        assert "exclusive-lock" in run["cluster"]["image_features"]
        settings = run["environment"][node]["settings"]
        assert settings["queue/scheduler"]
        assert all(settings[f"queue/{name}"].isdigit() for name in ("nr_requests", "read_ahead_kb"))
        runs.append(run)
    assert sorted((run["preset"], run["target"]) for run in runs) == sorted(itertools.product(presets, targets))
    return runs


# ---------------------------------------------------------------------------------------------- what is killed


@dataclass(frozen=True, slots=True)
class Step:
    """When a console is killed: what the gate holds, or in the middle of the prefill."""

    file_system: str
    held: str = ""
    preset: str = "write-iops"
    options: Any = None


STEPS = (
    Step("", "rbd map --options"),
    Step("+ext4", "cephtui-krbd-place"),
    Step("+ext4", "mount"),
    Step("+xfs", "cephtui-create"),
    Step("", options={**FEW, "size": "1G"}),
    Step("+ext4", "umount", "dd-write", {"size": "1M"}),
    Step("", "rbd unmap"),
    Step("", "rbd rm"),
)
"""The first alone: what it asks is known to the others."""
AT_ONCE = 2


def kill_at(bench: Bench, gate: Path, *steps: Step) -> None:
    """Kill consoles, side by side, that do not come past these steps."""
    lab, consoles = bench.lab, []
    before = on_console(lab)
    for step in steps:
        gated(bench, gate, step.held or "nothing")
        where: dict[str, Any] = {"on": [lab.kernel_node], "target": f"krbd:bench{step.file_system}", "words": SHARED}
        consoles.append(bench.start(step.preset, **where, **(step.options or FEW)))

    def is_there(console: Console, step: Step) -> Callable[[], object]:
        held = f"reached {step.held}\n"
        seen = before.count(held)  # by those of another test
        return lambda: on_console(lab).count(held) > seen if step.held else console.samples("prepare")

    for console, step in zip(consoles, steps, strict=True):
        console.wait_for(is_there(console, step), PATIENCE_SECONDS, str(step))
        console.process.kill()
        console.wait()


_IN_USE = re.compile(r"(/\S+) is in use by tail \(([0-9]+)\)")


def release_users(lab: Lab, cleanup: Console, number: int) -> None:
    """Wait until a removal has named so many users of what it can't remove, and end them."""

    def named() -> set[tuple[str, str]]:
        return {*_IN_USE.findall(cleanup.stderr)}

    cleanup.wait_for(lambda: len(named()) == number, PATIENCE_SECONDS, f"the name of user {number}")
    in_kernel(lab, f"kill {' '.join(pid for _, pid in named())} 2>/dev/null; true")


def test_a_console_killed_at_any_step_leaves_what_cleanup_removes(bench: Bench, gate: Path) -> None:
    """A file system and a device that are still in use are waited for, and who uses them is named."""
    lab = bench.lab
    kill_at(bench, gate, STEPS[0])
    for first in range(1, len(STEPS), AT_ONCE):
        kill_at(bench, gate, *STEPS[first : first + AT_ONCE])
    in_kernel(lab, "touch /run/open; while pgrep -f '[c]ephtui-|/[g]ate '; do sleep 0.2; done")
    wait_nothing_runs(lab)

    made = images(lab)
    assert len(made) == len(STEPS)
    assert noted(bench.sandbox) == {f"krbd:bench/{image}" for image in made}
    assert set(in_kernel(lab, _IMAGES).split()) < set(made)

    hold = """
        use() { exec 9< "$1"; echo "$1"; exec tail -f /dev/null; }
        use /run/cephtui/*-xfs/mnt & use /run/cephtui/*-krbd/device"""
    bench.config = lab.config
    with beside(ssh(lab, lab.kernel_node, hold, "-S", str(connection(lab))), stdout=subprocess.PIPE) as held:
        assert held.stdout
        paths = {held.stdout.readline().decode().strip() for _ in range(2)}
        words = ["--config", str(lab.config), "--yes", "--as-listed"]
        cleanup = bench.sandbox.start("cleanup", *words)
        release_users(lab, cleanup, 1)
        release_users(lab, cleanup, 2)
        cleanup.wait(PATIENCE_SECONDS)
    in_kernel(lab, "rm /run/open")

    assert {Path(path).name for path in paths} == {"mnt", "device"}
    assert sorted(path.startswith("/dev/rbd") for path, _ in _IN_USE.findall(cleanup.stderr)) == [False, True]
    assert cleanup.process.returncode == 0, cleanup.describe()
    assert_nothing_left(bench)
    assert bench.cleanup("--yes").complaints == []


def mount_files(lab: Lab) -> str:
    """Mounts the CephFS of the lab, and gives where."""
    address, folder = lab.address("ceph"), "/mnt/files"
    # mount.ceph would look for the key in files of its own
    secret = f"$(sed -n 's/^.*key = //p' {lab.ceph_keyring})"
    mount = f"mount -t ceph {address}:6789:/ {folder} -o name=admin,mds_namespace={FILE_SYSTEM},secret={secret}"
    in_kernel(lab, f"mkdir -p {folder} && {mount}")
    return folder


@pytest.fixture
def mounted(lab: Lab) -> Iterator[str]:
    """Where the CephFS of the lab is mounted."""
    folder = mount_files(lab)
    yield folder
    in_kernel(lab, f"umount {folder}")


def test_a_mounted_cephfs_has_the_guards_of_its_data_pool(bench: Bench, mounted: str) -> None:
    lab, data = bench.lab, FILE_POOLS[1]
    where: dict[str, Any] = {"on": [lab.kernel_node], "target": f"cephfs:{mounted}/scratch", "words": SHARED}

    console = bench.run("write-iops", seconds=PATIENCE_SECONDS, **where, **FEW)

    assert console.process.returncode == 0, console.describe()
    (directory,) = run_directories(console)
    run = assert_agrees_with_the_tool(directory)
    assert run["cluster"]["pool"]["name"] == data
    assert run["environment"][lab.kernel_node]["filesystem"] == "ceph"
    assert in_kernel(lab, f"ls {mounted}") == ""

    lab.ceph("osd", "pool", "set-quota", data, "max_bytes", "100000")
    refused = bench.run("write-iops", seconds=PATIENCE_SECONDS, **{**where, "words": [*SHARED, "--dry-run"]}, **FEW)
    lab.ceph("osd", "pool", "set-quota", data, "max_bytes", "0")
    assert refused.process.returncode == 3
    assert f"pool {data}" in refused.stdout + refused.stderr

    elsewhere = {**where, "target": "cephfs:/tmp/scratch"}
    console = bench.run("write-iops", seconds=PATIENCE_SECONDS, **elsewhere, **FEW)
    assert console.process.returncode == 3
    assert "/tmp " in console.stderr
    assert "file:/tmp/scratch" in console.stderr


# ---------------------------------------------------------------------------------------------- what is lost


_KILL_SESSION = """
    entry=$(grep -lzsx "what=session killed" /proc/[0-9]*/environ | head -n 1)
    pid=${entry//[!0-9]/}
    while [ "$pid" -gt 1 ] && [[ $(</proc/$pid/comm) != sshd* ]]; do
        pid=$(awk '/^PPid/ { print $2 }' "/proc/$pid/status")
    done
    [ "$pid" -gt 1 ] && kill -KILL "$pid"
"""


def reboot(lab: Lab) -> None:
    """Without any warning to what runs there."""
    before = on_console(lab).count("booted after")
    subprocess.run(ssh(lab, lab.kernel_node, "", "-S", str(connection(lab)), "-O", "exit"), check=False)
    options = ("-o", "ServerAliveInterval=5")
    command = "(sleep 2; echo b > /proc/sysrq-trigger) > /dev/null 2>&1 &"
    subprocess.run(ssh(lab, lab.kernel_node, command, *options), check=False)
    wait_for(lambda: on_console(lab).count("booted after") > before, PATIENCE_SECONDS, "the boot")
    greets = ssh(lab, lab.kernel_node, "true", *options)
    wait_for(lambda: subprocess.run(greets, check=False).returncode == 0, PATIENCE_SECONDS, "its sshd")


def begun(gate: Path, wanted: Sequence[tuple[Bench, str, str]]) -> list[Console]:
    """Consoles side by side that measure, each with the way in which it will be lost and its target."""

    def start(bench: Bench, way: str, target: str) -> Console:
        gated(bench, gate, way)
        where = ["--config", str(bench.config), "--node", bench.lab.kernel_node, "--target", target]
        command = ["run", "write-iops", *where, *SHARED, *sets(**LONG), "--json"]
        return bench.sandbox.start(*command, env={"PYTHONPATH": _CHECKOUT}, start_new_session=True)

    consoles = [start(*each) for each in wanted]
    for console in consoles:
        console.wait_for_samples(1, seconds=PATIENCE_SECONDS)
    return consoles


def removes(bench: Bench) -> bool:
    """Whether all that was left is removed now: a client that was cut off, or is gone, holds its files for minutes."""
    console = bench.cleanup("--yes", "--as-listed", seconds=PATIENCE_SECONDS)
    print(console.describe())
    return console.process.returncode == 0


def test_runs_on_cephfs_that_are_stopped_killed_or_cut_off_leave_nothing(
    bench: Bench, new_bench: NewBench, gate: Path, mounted: str
) -> None:
    """And one on a mapped image that is stopped."""
    lab, other = bench.lab, new_bench()
    stopped = (bench, "stopped", f"cephfs:{mounted}/stopped"), (bench, "stopped", "krbd:bench+xfs")
    lost = (other, "console killed", f"cephfs:{mounted}/killed"), (bench, "link down", f"cephfs:{mounted}/cut")
    *ended, killed, cut = begun(gate, [*stopped, *lost])

    for console in ended:
        console.process.send_signal(signal.SIGTERM)
    for console in ended:
        assert console.wait(PATIENCE_SECONDS) == 4, console.describe()
        assert [run["outcome"] for run in console.runs] == ["stopped"]
    assert in_kernel(lab, f"ls {mounted}").split() == ["cut", "killed"]

    os.killpg(killed.process.pid, signal.SIGKILL)
    wait_nothing_runs(lab, "what=console killed")
    with lab.cut(lab.kernel_node):
        assert cut.wait(PATIENCE_SECONDS) == 4, cut.describe()
    assert [run["outcome"] for run in cut.runs] == ["lost"]
    assert "cephtui cleanup tries again" in cut.stderr
    wait_nothing_runs(lab)
    for each in (bench, other):
        wait_for(partial(removes, each), PATIENCE_SECONDS, "the removal of what is left")
        assert_nothing_left(each)
    assert in_kernel(lab, f"ls {mounted}") == ""


def test_a_node_that_reboots_while_it_measures_is_lost_and_what_it_made_stays_known(
    lab: Lab, bench: Bench, gate: Path
) -> None:
    """A file is not gone where its file system is not mounted any more."""
    where = mount_files(lab)
    targets = (f"cephfs:{where}/left", "krbd:bench+ext4")
    consoles = begun(gate, [(bench, "reboot", target) for target in targets])

    reboot(lab)
    for console in consoles:
        assert console.wait(PATIENCE_SECONDS) == 4, console.describe()
        (run,) = console.runs
        assert run["outcome"] == "lost"
        assert re.search("connection|come through", run["error"])

    cleanup = bench.cleanup("--yes", "--as-listed", seconds=PATIENCE_SECONDS)
    assert cleanup.process.returncode == 1, cleanup.describe()
    assert f"{where}/left " in cleanup.stderr
    assert noted(bench.sandbox) == {f"file:{where}/left"}

    mount_files(lab)

    wait_for(partial(removes, bench), PATIENCE_SECONDS, "the removal of the file")
    assert in_kernel(lab, f"ls {where}; umount {where}") == ""
    assert_nothing_left(bench)


def test_what_is_lost_while_it_measures_is_removed(bench: Bench, new_bench: NewBench, gate: Path) -> None:
    """By the console where it lives and reaches the node, else by cleanup: once the link is back, or after a reboot."""
    lab, other = bench.lab, new_bench()
    ways = {"console killed": other, "session killed": bench, "link down": bench}
    killed, broken, cut = begun(gate, [(each, way, "krbd:bench+ext4") for way, each in ways.items()])

    os.killpg(killed.process.pid, signal.SIGKILL)
    in_kernel(lab, _KILL_SESSION)
    wait_nothing_runs(lab, "what=console killed")
    wait_nothing_runs(lab, "what=session killed")
    assert broken.wait(PATIENCE_SECONDS) == 4, broken.describe()
    assert [run["outcome"] for run in broken.runs] == ["lost"]
    assert (len(noted(other.sandbox)), len(noted(bench.sandbox)), len(images(lab))) == (1, 1, 2)

    with lab.cut(lab.kernel_node):
        assert cut.wait(PATIENCE_SECONDS) == 4, cut.describe()
    assert "cephtui cleanup tries again" in cut.stderr
    wait_nothing_runs(lab)
    cleanup = bench.cleanup("--yes", "--as-listed", seconds=PATIENCE_SECONDS)
    assert cleanup.process.returncode == 0, cleanup.describe()
    (left,) = images(lab)
    assert {*in_kernel(lab, _IMAGES).split()} == {left}

    reboot(lab)
    cleanup = other.cleanup("--yes", "--as-listed", seconds=PATIENCE_SECONDS)
    assert cleanup.process.returncode == 0, cleanup.describe()
    assert "cephtui cleanup" not in cleanup.stderr
    for each in (bench, other):
        assert_nothing_left(each)
