"""What a workload asks of its target, and how much data it needs there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from cephtui.frozen import dataclass

if TYPE_CHECKING:
    from cephtui.models.base import OptionValue


@dataclass(frozen=True, slots=True)
class Sizing:
    """How to size a prefill for reads that end with the data: by the read rate of a little that is prefilled first."""

    first_bytes: int
    most_bytes: int
    """The most that is prefilled, even if a run could read more."""
    unit_bytes: int
    """The size of a prefill is a multiple of it."""
    probe_argv: tuple[str, ...]
    prefill_again_argv: Callable[[int], tuple[str, ...]]
    """The command that prefills so many bytes, the first ones included."""
    run_seconds: float


@dataclass(frozen=True, slots=True)
class Rate:
    """How much the user lets each node do a second at most; None is no limit."""

    iops: float | None = None
    bandwidth_bytes: float | None = None
    together: bool = False
    """Whether it holds for reads and writes together, not for each of them."""
    options: tuple[str, ...] = ()
    """The options that set it."""
    is_needed: bool = False
    """Whether the tool runs at no other than a given rate, so that a preset has to have one."""

    def named(self, options: Mapping[str, OptionValue]) -> str:
        """``rate_iops=50``: what sets it, of these options."""
        return " ".join(f"{name}={options[name]}" for name in self.options)


@dataclass(frozen=True, slots=True)
class SmallerData:
    """The options with which storage may make what is written smaller; empty for none."""

    compressible: str = ""
    """Those that make data easy to compress: ``buffer_compress_percentage=90``."""
    alike: str = ""
    """Those that write the same data more than once."""

    @property
    def options(self) -> str:
        """All of them."""
        return f"{self.compressible} {self.alike}".strip()


@dataclass(frozen=True, slots=True)
class Load:
    """The load of a workload on its target, in terms that all tools have."""

    block_bytes: int
    """Bytes of one I/O; 0 where they differ."""
    pattern: str
    """``randwrite``, ``write``."""
    depth: int
    """I/Os that each job has in flight at once; 0 where that is not known."""
    jobs: int
    seconds: float | None
    """None where it ends with its data."""
    rate: Rate = Rate()
    commits: bool = False
    """Whether each write is flushed before the next, as a database commits."""
    flushes: bool = False
    """Whether there are flushes among the writes, each of them or one after several."""
    pauses: bool = False
    """Whether a job waits between two I/Os, because the user wants it."""
    distribution: str = ""
    """How likely random offsets are, in fio's words: ``zipf:1.2``; empty where all are as likely."""
    smaller: SmallerData = SmallerData()
    """What of the data that it writes compresses, or is written more than once."""
    other_threads: str = ""
    """``librbd's threads``: what does most of the work beside the job's own thread, where that is not alone with it.
    The CPU of a job is that of its own thread."""
    is_cached: bool = False
    """Whether a cache on the node may answer I/Os or join them: what reaches the target is not known then."""
