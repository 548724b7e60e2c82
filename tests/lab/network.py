"""The network of a lab: a switch in a namespace of its own, and a cable from it to every machine."""

from __future__ import annotations

from collections.abc import Mapping

from tests.lab.machines import ADDRESSES, CLUSTER_ADDRESSES, SWITCH, Machine
from tests.lab.processes import LabError


def connect(machines: Mapping[str, Machine]) -> None:
    """Lays the cables. Nothing of it is seen outside the lab's namespaces."""
    switch = machines[SWITCH]
    connected = [machine for name, machine in machines.items() if name in ADDRESSES]
    lines = ["link add dev lan type bridge stp_state 0 forward_delay 0", "link set dev lan up"]
    for machine in connected:
        far_end = f"name eth0 netns {machine.first_process()}"
        lines += [
            f"link add dev {machine.name} type veth peer {far_end}",
            f"link set dev {machine.name} master lan up",
        ]
    try:
        switch.network("\n".join(lines) + "\n")
    except LabError as error:
        raise LabError(f"this machine forbids a network of its own (bridge, veth): {error}") from error
    for machine in connected:
        addresses = [table[machine.name] for table in (ADDRESSES, CLUSTER_ADDRESSES) if machine.name in table]
        adding = "".join(f"address add {address}/24 dev eth0\n" for address in addresses)
        machine.network(f"link set dev lo up\n{adding}link set dev eth0 up\n")


def set_link(switch: Machine, name: str, state: str) -> None:
    """Pulls the cable of a machine at the switch ("down"), or plugs it in ("up")."""
    switch.network(f"link set dev {name} {state}\n")
