"""The caches of librbd that are switched on for an image, whatever the program that opens it asks for."""

from __future__ import annotations

from cephtui.ceph import answers
from cephtui.frozen import dataclass

_CACHE, _PERSISTENT, _PLUGINS = "rbd_cache", "rbd_persistent_cache_mode", "rbd_plugins"
_POLICY, _DIRTY, _UNTIL_FLUSH = "rbd_cache_policy", "rbd_cache_max_dirty", "rbd_cache_writethrough_until_flush"
_TRUE, _FALSE = frozenset(("true", "1", "yes", "on")), frozenset(("false", "0", "no", "off"))


@dataclass(frozen=True, slots=True)
class CacheSetting:
    """An option that switches a cache on."""

    option: str
    """``rbd_cache=true``."""
    source: str
    """What the option is set for: ``image``, ``pool``, or ``config`` for all clients."""
    reads: bool = True
    """Whether reads may come from the cache."""
    writes: bool = True
    """Whether writes may end in it."""
    after_flush: bool = False
    """Whether writes do so from the first flush on only."""


def parse_caches(text: str) -> tuple[CacheSetting, ...]:
    """The caches in the answer to ``qos.limits_argv``.

    librbd takes what is set for an image, or for its pool, before what a program sets for itself, as fio sets
    ``rbd_cache=false`` with ``direct=1``. No program sets the persistent cache, which is there with its plugin only.
    Which policy takes what: docs.ceph.com, librbd settings. By default nothing is written back before a flush; where
    the source of that option is ``config`` its value is the one that ``rbd`` sets for itself.
    """
    options = {str(option.get("name")): option for option in answers.rows(text)}
    values = {name: str(option.get("value", "")) for name, option in options.items()}
    sources = {name: str(option.get("source", "")) for name, option in options.items()}
    settings = []
    if values.get(_CACHE, "").lower() in _TRUE and sources[_CACHE] in ("image", "pool"):
        policy = values.get(_POLICY, "writearound")
        is_free = values.get(_UNTIL_FLUSH, "").lower() in _FALSE and sources[_UNTIL_FLUSH] in ("image", "pool")
        settings.append(
            CacheSetting(
                f"{_CACHE}=true",
                sources[_CACHE],
                reads=policy != "writearound",
                writes=policy != "writethrough" and values.get(_DIRTY) != "0",
                after_flush=not is_free,
            )
        )
    mode = values.get(_PERSISTENT, "disabled")
    if mode in ("rwl", "ssd") and "pwl_cache" in values.get(_PLUGINS, ""):
        settings.append(CacheSetting(f"{_PERSISTENT}={mode}", sources[_PERSISTENT]))
    return tuple(settings)
