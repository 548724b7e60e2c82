"""Which tools find their runs in a saved log. To add one: its row in the table."""

from __future__ import annotations

from collections.abc import Mapping

from cephtui.tools.fio import Fio
from cephtui.tools.fio.saved import find_runs as find_fio
from cephtui.tools.logs import Finder
from cephtui.tools.rados_bench import RadosBench
from cephtui.tools.rados_bench.saved import find_runs as find_rados_bench

FINDERS: Mapping[str, Finder] = {Fio.name: find_fio, RadosBench.name: find_rados_bench}
"""By the tool's name."""
JOB_FILES = {".fio": "a job file", **dict.fromkeys((".yaml", ".yml"), "perhaps a config of gosbench")}
"""By the end of a file's name what may be in it that is no output, but makes presets."""
