"""A kind of target is one module and one row: nothing else knows one by its scheme."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import get_args

import pytest

from cephtui.cli.where import TARGET_HELP
from cephtui.models import Kind
from cephtui.suites import SCHEMES
from cephtui.targets import KINDS, every_kind, parse_target, target_examples, target_kind
from cephtui.targets.base import TargetKind
from tests import PACKAGE

_SCHEMES = "|".join(KINDS)
_SPEC = re.compile(rf"(?:.*[^\w-])?(?:{_SCHEMES}):|(?:{_SCHEMES}):[^\sA-Z]\S*")
"""What ends with a scheme, as the text before a name does, and a whole target. In a sentence or an example it is for
the user, who writes it."""
_WORDS = {*KINDS, *get_args(Kind)}
_OTHER_WORDS = {
    "analysis/detectors/other_clients.py": {"device", "file", "image"},
    "devices.py": {"device"},
    "ceph/crush_tree.py": {"host", "osd"},
    "ceph/proxmox.py": {"rbd"},
    "ceph/surroundings.py": {"rbd"},
    "reports/views/matrix.py": {"osd"},
    "tools/dd/command.py": {"file"},
    "tools/fio/command.py": {"rbd", "image"},
    "tools/fio/adopted.py": {"file:"},
    "tools/fio/given.py": {"file:", "pool:", "rbd:"},
    "tools/gosbench/adopted.py": {"s3:"},
    "tools/hsbench/saved.py": {"s3:"},
    "tools/iperf3/saved.py": {"host:"},
    "tools/osd_bench/saved.py": {"osd:"},
    "tools/rados_bench/adopted.py": {"pool:"},
    "tools/rados_bench/saved.py": {"pool:"},
    "tools/rbd_bench/saved.py": {"rbd:"},
}
"""By module what decides nothing there: what stat calls a file, a type of bucket in CRUSH or of storage in Proxmox,
what is slow, the kinds of place that a tool can use, which are its own to say, and what was tested by a command that
was typed elsewhere, in words."""


def name_of(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def deciding(node: ast.AST) -> Iterator[ast.expr]:
    """What a program compares a scheme, a kind or a target with."""
    match node:
        case ast.Compare(left=left, comparators=others):
            if {"kind", "scheme"} & set(map(name_of, (left, *others))):
                yield from (left, *others)
        case ast.Call(
            func=ast.Attribute(value=value, attr="startswith" | "removeprefix" | "replace"), args=[first, *_]
        ):
            if name_of(value) in ("spec", "target", "text", "of"):
                yield first


def schemes_in(source: str) -> set[tuple[int, str]]:
    """Line and text where a program knows a kind of target by its scheme, docstrings left out."""
    tree = ast.parse(source)
    bare = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    found = set()
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str() as text) if id(node) not in bare and _SPEC.fullmatch(text):
                found.add((node.lineno, text))
        parts = (part for each in deciding(node) for part in ast.walk(each) if isinstance(part, ast.Constant))
        found |= {(part.lineno, part.value) for part in parts if isinstance(part.value, str) and part.value in _WORDS}
    return found


def test_a_scheme_is_known_in_its_module_and_in_the_table_only() -> None:
    others = [path for path in sorted(PACKAGE.rglob("*.py")) if PACKAGE / "targets" not in path.parents]
    names = {str(path.relative_to(PACKAGE)): schemes_in(path.read_text("utf-8")) for path in others}
    assert len(names) > 100
    assert [
        f"{name}:{line}: {text}"
        for name, found in names.items()
        for line, text in sorted(found)
        if text not in _OTHER_WORDS.get(name, ())
    ] == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("spec = f'rbd:{pool}'", True),
        ("pool = spec.removeprefix('rbd:')", True),
        ("spec = 'pool:bench'", True),
        ("spec.startswith(('file:', 'x'))", True),
        ("spec.startswith('rbd')", True),
        ("target.kind == 'rbd'", True),
        ("kind in ('rbd', 'image')", True),
        ("scheme != 'file'", True),
        ("text = f'can not use {node} for rbd:{pool}'", True),
        ("'''As in rbd:bench.'''", False),
        ("raise ValueError('choose another: use rbd:POOL for several')", False),
        ("text = 'pool: none'", False),
        ("argv = ('rbd', 'ls')", False),
    ],
)
def test_this_test_sees_a_scheme_wherever_it_decides_something(source: str, found: bool) -> None:
    assert bool(schemes_in(source)) == found


def test_suites_know_the_kinds_by_their_schemes_without_importing_them() -> None:
    assert tuple(KINDS) == SCHEMES


@pytest.mark.parametrize("kind", every_kind(), ids=KINDS)
def test_a_kind_and_its_examples_belong_together(kind: TargetKind) -> None:
    for example in kind.examples:
        target = parse_target(example.replace("PATH", "/dev/x").replace("BUCKET", "bucket"))
        assert type(target_kind(target.spec)) is type(kind)
        assert target.kind in get_args(Kind)
        assert (target.pool is not None or target.new_pool is not None) == kind.in_pool
        assert not (kind.in_pool and (kind.is_path or kind.leaves_files))


def test_the_help_names_every_target() -> None:
    assert [
        example for example in target_examples() if not re.search(rf"\b{re.escape(example)}(?![/\w])", TARGET_HELP)
    ] == []


def test_what_has_no_scheme_is_no_target() -> None:
    assert [target_kind(text) for text in ("", "rbd", "nfs:bucket", "File:/x")] == [None] * 4
