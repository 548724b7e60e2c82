"""How many images of a pool are open."""

from __future__ import annotations

from cephtui.ceph import commands
from cephtui.frozen import dataclass
from cephtui.paths import packaged_text

_SCRIPT = packaged_text("cephtui.ceph", "in_use.sh")
_WATCHERS_ARGV = ("ceph", "tell", "osd.*", "dump_watchers")


@dataclass(frozen=True, slots=True)
class ImagesInUse:
    """How many images of a pool have a watcher."""

    count: int
    inspected: int
    """How many images were inspected: not all where the cephx caps deny asking the OSDs and there are many."""
    images: int

    @property
    def complete(self) -> bool:
        """Whether all images were inspected."""
        return self.inspected >= self.images

    @property
    def text(self) -> str:
        """``12 of 40 images in use``."""
        if self.complete:
            return f"{self.count} of {self.images} images in use"
        return f"at least {self.count} images in use ({self.inspected} of {self.images} inspected)"


def in_use_argv(pool: str, most: int = 200, seconds: int = 10) -> tuple[str, ...]:
    """The command that reports ImagesInUse; ``most`` and ``seconds`` bound it where the caps deny asking the OSDs."""
    requests = commands.requests([_WATCHERS_ARGV])
    return ("bash", "-c", _SCRIPT, "cephtui-images", pool, str(most), str(seconds), commands.SCRIPT, requests)


def parse_in_use(text: str) -> ImagesInUse:
    """The answer to ``in_use_argv``."""
    fields = dict(line.split("\t", 1) for line in text.splitlines() if "\t" in line)
    try:
        return ImagesInUse(count=int(fields["used"]), inspected=int(fields["looked"]), images=int(fields["images"]))
    except (KeyError, ValueError):
        raise ValueError(f"unexpected answer: {text.strip()[:200]!r}") from None
