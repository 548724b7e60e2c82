"""How all runs of a study are measured. It needs no pydantic: the console begins with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cephtui.frozen import dataclass

if TYPE_CHECKING:
    from cephtui.models.base import Quiet


@dataclass(frozen=True, slots=True)
class Manner:
    """How all runs of a study are measured."""

    drop_caches: bool = False
    """Whether caches are dropped before each run."""
    quiet: Quiet = ""
    """What of the cluster's own work is held back until the end of the study."""

    @property
    def texts(self) -> list[str]:
        """What is not as usual, in words."""
        return [*["caches dropped"] * self.drop_caches, *["quiet cluster"] * bool(self.quiet)]


AS_USUAL = Manner()
