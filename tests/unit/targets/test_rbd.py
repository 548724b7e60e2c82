"""Images that are only read: what their objects tell of holes, and what can't be known soon."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cephtui.models import Finding, Part
from cephtui.nodes.transport import Completed
from cephtui.targets.base import Use
from cephtui.targets.rbd import RbdImage
from tests.support.clusters import ANSWERS, RecordedShell, ok
from tests.support.golden import Golden

MIB = 1 << 20
DENIED = Completed(13, "", "Error EACCES: access denied")
READ = Use(parts=(), writes=False, filled=False, options={}, destroy=())


def info(name: str, **changes: Any) -> Completed:
    return ok(json.loads((ANSWERS / "images" / f"{name}.info.stdout").read_text()) | changes)


async def findings(shell: RecordedShell, name: str = "plain", span: int = 64 * MIB, **use: Any) -> list[Finding]:
    parts = (Part(spec=f"rbd:rec/{name}", bytes=span),)
    state = await RbdImage("rec", name).inspect(shell, Use(**{**_fields(READ), "parts": parts, **use}))
    assert state.refusal is None
    return [*state.findings]


def _fields(use: Use) -> dict[str, Any]:
    return {"writes": use.writes, "filled": use.filled, "options": use.options, "destroy": use.destroy}


def codes(found: list[Finding]) -> list[str]:
    return [finding.code for finding in found]


def shell(written: Completed | int, **instead: Completed) -> RecordedShell:
    answer = ok(f"{written} 0 0\n") if isinstance(written, int) else written
    return RecordedShell("images", **{"bash_image-written": answer, **instead})


async def test_an_image_that_is_full_where_it_is_read_has_no_finding() -> None:
    node = shell(64 * MIB)
    assert await findings(node) == []
    (asked,) = [argv for argv in node.asked if "cephtui-image-written" in argv]
    assert asked[4:7] == ("rec", "plain", str(64 * MIB)), "of the span alone it is asked"


async def test_holes_are_a_share_of_what_is_read(golden: Golden) -> None:
    (thin,) = await findings(shell(40 * MIB))
    assert (thin.code, thin.level) == ("thin", "invalidates")
    golden.same(thin.text)
    (empty,) = await findings(shell(0))
    assert empty.values["share_percent"] == 100


async def test_a_hole_that_changes_next_to_nothing_only_limits(golden: Golden) -> None:
    (few,) = await findings(shell(1000 * MIB), span=1004 * MIB)
    assert few.code == "unverified"
    golden.same(few.text)


@pytest.mark.parametrize("use", [{"filled": True}, {"writes": True, "destroy": ("plain",)}], ids=str)
async def test_what_is_prefilled_or_only_written_is_not_asked(use: dict[str, Any]) -> None:
    node = shell(0)
    assert await findings(node, **use) == []
    assert not [argv for argv in node.asked if "cephtui-image-written" in argv]


async def test_a_clone_has_what_its_parent_has() -> None:
    node = shell(64 * MIB, **{"rbd_info_--format": info("parent")})
    assert await findings(node, "child") == []
    assert ("rbd", "info", "--format", "json", "rec/parent@base") in node.asked


LARGE = {"size": 1 << 40, "features": ["layering"]}


@pytest.mark.parametrize(
    "unknown",
    [
        {"rbd_info_--pool": info("plain", **LARGE)},
        {"rbd_info_--pool": info("plain", size=1 << 40, flags=["object map invalid", "fast diff invalid"])},
        {"rbd_info_--pool": info("child"), "rbd_info_--format": info("parent", **LARGE)},
        {"rbd_info_--pool": info("child"), "rbd_info_--format": DENIED},
        {"rbd_info_--pool": info("child"), "rbd_info_--format": info("child")},
        {"rbd_status": DENIED},
        {"rbd_status": ok({"watchers": [], "migration": {"state": "prepared"}})},
    ],
    ids=["no map", "invalid map", "no map of the parent", "no parent", "endless clones", "use", "migration"],
)
async def test_what_is_not_known_soon_is_not_asked_and_said(unknown: dict[str, Completed], golden: Golden) -> None:
    node = shell(0, **unknown)
    (finding,) = await findings(node)
    assert (finding.code, finding.level) == ("unverified", "limits")
    golden.same(finding.text)
    assert not [argv for argv in node.asked if "cephtui-image-written" in argv]


async def test_an_answer_that_does_not_come_is_not_known() -> None:
    assert codes(await findings(shell(Completed(124, "", "")))) == ["unverified"]
    assert codes(await findings(shell(ok("junk")))) == ["unverified"]
