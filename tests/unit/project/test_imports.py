"""Imports flow one way: from the nouns to the front ends, never back."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

from cephtui import models
from cephtui.tools import TOOLS, WITH_PATH_RULES
from cephtui.tools.tool import Tool
from tests import PACKAGE

MODULE_LINES = 500
"""The most that one takes in at once."""
DECIDING = {"next_depth", "next_turn", "is_reached", "one_more", "in_slices", "without_steps", "given_up", "next_of"}
"""What studies decide with."""
BY_NAME = ["models", "reports.studies", "studies", "tools"]
"""A kind of study, or a tool, is a row: its modules have its name. Models are made when they are first used."""
CORE = (
    ("exit_codes", "frozen", "paths", "printable", "units"),
    ("models", "reading", "writing"),
    ("ceph", "config", "stats"),
    ("tools",),
    ("analysis", "nodes", "presets"),
    ("cluster", "keys", "sessions"),
    ("targets",),
    ("suites",),
    ("planning", "volumes"),
    ("ordering",),
    ("running",),
    ("studies",),
)
FRONT_ENDS = (("terminal",), ("reports",), ("tui",), ("serve",), ("cli",), ("__main__",))
LAYERS = CORE + FRONT_ENDS
"""Packages and the modules beside them. Each imports from layers above its own only, and from itself."""
ROOMS = {"analysis": ("statistics", "runs", "detectors", "views", "verdicts")}
"""The rooms of a package. Each imports from the rooms before it only, and from itself."""
SCREENS = {
    "textual": {"tui"},
    "plotext": {"tui.charts.rasterised"},
    "rich": {"reports", "terminal", "tui", "cli"},
    "click": {"cli"},
}
"""What draws and talks to the user, and who may import it."""
WEB = {"aiohttp": {"serve"}, "textual_serve": {"serve"}}
OWNERS = {**SCREENS, **WEB, "asyncssh": {"nodes.ssh"}, "yaml": {"tools.gosbench.given"}}
"""What only some may import."""
PURE = (
    "analysis",
    "ceph",
    "models",
    "ordering",
    "planning",
    "printable",
    "stats",
    "studies.queue",
    "targets.devices",
    "tools",
    "units",
)
"""Packages and modules that only take and give data."""
WORLD = {"asyncio", "asyncssh", "fcntl", "shutil", "signal", "socket", "subprocess", "tempfile", "threading"}
"""What reaches out of the process."""


def name_of(path: Path) -> str:
    """``tools.fio`` of cephtui/tools/fio.py; the package's own __init__ is an empty name."""
    return ".".join(part for part in path.relative_to(PACKAGE).with_suffix("").parts if part != "__init__")


MODULES = {name_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def is_in(module: str, package: str) -> bool:
    """Whether it is this module, or in this package."""
    return module == package or module.startswith(f"{package}.")


class Source(NamedTuple):
    """What a program is made of."""

    imports: frozenset[str]
    """Every module that is imported anywhere, for types only and inside functions too."""
    names: frozenset[str]
    """Every name and attribute."""
    assigned: frozenset[str]
    """The names that are given a value."""
    lines: int


@cache
def source(module: str) -> Source:
    """Of a module of the package; it is read once."""
    return read_source(module, MODULES[module].read_text("utf-8"))


def read_source(module: str, text: str) -> Source:
    """Of any program, were it this module."""
    nodes = list(ast.walk(ast.parse(text)))
    names = [node for node in nodes if isinstance(node, ast.Name)]
    return Source(
        imports=frozenset(name for node in nodes for name in _imported(module, node)),
        names=frozenset(node.attr for node in nodes if isinstance(node, ast.Attribute)) | {node.id for node in names},
        assigned=frozenset(node.id for node in names if isinstance(node.ctx, ast.Store)),
        lines=text.count("\n"),
    )


def _imported(module: str, node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        names = ["cephtui", *module.split(".")]
        package = names if MODULES[module].name == "__init__.py" else names[:-1]
        parts = package[: len(package) - node.level + 1] if node.level else []
        base = ".".join([*parts, *([node.module] if node.module else [])])
        # the name may be a module itself
        yield from (f"{base}.{alias.name}" if is_module(f"{base}.{alias.name}") else base for alias in node.names)


def is_module(name: str) -> bool:
    return name.startswith("cephtui.") and name.removeprefix("cephtui.") in MODULES


def own_imports(module: str) -> set[str]:
    """Modules of this package, without its name."""
    return {name.removeprefix("cephtui.") for name in source(module).imports if is_module(name)}


HEIGHTS = {name: height for height, layer in enumerate(LAYERS) for name in layer}


def check(module: str, imported: str) -> str | None:
    """What is wrong with an import, or None."""
    package, other = module.partition(".")[0], imported.partition(".")[0]
    if package == other or HEIGHTS[other] < HEIGHTS[package]:
        return None
    return f"cephtui.{module} imports cephtui.{imported}, which stands beside or below it in {Path(__file__).name}"


def test_every_package_has_a_layer() -> None:
    assert {module.partition(".")[0] for module in MODULES} - {""} == HEIGHTS.keys()


def test_imports_flow_one_way() -> None:
    wrong = [problem for module in MODULES for name in sorted(own_imports(module)) if (problem := check(module, name))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("package", ROOMS)
def test_rooms_import_one_way(package: str) -> None:
    height = {f"{package}.{room}": number for number, room in enumerate(ROOMS[package])}

    def room_of(module: str) -> str:
        return ".".join(module.split(".")[:2])

    inside = [module for module in MODULES if is_in(module, package) and module != package]
    assert {room_of(module) for module in inside} == height.keys()
    assert not [
        f"cephtui.{module} imports cephtui.{name}"
        for module in inside
        for name in own_imports(module)
        if room_of(name) in height and height[room_of(name)] > height[room_of(module)]
    ]


TOOL_FOLDERS = [
    name for name, path in MODULES.items() if path.name == "__init__.py" and path.parent.parent == PACKAGE / "tools"
]


def test_tools_know_nothing_of_each_other() -> None:
    inside = [(module, folder) for folder in TOOL_FOLDERS for module in MODULES if is_in(module, folder)]
    common = {
        "tools.adopted",
        "tools.base",
        "tools.commands",
        "tools.copied",
        "tools.dates",
        "tools.documents",
        "tools.filling",
        "tools.lines",
        "tools.load",
        "tools.logs",
        "tools.options",
        "tools.signs",
        "tools.stderr",
        "tools.tool",
    }
    allowed = {module for module in MODULES if not is_in(module, "tools")} | common
    wrong = {
        module: sorted(name for name in own_imports(module) if name not in allowed and not is_in(name, folder))
        for module, folder in inside
    }
    assert not {module: names for module, names in wrong.items() if names}
    assert len(TOOL_FOLDERS) > 2


def test_there_are_no_cycles() -> None:
    try:
        TopologicalSorter({module: own_imports(module) for module in MODULES}).prepare()
    except CycleError as error:
        pytest.fail(f"modules import each other: {' -> '.join(error.args[1])}")


def test_only_studies_decide_what_is_measured_next() -> None:
    """Front ends ask and draw."""
    fronts = [module for module in MODULES if module.partition(".")[0] in ("cli", "tui", "serve")]
    assert not {module: names for module in fronts if (names := source(module).names & DECIDING)}


def test_a_module_is_read_at_once() -> None:
    assert not {module: lines for module in MODULES if (lines := source(module).lines) > MODULE_LINES}


def test_the_package_itself_imports_nothing() -> None:
    assert source("").imports <= {"__future__"}


def libraries(module: str) -> set[str]:
    """What is imported that is not this package's."""
    return {name.partition(".")[0] for name in source(module).imports}


@pytest.mark.parametrize("library", OWNERS)
def test_only_front_ends_draw_and_only_ssh_connects(library: str) -> None:
    users = {module for module in MODULES if library in libraries(module)}
    wrong = {module for module in users if not any(is_in(module, owner) for owner in OWNERS[library])}
    assert not wrong, f"{library} is imported by {', '.join(sorted(wrong))}"
    assert users


@pytest.mark.parametrize("package", PURE)
def test_what_is_pure_reaches_nothing(package: str) -> None:
    # what a node is given to run is no part of the program
    modules = [module for module in MODULES if is_in(module, package) and not module.endswith("_on_node")]
    wrong = {module: sorted(libraries(module) & WORLD) for module in modules if libraries(module) & WORLD}
    assert not wrong
    assert modules


STARTED_OTHERWISE = {
    "__main__",
    "ceph.watch_on_node",
    "nodes.replay",
    "tools.gosbench.worker_on_node",
    "tools.osd_bench.bench_on_node",
    "tui.terminal.browser",
}
"""What Python, a node, a test or Textual loads by its name."""


def test_every_module_is_used() -> None:
    used = {name for module in MODULES for name in own_imports(module)} | STARTED_OTHERWISE
    single = {module for module, path in MODULES.items() if path.name != "__init__.py"}
    assert not [module for module in single - used if not is_in(module, "reports.studies")], "nothing imports it"


def test_exit_codes_have_one_place() -> None:
    stored = {module for module in MODULES if any(name.startswith("EXIT_") for name in source(module).assigned)}
    assert stored == {"exit_codes"}


def test_nothing_is_imported_by_a_name_made_at_run_time() -> None:
    assert [module for module in MODULES if source(module).names & {"import_module", "__import__"}] == BY_NAME


@cache
def every_loaded(*modules: str) -> set[str]:
    """The full names of what importing these loads."""
    names = ", ".join(".".join(["cephtui", module]) if module else "cephtui" for module in modules)
    program = f"import sys, {names}; print(*sys.modules)"
    completed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=PACKAGE.parent)
    assert completed.returncode == 0, completed.stderr
    return set(completed.stdout.split())


def loaded(*modules: str) -> set[str]:
    """The same, by the first part of its name."""
    return {name.partition(".")[0] for name in every_loaded(*modules)}


def test_the_core_runs_without_what_draws() -> None:
    assert not loaded(
        *(module for module in MODULES if module and HEIGHTS[module.partition(".")[0]] < len(CORE))
    ) & set(SCREENS)


def test_ssh_is_loaded_by_connecting_only() -> None:
    assert "asyncssh" not in loaded(*(module for module in MODULES if not module.startswith("nodes.ssh.")))


def test_the_command_line_starts_light() -> None:
    heavy = {"aiohttp", "asyncssh", "textual", "plotext", "pydantic", "asyncio", "statistics", "socket"}
    assert not loaded("cli.main") & heavy


HEAVY = {"asyncio", "asyncssh", "statistics", "mpmath", "textual", "socket", "ssl"}
"""What a listing does without."""
MODELS = """
from pydantic import BaseModel
from collections import deque
seen, todo = set(), deque([BaseModel])
while todo:
    new = set(todo.popleft().__subclasses__()) - seen
    seen |= new
    todo += new
print(len(seen))
"""


def after(program: str, folder: Path, *words: str) -> list[str]:
    """What a program prints behind a verb of the command line that has printed nothing else."""
    begin = (
        "import contextlib, io, sys\n"
        f"sys.argv = ['cephtui', *{words!r}]\n"
        "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):\n"
        "    import cephtui.cli.main as cli\n"
        "    cli.main()\n"
    )
    homes = {f"XDG_{name}_HOME": str(folder) for name in ("CONFIG", "CACHE", "STATE")}
    environment = {**os.environ, **homes, "CEPHTUI_DATA_DIR": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", begin + program], capture_output=True, text=True, cwd=PACKAGE.parent, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize(
    ("verb", "own_most", "models_most", "without"),
    [
        ("presets", 85, 20, {"cephtui.cli.options", "cephtui.targets", "cephtui.models.run", "cephtui.sessions"}),
        ("sessions", 60, 5, {"cephtui.tools", "cephtui.presets", "cephtui.models.run", "cephtui.analysis.runs"}),
    ],
)
def test_a_listing_loads_what_it_shows(
    tmp_path: Path, verb: str, own_most: int, models_most: int, without: set[str]
) -> None:
    names = after("print(*sys.modules)", tmp_path, verb)
    assert not {*names} & {*HEAVY, *without}
    assert sum(name.startswith("cephtui.") for name in names) <= own_most
    assert int(after(MODELS, tmp_path, verb)[0]) <= models_most, "each takes a third of a millisecond to make"


@pytest.mark.parametrize("words", [("presets",), ("sessions",), ("show", "demo")])
def test_what_has_not_changed_is_printed_without_making_it(tmp_path: Path, words: tuple[str, ...]) -> None:
    after("", tmp_path, *words)
    names = {*after("print(*sys.modules)", tmp_path, *words)}
    assert not names & {*HEAVY, "pydantic", "cephtui.models.base", "cephtui.presets", "cephtui.reports.views"}


def test_a_session_is_shown_without_what_only_its_runs_table_and_curves_need(tmp_path: Path) -> None:
    names = {*after("print(*sys.modules)", tmp_path, "show", "demo")}
    assert not names & {"asyncio", "asyncssh", "textual"}
    assert not names & {f"cephtui.{name}" for name in ("targets", "reports.views.matrix", "reports.views.curve")}


def test_names_of_models_are_found_in_their_modules() -> None:
    assert {name for name in models._MODULES if not hasattr(models, name)} == set()
    listed = [node for node in ast.walk(ast.parse(MODULES["models"].read_text("utf-8"))) if isinstance(node, ast.If)]
    named = {alias.name for node in ast.walk(listed[0]) if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert named == models._MODULES.keys()


def test_tools_are_found_in_their_folders() -> None:
    assert {name: tool.name for name, tool in TOOLS.items()} == {name: name for name in TOOLS}
    assert {f"tools.{name.replace('-', '_')}" for name in TOOLS} == {*TOOL_FOLDERS}
    ruled = {name for name, tool in TOOLS.items() if type(tool).check_path is not Tool.check_path}
    assert ruled == {*WITH_PATH_RULES}


LATER = (
    "analysis.detectors.explaining",
    "analysis.detectors.incidents",
    "analysis.detectors.settling",
    "analysis.runs.batches",
    "analysis.runs.history",
    "ceph.cluster",
    "ceph.images",
    "ceph.pools",
    "ceph.proxmox",
    "ceph.surroundings",
    "cli.about_verbs",
    "cli.measuring_verbs",
    "cli.options",
    "cli.saved_verbs",
    "cluster.preflight",
    "cluster.reader",
    "models.findings",
    "models.nodes",
    "models.plan",
    "models.promise",
    "models.results",
    "models.rows",
    "models.run",
    "models.study",
    "reports.masking.mask",
    "running.outcomes",
    "running.plan_run",
    "running.step_run",
    "running.survey",
    "sessions.jsonlines",
    "sessions.listing",
    "sessions.studies",
    "sessions.writer",
    "studies.base",
    "studies.conductor",
    "stats",
    "suites",
    "targets.device",
    "targets.discovery",
    "targets.host",
    "targets.pool",
    "targets.rbd",
    "targets.removal",
    "targets.surroundings",
    "tools.dd",
    "tools.fio.output",
    "tools.gosbench",
    "tools.ioping.output",
    "tools.iperf3.output",
    "tools.rados_bench",
    "tui.console.form",
    "tui.console.how_often",
    "tui.console.queue",
    "tui.pickers.targets",
    "tui.screens.presenter",
    "tui.screens.sessions",
)
"""What the console's first frame does without. Most of it are dataclasses: each takes half a millisecond to make."""


def test_the_console_starts_without_what_its_first_frame_does_not_show() -> None:
    found = every_loaded("cli.main", "cli.commands.console")
    assert set(LATER) <= MODULES.keys()
    assert not found & {f"cephtui.{module}" for module in LATER}
    assert not found & {"asyncssh", "plotext"}


@pytest.mark.parametrize("modules", [["cli.main"], ["cli.main", "cli.commands.console"], ["cli.commands.run"]])
def test_only_an_interval_that_is_shown_needs_the_t_distribution(modules: list[str]) -> None:
    assert not loaded(*modules) & {"mpmath", "scipy"}


@pytest.mark.parametrize(
    "modules",
    [["cli.main"], ["cli.main", "cli.commands.console"], ["cli.commands.run"], ["cli.commands.show"], ["tui.app"]],
)
def test_only_a_report_needs_what_draws_documents(modules: list[str]) -> None:
    assert not loaded(*modules) & {"jinja2", "pygal", "xlsxwriter"}


@pytest.mark.parametrize(
    ("module", "text", "expected"),
    [
        ("config", "import cephtui.planning", {"cephtui.planning"}),
        ("config", "from cephtui import planning, __version__", {"cephtui.planning", "cephtui"}),
        ("config", "from cephtui.planning import make_plan", {"cephtui.planning"}),
        ("config", "def f():\n    if 1:\n        from . import planning", {"cephtui.planning"}),
        ("tools.fio", "from . import output", {"cephtui.tools.fio.output"}),
        ("tools.fio.command", "from .output import FioParser", {"cephtui.tools.fio.output"}),
        ("tools.base", "from ..stats import Flow", {"cephtui.stats"}),
        ("tools", "from .fio import Fio", {"cephtui.tools.fio"}),
        ("config", "import rich.console as x", {"rich.console"}),
    ],
)
def test_this_test_sees_every_kind_of_import(module: str, text: str, expected: set[str]) -> None:
    assert read_source(module, text).imports == expected


@pytest.mark.parametrize(
    ("module", "imported", "allowed"),
    [
        ("running.runner", "sessions.store", True),
        ("sessions.store", "running.runner", False),
        ("units", "models", False),
        ("running.runner", "tui.app", False),
        ("tui.app", "tui.console.screen", True),
        ("tui.app", "cli.main", False),
        ("cli.main", "tui.app", True),
        ("tools.fio", "tools.base", True),
        ("targets.rbd", "cluster.reader", True),
        ("cluster.reader", "targets.rbd", False),
        ("ceph.rates", "nodes.transport", False),
    ],
)
def test_this_test_knows_up_from_down(module: str, imported: str, allowed: bool) -> None:
    assert (check(module, imported) is None) == allowed
