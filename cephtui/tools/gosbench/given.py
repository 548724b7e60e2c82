"""What a user gave gosbench: the config file of its server, YAML or JSON, with every value as it is written there.

Format (gosbench v0.7, ``common/configFile.go``): ``s3_config`` and ``tests`` are lists; a test has the sections
``objects`` and ``buckets``.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import yaml

from cephtui.frozen import dataclass
from cephtui.reading import TOML_MOST_BYTES
from cephtui.units import size

_UNSET = ("", "~", "null", "Null", "NULL")


@dataclass(frozen=True, slots=True)
class GosbenchConfig:
    """A config file; values that are not set are empty."""

    services: tuple[Mapping[str, str], ...]
    """The services of ``s3_config``."""
    tests: tuple[Mapping[str, str], ...]
    """Options of a section have it before their name: ``objects.size_min``."""
    other_sections: tuple[str, ...]
    """Names of further sections."""


class _Loader(yaml.BaseLoader):
    """Builds texts, lists and mappings only, each once: an alias could make a little text endless."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise ValueError("it has an alias (*NAME), expected the values themselves")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """A mapping in which, as for gosbench, no name may stand twice."""
        mapping = super().construct_mapping(node, deep)
        if len(mapping) < len(node.value):
            raise ValueError(f"line {node.start_mark.line + 1}: an option that is given twice")
        return mapping


def read_config(text: str) -> GosbenchConfig:
    """A config file; raises ValueError with what is wrong, without any of the text: it may be a key."""
    if len(text) > TOML_MOST_BYTES:
        raise ValueError(f"too large: {size(len(text))}, expected at most {size(TOML_MOST_BYTES)}")
    config = _load(text)
    if not isinstance(config, dict) or not _mappings(config.get("tests")):
        raise ValueError("no tests: expected the config of gosbench's server, with s3_config: and tests:")
    if len(_mappings(config["tests"])) < len(config["tests"]):
        raise ValueError("tests: expected options in each of them")
    return GosbenchConfig(
        services=tuple(_flat(service) for service in _mappings(config.get("s3_config"))),
        tests=tuple(_flat(test) for test in _mappings(config["tests"])),
        other_sections=tuple(str(name) for name in config if name not in ("s3_config", "tests")),
    )


def _load(text: str) -> Any:
    try:
        return _Loader(text).get_single_data()
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise ValueError(f"{line}{error.problem or 'no YAML'}") from None
    except yaml.YAMLError:
        raise ValueError("no YAML: it has characters that are not printable") from None


def _mappings(value: Any) -> list[Mapping[Any, Any]]:
    return [mapping for mapping in value if isinstance(mapping, dict)] if isinstance(value, list) else []


def _flat(mapping: Mapping[Any, Any]) -> dict[str, str]:
    flat: dict[str, str] = {}
    for name, value in mapping.items():
        if isinstance(value, dict):
            flat |= {f"{name}.{inner}": _text(inner_value) for inner, inner_value in value.items()}
        else:
            flat[str(name)] = _text(value)
    return flat


def _text(value: Any) -> str:
    if isinstance(value, (list, dict)):
        return "several values" if value else ""
    return value if isinstance(value, str) and value not in _UNSET else ""
