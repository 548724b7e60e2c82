"""fio: the command lines, and what they take and do."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Self

from cephtui import models
from cephtui.tools.base import OptionError, Parser, Workload
from cephtui.tools.fio.options import FLAGS, OTHER_THREADS, WAITING_ENGINES, smaller_data
from cephtui.tools.load import Load, Rate, SmallerData
from cephtui.units import duration, parse_size, short_size

if TYPE_CHECKING:
    from cephtui.models import Kind, OptionValue, Place


def _argument(option: str, value: OptionValue) -> str | None:
    if option in FLAGS:
        return f"--{option}" if value else None
    return f"--{option}={int(value)}" if isinstance(value, bool) else f"--{option}={_text_of(value)}"


def _text_of(value: OptionValue) -> str:
    """The text of a value. Only durations are floats; fio would cut off what is not a whole second."""
    if not isinstance(value, float):
        return str(value)
    return f"{value:.0f}" if value.is_integer() else f"{value * 1000:.0f}ms"


def _command(name: str, options: Mapping[str, OptionValue], place: Place, sizes: Sequence[int] = ()) -> tuple[str, ...]:
    """One job, or one section for each image; what stands before the first ``name`` holds for all of them."""
    if not isinstance(place, models.RbdPlace):
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


class FioWorkload(Workload):
    """fio with its options."""

    block_option = "bs"
    uses_span = True

    def jobs_and_size(self, default_span_bytes: int) -> tuple[int, int]:
        """``numjobs``, and ``size`` in whole blocks."""
        jobs, block = int(self.options["numjobs"]), parse_size(str(self.options["bs"]))
        given_size = self.options.get("size")
        size = parse_size(str(given_size)) if given_size else default_span_bytes // jobs
        if size < block:
            raise OptionError("size", f"expected at least one block of {self.options['bs']}, got {short_size(size)}")
        unit = block if given_size or size < 1 << 20 else max(block, 1 << 20)
        return jobs, size - size % unit if size >= unit else size - size % block

    def fit(self, kind: Kind) -> Self:
        """librbd has a cache of its own without ``direct``; jobs that share an image fight for its lock.

        An image is no file (fio 3.33, engines/rbd.c): nothing is opened with O_SYNC, and of what commits only fsync
        is a flush. Raises OptionError for the others.
        """
        if kind not in ("rbd", "image"):
            return self
        if self.options.get("fdatasync"):
            raise OptionError("fdatasync", "fio's rbd engine has no fdatasync: fsync flushes an image")
        if self.options.get("sync", "none") != "none":
            raise OptionError("sync", "fio's rbd engine ignores it: fsync=1 flushes an image after each write")
        fitted = {**self.options, "ioengine": "rbd", "direct": True}
        if kind == "image":
            fitted["iodepth"] = int(self.options["iodepth"]) * int(self.options["numjobs"])
            fitted["numjobs"] = 1
        return replace(self, options=fitted)

    def argv(self, name: str, size_bytes: int, place: Place) -> tuple[str, ...]:
        """Each job has its own region of the target, or its own image."""
        size = short_size(size_bytes)
        chosen: dict[str, OptionValue] = {**{k: v for k, v in self.options.items() if k != "size"}, "size": size}
        if isinstance(place, models.RbdPlace):
            del chosen["numjobs"]
        elif int(self.options["numjobs"]) > 1:
            chosen["offset_increment"] = size
        if not self.options["ramp_time"]:
            del chosen["ramp_time"]
        return _command(name, chosen, place)

    def prefill_argv(self, sizes: Sequence[int], place: Place) -> tuple[str, ...]:
        common = reduce(math.gcd, sizes)
        block = min(common & -common, 1 << 20)
        bs = str(self.options["bs"]) if block < 4096 else short_size(block)
        chosen: dict[str, OptionValue] = {
            "rw": "write",
            "bs": bs,
            "iodepth": 16,
            "ioengine": self.options["ioengine"],
            "direct": self.options["direct"],
            "size": short_size(sizes[0]),
            "end_fsync": True,
            **({"group_reporting": True} if len(place.images) > 1 else {}),
        }
        return _command("fill", chosen, place, sizes)

    def times(self) -> tuple[float, float | None]:
        return float(self.options["ramp_time"]), float(self.options["runtime"]) if self.options["time_based"] else None

    def most_seconds(self) -> float | None:
        return float(self.options["runtime"]) or None

    def writes(self) -> bool:
        return str(self.options["rw"]) not in ("read", "randread")

    def needs_data(self, kind: Kind) -> bool:
        """The first write of a block is not the same as the second, so writes need it too."""
        return True

    def describe(self) -> str:
        words = {"iodepth": "depth", "numjobs": "jobs"}
        parts = [f"{self.options.get('bs', '')} {self.options.get('rw', '')}".strip() or "options not known"]
        parts += [f"{word} {self.options[name]}" for name, word in words.items() if name in self.options]
        if self._without_depth():
            parts[1] += f" (1 with {self.options['ioengine']})"
        if seconds := float(self.options.get("runtime", 0)):
            parts.append(f"{'' if self.options.get('time_based') else 'at most '}{duration(seconds)}")
        return ", ".join(parts)

    def load(self) -> Load:
        depth, jobs = int(self.options.get("iodepth", 1)), int(self.options.get("numjobs", 1))
        seconds = float(self.options.get("runtime", 0)) if self.options.get("time_based") else None
        flushes = [self.options.get(name) for name in ("fsync", "fdatasync")] if self.writes() else []
        return Load(
            self.block_bytes(),
            str(self.options["rw"]),
            1 if self._without_depth() else depth,
            jobs,
            seconds,
            self._rate(jobs),
            commits=1 in flushes,
            flushes=any(flushes),
            pauses=bool(self.options.get("thinktime")),
            distribution=str(self.options.get("random_distribution") or ""),
            smaller=smaller_data(self.options) if self.writes() else SmallerData(),
            other_threads=OTHER_THREADS.get(str(self.options.get("ioengine")), ""),
            is_cached=not self.options.get("direct", True),
        )

    def _rate(self, jobs: int) -> Rate:
        """fio 3.33 HOWTO: a single ``rate`` or ``rate_iops`` holds for each job, for reads and writes apart.

        An imported run may have several, by commas: these are not known here.
        """
        iops, size = self.options.get("rate_iops"), self.options.get("rate")
        try:
            return Rate(
                None if iops is None else float(iops) * jobs,
                None if size is None else float(parse_size(str(size))) * jobs,
                options=tuple(name for name in ("rate_iops", "rate") if name in self.options),
            )
        except ValueError:
            return Rate()

    def entries(self) -> int:
        return 1 if self.options.get("group_reporting", True) else int(self.options.get("numjobs", 1))

    def parser(self, *, ramp: bool, seconds: float | None) -> Parser:
        from cephtui.tools.fio.output import FioParser

        return FioParser(ramp=ramp, seconds=seconds, without_depth=self._without_depth())

    def _without_depth(self) -> Mapping[str, OptionValue] | None:
        """The engine and the depth that it can't reach; None where it can."""
        engine, depth = self.options.get("ioengine"), self.options.get("iodepth", 1)
        if engine not in WAITING_ENGINES or depth == 1:
            return None
        return {"ioengine": engine, "iodepth": depth}
