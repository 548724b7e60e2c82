"""The cluster's configuration database: the options that are set in it, without what may be secret."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from cephtui.ceph import answers
from cephtui.frozen import dataclass

CONFIG_ARGV = ("ceph", "config", "dump", "-f", "json")
"""Reports a Config; the cephx caps ``mon 'profile rbd'`` are enough."""
NOT_KEPT = "(not kept)"
"""Stands for a value that may be secret."""
OPTIONS_MOST = 500
"""How many options are kept. A large cluster has one and more for each OSD, written by the OSDs themselves."""
_NAME_MOST = 120

_SECRET_NAME = re.compile(r"key|secret|pass|token|credential|cert|private|registry", re.IGNORECASE)
_SECRET_VALUE = re.compile(
    r"-----BEGIN"
    r"|://[^/\s]*@"  # a password in a URL
    r"|\b\w*(?:key|secret|pass|token)\w*\s*="  # an option in an option, such as ssl_key= in rgw_frontends
    r"|\bAQ[A-Za-z0-9+/]{30,}="  # a key of cephx
    r"|\beyJ[\w-]{10,}",  # a JSON web token
    re.IGNORECASE,
)
_OPEN_MODULES = ("mgr/balancer/", "mgr/pg_autoscaler/")
"""Of the manager's modules only these have values that matter here; the others keep addresses and accounts."""


@dataclass(frozen=True, slots=True)
class Config:
    """The options that are set; all others have their defaults."""

    options: Mapping[str, str]
    """By section, mask and name, ``osd/class:hdd osd_op_num_shards``; whole sections before single daemons."""
    more: int = 0
    """How many others there are, beyond ``OPTIONS_MOST``."""


def parse_config(text: str) -> Config:
    """The answer to ``CONFIG_ARGV``."""
    found = sorted(map(_option, answers.rows(text)), key=lambda one: ("." in one[0].partition(" ")[0], one[0]))
    return Config(dict(found[:OPTIONS_MOST]), max(0, len(found) - OPTIONS_MOST))


def _option(answer: Mapping[str, Any]) -> tuple[str, str]:
    section, mask, name = (str(answer.get(key) or "") for key in ("section", "mask", "name"))
    where = "/".join(filter(None, (section, mask)))
    value = answers.short_text(answer.get("value"))
    return f"{where[:_NAME_MOST]} {name[:_NAME_MOST]}", NOT_KEPT if _may_be_secret(name, value) else value


def _may_be_secret(name: str, value: str) -> bool:
    if name.startswith("mgr/") and not name.startswith(_OPEN_MODULES):
        return True
    return bool(_SECRET_NAME.search(name) or _SECRET_VALUE.search(value))
