"""In what two sides were not alike, other than their figures."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, TypeAlias

from cephtui import units
from cephtui.analysis.detectors.stalls import STALL_SECONDS
from cephtui.analysis.runs.batches import all_options, knows_options, node_names
from cephtui.analysis.runs.facts import load_of
from cephtui.analysis.runs.sides import Side
from cephtui.ceph.cluster import OSD_OPTIONS
from cephtui.models import ClusterEnvironment, Finding, NodeEnvironment, OptionValue, Run, Seconds
from cephtui.models.findings.measurement import STALLED
from cephtui.tools import TOOLS
from cephtui.tools.logs import is_variable

if TYPE_CHECKING:
    from cephtui.models.rows import Difference

Facts: TypeAlias = dict[str, str]
"""Names and values as text, in the order in which they are shown."""
_LENGTH_SECONDS, _LENGTH_FRACTION = 1.0, 0.02
"""By how much two runs may last longer than one another and count as equally long."""

NOT_KNOWN = "not known"
"""The topic of the line of what a log does not say."""
UNKNOWN = "unknown"
_FLAG = "thread"
"""An option of fio's without a value."""
_SHOWN_APART = {f"{section} {name}" for section in ("global", "osd") for name in OSD_OPTIONS}
"""Options of the configuration database whose effective values are facts of the cluster anyway."""


def differences(left: Side, right: Side) -> list[Difference]:
    """All that was not alike in two chosen runs, the most important first; findings are those of the repeats too.

    First what was asked for, then what was set in the cluster, for the pool and on the nodes, then nodes, versions,
    findings, outcome and length, then the cluster's state.
    """
    first, second = left.run, right.run
    found = _all_differences(left, right)
    return _of_imported(found, first, second) if first.imported_from or second.imported_from else found


def _all_differences(left: Side, right: Side) -> list[Difference]:
    first, second = left.run, right.run
    return [
        *_differing("run", _asked(first), _asked(second)),
        *_option_differences(first, second),
        *_settings_of_cluster(first.cluster, second.cluster),
        *_settings_of_nodes(first, second),
        *_differing("nodes", {"names": _listed(node_names(first))}, {"names": _listed(node_names(second))}),
        *_node_differences(first, second),
        *_differing("cephtui", {"version": _text(first.cephtui_version)}, {"version": _text(second.cephtui_version)}),
        *_differing("finding", _found(left), _found(right), missing="no"),
        *_differing("run", {"outcome": first.outcome or "running"}, {"outcome": second.outcome or "running"}),
        *_length_difference(first, second),
        *_cluster_differences(first.cluster, second.cluster),
    ]


def _of_imported(found: Sequence[Difference], left: Run, right: Run) -> list[Difference]:
    """What a log does not say is no difference, and not alike either: one line names all of it."""
    from cephtui.models.rows import Difference

    def is_known(each: Difference) -> bool:
        return units.DASH not in (left.imported_from and each.left, right.imported_from and each.right)

    words = [_listed(_not_known(run)) for run in (left, right)]
    unknown = Difference(topic=NOT_KNOWN, name="", left=words[0], right=words[1])
    return [*(each for each in found if is_known(each)), unknown]


def _not_known(run: Run) -> list[str]:
    """Of which kinds of conditions it is not known what they were, at least in part; of a log most are not."""
    options = all_options(run).values()
    each = {
        "target": run.target == units.DASH,
        "options": not knows_options(run) or any(is_variable(value) for value in options if isinstance(value, str)),
        "options without a value": _default(run, _FLAG) == UNKNOWN and knows_options(run),
        "nodes": not any(found.kernel for found in run.environment.values()),
        "cluster": run.cluster is None,
    }
    return [name for name, is_unknown in each.items() if is_unknown]


def _option_differences(left: Run, right: Run) -> list[Difference]:
    """Where one is of a log, what a side does not name is said: the tool's default, if all that was given is known."""
    one, other = _options(left), _options(right)
    if left.tool != right.tool or not (left.imported_from or right.imported_from):
        return _differing("option", one, other)
    names = list(one | other)
    return _differing(
        "option",
        {name: one.get(name) or _default(left, name) for name in names},
        {name: other.get(name) or _default(right, name) for name in names},
    )


def _default(run: Run, option: str) -> str:
    """Of an option that is not among those of a run."""
    if not knows_options(run):
        return UNKNOWN
    found = TOOLS[run.tool].default_text(option, run.options) if run.tool in TOOLS else units.DASH
    return UNKNOWN if found is None else found


def seconds_of(run: Run) -> Seconds | None:
    """How the seconds of a run are spread; in a gap on all nodes the least of them is 0.

    A tool may report such a time as one, with what completed at its end.
    """
    found = run.seconds
    return found.model_copy(update={"least": 0.0}) if found and has_gap(run) else found


def has_gap(run: Run) -> bool:
    """Whether there was a second of the measurement in which nothing completed on any node."""
    return any(_is_gap(run, each) for each in run.findings)


def _is_gap(run: Run, finding: Finding) -> bool:
    """Whether a finding says that there was such a second."""
    begun, over = finding.from_seconds, finding.to_seconds
    if finding.code != STALLED.code or begun is None or over is None or not finding.values or "nodes" in finding.values:
        return False
    try:
        ramp, _ = TOOLS[run.tool].bind(run.options).times()
    except (LookupError, ValueError, OverflowError):
        return False
    return over - max(begun, ramp) >= STALL_SECONDS


def drops_caches(run: Run) -> bool:
    """Whether caches were to be dropped before it."""
    return any(found.page_cache_dropped is not None for found in run.environment.values())


def unlike(left: Side, right: Side) -> list[Difference]:
    """Why the figures of two sides can't be compared: they measure other operations. Empty where they can."""
    return _differing("load", _operations(left.run), _operations(right.run))


def _operations(run: Run) -> Facts:
    load = load_of(run)
    kind = {"block size": units.short_size(load.block_bytes), "pattern": load.pattern} if load else {}
    return {"tool": run.tool, **kind}


def _differing(topic: str, left: Facts, right: Facts, missing: str = units.DASH) -> list[Difference]:
    """The facts that are not equal; one that only one side has stands against ``missing``."""
    from cephtui.models.rows import Difference

    pairs = {name: (left.get(name, missing), right.get(name, missing)) for name in (left | right)}
    return [Difference(topic=topic, name=name, left=a, right=b) for name, (a, b) in pairs.items() if a != b]


def _known_differing(topic: str, left: Facts, right: Facts, missing: str = units.DASH) -> list[Difference]:
    """None where one side has no facts at all: it is of an earlier version, or they could not be read."""
    return _differing(topic, left, right, missing) if left and right else []


def _text(value: OptionValue | None) -> str:
    if value is None or value == "":
        return units.DASH
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _listed(words: Sequence[str]) -> str:
    return ", ".join(words) or units.DASH


def _asked(run: Run) -> Facts:
    heading = {"heading": run.heading} if run.heading else {}
    return {"preset": run.preset, "tool": run.tool, "target": run.target, **heading}


def _options(run: Run) -> Facts:
    """What a shell has put in is not known."""
    texts = {name: _text(value) for name, value in all_options(run).items()}
    return {name: UNKNOWN if name in run.other_options and is_variable(text) else text for name, text in texts.items()}


def _found(side: Side) -> Facts:
    """By code which part of the runs has a finding; in all of 3 is the same as in the one."""
    texts = {}
    for code, runs in side.findings().items():
        texts[code] = "yes" if len(runs) == len(side.runs) else f"in {len(runs)} of {len(side.runs)} runs"
    return texts


def _node_pairs(left: Run, right: Run) -> list[tuple[str, NodeEnvironment | None, NodeEnvironment | None]]:
    """Nodes of the same name with each other, the rest in their order; what is left over is in the names."""
    names, others = dict.fromkeys(node_names(left)), dict.fromkeys(node_names(right))
    pairs = [(name, name) for name in names if name in others]
    pairs += zip([n for n in names if n not in others], [n for n in others if n not in names], strict=False)
    return [
        (name if name == other else f"{name} / {other}", left.environment.get(name), right.environment.get(other))
        for name, other in pairs
    ]


def _node_differences(left: Run, right: Run) -> list[Difference]:
    tools = {left.tool, right.tool}
    found = []
    for topic, one, other in _node_pairs(left, right):
        found += _differing(topic, _node_facts(one, tools), _node_facts(other, tools))
    return found


def _settings_of_nodes(left: Run, right: Run) -> list[Difference]:
    found = []
    for topic, one, other in _node_pairs(left, right):
        if one and other:
            found += _known_differing(topic, one.settings, other.settings)
            found += _known_differing(topic, _mtus(one), _mtus(other))
    return found


def _mtus(found: NodeEnvironment) -> Facts:
    return {f"nic {name} MTU": str(size) for name, size in found.nic_mtu.items()}


def _node_facts(found: NodeEnvironment | None, tools: Collection[str]) -> Facts:
    """What hardly changes by itself: the load of the moment is not among it, nor are tools that did not run."""
    if found is None:
        return {}
    return {
        "kernel": _text(found.kernel),
        "os": _text(found.os),
        "cpu": _text(found.cpu),
        "cpus": _text(found.cpu_count),
        "memory": units.size(found.memory_bytes) if found.memory_bytes else units.DASH,
        **{
            name: text
            for name, text in found.tools.items()
            if name == "ceph" or (name in tools and text != found.tools.get("ceph"))
        },
        "page cache": "dropped" if found.page_cache_dropped else "not dropped",
        "filesystem": _text(found.filesystem),
        "device": _text(found.device),
        **{f"nic {name}": units.bit_rate(speed) for name, speed in found.nic_bits_per_second.items()},
    }


def _length_difference(left: Run, right: Run) -> list[Difference]:
    """How long was measured, without the ramp; what a timer makes of it is none."""
    lengths = [_measured_seconds(run) for run in (left, right)]
    known = [seconds for seconds in lengths if seconds is not None]
    if len(known) == len(lengths) and max(known) - min(known) <= max(_LENGTH_SECONDS, _LENGTH_FRACTION * max(known)):
        return []
    texts = [units.DASH if seconds is None else units.duration(seconds) for seconds in lengths]
    return _differing("run", {"measured": texts[0]}, {"measured": texts[1]})


def _measured_seconds(run: Run) -> float | None:
    return max((total.runtime_seconds for total in run.summary.flows.values()), default=None)


def _settings_of_cluster(left: ClusterEnvironment | None, right: ClusterEnvironment | None) -> list[Difference]:
    if left is None or right is None:
        return []
    return [
        *_config_differences(left, right),
        *_known_differing("cluster", _flags(left), _flags(right), missing="not set"),
        *_differing("cluster", _set_facts(left), _set_facts(right)),
        *_known_differing("cluster", _pool_settings(left), _pool_settings(right)),
    ]


def _flags(found: ClusterEnvironment) -> Facts:
    return {f"OSD flag {flag}": "set" for flag in found.osd_flags}


def _pool_settings(found: ClusterEnvironment) -> Facts:
    return {_pool_name(name): text for name, text in found.pool_settings.items()}


def _config_differences(left: ClusterEnvironment, right: ClusterEnvironment) -> list[Difference]:
    """Options of the configuration database; none where one side could not read it."""
    if left.config is None or right.config is None:
        return []
    one, other = (
        {name: text for name, text in found.items() if name not in _SHOWN_APART}
        for found in (left.config, right.config)
    )
    if left.config_more or right.config_more:  # an option that one side lacks may be one of those that are not kept
        one, other = ({name: found[name] for name in one if name in other} for found in (one, other))
    return _differing("cluster", one, other, missing="default")


def _set_facts(found: ClusterEnvironment) -> Facts:
    """PGs that are being split or merged count as done."""
    target = found.pool.get("pg_num_target")
    pool = {name: value for name, value in found.pool.items() if name != "pg_num_target"}
    pool |= {"pg_num": target} if target else {}
    has_mclock = "mclock" in (found.osd_op_queue or "")
    return {
        **{_pool_name(name): _pool_text(name, value) for name, value in pool.items()},
        "OSD caches": f"dropped on {found.osd_caches_dropped}" if found.osd_caches_dropped else "not dropped",
        "OSD queue": _text(found.osd_op_queue),
        "mclock profile": _text(found.osd_mclock_profile) if has_mclock else units.DASH,
    }


def _cluster_differences(left: ClusterEnvironment | None, right: ClusterEnvironment | None) -> list[Difference]:
    """In one line where only one run had to do with a cluster."""
    if left is None or right is None:
        return _differing("cluster", {"state": _cluster_in_short(left)}, {"state": _cluster_in_short(right)})
    states = list(left.pg_states | right.pg_states)
    return [
        *_differing("cluster", _cluster_facts(left, states), _cluster_facts(right, states)),
        *_known_differing("cluster", _classes(left), _classes(right)),
    ]


def image_limits(found: ClusterEnvironment) -> str:
    """``rbd_qos_iops_limit 500``; a dash without any."""
    return _listed([f"{name} {value:g}" for name, value in found.image_limits.items()])


def _classes(found: ClusterEnvironment) -> Facts:
    return {f"OSDs of class {name}": str(number) for name, number in found.osds_by_class.items()}


def _cluster_in_short(found: ClusterEnvironment | None) -> str:
    if found is None:
        return units.DASH
    version = f"ceph {found.ceph_version}" if found.ceph_version else "ceph"
    return ", ".join(part for part in (version, found.health) if part)


def _cluster_facts(found: ClusterEnvironment, pg_states: Sequence[str]) -> Facts:
    return {
        "ceph": _text(found.ceph_version),
        "health": _text(found.health),
        "OSDs": _text(found.osds),
        "OSDs up": _text(found.osds_up),
        "OSDs in": _text(found.osds_in),
        **{f"PGs {state}": str(found.pg_states.get(state, 0)) for state in pg_states if found.pg_states},
        "image features": _listed(found.image_features),
        "image limits": image_limits(found),
        "checks": _listed(found.checks) if found.checks or found.health is None else "none",
    }


def _pool_name(fact: str) -> str:
    return f"pool {fact.removesuffix('_bytes')}"


def _pool_text(fact: str, value: OptionValue | None) -> str:
    return units.size(value) if fact.endswith("_bytes") and isinstance(value, int) else _text(value)
