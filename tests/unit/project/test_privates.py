"""Private names of the libraries are used in one module each."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests import PACKAGE
from tests.unit.project.test_imports import MODULES

PRIVATE = {
    "models.pydantic_private",
    "nodes.asyncio_private",
    "tui.textual_private",
    "tui.charts.plotext_private",
    "serve.textual_serve_private",
}
"""Each is of one library, and says in which version its names were seen."""
PUBLIC = {"os._exit"}
"""Documented all the same."""
OF_NAMED_TUPLES = {"_asdict", "_fields", "_replace"}
"""Documented, with an underscore to keep them apart from the fields."""
PRIVATE_MODULE = re.compile(r"[a-z]\w*(\.\w+)*\._[a-z]\w*")


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in {"_", *OF_NAMED_TUPLES}


def own_names(tree: ast.AST) -> set[str]:
    """What a module defines."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and is_self(node.value):
            found.add(node.attr)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return found


def is_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


def foreign(source: str, inherited: frozenset[str] = frozenset()) -> list[str]:
    """The private names of other objects in a source; ``inherited`` are what its own classes may have."""
    tree = ast.parse(source)
    own = own_names(tree)
    found: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            if node.attr not in (own | inherited if is_self(node.value) else own):
                found += {ast.unparse(node)} - PUBLIC
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [*(node.module or "").split("."), *(alias.name for alias in node.names)]
            found += [f"from {node.module}" for name in names if is_private(name)][:1]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("getattr", "setattr"):
            found += [ast.unparse(node) for each in node.args[1:2] if is_private(str(getattr(each, "value", "")))]
        elif isinstance(node, ast.Constant) and PRIVATE_MODULE.fullmatch(str(node.value)):
            found += [str(node.value)]
    return found


def overridden(module: str) -> Iterator[str]:
    """Private methods that a class of the package has in the place of a library's."""
    for node in ast.walk(ast.parse(MODULES[module].read_text("utf-8"))):
        if isinstance(node, ast.ClassDef):
            kind = getattr(importlib.import_module(f"cephtui.{module}"), node.name, None)
            names = [each.name for each in node.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
            bases = [base for base in getattr(kind, "__mro__", ()) if not base.__module__.startswith("cephtui.")]
            yield from (
                f"{node.name}.{name}" for name in names if is_private(name) and any(name in vars(b) for b in bases)
            )


ALL_OWN = frozenset().union(*(own_names(ast.parse(path.read_text("utf-8"))) for path in MODULES.values()))


@pytest.mark.parametrize("module", sorted(module for module in MODULES if module))
def test_private_names_of_others_have_one_place(module: str) -> None:
    found = [*foreign(MODULES[module].read_text("utf-8"), ALL_OWN), *overridden(module)]
    assert bool(found) == (module in PRIVATE), found


@pytest.mark.parametrize("module", sorted(PRIVATE))
def test_each_says_in_which_version_it_was_seen(module: str) -> None:
    docstring = ast.get_docstring(ast.parse(MODULES[module].read_text("utf-8"))) or ""
    assert docstring.rpartition("Seen in ")[2].rstrip(".").replace(".", "").split()[-1].isdecimal()


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("app._loop", ["app._loop"]),
        ("self._loop", ["self._loop"]),
        ("self._loop = 1\nself._loop", []),
        ("self._loop = 1\napp.x._loop", []),
        ("super()._display()", ["super()._display"]),
        ("getattr(app, '_driver', None)", ["getattr(app, '_driver', None)"]),
        ("from textual._compositor import x", ["from textual._compositor"]),
        ("os._exit(1)\nx.__name__", []),
    ],
)
def test_this_test_sees_a_private_name(source: str, expected: list[str]) -> None:
    assert foreign(source) == expected


def test_pydantic_reads_no_metadata_of_packages() -> None:
    program = (
        "import sys; from cephtui.models import Node; Node(name='pve1'); print('importlib.metadata' in sys.modules)"
    )
    completed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=PACKAGE.parent)
    assert completed.stdout.strip() == "False", completed.stderr
