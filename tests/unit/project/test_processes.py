"""What tests look for in the processes of this machine."""

from __future__ import annotations

import os
import subprocess

from tests.lab.processes import holders


def test_a_secret_is_seen_in_an_argument_and_in_an_environment() -> None:
    argument, variable = f"canary-{os.getpid()}-a", f"canary-{os.getpid()}-e"
    command = ["sh", "-c", "echo; read -r _", argument]
    with subprocess.Popen(command, env={"SECRET": variable}, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()  # an exec that has begun has no arguments yet
        folder = f"/proc/{process.pid}"
        assert holders(argument) == {f"{folder}/cmdline"}
        assert holders(variable, argument) == {f"{folder}/cmdline", f"{folder}/environ"}
        process.communicate(b"\n")
    assert holders(variable, argument) == set()
