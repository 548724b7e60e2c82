"""The slowest operations of OSDs, with what their time was spent in."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from cephtui.ceph.slow_operations import SlowOperation, parse_slow_operations

RELEASES = Path(__file__).parents[2] / "recordings" / "releases"


def recorded(release: str) -> tuple[SlowOperation, ...]:
    return parse_slow_operations(
        "osd.1", lzma.open(RELEASES / f"ceph-{release}" / "historic-ops.stdout.xz", "rt").read()
    )


@pytest.mark.parametrize("release", ["16.2.15", "18.2.7", "20.2.4"])
def test_the_stages_are_the_time_that_an_operation_took(release: str) -> None:
    operations = recorded(release)
    assert len(operations) == 20
    assert [one.seconds for one in operations] == sorted((one.seconds for one in operations), reverse=True)
    for one in operations:
        assert sum(one.stages.values()) == pytest.approx(one.seconds, abs=2e-5)
        assert "other" not in one.stages


def test_it_is_known_what_was_waited_for_and_whose_it_was() -> None:
    one = next(one for one in recorded("16.2.15") if one.seconds == 0.053299842)
    assert one.stages == {
        "receipt": 6e-06,
        "queue": 0.000266,
        "preparation": 2.5e-05,
        "own commit": 0.011079,
        "commit of a replica": 0.041898,
        "end": 2.6e-05,
    }
    assert (one.osd, one.is_replica, one.image_id) == ("osd.1", False, "1014b99ed0ec")
    assert one.begun == pytest.approx(1_795_691_714.533898)


def test_a_replica_waits_for_its_own_commit() -> None:
    (one, *_) = recorded("16.2.15")
    assert one.is_replica
    assert max(one.stages, key=lambda stage: one.stages[stage]) == "own commit"


def operation(*events: tuple[str, str], description: str = "osd_op(client.1 3.0 3:00aa11bb:::x:head [])") -> Any:
    at = "2026-11-26T11:15:{}+0000"
    rows = [{"event": event, "time": at.format(seconds)} for event, seconds in events]
    told = {"description": description, "initiated_at": at.format("10.000000"), "duration": 9.14}
    return {**told, "type_data": {"events": rows}}


def parsed(*rows: Any) -> tuple[SlowOperation, ...]:
    return parse_slow_operations("osd.0", json.dumps({"ops": rows}))


def test_the_message_cap_is_seen() -> None:
    events = ("initiated", "10.000000"), ("header_read", "10.100000"), ("throttled", "17.780000")
    (one,) = parsed(operation(*events, ("something new", "18.000000")))
    assert one.stages == {"receipt": pytest.approx(0.1), "throttled": pytest.approx(7.68), "other": pytest.approx(0.22)}


BENCHED, DATA = "benchmark_data_a_1_object2", "rbd_data.12.101910cf68a3.0000000000000011"


@pytest.mark.parametrize(
    ("description", "name", "namespace", "image"),
    [
        (f"osd_op(client.4.0:1 3.0 3:1a50ff42:ns:key:{BENCHED}:head [write 0~9])", BENCHED, "ns", ""),
        (f"osd_op(client.4.0:1 3.0 3:1a50ff42:::{DATA}:head [])", DATA, "", "101910cf68a3"),
        ("osd_op(client.4.0:1 3.0 3.1a (undecoded) ondisk+read)", "", "", ""),
    ],
)
def test_the_object_and_its_image(description: str, name: str, namespace: str, image: str) -> None:
    (one,) = parsed(operation(description=description))
    assert (one.object, one.namespace, one.image_id) == (name, namespace, image)


@pytest.mark.parametrize("row", [{}, {"initiated_at": "soon"}, {"initiated_at": None, "type_data": 3}])
def test_what_can_not_be_read_is_left_out(row: Any) -> None:
    broken = {**operation(), "type_data": {"events": [{"event": "x"}, {"time": "y"}, 7]}, "duration": "long"}
    assert [one.stages for one in parsed(row, broken)] == [{}]


@pytest.mark.parametrize("text", ["", "[]", "{}", "nothing"])
def test_an_answer_that_is_none_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="unexpected answer"):
        parse_slow_operations("osd.0", text)
