"""fio: which options a preset may set.

They keep fio's own names and spelling (fio 3.33 HOWTO, "Job parameters"). What is not in ``FioOptions`` cannot reach
a command line.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from cephtui.models import OptionValue
from cephtui.tools.base import OptionError, V
from cephtui.tools.options import NUMBER, Size, explain, reason, seconds


def _whole_milliseconds(value: float) -> float:
    return round(value, 3)


def _sync(value: object) -> object:
    """fio's HOWTO has 0 and 1 as other words for none and sync."""
    return {"0": "none", "1": "sync"}.get(str(int(value)) if isinstance(value, int) else str(value), value)


Seconds = Annotated[
    float,
    BeforeValidator(seconds),
    Field(ge=0, le=7 * 86400, description="seconds, or a time such as 5m, 1h; at most 7 days"),
    AfterValidator(_whole_milliseconds),
    NUMBER,
]
Percent = Annotated[int, Field(ge=0, le=100), NUMBER]
Count = Annotated[int, Field(ge=0, le=1_000_000), NUMBER]
Pattern = Literal["read", "write", "randread", "randwrite", "rw", "readwrite", "randrw"]
Engine = Literal["libaio", "io_uring", "posixaio", "psync", "pvsync", "pvsync2", "sync"]
WAITING_ENGINES = frozenset({"psync", "pvsync", "pvsync2", "sync"})
"""They wait for each I/O (fio 3.33 HOWTO, "iodepth": increasing it beyond 1 does not affect them)."""


class FioOptions(BaseModel):
    """The typed allow-list."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    rw: Pattern
    bs: Size = "4k"
    iodepth: Annotated[int, Field(ge=1, le=65536), NUMBER] = 1
    numjobs: Annotated[int, Field(ge=1, le=1024), NUMBER] = 1
    size: Size | None = None
    io_size: Size | None = None
    rwmixread: Percent | None = None
    ioengine: Engine = "libaio"
    direct: bool = True
    time_based: bool = True
    runtime: Seconds = 60
    ramp_time: Seconds = 2
    group_reporting: bool = True
    fsync: Count | None = None
    fdatasync: Count | None = None
    end_fsync: bool | None = None
    sync: Annotated[Literal["none", "sync", "dsync"], BeforeValidator(_sync)] | None = None
    rate: Size | None = None
    rate_iops: Annotated[int, Field(ge=1), NUMBER] | None = None
    rate_process: Literal["linear", "poisson"] | None = None
    thinktime: Count | None = None
    iodepth_batch_submit: Annotated[int, Field(ge=1), NUMBER] | None = None
    iodepth_batch_complete_min: Annotated[int, Field(ge=0), NUMBER] | None = None
    iodepth_batch_complete_max: Annotated[int, Field(ge=0), NUMBER] | None = None
    random_distribution: (
        Annotated[
            str,
            Field(
                description="random, zipf:1.2, pareto:0.9, normal:50",
                pattern=r"^(random|(zipf|pareto|normal):\d+(\.\d+)?(:\d+(\.\d+)?)?)$",
            ),
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


OTHER_THREADS = {
    "rbd": "librbd's threads",
    "rados": "librados' threads",
    "posixaio": "glibc's threads of POSIX AIO",
}
"""Which threads do the work of an engine, where that is not the job's own; an imported run may have any engine."""
ABOUT = {
    "bs": "bytes of one I/O",
    "iodepth": "I/Os in flight of each job",
    "numjobs": "jobs at the same time on each node",
    "runtime": "how long it measures",
    "size": "how much each job works on",
    "rw": "what it does",
    "rwmixread": "per cent of reads in rw and randrw",
    "ramp_time": "excluded from the results",
    "rate_iops": "at most so many I/Os a second of each job",
    "rate_process": "how I/Os are spread under a rate: evenly, or at random as those of many users",
    "rate": "at most so many bytes a second of each job",
    "direct": "past the page cache",
    "ioengine": "how fio submits I/Os; images use rbd",
    "fsync": "flush after so many writes",
}
"""What a user changes most, in this order."""
TITLES = {"bs": "block size", "iodepth": "depth", "numjobs": "jobs", "runtime": "runtime"}
ALIASES = {
    "readwrite": "rw",
    "blocksize": "bs",
    "io_limit": "io_size",
    "timeout": "runtime",
    "iodepth_batch": "iodepth_batch_submit",
    "iodepth_batch_complete": "iodepth_batch_complete_min",
}
"""fio's other names of what is in the allow-list (``fio --cmdhelp=OPTION``)."""
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
_VERBS = "read, write, randread, randwrite, randrw"
_REFUSED = (
    (
        r"filename|filename_format|directory|(file)?offset|offset_increment|filesize|nr_?files|pool|rbdname|clientname"
        r"|clustername|hostname|opendir|file_service_type|busy_poll",
        "the target decides it (--target)",
    ),
    (r"exec_.*|ioscheduler|pre_?run|post_?run|ioengine_so|verify_state.*|trigger.*", "it runs a command"),
    (
        r"output.*|.*_log|log_.*|write_.*|read_iolog.*|replay_.*|aux-path|status-interval|eta.*|bandwidth-log"
        r"|minimal|append-terse|profile|warnings-fatal",
        "cephtui decides what fio writes and where",
    ),
    (r"allow_(mounted_write|file_create)|overwrite|unlink.*|create_.*|fallocate|zonemode", "it can harm data"),
    (r"gtod_reduce|disable_(clat|lat|slat|bw).*|clat_percentiles|percentile_list|zero_buffers|scramble_buffers",
     "it distorts the results"),
)  # fmt: skip
_NEEDLESS = (
    (r"name|description", "a preset has a name, a title and a description of its own"),
    (r"loops", "--repeat runs it several times, each a run of its own"),
    (
        r"stonewall|wait_for(_previous)?|new_group|startdelay|exitall(_on_error)?",
        "cephtui begins a run when the one before it has ended",
    ),
    (r"thread", "each job is a process"),
    (r"lockmem", "direct=1 goes past the page cache, whatever memory is free"),
    (r"invalidate", "direct=1 goes past the page cache"),
    (r"verify(?!_state).*|do_verify", "data is measured and not verified"),
    (r"buffered", "direct says it"),
    (r"rwmixwrite", "rwmixread says it: 100 less this"),
    (r"continue_on_error|ignore_error", "a run with errors has failed"),
    (r"unified_rw_reporting|kb_base|unit_base|disk_util|stats", "cephtui reads exact figures, in bytes and seconds"),
    (r"iomem|mem|mem_align|iomem_align|hugepage-size", "fio's own memory needs no setting"),
    (
        r"cpus_allowed.*|cpumask|numa_.*|nice|prio(class)?|uid|gid|cgroup.*",
        "the node's system places and ranks processes",
    ),
)


def reason_against(option: str) -> str | None:
    """Why a preset can't have an option of fio's, in words; None for one that it can have, or that is not known."""
    if option in FioOptions.model_fields or option in ALIASES:
        return None
    return reason(option, refused=_REFUSED, needless=_NEEDLESS)


def canonical(options: Mapping[str, V]) -> dict[str, V]:
    """Every option under one name: fio has two for some; raises OptionError for one that is given twice."""
    for alias, name in ALIASES.items():
        if alias in options and name in options:
            raise OptionError(alias, f"is another name of {name}, which is given too")
    return {ALIASES.get(option, option): value for option, value in options.items()}


def check(options: Mapping[str, object]) -> dict[str, OptionValue]:
    """One value per option, normalised; raises OptionError."""
    try:
        checked = FioOptions.model_validate(canonical(options))
    except ValidationError as error:
        raise explain(error, FioOptions, aliases=ALIASES, refused=_REFUSED, needless=_NEEDLESS, verbs=_VERBS) from None
    if checked.time_based and not checked.runtime:
        raise OptionError("runtime", "expected more than 0 with time_based")
    return checked.model_dump(exclude_none=True)
