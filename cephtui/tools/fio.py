"""fio: which options a preset may set, and the command lines made of them.

Options keep fio's own names and spelling (fio 3.33 HOWTO, "Job parameters"). What is not in ``FioOptions``
cannot reach a command line.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from cephtui.models import OptionValue
from cephtui.tools import Kind, OptionError, OptionField, Place, Sizing, V
from cephtui.tools.fio_output import FioParser
from cephtui.tools.options import NUMBER, Size, explain, fields, seconds
from cephtui.units import duration, parse_size, short_size

MINIMUM_VERSION = (3, 1)
"""The first with ``clat_ns`` bins in json+ and working status intervals."""


def _whole_milliseconds(value: float) -> float:
    return round(value, 3)


Seconds = Annotated[
    float,
    BeforeValidator(seconds),
    Field(ge=0, le=7 * 86400, description="seconds, or a time such as 5m, 1h"),
    AfterValidator(_whole_milliseconds),
    NUMBER,
]
Percent = Annotated[int, Field(ge=0, le=100), NUMBER]
Count = Annotated[int, Field(ge=0, le=1_000_000), NUMBER]
Pattern = Literal["read", "write", "randread", "randwrite", "rw", "readwrite", "randrw"]
Engine = Literal["libaio", "io_uring", "posixaio", "psync", "pvsync", "pvsync2", "sync"]


class FioOptions(BaseModel):
    """The typed allow-list."""

    model_config = ConfigDict(extra="forbid", frozen=True)

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
    sync: Literal["none", "sync", "dsync"] | None = None
    rate: Size | None = None
    rate_iops: Annotated[int, Field(ge=1), NUMBER] | None = None
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


ABOUT = {
    "bs": "bytes of one I/O",
    "iodepth": "I/Os in flight of each job",
    "numjobs": "jobs at the same time on each node",
    "runtime": "how long it measures",
    "size": "how much each job works on",
    "rw": "what it does",
    "rwmixread": "per cent of reads in rw and randrw",
    "ramp_time": "left out of the figures at the start",
    "rate_iops": "at most so many I/Os a second of each job",
    "rate": "at most so many bytes a second of each job",
    "direct": "past the page cache",
    "ioengine": "how fio gives I/Os to the kernel; images always use rbd",
    "fsync": "flush after so many writes",
}
"""What a user changes most, in this order."""
_ALIASES = {
    "readwrite": "rw",
    "blocksize": "bs",
    "io_limit": "io_size",
    "timeout": "runtime",
    "iodepth_batch": "iodepth_batch_submit",
    "iodepth_batch_complete": "iodepth_batch_complete_min",
}
"""fio's other names of what is in the allow-list (``fio --cmdhelp=OPTION``)."""
_VERBS = "read, write, randread, randwrite, randrw"
_FLAGS = {"time_based", "group_reporting", "norandommap", "refill_buffers"}
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
     "it spoils the figures"),
)  # fmt: skip


def _argument(option: str, value: OptionValue) -> str | None:
    if option in _FLAGS:
        return f"--{option}" if value else None
    return f"--{option}={int(value)}" if isinstance(value, bool) else f"--{option}={_text_of(value)}"


def _text_of(value: OptionValue) -> str:
    """Only durations are floats; fio would cut off what is not a whole second."""
    if not isinstance(value, float):
        return str(value)
    return f"{value:.0f}" if value.is_integer() else f"{value * 1000:.0f}ms"


def _command(name: str, options: Mapping[str, OptionValue], place: Place, sizes: Sequence[int] = ()) -> tuple[str, ...]:
    """One job, or one section for each image; what stands before the first ``name`` holds for all of them."""
    if not place.images:
        # a colon would separate two file names
        where: dict[str, OptionValue] = {"filename": place.path.replace(":", r"\:")}
        return ("fio", f"--name={name}", *_arguments({**where, **options}), *_LIVE)
    # an engine's own options follow its choice
    engine = {"ioengine": options["ioengine"], "clientname": place.ceph_id or "admin", "pool": place.pool}
    jobs: list[str] = []
    for number, image in enumerate(place.images):
        jobs += [f"--name={name}-{number}", f"--rbdname={image}"]
        if len(set(sizes)) > 1:
            jobs.append(f"--size={short_size(sizes[number])}")
    return ("fio", *_arguments({**engine, **options}), *_LIVE, *jobs)


def _arguments(options: Mapping[str, OptionValue]) -> list[str]:
    return [text for option, value in options.items() if (text := _argument(option, value))]


_LIVE = ("--output-format=json+", "--status-interval=1")


class Fio:
    """The tool ``fio``."""

    name = "fio"
    of_ceph = False

    def canonical(self, options: Mapping[str, V]) -> dict[str, V]:
        """See Tool: fio has two names for some."""
        for alias, name in _ALIASES.items():
            if alias in options and name in options:
                raise OptionError(alias, f"is another name of {name}, which is given too")
        return {_ALIASES.get(option, option): value for option, value in options.items()}

    def check_options(self, options: Mapping[str, object]) -> dict[str, OptionValue]:
        """See Tool."""
        try:
            checked = FioOptions.model_validate(self.canonical(options))
        except ValidationError as error:
            raise explain(error, names=[*FioOptions.model_fields, *_ALIASES], refused=_REFUSED, verbs=_VERBS) from None
        if checked.time_based and not checked.runtime:
            raise OptionError("runtime", "expected more than 0 with time_based")
        return checked.model_dump(exclude_none=True)

    def fields(self) -> tuple[OptionField, ...]:
        """See Tool."""
        return fields(FioOptions, ABOUT)

    def check_version(self, text: str | None) -> str | None:
        """See Tool."""
        if not text:
            return "fio is not installed: apt-get install fio"
        match = re.search(r"(\d+)\.(\d+)", text)
        if not match or (int(match[1]), int(match[2])) < MINIMUM_VERSION:
            wanted = ".".join(map(str, MINIMUM_VERSION))
            return f"{text.strip()} is too old: install fio {wanted} or later (apt-get install fio)"
        return None

    def jobs_and_size(self, options: Mapping[str, OptionValue], default_span_bytes: int) -> tuple[int, int]:
        """See Tool: ``numjobs``, and ``size`` in whole blocks."""
        jobs, block = int(options["numjobs"]), parse_size(str(options["bs"]))
        asked = options.get("size")
        size = parse_size(str(asked)) if asked else default_span_bytes // jobs
        if size < block:
            raise OptionError("size", f"expected at least one block of {options['bs']}, got {short_size(size)}")
        unit = block if asked or size < 1 << 20 else max(block, 1 << 20)
        return jobs, size - size % unit if size >= unit else size - size % block

    def fit(self, options: dict[str, OptionValue], kind: Kind) -> dict[str, OptionValue]:
        """See Tool. librbd has a cache of its own without ``direct``; jobs that share an image fight for its lock."""
        if kind == "pool":
            raise OptionError("target", "fio measures images, not a pool's objects: use --target rbd:POOL")
        if kind not in ("rbd", "image"):
            return options
        fitted = {**options, "ioengine": "rbd", "direct": True}
        if kind == "image":
            fitted["iodepth"] = int(options["iodepth"]) * int(options["numjobs"])
            fitted["numjobs"] = 1
        return fitted

    def argv(self, name: str, options: Mapping[str, OptionValue], size_bytes: int, place: Place) -> tuple[str, ...]:
        """See Tool; each job has its own region of the target, or its own image."""
        size = short_size(size_bytes)
        chosen: dict[str, OptionValue] = {**{k: v for k, v in options.items() if k != "size"}, "size": size}
        if not place.images and int(options["numjobs"]) > 1:
            chosen["offset_increment"] = size
        if place.images:
            del chosen["numjobs"]
        if not options["ramp_time"]:
            del chosen["ramp_time"]
        return _command(name, chosen, place)

    def fill_argv(self, options: Mapping[str, OptionValue], sizes: Sequence[int], place: Place) -> tuple[str, ...]:
        """See Tool."""
        common = reduce(math.gcd, sizes)
        block = min(common & -common, 1 << 20)
        bs = str(options["bs"]) if block < 4096 else short_size(block)
        chosen: dict[str, OptionValue] = {
            "rw": "write",
            "bs": bs,
            "iodepth": 16,
            "ioengine": options["ioengine"],
            "direct": options["direct"],
            "size": short_size(sizes[0]),
            "end_fsync": True,
            **({"group_reporting": True} if len(place.images) > 1 else {}),
        }
        return _command("fill", chosen, place, sizes)

    def sizing(self, options: Mapping[str, OptionValue], place: Place, most_bytes: int) -> Sizing | None:
        """See Tool."""
        return None

    def times(self, options: Mapping[str, OptionValue]) -> tuple[float, float | None]:
        """See Tool."""
        return float(options["ramp_time"]), float(options["runtime"]) if options["time_based"] else None

    def most_seconds(self, options: Mapping[str, OptionValue]) -> float | None:
        """See Tool."""
        return float(options["runtime"]) or None

    def writes(self, options: Mapping[str, OptionValue]) -> bool:
        """See Tool."""
        return str(options["rw"]) not in ("read", "randread")

    def needs_data(self, options: Mapping[str, OptionValue], kind: Kind) -> bool:
        """See Tool: the first write of a block is not the same as the second, so writes need it too."""
        return True

    def describe(self, options: Mapping[str, OptionValue]) -> str:
        """See Tool."""
        parts = [
            f"{options.get('bs', '')} {options.get('rw', '')}".strip(),
            f"depth {options.get('iodepth', 1)}",
            f"jobs {options.get('numjobs', 1)}",
        ]
        if options.get("time_based"):
            parts.append(duration(float(options.get("runtime", 0))))
        return ", ".join(parts)

    def block_bytes(self, options: Mapping[str, OptionValue]) -> int:
        """See Tool."""
        return parse_size(str(options["bs"]))

    def entries(self, options: Mapping[str, OptionValue]) -> int:
        """See Tool."""
        return 1 if options.get("group_reporting", True) else int(options.get("numjobs", 1))

    def parser(self, options: Mapping[str, OptionValue], *, ramp: bool, seconds: float | None) -> FioParser:
        """See Tool."""
        return FioParser(ramp=ramp, seconds=seconds)
