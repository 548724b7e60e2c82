"""The cluster's configuration database: the options that are set in it, without what may be secret."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from cephtui.ceph import answers
from cephtui.frozen import dataclass

CONFIG_ARGV = ("ceph", "config", "dump", "-f", "json")
"""The command that reports a ClusterConfig; the cephx caps ``mon 'profile rbd'`` are enough."""
NOT_KEPT = "(not kept)"
"""The text in place of a value that may be secret."""
OPTIONS_MOST = 500
"""How many options are kept. A large cluster has one and more for each OSD, written by the OSDs themselves."""
_NAME_MOST = 120

_SECRET_NAME = re.compile(r"key|secret|pass|token|credential|cert|private|registry", re.IGNORECASE)
_SECRET_VALUE = re.compile(
    r"-----BEGIN"
    r"|://[^/\s]{0,200}@"  # a password in a URL
    r"|(?:key|secret|pass|token)\w{0,40}\s{0,9}="  # an option in an option, such as ssl_key= in rgw_frontends
    r"|\bAQ[A-Za-z0-9+/]{30,}="  # a key of cephx
    r"|\beyJ[\w-]{10,}",  # a JSON web token
    re.IGNORECASE,
)
_SEARCHED_MOST = 2000
"""Characters of a value that are searched for secrets: more than are kept, so that no part of a secret is."""
_OPEN_MODULES = ("mgr/balancer/", "mgr/pg_autoscaler/")
"""Of the manager's modules only these have values that matter here; the others keep addresses and accounts."""


@dataclass(frozen=True, slots=True)
class ClusterConfig:
    """The options of the configuration database that are set; all others have their defaults."""

    options: Mapping[str, str]
    """Values by section, mask and name, ``osd/class:hdd osd_op_num_shards``; sections before single daemons."""
    more: int = 0
    """How many options are set beyond ``OPTIONS_MOST``."""


def parse_config(text: str) -> ClusterConfig:
    """The answer to ``CONFIG_ARGV``."""
    rows = sorted(answers.rows(text), key=_place)
    options = {f"{_section(row)[:_NAME_MOST]} {_name(row)[:_NAME_MOST]}": _value(row) for row in rows[:OPTIONS_MOST]}
    return ClusterConfig(options, max(0, len(rows) - OPTIONS_MOST))


def _place(answer: Mapping[str, Any]) -> tuple[bool, str, str]:
    return "." in str(answer.get("section")), _section(answer), _name(answer)


def _section(answer: Mapping[str, Any]) -> str:
    """The section of an option with its mask: ``osd/class:hdd``."""
    return "/".join(str(answer[key]) for key in ("section", "mask") if answer.get(key))


def _name(answer: Mapping[str, Any]) -> str:
    return str(answer.get("name"))


def _value(answer: Mapping[str, Any]) -> str:
    value = answer.get("value")
    return NOT_KEPT if _may_be_secret(_name(answer), str(value)) else answers.setting_text(value)


def _may_be_secret(name: str, value: str) -> bool:
    if name.startswith("mgr/") and not name.startswith(_OPEN_MODULES):
        return True
    return bool(_SECRET_NAME.search(name) or _SECRET_VALUE.search(value[:_SEARCHED_MOST]))
