"""Completion: targets and nodes without asking any node, and words with colons in bash."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from cephtui.cli.verbs import cli
from tests.support.runs import run
from tests.support.sessions import write_session

CONFIG = """
[nodes.pve1]
[s3.gateway]
endpoint = "http://gw.example.net:7480"
access_key_file = "/a"
secret_key_file = "/b"
"""
COMPLETED = """
eval "$SCRIPT"
COMP_LINE="$LINE" COMP_POINT=${#LINE} COMPREPLY=()
compopt() { echo "compopt $*" >&2; }
_cephtui_completion cephtui
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a config file, an SSH configuration that includes another, and two sessions."""
    for name, value in {"HOME": tmp_path, "CEPHTUI_DATA_DIR": tmp_path, "XDG_CONFIG_HOME": tmp_path}.items():
        monkeypatch.setenv(name, str(value))
    (tmp_path / "cephtui").mkdir()
    (tmp_path / "cephtui" / "config.toml").write_text(CONFIG)
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "config").write_text("Include more\nHost ceph1 ceph2\nHost lab-*\n")
    (tmp_path / ".ssh" / "more").write_text("Host backup !ceph3\n")
    for name, target in (("one", "rbd:bench"), ("two", "rbd:vms/disk"), ("three", "file:/mnt/a b")):
        write_session(tmp_path / "sessions", [run(1, target=target)], name=name)
    return tmp_path


def completed(*words: str) -> list[str]:
    """What fits, of a command line whose last word is not complete."""
    complete = ShellComplete(cli, {}, "cephtui", "_CEPHTUI_COMPLETE").get_completions
    return [item.value for item in complete(list(words[:-1]), words[-1])]


@pytest.mark.parametrize("verb", [(), ("run",), ("why",), ("ceilings",), ("check",)])
def test_targets_are_schemes_and_what_was_measured(home: Path, verb: tuple[str, ...]) -> None:
    assert completed(*verb, "--target", "r") == ["rbd:", "rbd:vms/disk", "rbd:bench"]
    assert completed(*verb, "--target", "rbd:b") == ["rbd:bench"]
    assert "file:/mnt/a b" not in completed(*verb, "--target", "file:"), "a shell would take it for two words"


def test_endpoints_and_hosts_of_the_config_file_are_targets(home: Path) -> None:
    assert completed("run", "--target", "s3:") == ["s3:", "s3:http://gw.example.net:7480"]
    assert completed("run", "--target", "host:p") == ["host:pve1"]


def test_nodes_are_those_of_the_config_file_and_of_ssh(home: Path) -> None:
    names = completed("run", "--node", "")
    assert {"pve1", "ceph1", "ceph2", "backup"} <= {*names}
    assert not {"lab-*", "!ceph3", "ceph3"} & {*names}


@pytest.mark.parametrize(
    ("line", "replies"),
    [
        ("cephtui run --target rbd:b", ["bench"]),
        ("cephtui run --target=rbd:b", ["bench"]),
        ("cephtui run --target kr", ["krbd:"]),
        ("cephtui run --node ceph1 --node ba", ["backup"]),
        ("cephtui sess", ["sessions"]),
    ],
)
def test_bash_completes_the_word_behind_a_colon(home: Path, line: str, replies: list[str]) -> None:
    programs = home / "bin"
    programs.mkdir()
    program = programs / "cephtui"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m cephtui "$@"\n')
    program.chmod(0o755)
    script = CliRunner().invoke(cli, ["completion", "bash"]).stdout
    environment = {**os.environ, "SCRIPT": script, "LINE": line, "PATH": f"{programs}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "--norc", "-c", COMPLETED], env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == replies, done.stderr
    assert ("nospace" in done.stderr) == replies[0].endswith(":")
