"""What is tested: where the data is, whether it may be written, how it is created and removed.

One module for each kind of target; ``base`` says what they have in common.
"""

from __future__ import annotations

from cephtui.models import Step
from cephtui.shell import Shell
from cephtui.targets import device, file, pool, rbd
from cephtui.targets.base import Removed, Target, TargetError
from cephtui.targets.device import DeviceTarget
from cephtui.targets.file import FileTarget
from cephtui.targets.pool import PoolTarget

__all__ = ["Target", "TargetError", "parse_target", "remove", "target_of"]
EXPECTED = "file:PATH, rbd:POOL, rbd:POOL/IMAGE, device:PATH or pool:POOL"


def parse_target(text: str, *, sitting: str = "", data_pool: str | None = None) -> Target:
    """The target that a text names; ``sitting`` makes the names of new images unique. Raises TargetError."""
    scheme, _, rest = text.partition(":")
    if data_pool and (scheme != "rbd" or "/" in rest):
        raise TargetError("--data-pool is for the images that rbd:POOL creates")
    if rest and scheme == "file":
        return FileTarget(file.parse_path(text, rest))
    if rest and scheme == "device":
        return DeviceTarget(device.parse_path(text, rest))
    if rest and scheme == "rbd":
        return rbd.parse(text, rest, sitting, data_pool)
    if rest and scheme == "pool":
        return PoolTarget(pool.parse_name(text, rest))
    raise TargetError(f"unknown target {text!r}: expected {EXPECTED}")


def target_of(step: Step) -> Target:
    """What a step tests; raises TargetError."""
    return parse_target(step.target, data_pool=step.data_pool)


async def remove(shell: Shell, spec: str) -> Removed:
    """Remove a part that cephtui has created, and nothing else; raises TransportError."""
    scheme, _, rest = spec.partition(":")
    if scheme == "file":
        return await file.remove(shell, rest)
    if scheme == "rbd":
        return await rbd.remove(shell, rest)
    if scheme == "pool":
        return await pool.remove(shell, rest)
    return Removed("failed", f"{spec} is nothing that cephtui removes")
