"""What fio sums up of its rates and latencies is kept and shown, where a log has no seconds and no histogram."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from cephtui.models import LatencyShare, NodeResult, RateSamples, Summary
from cephtui.reports.words.run import client_facts, shares_text
from cephtui.tools.fio.saved import find_runs
from cephtui.tools.logs import FoundRun, read_log
from tests import RECORDINGS
from tests.support.golden import Golden
from tests.support.runs import run, total

LOGS = RECORDINGS / "logs"
TEXTS = ("fio-2.2.10-text", "fio-3.1-text", "fio-3.16-text", "fio-3.33-bits", "fio-3.33-mixed")
DOCUMENTS = ("fio-2.1.11-json", "fio-2.2.10-json", "fio-3.1-json", "fio-3.7-json", "fio-3.33-json")
KIB = 1024


def only_run(text: str) -> FoundRun:
    (run,) = find_runs(read_log(text))
    return run


def rates_of(run: FoundRun, rate: str) -> dict[str, RateSamples | None]:
    return {name: getattr(total, f"{rate}_samples") for name, total in run.summary.flows.items() if name != "sync"}


def numbers_in(line: str) -> dict[str, float]:
    """``min= 7560, max=14128`` and so on by what each is called."""
    pairs = (pair.split("=") for pair in line.partition(":")[2].split(","))
    return {name.strip(): float(value.strip().rstrip("%")) for name, value in pairs}


def as_printed(samples: RateSamples | None, unit: int) -> list[Any]:
    assert samples
    return [pytest.approx(each / unit) for each in (samples.least, samples.greatest, samples.mean, samples.stddev)]


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize(("rate", "begin", "unit"), [("bandwidth", "bw (", KIB), ("iops", "iops ", 1)])
def test_what_a_text_says_of_its_samples_is_kept(name: str, rate: str, begin: str, unit: int) -> None:
    text = (LOGS / f"{name}.txt").read_text()
    printed = [numbers_in(line) for line in text.splitlines() if line.strip().startswith(begin)]
    found = list(rates_of(only_run(text), rate).values())
    if not printed:
        assert found == [None] * len(found)
    for numbers, samples in zip(printed, found, strict=bool(printed)):
        assert [numbers[each] for each in ("min", "max", "avg", "stdev")] == as_printed(samples, unit)
        assert samples
        assert samples.count == numbers.get("samples")


def test_a_bandwidth_in_other_units_is_one_in_bytes() -> None:
    text = (LOGS / "fio-3.33-mixed.txt").read_text()
    (samples,) = rates_of(only_run(text), "bandwidth").values()
    other = re.sub(r"bw \(.*", "bw (  MiB/s): min=  711, max= 1000, per=96.93%, avg=877.33, stdev=149.62", text)
    (again,) = rates_of(only_run(other), "bandwidth").values()
    assert samples
    assert again
    assert again.mean == pytest.approx(877.33 * KIB**2)
    assert again.mean == pytest.approx(samples.mean, rel=1e-3)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_what_a_document_says_of_its_samples_is_kept(name: str) -> None:
    text = (LOGS / f"{name}.txt").read_text()
    job = document_in(text)["jobs"][0]
    run = only_run(text)
    for flow, samples in rates_of(run, "bandwidth").items():
        wanted = [job[flow][f"bw_{each}"] for each in ("min", "max", "mean", "dev")]
        assert wanted == (as_printed(samples, KIB) if wanted[1] else [0] * 4)
        assert (samples is None) is (not wanted[1])
    for flow, samples in rates_of(run, "iops").items():
        wanted = [job[flow].get(f"iops_{each}", 0) for each in ("min", "max", "mean", "stddev")]
        assert wanted == (as_printed(samples, 1) if wanted[1] else [0] * 4)


def document_in(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text[text.index("{\n") : text.rindex("}") + 1])
    return found


@pytest.mark.parametrize("name", TEXTS)
def test_the_shares_of_a_text_are_those_of_all_its_lines(name: str) -> None:
    text = (LOGS / f"{name}.txt").read_text()
    powers = {"nsec": 9, "usec": 6, "msec": 3}
    printed = {}
    for unit, line in re.findall(r"^ *lat \((\w+)\) *: *(\d.*)$", text, re.MULTILINE):
        for pair in line.split(", "):
            end, share = pair.rstrip("%").split("=")
            printed[int(end) / 10 ** powers[unit]] = float(share)
    assert printed
    assert {each.up_to_seconds: each.percent for each in only_run(text).latency_shares} == pytest.approx(printed)
    assert sum(printed.values()) == pytest.approx(100, abs=0.6)


def test_the_last_range_has_no_end() -> None:
    text = (LOGS / "fio-3.33-mixed.txt").read_text()
    run = only_run(text.replace("50=0.01%", "2000=0.50%, >=2000=0.25%"))
    *_, before, last = run.latency_shares
    assert (before.up_to_seconds, before.percent) == (2.0, 0.5)
    assert (last.up_to_seconds, last.percent) == (None, 0.25)


@pytest.mark.parametrize("name", ["fio-3.33-json", "fio-2.17-json-plus"])
def test_the_shares_of_a_document_are_kept_where_it_has_no_bins(name: str) -> None:
    text = (LOGS / f"{name}.txt").read_text()
    run = only_run(text)
    job = document_in(text)["jobs"][0]
    powers = {"latency_ns": 9, "latency_us": 6, "latency_ms": 3}
    given = {
        int(end) / 10**power: share
        for part, power in powers.items()
        for end, share in job.get(part, {}).items()
        if share and end.isdigit()
    }
    found = {each.up_to_seconds: each.percent for each in run.latency_shares}
    assert found == ({} if any(total.latency_buckets for total in run.summary.flows.values()) else pytest.approx(given))


def test_samples_and_shares_are_shown(golden: Golden) -> None:
    samples = RateSamples(count=39, least=7560, mean=13225.5, greatest=14128, stddev=1468.2)
    shares = tuple(
        LatencyShare(up_to_seconds=end, percent=share) for end, share in ((25e-5, 0.01), (0.01, 67.78), (0.02, 31.19))
    )
    write = total(iops_samples=samples)
    node = NodeResult(node="a", command="fio", summary=Summary(write=write), latency_shares=shares)
    golden.same("\n".join(f"{name}: {text}" for name, text in client_facts(run(1), node).items()))
    assert shares_text(()) == ""
