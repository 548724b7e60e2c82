"""``cephtui schema``: the schema of the JSON Lines."""

from __future__ import annotations

import json

from cephtui.sessions.jsonlines import schema
from cephtui.terminal import until_seen


def print_schema() -> None:
    """Print the JSON Schema of all public objects."""
    with until_seen():
        print(json.dumps(schema(), indent=2), flush=True)
