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

Texts: TypeAlias = dict[str, str]
"""Names and values as text, in the order in which they are shown."""
_LENGTH_SECONDS, _LENGTH_FRACTION = 1.0, 0.02
"""Two runs whose lengths differ by less than this are equally long."""

NOT_KNOWN = "not known"
"""The topic of the line of what a log does not say."""
UNKNOWN = "unknown"
_FLAG = "thread"
"""An option of fio's without a value."""
_SHOWN_APART = {f"{section} {name}" for section in ("global", "osd") for name in OSD_OPTIONS}
"""Options of the configuration database whose effective values are facts of the cluster anyway."""


def differences(left: Side, right: Side) -> list[Difference]:
    """All differences of two chosen runs, the most important first; findings are those of the repeats too.

    First what was asked for, then what was set in the cluster, for the pool and on the nodes, then nodes, versions,
    findings, outcome and length, then the cluster's state.
    """
    first, second = left.run, right.run
    all_differences = _all_differences(left, right)
    is_imported = first.imported_from or second.imported_from
    return _of_imported(all_differences, first, second) if is_imported else all_differences


def _all_differences(left: Side, right: Side) -> list[Difference]:
    first, second = left.run, right.run
    return [
        *_differing("run", _what_ran(first), _what_ran(second)),
        *_option_differences(first, second),
        *_settings_of_cluster(first.cluster, second.cluster),
        *_settings_of_nodes(first, second),
        *_differing("nodes", {"names": _listed(node_names(first))}, {"names": _listed(node_names(second))}),
        *_node_differences(first, second),
        *_differing("cephtui", {"version": _text(first.cephtui_version)}, {"version": _text(second.cephtui_version)}),
        *_differing("finding", _finding_facts(left), _finding_facts(right), missing="no"),
        *_differing("run", {"outcome": first.outcome or "running"}, {"outcome": second.outcome or "running"}),
        *_length_difference(first, second),
        *_cluster_differences(first.cluster, second.cluster),
    ]


def _of_imported(all_differences: Sequence[Difference], left: Run, right: Run) -> list[Difference]:
    """The differences that are known; what a log does not say is neither alike nor different: one line names it."""
    from cephtui.models.rows import Difference

    def is_known(difference: Difference) -> bool:
        return units.DASH not in (left.imported_from and difference.left, right.imported_from and difference.right)

    words = [_listed(_not_known(run)) for run in (left, right)]
    unknown = Difference(topic=NOT_KNOWN, name="", left=words[0], right=words[1])
    return [*(difference for difference in all_differences if is_known(difference)), unknown]


def _not_known(run: Run) -> list[str]:
    """The kinds of conditions that are not known, at least in part; of a log most are not."""
    options = all_options(run).values()
    kinds = {
        "target": run.target == units.DASH,
        "options": not knows_options(run) or any(is_variable(value) for value in options if isinstance(value, str)),
        "options without a value": _default(run, _FLAG) == UNKNOWN and knows_options(run),
        "nodes": not any(environment.kernel for environment in run.environment.values()),
        "cluster": run.cluster is None,
    }
    return [name for name, is_unknown in kinds.items() if is_unknown]


def _option_differences(left: Run, right: Run) -> list[Difference]:
    """The options that differ; beside a log an option that a side does not name has the tool's default, if known."""
    left_options, right_options = _options(left), _options(right)
    if left.tool != right.tool or not (left.imported_from or right.imported_from):
        return _differing("option", left_options, right_options)
    names = list(left_options | right_options)
    return _differing(
        "option",
        {name: left_options.get(name) or _default(left, name) for name in names},
        {name: right_options.get(name) or _default(right, name) for name in names},
    )


def _default(run: Run, option: str) -> str:
    """The text of an option that is not among those of a run."""
    if not knows_options(run):
        return UNKNOWN
    text = TOOLS[run.tool].default_text(option, run.options) if run.tool in TOOLS else units.DASH
    return UNKNOWN if text is None else text


def spread_of_seconds(run: Run) -> Seconds | None:
    """How the seconds of a run are spread; in a gap on all nodes the least of them is 0.

    A tool may report such a time as one, with what completed at its end.
    """
    seconds = run.seconds
    return seconds.model_copy(update={"least": 0.0}) if seconds and has_gap(run) else seconds


def has_gap(run: Run) -> bool:
    """Whether there was a second of the measurement in which nothing completed on any node."""
    return any(_is_gap(run, finding) for finding in run.findings)


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
    """Whether caches were to be dropped before a run."""
    return any(environment.page_cache_dropped is not None for environment in run.environment.values())


def unlike(left: Side, right: Side) -> list[Difference]:
    """Why the figures of two sides can't be compared: they measure other operations. Empty where they can."""
    return _differing("load", _operations(left.run), _operations(right.run))


def _operations(run: Run) -> Texts:
    load = load_of(run)
    kind = {"block size": units.short_size(load.block_bytes), "pattern": load.pattern} if load else {}
    return {"tool": run.tool, **kind}


def _differing(topic: str, left: Texts, right: Texts, missing: str = units.DASH) -> list[Difference]:
    """The facts that are not equal; one that only one side has stands against ``missing``."""
    from cephtui.models.rows import Difference

    pairs = {name: (left.get(name, missing), right.get(name, missing)) for name in (left | right)}
    return [Difference(topic=topic, name=name, left=a, right=b) for name, (a, b) in pairs.items() if a != b]


def _known_differing(topic: str, left: Texts, right: Texts, missing: str = units.DASH) -> list[Difference]:
    """The facts that differ; none where a side has no facts: an earlier version had none, or could not read them."""
    return _differing(topic, left, right, missing) if left and right else []


def _text(value: OptionValue | None) -> str:
    if value is None or value == "":
        return units.DASH
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _listed(words: Sequence[str]) -> str:
    return ", ".join(words) or units.DASH


def _what_ran(run: Run) -> Texts:
    heading = {"heading": run.heading} if run.heading else {}
    return {"preset": run.preset, "tool": run.tool, "target": run.target, **heading}


def _options(run: Run) -> Texts:
    """The options of a run as text; what a shell has put in is not known."""
    texts = {name: _text(value) for name, value in all_options(run).items()}
    return {name: UNKNOWN if name in run.other_options and is_variable(text) else text for name, text in texts.items()}


def _finding_facts(side: Side) -> Texts:
    """The part of the runs that has a finding, by its code; in all of 3 is the same as in the one."""
    texts = {}
    for code, runs in side.findings().items():
        texts[code] = "yes" if len(runs) == len(side.runs) else f"in {len(runs)} of {len(side.runs)} runs"
    return texts


def _node_pairs(left: Run, right: Run) -> list[tuple[str, NodeEnvironment | None, NodeEnvironment | None]]:
    """Nodes of the same name with each other, the rest in their order; what is left over is in the names."""
    left_names, right_names = dict.fromkeys(node_names(left)), dict.fromkeys(node_names(right))
    pairs = [(name, name) for name in left_names if name in right_names]
    left_only = [name for name in left_names if name not in right_names]
    right_only = [name for name in right_names if name not in left_names]
    pairs += zip(left_only, right_only, strict=False)
    return [
        (name if name == other else f"{name} / {other}", left.environment.get(name), right.environment.get(other))
        for name, other in pairs
    ]


def _node_differences(left: Run, right: Run) -> list[Difference]:
    tools = {left.tool, right.tool}
    return [
        difference
        for topic, left_node, right_node in _node_pairs(left, right)
        for difference in _differing(topic, _node_facts(left_node, tools), _node_facts(right_node, tools))
    ]


def _settings_of_nodes(left: Run, right: Run) -> list[Difference]:
    node_differences = []
    for topic, left_node, right_node in _node_pairs(left, right):
        if left_node and right_node:
            node_differences += _known_differing(topic, left_node.settings, right_node.settings)
            node_differences += _known_differing(topic, _mtus(left_node), _mtus(right_node))
    return node_differences


def _mtus(environment: NodeEnvironment) -> Texts:
    return {f"nic {name} MTU": str(size) for name, size in environment.nic_mtu.items()}


def _node_facts(environment: NodeEnvironment | None, tools: Collection[str]) -> Texts:
    """The facts of a node that hardly change by themselves, without tools that did not run."""
    if environment is None:
        return {}
    return {
        "kernel": _text(environment.kernel),
        "os": _text(environment.os),
        "cpu": _text(environment.cpu),
        "cpus": _text(environment.cpu_count),
        "memory": units.size(environment.memory_bytes) if environment.memory_bytes else units.DASH,
        **{
            name: text
            for name, text in environment.tools.items()
            if name == "ceph" or (name in tools and text != environment.tools.get("ceph"))
        },
        "page cache": "dropped" if environment.page_cache_dropped else "not dropped",
        "filesystem": _text(environment.filesystem),
        "device": _text(environment.device),
        **{f"nic {name}": units.bit_rate(speed) for name, speed in environment.nic_bits_per_second.items()},
        **{f"tc {name}": shaping for name, shaping in environment.nic_shaping.items()},
    }


def _length_difference(left: Run, right: Run) -> list[Difference]:
    """The difference in the time that was measured, without the ramp; that of a timer is none."""
    first, second = _measured_seconds(left), _measured_seconds(right)
    if first is not None and second is not None:
        longest = max(first, second)
        if abs(first - second) <= max(_LENGTH_SECONDS, _LENGTH_FRACTION * longest):
            return []
    texts = [units.DASH if seconds is None else units.duration(seconds) for seconds in (first, second)]
    return _differing("run", {"measured": texts[0]}, {"measured": texts[1]})


def _measured_seconds(run: Run) -> float | None:
    return max((total.runtime_seconds for total in run.summary.flows.values()), default=None)


def _settings_of_cluster(left: ClusterEnvironment | None, right: ClusterEnvironment | None) -> list[Difference]:
    if left is None or right is None:
        return []
    return [
        *_config_differences(left, right),
        *_differing("cluster", _set_in_osds(left), _set_in_osds(right), missing="not set"),
        *_known_differing("cluster", _flags(left), _flags(right), missing="not set"),
        *_differing("cluster", _set_facts(left), _set_facts(right)),
        *_known_differing("cluster", _pool_settings(left), _pool_settings(right)),
    ]


def _set_in_osds(cluster: ClusterEnvironment) -> Texts:
    """What OSDs run with beside the configuration database."""
    return {
        f"{option.name} of {_listed([f'osd.{osd}' for osd in option.osds])}": option.value
        for option in cluster.osd_options
        if option.source != "mon"
    }


def _flags(cluster: ClusterEnvironment) -> Texts:
    return {f"OSD flag {flag}": "set" for flag in cluster.osd_flags}


def _pool_settings(cluster: ClusterEnvironment) -> Texts:
    return {_pool_name(name): text for name, text in cluster.pool_settings.items()}


def _config_differences(left: ClusterEnvironment, right: ClusterEnvironment) -> list[Difference]:
    """Options of the configuration database; none where one side could not read it."""
    if left.config is None or right.config is None:
        return []
    left_options, right_options = (
        {name: text for name, text in config.items() if name not in _SHOWN_APART}
        for config in (left.config, right.config)
    )
    if left.config_more or right.config_more:  # an option that one side lacks may be one of those that are not kept
        names = left_options.keys() & right_options.keys()
        left_options = {name: text for name, text in left_options.items() if name in names}
        right_options = {name: text for name, text in right_options.items() if name in names}
    return _differing("cluster", left_options, right_options, missing="default")


def _set_facts(cluster: ClusterEnvironment) -> Texts:
    """The settings of a cluster; PGs that are being split or merged count as done."""
    target = cluster.pool.get("pg_num_target")
    pool = {name: value for name, value in cluster.pool.items() if name != "pg_num_target"}
    pool |= {"pg_num": target} if target else {}
    has_mclock = "mclock" in (cluster.osd_op_queue or "")
    return {
        **{_pool_name(name): _pool_text(name, value) for name, value in pool.items()},
        "OSD caches": f"dropped on {cluster.osd_caches_dropped}" if cluster.osd_caches_dropped else "not dropped",
        "OSD queue": _text(cluster.osd_op_queue),
        "mclock profile": _text(cluster.osd_mclock_profile) if has_mclock else units.DASH,
    }


def _cluster_differences(left: ClusterEnvironment | None, right: ClusterEnvironment | None) -> list[Difference]:
    """The facts of the cluster that differ, in one line where only one run had to do with a cluster."""
    if left is None or right is None:
        return _differing("cluster", {"state": _cluster_in_short(left)}, {"state": _cluster_in_short(right)})
    states = list(left.pg_states | right.pg_states)
    return [
        *_differing("cluster", _cluster_facts(left, states), _cluster_facts(right, states)),
        *_known_differing("cluster", _classes(left), _classes(right)),
    ]


def image_limits_text(cluster: ClusterEnvironment) -> str:
    """``rbd_qos_iops_limit 500``; a dash without any."""
    return _listed([f"{name} {value:g}" for name, value in cluster.image_limits.items()])


def _classes(cluster: ClusterEnvironment) -> Texts:
    return {f"OSDs of class {name}": str(number) for name, number in cluster.osds_by_class.items()}


def _cluster_in_short(cluster: ClusterEnvironment | None) -> str:
    if cluster is None:
        return units.DASH
    version = f"ceph {cluster.ceph_version}" if cluster.ceph_version else "ceph"
    return ", ".join(part for part in (version, cluster.health) if part)


def _cluster_facts(cluster: ClusterEnvironment, pg_states: Sequence[str]) -> Texts:
    return {
        "ceph": _text(cluster.ceph_version),
        "health": _text(cluster.health),
        "OSDs": _text(cluster.osds),
        "OSDs up": _text(cluster.osds_up),
        "OSDs in": _text(cluster.osds_in),
        **{f"PGs {state}": str(cluster.pg_states.get(state, 0)) for state in pg_states if cluster.pg_states},
        "image features": _listed(cluster.image_features),
        "image limits": image_limits_text(cluster),
        "checks": _listed(cluster.checks) if cluster.checks or cluster.health is None else "none",
    }


def _pool_name(fact: str) -> str:
    return f"pool {fact.removesuffix('_bytes')}"


def _pool_text(fact: str, value: OptionValue | None) -> str:
    return units.size(value) if fact.endswith("_bytes") and isinstance(value, int) else _text(value)
