"""A pool that is to be made: what it is to be, the commands that make it, and why they would fail."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from cephtui.ceph.answers import listed
from cephtui.ceph.crush_tree import CrushTree
from cephtui.ceph.pool_guards import USABLE
from cephtui.ceph.pools import OWN_APPLICATION, OWNER_KEY, CrushRule, OsdMap, OsdUsage, Pool
from cephtui.frozen import dataclass
from cephtui.models.refusal import Refusal
from cephtui.paths import packaged_text

PG_MOST_PER_OSD = 250
"""The value of ``mon_max_pg_per_osd`` that is assumed where it can't be asked."""
PG_LIMIT_ARGV = ("ceph", "config", "get", "mon", "mon_max_pg_per_osd")
EXPECTED = "expected pg=N,size=N (ec=PROFILE or k=N,m=N instead of size), and rule=NAME if needed"
_NUMBERS = {"pg": (1, 65536), "size": (1, 10), "k": (2, 32), "m": (1, 16)}
_NAMES = {"rule", "ec", "domain"}
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_DELETE = packaged_text("cephtui.ceph", "pool_delete.sh")


@dataclass(frozen=True, slots=True)
class Shape:
    """The properties of a pool that is to be made."""

    pg: int = 32
    size: int = 3
    """The number of copies, where the pool is not erasure-coded."""
    rule: str = ""
    """The CRUSH rule; empty for the one that Ceph chooses."""
    ec: str = ""
    """The erasure code profile that exists; empty where a new one is made, or none is needed."""
    k: int = 0
    """Data chunks, and coding chunks (``m``), of a profile that is made with the pool; 0 where none is made."""
    m: int = 0
    domain: str = "host"
    """The failure domain of that profile: no two chunks are in the same one."""

    @property
    def is_erasure(self) -> bool:
        """Whether the pool is erasure-coded."""
        return bool(self.ec or self.k)

    @property
    def text(self) -> str:
        """The shape as the user writes it: ``pg=32,size=3``."""
        profile = {"k": self.k, "m": self.m, "domain": self.domain}
        redundancy: Mapping[str, object] = {"ec": self.ec} if self.ec else profile if self.k else {"size": self.size}
        parts = {"pg": self.pg, **redundancy, "rule": self.rule}
        return ",".join(f"{name}={value}" for name, value in parts.items() if value)


def parse_shape(text: str) -> Shape:
    """The shape in a text such as ``pg=32,size=3``; raises ValueError."""
    fields: dict[str, Any] = {}
    for word in text.split(","):
        name, equals, value = word.partition("=")
        if not equals or name in fields or name not in {*_NUMBERS, *_NAMES}:
            raise ValueError(EXPECTED)
        fields[name] = _number(name, value) if name in _NUMBERS else _name(name, value)
    if ("k" in fields) != ("m" in fields) or ("domain" in fields and "k" not in fields):
        raise ValueError("k=N and m=N go together, with domain=host or domain=osd if needed")
    if len(fields.keys() & {"size", "ec", "k"}) > 1:
        raise ValueError("expected one of size=N, ec=PROFILE, or k=N with m=N")
    return Shape(**fields)


def _number(name: str, value: str) -> int:
    least, most = _NUMBERS[name]
    if not (re.fullmatch(r"[0-9]{1,6}", value) and least <= int(value) <= most):
        raise ValueError(f"{name} is a number from {least} to {most}, got {value!r}")
    return int(value)


def _name(name: str, value: str) -> str:
    if not _NAME.fullmatch(value):
        raise ValueError(f"{name} is a name, got {value!r}")
    return value


# ---------------------------------------------------------------------------------------------- commands


def make_argvs(shape: Shape, name: str) -> list[tuple[str, ...]]:
    """The commands that make a pool of this name, in their order; its own profile and rule have the same name."""
    pgs, rule = str(shape.pg), (shape.rule,) if shape.rule else ()
    create = ("ceph", "osd", "pool", "create", name, pgs, pgs)
    fixed = ("--autoscale-mode", "off")
    if not shape.is_erasure:
        return [(*create, "replicated", *rule, "--size", str(shape.size), *fixed)]
    set_profile = ("ceph", "osd", "erasure-code-profile", "set", name)
    chunks = (f"k={shape.k}", f"m={shape.m}", f"crush-failure-domain={shape.domain}")
    profile_argvs = [] if shape.ec else [(*set_profile, *chunks)]
    return [*profile_argvs, (*create, "erasure", shape.ec or name, *rule, *fixed)]


def claim_argvs(name: str, owner: str) -> list[tuple[str, ...]]:
    """The commands that mark a pool with its owner."""
    application = ("ceph", "osd", "pool", "application")
    return [
        (*application, "enable", name, OWN_APPLICATION),
        (*application, "set", name, OWN_APPLICATION, OWNER_KEY, owner),
    ]


def delete_argv(names: Sequence[str], made_with: str) -> tuple[str, ...]:
    """The command that deletes these pools, and the rule and the profile of this name; what is absent is no error."""
    return ("bash", "-c", _DELETE, "cephtui-pool-delete", made_with, *names)


# ---------------------------------------------------------------------------------------------- room


def new_pool_room(
    shape: Shape,
    osd_map: OsdMap,
    rules: Mapping[int, CrushRule] | None,
    tree: CrushTree | None,
    osds: Sequence[OsdUsage] | None,
) -> int | None:
    """Bytes that a run may add to such a pool, wherever CRUSH places its PGs; None where that can't be asked.

    An OSD gets PGs by its weight, taken to be its size, and by chance: up to four standard deviations and three more
    than its share (of a Poisson distribution no more than 1 in 30,000 are above). Of a few PGs one OSD may have all.
    """
    below = tree.osds(rule_of(shape, osd_map, rules or {})[0]) if tree else frozenset()
    pool_osds = [osd for osd in osds or () if osd.total > 0 and (osd.id in below or not below)]
    if not pool_osds:
        return None
    number, raw_per_byte = copies(shape, osd_map)
    pg_copies, total = shape.pg * number, sum(osd.total for osd in pool_osds)
    most = min(
        _free_below_nearfull(osd, osd_map) / _pgs_at_most(pg_copies * osd.total / total, shape.pg) for osd in pool_osds
    )
    return int(USABLE * most * pg_copies / raw_per_byte)


def _free_below_nearfull(osd: OsdUsage, osd_map: OsdMap) -> float:
    return max(0.0, osd_map.nearfull_ratio * osd.total - osd.used)


def _pgs_at_most(likely: float, pgs: int) -> float:
    """The most PGs that an OSD may get; a PG is at most once on an OSD."""
    return min(likely + 4 * math.sqrt(likely) + 3, pgs)


# ---------------------------------------------------------------------------------------------- guards


def guard_shape(
    shape: Shape,
    osd_map: OsdMap,
    rules: Mapping[int, CrushRule] | None,
    tree: CrushTree | None,
    osds: int,
    pgs_per_osd: int,
) -> Refusal | None:
    """Why a pool can't be made, or would never be active+clean, or None. What could not be asked is given as None."""
    names = [rule.name for rule in (rules or {}).values()]
    if shape.rule and rules is not None and shape.rule not in names:
        return Refusal(f"there is no CRUSH rule {shape.rule}", f"choose one of: {listed(names, 8)}")
    if shape.ec and shape.ec not in osd_map.ec_profiles:
        profiles = listed(sorted(osd_map.ec_profiles), 8) or "none"
        return Refusal(f"there is no erasure code profile {shape.ec}", f"choose one of: {profiles}; or write k=N,m=N")
    return _guard_domains(shape, osd_map, rules, tree) or _guard_pgs(shape, osd_map, osds, pgs_per_osd)


def copies(shape: Shape, osd_map: OsdMap) -> tuple[int, float]:
    """How many OSDs have a part of each object, and how many bytes they store for each byte."""
    if not shape.is_erasure:
        return shape.size, float(shape.size)
    data, coding = _chunks(shape, osd_map)
    return data + coding, (data + coding) / data


def _chunks(shape: Shape, osd_map: OsdMap) -> tuple[int, int]:
    profile = osd_map.ec_profiles.get(shape.ec, {})
    chunks = [profile.get(name, "") for name in ("k", "m")]
    if shape.ec and all(re.fullmatch(r"[1-9][0-9]{0,2}", chunk_count) for chunk_count in chunks):
        return int(chunks[0]), int(chunks[1])
    return shape.k or 2, shape.m or 1


def rule_of(shape: Shape, osd_map: OsdMap, rules: Mapping[int, CrushRule]) -> tuple[str, str]:
    """The root that the pool's rule takes, and its failure domain."""
    by_name = {rule.name: rule for rule in rules.values()}
    usual = next((rules[number] for number in sorted(rules) if not rules[number].is_erasure), None)
    rule = by_name.get(shape.rule) if shape.rule else None if shape.is_erasure else usual
    if rule:
        return (rule.takes[0] if rule.takes else ""), rule.failure_domain or "osd"
    profile = osd_map.ec_profiles.get(shape.ec, {})
    device_class = profile.get("crush-device-class", "")
    root = profile.get("crush-root", "default") + (f"~{device_class}" if device_class else "")
    return root, profile.get("crush-failure-domain", shape.domain)


def _guard_domains(
    shape: Shape, osd_map: OsdMap, rules: Mapping[int, CrushRule] | None, tree: CrushTree | None
) -> Refusal | None:
    if rules is None or tree is None:
        return None
    take, domain = rule_of(shape, osd_map, rules)
    needed, domains = copies(shape, osd_map)[0], tree.domains(take, domain)
    if needed <= domains:
        return None
    what = "chunks" if shape.is_erasure else "copies"
    fewer = "fewer chunks" if shape.is_erasure else f"size={domains}" if domains else "another rule"
    problem = f"{needed} {what} need as many of {domain}, but {take or 'the rule'} has {domains}"
    return Refusal(problem, f"choose {fewer}, or a rule with another failure domain")


def _guard_pgs(shape: Shape, osd_map: OsdMap, osds: int, pgs_per_osd: int) -> Refusal | None:
    """Why the monitors would refuse so many PGs; they count all copies of all pools' PGs."""
    osds_per_pg = copies(shape, osd_map)[0]
    existing = sum(_pgs(pool) for pool in osd_map.pools.values())
    needed, most = existing + shape.pg * osds_per_pg, pgs_per_osd * osds
    if needed <= most:
        return None
    pg_room = max(0, most - existing) // osds_per_pg
    problem = f"{shape.pg} PGs of {osds_per_pg} would make {needed} on {osds} OSDs, more than the {most} that "
    limit = f"mon_max_pg_per_osd allows ({pgs_per_osd} each)"
    return Refusal(problem + limit, f"choose pg={pg_room} or fewer" if pg_room else "delete a pool that is not used")


def _pgs(pool: Pool) -> int:
    return max(pool.pg_num, pool.pg_num_target) * pool.size
