"""The command line that runs this package's modules on a node."""

from __future__ import annotations

from cephtui.paths import packaged_text

_PACKAGE = "cephtui.tools.gosbench"
_MODULES = ("log", "enclosure_on_node", "worker_on_node")
"""Modules in the order in which they need each other."""
_LOADER = f"""
import sys, types
modules = {_MODULES}
sources = sys.argv[1:1 + len(modules)]
del sys.argv[1:1 + len(modules)]
for name, source in zip(modules, sources):
    name = "__main__" if name == modules[-1] else "{_PACKAGE}." + name
    sys.modules[name] = types.ModuleType(name)
    exec(compile(source, name, "exec"), sys.modules[name].__dict__)
""".lstrip()


def script_argv(directory: str, config: str) -> tuple[str, ...]:
    """The worker's program with its arguments; its modules come with it, since nothing is installed on a node."""
    sources = [packaged_text(_PACKAGE, f"{name}.py") for name in _MODULES]
    return ("python3", "-c", _LOADER, *sources, directory, config)
