"""How the saved output of each tool is read. To add one: its row in the table."""

from __future__ import annotations

from collections.abc import Mapping

from cephtui.tools.dd import saved as dd
from cephtui.tools.fio import saved as fio
from cephtui.tools.gosbench import saved as gosbench
from cephtui.tools.hsbench import saved as hsbench
from cephtui.tools.ioping import saved as ioping
from cephtui.tools.iperf3 import saved as iperf3
from cephtui.tools.osd_bench import saved as osd_bench
from cephtui.tools.rados_bench import saved as rados_bench
from cephtui.tools.rbd_bench import saved as rbd_bench
from cephtui.tools.signs import Saved

SAVED: Mapping[str, Saved] = {
    "fio": Saved(fio.find_runs, fio.SIGNS, fio.COMMAND),
    "rados-bench": Saved(rados_bench.find_runs, rados_bench.SIGNS, rados_bench.COMMAND),
    "rbd-bench": Saved(rbd_bench.find_runs, rbd_bench.SIGNS, rbd_bench.COMMAND),
    "osd-bench": Saved(osd_bench.find_runs, osd_bench.SIGNS, osd_bench.COMMAND),
    "iperf3": Saved(iperf3.find_runs, iperf3.SIGNS, iperf3.COMMAND, iperf3.FILES),
    "ioping": Saved(ioping.find_runs, ioping.SIGNS, files=ioping.FILES),
    "dd": Saved(dd.find_runs, dd.SIGNS),
    "hsbench": Saved(hsbench.find_runs, hsbench.SIGNS),
    "gosbench": Saved(gosbench.find_runs, gosbench.SIGNS),
}
"""Readers of saved output by the tool's name."""
JOB_FILES = {".fio": "a job file", **dict.fromkeys((".yaml", ".yml"), "perhaps a config of gosbench")}
"""By the end of a file's name what may be in it that is no output, but makes presets."""
