"""``cephtui sessions``: the saved sessions."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cephtui import paths
from cephtui.cli.emit import Output, emit
from cephtui.cli.kept_pages import emit_kept
from cephtui.sessions.store import is_locked

if TYPE_CHECKING:
    from cephtui.reports.blocks import View


def print_sessions(output: Output) -> None:
    """The saved sessions; the demo too, but for a script."""
    root = paths.sessions_dir()
    names = _names_in(str(root))
    if any(is_locked(root / name) for name in names):
        emit(_view(root), output)
    else:
        emit_kept("sessions", output, _files(str(root), names), partial(_view, root))


def _files(root: str, sessions: Sequence[str]) -> Iterator[str]:
    """What the listing is made of: the files of each session, and the first of each run."""
    yield root
    for session in (f"{root}/{name}" for name in sessions):
        yield from (
            f"{session}/{name}/run.json" if name.isdecimal() else f"{session}/{name}" for name in _names_in(session)
        )


def _names_in(folder: str) -> list[str]:
    """What is in a directory, sorted; nothing in one that can't be read, or is none."""
    with contextlib.suppress(OSError):
        return sorted(os.listdir(folder))  # noqa: PTH208 - a thousand sessions are listed at once
    return []


def _view(root: Path) -> View:
    from cephtui.reports.views.sessions import sessions_view
    from cephtui.sessions.listing import list_sessions, list_with_demo

    return sessions_view(partial(list_with_demo, root), partial(list_sessions, root))
