"""``device:PATH``: a block device that exists.

It is written only if unused (no mount, holder or signature) and confirmed by typing its name.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import ClassVar

from cephtui import units
from cephtui.frozen import dataclass
from cephtui.models import FilePlace, Finding, Kind, Node, Part, Place
from cephtui.models.findings.data import HOLES, UNVERIFIED
from cephtui.models.refusal import Refusal
from cephtui.nodes.shell import Shell, failure_reason
from cephtui.targets import devices, rbd
from cephtui.targets.base import DataLayout, Target, TargetError, TargetFault, TargetKind, TargetState, Use
from cephtui.targets.candidates import NOT_INSPECTED, Candidate, OnFound, by_number, inspect_each
from cephtui.targets.devices import DeviceFacts
from cephtui.targets.file import parse_file_path
from cephtui.targets.findings import cached_below, in_front, memory, never_written, page_cache

_WRITING = Use(parts=(), writes=True, filled=True, options={}, destroy=())


@dataclass(frozen=True, slots=True)
class DeviceTarget(Target):
    """A block device that exists."""

    kind: ClassVar[Kind] = "device"
    is_managed: ClassVar[bool] = False
    identified_at_path: ClassVar[bool] = True

    path: str

    @property
    def spec(self) -> str:
        return f"device:{self.path}"

    @property
    def names(self) -> tuple[str, ...]:
        return devices.confirm_names(self.path)

    def lay_out(self, node: Node, layout: DataLayout) -> tuple[Place, tuple[Part, ...]]:
        part = Part(spec=self.spec, bytes=layout.jobs * layout.size_bytes)
        return FilePlace(kind="device", path=self.path), (part,)

    async def inspect(self, shell: Shell, use: Use) -> TargetState:
        """Inspect the device; a mapped image takes the guards of the image as well."""
        facts = await self._facts(shell)
        span = sum(part.bytes for part in use.parts)
        refusal = self._guard(facts, span, use)
        findings = (*memory(facts.memory), *page_cache(use.options))
        if not findings:
            findings = cached_below(facts.cached)
        findings += in_front(facts.caches)
        is_image = facts.rbd is not None and facts.whole is None
        if refusal is None and not (is_image or use.filled or use.writes):
            findings += await self._holes(shell, span)
        state = TargetState(refusal=refusal, device=self.path, findings=findings)
        if facts.rbd and refusal is None:
            # what of the image a partition is, the image does not know
            image = await rbd.inspect_mapped(shell, facts.rbd, use if is_image else replace(use, filled=True))
            state = replace(image, device=self.path, findings=(*state.findings, *image.findings))
        identity = f"{facts.number} {facts.size}"
        return replace(state, queues=facts.queues, identities={self.spec: identity})

    async def room(self, shell: Shell, nodes: int) -> int | None:
        return (await self._facts(shell)).size or None

    async def _holes(self, shell: Shell, span: int) -> tuple[Finding, ...]:
        """What of the first bytes was never written: most devices can't tell."""
        answer = await shell.run(devices.written_argv(self.path, span))
        if not answer.stdout.strip().isdecimal():
            return (UNVERIFIED.found(),)
        return never_written(HOLES, int(answer.stdout), span, path=self.path)

    async def _facts(self, shell: Shell) -> DeviceFacts:
        answer = await shell.run(devices.inspect_device_argv(self.path))
        try:
            return devices.parse_device(answer.stdout)
        except ValueError as error:
            raise TargetFault(f"can't inspect {self.path}: {error} {answer.stderr}".strip()) from None

    def _guard(self, facts: DeviceFacts, span: int, use: Use) -> Refusal | None:
        if use.writes:
            return devices.guard_device(self.path, facts, span, use.destroy)
        return devices.guard_reading(self.path, facts, span)


class DeviceKind(TargetKind):
    """Block devices."""

    scheme = "device"
    examples = ("device:PATH",)
    is_path = True

    def parse(self, name: str, owner_id: str | None = None) -> DeviceTarget:
        return DeviceTarget(parse_device_path(self.spec(name), name))

    async def discover(self, shell: Shell, name: str, on_found: OnFound) -> str:
        """The disks, partitions and volumes of a node; those that the kernel lists as in use are not opened."""
        answer = await shell.run(devices.list_devices_argv())
        if answer.status != 0:
            return f"can't list the devices: {failure_reason(answer)}"
        block_devices = sorted(devices.parse_devices(answer.stdout), key=lambda facts: by_number(facts.aliases[0]))
        listed = [self._listed_candidate(facts) for facts in block_devices]
        on_found(listed)
        await inspect_each(listed, lambda candidate: self._inspect_candidate(shell, candidate), on_found)
        return "" if listed else "there are no block devices"

    def _listed_candidate(self, facts: DeviceFacts) -> Candidate:
        path = facts.aliases[0]
        refusal = devices.guard_listed(path, facts)
        backing = f" on {facts.backing}" if facts.backing else ""
        text = f"{units.size(facts.size)}{backing}"
        return self.candidate(path, text if refusal else f"{text}, {NOT_INSPECTED}", refusal)

    async def _inspect_candidate(self, shell: Shell, listed: Candidate) -> Candidate:
        path = listed.spec.removeprefix("device:")
        try:
            state = await DeviceTarget(path).inspect(shell, _WRITING)
        except TargetFault as fault:
            return replace(listed, reason=str(fault))
        return self.candidate(path, listed.text.removesuffix(f", {NOT_INSPECTED}"), state.refusal)


def parse_device_path(text: str, path_text: str) -> str:
    """The path in a target's text; raises TargetError."""
    path = os.path.normpath(parse_file_path(text, path_text))
    if not path.startswith("/dev/"):
        raise TargetError(f"target {text!r}: expected a path below /dev; for a file use file:{path_text}")
    return path
