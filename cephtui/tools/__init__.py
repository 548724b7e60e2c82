"""The benchmark programs. To add one: its folder here, and its row in the table.

The folder of a tool is imported when the tool is first looked up: a console's first frame needs one of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cephtui.tools.tool import Tool

_CLASSES = {
    "fio": "Fio",
    "rados-bench": "RadosBench",
    "ioping": "Ioping",
    "dd": "Dd",
    "rbd-bench": "RbdBench",
    "iperf3": "Iperf3",
    "hsbench": "Hsbench",
    "gosbench": "Gosbench",
    "load-gen": "LoadGen",
    "osd-bench": "OsdBench",
}
"""The class of each tool, by its name in a preset; the folder has the same name."""
DEFAULT_TOOL = "fio"
"""The tool of a preset that names none."""
WITH_PATH_RULES = ("fio",)
"""The tools that can't use a file of every path."""


class _Tools(Mapping[str, "Tool"]):
    def __getitem__(self, name: str) -> Tool:
        return _tool(name)

    def __contains__(self, name: object) -> bool:
        return name in _CLASSES

    def __iter__(self) -> Iterator[str]:
        return iter(_CLASSES)

    def __len__(self) -> int:
        return len(_CLASSES)


@cache
def _tool(name: str) -> Tool:
    """Raises KeyError for a name that is not in the table, before anything is imported."""
    class_name = _CLASSES[name]
    tool: Tool = getattr(import_module(f"cephtui.tools.{name.replace('-', '_')}"), class_name)()
    return tool


TOOLS: Mapping[str, Tool] = _Tools()
"""Every tool by its name in a preset."""


def check_path(path: str) -> str | None:
    """Why one of the tools can't use a file or device of this path; None where all can."""
    return next(filter(None, (TOOLS[name].check_path(path) for name in WITH_PATH_RULES)), None)
