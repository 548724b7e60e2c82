"""The environment of a node: queried by one short script, stored with every run."""

from __future__ import annotations

import hashlib
import re
import shlex
from typing import TYPE_CHECKING

from cephtui import models
from cephtui.nodes.shell import Shell, failure_reason, with_programs
from cephtui.nodes.transport import Completed, TransportError
from cephtui.tools import TOOLS

if TYPE_CHECKING:
    from cephtui.models import Node, NodeEnvironment

_FACTS = r"""
say() { printf '%s\t%s\n' "$1" "$2"; }
get() { { IFS= read -r value < "$1"; } 2>/dev/null; } # a process for each file would take most of the time
setting() { get "$2" && say "$1" "$value"; }
setting hostname /proc/sys/kernel/hostname
say os "$( . /etc/os-release 2>/dev/null && printf %s "$PRETTY_NAME" )"
setting kernel /proc/sys/kernel/osrelease
while IFS= read -r value; do
    case $value in "model name"*:*) say cpu "${value#*: }"; break ;; esac
done < /proc/cpuinfo
say cpu_count "$(nproc)"
while read -r name value _; do
    case $name in MemTotal:) say memory_bytes "$(( value * 1024 ))"; break ;; esac
done < /proc/meminfo
get /proc/loadavg && say load_1m "${value%% *}"
is_guests() { case $1 in tap*|fwbr*|fwln*|fwpr*|vnet*|veth*) ;; *) false ;; esac; } # they come and go
for nic in /sys/class/net/*; do
    is_guests "${nic##*/}" && continue
    get "$nic/operstate" && [ "$value" = up ] || continue
    setting "mtu.${nic##*/}" "$nic/mtu"
    get "$nic/speed" && [ "${value:-0}" -gt 0 ] && say "nics.${nic##*/}" "${value}000000"
done
while read -r nic network gateway _ _ _ _ mask _; do # what it is in, and where it is the default
    [ "$gateway" = 00000000 ] && [ "$mask" != FFFFFFFF ] || [ "$mask" = 00000000 ] || continue
    say "route.$nic.$network" "$mask"
done 2>/dev/null < /proc/net/route
PATH=$PATH:/usr/sbin:/sbin tc qdisc show 2>/dev/null | while read -r _ kind _ _ nic at more; do
    is_guests "$nic" || case $kind:$at in
        tbf:root|htb:root|hfsc:root|netem:root|cake:root) say "shaping.$nic" "$kind $more" ;;
        ingress:parent) say "shaping.$nic ingress" "$kind" ;;
    esac
done
for name in $SYSCTLS; do setting "settings.$name" "/proc/sys/${name//./\/}"; done
set -- /sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor
[ ! -e "$1" ] || say settings.cpufreq/scaling_governor "$(cat "$@" 2>/dev/null | sort -u | paste -s -d ,)"
limit="timeout 10" # a program that hangs, or prints without end, is as good as none
command -v timeout >/dev/null 2>&1 || limit=
version() { $limit "$@" 2>/dev/null </dev/null | head -c 4096; }
for needed in flock:util-linux wipefs:util-linux timeout:coreutils stat:coreutils; do
    PATH=$PATH:/usr/sbin:/sbin command -v "${needed%:*}" >/dev/null 2>&1 || say "missing.${needed%:*}" "${needed#*:}"
done
"""

_SYSCTLS = (
    "vm.dirty_ratio",
    "vm.dirty_background_ratio",
    "vm.dirty_bytes",
    "vm.dirty_background_bytes",
    "vm.swappiness",
    "net.core.rmem_max",
    "net.core.wmem_max",
    "net.core.netdev_max_backlog",
    "net.core.somaxconn",
    "net.core.default_qdisc",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_mtu_probing",
    "fs.aio-max-nr",
    "kernel.numa_balancing",
    "kernel.pid_max",
)
"""Kernel parameters, as in sysctl(8), that decide how fast storage and network are."""
_SETTINGS = {*_SYSCTLS, "cpufreq/scaling_governor"}
_SETTING_MOST, _NICS_MOST = 200, 256

_SHAPES = re.compile(r"(?<=^ )[a-z]+(?= )|(?<= )(?:rate|bandwidth|delay|loss) [0-9][^ ]*(?= )")
"""In the words of tc-tbf(8) and others: the kind, and limits with their values."""
_WHOLE = re.compile(r"[0-9]{1,20}")
_NUMBERS = {"cpu_count": _WHOLE, "memory_bytes": _WHOLE, "load_1m": re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")}

_CEPH_VERSION_ARGV = ("rados", "--version")
"""The command that reports Ceph's version; ``ceph`` would take eight times as long."""


async def probe(shell: Shell) -> NodeEnvironment:
    """The environment of a node, with the versions of Ceph's programs behind its prefix; raises TransportError."""
    argv = probe_argv(shell.node)
    environment = _environment(shell.node, "prefix", await shell.run(argv))
    if not (shell.node.prefix or shell.node.ceph_prefix):
        return environment
    behind = _environment(shell.node, "ceph_prefix", await shell.ceph(argv))
    versions = {name: version for name, version in environment.tools.items() if not _is_of_ceph(name)}
    ceph_versions = {name: version for name, version in behind.tools.items() if _is_of_ceph(name)}
    return environment.model_copy(update={"tools": {**versions, **ceph_versions}})


def _environment(node: Node, prefix: str, answer: Completed) -> NodeEnvironment:
    """The environment in an answer. The script always succeeds: else the prefix has failed, a TransportError."""
    if answer.status == 0:
        return parse_environment(answer.stdout)
    words = node.prefix if prefix == "prefix" else node.ceph_prefix
    if not words:
        raise TransportError(f"{node.name}: bash can't be run there: {failure_reason(answer)}")
    remedy = ": allow it without a password (NOPASSWD in sudoers)" if words[:1] == ("sudo",) else ""
    raise TransportError(f"{node.name}: {prefix} {shlex.join(words)}: {failure_reason(answer)}{remedy}")


def _is_of_ceph(program: str) -> bool:
    """Whether it runs behind a node's ``ceph_prefix``."""
    return program == "ceph" or (program in TOOLS and TOOLS[program].ships_with_ceph)


def probe_argv(node: Node) -> tuple[str, ...]:
    """A command that reports a NodeEnvironment."""
    return ("bash", "-c", f"SYSCTLS='{' '.join(_SYSCTLS)}'{_FACTS}{_versions(node)}exit 0\n", "cephtui-probe")


def _versions(node: Node) -> str:
    """The shell text that reports the version of every tool; each command runs once, however many tools share it."""
    names: dict[tuple[str, ...], list[str]] = {}
    for tool in TOOLS.values():
        names.setdefault(tool.version_argv, []).append(tool.name)
    names.setdefault(_CEPH_VERSION_ARGV, []).append("ceph")
    lines = []
    for argv, tools in names.items():
        lines.append(f"version=$(version {shlex.join(with_programs(node, argv))})\n")
        lines += [f'say {shlex.quote(f"tools.{name}")} "$version"\n' for name in tools]
    return "".join(lines)


def parse_environment(text: str) -> NodeEnvironment:
    """The output of ``probe_argv``; a missing value, or one that is no number, stays None."""
    printed = dict(line.split("\t", 1) for line in text.splitlines() if "\t" in line)
    values = {
        key: value
        for key, value in printed.items()
        if value and (key not in _NUMBERS or _NUMBERS[key].fullmatch(value))
    }
    missing = _values_under("missing.", values).items()
    return models.NodeEnvironment.model_validate(
        {
            **values,
            "tools": _values_under("tools.", values),
            "nic_bits_per_second": _whole_numbers(_values_under("nics.", values)),
            "nic_mtu": _whole_numbers(_values_under("mtu.", values)),
            "nic_networks": _networks(values),
            "nic_shaping": _shaping(_values_under("shaping.", values)),
            "settings": {
                name: value[:_SETTING_MOST]
                for name, value in _values_under("settings.", values).items()
                if name in _SETTINGS
            },
            "missing": [f"{command} is not installed: apt-get install {package}" for command, package in missing],
        }
    )


def _networks(values: dict[str, str]) -> dict[str, str]:
    """By NIC a digest of the networks that it is in, and of whether it is the default."""
    routes: dict[str, list[str]] = {}
    for route, mask in sorted(_values_under("route.", values).items()):
        nic, _, network = route.rpartition(".")
        if f"mtu.{nic}" in values:
            routes.setdefault(nic, []).append(f"{network}/{mask}")
    nics = list(routes.items())[:_NICS_MOST]
    return {nic: hashlib.blake2s(" ".join(networks).encode(), digest_size=4).hexdigest() for nic, networks in nics}


def _shaping(by_nic: dict[str, str]) -> dict[str, str]:
    """By NIC what holds its packets back: the kind of tc's queueing discipline, and those of its limits that it says.

    Its other words count packets, or are others each time; cake without a bandwidth holds nothing back.
    """
    shaping = {nic: " ".join(_SHAPES.findall(f" {text} ")) for nic, text in list(by_nic.items())[:_NICS_MOST]}
    return {nic: text[:_SETTING_MOST] for nic, text in shaping.items() if text != "cake"}


def _values_under(prefix: str, values: dict[str, str]) -> dict[str, str]:
    return {key.removeprefix(prefix): value for key, value in values.items() if key.startswith(prefix)}


def _whole_numbers(by_nic: dict[str, str]) -> dict[str, str]:
    return {nic: value for nic, value in list(by_nic.items())[:_NICS_MOST] if _WHOLE.fullmatch(value)}
