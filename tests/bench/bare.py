"""fio without cephtui: the same command line, through ssh or on the node itself."""

from __future__ import annotations

import json
import shlex
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.bench.interactive import NotMeasured

_DOCUMENT_ENDS = b"\n}\n"
"""Only a document's own closing brace stands at the start of a line."""


def through_ssh(argv: Sequence[str], ssh_config: Path, node: str, *options: str) -> list[str]:
    """The command that runs this on a node as an admin would."""
    return ["ssh", "-F", str(ssh_config), *options, node, shlex.join(argv)]


def read_iops(command: Sequence[str], begun: Callable[[], None]) -> float:
    """The read IOPS in fio's last document; ``begun`` is called beside it. Raises NotMeasured."""
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True) as process:
        begun()
        stdout, stderr = process.communicate()
    start = stdout.rfind('{\n  "fio version"')
    if process.returncode or start < 0:
        raise NotMeasured(f"{shlex.join(command)}: {stderr.strip() or stdout[-300:]}")
    document, _ = json.JSONDecoder().raw_decode(stdout, start)
    return float(document["jobs"][0]["read"]["iops"])


def seconds_to_first_document(command: Sequence[str]) -> float:
    """From the start of the command to the end of fio's first document; waits for the end of the command."""
    started, said, seconds = time.monotonic(), b"", None
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, bufsize=0) as process:
        assert process.stdout
        while data := process.stdout.read(1 << 16):
            said += data
            if seconds is None and _DOCUMENT_ENDS in said:
                seconds = time.monotonic() - started
    if seconds is None:
        raise NotMeasured(f"{shlex.join(command)}: no document")
    return seconds
