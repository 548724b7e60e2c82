"""Imports flow one way: from the nouns to the front ends, never back."""

from __future__ import annotations

import ast
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "cephtui"
CORE = (
    ("units", "refusal", "printable", "asyncio_private", "exit_codes"),
    ("metrics", "models"),
    ("stats", "reading", "ceph.objects"),
    ("history", "analysis", "analysis.batches", "analysis.verdict"),
    ("analysis.sides",),
    ("analysis.conditions", "analysis.figures", "analysis.marks"),
    ("tools.base",),
    ("tools.options",),
    ("tools.*",),
    ("tools",),
    ("jsonlines", "environment", "places", "config", "devices", "ssh.hostkeys"),
    ("ceph", "ceph.answers", "ceph.in_use", "ceph.proxmox"),
    ("ceph.cluster", "ceph.images", "ceph.pools", "ceph.rates"),
    ("ceph.pool_guards", "ceph.watch", "incidents", "cluster"),
    ("presets",),
    ("store",),
    ("session_writer", "saved_runs"),
    ("archive",),
    ("transport",),
    ("ssh.config", "ssh.questions", "ssh.proxy"),
    ("ssh.keys",),
    ("ssh.login",),
    ("ssh.attempt",),
    ("ssh.reach",),
    ("ssh.connection",),
    ("ssh", "shell", "replay", "outcomes", "merge"),
    ("record",),
    ("targets.candidates", "cluster.reader", "cluster.access"),
    ("targets.base",),
    ("cluster.preflight", "cluster.monitor"),
    ("targets.file", "targets.rbd"),
    ("targets.device", "targets.pool"),
    ("targets",),
    ("plan", "scratch", "cluster.discovery", "leftovers"),
    ("node_run",),
    ("execute",),
    ("runner",),
    ("launch", "queue"),
)
FRONT_ENDS = (
    ("live", "sparks", "terminal", "playback", "demo"),
    ("report",),
    ("tui", "headless"),
    ("cli",),
)
LAYERS = CORE + FRONT_ENDS
"""A module imports from layers above its own only; one name with all below it (``tui``) may use itself, and so may
each tool's folder (``tools.*``)."""
SCREENS = {
    "textual": {"tui"},
    "plotext": {"tui"},
    "rich": {"report", "terminal", "headless", "tui", "cli"},
    "click": {"headless", "cli"},
}
"""What draws and talks to the user, and who may import it."""
OWNERS = {**SCREENS, "asyncssh": {"ssh"}}
"""What only some may import."""
PURE = (
    "analysis",
    "ceph",
    "devices",
    "history",
    "incidents",
    "merge",
    "metrics",
    "printable",
    "stats",
    "tools",
    "units",
)
"""Modules, with all below them, that only take and give data."""
WORLD = {"asyncio", "asyncssh", "fcntl", "shutil", "signal", "socket", "subprocess", "tempfile", "threading"}
"""What reaches out of the process."""


def name_of(path: Path) -> str:
    """``tools.fio`` of cephtui/tools/fio.py; the package's own __init__ is an empty name."""
    return ".".join(part for part in path.relative_to(PACKAGE).with_suffix("").parts if part != "__init__")


MODULES = {name_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def layer_of(module: str) -> tuple[int, str] | None:
    """The number of its layer, and the name that puts it there."""
    names = {name: number for number, layer in enumerate(LAYERS) for name in layer}
    for name in (module, *([module.partition(".")[0]] if module.startswith("tui.") else [])):
        if name in names:
            return names[name], name
    if module.startswith("tools."):
        return names["tools.*"], ".".join(module.split(".")[:2])
    return None


def imports(module: str, source: str) -> set[str]:
    """Every module that is imported anywhere in a source, for types only and inside functions too."""
    package = (
        ["cephtui", *module.split(".")]
        if MODULES[module].name == "__init__.py"
        else ["cephtui", *module.split(".")[:-1]]
    )
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            parts = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*parts, *([node.module] if node.module else [])])
            # the name may be a module itself
            found |= {f"{base}.{alias.name}" if is_module(f"{base}.{alias.name}") else base for alias in node.names}
    return found


def is_module(name: str) -> bool:
    return name.startswith("cephtui.") and name.removeprefix("cephtui.") in MODULES


def own_imports(module: str) -> set[str]:
    """Modules of this package, without its name."""
    found = imports(module, MODULES[module].read_text("utf-8"))
    return {name.removeprefix("cephtui.") for name in found if is_module(name)}


def check(module: str, imported: str) -> str | None:
    """What is wrong with an import, or None."""
    place, other = layer_of(module), layer_of(imported)
    if place is None or other is None or place[1] == other[1] or other[0] < place[0]:
        return None
    return f"cephtui.{module} imports cephtui.{imported}, which stands beside or below it in tests/test_imports.py"


def test_every_module_has_a_layer() -> None:
    homeless = [str(MODULES[module]) for module in MODULES if module and layer_of(module) is None]
    assert not homeless, f"put {', '.join(homeless)} into LAYERS in tests/test_imports.py, below all that it imports"


def test_every_layer_has_its_modules() -> None:
    gone = [name for layer in LAYERS for name in layer if name not in MODULES and name != "tools.*"]
    assert not gone, f"take {', '.join(gone)} out of LAYERS in tests/test_imports.py"


def test_imports_flow_one_way() -> None:
    wrong = [problem for module in MODULES for name in sorted(own_imports(module)) if (problem := check(module, name))]
    assert not wrong, "\n".join(wrong)


def test_there_are_no_cycles() -> None:
    try:
        TopologicalSorter({module: own_imports(module) for module in MODULES}).prepare()
    except CycleError as error:
        pytest.fail(f"modules import each other: {' -> '.join(error.args[1])}")


def test_the_package_itself_imports_nothing() -> None:
    assert imports("", MODULES[""].read_text("utf-8")) <= {"__future__"}


def libraries(module: str) -> set[str]:
    """What is imported that is not this package's."""
    return {name.partition(".")[0] for name in imports(module, MODULES[module].read_text("utf-8"))}


@pytest.mark.parametrize("library", OWNERS)
def test_only_front_ends_draw_and_only_ssh_connects(library: str) -> None:
    users = {module for module in MODULES if library in libraries(module)}
    wrong = {module for module in users if module.partition(".")[0] not in OWNERS[library]}
    assert not wrong, f"{library} is imported by {', '.join(sorted(wrong))}"
    assert users


@pytest.mark.parametrize("package", PURE)
def test_what_is_pure_reaches_nothing(package: str) -> None:
    modules = [module for module in MODULES if module == package or module.startswith(f"{package}.")]
    wrong = {module: sorted(libraries(module) & WORLD) for module in modules if libraries(module) & WORLD}
    assert not wrong
    assert modules


def test_exit_codes_have_one_place() -> None:
    trees = {module: ast.parse(path.read_text("utf-8")) for module, path in MODULES.items()}
    names = ((module, n) for module, tree in trees.items() for n in ast.walk(tree) if isinstance(n, ast.Name))
    assert {module for module, n in names if n.id.startswith("EXIT_") and isinstance(n.ctx, ast.Store)} == {
        "exit_codes"
    }


def test_nothing_is_imported_by_a_name_made_at_run_time() -> None:
    for path in MODULES.values():
        names = {n.attr for n in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(n, ast.Attribute)}
        names |= {n.id for n in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(n, ast.Name)}
        assert not names & {"import_module", "__import__"}, path


def loaded(*modules: str) -> set[str]:
    """What importing these loads, by the first part of its name."""
    names = ", ".join(".".join(["cephtui", module]) if module else "cephtui" for module in modules)
    program = f"import sys, {names}; print(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    completed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=PACKAGE.parent)
    assert completed.returncode == 0, completed.stderr
    return set(completed.stdout.split())


def test_the_core_runs_without_what_draws() -> None:
    assert not loaded(*(name for layer in CORE for name in layer if name != "tools.*")) & set(SCREENS)


def test_ssh_is_loaded_by_connecting_only() -> None:
    assert "asyncssh" not in loaded(*(module for module in MODULES if not module.startswith("ssh.")))


def test_the_command_line_starts_light() -> None:
    assert not loaded("cli") & {"asyncssh", "textual", "plotext", "pydantic", "asyncio"}


@pytest.mark.parametrize(
    ("module", "source", "expected"),
    [
        ("store", "import cephtui.running.runner", {"cephtui.running.runner"}),
        ("store", "from cephtui import runner, __version__", {"cephtui.running.runner", "cephtui"}),
        ("store", "from cephtui.running.runner import Runner", {"cephtui.running.runner"}),
        ("store", "def f():\n    if 1:\n        from . import runner", {"cephtui.running.runner"}),
        ("tools.fio", "from . import output", {"cephtui.tools.fio.output"}),
        ("tools.fio.command", "from .output import FioParser", {"cephtui.tools.fio.output"}),
        ("tools.base", "from ..stats import Flow", {"cephtui.stats"}),
        ("tools", "from .fio import Fio", {"cephtui.tools.fio"}),
        ("store", "import rich.console as x", {"rich.console"}),
    ],
)
def test_this_test_sees_every_kind_of_import(module: str, source: str, expected: set[str]) -> None:
    assert imports(module, source) == expected


@pytest.mark.parametrize(
    ("module", "imported", "allowed"),
    [
        ("runner", "store", True),
        ("store", "runner", False),
        ("units", "models", False),
        ("runner", "tui.app", False),
        ("tui.app", "tui.console", True),
        ("tui.app", "cli", False),
        ("cli", "tui.app", True),
        ("tools.fio", "tools.fio.output", True),
        ("tools.fio.output", "tools.base", True),
        ("tools", "tools.fio", True),
        ("tools.fio", "tools", False),
        ("tools.fio", "tools.rados_bench", False),
        ("targets", "targets.rbd", True),
        ("targets.rbd", "targets.device", False),
        ("ceph.watch", "ceph.rates", True),
        ("ceph.rates", "transport", False),
        ("ssh", "ssh.connection", True),
        ("ssh.config", "ssh.reach", False),
    ],
)
def test_this_test_knows_up_from_down(module: str, imported: str, allowed: bool) -> None:
    assert (check(module, imported) is None) == allowed
