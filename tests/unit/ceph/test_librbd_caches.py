"""Caches of librbd that are switched on for an image."""

from __future__ import annotations

import json

import pytest

from cephtui.ceph.librbd_caches import CacheSetting, parse_caches

PERSISTENT = "rbd_persistent_cache_mode"


@pytest.mark.parametrize(
    ("options", "caches"),
    [
        ({"rbd_cache": ("true", "config")}, ()),  # by default: the program switches it off
        (
            {"rbd_cache": ("true", "image")},
            (CacheSetting("rbd_cache=true", "image", reads=False, after_flush=True),),
        ),
        (
            {"rbd_cache": ("true", "pool"), "rbd_cache_policy": ("writeback", "config")},
            (CacheSetting("rbd_cache=true", "pool", after_flush=True),),
        ),
        ({"rbd_cache": ("false", "image")}, ()),
        ({PERSISTENT: ("disabled", "config"), "rbd_plugins": ("", "config")}, ()),
        ({PERSISTENT: ("ssd", "image"), "rbd_plugins": ("", "config")}, ()),  # without the plugin there is none
        (
            {PERSISTENT: ("ssd", "pool"), "rbd_plugins": ("pwl_cache", "image")},
            (CacheSetting(f"{PERSISTENT}=ssd", "pool"),),
        ),
        (
            {PERSISTENT: ("rwl", "config"), "rbd_plugins": ("parent_cache,pwl_cache", "config")},
            (CacheSetting(f"{PERSISTENT}=rwl", "config"),),
        ),
        ({}, ()),
    ],
    ids=str,
)
def test_a_cache_that_the_program_can_not_switch_off(
    options: dict[str, tuple[str, str]], caches: tuple[CacheSetting, ...]
) -> None:
    rows = [{"name": name, "value": value, "source": source} for name, (value, source) in options.items()]
    assert parse_caches(json.dumps(rows)) == caches
