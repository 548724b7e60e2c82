"""The undo list of a session: what it has created outside its own directory, and what of that is not yet removed."""

from __future__ import annotations

import os
from pathlib import Path

from cephtui.models import Model, Name, Node
from cephtui.reading import DOCUMENT_MOST_BYTES, open_descriptor, open_regular
from cephtui.sessions.store import UNDO_FILE, StoreError, is_locked, readable_lines


class Undo(Model):
    """Something that was created outside the session's directory."""

    node: Name
    target: str
    at: Node | None = None
    """How the node is reached; null for the console's own machine."""
    owner: Name | None = None
    """The owner in the part's mark; null for parts that were created before marks had owners."""
    cluster: Name | None = None
    """The fsid of the Ceph cluster that the part is in; null where there is none, or it could not be asked."""
    pool_id: int | None = None
    """The id of the part's pool: a pool that is deleted and made again has another."""
    mount: Name | None = None
    """The mount point of the file system that a file is on; null where it is no file, or that is not known."""
    done: bool = False


def left_behind(root: Path) -> list[tuple[Path, Undo]]:
    """The leftovers of sessions that no process writes any more: created and not removed."""
    remaining = []
    for path in sorted(root.glob(f"*/{UNDO_FILE}")):
        if not is_locked(path.parent):
            remaining += [(path.parent, undo) for undo in pending(path.parent)]
    return remaining


def unreadable_lists(root: Path) -> list[str]:
    """Why undo lists can't be read: what they name may still exist."""
    problems = []
    for path in (directory / UNDO_FILE for directory in sorted(root.glob("*"))):
        if not os.path.lexists(path):
            continue
        try:
            os.close(open_descriptor(path, DOCUMENT_MOST_BYTES))
        except OSError as error:
            problems.append(f"{path}: {error.strerror}")
    return problems


def pending(directory: Path) -> list[Undo]:
    """The parts that a session has created and not removed, whether a process writes it or not."""
    newest = {(undo.node, undo.target): undo for undo in readable_lines(directory / UNDO_FILE, Undo)}
    return [undo for undo in newest.values() if not undo.done]


def check_undone(directory: Path) -> None:
    """Raises StoreError where something that a session has created still exists, or may exist."""
    path = directory / UNDO_FILE
    try:
        open_regular(path).close()
    except FileNotFoundError:
        return
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror}: it lists leftovers to be removed: repair the file first") from None
    undos = pending(directory)
    if undos:
        what = f"{undos[0].target} on {undos[0].node}" + (f" and {len(undos) - 1} more" if len(undos) > 1 else "")
        raise StoreError(f"session {directory.name} left {what} behind: remove them first with cephtui cleanup")
