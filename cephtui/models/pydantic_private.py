"""What pydantic has no public name for. Seen in pydantic 2.14.3."""

from __future__ import annotations

import sys
from types import ModuleType

LOADER = "pydantic.plugin._loader"


def use_no_plugins() -> None:
    """Build models without plugins: to find them, pydantic reads the metadata of every package that is installed.

    That was a twentieth of the time to the console's first frame. ``PYDANTIC_DISABLE_PLUGINS`` saves a third of it.
    """
    loader = ModuleType(LOADER)
    loader.__dict__["get_plugins"] = tuple
    sys.modules.setdefault(LOADER, loader)
