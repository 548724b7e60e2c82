"""S3 on the lab: its gateway, the program that loads it, and what is left there."""

from __future__ import annotations

import json
import os
import re
import shlex
import time
from collections import Counter
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tests.lab import Lab
from tests.on_lab.runs import OWN, Bench, wait_for

_CHECKOUT = Path(__file__).resolve().parents[2]
_STAND_IN = f'PYTHONPATH={_CHECKOUT} exec /usr/bin/python3 {_CHECKOUT}/tests/support/hsbench_standin.py "$@"'
_REQUEST = re.compile(r' - (\S+) \[[^]]*\] "(\w+) /(\S*?)(?:\?\S*)? HTTP/1\.1" 2\d\d ')


def programs(lab: Lab) -> dict[str, str]:
    """What is run on the nodes: the real ones where HSBENCH and GOSBENCH name them, as make test-s3 does."""
    path = lab.directory / "hsbench"
    real = os.environ.get("HSBENCH")
    if not path.exists():  # others may be running it
        path.touch(mode=0o755)
        path.write_text("#!/bin/sh\n" + (f'exec {shlex.quote(real)} "$@"\n' if real else f"{_STAND_IN}\n"))
    gosbench = os.environ.get("GOSBENCH") or str(_CHECKOUT / "tests" / "gosbench_stand_in")
    return {"hsbench": str(path), "gosbench": gosbench}


def configure(bench: Bench, *more: str) -> str:
    """Have the nodes know the program, with more lines of the config; gives the endpoint."""
    named = [f"{name} = {json.dumps(path)}" for name, path in programs(bench.lab).items()]
    text = bench.lab.config.read_text().replace('"ssh_config"', json.dumps(str(bench.lab.ssh_config)))
    bench.config = bench.sandbox.root / "s3.toml"
    bench.config.touch(mode=0o600)
    bench.config.write_text("\n".join([text, "[programs]", *named, *more, ""]))
    return bench.lab.gateway()


def admin(lab: Lab, *words: str) -> Any:
    """What radosgw-admin says, on the cluster's own machine."""
    done = lab.on("ceph", "radosgw-admin", "--conf", lab.ceph_conf, *words)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout) if done.stdout.strip() else None


def own_at(lab: Lab) -> list[str]:
    """Users and buckets of cephtui's at the gateway."""
    return [name for what in ("user", "bucket") for name in admin(lab, what, "list") if name.startswith(OWN)]


def wait_nothing_left(lab: Lab) -> None:
    """Until no user and no bucket of cephtui's is there."""
    wait_for(lambda: not own_at(lab), 60, "the removal of users and buckets", lambda: str(own_at(lab)))


def requests(lab: Lab, user: str) -> Counter[str]:
    """By method, how many requests for objects of cephtui's buckets were answered, by the gateway's log.

    ``user`` is a name, or a pattern of the shell.
    """
    found = (_REQUEST.search(line) for line in _written(lab.gateway_log).splitlines())
    return Counter(
        match[2] for match in found if match and fnmatchcase(match[1], user) and re.match(rf"{OWN}[^/]+/.", match[3])
    )


def _written(log: Path) -> str:
    """All of a log that a thread of its own writes, once it has nothing more to write."""
    text, before = log.read_text(errors="replace"), None
    while text != before:
        time.sleep(1)
        before, text = text, log.read_text(errors="replace")
    return text
