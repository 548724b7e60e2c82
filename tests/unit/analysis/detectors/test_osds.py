"""What OSDs counted in a run: each as a whole, over time in bounded space, and their message cap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from cephtui.analysis.detectors.incidents import Course
from cephtui.analysis.detectors.osds import OsdsSoFar
from cephtui.models import ClusterSample, Finding, Interval, OsdInterval, OsdSample, Sample, Step
from cephtui.models.findings import KINDS
from cephtui.models.findings.cluster import SLOW_OSD
from cephtui.models.findings.kind import finding_kind
from tests.support.golden import Golden
from tests.support.known import known
from tests.support.plans import plan

STEP = plan("write-iops", target="rbd:bench", nodes=("a", "b", "c")).steps[0]
SLOW = ["slow-osd"]
SHALLOW = plan("write-iops", target="rbd:bench", options=("iodepth=8", "numjobs=1")).steps[0]


def sample(second: float, received: int = 1000, refused: int = 0, **fields: object) -> OsdSample:
    osds = {
        "0": OsdInterval(writes=300, write_seconds=0.01, received=received // 2, refused=refused),
        "10": OsdInterval(reads=100, read_seconds=0.04, subops=300, subop_seconds=0.006, received=received // 2),
    }
    counted = OsdSample(run=1, elapsed_seconds=second, interval_seconds=1.0, osds=osds, message_cap=256)
    return counted.model_copy(update=fields)


def test_each_osd_has_its_share_and_its_latencies() -> None:
    osds = OsdsSoFar()
    osds.add(sample(-1.0, phase="prepare"))
    for second in range(10):
        osds.add(sample(second))
    results = osds.results()
    assert list(results) == ["0", "10"]
    assert [(one.share, one.reads, one.writes, one.subops) for one in results.values()] == [
        (0.75, 0, 3000, 0),
        (0.25, 1000, 0, 3000),
    ]
    assert results["0"].read_seconds is None
    assert results["0"].write_seconds == pytest.approx(0.01)
    assert results["10"].subop_seconds == pytest.approx(0.006)


@pytest.mark.parametrize(
    ("slow", "alike", "codes"),
    [
        ({"writes": 300, "write_seconds": 0.05}, {"writes": 300, "write_seconds": 0.01}, ["slow-osd"]),
        ({"writes": 300, "write_seconds": 0.01}, {"writes": 300, "write_seconds": 0.01}, []),
        ({"reads": 300, "read_seconds": 0.05}, {"reads": 300, "read_seconds": 0.01, "writes": 9}, ["slow-osd"]),
        (
            {"writes": 300, "write_seconds": 0.06, "subops": 300, "subop_seconds": 0.05},
            {"writes": 300, "write_seconds": 0.06, "subops": 300, "subop_seconds": 0.01},
            ["slow-osd"],
        ),
    ],
    ids=["one copy", "alike", "reads", "copies"],
)
def test_an_osd_that_answers_later_than_the_others_is_a_finding(
    slow: dict[str, float], alike: dict[str, float], codes: list[str]
) -> None:
    osds = OsdsSoFar()
    by_id = {"0": OsdInterval(**slow), "1": OsdInterval(**alike), "2": OsdInterval(**alike)}
    for second in range(1, 21):
        osds.add(sample(second, osds=by_id))
    findings = list(osds.findings())
    assert [finding.code for finding in findings] == codes
    assert all(finding.values["osd"] == "osd.0" for finding in findings)


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ({"commits": 900, "commit_seconds": 0.04}, "; a commit took 40.0 ms there, 1.00 ms on the others"),
        ({"queue_seconds": 0.045}, "; operations waited for a worker thread for 45.0 ms there, 10.0 us on the others"),
        ({"commits": 900, "commit_seconds": 0.011}, ""),
        ({"commits": 900, "commit_seconds": 0.0}, ""),
    ],
    ids=["commit", "queue", "neither", "commits unknown"],
)
def test_a_slow_osd_is_named_with_what_takes_its_time(part: dict[str, float], text: str) -> None:
    own: dict[str, float] = {"commits": 900, "commit_seconds": 0.001, "queue_seconds": 0.00001}
    alike = OsdInterval(writes=300, write_seconds=0.01, **own)
    slow = OsdInterval(writes=300, write_seconds=0.06, **{**own, **part})
    (finding,) = counted(**{"0": alike, "1": slow, "2": alike})
    assert finding.text.partition(";")[2] == text[1:]
    assert (finding.cure == finding_kind(SLOW_OSD.code).cure) is (not text)


@pytest.mark.parametrize(
    ("commit_seconds", "write_seconds", "subop_seconds", "texts"),
    [
        (0.0127, 0.027, 0.018, ["osd.1 was slow: a commit took 12.7 ms there, 3.00 ms on the other OSDs (median)"]),
        (0.0127, 0.27, 0.018, []),
        (0.0040, 0.027, 0.012, []),
    ],
    ids=["slow", "a small part of a write", "not twice as long"],
)
def test_an_osd_whose_commits_alone_are_longer_is_slow(
    commit_seconds: float, write_seconds: float, subop_seconds: float, texts: list[str]
) -> None:
    """Each write has a copy on it: as a primary all are slow, and as replicas not by twice."""
    own = {"writes": 100, "write_seconds": write_seconds, "subops": 200, "commits": 300}
    alike = OsdInterval(**own, subop_seconds=0.011, commit_seconds=0.003)
    slow = OsdInterval(**own, subop_seconds=subop_seconds, commit_seconds=commit_seconds)
    assert [finding.text for finding in counted(**{"0": alike, "1": slow, "2": alike})] == texts


@pytest.mark.parametrize(
    ("read_seconds", "queue_seconds", "texts"),
    [
        (0.0136, 0.0067, ["osd.1 was slow: reading took 6.90 ms there, 500 us on the other OSDs (median)"]),
        (0.0081, 0.0064, []),
        (0.0136, 0.0134, []),
    ],
    ids=["slow", "a small part of a read", "it is the wait"],
)
def test_an_osd_whose_reading_alone_is_longer_is_slow(
    read_seconds: float, queue_seconds: float, texts: list[str]
) -> None:
    """Operations wait so long for a worker thread, on all OSDs, that those of none take twice as long."""
    alike = OsdInterval(reads=40, read_seconds=0.0069, queue_seconds=0.0064)
    slow = OsdInterval(reads=20, read_seconds=read_seconds, queue_seconds=queue_seconds)
    assert [finding.text for finding in counted(**{"0": alike, "1": slow, "2": alike})] == texts


def test_commits_of_an_osd_that_has_more_to_do_are_not_called_slow() -> None:
    alike = OsdInterval(
        writes=100, write_seconds=0.02, subops=200, subop_seconds=0.01, commits=300, commit_seconds=0.001
    )
    busy = OsdInterval(
        writes=300, write_seconds=0.02, subops=600, subop_seconds=0.01, commits=900, commit_seconds=0.0025
    )
    assert [finding.code for finding in counted(**{"0": alike, "1": busy, "2": alike})] != SLOW


def test_what_transactions_took_is_of_all_osds() -> None:
    osds = OsdsSoFar()
    osds.add(sample(1.0))
    assert osds.commits() is None
    for second, commits in ((2.0, 100), (3.0, 300)):
        osds.add(sample(second, commits=commits, commit_seconds=second / 1000, kv_queue_seconds=0.001))
    means = known(osds.commits())
    assert (means.commits, means.commit_seconds) == pytest.approx((400, 0.00275))
    assert (means.kv_queue_seconds, means.throttle_seconds) == pytest.approx((0.001, 0.0))


def counted(step: Step | None = None, /, **by_id: OsdInterval) -> list[Finding]:
    """The findings of 20 s in each of which the OSDs counted that."""
    osds = OsdsSoFar(step)
    for second in range(1, 21):
        osds.add(sample(second, osds={name.removeprefix("osd"): one for name, one in by_id.items()}))
    return [*osds.findings()]


@pytest.mark.parametrize(
    ("writes", "seconds", "code"),
    [(460, 0.028, "busy-osd"), (310, 0.028, "slow-osd"), (460, 0.5, "busy-osd"), (120, 0.06, "slow-osd")],
    ids=["has more to do", "has as much to do", "has more, at any depth", "is slow"],
)
def test_an_osd_that_has_more_to_do_is_not_called_slow(writes: int, seconds: float, code: str) -> None:
    """Its latency is that of a queue whose server is as fast as the others', but busier."""
    more = OsdInterval(writes=writes, write_seconds=seconds)
    findings = counted(
        osd0=OsdInterval(writes=252, write_seconds=0.0126), osd1=OsdInterval(writes=345, write_seconds=0.01), osd2=more
    )
    assert [finding.code for finding in findings] == [code]


@pytest.mark.parametrize(
    ("size", "reads", "seconds", "code"),
    [
        ("128M", 233, 0.188, "busy-osd"),  # 4.3 ms each, one after the other, as on one shard
        ("4G", 233, 0.188, "slow-osd"),
        ("128M", 20, 0.188, "slow-osd"),
    ],
)
def test_an_osd_whose_few_objects_wait_for_each_other_is_not_called_slow(
    size: str, reads: int, seconds: float, code: str
) -> None:
    step = plan("read-iops", target="rbd:bench", options=("iodepth=64", "numjobs=1", f"size={size}")).steps[0]
    alike, waits = OsdInterval(reads=400, read_seconds=0.008), OsdInterval(reads=reads, read_seconds=seconds)
    (finding,) = counted(step, osd0=waits, osd1=alike, osd2=alike)
    assert (finding.code, finding.values["osd"]) == (code, "osd.0")


def test_several_slow_osds_are_one_finding(golden: Golden) -> None:
    alike, slow = OsdInterval(writes=100, write_seconds=0.002), OsdInterval(writes=90, write_seconds=0.012)
    (finding,) = counted(osd0=alike, osd1=slow, osd2=alike, osd3=alike, osd10=slow)
    assert (finding.code, finding.values["osds"]) == ("slow-osd", ("osd.1", "osd.10"))
    golden.same(finding.text)


def test_of_osds_that_take_longer_the_busy_ones_are_not_called_slow() -> None:
    alike = {"writes": 252, "write_seconds": 0.01}
    by_id = {f"osd{number}": OsdInterval(**alike) for number in range(5)}
    busy, slow = OsdInterval(writes=460, write_seconds=0.028), OsdInterval(writes=120, write_seconds=0.06)
    assert [finding.values["osd"] for finding in counted(**by_id, osd5=busy, osd6=slow)] == ["osd.6"]
    (finding,) = counted(**by_id, osd5=busy, osd6=busy.model_copy(update={"writes": 480}))
    assert (finding.code, finding.values["osd"]) == ("busy-osd", "osd.6")


def test_an_osd_that_has_more_to_do_and_takes_longer_for_each_operation_is_slow() -> None:
    alike = OsdInterval(writes=100, write_seconds=0.002)
    (slow,) = counted(osd0=alike, osd1=alike, osd2=OsdInterval(writes=130, write_seconds=0.012))
    assert slow.code == "slow-osd"


def late(*osds: int, times: int = 8, number: int = 3) -> list[OsdSample]:
    """Those of 20 s in which some OSDs answered late so many times."""

    def of(osd: int, second: int) -> OsdInterval:
        is_late = osd in osds and second < times
        return OsdInterval(writes=9, write_seconds=0.01, answer_seconds=0.3 if is_late else 0.0)

    return [sample(second, osds={str(osd): of(osd, second) for osd in range(number)}) for second in range(20)]


def findings_of(samples: list[OsdSample]) -> list[Finding]:
    osds = OsdsSoFar()
    for one in samples:
        osds.add(one)
    return [*osds.findings()]


def test_an_osd_that_answers_late_again_and_again_is_slow(golden: Golden) -> None:
    """Operations that wait in the socket of an OSD that stands still are in no counter of it."""
    (slow,) = findings_of(late(1))
    assert (slow.code, slow.values["osd"]) == ("slow-osd", "osd.1")
    golden.same(slow.text)


def test_all_that_answer_late_again_and_again_are_named(golden: Golden) -> None:
    (slow,) = findings_of(late(0, 1, number=4))
    assert (slow.code, slow.values["osds"]) == ("slow-osd", ("osd.0", "osd.1"))
    golden.same(slow.text)


@pytest.mark.parametrize("samples", [late(0, 1, 2), late(0, 1), late(1, times=3), late()], ids=range(4))
def test_most_that_answer_late_or_one_that_does_now_and_then_are_no_slow_osd(samples: list[OsdSample]) -> None:
    assert findings_of(samples) == []


def answering(*medians: float, seconds: int = 40) -> list[OsdSample]:
    """OSDs whose answers are log-normal about these times, with one of 0.7 as the deviation of their logarithms."""
    rng = np.random.default_rng(len(medians))

    def took(middle: float) -> float:
        answer = float(middle * np.exp(rng.normal(0, 0.7)))
        return answer if answer >= 0.01 else 0.0

    return [
        sample(
            second,
            osds={
                str(osd): OsdInterval(writes=9, write_seconds=0.01, answer_seconds=took(middle))
                for osd, middle in enumerate(medians)
            },
        )
        for second in range(seconds)
    ]


def test_beside_an_osd_that_has_more_to_do_another_one_may_be_slow() -> None:
    busy = [OsdInterval(writes=460, write_seconds=0.028), *[OsdInterval(writes=300, write_seconds=0.011)] * 3]
    samples = [
        sample(at, osds={
            str(osd): one.model_copy(update={"answer_seconds": 0.3 if osd == 3 and at % 2 else 0.0})
            for osd, one in enumerate(busy)
        })
        for at in range(20)
    ]  # fmt: skip
    assert [finding.code for finding in findings_of(samples)] == ["busy-osd", "slow-osd"]


@pytest.mark.parametrize("medians", [(0.002, 0.041, 0.001), (0.002, 0.041, 0.001, 0.002, 0.045)], ids=["one", "two"])
def test_osds_behind_a_slow_link_are_slow_by_their_answers(medians: tuple[float, ...], golden: Golden) -> None:
    """As a replica an OSD times a write from its receipt: the link is in no counter of it."""
    (slow,) = findings_of(answering(*medians))
    assert slow.values.get("osds", slow.values.get("osd")) == ("osd.1" if len(medians) == 3 else ("osd.1", "osd.4"))
    golden.same(slow.text)


@pytest.mark.parametrize(
    "samples",
    [
        answering(0.009, 0.012, 0.008, 0.011),
        answering(0.006, 0.024, 0.006),
        answering(0.002, 0.041),
        answering(0.002, 0.002, 0.041, 0.041),
        answering(0.002, 0.002, 0.041, seconds=5),
    ],
    ids=["all take as long", "the others take as long now and then", "of two", "half", "few answers"],
)
def test_answers_that_do_not_stand_out_are_no_slow_osd(samples: list[OsdSample]) -> None:
    assert findings_of(samples) == []


def test_osds_half_of_whose_answers_come_at_once_are_not_far() -> None:
    osds = OsdsSoFar()
    for second in range(12):
        took = {"0": 0.0117 * (second % 2), "1": 0.0121 * (second % 3 > 0), "2": 0.0118 * (second % 2)}
        by_id = {
            osd: OsdInterval(writes=9, write_seconds=0.01, answer_seconds=seconds) for osd, seconds in took.items()
        }
        osds.add(sample(second, osds=by_id))
    assert [*osds.findings()] == []


@pytest.mark.parametrize(("received", "seconds", "codes"), [(397, 0.110, []), (360, 0.110, SLOW), (397, 0.3, SLOW)])
def test_an_answer_behind_the_ios_of_an_osd_that_has_a_little_more_to_do_is_not_far(
    received: int, seconds: float, codes: list[str]
) -> None:
    """The fullest of OSDs that have hardly any time to spare has the most waiting; 64 I/Os take it 0.16 s."""
    osds = OsdsSoFar(plan("read-iops", target="rbd:bench", options=("iodepth=64", "numjobs=1")).steps[0])
    alike = {"reads": 360, "read_seconds": 0.009}
    for second in range(12):
        times = {"0": (134, 0.0), "1": (received, seconds), "2": (368, 0.022)}
        by_id = {osd: OsdInterval(**alike, received=many, answer_seconds=took) for osd, (many, took) in times.items()}
        osds.add(sample(second, osds=by_id))
    assert [finding.code for finding in osds.findings()] == codes


@pytest.mark.parametrize(
    ("step", "more", "times", "codes"),
    [
        (STEP, 2, 20, []),  # as many I/Os in flight take longer
        (SHALLOW, 2, 20, []),
        (SHALLOW, 2, 8, ["slow-osd"]),  # the others came at once: it stands now and then
        (SHALLOW, 1, 20, ["slow-osd"]),
        (None, 1, 20, ["slow-osd"]),
    ],
)
def test_answers_that_wait_behind_the_work_of_an_osd_are_not_late(
    step: Step | None, more: int, times: int, codes: list[str]
) -> None:
    osds = OsdsSoFar(step)
    for one in late(1, times=times):
        busier = {"0": 900, "1": 900 * more, "2": 900}
        received = {osd: of.model_copy(update={"received": busier[osd]}) for osd, of in one.osds.items()}
        osds.add(one.model_copy(update={"osds": received, "message_cap": None}))
    assert [finding.code for finding in osds.findings()] == codes


@pytest.mark.parametrize(
    ("seconds", "queue_seconds", "others", "code"),
    # a slow disk with more to do than others; and one that only has more to do, or takes a little longer for that
    [
        (0.049, 0.043, 0.0064, "slow-osd"),
        (0.049, 0.043, 0.0036, "busy-osd"),
        (0.049, 0.0486, 0.0064, "busy-osd"),
        (0.049, 0.0, 0.0, "busy-osd"),
    ],
)
def test_an_osd_with_more_to_do_is_slow_where_reading_itself_takes_longer(
    seconds: float, queue_seconds: float, others: float, code: str
) -> None:
    osds = OsdsSoFar()
    for second in range(1, 11):
        usual = OsdInterval(reads=140, read_seconds=0.0066, queue_seconds=queue_seconds and others)
        busy = OsdInterval(reads=260, read_seconds=seconds, queue_seconds=queue_seconds)
        counted = {"0": usual, "1": busy, "2": usual}
        osds.add(OsdSample(run=1, elapsed_seconds=second, interval_seconds=1.0, osds=counted))
    (finding,) = osds.findings()
    assert finding.code == code
    assert finding.values.get("part") == ("read" if code == "slow-osd" else None)


def test_at_the_message_cap_answers_may_be_late() -> None:
    capped = {"received": 900, "refused": 400}
    samples = [
        one.model_copy(update={"osds": {osd: of.model_copy(update=capped) for osd, of in one.osds.items()}})
        for one in late(1)
    ]
    assert [finding.code for finding in findings_of(samples)] == ["message-cap"]


def test_a_message_cap_that_holds_clients_back_is_a_finding() -> None:
    osds = OsdsSoFar(STEP)
    for second in range(1, 11):
        osds.add(sample(second, refused=400 if second > 4 else 0))
    (finding,) = osds.findings()
    assert (finding.code, finding.from_seconds, finding.to_seconds) == ("message-cap", 4.0, 10.0)
    assert finding.values == {"share": pytest.approx(2400 / 12400), "cap": 256, "osds": 2, "in_flight": 1536}


def test_the_cap_on_the_size_of_messages_is_called_by_its_name() -> None:
    osds = OsdsSoFar(STEP)
    for second in range(1, 11):
        one = sample(second, refused=10)
        by_size = {osd: of.model_copy(update={"refused_by_size": 300}) for osd, of in one.osds.items()}
        osds.add(one.model_copy(update={"osds": by_size, "size_cap_bytes": 1 << 20}))
    (finding,) = osds.findings()
    assert finding.values == {
        "share": pytest.approx(610 / 1610), "size_cap_bytes": 1 << 20, "osds": 2, "in_flight": 1536
    }  # fmt: skip
    assert "osd_client_message_size_cap is 1.00 MiB for each of 2 OSDs" in finding.text
    assert "raise osd_client_message_size_cap" in finding.cure


@pytest.mark.parametrize(("throttle_seconds", "codes"), [(0.004, ["bluestore-throttle"]), (0.001, [])])
def test_a_throttle_of_bluestore_that_holds_transactions_back(throttle_seconds: float, codes: list[str]) -> None:
    osds = OsdsSoFar(STEP)
    for second in range(1, 11):
        osds.add(sample(second, commits=600, commit_seconds=0.006, throttle_seconds=throttle_seconds))
    assert [finding.code for finding in osds.findings()] == codes


@pytest.mark.parametrize("refused", [0, 20])
def test_few_refusals_are_no_finding(refused: int) -> None:
    osds = OsdsSoFar(STEP)
    for second in range(1, 31):
        osds.add(sample(second, refused=refused))
    assert [*osds.findings()] == []


def test_many_refusals_for_a_moment_are_no_finding() -> None:
    osds = OsdsSoFar(STEP)
    for second in range(1, 31):
        osds.add(sample(second, refused=9000 if second < 3 else 0))
    assert [*osds.findings()] == []


def test_no_permission_is_one_note() -> None:
    course = Course()
    course.add(Sample(1, "a", "p", "run", 1.0, 1.0, None, Interval(1, 4096, 1.0, 4096.0)))
    course.osds_denied()
    course.osds_denied()
    assert [(finding.code, finding.level) for finding in course.findings()] == [("osd-counters", "note")]


@pytest.mark.parametrize(("refused", "cause"), [(400, "message cap reached"), (0, None)])
def test_a_stall_while_osds_receive_no_more_has_that_cause(refused: int, cause: str | None) -> None:
    course = Course("iops", "fio", step=STEP)
    for second in range(1, 31):
        ios = 0 if 10 < second <= 16 else 500
        for node in ("a", None):
            course.add(Sample(1, node, "p", "run", second, 1.0, None, Interval(ios, ios * 4096, ios, ios * 4096.0)))
        course.osds(sample(second, refused=refused if second > 8 else 0))
    course.end("a", 30.0)
    assert cause_of(course) == cause


def cause_of(course: Course) -> object:
    (stall,) = [finding for finding in course.findings() if finding.code == "stalled"]
    return stall.values.get("cause")


@pytest.mark.parametrize(
    ("missing", "cause"),
    [(("10",), "osd.10 did not answer"), (("0", "10"), "osd.0, osd.10 did not answer"), ((), None)],
)
def test_a_stall_while_an_osd_does_not_answer_has_that_cause(missing: tuple[str, ...], cause: str | None) -> None:
    course = Course("iops", "fio", step=STEP)
    for second in range(1, 31):
        ios = 0 if 10 < second <= 16 else 500
        for node in ("a", None):
            course.add(Sample(1, node, "p", "run", second, 1.0, None, Interval(ios, ios * 4096, ios, ios * 4096.0)))
        silent = missing if 11 < second <= 17 else ()
        course.osds(sample(second, missing=silent, interval_seconds=0.0 if len(silent) == 2 else 1.0))
    course.end("a", 30.0)
    assert cause_of(course) == cause


def fallen(samples: Sequence[OsdSample], low: tuple[int, int] = (20, 60), to: int = 200) -> Course:
    """A run of 60 s that falls from 1,000 to ``to`` IOPS for a time, and what its OSDs counted meanwhile."""
    course = Course("iops", "fio", step=STEP)
    course.cluster(ClusterSample(run=1, elapsed_seconds=0.0, phase="prepare", health="HEALTH_OK"))
    for at, osds in enumerate(samples, 1):
        ios = (to if low[0] < at <= low[1] else 1000) + at % 3
        for node in ("a", None):
            course.add(Sample(1, node, "p", "run", at, 1.0, None, Interval(ios, ios * 4096, ios, ios * 4096.0)))
        course.osds(osds)
        course.cluster(ClusterSample(run=1, elapsed_seconds=float(at), health="HEALTH_OK"))
    course.end("a", 60.2)
    return course


def why(course: Course) -> Finding:
    (finding,) = [one for one in course.findings() if one.code in ("collapse", "dip", "not-settled", "saw")]
    return finding


def four_osds(second: int, *, slow: Mapping[str, float] | None = None, **fields: object) -> OsdSample:
    """What four OSDs counted in a second, some of them so many times slower."""
    factors = {**dict.fromkeys("0123", 1.0), **(slow or {})}
    osds = {
        osd: OsdInterval(
            writes=100, write_seconds=0.01 * max(factors.values()), subops=100, subop_seconds=0.01 * factor
        )
        for osd, factor in factors.items()
    }
    return OsdSample(run=1, elapsed_seconds=float(second), interval_seconds=1.0, osds=osds).model_copy(update=fields)


@pytest.mark.parametrize("to", [200, 700], ids=["collapse", "not settled"])
def test_a_fall_has_the_cause_that_its_osds_tell(to: int) -> None:
    silent = [four_osds(at, missing=("1",) if at > 20 else ()) for at in range(1, 61)]
    assert why(fallen(silent, to=to)).values["cause"] == "osd.1 did not answer"
    capped = [sample(at, received=1000, refused=500 if at > 20 else 0) for at in range(1, 61)]
    capped_course = fallen(capped, to=to)
    assert why(capped_course).values["cause"] == "message cap reached"
    assert "message-cap" in [finding.code for finding in capped_course.findings()]
    slow = [four_osds(at, slow={"1": 10.0} if at > 20 else {}) for at in range(1, 61)]
    finding = why(fallen(slow, to=to))
    assert finding.values["cause"] == "operations of osd.1 took 10 times as long as at other times"
    assert finding.cure == KINDS["slow-osd"].cure


@pytest.mark.parametrize("low", [(20, 60), (30, 38)], ids=["collapse", "dip"])
@pytest.mark.parametrize(
    "always",
    [
        {"missing": ("1",)},
        {"slow": {"1": 10.0}},
        {"slow": {"0": 3.0, "1": 3.0, "2": 3.0, "3": 3.0}},
        {"slow": {"1": 1.9}},
    ],
    ids=str,
)
def test_what_osds_did_all_the_time_or_all_of_them_or_a_little_is_no_cause(
    low: tuple[int, int], always: dict[str, object]
) -> None:
    is_for_a_time = always in ({"slow": dict.fromkeys("0123", 3.0)}, {"slow": {"1": 1.9}})
    samples = [
        four_osds(at, **(always if not is_for_a_time or low[0] < at <= low[1] else {}))  # type: ignore[arg-type]
        for at in range(1, 61)
    ]
    assert why(fallen(samples, low)).values["unexplained"] is True


def test_a_message_cap_that_is_reached_all_the_time_is_beside_a_fall() -> None:
    values = why(fallen([sample(at, refused=500) for at in range(1, 61)])).values
    assert "cause" not in values
    assert str(values["beside"]).startswith("('OSDs delayed")


def test_an_osd_that_becomes_slow_long_after_a_fall_is_no_cause_of_it() -> None:
    late = [four_osds(at, slow={"1": 10.0} if at > 45 else {}) for at in range(1, 61)]
    assert why(fallen(late)).values["unexplained"] is True
    silent = [four_osds(at, missing=("1",) if at > 30 else ()) for at in range(1, 61)]
    assert why(fallen(silent)).values["unexplained"] is True


def test_an_osd_that_stands_again_and_again_explains_falls_and_rises() -> None:
    """Its operations wait in its socket: only its answers about its counters come late, each time that it stands."""
    course = Course("iops", "fio", step=SHALLOW)
    for at in range(1, 61):
        stands = at % 6 < 2
        ios = (200 if stands else 1000) + at % 5
        for node in ("a", None):
            course.add(Sample(1, node, "p", "run", at, 1.0, None, Interval(ios, ios * 4096, ios, ios * 4096.0)))
        osds = four_osds(at).osds
        late = osds["1"].model_copy(update={"answer_seconds": 0.5 if stands else 0.001})
        course.osds(four_osds(at, osds={**osds, "1": late}))
    course.end("a", 60.2)
    saw = why(course)
    assert (saw.code, saw.values["cause_code"]) == ("saw", "slow-osd")
    assert "osd.1 was slow: it answered 20 of 60 requests for its counters" in saw.text


def test_of_a_long_run_moments_are_known_less_exactly() -> None:
    """Of 4,000 s four are one value."""
    course = Course("iops", "fio", step=STEP)
    for at in range(1, 4001):
        ios = 1000 if at <= 2000 else 200
        for node in ("a", None):
            course.add(Sample(1, node, "p", "run", at, 1.0, None, Interval(ios, ios * 4096, ios, ios * 4096.0)))
        course.osds(four_osds(at, missing=("1",) if at > 2006 else ()))
    course.end("a", 4000.2)
    assert why(course).values["cause"] == "osd.1 did not answer"
