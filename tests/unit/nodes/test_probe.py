"""A node that can't be asked, and programs that are not where the user has named them: why, in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from cephtui.models import Node
from cephtui.nodes.local import LocalConnection
from cephtui.nodes.probe import probe
from cephtui.nodes.shell import NodeShell
from cephtui.nodes.transport import TransportError
from cephtui.tools import TOOLS
from tests.support.golden import Golden

SAYS = "echo 'sudo: a terminal is required to read the password' >&2; echo 'sudo: a password is required' >&2; exit 1"


def shell_of(tmp_path: Path, **more: object) -> NodeShell:
    sudo = tmp_path / "sudo"
    sudo.write_text(f"#!/bin/sh\n{SAYS}\n")
    sudo.chmod(0o755)
    node = Node.model_validate({"name": "n1", **more})
    return NodeShell(node, LocalConnection(node))


async def test_a_prefix_that_fails_is_named_with_what_it_says(tmp_path: Path, golden: Golden) -> None:
    for name in ("prefix", "ceph_prefix"):
        with pytest.raises(TransportError) as error:
            await probe(shell_of(tmp_path, **{name: (f"{tmp_path}/sudo",)}))
        golden.same(str(error.value))


async def test_sudo_that_asks_for_a_password_is_named_with_what_helps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    shell = shell_of(tmp_path, prefix=("sudo", "-n"))
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(TransportError) as error:
        await probe(shell)
    golden.same(str(error.value))


@pytest.mark.parametrize("tool", ["fio", "hsbench", "ioping", "iperf3"])
def test_a_program_that_is_not_where_it_was_named_is_told_by_its_path(tool: str, golden: Golden) -> None:
    program = TOOLS[tool].version_argv[0]
    problem = TOOLS[tool].check_version(None, {program: "/opt/nothing"})
    golden.same(problem)
    golden.same(TOOLS[tool].check_version(None, {"other": "/opt/nothing"}))
