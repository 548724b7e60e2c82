"""What a run measured in one interval, and the state of the cluster at a moment of it."""

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Any, Literal

from pydantic import Field

from cephtui.frozen import dataclass
from cephtui.models.base import SCHEMA_VERSION, Amount, Elapsed, Line, Model, Name, NamesOf, Phase
from cephtui.models.metrics import flows_of

_IF_KNOWN: Any = Field(default=None, exclude_if=lambda value: value is None)


GRID_BUCKETS = 1856
"""The number of buckets of the latency grid."""
BUCKETS_ABOUT = (
    "Completions per bucket of the fixed latency grid, only buckets that hold any. Bucket i below 128 holds i "
    "nanoseconds; above, with e = i // 64 - 1, it holds the 2**e nanoseconds from (64 + i % 64) * 2**e on. There are "
    "1856 buckets, 64 to an octave."
)


@dataclass(frozen=True, slots=True)
class Interval:
    """What one flow (reads, writes or another) did in one interval; a dataclass because there are many of them."""

    ios: int | None
    """I/O operations completed in the interval; null where the tool does not count them."""
    bytes: int
    iops: float | None
    bandwidth_bytes: float | None
    """Bytes per second; null for what moves no bytes, such as a flush."""
    latency_mean_seconds: float | None = None
    """Mean completion latency; null where nothing completed or the tool measured none."""
    latency_p99_seconds: float | None = None
    latency_buckets: Annotated[
        Mapping[int, int] | None,
        Field(description=BUCKETS_ABOUT, json_schema_extra={"propertyNames": {"pattern": "^[0-9]+$"}}),
    ] = None
    retransmits: int | None = None
    """TCP segments that were sent again; left out where the tool does not count them."""
    rtt_seconds: float | None = None
    """Round-trip time as TCP has measured it, the mean of all streams; left out where it is not known."""

    def carries(self, percent: float) -> bool:
        """True: a second is drawn with the percentile that it has, however few I/Os that rests on."""
        return True


@dataclass(frozen=True, slots=True)
class JobSample:
    """What one job did in one direction, where the tool reports jobs apart while they run."""

    job: str
    direction: str
    ios: int | None
    bytes: int
    seconds: float
    """How long the job took."""
    group: Annotated[str, Field(description="What it is compared within, such as the device class of an OSD.")] = ""
    place: Annotated[str, Field(description="Where it is, in words.")] = ""


@dataclass(frozen=True, slots=True)
class Sample:
    """One interval of one node, or of all nodes merged."""

    run: int
    node: Annotated[str | None, Field(description="The node's name; null for all nodes merged.")]
    preset: str
    phase: Phase
    elapsed_seconds: Annotated[
        float,
        Field(description="End of the interval, from the release of the benchmark (in prepare: of the prefill)."),
    ]
    interval_seconds: float
    read: Interval | None
    write: Interval | None
    missing: Annotated[
        tuple[str, ...],
        Field(description="Nodes without output in time: their part is not in the figures of all nodes."),
    ] = ()
    other: Annotated[
        Mapping[str, Interval],
        Field(description="What was done beside reads and writes, by the tool's name for it; left out where nothing."),
    ] = field(default_factory=dict)
    jobs: Annotated[
        tuple[JobSample, ...],
        Field(description="What the jobs of the node did, where they are reported apart; left out where they are not."),
    ] = ()
    event: Literal["sample"] = "sample"

    @property
    def flows(self) -> dict[str, Interval]:
        """All flows by name: ``read``, ``write``, then the others."""
        return flows_of(self.read, self.write, self.other)


class StateSample(Model):
    """What is watched during a run beside its figures, at a moment."""

    event: Literal["cluster", "node-sample", "osds"]
    schema_version: int = SCHEMA_VERSION
    run: int
    phase: Phase = "run"
    elapsed_seconds: Elapsed
    """When the answer came, from the release of the benchmark (in prepare: from the beginning of the run)."""


class ClusterSample(StateSample):
    """The state of the cluster at a moment of a run."""

    event: Literal["cluster"] = "cluster"
    health: Line | None = None
    osds: int | None = None
    osds_up: int | None = None
    osds_in: int | None = None
    osds_down: tuple[Name, ...] | None = None
    """The names of OSDs that are down; null where they are not known, as in sessions of earlier versions."""
    osds_out: tuple[Name, ...] | None = None
    checks: dict[Name, Line] = Field(default_factory=dict)
    """What health complains of, by the code of the check; what is muted is left out."""
    flags: tuple[Name, ...] = ()
    """The flags of the whole cluster: ``noout``."""
    slow_ops: int | None = None
    monitors: int | None = None
    monitors_in_quorum: int | None = None
    pools: int | None = None
    pg_states: dict[Name, int] = Field(default_factory=dict)
    degraded_ratio: float | None = None
    """The fraction of all object copies that are degraded."""
    misplaced_ratio: float | None = None
    client_iops: float | None = None
    client_bandwidth_bytes: float | None = None
    recovery_bandwidth_bytes: float | None = None
    osd_latency_seconds: dict[Name, float] = Field(default_factory=dict)
    """Commit latency by the id of the OSD."""


class MachineUse(Model):
    """What a whole machine did for a time, not the benchmark alone; what is not known, or is nothing, is left out.

    Shares of CPU time are of all CPUs together.
    """

    cpus: int | None = _IF_KNOWN
    cpu_busy_ratio: Amount | None = _IF_KNOWN
    """Time that was not idle and not spent waiting for I/O; what the hypervisor took is in it."""
    cpu_steal_ratio: Amount | None = _IF_KNOWN
    """Time that the hypervisor gave to others."""
    cpu_own_ratio: Amount | None = _IF_KNOWN
    """Time of the benchmark's own processes, in user mode and in the kernel."""
    cpu_others_ratio: Amount | None = _IF_KNOWN
    """Time of programs that are neither the benchmark's nor daemons of Ceph; in user mode only where cgroups can't be
    read; of a lower priority only where the benchmark waited for a CPU longer than it had one."""
    processes_running: Amount | None = _IF_KNOWN
    """Threads that run or wait for a CPU."""
    memory_wait_ratio: Amount | None = _IF_KNOWN
    """The share of the time in which a process, or the kernel itself, waited for memory."""
    pages_swapped_in: int | None = _IF_KNOWN
    """Pages of memory that were read back from swap."""
    tcp_segments_sent: int | None = _IF_KNOWN
    """Segments that were sent for the first time; those that were sent again are not among them."""
    tcp_segments_resent: int | None = _IF_KNOWN
    """Segments that were sent again, less those that the receiver had already: a late answer is no loss."""
    tcp_segments_received: int | None = _IF_KNOWN
    tcp_segments_disordered: int | None = _IF_KNOWN
    """Segments that came before others that had been sent earlier: these were lost, or took another way."""
    packets: int | None = _IF_KNOWN
    """Packets of the network interfaces, in and out."""
    nic_packets: dict[Name, int] = Field(default_factory=dict, exclude_if=lambda counts: not counts)
    """The same of each network interface that had any."""
    received_bytes_per_second: Amount | None = _IF_KNOWN
    sent_bytes_per_second: Amount | None = _IF_KNOWN
    nic_drops: dict[Name, int] = Field(default_factory=dict, exclude_if=lambda counts: not counts)
    """Packets that each network interface has dropped."""
    nic_errors: dict[Name, int] = Field(default_factory=dict, exclude_if=lambda counts: not counts)
    disk_busy_ratio: dict[Name, Amount] = Field(default_factory=dict, exclude_if=lambda ratios: not ratios)
    """The share of the time in which a disk had something to do."""
    round_trips_seconds: Annotated[dict[Name, Amount], NamesOf("address")] = Field(
        default_factory=dict, exclude_if=lambda trips: not trips
    )
    """The shortest round trip of a segment to each address of OSDs; known twice a minute, where the node has ``ss``."""
    clock_offset_seconds: float | None = _IF_KNOWN
    """How far the clock was ahead of the console's."""
    clock_step_seconds: float | None = _IF_KNOWN
    """How far the clock was set on or, below 0, back."""
    throttled: int | None = _IF_KNOWN
    """How often hot CPUs were throttled since the run began; known at its end, as are the two below."""
    throttled_seconds: Amount | None = _IF_KNOWN
    """How long, all CPUs added up; null where the kernel does not count it."""
    quota_ended: int | None = _IF_KNOWN
    """How often a CPU quota of the benchmark's cgroups ran out since the run began; known at its end."""
    quota_seconds: Amount | None = _IF_KNOWN
    """How long it held the cgroup back, all CPUs added up; known at the end of a run."""
    kernel_errors: tuple[Line, ...] = Field(default=(), exclude_if=lambda lines: not lines)
    """Lines of the kernel's log that tell of an error since the run began, the newest eight."""


class NodeSample(StateSample):
    """What one node did in an interval of a run, which ends then."""

    event: Literal["node-sample"] = "node-sample"
    node: Annotated[Name, NamesOf("node")]
    interval_seconds: Elapsed
    machine: MachineUse


def _is_nothing(value: object) -> bool:
    return not value


_LEFT_OUT = Field(exclude_if=_is_nothing)


class OsdInterval(Model):
    """What one OSD counted in an interval; what is 0 or not known is left out."""

    interval_seconds: Annotated[Elapsed, _LEFT_OUT] = 0.0
    """The time since its answer before, where that is not the interval of the sample; left out where it is."""
    answer_seconds: Annotated[Amount, _LEFT_OUT] = 0.0
    """How long it took to answer for its counters, the longest of four round trips; left out below 10 ms."""
    reads: Annotated[int, _LEFT_OUT] = 0
    read_seconds: Annotated[Amount, _LEFT_OUT] = 0.0
    """Mean latency of its reads as their primary, from the receipt of the message to the answer."""
    writes: Annotated[int, _LEFT_OUT] = 0
    write_seconds: Annotated[Amount, _LEFT_OUT] = 0.0
    """Mean latency of its writes as their primary."""
    queue_seconds: Annotated[Amount, _LEFT_OUT] = 0.0
    """Of the latency of both, the mean time until a worker thread took them."""
    subops: Annotated[int, _LEFT_OUT] = 0
    """Writes as a replica, for another OSD."""
    subop_seconds: Annotated[Amount, _LEFT_OUT] = 0.0
    """Mean latency of these, from receipt to commit."""
    commits: Annotated[int, _LEFT_OUT] = 0
    """Transactions of its BlueStore that were committed."""
    commit_seconds: Annotated[Amount, _LEFT_OUT] = 0.0
    """Mean time that these took."""
    received: Annotated[int, _LEFT_OUT] = 0
    """Messages of clients that were received."""
    refused: Annotated[int, _LEFT_OUT] = 0
    """How often a message was not received yet, because osd_client_message_cap were in work."""
    refused_by_size: Annotated[int, _LEFT_OUT] = 0
    """How often it was not, because messages of osd_client_message_size_cap bytes were in work."""

    @property
    def op_seconds(self) -> float | None:
        """Mean latency of reads and writes as their primary; None without any."""
        operations = self.reads + self.writes
        total = self.reads * self.read_seconds + self.writes * self.write_seconds
        return total / operations if operations else None


class OsdSample(StateSample):
    """What the OSDs of the pool counted in an interval of a run, which ends then: of all their clients together."""

    event: Literal["osds"] = "osds"
    interval_seconds: Elapsed
    reads: int = 0
    writes: int = 0
    modifies: int = 0
    """Operations that read and write at once."""
    read_bytes: int = 0
    write_bytes: int = 0
    """Bytes written, with those of operations that read and write."""
    read_seconds: Amount | None = None
    """Mean latency of reads, from the receipt of the message by the primary to its answer; null without any."""
    read_process_seconds: Amount | None = None
    """Of it from a worker thread on."""
    read_prepare_seconds: Amount | None = None
    """Of it from a worker thread until the read is handed on."""
    write_seconds: Amount | None = None
    """Mean latency of writes, from the receipt of the message by the primary to its answer; null without any."""
    write_process_seconds: Amount | None = None
    """Of it from a worker thread on."""
    write_prepare_seconds: Amount | None = None
    """Of it from a worker thread until the transaction is handed on."""
    commits: int = 0
    """Transactions of BlueStore that were committed, those of other OSDs' writes included."""
    commit_seconds: Amount | None = None
    """Mean time that a transaction took until its commit; null without BlueStore."""
    kv_queue_seconds: Amount | None = None
    """Of it in the queue of the key-value store (RocksDB)."""
    kv_commit_seconds: Amount | None = None
    """Of it until the key-value store had committed."""
    throttle_seconds: Amount | None = None
    """Of it held by BlueStore's throttle."""
    message_cap: int | None = None
    """The lowest osd_client_message_cap of the OSDs: messages of clients that one may have in work at once."""
    size_cap_bytes: int | None = Field(default=None, exclude_if=lambda cap: cap is None)
    """The lowest osd_client_message_size_cap, which is for the bytes of these; left out where it is not known."""
    operations_per_io: Amount | None = None
    """How many operations of clients an I/O of the run is at most; null where that is not known."""
    osds: dict[Name, OsdInterval] = Field(default_factory=dict)
    """Each OSD that answered, by its id."""
    missing: tuple[Name, ...] = ()
    """The ids of OSDs that were asked and are not in it: they did not answer in time, or were started again."""

    @property
    def operations(self) -> int:
        """All operations of clients."""
        return self.reads + self.writes + self.modifies
