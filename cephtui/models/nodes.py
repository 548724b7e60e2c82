"""The conditions on nodes and in the cluster."""

from typing import Annotated

from pydantic import AwareDatetime, Field

from cephtui.models.base import Amount, Line, Model, Name, NamesOf, OptionValue, Quiet


class NodeEnvironment(Model):
    """The conditions on one node when a run began."""

    hostname: Annotated[Line | None, NamesOf("node")] = None
    os: Line | None = None
    kernel: Line | None = None
    cpu: Line | None = None
    cpu_count: int | None = None
    memory_bytes: int | None = None
    load_1m: float | None = None
    tools: dict[Name, Line] = Field(default_factory=dict)
    """The version of each benchmark program that is installed, as it prints it, by its name."""
    nic_bits_per_second: dict[Name, int] = Field(default_factory=dict)
    """The speed of each network interface that is up and reports it."""
    nic_mtu: dict[Name, int] = Field(default_factory=dict)
    """The MTU in bytes of each network interface that is up."""
    nic_networks: dict[Name, Name] = Field(default_factory=dict, exclude_if=lambda networks: not networks)
    """A digest of the IPv4 networks of each of those interfaces, and of whether it is the default route."""
    nic_shaping: dict[Name, Line] = Field(default_factory=dict, exclude_if=lambda shaping: not shaping)
    """What tc(8) holds back on an interface: ``tbf rate 80Mbit``; ``NIC ingress`` of what comes in. Left out where that
    is nothing, or can't be read."""
    settings: dict[Name, Line] = Field(default_factory=dict)
    """Settings of the kernel for storage and network, as it prints them: ``vm.swappiness`` and others of sysctl(8),
    ``cpufreq/scaling_governor``, and ``queue/scheduler`` of the disks under a file or device target."""
    missing: tuple[Line, ...] = ()
    """Commands that cephtui needs and that are missing, with what installs them."""
    filesystem: Line | None = None
    device: Line | None = None
    page_cache_dropped: bool | None = None
    """Whether the page cache was dropped before the run; null where that was not asked for."""


class OsdOption(Model):
    """An option that OSDs run with otherwise than by default."""

    name: Name
    value: Line
    default: Line
    source: Name
    """Where it is set, as ``config diff`` has it: ``mon`` is the configuration database, ``file`` a ceph.conf, and
    ``override`` the running daemon alone."""
    osds: tuple[Name, ...]
    """The ids of the OSDs that have this value."""


class OsdPing(Model):
    """Heartbeats between two OSDs that take long."""

    osd: Name
    """The id of the OSD that asked."""
    peer: Name
    network: Name
    """``public`` or ``cluster``."""
    seconds: Amount
    """Until the answer, the mean of a minute."""


class ClusterEnvironment(Model):
    """The conditions in the cluster when a run began; null where the cephx caps deny the query."""

    fsid: Annotated[Line | None, NamesOf("fsid")] = None
    """The id of the cluster."""
    ceph_version: Line | None = None
    health: Line | None = None
    checks: tuple[Line, ...] = ()
    osds: int | None = None
    osds_up: int | None = None
    osds_in: int | None = None
    osds_by_class: dict[Name, int] = Field(default_factory=dict)
    """How many OSDs there are of each device class; OSDs without one are not counted."""
    osds_by_host: Annotated[dict[Name, int], NamesOf("node")] = Field(default_factory=dict)
    """How many of the OSDs that the pool's rule uses each host has; empty where that is not known."""
    failure_domain: Name | None = None
    """The type of bucket that no two copies of the pool share: ``host``, ``osd``."""
    pgs_by_osd: dict[Name, int] = Field(default_factory=dict)
    """How many of the pool's PGs each OSD has, by its id; empty where that is not known, or it has too many OSDs."""
    primaries: int = Field(default=0, exclude_if=lambda primaries: not primaries)
    """How many of these OSDs are the primary of a PG: clients read from no other. Left out where it is not known."""
    class_by_osd: dict[Name, Name] = Field(default_factory=dict)
    """The device class of each of those OSDs that has one."""
    disk_by_osd: dict[Name, Line] = Field(default_factory=dict, exclude_if=lambda disks: not disks)
    """The disk of each of those OSDs, of a run without a pool of all: its host, and the kernel's name of it or a digest
    of its serial number. OSDs with the same one share it; a name may be another disk's later. Left out where none is
    known."""
    model_by_osd: dict[Name, Line] = Field(default_factory=dict, exclude_if=lambda models: not models)
    """The model of that disk, ``Samsung SSD 870 EVO 1TB``; left out where none is known."""
    networks_apart: bool | None = None
    """Whether OSDs reach each other over another network than clients; null where that is not known."""
    osd_flags: tuple[Line, ...] = ()
    """The flags of the OSD map: ``noout``, ``sortbitwise``."""
    pg_states: dict[Name, int] = Field(default_factory=dict)
    pool: dict[Name, OptionValue | None] = Field(default_factory=dict)
    """The pool's name, type, size, pg_num, autoscale mode, CRUSH rule and other properties."""
    pool_settings: dict[Name, Line] = Field(default_factory=dict)
    """Other settings of the pool, as Ceph prints them: ``compression_mode``, ``fast_read``, ``ec k``.

    ``metadata ...`` is of the pool of an image whose data is in another.
    """
    config: dict[Name, Line] | None = None
    """The options in ``ceph config dump``, by section, mask and name: ``osd/class:hdd osd_op_num_shards``.

    Values that may be secret are not kept. What is set need not be in effect: daemons take some options at their next
    start only, and a host's ceph.conf may override them.
    """
    osd_options: tuple[OsdOption, ...] = Field(default=(), exclude_if=lambda options: not options)
    """What OSDs of the pool run with, of the options that can hold I/O back, and high debug levels; left out where all
    have their defaults, or it can't be read."""
    slow_pings: tuple[OsdPing, ...] = Field(default=(), exclude_if=lambda pings: not pings)
    """Heartbeats of OSDs of the pool that took 20 ms and more, the longest first; left out where there are none, or
    they can't be read."""
    config_more: int = 0
    """How many options are set beyond those that are kept."""
    osd_op_queue: Line | None = None
    osd_mclock_profile: Line | None = None
    """The profile, which has a meaning with the queue ``mclock_scheduler`` only."""
    image_features: tuple[Line, ...] = ()
    image_limits: dict[Name, Amount] = Field(default_factory=dict, exclude_if=lambda limits: not limits)
    """The limits of librbd for each client of an image, by option: ``rbd_qos_iops_limit``. Left out where no limit is
    set, or none can be read."""
    osd_caches_dropped: int | None = None
    """How many OSDs dropped their caches before the run; null where that was not asked for."""
    quiet: Quiet = Field(default="", exclude_if=lambda quiet: not quiet)
    """What of the cluster's own work cephtui held back; left out where nothing was."""
    stored_bytes: int | None = None
    """Bytes in the pool at the end of the run, where the pool was made for the run; null otherwise, or if not known."""
    raw_bytes: int | None = None
    """Bytes that these took on the OSDs, with all copies or chunks, and with what allocation adds."""
    no_permission: tuple[Line, ...] = ()
    """Commands that the cephx caps deny."""


FOUND_IN_RUNS = ("image_features", "image_limits", "osd_caches_dropped", "quiet", "stored_bytes", "raw_bytes")
"""The fields of a ClusterEnvironment that are known only during a run, or at its end."""


class HostNics(Model):
    """The network interfaces of a host that were up, by name."""

    bits_per_second: dict[Name, int] = Field(default_factory=dict)
    mtu: dict[Name, int] = Field(default_factory=dict)
    networks: dict[Name, Name] = Field(default_factory=dict)
    """As in a NodeEnvironment; empty where it is not known. So is ``shaping``, which is empty without any, too."""
    shaping: dict[Name, Line] = Field(default_factory=dict)


class ClusterLink(Model):
    """What was measured of the network from one host of a cluster to another."""

    source: Name
    """The host's own name; so is ``destination``."""
    destination: Name
    network: Name
    """``public`` or ``cluster``; empty where an address was typed."""
    bandwidth_bytes: float
    session: Name
    run: int
    measured_at: AwareDatetime
    source_nics: HostNics | None = None
    """What it was measured with; null where an earlier cephtui has measured it. So is ``destination_nics``."""
    destination_nics: HostNics | None = None


class OsdRate(Model):
    """What an OSD wrote to its own store."""

    iops: Amount | None
    bandwidth_bytes: Amount | None


class OsdRates(Model):
    """What OSDs of a cluster wrote to their own stores, in blocks of one size, and the disks that they had then."""

    block_bytes: int
    together: bool
    """Whether all of them wrote at the same time, not one after the other."""
    rates: dict[Name, OsdRate]
    """By the id of the OSD."""
    disks: dict[Name, Name] = Field(default_factory=dict)
    """By the id of the OSD, as in a ClusterEnvironment; without those whose disk is not known."""
    session: Name
    run: int
    measured_at: AwareDatetime


class PoolActivity(Model):
    """Who else uses a pool; null where the cephx caps deny the query."""

    pool: Name
    images_in_use: int | None = None
    images: int | None = None
    images_looked_at: int | None = None
    """How many images were inspected: not all, if they are many and the caps deny asking the OSDs."""
    client_iops: float | None = None
    osds_in: int | None = None
    """OSDs of the cluster that are in."""
    text: Line = ""
    """The activity in words."""
