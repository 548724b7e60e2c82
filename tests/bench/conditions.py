"""What the figures depend on besides cephtui."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from cephtui import __version__


def conditions() -> dict[str, Any]:
    """Those of this machine, which is console and nodes in one."""
    model = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "cephtui": __version__,
        "python": platform.python_version(),
        "asyncssh": version("asyncssh"),
        "cryptography": version("cryptography"),
        "textual": version("textual"),
        "kernel": platform.release(),
        "cpu": model[1] if model else platform.machine(),
        "cpus": os.cpu_count(),
        "fio": _said("fio", "--version"),
        "openssh": _said("ssh", "-V"),
    }


def load() -> float:
    """How many processes wanted a CPU in the last minute: above the number of CPUs, others disturb the figures."""
    return round(os.getloadavg()[0], 2)


def _said(*command: str) -> str | None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return (done.stdout or done.stderr).strip() or None
