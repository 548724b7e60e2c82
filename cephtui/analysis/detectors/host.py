"""What a host has for measuring, and what it lacks, by what was read there. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from cephtui.ceph.surroundings import Surroundings
from cephtui.frozen import dataclass
from cephtui.models import Node, NodeEnvironment, OptionValue
from cephtui.models.host import HostRow
from cephtui.tools import DEFAULT_TOOL, TOOLS

if TYPE_CHECKING:
    from cephtui.tools.tool import Tool

_CEPH, _OF_CEPH = "ceph-common", ("ceph", "rados", "rbd")
_CEPHADM = "cephadm add-repo --release RELEASE && cephadm install"
"""docs.ceph.com, Cephadm, Enable Ceph CLI."""
_MANAGERS = {
    "debian": "apt-get",
    "ubuntu": "apt-get",
    "fedora": "dnf",
    "rhel": "dnf",
    "centos": "dnf",
    "suse": "zypper",
    "opensuse": "zypper",
    "sles": "zypper",
}
"""Package managers by the id of the distribution, or of one that it is like."""
_PACKAGES = {("dnf", "openssh-client"): "openssh-clients", ("zypper", "openssh-client"): "openssh-clients"}
"""Names of packages that are not Debian's."""
_OF_S3 = frozenset({"s3"})
"""The kinds of targets of tools that measure gateways only."""
FOLDERS = {"sessions": "CEPHTUI_DATA_DIR", "config": "XDG_CONFIG_HOME", "cache": "XDG_CACHE_HOME"}
"""Folders of cephtui's own, and the variable of the environment that names another place."""
_LEAST_BYTES = 1 << 30
"""The scratch file of a preset that has no other size."""
_VERSION = re.compile(r"\d+(?:\.\w+)+")
_ONE_NODE, _NO_GATEWAY, _NO_CEPH = (
    "needed only for the network between two nodes",
    "needed only for S3 gateways",
    "needed only for a Ceph cluster",
)


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of cephtui's own."""

    name: str
    path: str
    problem: str = ""
    """Why it can't be written; empty where it can."""
    free_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Machine:
    """Facts of the machine that cephtui runs on, besides those of every node."""

    python: str
    colors: str
    ascii_only: bool
    size: tuple[int, int] | None
    """Columns and rows of the terminal; None where the output goes elsewhere."""
    folders: tuple[Folder, ...]
    clipboard: str = ""
    """Why a copy would not reach the clipboard; empty where that is not known."""
    clipboard_cure: str = ""
    agent_keys: int | None = None
    """Keys of the SSH agent; None where there is no agent."""
    keys: tuple[str, ...] = ()
    """Files of SSH keys."""
    ssh_hosts: int = 0
    """Hosts that the SSH configuration has by name."""


@dataclass(frozen=True, slots=True)
class ClusterFacts:
    """A Ceph cluster as one of its clients sees it, or why it can't be seen."""

    health: str = ""
    release: str = ""
    osds: int = 0
    gateways: tuple[str, ...] = ()
    """Endpoints of its object gateways."""
    problem: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Examined:
    """A node, and what was read there; what was not is None."""

    node: Node
    environment: NodeEnvironment | None = None
    problem: str = ""
    """Why it can't be reached; of one with an environment, why its surroundings can't be read."""
    surroundings: Surroundings | None = None
    cluster: ClusterFacts | None = None
    targets: Mapping[str, str] | None = None
    """The targets that can be tested safely, with a few words on each."""
    alone: bool = True
    """Whether it is the only node that is known."""


def host_rows(machine: Machine, nodes: Sequence[Examined]) -> tuple[HostRow, ...]:
    """The rows of all nodes, those of this machine first."""
    here = nodes[0].node.name if nodes and nodes[0].node.host is None else "local"
    here_rows = [HostRow(node=here, group="machine", **fields) for fields in _machine(machine)]
    ssh = [HostRow(node=here, group="ssh", **fields) for fields in _ssh(machine, nodes)]
    return (*here_rows, *(row for node in nodes for row in node_rows(node)), *ssh)


def can_measure(rows: Iterable[HostRow]) -> bool:
    """Whether nothing that is essential is missing."""
    return all(row.status == "works" for row in rows if row.essential)


# ---------------------------------------------------------------------------------------------- this machine

Fields = dict[str, object]
"""The fields of a row, by name."""


def _row(what: str, facts: Mapping[str, OptionValue | None] | None = None, problem: str = "", **more: object) -> Fields:
    """The fields of a row; its status is ``missing`` where it has a problem and no other status."""
    facts = {name: value for name, value in (facts or {}).items() if value is not None and value != ""}
    return {"what": what, "status": "missing" if problem else "works", "facts": facts, "problem": problem, **more}


def _machine(machine: Machine) -> Iterator[Fields]:
    yield _row("Python", {"version": machine.python})
    columns, rows = machine.size or (None, None)
    characters = "ASCII" if machine.ascii_only else "UTF-8"
    shown = {"colors": machine.colors, "characters": characters, "columns": columns, "rows": rows}
    small = columns is not None and rows is not None and (columns < 80 or rows < 24)
    yield _row("terminal", shown, "the console needs 80x24" if small else "", cure="make it larger" if small else "")
    for folder in machine.folders:
        full = folder.free_bytes is not None and folder.free_bytes < _LEAST_BYTES and folder.name == "cache"
        problem = folder.problem or ("no space for a scratch file of 1 GiB" if full else "")
        yield _row(
            folder.name,
            {"path": folder.path, "free_bytes": folder.free_bytes},
            problem,
            cure="cephtui --target file:PATH measures elsewhere" if full else _folder_cure(folder) if problem else "",
            essential=folder.name in ("cache", "sessions"),
        )
    if machine.clipboard:
        yield _row("clipboard", {}, machine.clipboard, status="optional", cure=machine.clipboard_cure)


def _folder_cure(folder: Folder) -> str:
    return f"export {FOLDERS[folder.name]}=FOLDER, with a writable folder"


def _ssh(machine: Machine, nodes: Sequence[Examined]) -> Iterator[Fields]:
    """The row of SSH keys, where there are other nodes."""
    if all(examined.alone and examined.node.host is None for examined in nodes):
        return
    facts = {"agent_keys": machine.agent_keys, "keys": ", ".join(machine.keys), "hosts": machine.ssh_hosts or None}
    lacks = not (machine.agent_keys or machine.keys)
    problem = "no key for the other nodes, which therefore ask for a password" if lacks else ""
    cure = "ssh-keygen -t ed25519 && ssh-copy-id root@NODE" if lacks else ""
    yield _row("keys", facts, problem, cure=cure)


# ---------------------------------------------------------------------------------------------- each node


def node_rows(examined: Examined) -> Iterator[HostRow]:
    """The rows of one node."""
    groups = {
        "machine": _system(examined),
        "programs": _programs(examined) if examined.environment else (),
        "ceph": _cluster(examined) if examined.environment else (),
        "proxmox": _proxmox(examined.surroundings) if examined.surroundings else _not_read(examined),
        "targets": _targets(examined),
    }
    for group, rows in groups.items():
        yield from (HostRow(node=examined.node.name, group=group, **fields) for fields in rows)


def _system(examined: Examined) -> Iterator[Fields]:
    environment, host = examined.environment, examined.node.host
    if environment is None:
        yield _row("node", {"host": host}, examined.problem or "no answer", status="unknown", essential=True)
        return
    facts = {"host": host, "name": environment.hostname, "os": environment.os, "kernel": environment.kernel}
    yield _row("node", facts, essential=True)


def _programs(examined: Examined) -> Iterator[Fields]:
    surroundings, environment = examined.surroundings or Surroundings(), examined.environment or NodeEnvironment()
    for tool in _not_of_ceph(TOOLS.values()):
        yield _program(examined, surroundings, tool)
    yield _ceph(surroundings, environment, is_read=examined.surroundings is not None)
    without = {"curl": _not_needed_for_s3(examined), "ssh": "cephtui logs in without it"}
    for program, package in (("curl", "curl"), ("ssh", "openssh-client")) if examined.surroundings else ():
        version = _short(surroundings.versions.get(program))
        if version:
            yield _row(program, {"version": version})
        else:
            yield _lacking(program, without[program], install(surroundings, package))
    for text in environment.missing:
        yield _lacking(text.split()[0], "", install(surroundings, text.split()[-1]), essential=True)


def _ceph(surroundings: Surroundings, environment: NodeEnvironment, *, is_read: bool) -> Fields:
    """The row of Ceph's own programs, which one package installs."""
    version = _short(environment.tools.get("ceph"))
    lacks = [name for name in _OF_CEPH if is_read and name not in surroundings.programs]
    if version or not lacks:
        return _row(", ".join(_OF_CEPH), {"version": version})
    return _lacking(", ".join(lacks), "" if surroundings.has_ceph else _NO_CEPH, install(surroundings, _CEPH))


def _not_of_ceph(tools: Iterable[Tool]) -> Iterator[Tool]:
    """The tools without those that Ceph ships, which have one row together."""
    return (tool for tool in tools if tool.package != _CEPH)


def _program(examined: Examined, surroundings: Surroundings, tool: Tool) -> Fields:
    text = examined.environment.tools.get(tool.name) if examined.environment else None
    problem = tool.check_version(text, examined.node.programs)
    essential = tool.name == DEFAULT_TOOL
    cure = install(surroundings, tool.package) if tool.package else tool.how_to_install
    if problem is None:
        return _row(tool.name, {"version": _short(text)}, essential=essential)
    if text and text.strip():
        return _row(tool.name, {"version": _short(text)}, problem.partition(" (")[0], cure=cure, essential=essential)
    return _lacking(tool.name, _not_needed(examined, tool), cure, essential=essential)


def _lacking(what: str, not_needed: str, cure: str, *, essential: bool = False) -> Fields:
    status = "optional" if not_needed else "missing"
    return _row(what, {}, not_needed or "not installed", status=status, cure=cure, essential=essential)


def _not_needed(examined: Examined, tool: Tool) -> str:
    """Why a host like this can do without a tool; empty where it can't."""
    if tool.measures_network:
        return _ONE_NODE if examined.alone else ""
    return _not_needed_for_s3(examined) if tool.kinds == _OF_S3 else ""


def _not_needed_for_s3(examined: Examined) -> str:
    return "" if examined.cluster and examined.cluster.gateways else _NO_GATEWAY


def install(surroundings: Surroundings, package: str) -> str:
    """The command that installs a package, by its name in Debian."""
    manager = next((_MANAGERS[name] for name in surroundings.system.ids if name in _MANAGERS), "")
    manager = manager or next((name for name in ("apt-get", "dnf", "zypper") if name in surroundings.programs), "")
    if not manager:
        return f"install the package {package}"
    name = _PACKAGES.get((manager, package), package)
    if package == _CEPH and manager != "apt-get" and "cephadm" in surroundings.programs:
        return f"{_CEPHADM} {name}"
    return f"{manager} install {name}"


def _short(text: str | None) -> str:
    """The version alone: ``3.33`` of ``fio-3.33``; the text where there is none in it."""
    match = _VERSION.search(text or "")
    return match[0] if match else (text or "").strip()


def _cluster(examined: Examined) -> Iterator[Fields]:
    surroundings, cluster, node = examined.surroundings, examined.cluster, examined.node
    if cluster is None:
        if surroundings is not None and surroundings.has_ceph:
            hidden = [name for name in surroundings.unreadable if name.endswith(("keyring", ".conf"))]
            why = f"{hidden[0]} can't be read" if hidden else "Ceph's programs are not installed"
            cure = (
                "run cephtui as root, or name --ceph-id and --ceph-keyring" if hidden else install(surroundings, _CEPH)
            )
            yield _row("cluster", {}, why, status="unknown", cure=cure)
        else:
            why = "no ceph.conf here, so no cluster is known"
            yield _row(
                "cluster", {}, why, status="optional", cure="cephtui doctor --node NODE queries a node that has one"
            )
        return
    conf = node.ceph_conf or (f"monitors {node.ceph_mon_host}" if node.ceph_mon_host else "/etc/ceph/ceph.conf")
    access = {"client": f"client.{node.ceph_id or 'admin'}", "conf": conf}
    if cluster.problem:
        yield _row("cluster", access, cluster.problem, status="unknown", cure=cluster.remedy)
        return
    yield _row(
        "cluster",
        {
            "release": cluster.release,
            "health": cluster.health,
            "osds": cluster.osds,
            **access,
            "gateways": ", ".join(cluster.gateways),
        },
    )


def _proxmox(surroundings: Surroundings) -> Iterator[Fields]:
    if surroundings.proxmox is None:
        return
    names = ", ".join(node.name for node in surroundings.other_nodes)
    yield _row("Proxmox VE", {"version": surroundings.proxmox, "node": surroundings.host, "others": names})
    hidden = [name for name in surroundings.unreadable if name.startswith("/etc/pve") and "ceph" not in name]
    if hidden:
        yield _row("storages", {}, f"{hidden[-1]} can't be read", status="unknown", cure="run cephtui as root")
    else:
        names = ", ".join(f"{storage.name} ({storage.type})" for storage in surroundings.storages)
        yield _row("storages", {"names": names})


def _not_read(examined: Examined) -> Iterator[Fields]:
    """The row of storages that can't be read: the file system of /etc/pve has a daemon, which may hang."""
    if examined.environment and examined.problem:
        yield _row("storages", {}, examined.problem, status="unknown", cure="check it with: ls /etc/pve")


def _targets(examined: Examined) -> Iterator[Fields]:
    """A row for each target that can be measured, with the command that shows how."""
    node = [] if examined.node.host is None else ["--node", examined.node.name]
    for spec, text in (examined.targets or {}).items():
        target = ["--target", spec] if spec else []
        command = shlex.join(["cephtui", "run", "write-iops", *node, *target, "--dry-run"])
        yield _row(spec or "a scratch file", {"about": text}, cure=command, status="optional")
