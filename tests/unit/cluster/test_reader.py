"""The reader of a cluster and what stands on it, before and during a run, on recorded answers."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

import pytest

from cephtui.ceph import cluster
from cephtui.ceph.cluster import ClusterState
from cephtui.ceph.osd_counters import OsdRound
from cephtui.cluster import monitor, preflight, reader
from cephtui.cluster.monitor import Observation
from cephtui.cluster.preflight import Preflight
from cephtui.cluster.reader import ClusterError, ClusterReader
from cephtui.models import Node, NodeStep, RbdPlace, Step
from cephtui.nodes.shell import NodeShell
from cephtui.nodes.transport import Chunk, Command, Completed, TransportError
from cephtui.targets import parse_target
from tests.support import plans
from tests.support.clusters import ANSWERS, RecordedShell, ok
from tests.support.golden import Golden

DENIED = Completed(13, "", "Error EACCES: access denied")
NO_CEPH = Completed(127, "", "env: 'ceph': No such file or directory")
GIB = 1 << 30


def status(**pgmap: object) -> str:
    """The healthy cluster's, with other figures of its PGs."""
    said = json.loads((ANSWERS / "healthy" / "status.stdout").read_text())
    said["pgmap"].update(pgmap)
    return json.dumps(said)


# ---------------------------------------------------------------------------------------------- the reader


async def test_an_answer_is_typed_and_what_the_caps_deny_is_recorded(golden: Golden) -> None:
    asked = ClusterReader(RecordedShell("denied"))

    assert "rec" in (await asked.ask(reader.OSD_MAP)).pools
    assert await asked.permitted(reader.OSD_USAGE) is None
    assert await asked.optional(reader.PGS) is None
    assert await asked.optional(reader.USAGE) is not None

    assert asked.denied == ["ceph osd df", "ceph pg dump pgs_brief"]
    with golden.raises(ClusterError) as raised:
        await asked.ask(reader.OSD_USAGE)
    assert raised.value.denied


@pytest.mark.parametrize(
    ("answer", "remedy"),
    [
        (NO_CEPH, "apt-get install ceph-common"),
        (Completed(1, "", "unable to get monitor info from DNS SRV"), "--ceph-conf"),
        (Completed(1, "", "Error EINVAL: invalid command"), ""),
        (ok("junk"), ""),
    ],
)
async def test_a_failure_is_one_error_with_its_reason(answer: Completed, remedy: str, golden: Golden) -> None:
    asked = ClusterReader(RecordedShell("healthy", ceph_osd_dump=answer))

    with pytest.raises(ClusterError) as raised:
        await asked.permitted(reader.OSD_MAP)

    refusal = raised.value.refusal
    golden.same(refusal.text)
    assert remedy in refusal.remedy
    assert bool(refusal.remedy) == bool(remedy)
    assert str(raised.value) == refusal.text
    assert (raised.value.denied, raised.value.missing) == (False, False)
    assert await asked.optional(reader.OSD_MAP) is None
    assert asked.denied == [], "what failed otherwise was not denied"


@pytest.mark.parametrize(
    "answer", [ok("junk"), ok("[]"), ok("[[0, 1]]"), Completed(127, "", ""), Completed(1, "", "?")]
)
async def test_where_a_batch_fails_each_query_is_asked_alone(answer: Completed) -> None:
    shell = RecordedShell("healthy", python3=answer)
    asked = ClusterReader(shell)

    await asked.fetch(reader.STATUS, reader.OSD_MAP)

    assert (await asked.status()).osds == 3
    assert "rec" in (await asked.ask(reader.OSD_MAP)).pools
    assert [argv[0] for argv in shell.asked] == ["ceph", "ceph"]


async def test_a_batch_is_one_command_and_each_answer_is_taken_once() -> None:
    shell = RecordedShell("denied")
    asked = ClusterReader(shell)

    await asked.fetch(reader.STATUS, reader.OSD_USAGE)
    assert shell.batches == 1
    shell.instead["ceph"] = Completed(1, "", "asked again")

    assert (await asked.status()).osds == 3
    assert await asked.optional(reader.OSD_USAGE) is None
    assert asked.denied == ["ceph osd df"]
    with pytest.raises(ClusterError, match="asked again"):
        await asked.status()


async def test_monitors_that_do_not_answer_are_not_asked_again(golden: Golden) -> None:
    silent = Completed(110, "", "[errno 110] RADOS timed out (error connecting to the cluster)")
    shell = RecordedShell("healthy", python3=silent)
    asked = ClusterReader(shell)

    await asked.fetch(reader.STATUS, reader.OSD_MAP)

    with golden.raises(ClusterError):
        await asked.status()
    assert shell.asked == []


async def test_what_is_missing_is_told_from_what_can_not_be_asked(golden: Golden) -> None:
    error = "rbd: error opening {}: (2) No such file or directory"
    no_image, no_pool = (
        RecordedShell(rbd_info=Completed(2, "", error.format(name))) for name in ("image x", "pool 'rec'")
    )

    for shell in (no_image, no_pool):
        with golden.raises(ClusterError) as raised:
            await ClusterReader(shell).ask(reader.image_info("rec", "x"))
        assert raised.value.missing
    with golden.raises(ClusterError) as raised:
        await ClusterReader(RecordedShell(rbd_info=DENIED)).ask(reader.image_info("rec", "x"))
    assert not raised.value.missing


# ---------------------------------------------------------------------------------------------- before a run


def step(*, writes: bool = True, data_pool: str | None = None) -> Step:
    node = NodeStep(node="n1", argv=("fio",), command="fio", place=RbdPlace(kind="rbd", pool="rec", images=()))
    return plans.step(target="rbd:rec", data_pool=data_pool, writes=writes, nodes=(node,), run_seconds=1.0)


async def check(shell: RecordedShell, of: Step, new_bytes: int, target: str = "rbd:rec") -> Preflight:
    return await preflight.check(shell, parse_target(target).demand(of, new_bytes))


async def checked(shell: RecordedShell, target: str = "rbd:rec", of: Step | None = None) -> str:
    """Why a run is refused; empty where it is not."""
    checked_step = of or step()
    found = await check(shell, checked_step, 1 << 20 if checked_step.writes else 0, target)
    return found.refusal.text if found.refusal else ""


async def test_what_a_cluster_is_like_before_a_run() -> None:
    found = await check(RecordedShell("healthy"), step(), 1 << 20)

    assert (found.refusal, found.is_full, found.pools) == (None, False, ("rec",))
    assert found.state is not None
    assert found.environment is not None
    assert found.environment.health == found.state.health
    assert (found.environment.pool["name"], found.environment.pool["size"]) == ("rec", 2)
    assert found.environment.no_permission == ()
    assert "space" not in {finding.code for finding in found.findings}


async def test_what_is_set_is_kept_and_asked_in_the_same_command() -> None:
    osds = json.loads((ANSWERS / "healthy" / "osd-usage.stdout").read_text())
    for osd, device_class in zip(osds["nodes"], ("hdd", "ssd", "hdd"), strict=True):
        osd["device_class"] = device_class
    shell = RecordedShell("healthy", ceph_osd_df=ok(osds))
    found = (await check(shell, step(data_pool="recdata"), 1 << 20)).environment

    assert shell.batches == 1
    assert found is not None
    assert found.config is not None
    assert found.config["osd osd_op_num_shards_hdd"] == "8"
    assert "hunter" not in found.model_dump_json()
    assert found.osd_flags == ("pglog_hardlimit", "purged_snapdirs", "recovery_deletes", "sortbitwise")
    assert found.osds_by_class == {"hdd": 2, "ssd": 1}
    classes = {str(osd["id"]): osd["device_class"] for osd in osds["nodes"]}
    assert found.class_by_osd == {osd: classes[osd] for osd in found.pgs_by_osd} != {}
    assert found.pool["pg_num_target"] is None
    assert found.pool_settings["ec m"] == "1"
    assert found.pool_settings["crush_rule steps"].endswith("take default, choose_indep 0 osd, emit")
    assert found.pool_settings["metadata application"] == "rbd"


async def test_where_the_pool_is_is_kept() -> None:
    nodes = [
        {"id": -1, "name": "default", "type": "root", "children": [-2]},
        {"id": -2, "name": "lab", "type": "host", "children": [0, 1, 2]},
        *({"id": osd, "name": f"osd.{osd}", "type": "osd"} for osd in range(3)),
    ]
    found = (await check(RecordedShell("healthy", **{"ceph_osd_tree_-f": ok({"nodes": nodes})}), step(), 0)).environment

    assert found is not None
    assert (found.osds_by_host, found.failure_domain, found.networks_apart) == ({"lab": 3}, "osd", False)
    assert set(found.pgs_by_osd) == {"0", "1", "2"}
    assert sum(found.pgs_by_osd.values()) == 16 * 2


@pytest.mark.parametrize("answer", [DENIED, ok("junk"), Completed(22, "", "Error EINVAL: invalid command")])
async def test_a_configuration_that_can_not_be_read_ends_no_run(answer: Completed) -> None:
    found = await check(RecordedShell("healthy", ceph_config_dump=answer), step(), 1 << 20)

    assert found.refusal is None
    assert found.environment is not None
    assert found.environment.config is None
    assert found.environment.no_permission == (("ceph config dump",) if answer is DENIED else ())


async def test_a_run_goes_on_without_what_the_caps_deny_and_says_so() -> None:
    found = await check(RecordedShell("denied"), step(), 1 << 20)

    assert found.refusal is None
    assert found.environment is not None
    assert set(found.environment.no_permission) == {
        "ceph osd df",
        "ceph pg dump pgs_brief",
        "ceph config get osd osd_op_queue",
        "ceph config get osd osd_mclock_profile",
    }
    assert "space" in {finding.code for finding in found.findings}


async def test_the_pools_of_a_run_are_guarded(golden: Golden) -> None:
    golden.same(await checked(RecordedShell("healthy"), "rbd:nope"))
    golden.same(await checked(RecordedShell("healthy"), of=step(data_pool="nope")))
    golden.same(await checked(RecordedShell("healthy"), "rbd:recdata"))
    assert await checked(RecordedShell("healthy"), "pool:recdata") == ""
    assert await checked(RecordedShell("healthy"), of=step(data_pool="recdata")) == ""
    full = await check(RecordedShell("healthy"), step(), 1 << 50)
    assert full.is_full
    assert full.refusal is not None
    golden.same(full.refusal.text)
    # to be read, an image is opened for writing, which hangs in a full pool; objects are not
    reads = step(writes=False)
    golden.same(await checked(RecordedShell("full", "healthy"), "rbd:rec/image", of=reads))
    assert await checked(RecordedShell("full", "healthy"), "pool:rec", of=reads) == ""


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("ceph_status", NO_CEPH),
        ("ceph_status", ok("junk")),
        ("ceph_status", TransportError("n1: can't start ceph")),
        ("ceph_osd_dump", DENIED),
    ],
)
async def test_a_cluster_that_can_not_be_asked_refuses_with_the_node(
    command: str, answer: Completed | TransportError, golden: Golden
) -> None:
    shell = RecordedShell("healthy", bash_access=ok("done\t\n"), **{command: answer})

    golden.same(await checked(shell))
    refusal = await preflight.guard_service(ClusterReader(shell), "rec")
    assert refusal is not None
    assert refusal.text.startswith("n1: ")
    golden.same(await preflight.cluster_health(shell))
    if command == "ceph_osd_dump":
        assert await preflight.room_bytes(shell, "rec") is None


async def test_only_where_pgs_are_not_active_all_are_asked_for(golden: Golden) -> None:
    healthy = RecordedShell("healthy")
    down = status(pgs_by_state=[{"state_name": "down", "count": 1}])
    inactive = RecordedShell("healthy", ceph_status=ok(down), ceph_pg_dump=DENIED)

    assert await preflight.guard_service(ClusterReader(healthy), "rec") is None
    assert len(healthy.asked) == 2
    refusal = await preflight.guard_service(ClusterReader(inactive), "rec")
    assert refusal is not None
    golden.same(refusal.text)


async def test_osds_that_wait_for_pgs_have_their_other_reasons_too(golden: Golden) -> None:
    """The guard on the OSDs themselves names one that is down; what hides it would be waited for in vain."""
    peering = RecordedShell("healthy", ceph_status=ok(status(pgs_by_state=[{"state_name": "peering", "count": 1}])))
    before = await check(peering, step(), 0, "osd:*")
    assert before.refusal is not None
    assert (before.refusal.passes, before.state is not None, before.environment is not None) == (True, True, True)
    golden.same(before.refusal.problem)


def use(count: int) -> Completed:
    return ok(f"images\t4\nlooked\t4\nused\t{count}\n")


def io(*iops: int) -> list[Completed]:
    return [ok([{"pool_name": "rec", "client_io_rate": {"read_op_per_sec": number}}]) for number in iops]


class Busy(RecordedShell):
    """Its clients' rates are other ones with every query; the last stay."""

    def __init__(self, rates: list[Completed], used: int = 0) -> None:
        super().__init__("healthy", bash_images=use(used))
        self.rates = rates
        self.queries = 0

    def _answer(self, argv: tuple[str, ...]) -> Completed:
        if argv[:4] == ("ceph", "osd", "pool", "stats"):
            self.queries += 1
            return self.rates[min(self.queries, len(self.rates)) - 1]
        return super()._answer(argv)


async def test_rates_that_decay_are_waited_for_where_something_depends_on_them(
    monkeypatch: pytest.MonkeyPatch,
    golden: Golden,
) -> None:
    now = 0.0

    async def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds

    monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: now)
    monkeypatch.setattr(asyncio, "sleep", sleep)
    decaying, lasting, hasty, open_images, own = (
        Busy(io(9, 5, 0)),
        Busy(io(9)),
        Busy(io(9, 0)),
        Busy(io(9, 0), used=1),
        Busy(io(9)),
    )

    said: list[str] = []
    quiet = await preflight.pool_activity(decaying, "rec", on_wait=said.append)
    golden.same(said)
    assert (quiet.client_iops, quiet.images_in_use, quiet.images) == (0.0, 0, 4)
    golden.same(quiet.text)
    assert (await preflight.pool_activity(lasting, "rec", on_wait=print)).client_iops == 9.0
    assert (await preflight.pool_activity(hasty, "rec")).client_iops == 9.0
    assert (await preflight.pool_activity(open_images, "rec", on_wait=print)).client_iops == 9.0, "it is in use anyway"
    after = await preflight.pool_activity(own, "rec", own_load=True)
    assert (after.client_iops, own.queries) == (None, 0)
    golden.same(after.text)


# ---------------------------------------------------------------------------------------------- during a run


@dataclass
class Watch:
    """See Process: what the command that asks the cluster prints, and whether it then ends."""

    pieces: Sequence[bytes]
    ends: bool = True
    released_at: float = 0.0
    longest_pause_seconds: float = 0.0
    connection_lost: bool = False
    calls: list[str] = field(default_factory=list)

    def release(self) -> None:
        self.calls.append("release")

    def go_on(self) -> None:
        raise AssertionError("it waits for nothing")

    async def chunks(self) -> AsyncIterator[Chunk]:
        yield Chunk("stderr", time.monotonic(), b"{")
        for piece in self.pieces:
            yield Chunk("stdout", time.monotonic(), piece)
        if not self.ends:
            await asyncio.Event().wait()

    async def stop(self) -> None:
        self.calls.append("stop")

    async def wait(self) -> int | None:
        self.calls.append("wait")
        return 0


@dataclass
class Watching:
    """See Connection: starts one watch after the other; the last again and again."""

    watches: Sequence[Watch]
    node: Node = field(default_factory=lambda: Node(name="n1", ceph_id="restricted", ceph_prefix=("sudo", "-n")))
    round_trip_seconds: float = 0.0
    closed: bool = False
    started: list[tuple[str, ...]] = field(default_factory=list)

    async def run(self, argv: Sequence[str], *, timeout_seconds: float = 30.0, stdin: str = "") -> Completed:
        raise AssertionError(f"not to be run: {argv}")

    async def start(self, command: Command) -> Watch:
        self.started.append((*command.prefix, *command.argv))
        return self.watches[min(len(self.started), len(self.watches)) - 1]

    async def close(self) -> None:
        self.closed = True


def shell_of(watching: Watching) -> NodeShell:
    return NodeShell(watching.node, watching)


def observation(seen: Observation | OsdRound) -> Observation:
    assert isinstance(seen, Observation)
    return seen


def down(*osds: str) -> bytes:
    return json.dumps({"nodes": [{"type": "osd", "name": name} for name in osds], "stray": []}).encode() + b"\n"


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(monitor, "WATCH_SECONDS", 0.0)


STATE = status().encode() + b"\n"
PERF = (ANSWERS / "healthy" / "osd-perf.stdout").read_bytes().strip() + b"\n"


async def test_each_state_is_yielded_with_the_latest_of_all_else() -> None:
    text = b"".join([down("osd.1"), down("osd.2"), STATE, PERF, down(), down("osd.2"), STATE, down()])
    watch = Watch([text[:100], text[100:101], text[101:]], ends=False)
    watching = Watching([watch])

    async with contextlib.aclosing(monitor.observe(shell_of(watching), "rec")) as observations:
        first, second = observation(await anext(observations)), observation(await anext(observations))
        assert "stop" not in watch.calls

    assert (first.down, first.out, first.latency) == (("osd.1",), ("osd.2",), None)
    assert (second.down, second.out) == ((), ("osd.2",))
    assert second.latency is not None
    assert second.state == first.state == cluster.parse_status(status())
    assert second.sample().osd_latency_seconds.keys() == {str(osd) for osd in second.latency.seconds}
    assert watch.calls == ["release", "stop", "wait"]
    (argv,) = watching.started
    assert argv[:4] == ("sudo", "-n", "env", "CEPH_ARGS=--id restricted")


def test_names_of_osds_are_stored_only_where_some_are_away() -> None:
    state = ClusterState("HEALTH_OK", osds=3, osds_up=2, osds_in=3)
    sample = Observation(state, down=("osd.1",), out=("osd.9",)).sample()
    assert (sample.osds_down, sample.osds_out) == (("osd.1",), ())
    assert Observation(state).sample().osds_down is None, "not known"


async def test_a_monitor_that_is_cancelled_ends_its_command() -> None:
    watch = Watch([STATE], ends=False)
    seen: list[Observation] = []

    async def follow() -> None:
        async with contextlib.aclosing(monitor.observe(shell_of(Watching([watch])), "rec")) as observations:
            async for one in observations:
                seen.append(observation(one))

    task = asyncio.create_task(follow())
    while not seen:
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

    assert task.cancelled()
    assert watch.calls == ["release", "stop", "wait"]


@pytest.mark.usefixtures("hurried")
async def test_a_command_that_ends_is_started_again_but_not_for_ever(golden: Golden) -> None:
    watches = [Watch([STATE]), Watch([]), Watch([STATE, STATE]), Watch([])]
    watching = Watching(watches)
    seen: list[Observation] = []

    async def follow() -> None:
        async for one in monitor.observe(shell_of(watching), "rec"):
            seen.append(observation(one))

    with golden.raises(ClusterError):
        await follow()

    assert len(seen) == 3
    assert len(watching.started) == 5
    assert all(watch.calls[:3] == ["release", "stop", "wait"] for watch in watches)


@pytest.mark.usefixtures("hurried")
async def test_a_connection_that_is_lost_ends_the_monitor(golden: Golden) -> None:
    watching = Watching([Watch([STATE])], closed=True)

    with golden.raises(TransportError):
        _ = [one async for one in monitor.observe(shell_of(watching), "rec")]

    assert len(watching.started) == 1


async def test_a_pool_whose_name_ceph_can_not_take_is_not_asked_for(golden: Golden) -> None:
    watching = Watching([Watch([STATE])])

    with golden.raises(ClusterError):
        _ = [one async for one in monitor.observe(shell_of(watching), "a b")]

    assert watching.started == []
