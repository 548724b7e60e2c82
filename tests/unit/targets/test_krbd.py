"""Images that the kernel maps: what is refused, in which order one is made, and what is taken away of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cephtui.models import Node, Part
from cephtui.nodes.transport import Completed
from cephtui.nodes.vault import Vault
from cephtui.targets import parse_target, target_kind
from cephtui.targets.base import DataLayout, Removed, TargetFault, Use
from cephtui.targets.krbd import KrbdFacts, guard_krbd, parse_krbd_facts, usable_features
from tests.support.golden import Golden

OWNER = "0123456789abcdef"
IMAGE = "cephtui-5c84e3e6-pve1-ext4"
PART = Part(spec=f"krbd:bench/{IMAGE}", bytes=64 << 20)
KERNEL = "kernel\t6.8.12-4-pve\nroot\tyes\nmodule\tloaded\nfeatures\t0x1bf\nmkfs\tyes\n"
THERE = f"{KERNEL}queue/scheduler\tnone [mq-deadline]\nqueue/nr_requests\t128\nidentity\t5e8d 251:0 12\n"
INFO = json.dumps({"name": IMAGE, "id": "5e8d", "size": 64 << 20, "features": ["layering"]})
MARK = f"value (16 bytes) :\n00000000  {OWNER.encode().hex(' ')}  |{OWNER}|\n00000010\n"
MISSING = Completed(2, "", f"rbd: error opening image {IMAGE}: (2) No such file or directory")
BUSY = Completed(16, "", "rbd: sysfs write failed\nrbd: unmap failed: (16) Device or resource busy")


def ok(text: str = "") -> Completed:
    return Completed(0, text, "")


class FakeNode:
    """A node that answers to what is in a command: the first text that fits."""

    vault = Vault()

    def __init__(self, answers: Mapping[str, Completed] = MappingProxyType({})) -> None:
        self.node = Node(name="pve1")
        self.asked: list[tuple[str, ...]] = []
        usual = {"krbd-inspect": ok(THERE), "rbd map": ok("/dev/rbd0\n"), "getomapval": ok(MARK), "rbd info": ok(INFO)}
        self._answers: Mapping[str, Completed] = {**usual, **answers}

    async def run(self, argv: Sequence[str], *, timeout_seconds: float = 30.0, stdin: str = "") -> Completed:
        self.asked.append(tuple(argv))
        words = argv[3:] if argv[0] == "bash" else argv
        text = " ".join(words)
        return next((answer for key, answer in self._answers.items() if key in text), ok())

    async def ceph(self, argv: Sequence[str], *, timeout_seconds: float = 30.0) -> Completed:
        return await self.run(argv)

    @property
    def steps(self) -> list[str]:
        """What was done, without what was merely asked."""
        texts = [argv[3] if argv[0] == "bash" else " ".join(argv[:2]) for argv in self.asked]
        return [
            text for text in texts if text not in ("cephtui-krbd-inspect", "rbd info", "rbd image-meta", "rados -p")
        ]


def create(node: FakeNode, spec: str = "krbd:bench+ext4") -> str:
    return asyncio.run(parse_target(spec, owner_id="5c84e3e6").create(node, PART, OWNER))


def remove(node: FakeNode, name: str = f"bench/{IMAGE}", owner: str | None = OWNER) -> Removed:
    kind = target_kind("krbd:bench")
    assert kind
    return asyncio.run(kind.remove(node, name, owner))


# ---------------------------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("facts", "file_system", "refused"),
    [
        (
            KrbdFacts(module="loaded"),
            "",
            True,
        ),
        (
            KrbdFacts("6.18.44", root=True),
            "",
            True,
        ),
        (
            KrbdFacts(root=True, module="loadable"),
            "xfs",
            True,
        ),
        (KrbdFacts(root=True, module="loadable"), "", False),
        (KrbdFacts(root=True, module="loaded", mkfs=True), "ext4", False),
    ],
)
def test_a_node_that_cant_is_refused_with_the_next_step(
    facts: KrbdFacts, file_system: str, refused: bool, golden: Golden
) -> None:
    refusal = guard_krbd("pve1", facts, file_system, "rbd:bench")
    assert (refusal is not None) is refused
    if refusal:
        golden.same(refusal.text)


@given(st.text() | st.builds("features\t{}\nmodule\t{}".format, st.text(), st.text()))
def test_any_answer_of_a_node_is_read(text: str) -> None:
    facts = parse_krbd_facts(text)
    assert set(usable_features(facts)) <= {"layering", "exclusive-lock", "object-map", "fast-diff", "deep-flatten"}


def test_the_features_are_those_of_the_kernel() -> None:
    old = parse_krbd_facts(KERNEL.replace("0x1bf", "0x5"))  # layering and exclusive-lock
    assert usable_features(old) == ("layering", "exclusive-lock")
    with_gaps = parse_krbd_facts(KERNEL.replace("0x1bf", "0x21"))
    assert usable_features(with_gaps) == ("layering", "deep-flatten")
    assert parse_krbd_facts(THERE).identity == "5e8d 251:0 12"


def test_a_run_says_that_it_is_krbd_and_where_the_page_cache_takes_part(golden: Golden) -> None:
    target = parse_target("krbd:bench", owner_id="5c84e3e6")
    use = Use((PART,), writes=True, filled=True, options={"direct": False}, destroy=())

    found = asyncio.run(target.inspect(FakeNode(), use))

    assert [finding.code for finding in found.findings] == ["krbd", "page-cache"]
    golden.same(finding.text for finding in found.findings)
    assert (found.to_create, found.identities) == ((PART,), {PART.spec: "5e8d 251:0 12"})


# ---------------------------------------------------------------------------------------------- how it is made


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        ("krbd:bench", "/run/cephtui/cephtui-5c84e3e6-pve1-krbd/device"),
        ("krbd:bench+xfs", "/run/cephtui/cephtui-5c84e3e6-pve1-xfs/mnt/data"),
    ],
)
def test_all_jobs_of_a_node_share_what_a_tool_opens(spec: str, path: str) -> None:
    target = parse_target(spec, owner_id="5c84e3e6")
    place, parts = target.lay_out(Node(name="pve1"), DataLayout(jobs=4, size_bytes=1 << 20, alone=False, batch="b"))
    assert (place.kind, place.path) == (target.kind, path)
    assert [part.bytes for part in parts] == [4 << 20]


def test_it_is_made_in_order_once_nothing_of_it_is_left() -> None:
    node = FakeNode()

    assert create(node) == "5e8d 251:0 12"

    made = ["cephtui-krbd-withdraw", "modprobe rbd", "rbd create", "rbd rename", "rbd map", "cephtui-krbd-place"]
    assert node.steps == [*made, "cephtui-create"]
    (image,) = [argv for argv in node.asked if argv[:2] == ("rbd", "create")]
    assert "layering,exclusive-lock,object-map,fast-diff,deep-flatten" in image
    assert ("rbd", "map", "--options", "noudev", f"bench/{IMAGE}") in node.asked
    assert node.asked[-2][4:] == (f"/run/cephtui/{IMAGE}/mnt/data", str(PART.bytes), OWNER)


def test_a_device_of_its_own_needs_no_file() -> None:
    node = FakeNode()
    create(node, "krbd:bench")
    assert node.steps[-2:] == ["rbd map", "cephtui-krbd-place"]


FAULTS = {
    "krbd-withdraw": Completed(75, "", "/run/x/mnt is in use by bash (12)"),
    "krbd-inspect": ok("kernel\t6.8\n"),
    "rbd map": Completed(6, "", "rbd: map failed: (6) No such device"),
    "krbd-place": Completed(1, "", "mkfs.ext4: No space left"),
    "cephtui-create": Completed(1, "", "truncate: failed"),
}


@pytest.mark.parametrize("step", FAULTS)
def test_the_step_that_fails_is_named(step: str, golden: Golden) -> None:
    with golden.raises(TargetFault) as caught:
        create(FakeNode({step: FAULTS[step]}))
    assert FAULTS[step].stderr in str(caught.value)


def test_the_queue_of_its_device_is_known_once_it_is_mapped() -> None:
    target, expected = (
        parse_target("krbd:bench+ext4", owner_id="5c84e3e6"),
        {
            "queue/scheduler": "mq-deadline",
            "queue/nr_requests": "128",
        },
    )
    use = Use((PART,), writes=True, filled=True, options={}, destroy=())
    assert asyncio.run(target.queues(FakeNode(), PART)) == expected
    assert asyncio.run(target.inspect(FakeNode(), use)).queues == expected
    assert asyncio.run(target.inspect(FakeNode({"krbd-inspect": ok(KERNEL)}), use)).queues == {}


# ---------------------------------------------------------------------------------------------- how it goes away


def test_what_does_not_carry_its_owner_is_left_as_it_is() -> None:
    others = FakeNode()
    assert remove(others, owner="another").status == "not ours"
    assert remove(others, name="bench/vm-100-disk-0").status == "not ours"
    assert others.steps == []


def test_who_holds_a_mapping_is_named_and_nothing_is_forced() -> None:
    node = FakeNode({"krbd-withdraw": ok("device\t/dev/rbd0\nholders\tdd (4711)\n"), "rbd unmap": BUSY})

    assert remove(node) == Removed("busy", "/dev/rbd0 is in use by dd (4711)")

    assert node.steps == ["cephtui-krbd-withdraw", "rbd unmap"]
    assert not any("force" in word for argv in node.asked if argv[0] == "rbd" for word in argv)


def test_a_busy_file_system_keeps_its_mapping_and_its_image() -> None:
    node = FakeNode({"krbd-withdraw": Completed(75, "", "/run/x/mnt is in use by bash (12)")})
    assert remove(node) == Removed("busy", "/run/x/mnt is in use by bash (12)")
    assert node.steps == ["cephtui-krbd-withdraw"]


def test_it_is_taken_away_in_reverse() -> None:
    node = FakeNode({"krbd-withdraw": ok("device\t/dev/rbd0\n")})
    remove(node)
    steps = node.steps
    assert steps.index("cephtui-krbd-withdraw") < steps.index("rbd unmap") < steps.index("rbd rm")


def test_the_directory_goes_even_where_the_image_is_gone() -> None:
    """A console was killed in the middle of a removal, or the removal is done twice."""
    node = FakeNode({"rbd info": MISSING})
    assert remove(node).status == "absent"
    assert node.steps == ["cephtui-krbd-withdraw"]
