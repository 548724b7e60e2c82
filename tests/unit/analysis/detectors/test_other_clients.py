"""Other clients: what OSDs have counted beyond what the run itself did."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pytest

from cephtui.analysis.detectors.incidents import Course
from cephtui.analysis.detectors.other_clients import OtherOperations, operations_per_io
from cephtui.ceph.images import ImageInfo
from cephtui.models import ClusterSample, Interval, OsdInterval, OsdSample, S3Place, Sample, Step
from cephtui.models.metrics import COMMIT, FLUSH
from tests.support.known import known
from tests.support.plans import plan

KIB = 1024
IMAGE = ImageInfo("bench", "vm-100-disk-0", size=10 << 30, object_size=4 << 20)
Rate = Callable[[float], float]
"""Operations a second at a moment."""


def own(second: float, iops: float, block: int = 4 * KIB, missing: tuple[str, ...] = ()) -> Sample:
    nbytes = round(iops) * block
    interval = Interval(round(iops), nbytes, iops, float(nbytes))
    return Sample(1, None, "write-iops", "run", second, 1.0, None, interval, missing)


def counted(second: float, operations: float, nbytes: float, **fields: object) -> OsdSample:
    sample = OsdSample(
        run=1,
        elapsed_seconds=second,
        interval_seconds=1.0,
        writes=round(operations),
        write_bytes=round(nbytes),
        operations_per_io=1.0,
    )
    return sample.model_copy(update=fields)


def none(at: float) -> float:
    return 0.0


def between(begin: float, end: float, iops: float) -> Rate:
    return lambda at: iops if begin <= at < end else 0.0


def followed(
    rates: Sequence[float],
    others: Rate = none,
    *,
    block: int = 4 * KIB,
    others_block: int = 4 * KIB,
    lag: float = 0.4,
    jitter: Callable[[], float] = lambda: 0.0,
    again: float = 1.0,
    per_io: float = 1.0,
) -> tuple[OtherOperations, float | None]:
    """A run with these IOPS by second, each with its answer of the OSDs, and when other clients were first seen.

    Own figures come ``lag`` later than what OSDs count, which is up to ``jitter`` off; ``again`` is what is counted of
    each own I/O, of which the run may have done ``per_io``.
    """
    comparison, first = OtherOperations(), None
    for second, iops in enumerate(rates, 1):
        foreign = others(second - 0.5)
        operations, nbytes = again * iops + foreign, again * iops * block + foreign * others_block
        comparison.osds(counted(second + jitter(), operations, nbytes, operations_per_io=per_io))
        comparison.add(own(second + lag, iops, block))
        if comparison.now and first is None:
            first = float(second)
    return comparison, first


def test_samples_of_an_earlier_cephtui_count_by_the_step() -> None:
    comparison = OtherOperations(per_io_of_step=1.0)
    for second in range(1, 31):
        line = {"run": 1, "elapsed_seconds": second, "interval_seconds": 1.0, "writes": 900, "write_bytes": 900 * 4096}
        comparison.osds(OsdSample.model_validate(line))
        comparison.add(own(second + 0.4, 300, 4 * KIB))
    assert comparison.now


# ---------------------------------------------------------------------------------------------- what an I/O is


@pytest.mark.parametrize(
    ("target", "options", "operations"),
    [
        ("rbd:bench", (), 1),
        ("rbd:bench", ("bs=4M",), 1),
        ("rbd:bench", ("bs=16M", "size=64M"), 4),
        ("rbd:bench", ("bs=24k", "size=64M"), 2),  # some cross two objects
        ("rbd:bench/vm-100-disk-0", ("rw=randread",), 1),
        ("rbd:bench/vm-100-disk-0", ("rw=randwrite",), 1),  # it was prefilled
        ("rbd:bench/vm-100-disk-0", ("rw=randread", "bs=1M"), 16),  # its objects may be smaller
        ("krbd:bench", ("rw=randwrite",), 1),
        ("rbd:bench", ("fsync=1",), 1),
        ("cephfs:/mnt/x", (), 1),
        ("cephfs:/mnt/x", ("direct=0",), None),
        ("cephfs:/mnt/x", ("fsync=1",), None),
    ],
)
def test_operations_of_an_io(target: str, options: tuple[str, ...], operations: float | None) -> None:
    step = plan("write-iops", target=target, options=options).steps[0]
    assert operations_per_io(step) == operations


@pytest.mark.parametrize(
    ("target", "options", "image", "operations"),
    [
        ("rbd:bench/vm-100-disk-0", ("rw=randread", "bs=4M"), IMAGE, 1),
        ("rbd:bench/vm-100-disk-0", ("rw=randread", "bs=1M"), replace(IMAGE, object_size=64 * KIB), 16),
        ("rbd:bench", ("bs=4M",), replace(IMAGE, object_size=1 << 20), 4),
        ("krbd:bench", ("bs=1M",), IMAGE, 1),
        ("krbd:bench", ("bs=4M",), IMAGE, 4),  # the kernel may cut it
        ("rbd:bench/vm-100-disk-0", ("rw=randread",), replace(IMAGE, parent="bench/base@snap"), None),
        ("rbd:bench/vm-100-disk-0", ("rw=randwrite",), replace(IMAGE, parent="bench/base@snap"), 1),  # it was prefilled
        ("rbd:bench", ("rw=randwrite",), replace(IMAGE, features=("layering", "journaling")), None),
        ("rbd:bench/vm-100-disk-0", ("rw=randread",), replace(IMAGE, features=("journaling",)), 1),
        ("rbd:bench/vm-100-disk-0", ("rw=randread",), replace(IMAGE, features=("striping",)), None),
    ],
)
def test_an_image_tells_what_an_io_is(
    target: str, options: tuple[str, ...], image: ImageInfo, operations: float | None
) -> None:
    step = plan("write-iops", target=target, options=options).steps[0]
    assert operations_per_io(step, image) == operations


def test_the_first_write_to_an_object_changes_the_object_map() -> None:
    step = plan("write-iops", target="rbd:bench").steps[0]
    assert operations_per_io(step.model_copy(update={"filled": False}), IMAGE) == 2


def test_what_a_gateway_does_is_not_known(s3_step: Step) -> None:
    assert operations_per_io(s3_step) is None


@pytest.fixture
def s3_step() -> Step:
    step = plan("write-iops", target="rbd:bench").steps[0]
    place = S3Place(kind="s3", endpoint="http://rgw:80", bucket_prefix="cephtui-")
    return step.model_copy(update={"nodes": (step.nodes[0].model_copy(update={"place": place}),)})


# ---------------------------------------------------------------------------------------------- what is found


def test_a_foreign_load_of_twice_the_own_is_found_within_seconds() -> None:
    comparison, first = followed([500.0] * 37, between(8, 32, 1000.0))
    assert known(first) <= 15
    others, _ = followed([500.0] * 25, between(8, 32, 1000.0))
    now = known(others.now)
    assert [now.since, now.iops] == pytest.approx([8.0, 975.0])
    assert now.bandwidth_bytes == pytest.approx(975 * 4 * KIB)
    assert now.share == pytest.approx(0.66, abs=0.01)
    assert comparison.curve.points()[-1] == (36.0, None)
    assert comparison.now is None, "it has ended"


def test_large_blocks_of_others_count_by_their_bytes() -> None:
    _, first = followed([1000.0] * 34, between(9, 99, 120.0), others_block=64 * KIB)
    assert known(first) <= 16
    _, first = followed([1000.0] * 34, between(9, 99, 25.0), others_block=4 << 20)
    assert known(first) <= 16


def test_small_ios_of_others_are_seen_beside_large_ones_of_the_run() -> None:
    _, first = followed([100.0] * 30, between(9, 99, 5000.0), block=4 << 20)
    assert known(first) <= 16
    _, first = followed([100.0] * 30, between(9, 99, 5000.0), block=4 << 20, per_io=4.0)
    assert known(first) <= 16, "the kernel may cut the I/Os of the run"


def test_objects_that_the_run_makes_are_no_other_clients() -> None:
    """The first write to an object changes the object map: at first each write, at the end none."""
    assert followed([500.0] * 30, again=2.0, per_io=2.0)[1] is None
    assert followed([500.0] * 30, again=1.0, per_io=2.0)[1] is None


def test_flushes_of_the_run_are_no_operations_of_osds() -> None:
    comparison = OtherOperations()
    for second in range(1, 20):
        comparison.osds(counted(second, 900.0, 900.0 * 4 * KIB))
        flushed = Interval(300, 0, 300.0, None)
        comparison.add(replace(own(second + 0.4, 300.0), other={FLUSH: flushed}))
    assert known(comparison.now).iops == pytest.approx(585.0)


def test_what_is_little_beside_the_run_is_not_told() -> None:
    assert followed([50.0] * 30, between(0, 99, 30.0), block=4 << 20)[1] is None
    assert followed([0.0] * 30, between(0, 99, 15.0))[1] is None
    assert followed([500.0] * 30, between(10, 12, 2000.0))[1] is None, "it does not last"


def test_what_was_before_the_run_is_not_told() -> None:
    assert followed([500.0] * 20, between(0, 5, 5000.0))[1] is None


def test_a_run_of_which_not_all_is_known_is_not_compared() -> None:
    comparison, _ = followed([500.0] * 12)
    assert comparison.is_known
    for second in range(13, 30):
        comparison.osds(counted(second, 1500.0, 1500.0 * 4 * KIB))
        comparison.add(own(second + 0.4, 500.0, missing=("b",)))
    assert comparison.now is None
    unknown = OtherOperations()
    for second in range(1, 30):
        unknown.osds(counted(second, 1500.0, 1500.0 * 4 * KIB))
        flow = replace(known(own(second, 500.0).write), ios=None)
        unknown.add(replace(own(second, 500.0), write=flow))
    assert (unknown.now, unknown.is_known) == (None, False)


def test_answers_that_come_late_all_at_once_are_no_other_clients() -> None:
    """The console stands still for some seconds, and takes in all answers of that time after it."""
    comparison = OtherOperations()
    for second in range(1, 40):
        comparison.osds(counted(21.0 if 14 < second <= 20 else second + 0.6, 500.0, 500.0 * 4 * KIB))
        comparison.add(own(second + 0.2, 500.0))
        assert comparison.now is None
    assert comparison.is_known


def test_an_osd_that_answers_late_is_waited_for() -> None:
    """One of two OSDs does not answer every other second; its operations come with its next answer."""
    comparison = OtherOperations()
    for second in range(1, 30):
        late = second % 2 == 1
        operations = 250.0 if late else 750.0
        comparison.osds(counted(second, operations, operations * 4 * KIB, missing=("1",) if late else ()))
        comparison.add(own(second + 0.2, 500.0))
        assert comparison.now is None
    assert comparison.is_known


def test_an_osd_that_does_not_answer_for_long_ends_the_comparison() -> None:
    comparison, _ = followed([500.0] * 20, between(0, 99, 1000.0))
    assert comparison.now
    for second in range(21, 35):
        comparison.osds(counted(second, 1000.0, 1000.0 * 4 * KIB, missing=("1",)))
        comparison.add(own(second + 0.4, 500.0))
    assert comparison.now is None


# ---------------------------------------------------------------------------------------------- how often it errs


def noisy(numbers: random.Random, seconds: int, spread: float, lag_1: float) -> list[float]:
    """Log-normal seconds with autocorrelation, of some runs with a collapse or a stall."""
    shape, value, rates = random.Random(numbers.random()), 0.0, list[float]()
    broken = (shape.uniform(0, seconds), shape.uniform(1, 8)) if shape.random() < 0.3 else (0.0, 0.0)
    for second in range(seconds):
        value = lag_1 * value + math.sqrt(1 - lag_1**2) * numbers.gauss(0, spread)
        is_broken = broken[0] <= second < broken[0] + broken[1]
        rates.append(shape.choice((0.0, 0.03)) * 2000 if is_broken else 2000 * math.exp(value))
    return rates


@pytest.mark.parametrize("spread", [0.05, 0.2, 0.35])
def test_of_clean_runs_hardly_any_has_other_clients(spread: float) -> None:
    numbers, invented = random.Random(11), 0
    for _ in range(150):
        rates = noisy(numbers, numbers.choice((10, 30, 120)), spread, numbers.choice((0.0, 0.4, 0.7)))
        first = followed(
            rates,
            block=numbers.choice((4 * KIB, 4 << 20)),
            lag=numbers.uniform(-0.5, 0.9),
            jitter=lambda: numbers.uniform(-0.2, 0.2),
            again=numbers.choice((1.0, 1.0, 1.02)),
        )[1]
        invented += first is not None
    assert invented <= 3


@pytest.mark.parametrize("share", [0.5, 2.0])
def test_others_are_found_in_noisy_runs_too(share: float) -> None:
    numbers, missed = random.Random(12), 0
    for _ in range(50):
        rates = [500 * math.exp(numbers.gauss(0, 0.2)) for _ in range(30)]
        first = followed(rates, between(9, 99, share * 500), lag=numbers.uniform(0.0, 0.6))[1]
        missed += first is None or first > 20
    assert missed <= 5


# ---------------------------------------------------------------------------------------------- in a run


def state(second: float, rate: float = 0.0) -> ClusterSample:
    return ClusterSample(run=1, elapsed_seconds=second, health="HEALTH_OK", osds=3, client_bandwidth_bytes=rate)


def course_of(
    others: Rate, *, osds: bool = True, pool_rate: float = 0.0, beside: Mapping[str, Interval] | None = None
) -> Course:
    course = Course("iops", "fio", step=plan("write-iops", target="rbd:bench").steps[0])
    for second in range(1, 41):
        sample = replace(own(second, 500.0), other=beside or {})
        operations = 500.0 + others(second - 0.5)
        course.add(replace(sample, node="local"))
        course.add(sample)
        if osds:
            course.osds(counted(second, operations, operations * 4 * KIB))
        course.cluster(state(second + 0.1, pool_rate))
    return course


def test_a_finding_has_operations_bytes_and_share() -> None:
    (finding,) = [one for one in course_of(between(9, 30, 1000.0)).findings() if one.code == "other-clients"]
    assert finding.from_seconds == pytest.approx(9.0)
    assert known(finding.to_seconds) <= 36
    assert [finding.values[name] for name in ("iops", "share")] == pytest.approx([1000, 0.66], rel=0.05)


@pytest.mark.parametrize(("others", "codes"), [(0.0, ["slow-osd"]), (1000.0, ["other-clients"])])
def test_beside_other_clients_late_answers_say_nothing_of_an_osd(others: float, codes: list[str]) -> None:
    """They may be behind the I/Os of these."""
    course = course_of(between(9, 30, others))
    for second in range(1, 41):
        by_id = {str(osd): OsdInterval(answer_seconds=0.9 if osd == 1 else 0.0, received=9) for osd in range(3)}
        course.counted.add(OsdSample(run=1, elapsed_seconds=second, interval_seconds=1.0, osds=by_id))
    assert [finding.code for finding in course.findings() if finding.level == "limits"] == codes


def test_rates_of_the_pool_count_only_where_operations_are_not_known() -> None:
    def codes(course: Course) -> list[str]:
        return [finding.code for finding in course.findings()]

    assert "other-clients" not in codes(course_of(none, pool_rate=1e9))
    assert "other-clients" in codes(course_of(none, pool_rate=1e9, osds=False))
    flushed = {name: Interval(500, 0, 500.0, None) for name in (FLUSH, COMMIT)}
    assert "other-clients" in codes(course_of(none, pool_rate=1e9, osds=False, beside=flushed))
    deleted = {"DELETE": Interval(500, 0, 500.0, None)}
    assert "other-clients" not in codes(course_of(none, pool_rate=1e9, osds=False, beside=deleted))
