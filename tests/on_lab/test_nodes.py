"""Several nodes as one benchmark: prepared, released at once, added up, and told apart."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.lab import Lab
from tests.lab.processes import all_pids, command_of, environment_of
from tests.on_lab.conftest import NewBench
from tests.on_lab.runs import (
    Bench,
    Console,
    assert_agrees_with_the_tool,
    assert_samples_add_up,
    fio_documents,
    images,
    left_on,
    objects,
    raw,
    read_samples,
    run_directories,
    sets,
)

MIB = 1 << 20
SHARED = ["--shared-pool"]
FILE = "file:/var/tmp/cephtui-file"
SLOW_FILL = 'case " $* " in *" --name=fill "*) exec "$REAL" "$@" --rate=4m;; esac; exec "$REAL" "$@"'
SLOW = 'exec "$REAL" "$@" --rate_iops=20'
CASES = ["two on files", "three on images", "three in a pool"]
NODES = {"two on files": ("lab1", "lab3"), "three on images": Lab.nodes, "three in a pool": Lab.nodes}


@pytest.fixture(scope="module")
def measured(lab: Lab, new_bench: NewBench) -> dict[str, Console]:
    """Runs on several nodes; on lab3 the files are filled slowly, and images are used slowly."""
    consoles = {}
    filling, slow = new_bench(), new_bench()
    filling.configure(lab3={"prefix": filling.program("lab3", "fio", SLOW_FILL)})
    slow.configure(lab3={"prefix": slow.program("lab3", "fio", SLOW), "ceph_prefix": []})
    small = sets(ramp_time=1, size=16 * MIB, numjobs=1, rate_iops=60)
    two = ["lab1", "lab3"]
    consoles["two on files"] = filling.start("write-iops", "latency", on=two, target=FILE, words=small, runtime=3)
    consoles["three on images"] = slow.start("mixed-75-25", on=["lab"], words=[*SHARED, *small], runtime=5)
    for console in consoles.values():
        assert console.wait(120) == 0, console.describe()
    pool = f"pool:{lab.pool}"
    consoles["three in a pool"] = new_bench().run("rados-write", on=["lab"], target=pool, words=SHARED, runtime=3)
    assert consoles["three in a pool"].process.returncode == 0, consoles["three in a pool"].describe()
    assert left_on(lab) == []
    return consoles


# ---------------------------------------------------------------------------------------------- added up


@pytest.mark.essential
@pytest.mark.parametrize("case", CASES)
def test_the_totals_are_those_of_all_nodes(measured: dict[str, Console], case: str) -> None:
    for directory in run_directories(measured[case]):
        run = assert_agrees_with_the_tool(directory)
        assert (run["outcome"], [node["node"] for node in run["nodes"]]) == ("ok", [*NODES[case]])
        assert [node["outcome"] for node in run["nodes"]] == ["ok"] * len(NODES[case])


@pytest.mark.essential
@pytest.mark.parametrize("case", CASES)
def test_the_seconds_of_all_nodes_add_up_to_the_totals(measured: dict[str, Console], case: str) -> None:
    for directory in run_directories(measured[case]):
        assert_samples_add_up(directory)


@pytest.mark.essential
@pytest.mark.parametrize("case", CASES)
def test_every_node_has_a_part_of_its_own(measured: dict[str, Console], case: str) -> None:
    """No two nodes work on the same image, file or objects."""
    for step in measured[case].events[0]["steps"]:
        parts = [(node["node"], part["spec"]) for node in step["nodes"] for part in node["parts"]]
        specs = [part if case == "two on files" else part[1] for part in parts]
        assert len(set(specs)) == len(parts)
        assert {node for node, _ in parts} == set(NODES[case])


# ---------------------------------------------------------------------------------------------- released at once


@pytest.mark.essential
@pytest.mark.parametrize("case", CASES)
def test_the_spread_of_the_starts_is_measured_and_kept(measured: dict[str, Console], case: str) -> None:
    for run in measured[case].runs:
        started = [node["started_seconds"] for node in run["nodes"]]
        assert min(started) == 0
        assert run["start_spread_seconds"] == pytest.approx(max(started), abs=0.001)
        assert 0 <= run["start_spread_seconds"] < 1
        for node in run["nodes"]:
            assert node["ended_seconds"] - node["started_seconds"] >= run["options"]["runtime"]


@pytest.mark.essential
@pytest.mark.parametrize("case", ["two on files", "three on images"])
def test_no_node_begins_before_all_are_prepared(measured: dict[str, Console], case: str) -> None:
    """The slow one needs several seconds longer to fill its file, and is waited for."""
    first = run_directories(measured[case])[0]
    phases = [sample["phase"] for sample in read_samples(first)]
    assert set(phases) == {"prepare", "ramp", "run"}
    assert phases.index("ramp") > max(number for number, phase in enumerate(phases) if phase == "prepare")
    for node in NODES[case]:
        (job,) = fio_documents(raw(first, node, "prepare.stdout"))[-1]["jobs"]
        assert job["write"]["io_bytes"] == sum(
            part["bytes"]
            for planned in measured[case].events[0]["steps"][0]["nodes"]
            if planned["node"] == node
            for part in planned["fill"]
        )


@pytest.mark.essential
def test_the_node_that_filled_slowly_took_longer(measured: dict[str, Console]) -> None:
    """Else the test before this one would show nothing."""
    first = run_directories(measured["two on files"])[0]
    ended = {s["node"]: s["elapsed_seconds"] for s in read_samples(first) if s["phase"] == "prepare" and s["node"]}
    assert ended["lab3"] > ended["lab1"] + 2


# ---------------------------------------------------------------------------------------------- told apart


@pytest.mark.essential
def test_a_slow_node_is_visible_and_does_not_hold_the_others(measured: dict[str, Console]) -> None:
    (run,) = measured["three on images"].runs
    iops = {node["node"]: sum(total["iops"] for total in node["summary"].values()) for node in run["nodes"]}
    assert 10 < iops["lab3"] <= 42, "20 a second of each direction at most"
    assert min(iops["lab1"], iops["lab2"]) > 1.5 * iops["lab3"]
    for node in NODES["three on images"]:
        own = measured["three on images"].samples(node=node)
        assert sum(sample["interval_seconds"] for sample in own) == pytest.approx(5, abs=1)


@pytest.mark.essential
def test_the_command_of_each_node_is_shown_with_its_prefix(measured: dict[str, Console]) -> None:
    (step,) = measured["three on images"].events[0]["steps"]
    prefixed = {node["node"]: "PATH=/tmp/programs-" in node["command"] for node in step["nodes"]}
    assert prefixed == {"lab1": False, "lab2": False, "lab3": True}


@pytest.mark.essential
def test_a_run_keeps_the_conditions_of_every_node(measured: dict[str, Console]) -> None:
    for case, nodes in NODES.items():
        for run in measured[case].runs:
            assert list(run["environment"]) == [*nodes]
            assert all(environment["tools"]["fio"] for environment in run["environment"].values())


def test_one_node_that_cannot_keeps_all_from_beginning(bench: Bench) -> None:
    bench.configure(lab2={"prefix": bench.without("lab2", "fio")})
    console = bench.run("write-iops", on=["lab"], words=SHARED, size="4M", runtime=2)
    assert console.process.returncode == 3, console.describe()
    (run,) = console.runs
    errors = {node["node"]: node["error"] for node in run["nodes"]}
    assert errors["lab2"].startswith("lab2: fio ")
    assert errors["lab2"].endswith(": apt-get install fio")
    assert "lab2" in errors["lab1"]
    assert "lab2" in errors["lab3"]
    assert left_on(bench.lab) == [], "nothing has been made for it"


# ---------------------------------------------------------------------------------------------- prefixes, secrets


def test_the_prefix_of_ceph_is_for_ceph_alone(bench: Bench) -> None:
    """And the other for the benchmark alone; rados bench is of Ceph."""
    mark, other = "CEPHTUI_TEST_CEPH_PREFIX=yes", "CEPHTUI_TEST_PREFIX=yes"
    bench.configure(lab1={"prefix": ["env", other], "ceph_prefix": ["env", mark]})
    pool = f"pool:{bench.lab.pool}"
    consoles = [
        bench.start("read-iops", words=SHARED, size="4M", numjobs=1, runtime=4, rate_iops=20),
        bench.start("rados-write", target=pool, words=[*SHARED, "--session", "R"], runtime=4),
    ]
    seen: dict[str, set[str]] = {}

    def look() -> bool:
        for pid, command in bench.running("lab1").items():
            program = "ceph" if command.startswith("python3 -c ") else command.split(" ", 1)[0]
            environment = environment_of(pid).split()
            if program in ("fio", "rados", "ceph") and environment:
                seen.setdefault(program, set()).update(name for name in (mark, other) if name in environment)
        return len(seen) == 3

    consoles[1].wait_for(look, 60, "fio, rados and ceph on the node")
    for console in consoles:
        assert console.wait(60) == 0, console.describe()
    assert seen == {"fio": {other}, "rados": {mark}, "ceph": {mark}}


def secrets_of(lab: Lab) -> set[str]:
    """What must not be seen anywhere: the keys of Ceph's users, and the lines of the private key for ssh."""
    keyrings = [lab.ceph_keyring, lab.restricted_keyring]
    keys = {key for path in keyrings for key in re.findall(r"key = (\S+)", Path(path).read_text())}
    lines = (lab.directory / "id_ed25519").read_text().splitlines()
    return keys | {line for line in lines if line and not line.startswith("-----")}


@pytest.mark.essential
def test_no_secret_is_in_a_command_an_environment_a_session_or_a_log(bench: Bench) -> None:
    secrets = secrets_of(bench.lab)
    assert len(secrets) > 3
    bench.sandbox.forks = False
    console = bench.start("mixed-75-25", on=["lab"], words=SHARED, size="8M", numjobs=1, runtime=8, rate_iops=20)
    found: set[str] = set()
    looked = 0

    def look() -> bool:
        nonlocal looked
        looked += bool(bench.running(program="fio"))
        for text in [read(pid) for pid in all_pids() for read in (command_of, environment_of)]:
            found.update(secret for secret in secrets if secret in text)
        return console.process.poll() is not None

    while not look():
        pass
    assert console.wait() == 0, console.describe()
    assert looked > 3, "the processes were not looked at while fio was running"
    assert bench.cephtui("show", "nothing").process.returncode  # which is logged: without a record there is no log
    for path in bench.sandbox.root.rglob("*"):
        if path.is_file():
            found.update(secret for secret in secrets if secret.encode() in path.read_bytes())
    assert found == set()
    assert (bench.sandbox.state / "cephtui" / "log" / "cephtui.log").exists()


def test_a_restricted_user_can_measure_and_what_it_may_not_ask_is_noted(bench: Bench) -> None:
    lab = bench.lab
    restricted = {"ceph_id": lab.restricted_id, "ceph_keyring": str(lab.restricted_keyring)}
    bench.configure(lab1=restricted, lab2=restricted)
    console = bench.run("mixed-75-25", on=["lab1", "lab2"], words=SHARED, size="8M", runtime=2)
    assert console.process.returncode == 0, console.describe()
    (run,) = console.runs
    assert set(run["cluster"]["no_permission"]) == {
        "ceph config get osd osd_op_queue",
        "ceph config get osd osd_mclock_profile",
    }
    for directory in run_directories(console):
        assert_agrees_with_the_tool(directory)


def test_images_and_objects_are_there_while_they_are_used(bench: Bench) -> None:
    """What the looks at the lab at the end of every test look for is found where it is."""
    lab = bench.lab
    console = bench.start("read-iops", on=["lab1", "lab2"], words=SHARED, size="4M", numjobs=1, runtime=3, rate_iops=20)
    console.wait_for_samples(1, seconds=90)
    used = [image for node in console.events[0]["steps"][0]["nodes"] for image in node["place"]["images"]]
    assert images(lab) == sorted(used)
    assert console.wait(60) == 0, console.describe()
    pool = f"pool:{lab.pool}"
    console = bench.start("rados-write", target=pool, words=[*SHARED, "--session", "R"], runtime=3)
    console.wait_for_samples(1, seconds=90)
    (node,) = console.events[0]["steps"][0]["nodes"]
    assert list(objects(lab)) == [node["place"]["namespace"]]
    assert console.wait(60) == 0, console.describe()
    assert json.loads(console.stdout.splitlines()[-1])["outcome"] == "ok"


# ---------------------------------------------------------------------------------------------- what they have


def test_what_nodes_have_is_what_the_kernel_says_and_an_mtu_that_differs_is_found(bench: Bench) -> None:
    """Each with the /sys of its own network, as hosts have it; the nodes of a lab share one."""
    lab = bench.lab
    prefix = ["unshare", "--mount", "sh", "-c", 'mount -t sysfs sysfs /sys && exec "$@"', "sh"]
    own: dict[str, object] = {"prefix": prefix, "ceph_prefix": []}
    bench.configure(lab1=own, lab2=own, lab3=own)
    link = json.loads(lab.on("lab2", "ip", "-j", "addr", "show", "eth0").stdout)[0]
    try:
        lab.on("lab2", "ip", "link", "set", "eth0", "mtu", "1300")
        console = bench.cephtui("nodes", "read-iops", "--config", str(bench.config), "--node", "lab", "--json")
    finally:
        lab.on("lab2", "ip", "link", "set", "eth0", "mtu", str(link["mtu"]))
    assert console.process.returncode == 0, console.describe()
    rows = {row["node"]: row for row in map(json.loads, console.stdout.splitlines())}
    disks = json.loads(lab.on("lab1", "lsblk", "--json", "--bytes", "--nodeps", "--output", "NAME,SIZE,TYPE").stdout)
    real = {disk["name"]: disk["size"] for disk in disks["blockdevices"] if disk["type"] == "disk" and disk["size"]}
    assert {disk["name"]: disk["size_bytes"] for disk in rows["lab1"]["disks"]}.items() <= real.items()
    assert rows["lab1"]["disks"]
    nics = {name: {nic["name"]: nic for nic in row["nics"]} for name, row in rows.items()}
    assert (nics["lab1"]["eth0"]["mtu"], nics["lab2"]["eth0"]["mtu"]) == (link["mtu"], 1300)
    known = [address for address in link["addr_info"] if address["scope"] == "global"]
    addresses = [f"{address['local']}/{address['prefixlen']}" for address in known]
    assert nics["lab2"]["eth0"]["addresses"] == addresses
    # one for each network that it differs in: the one of the OSDs has no lab1
    assert {name: len(row["findings"]) for name, row in rows.items()} == {"lab1": 1, "lab2": 2, "lab3": 2}
    assert re.findall(r"\d{4,}|lab\d", rows["lab1"]["findings"][0]) == [
        *("1300", "lab2", str(link["mtu"]), "lab1", "lab3")
    ]
    tools = {tool["tool"]: tool for tool in rows["lab1"]["tools"]}
    assert tools["fio"]["version"].startswith("fio-")
    assert "read-iops" in tools["fio"]["presets"]
