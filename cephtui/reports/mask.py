"""Names of hosts, pools, images and paths replaced by stand-ins, on a screen that others see.

What is replaced: the names that the application knows, wherever they stand and in whatever capitals, and what has the
shape of a path, of an IP address, of a cluster's fsid, of a pool or user in a command of Ceph's, or of a target, known
or not. What is not: names of sessions and presets, what the user has written in marks and notes beside known names, and
names that look like a number (``100``, ``4k``). A name that is also a word of the program's own (a host called
``write``), or is shorter than three characters, is replaced where it is a word by itself, as it is written, and only
where it is known as a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import TypeAlias

from rich.cells import cell_len

from cephtui.models import ClusterEnvironment, Node, Run
from cephtui.targets import KINDS, every_kind
from cephtui.targets.base import NameKind
from cephtui.tools import TOOLS

Names: TypeAlias = Mapping[str, NameKind]
"""What each name is; the order gives the numbers of the stand-ins."""

_WORDS = """
admin all bandwidth block ceph client cluster data depth disk edit error health help host image images
iops jobs lat latency local mark max mean min mixed node nodes none osd osds p50 p95 p99 pool pools preset
presets queue quit ramp read ready replay run running runs runtime session sessions size slowest state
status stop target targets test throughput time total user view watch write
"""
_TOOLS = [name.replace("-", " ") for name in TOOLS]
WORDS = frozenset([*_WORDS.split(), *KINDS, *(word for tool in _TOOLS for word in tool.split())])
"""Words of the program's own."""
_KEPT = (*_TOOLS, *(f"{scheme}:" for scheme in KINDS), *(f"--ioengine={scheme}" for scheme in KINDS))
"""Where such a word is no name."""
_PATH = re.compile(r"(?<![\w/.~-])((?>~?/[\w.+@%=-]+(?:/[\w.+@%=-]+)*))(?!…)")
_PATH_CUT = re.compile(r"(?<![\w/.~-])~?/[\w.+@%=/-]+(?=…)")
_ADDRESS = re.compile(r"(?<![\w.])(?!127\.|0\.0\.0\.0)(?:\d{1,3}\.){3}\d{1,3}(?!\w|\.\d)")
_ADDRESS_6 = re.compile(
    r"(?<![\w:.])(?!::1\b)(?:(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}"
    r"|(?:[0-9A-Fa-f]{1,4}:){1,6}(?::[0-9A-Fa-f]{1,4}){1,6}|(?:[0-9A-Fa-f]{1,4}:){1,7}:)(?![\w:])"
)
_FSID = re.compile(r"(?<![\w-])[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}(?![\w-])")
_POOL = re.compile(r"(?:\bosd pool (?!application)\w+ |--(?:data-)?pool[= ]|\bpools? ')([\w.-]{2,})")
"""In a command, or in what Ceph's health says."""
_USER = re.compile(r"(?:--(?:id|user|clientname)[= ]|(?:--name[= ]|-n )client\.|\bclient\.)([A-Za-z][\w.-]{2,})")
"""Of Ceph, in a command or in what Ceph says."""
_HOST_OF_DAEMON = re.compile(r"\b(?:mon|mgr|mds)\.([A-Za-z][\w-]{2,})")
_HOST_OF_OPTION = re.compile(r"(?:/host:|^(?:mon|mgr|mds|client\.rgw)\.)([^\s./]{3,})")
"""In the section and the mask of an option of ``ceph config dump``."""
_USUAL = {"replicated_rule", "erasure-code", "default"}
"""Names of Ceph's own, which say nothing."""
_PLACEHOLDER = re.compile(r"[A-Z_.]+|<.*")
_NUMBER = re.compile(r"\d{1,4}[A-Za-z%]?")
_EDGE = " │┃║|▌▐▏▎▕"
"""Padding and borders beside a text."""
_EDGE_MOST = 3
"""A text that ends so near to the edge may have been cut off there."""
_BEGIN_LEAST, _END_LEAST = 2, 4
"""A shorter part of a name says nothing."""


def stand_in(kind: NameKind, number: int, name: str, room: int | None = None) -> str:
    """``node-1`` of a kind and a number, or what fits into ``room`` cells, filled up with blanks."""
    slash = "/" if name.startswith(("/", "~/")) else ""
    forms = [f"{slash}{kind}-{number}", f"{slash}{kind}{number}", f"{slash}{kind[0]}{number}", f"{kind[0]}{number}"]
    if room is None:
        return forms[0]
    return next((form for form in forms if len(form) <= room), "*" * room).ljust(room)


def _pattern(name: str) -> str:
    """Where a name is replaced: anywhere if no word is like it, else as a word by itself."""
    found = re.escape(name)
    if len(name) < 3 or name.lower() in WORDS:
        return rf"(?<![\w-]){found}(?![\w-])"
    if len(name) > 3 and not name.isalpha():
        return rf"(?i:{found})"
    return rf"(?<![^\W_])(?i:{found})(?![^\W_])"


class Mask:
    """Knows names, and learns those that it sees by their shape; a name keeps its stand-in."""

    def __init__(self, names: Names | None = None) -> None:
        self._known: dict[str, tuple[NameKind, int]] = {}
        """By the names as they were learned; those that differ in capitals only have the same stand-in."""
        self._folded: dict[str, tuple[NameKind, int]] = {}
        self._compiled = -1
        self._found = re.compile("")
        self._begins: dict[str, str] = {}
        """By each proper beginning, a name."""
        self._ends: dict[str, str] = {}
        self.learn(names or {})

    def __len__(self) -> int:
        return len(self._known)

    def learn(self, names: Names) -> None:
        """Take in more names."""
        for name, kind in names.items():
            if name.strip() and name not in self._known and not _NUMBER.fullmatch(name):
                new = kind, 1 + len({number for of, number in self._known.values() if of == kind})
                self._known[name] = self._folded.setdefault(name.casefold(), new)

    def text(self, text: str) -> str:
        """With stand-ins of any length."""
        self._look_at(text)
        return self._found.sub(lambda match: self._replaced(match[0], None), text)

    def line(self, text: str) -> str:
        """With stand-ins as wide as the names; names that are cut off at the edges are replaced too."""
        self._look_at(text)
        text = self._found.sub(lambda match: self._replaced(match[0], cell_len(match[0])), text)
        return self._without_ends(self._without_begins(text))

    def _replaced(self, found: str, room: int | None) -> str:
        known = self._known.get(found) or (None if found in _KEPT else self._folded.get(found.casefold()))
        return stand_in(*known, found, room) if known else found

    def _look_at(self, text: str) -> None:
        self.learn({name: kind for name, kind in shaped(text) if name not in WORDS})
        if self._compiled != len(self._known):
            self._compiled = len(self._known)
            self._compile()

    def _compile(self) -> None:
        patterns = {**{name: _pattern(name) for name in self._known}, **{kept: re.escape(kept) for kept in _KEPT}}
        self._found = re.compile("|".join(patterns[text] for text in sorted(patterns, key=len, reverse=True)))
        self._begins = {name[:end]: name for name in self._known for end in range(_BEGIN_LEAST, len(name))}
        self._ends = {name[start:]: name for name in self._known for start in range(1, len(name) - _END_LEAST + 1)}

    def _without_begins(self, text: str) -> str:
        """Without the beginnings of names before an ellipsis, and at the right edge."""
        text = _PATH_CUT.sub(lambda match: self._part(match[0]), text)
        inked = len(text.rstrip(_EDGE))
        ends = [inked] if len(text) - inked <= _EDGE_MOST else []
        for end in [*(match.start() for match in re.finditer("…", text)), *ends]:
            for start in range(max(0, end - 200), end - _BEGIN_LEAST + 1):
                part = text[start:end]
                if part in self._begins and part not in WORDS and not (start and text[start - 1].isalnum()):
                    text = text[:start] + self._part(part) + text[end:]
                    break
        return text

    def _without_ends(self, text: str) -> str:
        """Without the end of a name at the left edge, as it is where a long word is wrapped."""
        start = len(text) - len(text.lstrip(_EDGE))
        if start > _EDGE_MOST:
            return text
        for end in range(min(len(text), start + 200), start + _END_LEAST - 1, -1):
            part = text[start:end]
            if part in self._ends and not part.isalpha() and not text[end : end + 1].isalnum():
                return text[:start] + self._part(part, self._ends[part]) + text[end:]
        return text

    def _part(self, part: str, name: str = "") -> str:
        """The stand-in of a name of which a part is there, cut off as well."""
        kind, number = self._known.get(name or self._begins.get(part, ""), ("path", 0))
        room = cell_len(part)
        return stand_in(kind, number, part)[:room].ljust(room)


def masked(text: str, names: Names) -> str:
    """A text with stand-ins for these names, and for what is a path, an address or a target by its shape."""
    return Mask(names).text(text)


# ---------------------------------------------------------------------------------------------- where names are found


@cache
def _spec() -> re.Pattern[str]:
    """A target in a pool: the pool, and the image."""
    pooled = "|".join(kind.scheme for kind in every_kind() if kind.in_pool and not kind.holds_parts)
    return re.compile(rf"(?<![\w-])(?:{pooled}):([^\s/'\",;:()…]+)(?:/([^\s'\",;()…]+))?")


@cache
def _other_spec() -> re.Pattern[str]:
    """A target of another kind: its scheme, and all that is behind it."""
    return re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, KINDS))}):([^\s'\"()…]+)")


def _in_specs(text: str) -> Iterator[tuple[str, NameKind]]:
    """What targets say of themselves."""
    for match in _other_spec().finditer(text):
        scheme, rest = match.groups()
        named = KINDS[scheme]().names_in(rest.rstrip(".,;:"))
        yield from ((name, kind) for name, kind in named.items() if not _PLACEHOLDER.fullmatch(name))


def shaped(text: str) -> Iterator[tuple[str, NameKind]]:
    """What is a pool, an image, a path or an address by its shape."""
    for match in _spec().finditer(text):
        pool, image = match.groups()
        if not _PLACEHOLDER.fullmatch(pool):
            yield pool.rstrip("."), "pool"
            if image and image != "...":
                yield image.rstrip("."), "image"
    yield from _in_specs(text)
    for match in _USER.finditer(text):
        yield match[1].rstrip("."), "user"
    for match in _PATH.finditer(text):
        yield match[1].rstrip("."), "device" if match[1].startswith("/dev/") else "path"
    for pattern in (_ADDRESS, _ADDRESS_6):
        for match in pattern.finditer(text):
            yield match[0], "address"
    for match in _FSID.finditer(text):
        yield match[0], "fsid"
    for match in _POOL.finditer(text):
        yield match[1], "pool"


def names_of_nodes(nodes: Iterable[Node]) -> dict[str, NameKind]:
    """Names, addresses and files of nodes; the console's own machine has none of the first two."""
    found: dict[str, NameKind] = {}
    for node in nodes:
        hosts = [f"{node.user}@{node.host}"] if node.user and node.host else []
        found |= dict.fromkeys([*hosts, *_parts(node.name), *_parts(node.host or "")], "node")
        paths = [path for path in (node.ssh_config, node.ceph_conf, node.ceph_keyring) if path]
        found |= dict.fromkeys(paths, "path")
    return _without_local(found)


def names_of_hosts(names: Iterable[str]) -> dict[str, NameKind]:
    """Of hosts that are known by what was typed."""
    return _without_local({part: "node" for name in names for part in _parts(name)})


def names_of_run(run: Run) -> dict[str, NameKind]:
    """Its nodes, its target, and what the cluster named: hosts, and the pool and what that was made with."""
    jobs = (job for node in run.nodes for job in node.jobs)
    places = {name: kind for job in jobs for name, kind in shaped(f"{job.place or ''} rbd:x/{job.image or '...'}")}
    hosts = names_of_hosts([*(node.node for node in run.nodes), *run.environment])
    config = (run.cluster and run.cluster.config) or {}
    of_cluster = {**hosts, **_names_of_cluster(run.cluster), **_names_of_config(config), **_names_of_machines(run)}
    return {**of_cluster, **names_of_target(run.target), **{name: of for name, of in places.items() if name != "x"}}


def _names_of_cluster(cluster: ClusterEnvironment | None) -> dict[str, NameKind]:
    """The pool, its rule and its profile, and hosts of OSDs."""
    if cluster is None:
        return {}
    fields: dict[str, NameKind] = {"name": "pool", "crush_rule": "rule", "erasure_code_profile": "profile"}
    found = {
        str(cluster.pool[name]).partition(" (")[0]: kind for name, kind in fields.items() if cluster.pool.get(name)
    }
    usual = {name: kind for name, kind in found.items() if name not in _USUAL}
    return {**usual, **names_of_hosts(cluster.osds_by_host)}


def _names_of_machines(run: Run) -> dict[str, NameKind]:
    """What nodes call themselves, and hosts of monitors that Ceph's health names."""
    own = [found.hostname for found in run.environment.values() if found.hostname]
    checks = run.cluster.checks if run.cluster else ()
    texts = [*checks, *(finding.text for finding in run.findings)]
    return names_of_hosts([*own, *(host for text in texts for host in _HOST_OF_DAEMON.findall(text))])


def _names_of_config(config: Mapping[str, str]) -> dict[str, NameKind]:
    """Hosts that options are set for, or for daemons that have the names of hosts; pools that options name."""
    pools = (value for name, value in config.items() if name.endswith((" rbd_default_pool", " rbd_default_data_pool")))
    hosts = names_of_hosts(host for name in config for host in _HOST_OF_OPTION.findall(name))
    return {**dict.fromkeys(pools, "pool"), **hosts}


def names_of_target(spec: str) -> dict[str, NameKind]:
    """Pool and image of ``rbd:pool/image``, and the like."""
    return dict(shaped(spec))


def _without_local(names: dict[str, NameKind]) -> dict[str, NameKind]:
    return {name: kind for name, kind in names.items() if name and name != "local"}


def _parts(name: str) -> Iterator[str]:
    """A host as it was typed, without user and port, and the first part of a domain name."""
    yield name
    host = name.rpartition("@")[2]
    host = host.partition(":")[0] if host.count(":") == 1 else host
    yield host
    first = host.partition(".")[0]
    if not first.isdigit():
        yield first
