"""What is tested: where the data is, whether it may be written, how it is created and removed.

Everything is done by small shell scripts on the node that runs the benchmark, so that a remote node needs
nothing but a shell. The guards are pure functions on what those scripts report.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from cephtui import units
from cephtui.models import Finding, OptionValue
from cephtui.tools import TargetOptions

MARK_BYTES = 4096
MARK = "cephtui scratch file"
"""The block after the span of a file of cephtui's begins with this: no benchmark reaches it, every file system
keeps it, and it goes where the file goes."""
DEFAULT_SPAN_BYTES = 1 << 30
REMOVE_BUSY, REMOVE_NOT_OURS = 75, 76
"""Exit statuses of ``remove_argv``."""
_RESERVE_PERCENT, _RESERVE_MOST_BYTES = 5, 10 << 30
_NO_TEXT = re.compile(r"[\x00-\x1f\ud800-\udfff]")
"""Control characters, and what stands for bytes that are no UTF-8: neither can be printed or stored."""
_CUT_BY_FIO = re.compile(r"[#;\x7f]| $")
"""Where fio ends an option's value without a word, and would then write to the file of the shorter name."""
_IN_MEMORY = {"tmpfs", "ramfs"}
_OWN_CACHE = {"zfs"}

_MARKED = r"""
marked() {
    [ -f "$1" ] && [ "$(tail -c 4096 -- "$1" 2>/dev/null | head -c 20 | tr -d '\0')" = "cephtui scratch file" ]
}
"""

_INSPECT = r"""
path=$1
directory=$(dirname -- "$path")
say() { printf '%s\t%s\n' "$1" "$2"; }
if [ -f "$path" ]; then
    say kind file
    say size "$(stat -Lc %s -- "$path")"
    say allocated "$(( $(stat -Lc %b -- "$path") * $(stat -Lc %B -- "$path") ))"
    say inode "$(stat -Lc %d:%i -- "$path")"
    [ -w "$path" ] && [ -r "$path" ] && say writable yes
    marked "$path" && say marked yes
    # by descriptor: by name, flock would make the file again if it has just been removed
    flock -s -w 1 -E 75 9 9< "$path" 2>/dev/null; [ $? -eq 75 ] && say busy yes
elif [ -e "$path" ] || [ -L "$path" ]; then
    say kind "$(stat -c %F -- "$path")"
else
    say kind missing
    [ -w "$directory" ] && [ -x "$directory" ] && say writable yes
fi
[ -d "$directory" ] && say directory yes
df -B1 --output=avail,size,fstype,source -- "$directory" 2>/dev/null | tail -n 1 | {
    read -r free total fstype source
    say free "$free"; say total "$total"; say filesystem "$fstype"; say device "$source"
}
exit 0
"""

# noclobber creates with O_EXCL: a file that has come into being since the inspection is not taken
_CREATE = r"""
path=$1 span=$2 new=
if [ ! -e "$path" ]; then
    ( set -o noclobber; : > "$path" ) || exit 1
    new=yes
elif ! marked "$path"; then
    echo "$path exists and is not cephtui's" >&2
    exit 1
fi
printf 'cephtui scratch file: cephtui may overwrite and remove it\n' |
    dd of="$path" bs=4096 seek="$span" oflag=seek_bytes conv=notrunc,sync status=none &&
    truncate -s "$(( span + 4096 ))" -- "$path" && stat -Lc %d:%i -- "$path" && exit 0
[ -n "$new" ] && rm -f -- "$path" # without its mark nothing would know whose it is
exit 1
"""

_REMOVE = r"""
path=$1
[ -e "$path" ] || exit 0
[ ! -L "$path" ] && marked "$path" ||
    { echo "$path does not carry cephtui's mark any more" >&2; exit 76; }
flock -w 1 -E 75 "$path" rm -f -- "$path" # waits for those who only look whether it is held
rc=$?
[ $rc -eq 75 ] && echo "$path is in use by another run" >&2
exit $rc
"""


def _script(text: str, *arguments: str) -> tuple[str, ...]:
    return ("bash", "-c", _MARKED + text, *arguments)


class TargetError(ValueError):
    """A target's text can't be understood."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a run may not start; ``confirm`` is what the user types to give up the data that is in the way."""

    problem: str
    remedy: str = ""
    confirm: str | None = None

    @property
    def text(self) -> str:
        """Both, in one line."""
        return f"{self.problem}: {self.remedy}" if self.remedy else self.problem


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What a node says of a path."""

    kind: str
    """``missing``, ``file``, or what else is there in the words of stat."""
    size: int = 0
    allocated: int = 0
    inode: str | None = None
    writable: bool = False
    marked: bool = False
    busy: bool = False
    directory: bool = False
    free: int | None = None
    total: int | None = None
    filesystem: str | None = None
    device: str | None = None


@dataclass(frozen=True, slots=True)
class FileTarget:
    """``file:PATH``: a file that cephtui makes, fills, uses and removes."""

    path: str

    @property
    def spec(self) -> str:
        """The target as the user writes it."""
        return f"file:{self.path}"

    @property
    def options(self) -> TargetOptions:
        """fio's options for it; a colon would separate two file names."""
        return {"filename": self.path.replace(":", r"\:")}

    @property
    def names(self) -> tuple[str, str]:
        """What the user may type to give up an existing file."""
        return self.path, PurePosixPath(self.path).name

    def inspect_argv(self) -> tuple[str, ...]:
        """A command that reports FileFacts."""
        return _script(_INSPECT, "cephtui-inspect", self.path)

    def create_argv(self, span_bytes: int) -> tuple[str, ...]:
        """A command that makes the file, or fits one of cephtui's own, and prints its device and inode."""
        return _script(_CREATE, "cephtui-create", self.path, str(span_bytes))

    def remove_argv(self) -> tuple[str, ...]:
        """A command that removes the file if it carries cephtui's mark and nothing uses it."""
        return _script(_REMOVE, "cephtui-remove", self.path)


def parse_target(text: str) -> FileTarget:
    """The target that ``file:PATH`` names; raises TargetError."""
    scheme, _, rest = text.partition(":")
    if scheme != "file" or not rest:
        raise TargetError(f"unknown target {text!r}: expected file:PATH")
    try:
        path = Path(rest).expanduser().absolute()
    except RuntimeError:
        raise TargetError(f"target {text!r}: there is no such user") from None
    except OSError:
        raise TargetError(f"target {text!r}: the working directory is gone, use an absolute path") from None
    if _NO_TEXT.search(str(path)) or path.name in ("", ".", ".."):
        raise TargetError(f"target {text!r}: expected the path of a file, in UTF-8")
    if _CUT_BY_FIO.search(str(path)):
        raise TargetError(f"target {text!r}: fio can't use a path with # or ; in it or a blank at its end")
    return FileTarget(str(path))


def parse_facts(text: str) -> FileFacts:
    """What ``inspect_argv`` printed; raises ValueError for anything else."""
    said = dict(line.split("\t", 1) for line in text.splitlines() if "\t" in line)
    if "kind" not in said:
        raise ValueError(f"unexpected answer: {text[:200]!r}")

    def number(key: str) -> int | None:
        return int(said[key]) if said.get(key, "").isdigit() else None

    return FileFacts(
        kind="file" if said["kind"].startswith("file") else said["kind"],
        size=number("size") or 0,
        allocated=number("allocated") or 0,
        inode=said.get("inode"),
        writable="writable" in said,
        marked="marked" in said,
        busy="busy" in said,
        directory="directory" in said,
        free=number("free"),
        total=number("total"),
        filesystem=said.get("filesystem"),
        device=said.get("device"),
    )


def guard(target: FileTarget, facts: FileFacts, span_bytes: int, destroy: tuple[str, ...]) -> Refusal | None:
    """Why ``span_bytes`` may not be written to the target, or None; the only place that decides it."""
    path = target.path
    if not facts.directory:
        return Refusal(f"{path}: there is no directory {PurePosixPath(path).parent}", "create it or choose another")
    if facts.kind not in ("missing", "file"):
        return Refusal(f"{path} is a {facts.kind}", "choose the path of a new file")
    if facts.busy:
        return Refusal(f"{path} is in use by another run", "wait for its end or choose another file")
    if facts.kind == "file" and not facts.marked and not set(target.names) & set(destroy):
        return Refusal(
            f"{path} exists and is not cephtui's ({units.size(facts.size)})",
            f"choose a new file, or give up its contents with --destroy {target.names[1]}",
            confirm=target.names[1],
        )
    if not facts.writable:
        return Refusal(f"{path} can't be written", "check its permissions and that the file system is writable")
    return _guard_space(path, facts, span_bytes)


def _guard_space(path: str, facts: FileFacts, span_bytes: int) -> Refusal | None:
    if facts.free is None or facts.total is None:
        return None
    reserve = min(facts.total * _RESERVE_PERCENT // 100, _RESERVE_MOST_BYTES)
    usable = max(0, facts.free - reserve)
    needed = max(0, span_bytes + MARK_BYTES - facts.allocated)
    if needed <= usable:
        return None
    return Refusal(
        f"not enough free space for {path}: needs {units.size(needed)} (size x numjobs), "
        f"{units.size(facts.free)} free of which {units.size(reserve)} stay in reserve",
        "use a smaller --set size=... or another target",
    )


def findings(facts: FileFacts, options: Mapping[str, OptionValue]) -> tuple[Finding, ...]:
    """What the place of the data does to the figures."""
    name = facts.filesystem
    if name in _IN_MEMORY:
        return (Finding(code="memory", text=f"the target is on {name}: this is memory, not a disk"),)
    if name in _OWN_CACHE:
        text = f"the target is on {name}, which may cache in spite of direct=1: this may be memory"
        return (Finding(code="memory", text=text),)
    if not options.get("direct", True):
        text = "direct=0: the page cache takes part, this may be memory"
        return (Finding(code="page-cache", text=text),)
    return ()
