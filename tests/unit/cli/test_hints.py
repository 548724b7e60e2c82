"""Words and options of other programs: one line that names what is wrong and what it is called here."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from cephtui.cli import hints
from cephtui.cli.verbs import cli, every_verb

USAGE = 2


@pytest.fixture(autouse=True)
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CEPHTUI_DATA_DIR", str(tmp_path))


def refused(*words: str) -> str:
    """What is said of a command line that is wrong."""
    done = CliRunner().invoke(cli, words, prog_name="cephtui")
    assert done.exit_code == USAGE, done.output
    return " ".join(done.output.rpartition("Error: ")[2].split())


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("version",), "no command 'version': did you mean cephtui --version?"),
        (("list",), "did you mean cephtui sessions?"),
        (("ls",), "did you mean cephtui sessions?"),
        (("bench",), "did you mean cephtui run?"),
        (("Bench",), "did you mean cephtui run?"),
        (("tui",), "did you mean cephtui?"),
        (("Sessions",), "did you mean sessions?"),
        (("import_preset",), "did you mean import-preset?"),
        (("quux",), "no command 'quux': cephtui --help lists them"),
    ],
)
def test_a_verb_of_other_programs_names_the_one_of_this(words: tuple[str, ...], hint: str) -> None:
    assert hint in refused(*words)


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("run", "latency", "-n", "3"), "cephtui run has no option -n: did you mean --node NODE?"),
        (("run", "latency", "--hosts", "a"), "did you mean --node NODE?"),
        (("run", "latency", "--pool", "a"), "did you mean --target rbd:POOL?"),
        (("run", "latency", "--duration", "5"), "did you mean --set runtime=SECONDS?"),
        (("run", "latency", "--time", "5"), "did you mean --set runtime=SECONDS?"),
        (("run", "latency", "--depth", "5"), "did you mean --set iodepth=N?"),
        (("run", "latency", "--runtime", "5"), "runtime is an option of presets (fio"),
        (("run", "latency", "--bs", "4k"), "--set bs=VALUE"),
        (("why", "--iodepth=5"), "--set iodepth=VALUE"),
        (("show", "--iodepth", "5"), "--set iodepth=VALUE of cephtui run"),
        (("run", "latency", "--dryrun"), "did you mean --dry-run?"),
        (("run", "latency", "--safe"), "did you mean cephtui --safe?"),
        (("sessions", "--version"), "did you mean cephtui --version?"),
        (("-V",), "did you mean cephtui --version?"),
        (("--pool", "a"), "did you mean --target rbd:POOL?"),
        (("--shared-pool",), "leave it out, the console asks"),
        (("--set", "bs=4k"), "--set belongs after a command: cephtui run --set"),
        (("sessions", "--jsn"), "did you mean --json?"),
        (("cleanup", "--json"), "cephtui cleanup has no option --json: cephtui cleanup --help lists them"),
        (("sessions", "--duration", "5"), "cephtui sessions has no option --duration"),
        (("show", "demo", "--format", "pdf"), "print --format html as PDF"),
        (("report", "demo", "-o", "x.pdf"), "print --format html as PDF"),
    ],
)
def test_so_does_an_option(words: tuple[str, ...], hint: str) -> None:
    assert hint in refused(*words)


def test_each_hint_is_something_that_there_is() -> None:
    options = set[str]().union(*(hints.options_of(command) for command in (cli, *every_verb().values())))
    assert {meant.partition(" ")[0] for meant in hints._OPTIONS.values()} <= options
    assert {*hints._ASKED, *hints._GLOBAL.values()} <= options | {"--version"}
    assert set(hints._VERBS.values()) <= {"", "--version", *every_verb()}
    assert set(hints._VERBS).isdisjoint(every_verb())


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("run", "Write_IOPS"), "unknown preset 'Write_IOPS': did you mean write-iops?"),
        (("run", "writeiops"), "did you mean write-iops?"),
        (("run", "latency", "--set", "runtime=5sec"), "runtime: expected 5s, got '5sec'"),
        (("run", "latency", "--set", "size=4KiB"), "size: expected 4K, got '4KiB'"),
        (("run", "latency", "--set", "runtime=10%"), "runtime: expected a duration such as 60, 60s or 5m, got '10%'"),
        (("run", "latency", "--until-stable", "x"), "expected a percentage, got 'x'"),
        (("run", "latency", "--stall-timeout", "20sec"), "expected 20s, got '20sec'"),
    ],
)
def test_a_value_that_is_written_otherwise_is_shown_as_it_is_typed(words: tuple[str, ...], hint: str) -> None:
    assert hint in refused(*words)


@pytest.mark.parametrize(
    "words",
    [
        ("run", "write-iops", "--until-stable", "10%", "--dry-run"),
        ("run", "latency", "--stall-timeout", "2m", "--dry-run"),
        ("run", "latency", "--set", "size=1GB", "--set", "runtime=1m", "--dry-run"),
    ],
)
def test_a_value_may_have_its_unit(words: tuple[str, ...]) -> None:
    done = CliRunner().invoke(cli, words, prog_name="cephtui")
    assert done.exit_code == 0, done.output
