"""Block devices: what a node reports of one, and whether it may be overwritten. Pure; the scripts write nothing."""

from cephtui.targets.devices.facts import (
    LEADS_FUNCTIONS,
    MEMORY_FUNCTIONS,
    DeviceFacts,
    RbdMapping,
    inspect_device_argv,
    list_devices_argv,
    openers_of,
    parse_device,
    parse_devices,
    written_argv,
)
from cephtui.targets.devices.guards import confirm_names, guard_device, guard_listed, guard_reading
from cephtui.targets.devices.queues import QUEUES_FUNCTION, parse_queues

__all__ = [
    "LEADS_FUNCTIONS",
    "MEMORY_FUNCTIONS",
    "QUEUES_FUNCTION",
    "DeviceFacts",
    "RbdMapping",
    "confirm_names",
    "guard_device",
    "guard_listed",
    "guard_reading",
    "inspect_device_argv",
    "list_devices_argv",
    "openers_of",
    "parse_device",
    "parse_devices",
    "parse_queues",
    "written_argv",
]
