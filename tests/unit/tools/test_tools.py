"""A tool is one folder and one row: nothing else knows one by name, and a made-up one goes all the way."""

from __future__ import annotations

import ast
import itertools
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Literal, Self

import pytest
from pydantic import Field, model_validator

from cephtui import tools
from cephtui.analysis.runs.history import History, node_figures
from cephtui.analysis.runs.sides import side_of
from cephtui.analysis.verdicts.figures import compared_figures
from cephtui.analysis.views.live import Live
from cephtui.models import Event, Interval, Kind, Node, Place, Plan, Run, Sample
from cephtui.models.metrics import BY_NAME, HEADLINES
from cephtui.nodes.probe import parse_environment, probe_argv
from cephtui.nodes.shell import NodeShell, Shell
from cephtui.nodes.transport import Command
from cephtui.planning import Request, make_plan
from cephtui.presets import PresetError, choose, find_presets, load_preset
from cephtui.reports.drawn.live import draw_live
from cephtui.reports.drawn.plan import draw_plans
from cephtui.sessions import store
from cephtui.sessions.playback import Playback
from cephtui.stats import Flow
from cephtui.targets import parse_target
from cephtui.targets.base import Target
from cephtui.targets.file import FileTarget
from cephtui.tools import TOOLS
from cephtui.tools.base import OptionError, Reading, ToolResult, Workload
from cephtui.tools.lines import Intervals, LineParser
from cephtui.tools.options import NUMBER, ToolOptions, WholeRuntime
from cephtui.tools.tool import Tool
from cephtui.tui.charts.chart import draw_chart
from cephtui.tui.charts.ink import Ink
from cephtui.tui.widgets.shown import chart_lines, chart_title, picture, shown_of_live, shown_of_run
from tests import PACKAGE
from tests.on_lab.tools import ROWS
from tests.support import fakes
from tests.support.drawings import draw_comparison, draw_run, draw_runs, printed
from tests.support.execution import carry_out
from tests.support.fakes import FakeNode, Log
from tests.support.golden import Golden

TABLES = {
    *(PACKAGE / "tools" / name for name in ("__init__.py", "saved.py", "headings.py")),
    *(PACKAGE / "models" / "findings").glob("*.py"),
}
"""The tables of the tools, of what their logs are read by, and of what is found of their figures."""
OF_ONE_TOOL = {
    "fio": {
        PACKAGE / "cli" / "commands" / "import_preset.py",
        *(PACKAGE / "sessions" / name for name in ("fio_logs.py", "log_files.py", "trees.py")),
    },
    "rados-bench": {PACKAGE / "cli" / "commands" / "import_preset.py"},
    "gosbench": {PACKAGE / "cli" / "commands" / "import_preset.py"},
    "dd": {PACKAGE / "tools" / "filling.py"},
}
"""By a tool's name the verb and the readers that are about its own files, and what others of the tools use of it."""
EXAMPLES = "\b\nExamples:"
"""How the examples of a verb begin."""
SENTENCES = {
    "fio can't open an image in an RBD namespace: use rbd:POOL/IMAGE",
    "namespaces are not supported (fio can't open them): use an image outside of them",
    "After --sweep-depth, measure at 80 % of the peak with I/Os at random times (fio only).",
    "FILE | 'fio ...'",
    "yyyy-mm-dd hh:mm:ss",
}
"""What a user reads, where the program's name is what it says. Nothing is decided by them."""


# ---------------------------------------------------------------------------------------------- names


def words_of(tool: Tool) -> re.Pattern[str]:
    """A tool's name, as it is typed, spoken, and spelled in Python."""
    spellings = {tool.name, tool.title, tool.name.replace("-", "_")}
    return re.compile(rf"(?<![a-z])({'|'.join(map(re.escape, sorted(spellings)))})(?![a-z])", re.IGNORECASE)


def code_of(source: str) -> Iterator[tuple[int, str]]:
    """Every name and every text of a program with its line.

    Comments, docstrings and examples are left out: they say where a format or a figure is from, and decide nothing.
    """
    tree = ast.parse(source)
    bare = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str() as text) if id(node) not in bare and not is_help(text):
                yield node.lineno, text
            case ast.Name(id=text) | ast.Attribute(attr=text):
                yield node.lineno, text
            case ast.arg(arg=text) | ast.keyword(arg=str() as text):
                yield node.lineno, text
            case ast.FunctionDef(name=text) | ast.AsyncFunctionDef(name=text) | ast.ClassDef(name=text):
                yield node.lineno, text
            case ast.ImportFrom(module=module, names=names):
                yield from ((node.lineno, text) for text in (module or "", *(alias.name for alias in names)))
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)


def is_help(text: str) -> bool:
    """Whether it is only read by a user."""
    return text.lstrip(": ") in SENTENCES or text.startswith(EXAMPLES)


@cache
def speaking() -> dict[Path, list[tuple[int, str]]]:
    """Where in the program any of the tools is named: by file the lines with their text."""
    of_any = re.compile("|".join(words_of(tool).pattern for tool in TOOLS.values()), re.IGNORECASE)
    return {
        path: [(line, text) for line, text in code_of(path.read_text("utf-8")) if of_any.search(text)]
        for path in sorted(PACKAGE.rglob("*.py"))
    }


def users_of(tool: Tool) -> list[str]:
    folder = PACKAGE / "tools" / tool.name.replace("-", "_")
    assert folder.is_dir()
    own = {*TABLES, *OF_ONE_TOOL.get(tool.name, ())}
    wanted = words_of(tool)
    return [
        f"{path.relative_to(PACKAGE)}:{line}: {text.strip()[:80]}"
        for path, texts in speaking().items()
        if path not in own and folder not in path.parents
        for line, text in texts
        if wanted.search(text)
    ]


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_is_known_by_name_in_its_folder_and_in_the_table_only(name: str) -> None:
    assert users_of(TOOLS[name]) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from cephtui.tools.fio import Fio", True),
        ("from cephtui.tools import fio", True),
        ("x = tools['fio']", True),
        ("x = f'{a} fio --version'", True),
        ("_CUT_BY_FIO = 1", True),
        ("def fit_fio(): pass", True),
        ("run(fio=1)", True),
        ("'''fio's own grid.'''", False),
        ("def f():\n    'as fio has it'", False),
        ("x = 1  # fio", False),
        ("x = 'portfolio'", False),
    ],
)
def test_this_test_sees_a_name_wherever_it_decides_something(source: str, found: bool) -> None:
    assert any(words_of(TOOLS["fio"]).search(text) for _, text in code_of(source)) == found


def test_runs_of_every_tool_are_lost_on_the_lab() -> None:
    assert {*ROWS} == {*TOOLS}, "it has no row in tests/on_lab/tools.py"


# ---------------------------------------------------------------------------------------------- a made-up tool

SECONDS = 4


class DripParser(LineParser):
    """``SECOND BYTES DELETED``, a line a second; it counts no writes and times nothing."""

    def __init__(self) -> None:
        super().__init__()
        self._bytes = self._deleted = self._seconds = 0

    def take(self, line: str, elapsed_seconds: float) -> list[Reading]:
        second, nbytes, deleted = map(int, line.split())
        self._seconds, self._bytes, self._deleted = second, self._bytes + nbytes, self._deleted + deleted
        write = Interval(None, nbytes, None, float(nbytes))
        delete = Interval(deleted, 0, float(deleted), 0.0)
        return [Reading("run", float(second), 1.0, None, write, {"delete": delete})]

    def result(self) -> ToolResult:
        if not self._seconds:
            return ToolResult(error="it said nothing")
        lasted, rate = float(self._seconds), self._bytes / self._seconds
        return ToolResult(
            write=Flow(None, self._bytes, lasted, None, rate, {}, None, None),
            other={"delete": Flow(self._deleted, 0, lasted, self._deleted / lasted, 0.0, {}, None, None)},
        )


@dataclass(frozen=True)
class DripWorkload(Workload):
    """Drip with its options."""

    def argv(self, name: str, size_bytes: int, place: Place) -> tuple[str, ...]:
        return ("drip", f"--name={name}", "--for", str(self.options["runtime"]), place.path)

    def parser(self, *, ramp: bool, seconds: float | None) -> DripParser:
        return DripParser()

    def describe(self) -> str:
        return f"drip for {self.options['runtime']} s"

    def writes(self) -> bool:
        return True


class DripOptions(ToolOptions):
    """The only one."""

    runtime: WholeRuntime = Field(SECONDS, description="how long it drips")


class Drip(Tool):
    """Appends to a file, and deletes others beside it."""

    Options, Workload = DripOptions, DripWorkload
    name = title = program = "drip"
    package = "drip-tools"
    version_argv = ("drip", "-V")
    kinds = frozenset[Kind]({"file"})
    other_kinds = "drip wants a file: use --target file:PATH"
    metrics = (BY_NAME["bandwidth_bytes"],)


@pytest.fixture
def presets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The tool is in the table, its output recorded, and a preset names it."""
    monkeypatch.setitem(sys.modules, "cephtui.tools.drip", sys.modules[__name__])
    monkeypatch.setitem(tools._CLASSES, "drip", "Drip")
    raw, folder = tmp_path / "raw", tmp_path / "presets"
    raw.mkdir()
    folder.mkdir()
    lines = [f"{second} {1 << 20} {second}\n".encode() for second in range(1, SECONDS + 1)]
    rows = [
        {"stream": "stdout", "offset": sum(map(len, lines[:n])), "bytes": len(line), "elapsed_seconds": n + 1.0}
        for n, line in enumerate(lines)
    ]
    (raw / "local.stdout").write_bytes(b"".join(lines))
    (raw / "local.index.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.setattr(fakes, "RECORDED", raw)
    (folder / "drops.toml").write_text(
        'title = "Drops"\ntool = "drip"\nheadline = "bandwidth"\n[options]\nruntime = 4\n'
    )
    return folder


def planned(presets: Path, target: str = "file:/mnt/bench/test", nodes: tuple[str, ...] = ("a", "b")) -> Plan:
    hosts = tuple(Node(name=name, host=name) for name in nodes)
    chosen = choose(find_presets(presets, Path("/nonexistent")), ["drops"])
    batches = (f"{number:08x}" for number in itertools.count(1))
    return make_plan(Request(chosen, hosts, parse_target(target), {}), lambda: next(batches))


async def carried_out(plan: Plan, root: Path) -> tuple[Run, list[Event]]:
    """A run on nodes that play what was recorded, saved in the session ``s``."""
    log, events = Log(), list[Event]([plan])
    shells = {}
    for node in plan.hosts:
        host = FakeNode(node, log)
        host.tools = {"drip": "drip 1.0"}
        shells[node.name] = NodeShell(node, await host.connect())
    (run,) = await carry_out(plan, shells, root, events)
    return run, events


text_of = partial(printed, width=120)


def row_of(text: str, name: str) -> list[str]:
    """The cells of a table's line behind a name."""
    line = next(line for line in text.splitlines() if name in line.split())
    return re.split(r"\s{2,}|(?<=-) ", line[line.index(name) + len(name) :].strip())


async def test_a_made_up_tool_goes_from_its_preset_to_every_report(presets: Path, tmp_path: Path) -> None:
    plan = planned(presets)
    (step,) = plan.steps
    assert [node.argv for node in step.nodes] == [
        ("drip", "--name=drops", "--for", "4", f"/mnt/bench/test.{node}") for node in ("a", "b")
    ]
    assert "drops drip for 4 s" in text_of(draw_plans([plan]))

    run, events = await carried_out(plan, tmp_path)
    assert (run.outcome, run.error) == ("ok", None)
    assert run == store.read_run(tmp_path / "s", 1)
    write, deleted = run.summary.flows["write"], run.summary.flows["delete"]
    assert (write.ios, write.iops, write.bytes, write.bandwidth_bytes) == (None, None, 8 << 20, 2 << 20)
    assert (deleted.ios, deleted.iops) == (20, 5.0)
    assert run.environment["a"].tools["drip"] == "drip 1.0"
    assert {finding.code for finding in run.findings} == {"short"}

    merged = [event for event in events if isinstance(event, Sample) and event.node is None]
    assert [(s.flows["write"].ios, s.flows["write"].bytes, s.flows["delete"].ios) for s in merged] == [
        (None, 2 << 20, 2 * second) for second in range(1, SECONDS + 1)
    ]
    told = text_of(draw_runs([run]))
    assert row_of(told, "write")[:3] == ["-", "2.00 MiB/s", "-"]
    assert row_of(told, "delete")[:2] == ["5", "-"]
    assert "1 drops  drip for 4 s" in told
    drawn = text_of(draw_run(run, store.read_history(tmp_path / "s", 1)))
    timed = [line.split()[0] for line in drawn.splitlines() if "latency" in line]
    assert timed == ["#", "node"], "in the headings of the tables alone: it times nothing"


async def test_its_figures_are_compared_and_those_it_has_not_are_not_known(presets: Path, tmp_path: Path) -> None:
    run, _ = await carried_out(planned(presets), tmp_path)
    slower = run.model_copy(
        update={
            "run": 2,
            "batch": "other",
            "summary": run.summary.model_copy(
                update={"write": run.summary.flows["write"].model_copy(update={"bandwidth_bytes": float(1 << 20)})}
            ),
        }
    )
    sides = side_of(run, [run, slower]), side_of(slower, [run, slower])
    found = {(figure.direction, figure.name): figure for figure in compared_figures(*sides)}
    assert [name for name, _ in itertools.groupby(direction for direction, _ in found)] == ["write", "delete"]
    assert found["write", "bandwidth_bytes"].change_fraction == -0.5
    assert (found["write", "iops"].left, found["write", "iops"].change_fraction) == (None, None)
    assert found["delete", "iops"].change_fraction == 0.0
    assert row_of(text_of(draw_comparison(*sides)), "IOPS")[:3] == ["-", "-", "-"]


async def test_it_is_drawn_live_saved_and_replayed(presets: Path, tmp_path: Path) -> None:
    plan = planned(presets)
    run, events = await carried_out(plan, tmp_path)
    live, drawn = Live(), ""
    for event in events:
        live.take(event)
        if live.current and live.current.latest:
            drawn = text_of(draw_live(live, 0.0))
            shown = shown_of_live(live.current)
    assert row_of(drawn, "write")[:2] == ["-", "2.00 MiB/s"]
    assert "delete" in drawn
    saved = shown_of_run(run, store.read_history(tmp_path / "s", 1), [])
    iops, bandwidth, _ = HEADLINES
    for each in (shown, saved):
        assert {line.label for line in chart_lines(each, bandwidth, by_node=False)} == {"write", "delete"}
        drawing = draw_chart(picture(each, iops), 60, 10, Ink())
        assert len(drawing.plain.splitlines()) == 10
        assert " write - " in chart_title(each, iops).plain
        assert " mean " not in chart_title(each, iops).plain
    assert shown.nodes[0].iops is None
    again = Playback(tmp_path / "s", 1).until(60.0)
    assert [s for s in again if isinstance(s, Sample)] == [s for s in events if isinstance(s, Sample)]


def test_a_node_is_asked_for_its_version(presets: Path, tmp_path: Path, golden: Golden) -> None:
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "drip"
    program.write_text('#!/bin/sh\n[ "$*" = -V ] && echo "drip 1.0"\n')
    program.chmod(0o755)
    path = f"{program.parent}:{os.environ['PATH']}"
    for node, where in ((Node(name="n"), path), (Node(name="n", programs={"drip": str(program)}), os.environ["PATH"])):
        environment = {**os.environ, "PATH": where}
        asked = subprocess.run(probe_argv(node), capture_output=True, text=True, check=True, env=environment)
        assert parse_environment(asked.stdout).tools["drip"] == "drip 1.0"
    assert TOOLS["drip"].check_version("drip 1.0") is None
    golden.same(TOOLS["drip"].check_version(None))


def test_a_version_without_end_is_cut(presets: Path, tmp_path: Path) -> None:
    program = tmp_path / "drip"
    program.write_text("#!/bin/sh\nexec yes drip 1.0\n")
    program.chmod(0o755)
    argv = probe_argv(Node(name="n", programs={"drip": str(program)}))
    asked = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert 0 < len(parse_environment(asked.stdout).tools["drip"]) <= 4096


def test_a_user_without_sbin_in_path_lacks_no_command() -> None:
    environment = os.environ | {"PATH": "/usr/bin:/bin"}
    asked = subprocess.run(probe_argv(Node(name="n")), capture_output=True, text=True, check=True, env=environment)
    assert parse_environment(asked.stdout).missing == ()


def test_it_is_run_by_the_path_that_its_node_has_for_it(presets: Path) -> None:
    chosen = choose(find_presets(presets, Path("/nonexistent")), ["drops"])
    nodes = (Node(name="a", programs={"drip": "/opt/drip"}), Node(name="b", programs={"other": "/opt/x"}))
    plan = make_plan(Request(chosen, nodes, parse_target("file:/mnt/drip"), {}), lambda: "0000aaaa")
    assert [node.argv[0] for node in plan.steps[0].nodes] == ["/opt/drip", "drip"]


def test_it_is_refused_where_it_can_not_be_used(presets: Path, golden: Golden) -> None:
    with golden.raises(OptionError):
        planned(presets, target="device:/dev/sdb", nodes=("a",))
    (presets / "drops.toml").write_text('title = "Drops"\ntool = "drip"\nheadline = "latency"\n[options]\n')
    with golden.raises(PresetError):
        load_preset(presets / "drops.toml", user=True)


def test_what_this_version_can_not_give_a_tool_is_no_half_measure(
    presets: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    """A tool that wants a secret is not run without."""
    monkeypatch.setattr(Drip, "secrets", ("access key",))
    with golden.raises(OptionError):
        planned(presets)


async def test_secrets_go_to_the_process_and_nowhere_else(
    presets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def secrets_for(target: Target, shell: Shell, place: Place) -> Mapping[str, str]:
        return {"secret key": f"canary-{shell.node.name}", "unused": "canary", "access key": place.path}

    started: list[Command] = []
    start = fakes.FakeConnection.start

    async def noted(connection: fakes.FakeConnection, command: Command) -> fakes.FakeProcess:
        started.append(command)
        return await start(connection, command)

    caplog.set_level("DEBUG")
    monkeypatch.setattr(fakes.FakeConnection, "start", noted)
    monkeypatch.setattr(FileTarget, "secrets", ("access key", "secret key", "unused"))
    monkeypatch.setattr(FileTarget, "secrets_for", secrets_for)
    monkeypatch.setattr(Drip, "secrets", ("access key", "secret key"))
    plan = planned(presets)
    run, events = await carried_out(plan, tmp_path / "sessions")
    assert run.outcome == "ok"
    assert [command.secrets for command in started] == [
        (f"/mnt/bench/test.{node}", f"canary-{node}") for node in ("a", "b")
    ]
    stored = [path.read_text("utf-8", "replace") for path in (tmp_path / "sessions").rglob("*") if path.is_file()]
    assert len(stored) > 5
    assert "canary" not in "".join([*stored, caplog.text, repr(started), repr(events), plan.model_dump_json()])


def test_what_was_not_measured_is_a_gap_in_the_history() -> None:
    history = History()
    for second in (1.0, 2.0):
        write = Interval(None, 4096, None, 4096.0)
        history.add(Sample(1, None, "p", "run", second, 1.0, None, write, other={"list": Interval(2, 0, 2.0, 0.0)}))
    assert history.directions == ["write", "list"]
    assert history.total("iops").values() == [None, None]
    assert history.total("bandwidth_bytes").values() == [4096.0, 4096.0]
    assert node_figures({})["iops"] == 0.0, "nothing was done, and that is known"
    assert History.of(history.overview()).directions == ["write", "list"]


# ---------------------------------------------------------------------------------------------- lines and intervals


class EchoParser(LineParser):
    """Each line is a reading of so many seconds."""

    line_most = 8

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def take(self, line: str, elapsed_seconds: float) -> list[Reading]:
        self.lines.append(line)
        return [lasting(elapsed_seconds)]

    def result(self) -> ToolResult:
        return ToolResult(error=self.errors.text)


def lasting(seconds: float, ios: int = 1) -> Reading:
    return Reading("run", 0.0, seconds, None, Interval(ios, 0, ios / seconds, None))


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_lines_are_the_same_however_they_are_cut(size: int) -> None:
    text = "one\n\u00e9\u20ac\r\n\nrest".encode()
    parser = EchoParser()
    for at in range(0, len(text), size):
        parser.feed("stdout", text[at : at + size], 1.0)
    assert parser.lines == ["one", "\u00e9\u20ac\r", ""]
    assert (len(parser.take_rest(2.0)), len(parser.take_rest(2.0))) == (1, 0)
    assert parser.lines[3:] == ["rest"]


def test_a_line_without_end_is_cut_and_stderr_is_apart() -> None:
    parser = EchoParser()
    assert parser.feed("stderr", b"no such\nfile", 1.0) == []
    assert parser.feed("stdout", b"x" * 100, 1.0) == []
    assert len(parser.feed("stdout", b"end\n", 1.0)) == 1
    assert (parser.lines, parser.result().error) == (["x" * 8 + "end"], "no such\nfile")


def test_a_short_rest_joins_the_interval_that_was_held() -> None:
    intervals, whole, rest = Intervals(), lasting(1.0), lasting(0.1)
    assert intervals.add(whole, hold=False) == [whole]
    assert intervals.add(whole, hold=True) == []
    assert intervals.add(whole, hold=True) == [whole]
    (joined,) = intervals.add(rest, hold=False)
    assert (joined.interval_seconds, joined.write and joined.write.ios) == (1.1, 2)
    assert intervals.add(rest, hold=False) == [rest]
    assert (intervals.add(whole, hold=True), intervals.release(), intervals.release()) == ([], [whole], [])


# ---------------------------------------------------------------------------------------------- options


class SprayOptions(ToolOptions):
    """Options of each sort."""

    plain: bool | None = None
    drops: Annotated[int, Field(ge=1, le=9), NUMBER] | None = Field(None, description="how many")
    runtime: WholeRuntime = Field(60, title="runtime", description="how long it sprays")
    color: Literal["red", "blue"] = Field(alias="colour", description="of the drops")

    aliases = {"time": "runtime"}
    refused = ((r"out.*", "cephtui decides where it sprays"),)
    needless = ((r"loops", "--repeat runs it several times"),)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.plain and self.drops:
            raise OptionError("drops", "a plain spray has none")
        return self


def test_options_are_offered_in_their_order_behind_those_with_a_title() -> None:
    assert [(option.name, option.allowed, option.default) for option in SprayOptions.form_fields()] == [
        ("runtime", "whole seconds from 1, or a time such as 5m; at most 7 days", "60"),
        ("plain", "yes or no", ""),
        ("drops", "1 to 9", ""),
        ("colour", "one of red, blue", ""),
    ]


def test_options_are_checked_and_come_by_their_own_names() -> None:
    assert SprayOptions.check({"colour": "red", "time": "2m"}) == {"colour": "red", "runtime": 120}
    assert SprayOptions.check_each({"drops": 10, "runtime": 5}, {"colour": "red"}) == ({"runtime": 5}, {"drops": 10})


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({}, "colour: missing, expected one of red, blue"),
        ({"color": "red", "colour": "red"}, "color: unknown option, did you mean colour?"),
        ({"colour": "red", "output": "x"}, "output: not allowed: cephtui decides where it sprays"),
        ({"colour": "red", "loops": 2}, "loops: not needed: --repeat runs it several times"),
        ({"colour": "red", "drops": 10}, "drops: expected 1 to 9, got 10"),
        ({"colour": "red", "drops": True}, "drops: expected a number, not true or false, got True"),
        ({"colour": "red", "drops": 1, "plain": True}, "drops: a plain spray has none"),
        ({"colour": "red", "time": 5, "runtime": 5}, "time: is another name of runtime, which is given too"),
    ],
)
def test_what_is_wrong_with_options_is_said_of_the_first(options: dict[str, object], problem: str) -> None:
    with pytest.raises(OptionError) as error:
        SprayOptions.check(options)
    assert str(error.value) == problem
    assert error.value.option == problem.partition(":")[0]


def test_what_no_preset_has_is_left_out_with_the_reason() -> None:
    assert SprayOptions.reason_against("speed") is None
    assert SprayOptions.reason_to_leave_out("speed") == "not an option that cephtui sets"
