"""The verb that measures volumes against what is promised of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from cephtui.cli.options import each_within, measuring_options, study_option
from cephtui.studies import JOBS


@click.command(
    short_help="Measure whether volumes deliver the IOPS they promise.",
    epilog="""\b
Examples:
  cephtui provisioned volumes.toml --node pve1 --destroy disk1 --destroy disk2
  cephtui provisioned --node pve1 --volume rbd:bench/disk1=8000 --destroy disk1
  cephtui provisioned --node pve1 --volume rbd:bench/disk1 --destroy disk1      its rbd_qos_* limits are read
  cephtui provisioned --node guest1 --volume device:/dev/vdb=5k --destroy /dev/vdb --jobs 8
  cephtui provisioned volumes.toml --node pve1 --destroy disk1 --destroy disk2 -o volumes.xlsx

\b
volumes.toml:
  [[volumes]]
  target = "rbd:bench/disk1"
  class = "NVME"
  iops = 8000                  # or read_iops, write_iops, bandwidth_bytes_per_second, ...
  burst_seconds = 30           # a burst lasts so long; a run takes three times as long
  [[volumes]]
  target = "rbd:vms"                     # an image of cephtui's own, in the pool of a guest's disk
  limits_of = "rbd:vms/vm-101-disk-0"    # its rbd_qos_* limits or its guest's disk options are the promise

\b
Exit codes:
  0 all volumes deliver what they promise, 5 one does not, 6 not certain
  1 the benchmark failed, 2 wrong usage, 3 refused, 4 stopped, lost, incomplete or not saved
""",
)
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--volume",
    "volumes",
    multiple=True,
    metavar="TARGET[=IOPS]",
    help="A volume, and the IOPS it promises. Default: the limits set for its clients. Repeatable.",
)
@click.option(
    "--jobs", multiple=True, type=int, callback=each_within(*JOBS), metavar="N", help="Measure also with N jobs."
)
@study_option("runs", "--repeat")
@measuring_options
def provisioned(**arguments: Any) -> int:
    """Measure whether volumes deliver the IOPS or bandwidth they promise, and whether they are limited.

    Each volume is read, written, then both, from one node, with small blocks, or large ones for a bandwidth. PASS: the
    rate of all jobs is at most 1 % below the promise, and 99 % of the seconds reach 90 % of it. NOT CAPPED: the rate is
    above 110 % of the promise.
    """
    from cephtui.cli.commands.provisioned import measure_volumes

    return measure_volumes(**arguments)
