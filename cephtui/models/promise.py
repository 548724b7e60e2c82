"""What a run is measured for: the figures that it has to reach, known before it begins."""

from typing import Literal, TypeAlias

from cephtui.models.base import Line, Model

VolumePart: TypeAlias = Literal["read", "write", "75/25"]
"""What is done to a volume; with ``75/25``, 75 of 100 I/Os are reads."""


class MeasuredVolume(Model):
    """A volume in a table of volumes, and which of its columns a run fills."""

    name: Line
    """The user's name for it; by default the target."""
    device_class: Line = ""
    """The user's word for its class: ``NVME``; empty where there is none."""
    part: VolumePart


class Promise(Model):
    """The figures that a step of an order has to reach."""

    step: Line
    """What the step is called: its preset, or its title where several steps have that preset."""
    expect: tuple[Line, ...]
    """The expectations as they were typed: ``iops>=5000``."""
    volume: MeasuredVolume | None = None
    """The volume that is measured; null where the step is none of ``provisioned``."""
