"""The CRUSH tree: which OSDs are on which host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cephtui.ceph import answers
from cephtui.frozen import dataclass

TREE_ARGV = ("ceph", "osd", "tree", "-f", "json")
"""The command that reports a CrushTree; the cephx caps ``mon r`` are enough."""


@dataclass(frozen=True, slots=True)
class Bucket:
    """A root, a host, another bucket, or an OSD."""

    name: str
    kind: str
    """``root``, ``host``, ``osd``."""
    children: tuple[int, ...] = ()
    device_class: str = ""
    """The device class of an OSD; empty for any other bucket."""
    is_up: bool = True
    """Whether an OSD is up; true for any other bucket."""


@dataclass(frozen=True, slots=True)
class CrushTree:
    """Buckets and OSDs by their ids."""

    buckets: Mapping[int, Bucket]

    def osds_by_host(self, take: str) -> dict[str, int]:
        """How many OSDs each host has below what a rule takes: ``default``, ``default~ssd`` for one device class."""
        root, _, device_class = take.partition("~")
        osds: dict[str, int] = {}
        waiting = [(number, "") for number, bucket in self.buckets.items() if bucket.name == root]
        visited = set()
        while waiting:
            number, host = waiting.pop()
            bucket = self.buckets.get(number)
            if bucket is None or number in visited:
                continue
            visited.add(number)
            if bucket.kind == "osd" and host and device_class in ("", bucket.device_class):
                osds[host] = osds.get(host, 0) + 1
            waiting += [(child, bucket.name if bucket.kind == "host" else host) for child in bucket.children]
        return dict(sorted(osds.items()))

    def domains(self, take: str, kind: str) -> int:
        """How many buckets of a kind, ``host`` or ``osd``, have OSDs below what a rule takes."""
        fitting = [number for number in self.ids_below(take.partition("~")[0]) if self.buckets[number].kind == kind]
        osds = self.osds(take)
        return sum(not osds.isdisjoint(self._below([number])) for number in fitting)

    def osds(self, take: str) -> frozenset[int]:
        """The ids of the OSDs below what a rule takes."""
        root, _, device_class = take.partition("~")
        below = ((number, self.buckets[number]) for number in self.ids_below(root))
        return frozenset(
            number for number, bucket in below if bucket.kind == "osd" and device_class in ("", bucket.device_class)
        )

    def ids_below(self, name: str) -> set[int]:
        """The ids of the buckets of a name, of any kind as for ``ceph osd ls-tree``, and of all that is in them."""
        return self._below([number for number, bucket in self.buckets.items() if bucket.name == name])

    def _below(self, numbers: Sequence[int]) -> set[int]:
        """The ids of these buckets and of all that is in them."""
        visited: set[int] = set()
        waiting = list(numbers)
        while waiting:
            number = waiting.pop()
            if number in self.buckets and number not in visited:
                visited.add(number)
                waiting += self.buckets[number].children
        return visited


def parse_tree(text: str) -> CrushTree:
    """The answer to ``TREE_ARGV``."""
    answer = answers.json_object(text, "nodes")
    nodes = answers.objects(answer["nodes"])
    return CrushTree({node["id"]: _bucket(node) for node in nodes if isinstance(node.get("id"), int)})


def _bucket(answer: Mapping[str, Any]) -> Bucket:
    children = answer.get("children")
    return Bucket(
        name=str(answer.get("name")),
        kind=str(answer.get("type")),
        children=tuple(child for child in children if isinstance(child, int)) if isinstance(children, list) else (),
        device_class=str(answer.get("device_class") or ""),
        is_up=answer.get("status", "up") == "up",
    )
