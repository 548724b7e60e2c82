"""Block devices: what a node reports of one, and whether it may be overwritten. Pure; the scripts write nothing."""

from cephtui.targets.devices.facts import (
    LEADS_FUNCTIONS,
    DeviceFacts,
    RbdMapping,
    inspect_argv,
    list_argv,
    openers_of,
    parse_device,
    parse_list,
)
from cephtui.targets.devices.guards import confirm_names, guard_device, guard_listed, guard_reading
from cephtui.targets.devices.queues import QUEUES_FUNCTION, parse_queues

__all__ = [
    "LEADS_FUNCTIONS",
    "QUEUES_FUNCTION",
    "DeviceFacts",
    "RbdMapping",
    "confirm_names",
    "guard_device",
    "guard_listed",
    "guard_reading",
    "inspect_argv",
    "list_argv",
    "openers_of",
    "parse_device",
    "parse_list",
    "parse_queues",
]
