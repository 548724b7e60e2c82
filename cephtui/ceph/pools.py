"""Pools: what they are, what room they have, and where their data is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Literal

from cephtui.ceph import answers, networks
from cephtui.frozen import dataclass

OSD_MAP_ARGV = ("ceph", "osd", "dump", "-f", "json")
"""The command that reports an OsdMap: pools, flags, ratios and EC profiles; about 1 KB per OSD, any key may ask."""
USAGE_ARGV = ("ceph", "df", "detail", "-f", "json")
"""The command that reports PoolUsage of every pool; any key may ask."""
OSD_USAGE_ARGV = ("ceph", "osd", "df", "-f", "json")
"""The command that reports OsdUsage of every OSD; it needs rights on the manager, as ``PGS_ARGV`` does."""
PGS_ARGV = ("ceph", "pg", "dump", "pgs_brief", "-f", "json")
"""The command that reports every Pg, 0.1 KB each; asked once per plan. The listing by pool has 5 KB per PG."""
CRUSH_RULES_ARGV = ("ceph", "osd", "crush", "rule", "dump", "-f", "json")

OWN_APPLICATION, OWNER_KEY = "cephtui", "session"
"""The application and the key under which a pool carries its owner: ``ceph osd pool application get``."""
_ERASURE = 3
_CRUSH_ITEM_NONE = 2147483647
_SETTINGS_MOST, _NAME_MOST = 100, 120
"""Settings of a pool that are kept, and characters of their names; there are some 40 that can be set."""
_PASSING_FLAGS = {"backfillfull", "creating", "full", "full_quota", "nearfull", "pool_snaps", "selfmanaged_snaps"}
"""Flags of a pool that Ceph itself sets."""


@dataclass(frozen=True, slots=True)
class Pool:
    """A pool as the OSD map has it."""

    id: int
    name: str
    kind: Literal["replicated", "erasure"] = "replicated"
    size: int = 3
    """The number of copies, or of all chunks of an object."""
    min_size: int = 2
    data_chunks: int = 1
    """k of an erasure-coded pool; 1 in a replicated one."""
    pg_num: int = 0
    pg_num_target: int = 0
    """The number that ``pg_num`` is changing to while PGs are being split or merged."""
    autoscale: str = "unknown"
    """``on``, ``warn`` or ``off``."""
    crush_rule: int = 0
    ec_profile: str = ""
    flags: frozenset[str] = frozenset()
    quota_bytes: int = 0
    """0 where there is no quota."""
    quota_objects: int = 0
    applications: tuple[str, ...] = ()
    owner: str = ""
    """The owner of a pool that cephtui has made."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Other settings of ``ceph osd pool set``, and the erasure code profile: ``compression_mode``, ``ec k``."""

    @property
    def raw_per_byte(self) -> float:
        """Bytes on the OSDs for each byte that is stored."""
        return self.size / max(1, self.data_chunks)

    @property
    def text(self) -> str:
        """``replicated x3, 128 PGs, autoscale on``."""
        coding = f"EC {self.data_chunks}+{self.size - self.data_chunks}"
        shape = f"replicated x{self.size}" if self.kind == "replicated" else coding
        return f"{shape}, {self.pg_num} PGs, autoscale {self.autoscale}"


@dataclass(frozen=True, slots=True)
class OsdMap:
    """Pools, flags and limits of a cluster."""

    pools: Mapping[str, Pool]
    fsid: str = ""
    """The id of the cluster."""
    flags: frozenset[str] = frozenset()
    nearfull_ratio: float = 0.85
    full_ratio: float = 0.95
    networks_apart: bool | None = None
    """Whether OSDs reach each other over another network than clients; None where the map has no addresses."""
    public_addresses: frozenset[networks.Address] = frozenset()
    """The addresses under which clients reach the OSDs."""
    cluster_addresses: frozenset[networks.Address] = frozenset()
    """The addresses under which OSDs reach each other."""
    ec_profiles: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Erasure code profiles by their names: ``k``, ``m``, ``crush-failure-domain``."""


@dataclass(frozen=True, slots=True)
class PoolUsage:
    """What a pool holds and has room for, in bytes before replication."""

    stored: int
    max_avail: int
    """Bytes that fit until the fullest OSD is full; copies are counted in, quotas are not."""
    objects: int = 0
    raw: int | None = None
    """Bytes that the stored bytes take on the OSDs, with all copies; None where that is not known."""


@dataclass(frozen=True, slots=True)
class OsdUsage:
    """How full an OSD is, in bytes."""

    id: int
    total: int
    used: int
    device_class: str = ""


@dataclass(frozen=True, slots=True)
class Pg:
    """A placement group: its pool, its state and the OSDs that should have it."""

    pool: int
    state: str
    osds: tuple[int, ...] = ()
    primary: int | None = None
    """The one of them that clients read from, and write to; None where it has none, or that is not known."""


@dataclass(frozen=True, slots=True)
class CrushRule:
    """A CRUSH rule: where a pool's data goes."""

    id: int
    name: str
    takes: tuple[str, ...] = field(default=())
    """The roots, each with the device class where there is one: ``default~ssd``."""
    failure_domain: str | None = None
    """The type of bucket that no two copies share: ``host``."""
    steps: tuple[str, ...] = ()
    """All steps of the rule: ``take default~ssd``, ``chooseleaf_firstn 0 host``, ``emit``."""
    is_erasure: bool = False
    """Whether the rule is for erasure-coded pools."""

    @property
    def text(self) -> str:
        """``replicated_rule (default~ssd, by host)``."""
        place = ", ".join([*self.takes, *([f"by {self.failure_domain}"] if self.failure_domain else [])])
        return f"{self.name} ({place})" if place else self.name


def parse_osd_map(text: str) -> OsdMap:
    """The answer to ``OSD_MAP_ARGV``."""
    answer = answers.json_object(text, "pools")
    profiles = answers.part(answer, "erasure_code_profiles")
    pools = [_pool(pool, profiles) for pool in answers.objects(answer["pools"])]
    osds = answers.objects(answer.get("osds"))
    flags = answers.names(answer.get("flags_set")) or tuple(str(answer.get("flags", "")).split(","))
    return OsdMap(
        pools={pool.name: pool for pool in pools},
        fsid=str(answer.get("fsid", "")),
        flags=frozenset(flags) - {""},
        nearfull_ratio=answers.number(answer.get("nearfull_ratio"), 0.85),
        full_ratio=answers.number(answer.get("full_ratio"), 0.95),
        networks_apart=_networks_apart(osds),
        public_addresses=_addresses(osds, "public_addr"),
        cluster_addresses=_addresses(osds, "cluster_addr"),
        ec_profiles={
            str(name): {key: str(value) for key, value in answers.part(profiles, name).items()} for name in profiles
        },
    )


def _addresses(osds: Sequence[Mapping[str, Any]], name: str) -> frozenset[networks.Address]:
    addresses = (networks.parse_address(str(osd.get(name) or "")) for osd in osds)
    return frozenset(address for address in addresses if address)


def _networks_apart(osds: Sequence[Mapping[str, Any]]) -> bool | None:
    """Whether OSDs have two networks; an OSD that was never up has no address yet."""
    names = ("public_addr", "cluster_addr")
    addresses = [[str(osd.get(name) or "").rpartition(":")[0] for name in names] for osd in osds]
    reported = [(public, cluster) for public, cluster in addresses if public and cluster]
    return any(public != cluster for public, cluster in reported) if reported else None


def _pool(answer: Mapping[str, Any], profiles: Mapping[str, Any]) -> Pool:
    is_erasure = answers.whole(answer.get("type")) == _ERASURE
    size, min_size = answers.whole(answer.get("size"), 1), answers.whole(answer.get("min_size"), 1)
    profile = str(answer.get("erasure_code_profile") or "")
    chunks = answers.whole(answers.part(profiles, profile).get("k"), max(1, min_size - 1)) if is_erasure else 1
    pg_num = answers.whole(answer.get("pg_num"))
    return Pool(
        id=answers.whole(answer.get("pool", answer.get("pool_id"))),
        name=str(answer.get("pool_name")),
        kind="erasure" if is_erasure else "replicated",
        size=size,
        min_size=min_size,
        data_chunks=chunks,
        pg_num=pg_num,
        pg_num_target=answers.whole(answer.get("pg_num_target"), pg_num),
        autoscale=str(answer.get("pg_autoscale_mode", "unknown")),
        crush_rule=answers.whole(answer.get("crush_rule")),
        ec_profile=profile if is_erasure else "",
        flags=frozenset(str(answer.get("flags_names", "")).split(",")) - {""},
        quota_bytes=answers.whole(answer.get("quota_max_bytes")),
        quota_objects=answers.whole(answer.get("quota_max_objects")),
        applications=tuple(answers.part(answer, "application_metadata")),
        owner=str(answers.part(answers.part(answer, "application_metadata"), OWN_APPLICATION).get(OWNER_KEY, "")),
        settings=_settings(answer, answers.part(profiles, profile) if is_erasure else {}),
    )


def _settings(answer: Mapping[str, Any], profile: Mapping[str, Any]) -> Mapping[str, str]:
    """The settings of a pool that users choose; much else of a pool changes by itself."""
    flags = set(str(answer.get("flags_names", "")).split(",")) - _PASSING_FLAGS
    settings = {
        "application": ",".join(answers.part(answer, "application_metadata")),
        "flags": ",".join(sorted(flags)),
        **{name: answer[name] for name in ("cache_mode", "fast_read", "quota_max_objects") if name in answer},
        **answers.part(answer, "options"),
        **{f"ec {name}": value for name, value in profile.items()},
    }
    return {str(name)[:_NAME_MOST]: answers.setting_text(settings[name]) for name in list(settings)[:_SETTINGS_MOST]}


def parse_usage(text: str) -> Mapping[str, PoolUsage]:
    """The answer to ``USAGE_ARGV``, by the pools' names."""
    answer = answers.json_object(text, "pools")
    usage = {}
    for pool in answers.objects(answer["pools"]):
        stats = answers.part(pool, "stats")
        stored = answers.whole(stats.get("stored", stats.get("bytes_used")))
        available = answers.whole(stats.get("max_avail"))
        raw = answers.whole(stats["bytes_used"]) if "stored" in stats and "bytes_used" in stats else None
        usage[str(pool.get("name"))] = PoolUsage(stored, available, answers.whole(stats.get("objects")), raw)
    return usage


def parse_osd_usage(text: str) -> tuple[OsdUsage, ...]:
    """The answer to ``OSD_USAGE_ARGV``, without OSDs that have no size because they are down and out."""
    answer = answers.json_object(text, "nodes")
    osds = (
        OsdUsage(
            answers.whole(osd.get("id")),
            answers.whole(osd.get("kb")) * 1024,
            answers.whole(osd.get("kb_used")) * 1024,
            str(osd.get("device_class") or ""),
        )
        for osd in answers.objects(answer["nodes"])
        if osd.get("type", "osd") == "osd"
    )
    return tuple(osd for osd in osds if osd.total)


def parse_pgs(text: str) -> tuple[Pg, ...]:
    """The answer to ``PGS_ARGV``, which is a bare list up to Mimic."""
    answer = answers.parse_answer(text)
    stats = answer.get("pg_stats") if isinstance(answer, dict) else answer
    if not isinstance(stats, list):
        raise ValueError(f"unexpected answer: {text.strip()[:200]!r}")
    return tuple(_pg(pg) for pg in answers.objects(stats))


def _pg(answer: Mapping[str, Any]) -> Pg:
    numbers = answer.get("up") or answer.get("acting") or []
    pool = str(answer.get("pgid", "")).partition(".")[0]
    osds = tuple(osd for osd in numbers if isinstance(osd, int) and osd not in (_CRUSH_ITEM_NONE, -1))
    primary = answer.get("up_primary")
    return Pg(
        int(pool) if pool.isdigit() else -1,
        str(answer.get("state", "unknown")),
        osds,
        primary if primary in osds else None,
    )


def parse_crush_rules(text: str) -> Mapping[int, CrushRule]:
    """The answer to ``CRUSH_RULES_ARGV``, by the rules' numbers."""
    rules = [_rule(rule) for rule in answers.rows(text)]
    return {rule.id: rule for rule in rules}


def _rule(answer: Mapping[str, Any]) -> CrushRule:
    steps = answers.objects(answer.get("steps"))
    domains = [str(step["type"]) for step in steps if str(step.get("op", "")).startswith("choose") and "type" in step]
    return CrushRule(
        id=answers.whole(answer.get("rule_id")),
        name=str(answer.get("rule_name")),
        takes=tuple(str(step.get("item_name")) for step in steps if step.get("op") == "take"),
        failure_domain=domains[-1] if domains else None,
        steps=tuple(map(_step, steps)),
        is_erasure=answers.whole(answer.get("type")) == _ERASURE,
    )


def _step(answer: Mapping[str, Any]) -> str:
    """The step in the words of a decompiled CRUSH map, as far as it has them."""
    words = (answer[key] for key in ("op", "item_name", "num", "type") if key in answer)
    return " ".join(map(str, words))
