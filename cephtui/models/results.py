"""What a run measured as a whole: totals of each flow, of each node and job."""

from typing import Annotated, Literal

from pydantic import Field, FieldSerializationInfo, field_serializer

from cephtui.models.base import Amount, Elapsed, Line, Model, Name, NamesOf, Outcome
from cephtui.models.metrics import METRICS, flows_of, is_carried
from cephtui.models.samples import BUCKETS_ABOUT, GRID_BUCKETS, MachineUse

_PERCENTS = {metric.name: metric.percent for metric in METRICS if metric.percent is not None}
"""The percentiles among the metrics, by their names."""
PERCENTILES = {
    50.0: "latency_p50_seconds",
    90.0: "latency_p90_seconds",
    95.0: "latency_p95_seconds",
    99.0: "latency_p99_seconds",
    99.5: "latency_p995_seconds",
    99.9: "latency_p999_seconds",
    99.95: "latency_p9995_seconds",
    99.99: "latency_p9999_seconds",
}
"""The fields of a Total that are percentiles, by percent."""


class Latency(Model):
    """How long the I/Os of a flow took from one point of their way to another."""

    mean_seconds: Amount
    stddev_seconds: Amount | None = None
    min_seconds: Amount | None = None
    max_seconds: Amount | None = None


class RateSamples(Model):
    """A rate as the tool itself has sampled it: fio every half second (``bwavgtime``, ``iopsavgtime``)."""

    count: int | None = None
    """The number of samples; null where the tool does not count them."""
    least: Amount
    mean: Amount
    greatest: Amount
    stddev: Amount


class LatencyShare(Model):
    """How many of the I/Os, reads and writes together, lie in one range of latencies."""

    up_to_seconds: Amount | None
    """The end of the range, which begins where the one before it ends; null for the last, which has no end."""
    percent: Amount


class Total(Model):
    """What one flow did over a whole run, the ramp left out; latency is completion latency.

    Of several jobs or nodes the rates are all that was done over the longest run time, not the sum of their rates:
    one that ends early adds nothing while the others are still running.
    """

    ios: int | None
    """I/Os that were completed; null where the tool does not count them."""
    bytes: int
    runtime_seconds: Annotated[Elapsed, Field(ge=0)]
    iops: Amount | None
    bandwidth_bytes: Amount | None
    """Null for what moves no bytes, such as a flush."""
    latency_mean_seconds: Amount | None = None
    latency_p50_seconds: Amount | None = None
    """Written as null, like every percentile, where fewer than 10 I/Os took longer: it would be the time of a few."""
    latency_p95_seconds: Amount | None = None
    latency_p99_seconds: Amount | None = None
    latency_p999_seconds: Amount | None = None
    latency_p90_seconds: Amount | None = None
    latency_p995_seconds: Amount | None = None
    latency_p9995_seconds: Amount | None = None
    latency_p9999_seconds: Amount | None = None
    latency_min_seconds: Amount | None = None
    latency_max_seconds: Amount | None = None
    latency_stddev_seconds: Amount | None = None
    slat: Latency | None = None
    """Submission latency: the time until an I/O was handed over, spent in the client. Null where not measured."""
    lat: Latency | None = None
    """Submission and completion latency together."""
    ios_reported: int | None = Field(default=None, exclude_if=lambda number: number is None)
    """I/Os as the tool counts them: fio counts those that began. Left out where they are the same."""
    latency_buckets: Annotated[
        dict[Annotated[int, Field(ge=0, lt=GRID_BUCKETS)], int] | None,
        Field(description=BUCKETS_ABOUT, exclude_if=lambda buckets: buckets is None),
    ] = None
    """The histogram of the whole run; left out of nodes and jobs, and where the tool has none."""
    iops_samples: RateSamples | None = Field(default=None, exclude_if=lambda samples: samples is None)
    """Left out, as is ``bandwidth_samples``, where the seconds are kept, and of several jobs or nodes."""
    bandwidth_samples: RateSamples | None = Field(default=None, exclude_if=lambda samples: samples is None)
    """Samples in bytes per second."""
    retransmits: int | None = Field(default=None, exclude_if=lambda number: number is None)
    """TCP segments that were sent again; left out where the tool does not count them."""
    rtt_seconds: Amount | None = Field(default=None, exclude_if=lambda seconds: seconds is None)
    """Round-trip time as TCP has measured it, the mean of the run; left out where it is not known."""

    @field_serializer(*_PERCENTS)
    def _only_if_carried(self, value: float | None, info: FieldSerializationInfo) -> Amount | None:
        """What is written follows the same rule as what ``Metric.of`` shows."""
        return value if self.carries(_PERCENTS[info.field_name]) else None

    def percentiles(self) -> dict[float, float]:
        """Seconds by percent, in order: the percentiles that are known and for which there are enough I/Os."""
        carried = {percent: getattr(self, name) for percent, name in PERCENTILES.items() if self.carries(percent)}
        return {percent: seconds for percent, seconds in carried.items() if seconds is not None}

    def carries(self, percent: float) -> bool:
        """Whether enough I/Os took longer than a percentile; true where I/Os are not counted."""
        count = sum(self.latency_buckets.values()) if self.latency_buckets else self.ios
        return count is None or is_carried(count, percent)


class Seconds(Model):
    """How the full seconds of a run are distributed, without the ramp: all nodes and flows together."""

    metric: Literal["iops", "bandwidth_bytes"]
    count: int
    least: Amount
    mean: Amount
    greatest: Amount
    stddev: Amount
    """The standard deviation of a sample: divided by the number of seconds less one."""


class Summary(Model):
    """What a run did: reads and writes apart; null where it had none of them."""

    read: Total | None = None
    write: Total | None = None
    other: dict[Name, Total] = Field(default_factory=dict, exclude_if=lambda other: not other)
    """What was done beside reads and writes, by the tool's name for it; left out where there was nothing."""

    @property
    def flows(self) -> dict[str, Total]:
        """All flows by name: ``read``, ``write``, then the others."""
        return flows_of(self.read, self.write, self.other)

    def without_histograms(self) -> "Summary":
        """The same, but for the histograms."""
        parts = {name: total.model_copy(update={"latency_buckets": None}) for name, total in self.flows.items()}
        read, write = parts.pop("read", None), parts.pop("write", None)
        return Summary(read=read, write=write, other=parts)


class DiskUse(Model):
    """How busy a block device was during the run, as the tool reports it."""

    name: Name
    utilisation_percent: float
    read_ios: int | None = None
    """Reads of the whole machine, ramp included, as are all figures below; null where the tool does not report them."""
    write_ios: int | None = None
    read_merges: int | None = None
    """Requests that were merged into a neighbour."""
    write_merges: int | None = None
    read_wait_seconds: Amount | None = None
    """The waiting times of all reads, added up: several that wait at the same time all count."""
    write_wait_seconds: Amount | None = None
    queue_seconds: Amount | None = None
    """The waiting times of all requests, added up by the kernel."""


class JobResult(Model):
    """The figures of one job, where the tool reports jobs apart."""

    job: Name
    image: Annotated[Name | None, NamesOf("image")] = None
    """The image that the job worked on; null where jobs have none of their own."""
    group: Name | None = Field(default=None, exclude_if=lambda group: group is None)
    """The group within which the job is compared, such as the device class of an OSD; left out where there is none."""
    place: Annotated[Name | None, NamesOf("node")] = Field(default=None, exclude_if=lambda place: place is None)
    """Where the job ran, in words: host and device of an OSD; left out where that says nothing."""
    summary: Summary


class NodeResult(Model):
    """One node's part in a run."""

    node: Annotated[Name, NamesOf("node")]
    outcome: Outcome | None = None
    error: Line | None = None
    command: Name
    started_seconds: Elapsed | None = None
    """When the benchmark began, in seconds after that of the first node."""
    ended_seconds: Elapsed | None = None
    """When the benchmark ended, by the same clock."""
    summary: Summary = Field(default_factory=Summary)
    cpu_user_percent: float | None = None
    cpu_system_percent: float | None = None
    context_switches: int | None = None
    depths: dict[Name, Amount] = Field(default_factory=dict)
    """Percent of the I/Os that were submitted with so many in flight, by the first of each range, as fio has them:
    ``1``, ``2``, ``4``, ``8``, ``16``, ``32``, ``>=64``. Empty where it was not measured."""
    latency_shares: tuple[LatencyShare, ...] = Field(default=(), exclude_if=lambda shares: not shares)
    """Shares of I/Os by latency from begin to completion; left out where the histogram is kept, or nothing is known."""
    disks: tuple[DiskUse, ...] = ()
    machine: MachineUse | None = Field(default=None, exclude_if=lambda machine: machine is None)
    """What the whole node did while it measured, the ramp left out; left out where that is not known."""
    jobs: tuple[JobResult, ...] = ()


class Stages(Model):
    """Where the mean latency of a run's reads, or of its writes, went: the mean time in each stage.

    Together they are the latency that the client measured. All but the first are means of the operations of all
    clients, as the OSDs that are their primaries count them.
    """

    ios: int
    """I/Os of the run in the time that was compared."""
    operations: int
    """Operations that the OSDs counted in the same time."""
    outside_seconds: Amount
    """On the network, in the client, and before an OSD received the message: what is left of the client's latency."""
    queue_seconds: Amount
    """From the receipt of the message until a worker thread took the operation."""
    prepare_seconds: Amount
    """From then on until a write was handed on to the store and to the replicas; 0 of reads."""
    store_seconds: Amount
    """From then on until the slowest copy was written, or until the data was read."""

    @property
    def seconds(self) -> float:
        """The mean latency: that of all stages together."""
        return self.outside_seconds + self.queue_seconds + self.prepare_seconds + self.store_seconds


class Commits(Model):
    """What BlueStore's transactions took on all OSDs of a pool in a run: those of all clients, and of all copies."""

    commits: int
    commit_seconds: Amount
    """Mean time until the commit."""
    kv_queue_seconds: Amount
    """Of it in the queue of the key-value store (RocksDB)."""
    kv_commit_seconds: Amount
    """Of it until the key-value store had committed."""
    throttle_seconds: Amount
    """Of it held by BlueStore's throttle."""


class SlowestOperation(Model):
    """One of the slowest operations in a run, as the OSD that was its primary has kept it."""

    osd: Name
    """``osd.3``."""
    seconds: Amount
    """From the receipt of its message on."""
    stages: dict[Name, Amount]
    """Seconds by what they were spent in, in the order of time."""
    at_seconds: Elapsed | None
    """When it began, elapsed since the release of the benchmark, by the clock of the OSD's host."""
    own: bool | None
    """Whether it is the run's; null where that can't be told from those of other clients."""


class OsdResult(Model):
    """What an OSD of the pool did in a run, from the release of the benchmark on, for all its clients."""

    share: Amount
    """Its fraction of the reads and writes of all OSDs that were asked."""
    reads: int
    read_seconds: Amount | None
    """Mean latency of its reads as their primary, from the receipt of the message to the answer; null without any."""
    writes: int
    write_seconds: Amount | None
    """Mean latency of its writes as their primary."""
    queue_seconds: Amount | None = Field(default=None, exclude_if=lambda seconds: seconds is None)
    """Of the latency of both, the mean time until a worker thread took them; left out where it is not known."""
    subops: int
    """Writes as a replica, for another OSD."""
    subop_seconds: Amount | None
    """Mean latency of these, from receipt to commit."""
    commits: int = Field(default=0, exclude_if=lambda commits: not commits)
    """Transactions of its BlueStore that were committed; left out where they are not known."""
    commit_seconds: Amount | None = Field(default=None, exclude_if=lambda seconds: seconds is None)
    """Mean time that these took; left out without any."""
    received: int
    """Messages of clients that were received."""
    refused: int
    """How often a message was not received yet, because osd_client_message_cap were in work."""
    refused_by_size: int = Field(default=0, exclude_if=lambda refused: not refused)
    """How often it was not, because messages of osd_client_message_size_cap bytes were in work."""

    @property
    def op_seconds(self) -> float | None:
        """Mean latency of its reads and writes as their primary; None without any."""
        operations = self.reads + self.writes
        total = self.reads * (self.read_seconds or 0.0) + self.writes * (self.write_seconds or 0.0)
        return total / operations if operations else None
