"""Whether `cephtui why` finds what makes a lab slow: each fault is provoked for the time of one, and healthy labs."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from cephtui.frozen import dataclass
from tests.bench.honest import provoking
from tests.bench.honest.rows import slow_lab
from tests.bench.honest.scene import NotProvoked
from tests.bench.table import Row, at_least, at_most, row
from tests.bench.tracing import slow_calls
from tests.end_to_end.sandbox import Sandbox
from tests.lab import Lab
from tests.lab.cluster import OSDS
from tests.on_lab.others import kill_osd, pool_on, set_at_run_time, start_osd, wait_clean
from tests.on_lab.runs import Bench

_SECONDS = 400.0
_HEALTHY = 3
_OSD = 1
_CPU_GROUP = Path("/sys/fs/cgroup/cpu/cephtui-why")
_PERIOD_US, _QUOTA_US = 100_000, 3_000
_COMMIT_SECONDS, _PEERING_SECONDS = 0.006, 10
Say = Callable[[str], None]
Target = AbstractContextManager[str]


@dataclass(frozen=True, slots=True)
class Fault:
    """What makes the lab slow."""

    title: str
    provoke: Callable[[Lab], Target]
    """Gives the target that is asked about."""
    first: tuple[str, ...]
    """The codes of which one has to be the first cause; none of a healthy lab."""
    nodes: tuple[str, ...] = ("lab1",)
    second: tuple[str, ...] = ()
    """Of a mixture the codes of the other fault: both are the first causes, in any order."""


@contextmanager
def _on_pool(*faults: Callable[[Lab], AbstractContextManager[Any]], lab: Lab) -> Iterator[str]:
    """These at once, on a pool of two copies."""
    with pool_on(lab, size=2) as pool, ExitStack() as stack:
        for fault in faults:
            stack.enter_context(fault(lab))
        yield f"rbd:{pool}"


def _with(*faults: Callable[[Lab], AbstractContextManager[Any]]) -> Callable[[Lab], Target]:
    return lambda lab: _on_pool(*faults, lab=lab)


@contextmanager
def slow_commits(lab: Lab) -> Iterator[None]:
    """What one OSD writes to its disk takes longer."""
    with slow_calls(provoking.osd_pids(lab)[_OSD], "io_submit", _COMMIT_SECONDS):
        yield


@contextmanager
def _slow_commits_of_all(lab: Lab) -> Iterator[None]:
    """The disks of all OSDs, which are called SSDs, take long for a flush."""
    with ExitStack() as stack:
        for osd, pid in provoking.osd_pids(lab).items():
            stack.enter_context(slow_calls(pid, "io_submit", _COMMIT_SECONDS))
            lab.ceph("osd", "crush", "set-device-class", "ssd", f"osd.{osd}")
            stack.callback(lab.ceph, "osd", "crush", "rm-device-class", f"osd.{osd}")
        yield


@contextmanager
def little_cpu(lab: Lab) -> Iterator[None]:
    """One OSD has a small part of a CPU; raises NotProvoked where cgroups can't be made."""
    pid = provoking.osd_pids(lab)[_OSD]
    try:
        _CPU_GROUP.mkdir(exist_ok=True)
        (_CPU_GROUP / "cpu.cfs_period_us").write_text(str(_PERIOD_US))
        (_CPU_GROUP / "cpu.cfs_quota_us").write_text(str(_QUOTA_US))
        (_CPU_GROUP / "cgroup.procs").write_text(str(pid))
    except OSError as error:
        raise NotProvoked(f"a cgroup with a CPU quota: {error.strerror}") from None
    try:
        yield
    finally:
        (_CPU_GROUP.parent / "cgroup.procs").write_text(str(pid))
        _CPU_GROUP.rmdir()


@contextmanager
def _option(lab: Lab, name: str, value: str, of: str = "osd") -> Iterator[None]:
    lab.ceph("config", "set", of, name, value)
    try:
        yield
    finally:
        lab.ceph("config", "rm", of, name)


@contextmanager
def _recovering(lab: Lab) -> Iterator[None]:
    """Data moves, slowly, all the time."""
    with pool_on(lab) as pool, _option(lab, "osd_recovery_sleep", "0.2"), _option(lab, "osd_max_backfills", "1"):
        provoking.fill(lab, pool, 768)
        with provoking.osd_out(lab, 2, 1.0):
            yield
            lab.ceph("config", "rm", "osd", "osd_recovery_sleep")


@contextmanager
def _scrubbing(lab: Lab) -> Iterator[None]:
    with pool_on(lab) as pool:
        provoking.fill(lab, pool, 768)
        over = threading.Event()

        def again() -> None:
            while not over.wait(8):
                for osd in OSDS:
                    lab.ceph("osd", "deep-scrub", str(osd))

        with provoking.deep_scrub(lab), provoking.meanwhile(again, over.set):
            yield


@contextmanager
def _on_one_osd(lab: Lab) -> Iterator[str]:
    """A pool of one PG."""
    with pool_on(lab, pgs=1) as pool:
        yield f"rbd:{pool}"


@contextmanager
def _another(lab: Lab) -> Iterator[str]:
    with pool_on(lab, size=2) as pool, provoking.another_client(lab, pool, "16K", 32):
        yield f"rbd:{pool}"


@contextmanager
def _own_sysfs(lab: Lab) -> Iterator[None]:
    """Hosts that show their own interfaces in /sys, and not those of this machine."""
    with ExitStack() as stack:
        for node in lab.nodes:
            lab.on(node, "mount", "-t", "sysfs", "sysfs", "/sys").check_returncode()
            stack.callback(lab.on, node, "umount", "/sys")
        yield


@contextmanager
def _other_mtu(lab: Lab, machine: str = "lab2") -> Iterator[None]:
    set_to = partial(lab.on, machine, "ip", "link", "set", "dev", "eth0", "mtu")
    with _own_sysfs(lab):
        usual = lab.on(machine, "cat", "/sys/class/net/eth0/mtu").stdout.strip()
        set_to("1300")
        try:
            yield
        finally:
            set_to(usual)


@contextmanager
def _thin(lab: Lab) -> Iterator[str]:
    with provoking.image(lab, lab.pool, "thin", 256, full=False) as target:
        yield target


@contextmanager
def _limited(lab: Lab) -> Iterator[str]:
    """New images of a pool are held at 100 IOPS each."""
    with pool_on(lab, size=2) as pool:
        lab.rbd("config", "pool", "set", pool, "rbd_qos_iops_limit", "100")
        yield f"rbd:{pool}"


@contextmanager
def _one_primary(lab: Lab) -> Iterator[str]:
    """The OSDs but one are never the primary of a PG."""
    others = [str(osd) for osd in OSDS if osd != _OSD]
    with pool_on(lab, size=len(OSDS)) as pool:
        for osd in others:
            lab.ceph("osd", "primary-affinity", osd, "0")
        wait_clean(lab, 180)
        try:
            yield f"rbd:{pool}"
        finally:
            for osd in others:
                lab.ceph("osd", "primary-affinity", osd, "1")


@contextmanager
def _osd_down(lab: Lab, osd: int = 2) -> Iterator[None]:
    kill_osd(lab, osd)
    lab.ceph("osd", "down", str(osd))  # at once: until then some PGs serve nobody
    time.sleep(_PEERING_SECONDS)
    try:
        yield
    finally:
        start_osd(lab, osd)


@contextmanager
def _held_back(lab: Lab) -> Iterator[None]:
    """mClock believes that an OSD is very slow; raises NotProvoked where it is not at work."""
    queue = lab.ceph("config", "get", "osd", "osd_op_queue")
    if "mclock" not in str(queue):
        raise NotProvoked(f"osd_op_queue is {queue}")
    with _option(lab, "osd_mclock_max_capacity_iops_ssd", "10", f"osd.{_OSD}"):
        yield


_ALL = ("lab",)
_link = partial(provoking.sends_at_most, machines=["lab2"], rate="300mbit")
_lossy = partial(provoking.loses_packets, machine="lab1")
_far = partial(provoking.slow_cable, machine="lab1", seconds=0.002)
_far_and_lossy = partial(provoking.slow_cable, machine="lab1", seconds=0.002, lost=0.01)
_loops = partial(provoking.busy_loops, node="lab1")
_levels = partial(_option, name="debug_osd", value="20/20")
_cap = partial(_option, name="osd_client_message_cap", value="4")
_size_cap = partial(set_at_run_time, name="osd_client_message_size_cap", value="8192")
_throttle = partial(set_at_run_time, name="bluestore_throttle_bytes", value="8192")
FAULTS = (
    *(Fault(f"healthy {number}", _with(), ()) for number in range(1, _HEALTHY + 1)),
    Fault("slow commits", _with(slow_commits), ("slow-osd",)),
    Fault("slow commits of all OSDs", _with(_slow_commits_of_all), ("slow-commits",)),
    Fault("an OSD with little CPU", _with(little_cpu), ("slow-osd",)),
    Fault("a link of 300 Mbit/s", _with(_link), ("slow-link",), _ALL),
    Fault("a link that loses packets", _with(_lossy), ("retransmits", "nic-drops")),
    Fault("a way of 2 ms to the OSDs", _with(_far), ("round-trip",)),
    Fault("2 ms and 1 % lost", _with(_far_and_lossy), ("round-trip",), second=("retransmits", "disordered")),
    Fault("another MTU", _with(_other_mtu), ("mtu",), _ALL),
    Fault("the message cap", _with(_cap), ("message-cap", "low-limits")),
    Fault("the cap on the size of messages", _with(_size_cap), ("message-cap",)),
    Fault("the throttle of BlueStore", _with(_throttle), ("low-limits",)),
    Fault("one primary for all PGs", _one_primary, ("few-osds",)),
    Fault("recovery", _with(_recovering), ("recovery", "pgs", "osd-out")),
    Fault("deep scrub", _with(_scrubbing), ("scrub",)),
    Fault("one OSD for all PGs", _on_one_osd, ("few-osds",)),
    Fault("a client without CPU", _with(_loops), ("cpu-taken", "client-cpu")),
    Fault("another client", _another, ("other-clients",)),
    Fault("a thin image", _thin, ("thin", "holes")),
    Fault("a QoS limit", _limited, ("qos-limit",)),
    Fault("an OSD down", _with(_osd_down), ("osd-down",)),
    Fault("debug levels", _with(_levels), ("debug-levels",)),
    Fault("a capacity of 10 IOPS", _with(_held_back), ("mclock-capacity",)),
    Fault("little CPU and lost packets", _with(little_cpu, _lossy), ("slow-osd",), second=("retransmits", "nic-drops")),
    Fault(
        "slow commits and the throttle", _with(slow_commits, _throttle), ("slow-osd",), second=("bluestore-throttle",)
    ),
    Fault("slow commits and the cap", _with(slow_commits, _cap), ("slow-osd",), second=("message-cap",)),
    Fault("scrub and a client without CPU", _with(_scrubbing, _loops), ("scrub",), second=("cpu-taken", "client-cpu")),
)


def rows(root: Path, say: Say, release: str = "", named: Sequence[str] = ()) -> Iterator[Row]:
    """How many faults were named first, and how many causes healthy labs have; ``release`` is that of the lab."""
    right, provoked, invented, healthy = 0, 0, 0, 0
    faults = [fault for fault in FAULTS if not named or fault.title in named]
    with slow_lab(*(("--release", release) if release else ())) as lab:
        for number, fault in enumerate(faults):
            wait_clean(lab, 180)
            try:
                with fault.provoke(lab) as target:
                    causes = _causes(lab, root / str(number), target, fault.nodes)
            except (NotProvoked, AssertionError) as error:
                say(f"{fault.title}: not provoked: {error}")
                continue
            codes = [cause["code"] for cause in causes]
            is_right = _is_right(fault, codes)
            say(f"{fault.title}: {'right' if is_right else 'WRONG'}: {', '.join(codes) or 'nothing stands out'}")
            for cause in causes[:3]:
                say(f"    {_words(cause)}")
            provoked, right = provoked + bool(fault.first), right + (is_right and bool(fault.first))
            healthy, invented = healthy + (not fault.first), invented + (0 if fault.first else len(codes))
    yield row("faults named first", right, f"of {provoked} faults", at_least(provoked))
    yield row("causes of healthy labs", invented, f"of {healthy} labs", at_most(0))


def _is_right(fault: Fault, codes: Sequence[str]) -> bool:
    if not fault.second:
        return codes[:1] == [code for code in codes[:1] if code in fault.first] and bool(codes) == bool(fault.first)
    first, *more = codes[:2] or [""]
    kinds = (fault.first, fault.second)
    return any(first in one and more and more[0] in other for one, other in (kinds, kinds[::-1]))


def _causes(lab: Lab, root: Path, target: str, nodes: Sequence[str]) -> list[Mapping[str, Any]]:
    """What is said, the first cause first."""
    root.mkdir(parents=True)
    bench = Bench(lab, Sandbox(root))
    try:
        words = [word for node in nodes for word in ("--node", node)]
        where = ("--config", str(bench.config), *words, "--target", target, "--shared-pool")
        measured = bench.cephtui("why", *where, "--session", "why", seconds=_SECONDS)
        said = bench.cephtui("why", "why", "--json")
        lines = [json.loads(line) for line in said.stdout.splitlines()]
        assert lines, f"{measured.describe()}\n{said.describe()}"
        shown = bench.cephtui("why", "why", "--format", "md")
        (root.parent / f"{root.name}.md").write_text(shown.stdout)
        return [line for line in lines if line["event"] == "cause"]
    finally:
        bench.sandbox.kill_all()


def _words(cause: Mapping[str, Any]) -> str:
    cost = cause["cost_seconds"]
    costs = "" if cost is None else f", {1e3 * cost:.2f} of {1e3 * cause['of_seconds']:.2f} ms ({cause['flow']})"
    return f"{cause['code']} ({cause['sureness']}{costs}): {cause['evidence'][0]}"
