"""Every verb with text that a terminal would obey, in one process: ``python -m`` in a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

from cephtui.cli import main as cli
from tests.support.canaries import NAME

LISTINGS = (
    *(("sessions",), ("show", "demo"), ("show", "demo/1"), ("show", "demo/2"), ("compare", "demo/1", "demo/2")),
    *(("presets",), ("presets", "write-iops"), ("info",), ("nodes",), ("doctor",)),
)
RUN, DRY = ("run", "write-iops", "--set", "size=4M"), ("run", "write-iops", "--dry-run", "--set", "size=4M")
REFUSED = (
    *((NAME,), (f"--{NAME}",), ("presets", NAME), ("show", NAME), ("show", f"demo/{NAME}"), ("replay", f"{NAME}/1")),
    *(("run", NAME), (*RUN, "--node", NAME), (*RUN, "--target", NAME), (*RUN, "--set", f"{NAME}={NAME}")),
    *((*RUN, "--session", NAME), ("nodes", "--ceph-node", NAME), (*RUN, "--config", NAME)),
    ("doctor", "--node", NAME),
)
VERBS = (
    *LISTINGS,
    *((*listing, "--json") for listing in LISTINGS),
    *REFUSED,
    *(("cleanup", "--dry-run"), DRY, (*DRY, "--json"), RUN, (*RUN, "--json")),
    (*DRY, "--target", f"file:/tmp/{NAME}"),
)
COMPLETED = ("cephtui show ", "cephtui replay ", "cephtui presets ", "cephtui doctor --node ")
END = "=== "


def main() -> None:
    """Each verb, and then a line with its exit code."""
    for verb in VERBS:
        _run(["cephtui", *verb])
    for words in COMPLETED:
        asked = {"_CEPHTUI_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()))}
        os.environ.update(asked)
        _run(["cephtui"])
        for name in asked:
            del os.environ[name]


def _run(argv: list[str]) -> None:
    sys.argv[:] = argv
    try:
        cli.main()
    except SystemExit as end:
        print(f"{END}{end.code}", flush=True)


def spoken() -> Iterator[str]:
    """What each is, in the order in which they are run."""
    yield from map(repr, (*VERBS, *COMPLETED))


if __name__ == "__main__":
    main()
