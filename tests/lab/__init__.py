"""The lab: a Ceph cluster and three hosts with OpenSSH on one machine, for tests and for trying things.

A fourth host, where it is asked for, is a virtual machine with a kernel of its own.

It leaves the machine as it was: every part lives in namespaces that only the lab's own processes hold, and writes to
one directory. `python -m tests.lab --help` is the command line, `Lab` is for tests.
"""

from __future__ import annotations

from tests.lab.lab import Lab
from tests.lab.processes import LabError

__all__ = ["Lab", "LabError"]
