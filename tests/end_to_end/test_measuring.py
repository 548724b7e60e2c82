"""What is printed and kept agrees with what fio itself said, in every preset, sweep and repeat."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from cephtui.models import Run
from tests.end_to_end.conftest import NewSandbox
from tests.end_to_end.sandbox import Console, Event, completed_ios, fio_documents, read_samples, sets, wait_for

PRESETS = {
    "write-throughput": ["write"],
    "write-iops": ["write"],
    "read-throughput": ["read"],
    "read-iops": ["read"],
    "latency": ["read", "write"],
    "mixed-75-25": ["read", "write"],
}
SLOW_FILL = 'case " $* " in *" --name=fill "*) exec "$FIO" "$@" --rate=64m;; esac; exec "$FIO" "$@"'


def gentle(operations: int = 25) -> list[str]:
    """A short run that leaves the disk and the processors to others."""
    return sets(runtime=2, ramp_time=1, rate_iops=operations)


WRITE_IOPS = ["write-iops", *sets(runtime=3, ramp_time=1, size="16M")]
SHORT = sets(runtime=1, ramp_time=0, rate_iops=25)
OTHERS = {
    **{preset: [preset, *gentle(), *sets(size="16M")] for preset in PRESETS},
    **{preset: [preset, *gentle(8), *sets(size="16M")] for preset in PRESETS if "throughput" in preset},
    "sweep": ["read-iops", *SHORT, *sets(size="4M", iodepth="1,4"), "--repeat", "2"],
    "several": ["read-iops", "write-iops", *SHORT, *sets(size="1M,2M")],
    "apart": [
        "mixed-75-25",
        *sets(time_based="false", runtime=20, ramp_time=0, rate_iops=25),
        *sets(size="256k", numjobs=2, group_reporting="false"),
    ],
}


@pytest.fixture(scope="module")
def measured(new_sandbox: NewSandbox) -> dict[str, Console]:
    """All runs, side by side; most are held back so that they leave the disk and the processors to the first."""
    sandbox = new_sandbox()
    consoles = {"first": sandbox.start("run", *WRITE_IOPS, "--json", env=sandbox.program("fio", SLOW_FILL))}
    for name, command in OTHERS.items():
        consoles[name] = new_sandbox().start("run", *command, "--json")
    for console in consoles.values():
        assert console.wait() == 0, console.describe()
        console.sandbox.assert_clean()
    return consoles


@pytest.fixture(scope="module")
def write_iops(measured: dict[str, Console]) -> Console:
    """The run that most of these tests look at; its 128 MiB are filled slowly enough to be seen."""
    return measured["first"]


@pytest.fixture(scope="module")
def others(measured: dict[str, Console]) -> dict[str, Console]:
    """The rest."""
    return {name: console for name, console in measured.items() if name != "first"}


# ---------------------------------------------------------------------------------------------- the public stream


def conforms(value: Any, schema: Event, root: Event) -> str | None:
    """Why a value does not fit a JSON Schema (of the kind that pydantic writes), or None."""
    if "$ref" in schema:
        return conforms(value, root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root)
    if "anyOf" in schema:
        problems = [conforms(value, branch, root) for branch in schema["anyOf"]]
        return None if None in problems else f"none of {problems}"
    if "const" in schema or "enum" in schema:
        return None if value in schema.get("enum", [schema.get("const")]) else f"{value!r} is not in {schema}"
    kinds: dict[str, type | tuple[type, ...]] = {
        "object": dict,
        "array": list,
        "string": str,
        "integer": int,
        "number": (int, float),
        "null": type(None),
    }
    kind = schema.get("type")
    if kind == "boolean" or isinstance(value, bool):
        return None if isinstance(value, bool) and kind in ("boolean", None) else f"{value!r} is no {kind}"
    if kind and not isinstance(value, kinds[kind]):
        return f"{value!r} is no {kind}"
    if kind == "array":
        item = schema.get("items", {})
        return next((f"[{i}]: {p}" for i, v in enumerate(value) if (p := conforms(v, item, root))), None)
    return _object_conforms(value, schema, root) if kind == "object" else None


def _object_conforms(value: Event, schema: Event, root: Event) -> str | None:
    known, rest = schema.get("properties", {}), schema.get("additionalProperties")
    if missing := set(schema.get("required", [])) - set(value):
        return f"without {missing}"
    for key, part in value.items():
        branch = known.get(key, rest)
        if branch is None:
            return f"{key}: not in the schema"
        if problem := conforms(part, branch, root):
            return f"{key}: {problem}"
    return None


def test_every_line_conforms_to_the_printed_schema(write_iops: Console, others: dict[str, Console]) -> None:
    schema = json.loads(write_iops.sandbox.run("schema").stdout)
    assert conforms({"event": "sample"}, schema, schema), "the check itself finds no fault with a bad line"
    for console in (write_iops, *others.values()):
        for event in console.events:
            problem = conforms(event, schema, schema)
            assert problem is None, f"{event['event']}: {problem}"


def test_the_stream_is_one_plan_then_samples_and_a_run_for_each_step(
    write_iops: Console, others: dict[str, Console]
) -> None:
    for console in (write_iops, *others.values()):
        events = console.events
        assert [event["event"] for event in events].count("plan") == 1
        assert events[0]["event"] == "plan"
        assert len(console.runs) == len(events[0]["steps"])
        assert events[-1]["event"] == "run"
        for run in console.runs:
            numbers = [event["run"] for event in events[1 : events.index(run)]]
            assert numbers == sorted(numbers), "a run is the last event of its step"


def test_the_plan_has_the_commands_the_writes_and_the_duration(write_iops: Console) -> None:
    plan = write_iops.events[0]
    (step,) = plan["steps"]
    (node,) = step["nodes"]
    assert node["node"] == "local"
    assert node["command"].startswith("fio --name=write-iops ")
    assert "--direct=1" in node["argv"]
    assert [write["bytes"] for write in node["writes"]] == [128 << 20, None]
    assert 4 < plan["duration_seconds"] < 10
    stored = sum(path.stat().st_size for path in write_iops.sandbox.session().rglob("*") if path.is_file())
    assert stored < 4 * plan["session_bytes"], f"{stored} bytes were stored, {plan['session_bytes']} were announced"
    assert write_iops.runs[0]["command"] == node["command"]


# ---------------------------------------------------------------------------------------------- against fio's own words


def last_document(console: Console) -> Event:
    """What fio printed last, kept in the session."""
    return fio_documents(console.sandbox.session() / "001" / "raw" / "local.stdout")[-1]


def in_fios_words(document: Event, part: Event) -> Event:
    """One direction of a document in cephtui's units, with the I/Os that were completed."""
    clat, ios = part["clat_ns"], completed_ios(document, part)
    carried = {name: clat["N"] * (100 - percent) >= 1000 - 1e-6 for name, percent in PERCENTILES.items()}
    percentiles = {
        name: clat["percentile"][f"{percent:.6f}"] / 1e9 if carried[name] else None
        for name, percent in PERCENTILES.items()
    }
    return {
        "ios": ios,
        **({} if ios == part["total_ios"] else {"ios_reported": part["total_ios"]}),
        "bytes": part["io_bytes"],
        "iops": pytest.approx(1000 * ios / part["runtime"]),
        "bandwidth_bytes": part["bw_bytes"],
        "runtime_seconds": part["runtime"] / 1000,
        **{f"latency_{name}_seconds": clat[name] / 1e9 for name in ("mean", "min", "max", "stddev")},
        **{f"latency_{name}_seconds": seconds for name, seconds in percentiles.items()},
        **{name: times_of(part[f"{name}_ns"]) for name in ("slat", "lat")},
    }


def times_of(part: Event) -> Event | None:
    times = {f"{name}_seconds": part[name] / 1e9 for name in ("mean", "stddev", "min", "max")}
    return times if part["N"] else None


PERCENTILES = {"p50": 50.0, "p90": 90.0, "p95": 95.0, "p99": 99.0, "p995": 99.5, "p999": 99.9, "p9995": 99.95,
               "p9999": 99.99}  # fmt: skip
"""Null where fewer than ten I/Os lie beyond them."""


def test_the_summary_is_what_fio_said_last(write_iops: Console) -> None:
    (run,) = write_iops.runs
    document = last_document(write_iops)
    (job,) = document["jobs"]
    total, clat = run["summary"]["write"], job["write"]["clat_ns"]
    said = in_fios_words(document, job["write"])
    assert run["nodes"][0]["summary"] == {"read": None, "write": said}
    assert total == {**said, "latency_buckets": total["latency_buckets"]}
    assert sum(total["latency_buckets"].values()) == clat["N"]
    assert len(total["latency_buckets"]) == len(clat["bins"])
    assert run["nodes"][0]["cpu_user_percent"] == job["usr_cpu"]
    assert run["nodes"][0]["cpu_system_percent"] == job["sys_cpu"]
    assert run["summary"]["write"]["ios"] > 0


def test_disk_utilisation_is_fios(write_iops: Console) -> None:
    disks = [
        {
            "name": disk["name"],
            "utilisation_percent": disk["util"],
            **{name: disk[name] for name in ("read_ios", "write_ios", "read_merges", "write_merges")},
            "read_wait_seconds": disk["read_ticks"] / 1000,
            "write_wait_seconds": disk["write_ticks"] / 1000,
            "queue_seconds": disk["in_queue"] / 1000,
        }
        for disk in last_document(write_iops)["disk_util"]
    ]
    assert write_iops.runs[0]["nodes"][0]["disks"] == disks


@pytest.mark.parametrize("name", ["write-throughput", "read-throughput", "read-iops", "mixed-75-25"])
def test_every_preset_agrees_with_fio(others: dict[str, Console], name: str) -> None:
    (run,) = others[name].runs
    document = last_document(others[name])
    (job,) = document["jobs"]
    for direction in ("read", "write"):
        expected = in_fios_words(document, job[direction]) if direction in PRESETS[name] else None
        assert run["nodes"][0]["summary"][direction] == expected


def test_the_samples_add_up_to_the_summary(write_iops: Console, others: dict[str, Console]) -> None:
    for console in (write_iops, *others.values()):
        for run in console.runs:
            samples = console.samples("run", run=run["run"])
            assert samples, console.describe()
            for direction, total in run["summary"].items():
                parts = [sample[direction] for sample in samples if sample[direction]]
                assert bool(parts) == bool(total)
                for figure in ("ios", "bytes") if total else ():
                    assert sum(part[figure] for part in parts) == pytest.approx(total[figure], rel=0.01)


def test_no_interval_is_shorter_than_half_a_second(write_iops: Console, others: dict[str, Console]) -> None:
    for console in (write_iops, *others.values()):
        samples = [event for event in console.events if event["event"] == "sample" and event["node"] is None]
        phases = Counter((sample["run"], sample["phase"]) for sample in samples)
        for sample in samples:
            # a phase that is shorter as a whole has nothing that it could join
            assert sample["interval_seconds"] >= 0.5 or phases[sample["run"], sample["phase"]] == 1, sample


def test_elapsed_time_goes_on_and_covers_the_run(write_iops: Console) -> None:
    samples = write_iops.samples("ramp") + write_iops.samples("run")
    elapsed = [sample["elapsed_seconds"] for sample in samples]
    assert elapsed == sorted(elapsed)
    assert 3.5 < elapsed[-1] < 8
    assert sum(s["interval_seconds"] for s in write_iops.samples("run")) == pytest.approx(3, abs=0.5)


def test_the_ramp_is_marked_and_left_out(write_iops: Console) -> None:
    ramp = write_iops.samples("ramp")
    assert ramp, "no sample of the ramp"
    assert all(sample["write"]["ios"] > 0 for sample in ramp if sample["write"])
    order = [event["phase"] for event in write_iops.events if event["event"] == "sample"]
    assert order == sorted(order, key=["prepare", "ramp", "run"].index)


def test_filling_is_a_phase_with_progress(write_iops: Console) -> None:
    prepare = write_iops.samples("prepare")
    assert len(prepare) >= 2, "128 MiB at 64 MiB/s are two seconds"
    assert sum(sample["write"]["bytes"] for sample in prepare) == 128 << 20
    assert all(sample["read"] is None for sample in prepare)


def percentile(bins: Counter[int], percent: float) -> float:
    """Of a histogram in fio's own bins (nanoseconds), by the rule of fio's own percentiles."""
    wanted, seen = percent / 100 * bins.total(), 0
    for nanoseconds in sorted(bins):
        seen += bins[nanoseconds]
        if seen >= wanted:
            return nanoseconds / 1e9
    return math.nan


def clocked(writes: Sequence[Event], before: Event, now: Event) -> float:
    """Seconds between two documents, each of those between them by that clock which has moved further."""
    some = [write for write in writes if before["at"] < write["at"] <= now["at"] and write["clat_ns"]["N"]]
    pairs = itertools.pairwise([before, *some])
    return float(sum(max(b["runtime"] - a["runtime"], b["at"] - a["at"]) for a, b in pairs)) / 1000


def misses(write: Event, seconds: float, before: Event, now: Event) -> dict[str, tuple[object, object]]:
    """The figures of a sample, and what they are by these two documents, where they are something else."""
    bins = Counter({int(k): n for k, n in now["clat_ns"]["bins"].items()})
    bins.subtract({int(k): n for k, n in before["clat_ns"]["bins"].items()})
    number = now["clat_ns"]["N"] - before["clat_ns"]["N"]
    sums = [part["clat_ns"]["N"] * part["clat_ns"]["mean"] for part in (now, before)]
    mean = (sums[0] - sums[1]) / number / 1e9 if number else None  # a machine that stalled has done nothing
    expected = {
        "bytes": now["io_bytes"] - before["io_bytes"],
        "iops": pytest.approx(write["ios"] / seconds, rel=0.001),
        "bandwidth_bytes": pytest.approx(write["bytes"] / seconds, rel=0.001),
        "latency_p99_seconds": percentile(bins, 99.0) if number else None,
        "latency_mean_seconds": mean and pytest.approx(mean, abs=1e-9),
    }
    return {name: (write[name], figure) for name, figure in expected.items() if write[name] != figure}


def test_each_second_is_the_difference_of_two_documents(write_iops: Console) -> None:
    documents = fio_documents(write_iops.sandbox.session() / "001" / "raw" / "local.stdout")
    parts = [(document, document["jobs"][0]["write"]) for document in documents]
    writes = [{**part, "ios": completed_ios(of, part), "at": of["timestamp_ms"]} for of, part in parts]
    # fio measures no latency in the ramp, and counts anew after it
    after = [write for write in writes if write["clat_ns"]["N"]]
    before: Event = {"io_bytes": 0, "runtime": 0, "at": 0, "clat_ns": {"N": 0, "mean": 0.0, "bins": {}}}
    # fio reads N before the bins, and its jobs go on meanwhile: there are more in the bins
    counts = [(each["ios"], each["io_bytes"], sum(each["clat_ns"]["bins"].values())) for each in after]
    counted: tuple[int, ...] = (0, 0, 0)
    for sample in write_iops.samples("run"):
        write, seconds = sample["write"], sample["interval_seconds"]
        more = (write["ios"], write["bytes"], sum(write["latency_buckets"].values()))
        counted = tuple(map(sum, zip(counted, more, strict=True)))
        same = [each for each, its in zip(after, counts, strict=True) if its == counted]
        ends = [each for each in same if each["at"] > before["at"]]
        assert ends, f"no document was printed after operations, bytes and latencies {counted}, but after {counts}"
        # jobs that have ended count no time any more while the rest is still at work; documents may be joined
        taken = [((each["runtime"] - before["runtime"]) / 1000, clocked(writes, before, each)) for each in ends]
        fit = [
            each for each, (least, most) in zip(ends, taken, strict=True) if least - 0.001 <= seconds <= most + 0.002
        ]
        assert fit, f"{seconds} s up to {counted}, but at least and at most {taken}"
        # the last documents of a run may have the same counts, and not the same mean
        wrong = [misses(write, seconds, before, each) for each in fit]
        assert {} in wrong, f"up to {counted}: {wrong}"
        before = fit[wrong.index({})]
    assert counted[0] == writes[-1]["ios"]


# ---------------------------------------------------------------------------------------------- what is kept


def test_the_session_holds_the_same_objects(write_iops: Console) -> None:
    directory = write_iops.sandbox.session() / "001"
    assert read_samples(directory) == [event for event in write_iops.events if event["event"] == "sample"]
    assert json.loads((directory / "run.json").read_text()) == write_iops.runs[0]
    plans = [json.loads(line) for line in (directory.parent / "plans.jsonl").read_text().splitlines()]
    assert plans[0] == write_iops.events[0]


def test_show_prints_what_run_printed(write_iops: Console) -> None:
    shown = write_iops.sandbox.run("show", f"{write_iops.sandbox.session().name}/1", "--json")
    assert shown.sorted_events == [event for event in write_iops.sorted_events if event["event"] != "plan"]
    assert shown.process.returncode == 0


def test_only_its_user_can_enter_what_it_has_made(write_iops: Console) -> None:
    sandbox = write_iops.sandbox
    folders = (
        sandbox.data,
        sandbox.data / "sessions",
        sandbox.session(),
        sandbox.cache / "cephtui",
        sandbox.state / "cephtui",
    )
    assert sandbox.run("show", "nothing").process.returncode  # which is logged: without a record there is no log
    assert {folder.name: oct(folder.stat().st_mode & 0o777) for folder in folders} == {
        folder.name: "0o700" for folder in folders
    }


def test_every_node_has_samples_of_its_own(write_iops: Console) -> None:
    for phase in ("prepare", "ramp", "run"):
        merged, own = write_iops.samples(phase), write_iops.samples(phase, node="local")
        assert [{**sample, "node": None} for sample in own] == merged


def test_a_run_keeps_its_conditions(write_iops: Console) -> None:
    (run,) = write_iops.runs
    environment = run["environment"]["local"]
    assert environment["kernel"] == Path("/proc/sys/kernel/osrelease").read_text().strip()
    assert environment["tools"]["fio"].startswith("fio-3")
    assert {finding["code"] for finding in run["findings"]} >= {"short"}
    assert run["duration_seconds"] > 4


def test_a_run_keeps_the_size_of_the_memory(write_iops: Console) -> None:
    total = int(Path("/proc/meminfo").read_text().split()[1]) * 1024
    assert write_iops.runs[0]["environment"]["local"]["memory_bytes"] == total


# ---------------------------------------------------------------------------------------------- presets and plans


@pytest.mark.parametrize("name", [*PRESETS])
def test_every_preset_measures_its_directions(others: dict[str, Console], name: str) -> None:
    runs = others[name].runs
    assert [run["outcome"] for run in runs] == ["ok"] * (2 if name == "latency" else 1)
    for run in runs:
        Run.model_validate(run)
    measured = [direction for run in runs for direction in ("read", "write") if run["summary"][direction]]
    assert measured == PRESETS[name]


def test_latency_is_two_runs_of_one_batch(others: dict[str, Console]) -> None:
    first, second = others["latency"].runs
    assert (first["options"]["rw"], second["options"]["rw"]) == ("randread", "randwrite")
    assert first["batch"] == second["batch"]
    assert first["summary"]["write"] is None
    assert second["summary"]["read"] is None


def test_mixed_keeps_read_and_write_apart(others: dict[str, Console]) -> None:
    summary = others["mixed-75-25"].runs[0]["summary"]
    assert summary["read"]["ios"] > 0
    assert summary["write"]["ios"] > 0
    assert all(sample["read"] and sample["write"] for sample in others["mixed-75-25"].samples("run"))


def test_a_sweep_and_its_repeats_are_one_batch(others: dict[str, Console]) -> None:
    runs = others["sweep"].runs
    assert [(run["repeat"], run["options"]["iodepth"]) for run in runs] == [(1, 1), (1, 4), (2, 1), (2, 4)]
    assert len({run["batch"] for run in runs}) == 1
    assert [run["run"] for run in runs] == [1, 2, 3, 4]


def test_several_presets_are_filled_once_and_are_batches_apart(others: dict[str, Console]) -> None:
    runs = others["several"].runs
    assert [run["preset"] for run in runs] == ["read-iops"] * 2 + ["write-iops"] * 2
    assert len({run["batch"] for run in runs}) == 2
    steps = others["several"].events[0]["steps"]
    assert [step["fill_bytes"] > 0 for step in steps] == [True, False, False, False]
    filled = sorted(path.parent.parent.name for path in others["several"].sandbox.session().glob("*/raw/*.prepare.*"))
    assert set(filled) == {"001"}


def test_jobs_that_are_not_grouped_have_figures_of_their_own(others: dict[str, Console]) -> None:
    (run,) = others["apart"].runs
    document = last_document(others["apart"])
    jobs = document["jobs"]
    assert len(jobs) == 2
    completed = [completed_ios(document, job["read"]) for job in jobs]
    assert [job["summary"]["read"]["ios"] for job in run["nodes"][0]["jobs"]] == completed
    total, longest = run["summary"]["read"], max(job["read"]["runtime"] for job in jobs) / 1000
    assert total["ios"] == sum(completed)
    assert (total["runtime_seconds"], total["iops"]) == (longest, pytest.approx(total["ios"] / longest))
    assert run["nodes"][0]["depths"].keys() == jobs[0]["iodepth_level"].keys()


def test_a_session_is_continued(write_iops: Console) -> None:
    """By another cephtui, with another preset: its runs count on, and nothing of the earlier ones is touched."""
    sandbox = write_iops.sandbox
    name, first = sandbox.session().name, (sandbox.session() / "001" / "run.json").read_bytes()
    console = sandbox.run("run", "read-iops", *SHORT, *sets(size="1M"), "--session", name, "--json")
    assert console.process.returncode == 0, console.describe()
    assert console.runs[0]["run"] == 2
    shown = sandbox.run("show", name, "--json").events
    assert shown == [*write_iops.runs, *console.runs]
    assert (sandbox.session() / "001" / "run.json").read_bytes() == first
    (row,) = sandbox.run("sessions", "--json").events
    assert (row["session"], row["runs"], row["outcomes"], row["writing"]) == (name, 2, {"ok": 2}, False)


def test_without_json_there_is_a_table(new_sandbox: NewSandbox) -> None:
    sandbox = new_sandbox()
    console = sandbox.run("run", "mixed-75-25", *SHORT, *sets(size="1M"))
    assert console.process.returncode == 0, console.describe()
    for word in ("mixed-75-25", "read", "write", "questionable", sandbox.session().name):
        assert word in console.stdout
    assert "Traceback" not in console.stderr
    wait_for(lambda: not sandbox.left(), 30, "an empty scratch directory", sandbox.describe)
