"""The benchmark programs. To add one: its folder here, and its row in the table."""

from __future__ import annotations

from collections.abc import Mapping

from cephtui.tools.base import Tool
from cephtui.tools.fio import Fio
from cephtui.tools.ioping import Ioping
from cephtui.tools.rados_bench import RadosBench

TOOLS: Mapping[str, Tool] = {tool.name: tool for tool in (Fio(), RadosBench(), Ioping())}
"""Every tool by its name in a preset."""
DEFAULT_TOOL = Fio.name
"""Of a preset that names none."""
