"""Where the latency goes: what the client measured, split by what the OSDs counted in the same time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from cephtui.analysis.runs.stages import StagesSoFar
from cephtui.models import Interval, OsdSample, Sample, Stages

WRITES = {"write_seconds": 0.0097, "write_process_seconds": 0.0094, "write_prepare_seconds": 0.0003}


def second(at: int, ios: int = 1000, latency: float | None = 0.0128, **other: object) -> Sample:
    write = Interval(ios, ios * 4096, float(ios), ios * 4096.0, latency_mean_seconds=latency)
    told = {"phase": "run", "read": None, "write": write, **other}
    return Sample(1, None, "write-iops", elapsed_seconds=float(at), interval_seconds=1.0, **told)  # type: ignore[arg-type]


def counted(at: float, writes: int = 1000, means: Mapping[str, float] = WRITES, reads: int = 0) -> OsdSample:
    told = {"run": 1, "elapsed_seconds": at, "interval_seconds": 1.0, "reads": reads, "writes": writes, **means}
    return OsdSample.model_validate(told)


def stages_of(samples: Sequence[Sample | OsdSample]) -> StagesSoFar:
    stages = StagesSoFar()
    for one in samples:
        stages.add(one) if isinstance(one, Sample) else stages.osds(one)
    return stages


def milliseconds(stages: Stages) -> list[float]:
    of = (stages.outside_seconds, stages.queue_seconds, stages.prepare_seconds, stages.store_seconds)
    return [round(1000 * seconds, 2) for seconds in of]


def test_the_stages_are_the_latency_of_the_client() -> None:
    run = [one for at in range(1, 11) for one in (second(at), counted(at))]
    stages = stages_of(run).results()["write"]
    assert milliseconds(stages) == [3.1, 0.3, 0.3, 9.1]
    assert sum(milliseconds(stages)) == pytest.approx(12.8)
    assert (stages.ios, stages.operations) == (9000, 9000), "without the first second"


def test_seconds_of_the_osds_that_do_not_end_with_those_of_the_client_are_compared_with_their_parts() -> None:
    samples = [second(at, latency=0.01 * at) for at in range(1, 12)]
    stages = stages_of([counted(5.5), *samples])
    assert milliseconds(stages.results()["write"])[0] == pytest.approx(55 - 9.7)


def test_what_the_osds_counted_before_the_load_began_is_left_out() -> None:
    """Their answers come later than the figures of the client: they are of less than a second of the load."""
    late = [counted(at + 0.6, writes=600 if at == 0 else 1000) for at in range(10)]
    stages = stages_of([*map(second, range(1, 11)), *late]).results()["write"]
    assert stages.operations == pytest.approx(stages.ios, abs=1)


def test_the_order_in_which_samples_come_decides_nothing() -> None:
    own, of_osds = [*map(second, range(1, 11))], [*map(counted, range(1, 11))]
    assert stages_of([*own, *of_osds]).results() == stages_of([*of_osds, *own]).results() != {}


def test_the_ramp_and_seconds_without_a_node_are_left_out() -> None:
    ramp = [second(at, latency=9.0, phase="ramp") for at in (1, 2)]
    lacking = [second(3, latency=9.0, missing=("b",))]
    run: list[Sample | OsdSample] = [*ramp, *lacking, *map(second, range(4, 9)), *map(counted, range(1, 9))]
    stages = stages_of(run).results()["write"]
    assert (milliseconds(stages)[0], stages.ios) == (3.1, 4000)


def test_while_the_run_goes_on_it_is_the_last_seconds() -> None:
    later = {name: 2 * seconds for name, seconds in WRITES.items()}
    of_osds = [counted(at, means=later if at > 3 else WRITES) for at in range(1, 7)]
    run: list[Sample | OsdSample] = [*(second(at, latency=0.03) for at in range(1, 7)), *of_osds]
    stages = stages_of(run)
    assert milliseconds(stages.now["write"])[3] == 18.2
    assert milliseconds(stages.results()["write"])[3] == pytest.approx(14.56)


@pytest.mark.parametrize(
    "run",
    [
        [second(1), second(2)],
        [counted(1), counted(2)],
        [second(1), second(2, latency=None), counted(2)],
        [second(1), second(2, ios=0), counted(2)],
        [second(1), second(2), counted(2, writes=0)],
        [second(1), counted(9)],
        [second(1), second(2, latency=0.005), counted(2)],
    ],
    ids=[
        "no counters",
        "no figures",
        "no latency",
        "no I/O",
        "no operations",
        "of another time",
        "operations that take longer",
    ],
)
def test_where_one_side_is_not_known_there_are_no_stages(run: list[Sample | OsdSample]) -> None:
    assert stages_of(run).results() == stages_of(run).now == {}


def test_reads_and_writes_are_apart() -> None:
    read = Interval(3000, 3000 * 4096, 3000.0, 3000 * 4096.0, latency_mean_seconds=0.002)
    reads = {"read_seconds": 0.0015, "read_process_seconds": 0.0012, "read_prepare_seconds": 0.0002}
    run: list[Sample | OsdSample] = [second(1), second(2, read=read), counted(2, means={**WRITES, **reads}, reads=3000)]
    stages = stages_of(run).results()
    assert (milliseconds(stages["read"]), milliseconds(stages["write"])) == ([0.5, 0.3, 0.0, 1.2], [3.1, 0.3, 0.3, 9.1])
