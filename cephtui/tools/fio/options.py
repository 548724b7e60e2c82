"""fio: which options a preset may set.

They keep fio's own names and spelling (fio 3.33 HOWTO, "Job parameters"). What is not in ``FioOptions`` cannot reach
a command line.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from cephtui.models import OptionValue
from cephtui.tools.base import OptionError, option_text
from cephtui.tools.load import SmallerData
from cephtui.tools.options import NUMBER, Size, ToolOptions, seconds, worded


def _whole_milliseconds(value: float) -> float:
    return round(value, 3)


def _sync(value: object) -> object:
    """fio's HOWTO has 0 and 1 as other words for none and sync."""
    return {"0": "none", "1": "sync"}.get(str(int(value)) if isinstance(value, int) else str(value), value)


SecondsOption = Annotated[
    float,
    BeforeValidator(seconds),
    Field(ge=0, le=7 * 86400),
    worded("seconds, or a time such as 5m, 1h; at most 7 days"),
    AfterValidator(_whole_milliseconds),
    NUMBER,
]
Percent = Annotated[int, Field(ge=0, le=100), NUMBER]
Count = Annotated[int, Field(ge=0, le=1_000_000), NUMBER]
Pattern = Literal["read", "write", "randread", "randwrite", "rw", "readwrite", "randrw"]
Engine = Literal["libaio", "io_uring", "posixaio", "psync", "pvsync", "pvsync2", "sync"]
WITHOUT_LATENCY = frozenset({"gtod_reduce", "disable_clat"})
"""The options that switch completion latency off."""
WAITING_ENGINES = frozenset({"psync", "pvsync", "pvsync2", "sync"})
"""They wait for each I/O (fio 3.33 HOWTO, "iodepth": increasing it beyond 1 does not affect them)."""


class FioOptions(ToolOptions):
    """The typed allow-list, in the order of a command line."""

    rw: Pattern = Field(description="I/O pattern")
    bs: Size = Field("4k", title="block size", description="bytes of one I/O")
    iodepth: Annotated[int, Field(ge=1, le=65536), NUMBER] = Field(
        1, title="depth", description="I/Os in flight of each job"
    )
    numjobs: Annotated[int, Field(ge=1, le=1024), NUMBER] = Field(
        1, title="jobs", description="jobs at the same time on each node"
    )
    size: Size | None = Field(None, description="data of each job")
    io_size: Size | None = None
    rwmixread: Percent | None = Field(None, description="percentage of reads with rw and randrw")
    ioengine: Engine = Field("libaio", description="how fio submits I/Os; images use rbd")
    direct: bool = Field(True, description="bypass the page cache")
    time_based: bool = True
    runtime: SecondsOption = Field(60, title="runtime", description="how long to measure")
    ramp_time: SecondsOption = Field(2, description="seconds at the start that are not measured")
    group_reporting: bool = True
    fsync: Count | None = Field(None, description="flush after this number of writes")
    fdatasync: Count | None = None
    end_fsync: bool | None = None
    sync: Annotated[Literal["none", "sync", "dsync"], BeforeValidator(_sync)] | None = None
    rate: Size | None = Field(None, description="limit in bytes per second for each job")
    rate_iops: Annotated[int, Field(ge=1), NUMBER] | None = Field(
        None, description="limit in I/Os per second for each job"
    )
    rate_process: Literal["linear", "poisson"] | None = Field(
        None, description="spacing of I/Os under a rate: even, or random like many users"
    )
    thinktime: Count | None = None
    iodepth_batch_submit: Annotated[int, Field(ge=1), NUMBER] | None = None
    iodepth_batch_complete_min: Annotated[int, Field(ge=0), NUMBER] | None = None
    iodepth_batch_complete_max: Annotated[int, Field(ge=0), NUMBER] | None = None
    random_distribution: (
        Annotated[
            str,
            Field(pattern=r"^(random|(zipf|pareto|normal):\d+(\.\d+)?(:\d+(\.\d+)?)?)$"),
            worded("random, zipf:1.2, pareto:0.9, normal:50"),
        ]
        | None
    ) = None
    percentage_random: Percent | None = None
    norandommap: bool | None = None
    randrepeat: bool | None = None
    randseed: Count | None = None
    refill_buffers: bool | None = None
    buffer_compress_percentage: Percent | None = None
    dedupe_percentage: Percent | None = None

    aliases = {
        "readwrite": "rw",
        "blocksize": "bs",
        "io_limit": "io_size",
        "timeout": "runtime",
        "iodepth_batch": "iodepth_batch_submit",
        "iodepth_batch_complete": "iodepth_batch_complete_min",
    }
    """Aliases as ``fio --cmdhelp=OPTION`` has them."""
    refused = (
        (
            r"filename|filename_format|directory|(file)?offset|offset_increment|filesize|nr_?files|pool|rbdname|clientname"
            r"|clustername|hostname|opendir|file_service_type|busy_poll",
            "the target decides it (--target)",
        ),
        (r"exec_.*|ioscheduler|pre_?run|post_?run|ioengine_so|verify_state.*|trigger.*", "it would run a command"),
        (
            r"output.*|.*_log|log_.*|write_.*|read_iolog.*|replay_.*|aux-path|status-interval|eta.*|bandwidth-log"
            r"|minimal|append-terse|profile|warnings-fatal",
            "cephtui sets what fio writes and where",
        ),
        (r"allow_(mounted_write|file_create)|overwrite|unlink.*|create_.*|fallocate|zonemode", "it can harm data"),
        (
            r"gtod_reduce|disable_(clat|lat|slat|bw).*|clat_percentiles|percentile_list|zero_buffers|scramble_buffers",
            "it distorts the results",
        ),
    )
    needless = (
        (r"name|description", "a preset has its own name, title and description"),
        (r"loops", "use --repeat, where each repeat is a run"),
        (
            r"stonewall|wait_for(_previous)?|new_group|startdelay|exitall(_on_error)?",
            "cephtui starts a run when the previous one has ended",
        ),
        (r"thread", "each job is a process"),
        (r"lockmem", "direct=1 goes past the page cache, whatever memory is free"),
        (r"invalidate", "direct=1 goes past the page cache"),
        (r"verify(?!_state).*|do_verify", "cephtui does not verify data"),
        (r"buffered", "use direct"),
        (r"rwmixwrite", "use rwmixread: 100 minus this"),
        (r"continue_on_error|ignore_error", "a run with errors has failed"),
        (
            r"unified_rw_reporting|kb_base|unit_base|disk_util|stats",
            "cephtui reads exact figures, in bytes and seconds",
        ),
        (r"iomem|mem|mem_align|iomem_align|hugepage-size", "fio's own memory needs no setting"),
        (
            r"cpus_allowed.*|cpumask|numa_.*|nice|prio(class)?|uid|gid|cgroup.*",
            "the operating system schedules processes",
        ),
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.time_based and not self.runtime:
            raise OptionError("runtime", "expected more than 0 with time_based")
        return self

    @classmethod
    def reason_against(cls, option: str) -> str | None:
        """Why a preset can't have an option; None also for one that it can have."""
        return None if option in cls.model_fields or option in cls.aliases else super().reason_against(option)


SEVERAL_BLOCKS = ("bssplit", "bsrange", "blocksize_range")
"""The options that give I/Os several sizes."""
_COMPRESSIBLE = ("buffer_compress_percentage", "buffer_pattern", "zero_buffers")
_ALIKE = ("dedupe_percentage",)


def smaller_data(options: Mapping[str, OptionValue]) -> SmallerData:
    """The options, as they are typed, with which what is written is easy to compress, or often the same."""
    given = {name: option_text(value) for name, value in options.items() if value not in (None, False)}
    on = {name: text for name, text in given.items() if text != "0"}
    alike = _named(on, _ALIKE)
    if given.get("scramble_buffers") == "0" and "refill_buffers" not in on:  # the same buffer again and again
        alike = f"{alike} scramble_buffers=0".strip()
    return SmallerData(_named(on, _COMPRESSIBLE), alike)


def _named(options: Mapping[str, str], names: Sequence[str]) -> str:
    return " ".join(f"{name}={options[name]}" for name in names if name in options)


OTHER_THREADS = {
    "rbd": "librbd's threads",
    "rados": "librados' threads",
    "posixaio": "glibc's threads of POSIX AIO",
}
"""The threads that do the work of an engine, where these are not the job's own; an imported run may have any engine."""
FLAGS = frozenset(
    (
        *("bs_unaligned", "norandommap", "time_based", "verify_only", "exitall", "exitall_on_error", "stonewall"),
        *("new_group", "thread", "group_reporting", "zero_buffers", "refill_buffers"),
        *("fixedbufs", "hipri", "registerfiles", "sqthread_poll", "userspace_reap"),
    )
)
"""Options whose value fio lets be left out: with ``1`` they are on."""
DEFAULTS: Mapping[str, str] = {
    "bs": "4k",
    "direct": "no",
    "end_fsync": "no",
    "fdatasync": "0",
    "fallocate": "native",
    "fsync": "0",
    "group_reporting": "no",
    "invalidate": "1",
    "iodepth": "1",
    "iodepth_batch_complete_min": "1",
    "iodepth_batch_submit": "1",
    "ioengine": "psync",
    "loops": "1",
    "nice": "0",
    "norandommap": "no",
    "numjobs": "1",
    "offset": "0",
    "ramp_time": "0",
    "random_distribution": "random",
    "randrepeat": "yes",
    "rate_process": "linear",
    "refill_buffers": "no",
    "runtime": "0",
    "rw": "read",
    "rwmixread": "50",
    "startdelay": "0",
    "stonewall": "0",
    "sync": "none",
    "thinktime": "0",
    "thread": "0",
    "time_based": "no",
    "verify": "0",
    "zonemode": "none",
}
"""fio's own (``fio --cmdhelp=OPTION``), as they are shown; yes and no are of options that a preset can have."""
