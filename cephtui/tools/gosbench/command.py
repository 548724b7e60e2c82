"""gosbench: the config that its server reads, and what the test takes and does.

Each node has a server and a worker of its own, and all begin to measure together: see ``worker_on_node``.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cephtui.tools.base import OptionError, Parser, Workload
from cephtui.tools.gosbench.options import WEIGHTS
from cephtui.tools.gosbench.script import script_argv
from cephtui.tools.load import Load
from cephtui.units import duration, parse_size, short_size
from cephtui.units import size as size_text

if TYPE_CHECKING:
    from cephtui.models import Place

TEST = "cephtui"
"""The name of the test in gosbench's metrics."""
_REST_SECONDS = 5.0
"""Its server waits so long after the preparation."""
_PREPARED_PER_SECOND, _PREPARED_BYTES_PER_SECOND = 100, 100e6
"""Assumed for the estimate: a worker prepares its objects one after the other."""
_SHOWN = ("parallel_clients", "stop_with_runtime", "stop_with_ops", "bucket_prefix")
"""Options of a test in the short command, behind its weights, sizes and numbers."""
_METHODS = {"write_weight": "PUT", "read_weight": "GET", "delete_weight": "DELETE", "list_weight": "LIST"}


class GosbenchWorkload(Workload):
    """gosbench with its options."""

    prepares_itself = True

    def jobs_and_size(self, default_span_bytes: int) -> tuple[int, int]:
        """Twice the objects: a gateway counts one that is overwritten as a new one until it is there."""
        size = 2 * (self._objects + int(self.options["parallel_clients"])) * self._largest
        if size > default_span_bytes:
            problem = f"{self._objects:,} of up to {short_size(self._largest)} need room for {size_text(size)}"
            raise OptionError("objects", f"{problem}, and there is room for {size_text(default_span_bytes)}")
        return 1, size

    def argv(self, name: str, size_bytes: int, place: Place) -> tuple[str, ...]:
        """The config has no keys: they come by stdin, and the worker gets them from memory."""
        return script_argv("gosbench", json.dumps(self._config(place), separators=(",", ":")))

    def display_command(self, argv: Sequence[str], place: Place) -> tuple[str, ...]:
        """The command without the programs that come with it: what is run, and its config."""
        return tuple(argv[-2:])

    def _config(self, place: Place) -> dict[str, Any]:
        """The config as gosbench reads it; path style, since a gateway's name alone serves no others."""
        endpoint = {"region": "us-east-1", "endpoint": place.endpoint, "skipSSLverify": False, "usePathStyle": True}
        return {"s3_config": [endpoint], "tests": [self._test(place.bucket_prefix)]}

    def _test(self, bucket_prefix: str) -> dict[str, Any]:
        chosen = self.options
        ends = {"stop_with_ops": chosen["stop_with_ops"]} if "stop_with_ops" in chosen else {}
        lasts = {"stop_with_runtime": f"{float(chosen['runtime']):g}s"} if "runtime" in chosen else {}
        sizes = {"size_min": self._least, "size_max": self._largest, "size_distribution": chosen["size_distribution"]}
        return {
            "name": TEST,
            **{weight: chosen[weight] for weight in WEIGHTS},
            "objects": {**sizes, "unit": "B", **_constant(int(chosen["objects"]))},
            "buckets": _constant(int(chosen["buckets"])),
            "bucket_prefix": bucket_prefix,
            "object_prefix": "object",
            **lasts,
            **ends,
            "workers": 1,
            "workers_share_buckets": True,
            "parallel_clients": chosen["parallel_clients"],
            "clean_after": False,
        }

    def parser(self, *, ramp: bool, seconds: float | None) -> Parser:
        from cephtui.tools.gosbench.output import GosbenchParser

        return GosbenchParser(self.block_bytes(), seconds)

    def times(self) -> tuple[float, float | None]:
        """There is no ramp."""
        return 0.0, float(self.options["runtime"]) if "runtime" in self.options else None

    def prepare_seconds(self) -> float:
        """All objects that are not first written by the test."""
        weights = {weight: int(self.options[weight]) for weight in WEIGHTS}
        share = 1 - weights["write_weight"] / sum(weights.values())
        object_seconds = 1 / _PREPARED_PER_SECOND + self._largest / _PREPARED_BYTES_PER_SECOND
        return round(_REST_SECONDS + share * self._objects * object_seconds, 1)

    def describe(self) -> str:
        mix = ", ".join(f"{_METHODS[weight]} {self.options[weight]}" for weight in WEIGHTS if self.options[weight])
        size = short_size(self._least) + (f" to {short_size(self._largest)}" if self._largest != self._least else "")
        ops = self.options.get("stop_with_ops")
        lasts = f"{ops} operations" if ops else duration(float(self.options["runtime"]))
        return f"{size} objects, {mix}, {self.options['parallel_clients']} clients, {lasts}"

    def load(self) -> Load:
        mix = "mixed" if sum(bool(self.options[weight]) for weight in WEIGHTS) > 1 else "write"
        if not self.options["write_weight"]:
            mix = "read" if mix == "write" else mix
        return Load(self.block_bytes(), mix, int(self.options["parallel_clients"]), 1, self.times()[1])

    def block_bytes(self) -> int:
        return self._least if self._least == self._largest else 0

    def writes(self) -> bool:
        """Its preparation does, whatever is measured."""
        return True

    @property
    def _objects(self) -> int:
        return int(self.options["objects"]) * int(self.options["buckets"])

    @property
    def _least(self) -> int:
        return parse_size(str(self.options["size_min"]))

    @property
    def _largest(self) -> int:
        return parse_size(str(self.options.get("size_max", self.options["size_min"])))


def short_config(text: str) -> str:
    """``endpoint=http://gw:7480 write_weight=50 objects=100 ...`` of a config as it stands in a command line.

    A text that is none, as of a session that was changed by hand, stays as it is.
    """
    try:
        config = json.loads(shlex.split(text)[0])
        (service,), (test,) = config["s3_config"], config["tests"]
        objects, buckets = test["objects"], test["buckets"]
        least, most = (short_size(objects[name]) for name in ("size_min", "size_max"))
        weights = {name: test[name] for name in WEIGHTS if test[name]}
        sizes = {"size_min": least} if least == most else {"size_min": least, "size_max": most}
        numbers = {"objects": objects["number_min"], "buckets": buckets["number_min"]}
        rest = {name: test[name] for name in _SHOWN if name in test}
        shown = {"endpoint": service["endpoint"], **weights, **sizes, **numbers, **rest}
        return " ".join(f"{name}={value}" for name, value in shown.items())
    except (LookupError, TypeError, ValueError):
        return text


def _constant(number: int) -> dict[str, Any]:
    """A constant number in gosbench's words."""
    return {"number_min": number, "number_max": number, "number_distribution": "constant"}
