"""How many images of a pool somebody has open."""

from __future__ import annotations

from dataclasses import dataclass

# One question to each OSD sees every watcher, of all pools, in a single process. It takes a key that may tell OSDs;
# without one every image is a process of its own, so that their number and the time are bounded.
_IN_USE = r"""
pool=$1 most=$2 seconds=$3
say() { printf '%s\t%s\n' "$1" "$2"; }
listed=$(timeout "$seconds" rados -p "$pool" listomapkeys rbd_directory 2>&1) || {
    case $listed in *'No such file or directory'*rbd_directory*|*rbd_directory*'No such file or directory'*)
        say images 0; say looked 0; say used 0; exit 0;; esac
    printf '%s\n' "$listed" >&2; exit 1
}
ids=$(printf '%s\n' "$listed" | sed -n 's/^id_//p')
count=$(printf '%s' "$ids" | grep -c .)
say images "$count"
watched=$(timeout "$seconds" ceph tell 'osd.*' dump_watchers -f json 2>/dev/null)
case $? in 0|6) # 6: an OSD is down, and its watchers are with others
    say looked "$count"
    say used "$(printf '%s' "$watched" | grep -o 'rbd_header\.[0-9a-f]*' | sort -u | sed 's/^rbd_header\.//' |
        grep -cxF -f <(printf '%s\n' "$ids"))"
    exit 0
esac
end=$(( $(date +%s) + seconds ))
printf '%s\n' "$ids" | head -n "$most" | xargs -P 4 -I '{}' bash -c '
    [ "$(date +%s)" -lt "$2" ] || exit 0
    found=$(timeout 5 rados -p "$1" listwatchers "rbd_header.$3" 2>/dev/null) || exit 0
    case $found in *watcher=*) echo used;; *) echo free;; esac
' cephtui-watchers "$pool" "$end" '{}' | sort | uniq -c | {
    used=0 free=0
    while read -r number word; do
        case $word in used) used=$number;; free) free=$number;; esac
    done
    say looked "$(( used + free ))"; say used "$used"
}
exit 0
"""


@dataclass(frozen=True, slots=True)
class ImagesInUse:
    """How many images of a pool have a watcher."""

    count: int
    looked: int
    """How many were looked at: time and number are bounded for keys that may not ask the OSDs."""
    images: int

    @property
    def complete(self) -> bool:
        """Whether all were looked at."""
        return self.looked >= self.images

    @property
    def text(self) -> str:
        """``12 of 40 images in use``."""
        if self.complete:
            return f"{self.count} of {self.images} images in use"
        return f"at least {self.count} images in use ({self.looked} of {self.images} looked at)"


def in_use_argv(pool: str, most: int = 200, seconds: int = 10) -> tuple[str, ...]:
    """Reports ImagesInUse, looking at ``most`` images for about ``seconds`` where the key may not ask the OSDs."""
    return ("bash", "-c", _IN_USE, "cephtui-images", pool, str(most), str(seconds))


def parse_in_use(text: str) -> ImagesInUse:
    """The answer to ``in_use_argv``."""
    said = dict(line.split("\t", 1) for line in text.splitlines() if "\t" in line)
    try:
        return ImagesInUse(count=int(said["used"]), looked=int(said["looked"]), images=int(said["images"]))
    except (KeyError, ValueError):
        raise ValueError(f"unexpected answer: {text.strip()[:200]!r}") from None
