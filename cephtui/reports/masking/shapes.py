"""What is a name by its shape, or by the words around it: in free text, in commands, in what programs say of errors."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache, lru_cache

from cephtui.models import NameKind
from cephtui.targets import KINDS, every_kind
from cephtui.targets.base import OWN_PREFIX

USUAL = frozenset(("replicated_rule", "erasure-code", "default", "admin"))
"""Names of Ceph's own, which say nothing."""
_PLACEHOLDERS = frozenset(("ADDRESS", "BUCKET", "ENDPOINT", "IMAGE", "NAME", "NODE", "PATH", "POOL", "PROFILE", "..."))
"""In the place of a name, where the program says how a target is written."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PUBLIC = _words("""
amazon.com ceph.com ceph.io debian.org docker.io github.com githubusercontent.com kernel.org openssh.com proxmox.com
pypi.org python.org quay.io readthedocs.io redhat.com ubuntu.com
""")
"""Domains where documents and programs are."""
_TOP = _words("""
com org net edu gov mil int info biz cloud dev io arpa
local localdomain lan home internal intranet corp private domain example test invalid
at au be br ca ch cn cz de dk es eu fi fr gr hu ie il it jp kr lu mx nl no nz pt ro ru se sk tr tw ua uk us za
""")
"""Ends of names of hosts, none of which is the end of a file's name."""
_FILES = _words("""
bak bin cfg cfs cnf conf csv gz html ini ipynb jpg js json jsonl keyring ko list lock log lua md new old out pdf pem pid
png pub py rules service sh so socket sock stderr stdout svg swp tar target timer tmp toml txt xlsx xml xz yaml yml zip
zst
""")
"""Ends of names that are of no host, however many dots they have."""
_MODULES = sys.stdlib_module_names | _words("""
aiohttp asyncssh ceph cephtui client click mds mgr mon net osd pydantic rados rbd rgw textual vm yaml
""")
"""Beginnings of names of modules, daemons and settings."""
_NO_HOSTS = _words("""
a again an and any at by client closed curl error for from getaddrinfo host in is it key localhost name no not on peer
port remote resolver server socket ssh tcp that the this timeout to udp unknown use was with
""")
"""Words that stand where a host may."""

_HOST = r"(?>[A-Za-z0-9](?:[\w.-]*\w)?)(?!@|['’]\w|:[0-9A-Fa-f]*:)"
_BEFORE_HOST = (
    *("resolve host(?:name)?:? ", "resolving (?:host )?", r"lookup (?=\S+(?: on|:) )", "no such host: "),
    *("connect(?:ing|ion)? to (?:host|server) (?:at )?", r"connection to (?=\S+ closed)", r"dial tcp (?=\S+:\d)"),
    *(r"(?:by|from|reach|to|server|with) (?=\S+?,? port \d)", r"server (?=\S+ not responding)", "unknown host:? "),
    *(r"jump host (?=\S+:)", "proxyjump[ =]", "authenticity of (?:host )?", "permanently added ", "name not found: "),
    *("host key (?:is known )?for ", r"https?://(?:[^\s/@]*@)?", "mon[-_]host[ =]", "--(?:client|hostname)[ =]"),
)
_AFTER_HOST = (
    *("name or service not known", "temporary failure in name", "no address associated", "nodename nor servname"),
    *("name does not resolve", "no such host", "unknown host", r"permission denied \("),
)
_IN_WORDS = re.compile(
    rf"""(?i)(?<![\w-])(?:{"|".join(_BEFORE_HOST)})['"`\[]?(?:[\w.-]+@)?({_HOST})"""
    rf"|(?<![\w./@:-])({_HOST})(?=: (?:{'|'.join(_AFTER_HOST)}))"
)
"""Of a host, between words of SSH, iperf3, curl, resolvers and the console."""
_CIRCLE = re.compile(r"form a loop: (\S+(?: -> \S+)*)")
"""Of jump hosts."""
_USER_AT = re.compile(rf"(?:(?<![\w.@/-])|(?<=//))[A-Za-z_][\w.-]*@((?=[\w.-]*[A-Za-z]){_HOST})")
_QUALIFIED = re.compile(r"(?<![\w-])(?<!\w\.)(?:[A-Za-z0-9](?>[A-Za-z0-9-]*)\.)+[A-Za-z]{2,24}(?![\w(=-]|\.\w)")
_PATH = re.compile(r"(?<![\w/.~-])((?>~?/[\w.+@%=-]+(?:/[\w.+@%=-]+)*))(?!…)")
_ADDRESS = re.compile(r"(?<![\w.])(?!127\.|0\.0\.0\.0)(?:\d{1,3}\.){3}\d{1,3}(?!\w|\.\d)")
_ADDRESS_6 = re.compile(
    r"(?<![\w:.])(?!::1\b)(?:(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}"
    r"|(?:[0-9A-Fa-f]{1,4}:){1,6}(?::[0-9A-Fa-f]{1,4}){1,6}|(?:[0-9A-Fa-f]{1,4}:){1,7}:)(?![\w:])"
)
_FSID = re.compile(r"(?<![\w-])[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}(?![\w-])")
_LATER = r"\]?[ =]"
"""Between the name of a setting and its value, in a command or as ``setting`` writes it."""
_POOL = re.compile(
    rf"(?:\bosd pool (?!application)\w+ |--(?:data-)?pool[= ]|\b(?:rados|rbd)\b[^;|&\n]*? -p |\bpools? '"
    rf"|\brbd_default_(?:data_)?pool{_LATER}|^pool\[name\] )([\w.-]{{2,}})"
)
"""In a command, in what Ceph's health says, or in a setting."""
OWN_IMAGE = re.compile(rf"{OWN_PREFIX}[0-9a-f]{{8}}-[A-Za-z0-9.-]+-\d+(?![\w.-])")
"""Made for a node, whose name is all that it says; that of another node differs in it alone."""
_IMAGE = re.compile(rf"--(?:rbdname|image)[= ](?!{OWN_IMAGE.pattern})([\w.-]{{2,}})")
_BUCKET = re.compile(r"(?:--bucket[= ]| -bp )([\w.-]{3,})")
_RULE = re.compile(rf"\bcrush_rule{_LATER}([\w.-]+)")
_PROFILE = re.compile(rf"\berasure_code_profile{_LATER}([\w.-]+)")
_USER = re.compile(
    r"(?:--(?:id|user|clientname)[= ]|(?:--name[= ]|-n )client\.|\bclient\.(?!rgw\b|crash\b|bootstrap))"
    r"([A-Za-z][\w.-]{2,})"
)
"""Of Ceph, in a command or in what Ceph says."""
_PART = r"([A-Za-z][A-Za-z0-9-]{2,})(?!\w)"
_DAEMON = re.compile(rf"\b(?:(?:mon|mgr)\.{_PART}|(?:mds|client\.rgw)\.{_PART}(?:\.{_PART})?)")
"""Those of a file system or a gateway have its name before that of the host."""
_SHAPES: tuple[tuple[re.Pattern[str], NameKind], ...] = (
    (_USER, "user"),
    (_ADDRESS, "address"),
    (_ADDRESS_6, "address"),
    (_FSID, "fsid"),
    (_POOL, "pool"),
    (_IMAGE, "image"),
    (_BUCKET, "bucket"),
    (_RULE, "rule"),
    (_PROFILE, "profile"),
)


@lru_cache(10_000)
def shaped(text: str) -> tuple[tuple[str, NameKind], ...]:
    """The names in a text, by their shape or the words around them. Kept, since most texts are asked for often."""
    return tuple(_shaped(text))


def _shaped(text: str) -> Iterator[tuple[str, NameKind]]:
    yield from _in_specs(text)
    for match in _PATH.finditer(text):
        yield match[1].rstrip("."), "device" if match[1].startswith("/dev/") else "path"
    for pattern, kind in _SHAPES:
        names = (match[match.lastindex or 0].rstrip(".") for match in pattern.finditer(text))
        yield from ((name, kind) for name in names if name not in USUAL)
    yield from ((name, "node") for name in _hosts(text))


def setting(title: str, name: str, value: str) -> str:
    """A setting as a text in which names have a shape: ``pool[crush_rule] fast``."""
    return f"{title}[{name}] {value}"


def _hosts(text: str) -> Iterator[str]:
    """Hosts, each with the other names that it has."""
    for match in _USER_AT.finditer(text):
        if match[1] not in _PLACEHOLDERS:
            yield match[0]
            yield from host_names(match[1])
    yield from (name for match in _DAEMON.finditer(text) for name in match.groups() if name and name not in USUAL)
    circles = (name for match in _CIRCLE.finditer(text) for name in match[1].split(" -> "))
    in_words = (match[1] or match[2] for match in _IN_WORDS.finditer(text))
    for name in (*circles, *in_words):
        if re.search("[A-Za-z]", name) and name.lower() not in _NO_HOSTS and not _is_public(name):
            yield from host_names(name)
    for match in _QUALIFIED.finditer(text):
        if _is_qualified(match[0]):
            yield from host_names(match[0])


def host_names(name: str) -> Iterator[str]:
    """A host as it was typed, without user and port, and the first part of a domain name."""
    yield name
    host = name.rpartition("@")[2]
    host = host.partition(":")[0] if host.count(":") == 1 else host
    yield host
    first = host.partition(".")[0]
    if not first.isdigit():
        yield first


def _is_public(name: str) -> bool:
    return any(f".{name.lower()}".endswith(f".{domain}") for domain in _PUBLIC)


def _is_qualified(name: str) -> bool:
    """Whether it is a host's name with its domain, and nothing else that has dots in it."""
    first, *middle, last = name.split(".")
    if _is_public(name) or last.lower() in _TOP:
        return not _is_public(name)
    is_else = last.lower() in _FILES or first in _MODULES or first.isdigit() or not (last.islower() or last.isupper())
    return bool(middle) and not is_else


@cache
def _in_pool() -> re.Pattern[str]:
    """A target in a pool: the pool, and the image."""
    pooled = "|".join(kind.scheme for kind in every_kind() if kind.in_pool and not kind.holds_parts)
    return re.compile(rf"(?<![\w-])(?:{pooled}):([^\s/'\",;:()…]+)(?:/([^\s'\",;()…]+))?")


@cache
def _spec() -> re.Pattern[str]:
    """A target of any kind: its scheme, and all that is behind it."""
    return re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, KINDS))}):([^\s'\"()…]+)")


def _in_specs(text: str) -> Iterator[tuple[str, NameKind]]:
    """The names in targets, where no placeholder stands for them."""
    names: list[tuple[str, NameKind]] = []
    for match in _in_pool().finditer(text):
        names += [(match[1].rstrip("."), "pool"), ((match[2] or "").rstrip("."), "image")]
    for match in _spec().finditer(text):
        names += KINDS[match[1]]().names_in(match[2].rstrip(".,;:")).items()
    yield from ((name, kind) for name, kind in names if name and not (name in _PLACEHOLDERS or name.startswith("<")))
