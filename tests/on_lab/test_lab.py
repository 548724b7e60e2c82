"""The lab is what it says, and leaves nothing."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.lab import Lab, LabError, releases
from tests.lab.state import State
from tests.on_lab.conftest import NewLab
from tests.support import disks
from tests.support.waiting import comes_true, wait_for

pytestmark = pytest.mark.essential
CHECKOUT = Path(__file__).parents[2]


def ssh(lab: Lab, node: str, command: str, *options: str) -> list[str]:
    return ["ssh", "-F", str(lab.ssh_config), *options, node, command]


def said(command: list[str]) -> str:
    return subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=True, stdin=subprocess.DEVNULL
    ).stdout


@contextmanager
def beside(command: list[str], **how: Any) -> Iterator[subprocess.Popen[bytes]]:
    """A process that runs until then, however a test ends."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, **how) as process:
        try:
            yield process
        finally:
            process.kill()


def command_line(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """The command line of the lab."""
    command = [sys.executable, "-m", "tests.lab", *map(str, words)]
    return subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, timeout=120, check=False)


# --- Ceph ----------------------------------------------------------------------------------------


def test_the_cluster_is_healthy_and_has_three_osds(lab: Lab) -> None:
    status = lab.ceph("status")

    assert status["health"]["status"] == "HEALTH_OK"
    assert status["osdmap"]["num_up_osds"] == status["osdmap"]["num_in_osds"] == 3
    assert [state["state_name"] for state in status["pgmap"]["pgs_by_state"]] == ["active+clean"]
    assert {osd["osd_objectstore"] for osd in lab.ceph("osd", "metadata")} == {"bluestore"}


def test_there_is_a_pool_for_images(lab: Lab) -> None:
    (pool,) = [pool for pool in lab.ceph("osd", "pool", "ls", "detail") if pool["pool_name"] == lab.pool]

    def available() -> int:
        (usage,) = [pool for pool in lab.ceph("df")["pools"] if pool["name"] == lab.pool]
        return int(usage["stats"]["max_avail"])

    assert (pool["size"], pool["pg_autoscale_mode"], list(pool["application_metadata"])) == (1, "off", ["rbd"])
    # what others have removed from the lab is counted for some time
    wait_for(lambda: available() > 8 << 30, 120, "room in the pool", lambda: str(available()))


@pytest.mark.parametrize("node", Lab.nodes)
def test_every_host_reaches_the_cluster(lab: Lab, node: str) -> None:
    environment = f"CEPH_CONF={lab.ceph_conf} CEPH_KEYRING={lab.ceph_keyring}"

    assert said(ssh(lab, node, f"{environment} ceph health")).strip() == "HEALTH_OK"
    bench = f"{environment} rados bench --pool {lab.pool} --run-name {node} 1 write"
    assert f"benchmark_data_{node}_" in said(ssh(lab, node, bench))


def test_a_restricted_user_has_the_pool_only(lab: Lab) -> None:
    user: list[str | Path] = ["--conf", lab.ceph_conf, "--id", lab.restricted_id, "--keyring", lab.restricted_keyring]

    assert lab.on("lab1", "rbd", *user, "ls", lab.pool).returncode == 0
    refused = lab.on("lab1", "ceph", *user, "osd", "df")
    assert refused.returncode != 0
    assert "EACCES" in refused.stderr


# --- Hosts ---------------------------------------------------------------------------------------


def test_hosts_and_cluster_have_the_programs_of_its_release(lab: Lab) -> None:
    """Which is this machine's own where none was asked for; Ceph's daemons say themselves what they are."""
    state = State.load(lab.directory)
    assert state
    root = Path(state.root or "/")
    release = (root / "etc/os-release").read_text()
    assert all(lab.on(name, "cat", "/etc/os-release").stdout == release for name in (*lab.nodes, "ceph"))
    known = dict(pair.split(" ") for pair in releases.versions(root).split(", "))
    assert said(ssh(lab, "lab1", "fio --version")) == f"fio-{known['fio']}\n"
    assert said(ssh(lab, "lab1", "python3 --version")) == f"Python {known['Python']}\n"
    assert {version.split()[2] for version in lab.ceph("versions")["overall"]} == {known["Ceph"]}
    assert lab.on("lab1", "ssh", "-V").stderr.startswith(f"OpenSSH_{known['OpenSSH']}")


def test_the_hosts_are_three(lab: Lab) -> None:
    said_by = {node: said(ssh(lab, node, "hostname; echo $SSH_CONNECTION; echo ~")).split() for node in lab.nodes}

    for node, (name, _, _, address, _, home) in said_by.items():
        assert (name, address) == (node, lab.address(node))
        assert Path(home) == lab.outside(node, "~")
    assert len({lab.address(node) for node in lab.nodes}) == 3


def test_hosts_share_neither_processes_nor_temporary_files(lab: Lab) -> None:
    token = "only-on-lab1"
    lab.on("lab1", "touch", f"/tmp/{token}")
    with beside(ssh(lab, "lab1", f"exec sleep 60 # {token}")):
        assert comes_true(lambda: "sleep 60" in said(ssh(lab, "lab1", "ps ax")))
        assert "sleep 60" not in said(ssh(lab, "lab2", "ps ax"))

    assert lab.outside("lab1", f"/tmp/{token}").exists()
    assert lab.on("lab2", "ls", f"/tmp/{token}").returncode != 0
    assert not Path(f"/tmp/{token}").exists()


def test_a_changed_host_key_is_refused(lab: Lab, tmp_path: Path) -> None:
    other = tmp_path / "known_hosts"
    lines = lab.known_hosts.read_text().splitlines()
    other.write_text(lines[0].split()[0] + " " + lines[1].partition(" ")[2] + "\n")

    done = subprocess.run(
        ssh(lab, "lab1", "true", "-o", f"UserKnownHostsFile={other}"), capture_output=True, text=True, check=False
    )
    assert done.returncode == 255
    assert "HOST IDENTIFICATION HAS CHANGED" in done.stderr


def network_of(pid: int) -> int:
    """Its network namespace; 0 of a process that has ended meanwhile."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/ns/net").stat().st_ino
    return 0


def test_nothing_of_the_lab_is_in_the_network_of_this_machine(lab: Lab) -> None:
    own = Path("/proc/self/ns/net").stat().st_ino
    inside = lab.processes()

    assert len(inside) > 10
    spaces = {pid: network_of(pid) for pid in inside}
    assert [inside[pid] for pid, space in spaces.items() if space == own] == []
    assert len([space for space in spaces.values() if space]) > 10
    for command in ("address", "route", "neighbour"):
        assert "10.77.0." not in said(["ip", command])
    listening = said(["ss", "-ltunpH"])
    assert [pid for pid in inside if f"pid={pid}," in listening] == []


# --- The network, cut ----------------------------------------------------------------------------


@pytest.mark.parametrize("machine", ["lab2", "console"])
def test_a_cut_link_stops_everything_and_heals(lab: Lab, machine: str, tmp_path: Path) -> None:
    output = tmp_path / "output"
    ticking = ssh(lab, "lab2", "while sleep 0.1; do echo tick; done")
    with output.open("wb") as file, beside(ticking, stdout=file) as process:
        assert comes_true(lambda: output.stat().st_size)
        (session,) = lab.session_pids("lab2")
        with lab.cut(machine):
            time.sleep(0.3)
            before = output.stat().st_size
            # no later: three seconds after the cut the neighbours are known to be lost, and what connects is refused
            with pytest.raises(subprocess.TimeoutExpired):
                subprocess.run(ssh(lab, "lab2", "true"), capture_output=True, timeout=1.5, check=False)
            assert output.stat().st_size == before
            assert process.poll() is None
            assert lab.session_pids("lab2") == [session]
        assert comes_true(lambda: output.stat().st_size > before)

    if machine == "lab2":
        assert said(ssh(lab, "lab1", "hostname")).strip() == "lab1"
    assert comes_true(lambda: not lab.session_pids("lab2"))


def test_a_client_that_is_killed_leaves_no_relay(lab: Lab) -> None:
    relays = f"relay.py {lab.directory}"
    with beside(ssh(lab, "lab1", "exec sleep 60")) as process:
        assert comes_true(lambda: commands_with(relays))
        with lab.cut("lab1"):
            process.kill()
            assert comes_true(lambda: not commands_with(relays))


def test_a_killed_session_ends_its_connection_alone(lab: Lab) -> None:
    sleeping = ssh(lab, "lab3", "exec sleep 60")
    with beside(sleeping, stderr=subprocess.DEVNULL) as process:
        assert comes_true(lambda: lab.processes("sleep 60", "lab3"))
        (session,) = lab.session_pids("lab3")
        os.kill(session, signal.SIGKILL)
        assert process.wait(10) == 255

    assert said(ssh(lab, "lab3", "hostname")).strip() == "lab3"
    lab.on("lab3", "pkill", "--exact", "sleep")


def test_a_server_can_end_and_start_again(lab: Lab) -> None:
    lab.end_sshd("lab3")
    try:
        refused = subprocess.run(ssh(lab, "lab3", "true"), capture_output=True, text=True, timeout=30, check=False)
        assert "Connection refused" in refused.stderr
    finally:
        lab.start_sshd("lab3")

    assert said(ssh(lab, "lab3", "hostname")).strip() == "lab3"


def test_a_relay_carries_every_byte_both_ways(lab: Lab) -> None:
    sent = os.urandom(1 << 20) * 24
    done = subprocess.run(ssh(lab, "lab1", "cat"), input=sent, capture_output=True, timeout=60, check=True)

    assert done.stdout == sent


def test_every_machine_sees_a_block_device(lab: Lab) -> None:
    with lab.loop_device(64 << 20) as device:
        assert lab.on("lab1", "blockdev", "--getsize64", device).stdout.strip() == str(64 << 20)
        backing = Path(f"/sys/block/{device.name}/loop/backing_file")
        assert backing.read_text().startswith(f"{lab.directory}/")

    assert comes_true(lambda: not backing.exists())


# --- The end -------------------------------------------------------------------------------------


def commands_with(text: str) -> list[str]:
    """The processes of this machine with this text in their command or environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes() + b"\0" + (folder / "environ").read_bytes()
        except OSError:
            continue
        if text in (command := words.replace(b"\0", b" ").decode(errors="replace")):
            found.append(command)
    return found


def network_namespaces() -> set[int]:
    """Every network namespace that a process is in."""
    inodes = set()
    for link in Path("/proc").glob("[0-9]*/ns/net"):
        try:
            inodes.add(link.stat().st_ino)
        except OSError:
            continue
    return inodes


@dataclass
class Traces:
    """What a lab has on this machine."""

    directory: Path
    namespaces: set[int]
    processes: set[int]

    @classmethod
    def of(cls, lab: Lab) -> Traces:
        pids = set(lab.processes())
        return cls(lab.directory, {Path(f"/proc/{pid}/ns/net").stat().st_ino for pid in pids}, pids)

    def left(self) -> list[str]:
        """What of it is still there."""
        mounts = Path("/proc/self/mountinfo").read_text().splitlines()
        backing = [path.read_text() for path in Path("/sys/block").glob("loop*/loop/backing_file")]
        return [
            *commands_with(str(self.directory)),
            *[f"process {pid}" for pid in self.processes if Path(f"/proc/{pid}").exists()],
            *[f"namespace {inode}" for inode in self.namespaces & network_namespaces()],
            *[line for line in (*mounts, *backing) if str(self.directory) in line],
            *([str(self.directory)] if self.directory.exists() else []),
        ]


@contextmanager
def owner() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "600"]) as process:
        try:
            yield process
        finally:
            process.kill()


def test_down_leaves_nothing(new_lab: NewLab) -> None:
    lab = new_lab("--no-ceph")
    traces = Traces.of(lab)
    # Neither does what runs on a host, what is connected to it, nor a block device that nobody gave back.
    file = lab.directory / "disk"
    file.touch()
    os.truncate(file, 1 << 20)
    with disks.opening():
        said(["losetup", "--find", "--show", str(file)])
    escaped = "setsid sh -c 'trap \"\" TERM HUP; sleep 60' & echo started; exec sleep 60"
    with beside(ssh(lab, "lab1", escaped), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout
        assert process.stdout.readline() == b"started\n"
        assert traces.left()
        lab.stop()
        assert process.wait(10) == 255

    assert traces.left() == []


def test_down_without_a_lab_says_so(tmp_path: Path) -> None:
    done = command_line("down", tmp_path / "absent")

    assert (done.returncode, done.stderr) == (0, "")
    assert "none is up" in done.stdout


def test_a_directory_that_is_no_lab_stays_as_it_is() -> None:
    directory = Path("/var/tmp") / f"lab-test-{os.getpid()}"
    directory.mkdir()
    try:
        (directory / "precious").touch()
        for action in (["up", "--no-ceph"], ["down"]):
            done = command_line(*action, directory)
            assert done.returncode == 1
            assert "is not" in done.stderr
            assert [path.name for path in directory.iterdir()] == ["precious"]
    finally:
        shutil.rmtree(directory)


@pytest.mark.matrix
def test_up_twice_is_one_lab(new_lab: NewLab) -> None:
    lab = new_lab("--no-ceph")
    state = (lab.directory / "state.json").read_text()

    done = command_line("up", "--no-ceph", lab.directory)
    assert done.returncode == 0
    assert "is up already" in done.stdout
    assert (lab.directory / "state.json").read_text() == state


@pytest.fixture
def killed_in_mid_up() -> Iterator[Path]:
    """The directory of a lab whose start was killed while Ceph came up."""
    directory = Path("/var/tmp") / f"lab-killed-{os.getpid()}"
    command = [sys.executable, "-m", "tests.lab", "up", str(directory)]
    try:
        with subprocess.Popen(command, cwd=CHECKOUT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            try:
                assert comes_true(lambda: any("ceph-mgr" in found for found in commands_with(str(directory))))
            finally:
                process.kill()
        assert directory.exists()
        yield directory
    finally:
        command_line("down", directory)


@pytest.mark.matrix
def test_down_after_a_start_that_was_killed(killed_in_mid_up: Path) -> None:
    assert command_line("status", killed_in_mid_up).stdout.startswith("lab: half up")

    done = command_line("down", killed_in_mid_up)
    assert (done.returncode, done.stderr) == (0, "")
    assert Traces(killed_in_mid_up, set(), set()).left() == []


@pytest.mark.matrix
def test_up_after_a_start_that_was_killed(killed_in_mid_up: Path) -> None:
    done = command_line("up", "--no-ceph", killed_in_mid_up)
    assert (done.returncode, done.stderr) == (0, "")

    lab = Lab(killed_in_mid_up)
    assert said(ssh(lab, "lab1", "hostname")).strip() == "lab1"
    assert [found for found in commands_with(str(lab.directory)) if "ceph-m" in found] == []


def test_a_lab_ends_with_its_owner() -> None:
    directory = Path("/var/tmp") / f"lab-owned-{os.getpid()}"
    try:
        with owner() as process:
            lab = Lab.start(directory, "--no-ceph", "--owner", str(process.pid))
            traces = Traces.of(lab)
            time.sleep(0.5)
            assert said(ssh(lab, "lab1", "hostname")).strip() == "lab1"
        assert comes_true(lambda: not traces.left())
    finally:
        command_line("down", directory)


@pytest.mark.matrix
def test_a_lab_whose_directory_was_removed_ends(new_lab: NewLab) -> None:
    lab = new_lab("--no-ceph")
    traces = Traces.of(lab)

    shutil.rmtree(lab.directory)
    assert comes_true(lambda: not traces.left())


# --- Refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["etc/pve", "var/lib/ceph/mon/ceph-a", "var/lib/ceph/osd/ceph-0"])
def test_refused_where_a_cluster_may_live(path: str, tmp_path: Path) -> None:
    (tmp_path / path).mkdir(parents=True)
    directory = tmp_path / "lab"

    for words in (["check"], ["up", "--no-ceph", directory]):
        done = command_line(*words, "--system", tmp_path)
        assert done.returncode == 1
        assert f"refused: {tmp_path / path} exists" in done.stderr
    assert not directory.exists()


def test_a_machine_where_ceph_is_merely_installed_is_fine(tmp_path: Path) -> None:
    for folder in ("mon", "osd"):
        (tmp_path / "var/lib/ceph" / folder).mkdir(parents=True)

    assert command_line("check", "--system", tmp_path).returncode == 0


def without(*words: str) -> subprocess.CompletedProcess[str]:
    """A start of a lab in a process that setpriv takes something from."""
    directory = f"/var/tmp/lab-refused-{os.getpid()}"
    command = ["setpriv", *words, sys.executable, "-m", "tests.lab", "up", "--no-ceph", directory]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert not Path(directory).exists()
    return done


def test_a_machine_without_namespaces_is_told(lab: Lab) -> None:
    done = without("--bounding-set", "-sys_admin")

    assert done.returncode == 1
    assert "this machine forbids namespaces" in done.stderr
    assert "Operation not permitted" in done.stderr


def test_who_is_not_root_is_told() -> None:
    # The interpreter may be where only root can look: the capability to do so stays.
    keep = ["--inh-caps", "+dac_override", "--ambient-caps", "+dac_override"]
    done = without("--reuid", "65534", "--clear-groups", *keep)

    assert done.returncode == 1
    assert "needs root" in done.stderr


@pytest.mark.parametrize("name", ["with space", "x" * 90])
def test_a_directory_that_the_daemons_cannot_use_is_refused(name: str) -> None:
    directory = Path("/var/tmp") / name

    with pytest.raises(LabError, match=r"choose another|too long"):
        Lab.start(directory, "--no-ceph")
    assert not directory.exists()
