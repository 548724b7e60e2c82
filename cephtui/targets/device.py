"""``device:PATH``: a block device that exists; written only where it is nobody's and its name was typed."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

from cephtui import devices
from cephtui.devices import DeviceFacts
from cephtui.models import FilePlace, Kind, Node, Part, Place
from cephtui.refusal import Refusal
from cephtui.shell import Shell
from cephtui.targets import rbd
from cephtui.targets.base import Found, Layout, TargetError, TargetFault, Use, page_cache, unverified
from cephtui.targets.file import parse_path as parse_file_path

DEFAULT_SPAN_BYTES = 10 << 30


@dataclass(frozen=True, slots=True)
class DeviceTarget:
    """See Target."""

    path: str
    kind: Kind = "device"
    pool: None = None
    data_pool: None = None
    own: bool = False
    kept: bool = True
    one_node: bool = False
    default_span_bytes: int = DEFAULT_SPAN_BYTES

    @property
    def spec(self) -> str:
        """See Target."""
        return f"device:{self.path}"

    @property
    def names(self) -> tuple[str, ...]:
        """See Target."""
        return devices.names(self.path)

    def lay_out(self, node: Node, layout: Layout) -> tuple[Place, tuple[Part, ...]]:
        """See Target."""
        part = Part(spec=self.spec, bytes=layout.jobs * layout.size_bytes)
        return FilePlace(kind="device", path=self.path), (part,)

    async def inspect(self, shell: Shell, use: Use) -> Found:
        """See Target. A mapped image takes the guards of the image besides."""
        facts = await self._look_at(shell)
        span = sum(part.bytes for part in use.parts)
        refusal = self._guard(facts, span, use)
        found = Found(refusal=refusal, device=self.path, findings=(*page_cache(use.options), *unverified(use)))
        if facts.rbd and refusal is None:
            image = await rbd.inspect_mapped(shell, facts.rbd, use)
            found = replace(image, device=self.path, findings=(*found.findings, *image.findings))
        identity = f"{facts.number} {facts.size}"
        return replace(found, identities={self.spec: identity})

    async def create(self, shell: Shell, part: Part, owner: str) -> str:
        """See Target: there is nothing to create."""
        raise TargetFault(f"{self.path} is a device, which cephtui does not create")

    async def room(self, shell: Shell, nodes: int) -> int | None:
        """See Target."""
        return (await self._look_at(shell)).size or None

    async def _look_at(self, shell: Shell) -> DeviceFacts:
        answer = await shell.run(devices.inspect_argv(self.path))
        try:
            return devices.parse_device(answer.stdout)
        except ValueError as error:
            raise TargetFault(f"can't inspect {self.path}: {error} {answer.stderr}".strip()) from None

    def _guard(self, facts: DeviceFacts, span: int, use: Use) -> Refusal | None:
        if use.writes:
            return devices.guard_device(self.path, facts, span, use.destroy)
        return devices.guard_reading(self.path, facts, span)


def parse_path(text: str, rest: str) -> str:
    """The path in a target's text; raises TargetError."""
    path = os.path.normpath(parse_file_path(text, rest))
    if not path.startswith("/dev/"):
        raise TargetError(f"target {text!r}: expected a path below /dev; for a file use file:{rest}")
    return path
