"""Which S3 endpoints the object gateways of a cluster have."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping
from typing import Any

from cephtui.ceph import answers

SERVICES_ARGV = ("ceph", "service", "dump", "-f", "json")
"""The command that reports what every running gateway has registered; the cephx caps ``mon r`` are enough."""
_FRONTEND = re.compile(r"(?:^|\s)(ssl_)?(endpoint|port)=([^\s+]+)")
"""An endpoint among a gateway's options, ``beast endpoint=10.0.0.1:7480`` (docs.ceph.com, HTTP frontends)."""


def parse_gateways(text: str) -> tuple[str, ...]:
    """The endpoints in the answer to ``SERVICES_ARGV``, ``http://10.0.0.1:7480``, without repetition."""
    daemons = answers.part(answers.json_object(text), "services", "rgw", "daemons")
    endpoints = (endpoint for daemon in daemons.values() if isinstance(daemon, dict) for endpoint in _endpoints(daemon))
    return tuple(sorted(dict.fromkeys(endpoints)))


def _endpoints(daemon: Mapping[str, Any]) -> Iterator[str]:
    """The endpoints of a gateway's frontends; one that listens on every address has the address of the daemon."""
    daemon_host = str(daemon.get("addr", "")).rpartition(":")[0]
    for name, frontend in answers.part(daemon, "metadata").items():
        if not name.startswith("frontend_config#"):
            continue
        for ssl, key, value in _FRONTEND.findall(str(frontend)):
            host, _, port = value.rpartition(":") if key == "endpoint" else ("", "", value)
            address = daemon_host if _is_every(host) else host
            if address and port.isdecimal():
                yield f"{'https' if ssl else 'http'}://{address}:{port}"


def _is_every(host: str) -> bool:
    try:
        return not host or ipaddress.ip_address(host.strip("[]")).is_unspecified
    except ValueError:
        return False
