"""Volumes with promised IOPS or bandwidth: how they are written, and the steps that measure one. Data only."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from cephtui.ceph.qos import Limits
from cephtui.frozen import dataclass
from cephtui.models import Line, VolumePart
from cephtui.presets import Choice, Preset, PresetError, read_file
from cephtui.suites import SuiteStep

PRESET = "provisioned"
"""The preset whose options are used, except for the pattern."""
SMALL, LARGE = "4k", "1M"
"""The block sizes for a promise of IOPS, and for one of bandwidth."""
_BLOCKS = {SMALL: 4096, LARGE: 1 << 20}
_PARTS: Mapping[VolumePart, str] = {"read": "randread", "write": "randwrite", "75/25": "randrw"}
_READS = 0.75
"""The fraction of reads in mixed I/O."""
_BURSTS = 3.0
"""How many times the burst a run takes: what is let through at its start is not what is promised."""
_IN_FLIGHT = 300.0
"""How many times longer a run is than the I/Os in flight take at a limit: at its end they are waited for."""
_VOLUMES_MOST = 100
_TargetName: TypeAlias = Annotated[str, Field(min_length=1)]
_Promised: TypeAlias = Annotated[float, Field(gt=0, le=1e15)] | None


class VolumeRow(BaseModel):
    """An entry of ``[[volumes]]`` in a file."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)

    target: _TargetName
    name: Line = ""
    """The name in the table; by default the target."""
    node: Line = ""
    """The node that measures the volume."""
    device_class: Line = Field(default="", alias="class")
    """The class in the table: ``NVME``."""
    limits_of: Line = ""
    """An image whose limits are the promise."""
    iops: _Promised = None
    read_iops: _Promised = None
    write_iops: _Promised = None
    bandwidth_bytes_per_second: _Promised = None
    read_bandwidth_bytes_per_second: _Promised = None
    write_bandwidth_bytes_per_second: _Promised = None
    burst_seconds: Annotated[float, Field(ge=0, le=86400)] = 0.0
    """Seconds for which more than the promise is let through."""


class VolumesFile(BaseModel):
    """The content of a file of volumes."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)

    volumes: Annotated[list[VolumeRow], Field(min_length=1, max_length=_VOLUMES_MOST)]


@dataclass(frozen=True, slots=True)
class Volume:
    """A volume, and what is promised of it."""

    target: str
    promised: Limits
    name: str = ""
    node: str = ""
    """The node that measures the volume; empty where there is only one node."""
    device_class: str = ""
    limits_of: str = ""
    """The target whose limits are the promise where nothing is promised; empty for the volume itself."""

    @property
    def title(self) -> str:
        """The name of the volume in tables."""
        return self.name or self.target

    @property
    def is_promised(self) -> bool:
        """Whether anything is promised; else the limits that are set are the promise."""
        return self.promised.is_set


@dataclass(frozen=True, slots=True)
class VolumeStep:
    """A measurement of a volume."""

    volume: Volume
    part: VolumePart
    block: str
    jobs: int
    step: SuiteStep


def load_volumes(path: Path) -> list[Volume]:
    """The volumes of a file; raises PresetError."""
    return [
        Volume(
            row.target,
            Limits(
                row.iops,
                row.read_iops,
                row.write_iops,
                row.bandwidth_bytes_per_second,
                row.read_bandwidth_bytes_per_second,
                row.write_bandwidth_bytes_per_second,
                row.burst_seconds,
            ),
            row.name,
            row.node,
            row.device_class,
            row.limits_of,
        )
        for row in read_file(path, VolumesFile).volumes
    ]


def volume_of(text: str) -> Volume:
    """The volume in ``rbd:bench/disk=8000``, or ``rbd:bench/disk`` for the limits that it has; raises PresetError."""
    from cephtui.analysis.verdicts.expectation import parse_expectation

    target, equals, number = text.rpartition("=")
    if not equals:
        return Volume(text, Limits())
    try:
        promised = parse_expectation(f"iops>={number}").value
    except ValueError:
        raise PresetError(f"--volume {text}: expected TARGET=IOPS, such as rbd:bench/disk=8000") from None
    return Volume(target, Limits(iops=promised))


def steps_of(
    volume: Volume, preset: Preset, jobs: int, repeats: int, options: Mapping[str, Choice]
) -> list[VolumeStep]:
    """The steps for a volume: reads, writes and both of small blocks for IOPS, reads and writes of large ones for
    bandwidth.

    Both kinds of a promise hold at once: the one that a block size reaches first is what is expected with it.
    ``options`` are set in all of them.
    """
    in_flight = jobs * _number(options.get("iodepth", preset.file.options.get("iodepth")), 1.0)
    least = max(_number(preset.file.options.get("runtime"), 60.0), _BURSTS * volume.promised.burst_seconds)
    steps = []
    for part, block, rate in _rates(volume.promised):
        seconds = float(math.ceil(max(least, _IN_FLIGHT * in_flight / rate)))
        step_options: dict[str, Choice] = {"runtime": seconds, "rw": _PARTS[part], "bs": block, "numjobs": jobs}
        words = [volume.title, part, block if block != SMALL else "", f"{jobs} jobs" if jobs > 1 else ""]
        title = " ".join(filter(None, words))
        expected = f"iops>={rate:.12g}" if block == SMALL else f"bandwidth>={rate * _BLOCKS[block]:.12g}B/s"
        step = SuiteStep(preset, title, {**step_options, **options}, repeats, expect=(expected,))
        steps.append(VolumeStep(volume, part, block, jobs, step))
    return steps


def _number(value: Choice | None, default: float) -> float:
    """The value of an option; the default where it is a sweep."""
    return float(value) if isinstance(value, int | float) else default


def _rates(promised: Limits) -> Iterator[tuple[VolumePart, str, float]]:
    """The part, the block size and the expected IOPS of each step."""
    has_rate = any((promised.iops, promised.read_iops, promised.write_iops))
    has_bandwidth = any((promised.bandwidth_bytes, promised.read_bandwidth_bytes, promised.write_bandwidth_bytes))
    large: tuple[VolumePart, ...] = ("read", "write")
    for block, parts in ((SMALL, tuple(_PARTS)), (LARGE, large)):
        for part in parts if (has_rate if block == SMALL else has_bandwidth) else ():
            rate = _rate(promised, part, _BLOCKS[block])
            if rate is not None:
                yield part, block, rate


def _rate(promised: Limits, part: str, block: int) -> float | None:
    """The IOPS that all promises together allow; None where no promise is about them."""
    reads, writes = {"read": (1.0, 0.0), "write": (0.0, 1.0)}.get(part, (_READS, 1 - _READS))
    shares = (
        (promised.iops, 1.0),
        (promised.read_iops, reads),
        (promised.write_iops, writes),
        (promised.bandwidth_bytes and promised.bandwidth_bytes / block, 1.0),
        (promised.read_bandwidth_bytes and promised.read_bandwidth_bytes / block, reads),
        (promised.write_bandwidth_bytes and promised.write_bandwidth_bytes / block, writes),
    )
    return min((rate / share for rate, share in shares if rate and share), default=None)
