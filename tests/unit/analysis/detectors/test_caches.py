"""What fits into the memory of the OSDs that it is read from."""

from __future__ import annotations

from typing import Any

import pytest

from cephtui.analysis.detectors.caches import cached_reads, hot_set, osd_memory
from cephtui.models import ClusterEnvironment, Run
from tests.support.golden import Golden
from tests.support.known import known
from tests.support.runs import run, total

GIB = 1 << 30
OPTIONS = {"rw": "randread", "bs": "4k", "iodepth": 64, "numjobs": 1}
CLUSTER: dict[str, Any] = {"pool": {"name": "bench"}, "pgs_by_osd": {"0": 10, "1": 11, "2": 12}}


def reading(span: int, nbytes: int, cluster: dict[str, Any] | None = None, **options: Any) -> Run:
    return run(
        read=total(bytes=nbytes, ios=nbytes // 4096),
        options={**OPTIONS, **options},
        span_bytes=span,
        cluster=ClusterEnvironment(**(CLUSTER if cluster is None else cluster)),
    )


def test_a_small_set_that_is_read_again_and_again(golden: Golden) -> None:
    golden.same(known(cached_reads(reading(16 << 20, GIB))).text)


@pytest.mark.parametrize(
    ("span", "nbytes", "is_cached"),
    [
        (12 * GIB, 12 * GIB, True),
        (12 * GIB + 4096, 100 * GIB, False),
        (10 * GIB, 5 * GIB, True),
        (10 * GIB, 4 * GIB, False),
        (0, GIB, False),
    ],
)
def test_it_has_to_fit_and_to_be_read_often_enough(span: int, nbytes: int, is_cached: bool) -> None:
    assert bool(cached_reads(reading(span, nbytes))) == is_cached


def test_of_a_skewed_set_the_hot_part_counts(golden: Golden) -> None:
    assert cached_reads(reading(64 * GIB, GIB)) is None
    finding = known(cached_reads(reading(64 * GIB, GIB, random_distribution="zipf:1.2")))
    golden.same(finding.text)
    assert cached_reads(reading(64 * GIB, GIB, random_distribution="normal:50")) is None


@pytest.mark.parametrize("rw", ["write", "randwrite"])
def test_what_is_only_written_is_not_read_from_memory(rw: str) -> None:
    assert hot_set(reading(16 << 20, GIB, rw=rw)) is None


@pytest.mark.parametrize("rw", ["read", "rw", "readwrite", "randrw"])
def test_what_is_read_among_writes_may_be(rw: str) -> None:
    assert cached_reads(reading(16 << 20, GIB, rw=rw)) is not None


def test_a_target_in_no_pool_goes_through_no_osd() -> None:
    assert cached_reads(reading(16 << 20, GIB, {})) is None


@pytest.mark.parametrize(
    ("config", "gib"),
    [
        (None, 12),
        ({}, 12),
        ({"global osd_memory_target": str(2 * GIB)}, 6),
        ({"global osd_memory_target": str(2 * GIB), "osd osd_memory_target": str(8 * GIB)}, 24),
        ({"osd osd_memory_target": str(8 * GIB), "osd.1 osd_memory_target": str(GIB)}, 17),
        ({"osd/class:hdd osd_memory_target": str(GIB)}, 9),
        ({"osd/host:a osd_memory_target": str(GIB), "osd/host:b osd_memory_target": str(5 * GIB)}, 15),
        ({"osd osd_memory_target": "(not kept)"}, 12),
    ],
)
def test_the_memory_is_that_of_the_osds_of_the_pool(config: dict[str, str] | None, gib: int) -> None:
    cluster = ClusterEnvironment(**CLUSTER, class_by_osd={"0": "hdd", "1": "ssd"}, config=config)
    assert osd_memory(cluster) == gib * GIB


def test_without_its_osds_all_that_are_in_count() -> None:
    assert osd_memory(ClusterEnvironment(pool={"name": "x"}, osds_in=5)) == 20 * GIB
    assert osd_memory(ClusterEnvironment(pool={"name": "x"})) == 0
