"""Which tools find their runs in a saved log. To add one: its row in the table."""

from __future__ import annotations

from collections.abc import Mapping

from cephtui.tools.dd import Dd
from cephtui.tools.dd.saved import find_runs as find_dd
from cephtui.tools.fio import Fio
from cephtui.tools.fio.saved import find_runs as find_fio
from cephtui.tools.gosbench import Gosbench
from cephtui.tools.gosbench.saved import find_runs as find_gosbench
from cephtui.tools.hsbench import Hsbench
from cephtui.tools.hsbench.saved import find_runs as find_hsbench
from cephtui.tools.ioping import Ioping
from cephtui.tools.ioping.saved import find_runs as find_ioping
from cephtui.tools.iperf3 import Iperf3
from cephtui.tools.iperf3.saved import find_runs as find_iperf3
from cephtui.tools.logs import Finder
from cephtui.tools.osd_bench import OsdBench
from cephtui.tools.osd_bench.saved import find_runs as find_osd_bench
from cephtui.tools.rados_bench import RadosBench
from cephtui.tools.rados_bench.saved import find_runs as find_rados_bench
from cephtui.tools.rbd_bench import RbdBench
from cephtui.tools.rbd_bench.saved import find_runs as find_rbd_bench

FINDERS: Mapping[str, Finder] = {
    Fio.name: find_fio,
    RadosBench.name: find_rados_bench,
    RbdBench.name: find_rbd_bench,
    OsdBench.name: find_osd_bench,
    Iperf3.name: find_iperf3,
    Ioping.name: find_ioping,
    Dd.name: find_dd,
    Hsbench.name: find_hsbench,
    Gosbench.name: find_gosbench,
}
"""By the tool's name."""
JOB_FILES = {".fio": "a job file", **dict.fromkeys((".yaml", ".yml"), "perhaps a config of gosbench")}
"""By the end of a file's name what may be in it that is no output, but makes presets."""
