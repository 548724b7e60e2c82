"""Which session a name stands for: one of the user's, else the demo; and which of them may be written."""

from __future__ import annotations

from pathlib import Path

from cephtui import paths
from cephtui.sessions import demo
from cephtui.sessions.store import NO_ROOM, StoreError, by_last, check_name, last_at, session_names

NEWEST = ("last", "-")
"""Words for the session of the user that was measured last."""
NO_SESSIONS = "no sessions yet: cephtui run write-iops makes one, cephtui show demo shows a recorded one"
_NAMED_MOST = 8
"""How many sessions an error names."""


def find_session(root: Path, name: str) -> Path:
    """The directory of a session, for ``ensure_unpacked``; raises StoreError.

    The name may be cut off where no other begins like that; ``last`` and ``-`` are the one that was measured last. The
    demo is meant by its whole name, unless a session of the user's has it.
    """
    names = session_names(root)
    if name in names:
        return root / name
    if name == demo.SESSION:
        return demo.directory()
    if name in NEWEST and names:
        return max((root / session for session in names), key=lambda path: by_last(last_at(path), path.name))
    fitting = [session for session in names if name and session.startswith(name)]
    if len(fitting) > 1:
        more = f" and {len(fitting) - _NAMED_MOST} more" if len(fitting) > _NAMED_MOST else ""
        raise StoreError(f"session {name!r} may be {', '.join(fitting[:_NAMED_MOST])}{more}: type more of its name")
    if not fitting:
        raise StoreError(f"no session {name!r}: cephtui sessions lists them") if names else _no_sessions(root)
    return root / fitting[0]


def _no_sessions(root: Path) -> StoreError:
    try:
        next(root.iterdir(), None)
    except FileNotFoundError:
        pass
    except OSError as error:
        return StoreError(f"can't read the sessions in {root}: {error.strerror}")
    return StoreError(NO_SESSIONS)


def ensure_unpacked(directory: Path) -> Path:
    """The directory with its files: those of the demo are unpacked first. Raises StoreError."""
    if not demo.is_packaged(directory):
        return directory
    try:
        return demo.unpacked()
    except OSError as error:
        why = f"can't unpack the demo in {paths.cache_dir()}: {error.strerror or error}"
        room = "free up space, or " if error.errno in NO_ROOM else ""
        raise StoreError(f"{why}: {room}set XDG_CACHE_HOME to another directory") from None


def check_writable(directory: Path) -> None:
    """Raises StoreError for the session that is never written to: whatever writes to a session calls this."""
    if demo.is_packaged(directory):
        raise StoreError(f"session {directory.name} comes with cephtui and is read-only: use a session of your own")


def check_session_name(root: Path, name: str | None) -> None:
    """Raises StoreError for a name that no session can have, and for the demo's unless a session has it."""
    check_name(name)
    if name == demo.SESSION and name not in session_names(root):
        raise StoreError(f"session {name} comes with cephtui and is read-only: choose another name")
