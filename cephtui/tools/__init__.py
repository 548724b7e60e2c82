"""The benchmark programs. To add one: its folder here, and its row in the table."""

from __future__ import annotations

from collections.abc import Mapping

from cephtui.tools.dd import Dd
from cephtui.tools.fio import Fio
from cephtui.tools.gosbench import Gosbench
from cephtui.tools.hsbench import Hsbench
from cephtui.tools.ioping import Ioping
from cephtui.tools.iperf3 import Iperf3
from cephtui.tools.load_gen import LoadGen
from cephtui.tools.osd_bench import OsdBench
from cephtui.tools.rados_bench import RadosBench
from cephtui.tools.rbd_bench import RbdBench
from cephtui.tools.tool import Tool

TOOLS: Mapping[str, Tool] = {
    tool.name: tool
    for tool in (
        Fio(),
        RadosBench(),
        Ioping(),
        Dd(),
        RbdBench(),
        Iperf3(),
        Hsbench(),
        Gosbench(),
        LoadGen(),
        OsdBench(),
    )
}
"""Every tool by its name in a preset."""
DEFAULT_TOOL = Fio.name
"""The tool of a preset that names none."""
