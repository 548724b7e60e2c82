"""``cephtui schema``: the schema of the JSON Lines."""

from __future__ import annotations

import json

from cephtui.sessions.jsonlines import schema


def print_schema() -> None:
    """Print the JSON Schema of all public objects."""
    print(json.dumps(schema(), indent=2))
