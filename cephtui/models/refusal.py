"""Why a run may not start, and what the user can do about it."""

from __future__ import annotations

from typing import Literal, TypeAlias

from cephtui.frozen import dataclass

ConfirmKind: TypeAlias = Literal["destroy", "shared-pool", "drop-caches", "quiet-cluster"]
"""What the user agrees to: giving up data (``--destroy NAME``), or disturbing others (the flags of these names)."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a run may not start; ``confirm`` is what the user types to run in spite of it, None if nothing helps."""

    problem: str
    remedy: str = ""
    confirm: str | None = None
    confirm_kind: ConfirmKind = "destroy"
    passes: bool = False
    """Whether the cause usually passes by itself within moments."""

    @property
    def text(self) -> str:
        """Problem and remedy in one line."""
        return f"{self.problem}: {self.remedy}" if self.remedy else self.problem
