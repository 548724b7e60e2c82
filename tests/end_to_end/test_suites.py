"""A suite, or several presets, that were killed or stopped in the middle, and resumed: nothing is measured twice."""

from __future__ import annotations

import json
import signal
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.end_to_end.conftest import NewSandbox
from tests.end_to_end.sandbox import ENDLESS, Console, Event, light

SUITE = """
title = "Mine"
order = "abba"
repeats = 2
[[steps]]
preset = "write-iops"
[[steps]]
preset = "latency"
options = { numjobs = 1 }
repeats = 1
[[steps]]
preset = "read-iops"
"""
ORDER = ["write-iops", "randread", "randwrite", "read-iops", "read-iops", "write-iops"]
"""In which it is measured: the presets, those of latency by what they do."""
STARTS = {
    "suite": ["mine"],
    "presets": ["write-iops", "read-iops", "--repeat", "2", "--order", "abba"],
}
ENDINGS: dict[str, Callable[[Console], None]] = {
    "killed": lambda console: console.process.send_signal(signal.SIGKILL),
    "stopped": lambda console: console.process.send_signal(signal.SIGINT),
}
THIRD_IS_LONG = f"""
case " $* " in *" --name=fill "* | *" --version "*) exec "$FIO" "$@";; esac
echo x >> runs
[ "$(wc -l < runs)" -ne 3 ] || set -- "$@" --runtime={ENDLESS}
exec "$FIO" "$@"
"""
"""So that it is in the middle when it is ended."""


@dataclass
class Resumed:
    """Consoles of one session, and what was kept of the order before and after."""

    first: Console
    second: Console
    third: Console
    kept: tuple[bytes, bytes]

    @property
    def runs(self) -> list[Event]:
        """All of the session, in their order."""
        paths = sorted(self.first.sandbox.session().glob("[0-9][0-9][0-9]/run.json"))
        return [json.loads(path.read_text()) for path in paths]


def suite_of(console: Console) -> Path:
    return console.sandbox.session() / "studies.jsonl"


@pytest.fixture(scope="module")
def resumed(new_sandbox: NewSandbox) -> dict[str, Resumed]:
    """Each ended in its third run, and resumed; side by side."""
    consoles: dict[str, Console] = {}
    for start, words in STARTS.items():
        for ending in ENDINGS:
            sandbox = new_sandbox()
            folder = sandbox.config / "cephtui" / "suites"
            folder.mkdir(parents=True)
            (folder / "mine.toml").write_text(SUITE)
            fio = sandbox.program("fio", THIRD_IS_LONG.replace("runs", str(sandbox.root / "runs")))
            consoles[f"{start} {ending}"] = sandbox.start("run", *words, *light(2), "--json", "--session", "S", env=fio)
    for name, console in consoles.items():
        console.wait_for(lambda c=console: c.samples(run=3), 90, "the third run")  # type: ignore[misc]
        ENDINGS[name.split()[1]](console)
    kept = {name: suite_of(console).read_bytes() for name, console in consoles.items()}
    for console in consoles.values():
        console.wait()
        console.sandbox.wait_gone()
    second = {name: c.sandbox.start("run", "--resume", "last", "--json") for name, c in consoles.items()}
    for console in second.values():
        console.wait(120)
    third = {name: c.sandbox.run("run", "--resume", "S", "--json") for name, c in consoles.items()}
    return {
        name: Resumed(console, second[name], third[name], (kept[name], suite_of(console).read_bytes()))
        for name, console in consoles.items()
    }


NAMES = [f"{start} {ending}" for start in STARTS for ending in ENDINGS]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_missing_is_measured_and_nothing_else(resumed: dict[str, Resumed], name: str) -> None:
    found = resumed[name]
    assert found.second.process.returncode == 0, found.second.describe()
    runs = found.runs
    good = [(run["batch"], run["step"]) for run in runs if run["outcome"] == "ok"]
    assert [number for number in Counter(good).values() if number > 1] == [], "measured twice"
    assert len(good) == (6 if "suite" in name else 4)
    assert [run["outcome"] for run in runs if run["outcome"] != "ok"] == ["lost" if "killed" in name else "stopped"]
    assert runs[2]["outcome"] != "ok"
    assert (runs[3]["batch"], runs[3]["step"]) == (runs[2]["batch"], runs[2]["step"]), "it begins where it has ended"


@pytest.mark.parametrize("name", [name for name in NAMES if "suite" in name])
def test_the_order_is_that_of_the_suite(resumed: dict[str, Resumed], name: str) -> None:
    runs = [run for run in resumed[name].runs if run["outcome"] == "ok"]
    assert [run["options"]["rw"] if run["preset"] == "latency" else run["preset"] for run in runs] == ORDER
    assert len({run["batch"] for run in runs}) == 3
    assert len({run["target"] for run in runs}) == 1, "repeats are of the same file"


@pytest.mark.parametrize("name", NAMES)
def test_the_order_is_kept_before_the_first_run_and_not_touched(resumed: dict[str, Resumed], name: str) -> None:
    first, last = resumed[name].kept
    assert first == last
    ordered = json.loads(first)
    assert ordered["suite"] == ("mine" if "suite" in name else "")
    assert [cell["repeats"] for cell in ordered["cells"]] == ([2, 1, 2] if "suite" in name else [2, 2])
    assert {cell["batch"] for cell in ordered["cells"]} == {run["batch"] for run in resumed[name].runs}
    assert "fio" not in first.decode(), "no command"


@pytest.mark.parametrize("name", NAMES)
def test_with_nothing_missing_nothing_is_run(resumed: dict[str, Resumed], name: str) -> None:
    found = resumed[name]
    number = 6 if "suite" in name else 4
    assert found.third.process.returncode == 0
    (line,) = found.third.complaints
    assert line == f"cephtui: nothing to resume in session S: all {number} runs are complete"
    assert found.third.stdout == ""
    found.third.sandbox.assert_clean()


@pytest.mark.parametrize("start", STARTS)
def test_a_stop_says_how_to_continue(resumed: dict[str, Resumed], start: str) -> None:
    missing = 4 if start == "suite" else 2
    first = resumed[f"{start} stopped"].first
    (line,) = [line for line in first.complaints if line.endswith(": cephtui run --resume S s1")]
    assert f" {missing} runs " in line, first.describe()


def test_what_others_measure_is_not_resumed(resumed: dict[str, Resumed]) -> None:
    """The session is being written: by a console that was stopped and not ended."""
    sandbox = resumed["suite killed"].first.sandbox
    console = sandbox.start("run", "write-iops", *light(ENDLESS), "--session", "S", "--json")
    console.wait_for(lambda: console.samples(run=8), 90, "its run")
    refused = sandbox.run("run", "--resume", "S")
    assert refused.process.returncode == 3
    assert refused.complaints == [
        "cephtui: session S is being measured by another cephtui: stop that first, or wait for it"
    ]
    console.process.send_signal(signal.SIGINT)
    assert console.wait() == 4
