"""The verbs that measure, and those for the nodes on which that is done.

Each verb's code is a module of its own under ``cephtui.cli.commands``, which is imported when the verb is run.
"""

from __future__ import annotations

from typing import Any

import click

from cephtui.cli.complete import (
    complete_listed,
    complete_own_sessions,
    complete_presets,
    complete_runs,
    complete_targets,
)
from cephtui.cli.emit import output_options
from cephtui.cli.options import (
    ceiling_options,
    judging_options,
    mark_option,
    measuring_options,
    study_option,
    study_options,
    targets_option,
)
from cephtui.cli.where import target_option, where_options
from cephtui.studies import KINDS


@click.command(
    short_help="Run presets or a suite, and save the results.",
    epilog="""\b
Examples:
  cephtui run write-iops
  cephtui run read-iops write-iops --set runtime=30 --repeat 3
  cephtui run write-iops --set iodepth=1,4,16,64
  cephtui run write-iops --until-stable
  cephtui run write-iops --sweep-depth auto --confirm
  cephtui run write-iops --expect 'iops>=5000' --expect 'p99<=5ms'
  cephtui run write-iops read-iops --repeat 6 --order abba
  cephtui run write-iops --node pve1 --target rbd:ssd,rbd:hdd --repeat 6 --order abba
  cephtui run rados-write write-iops --node pve1 --target pool:volumes --target rbd:volumes
  cephtui run quick --node pve1 --target pool:bench --target rbd:bench
  cephtui run --resume
  cephtui run --resume tuning s2
  cephtui run mixed-75-25 --target file:/mnt/pve/cephfs/test --set size=2G
  cephtui run read-iops --node pve1 --target rbd:bench --drop-caches
  cephtui run write-iops --node pve1 --node root@10.0.0.2 --target rbd:bench
  cephtui run rados-write rados-seq --node pve1 --target pool:bench
  cephtui run latency --json > latency.jsonl
  cephtui run write-throughput --dry-run

\b
Exit codes:
  0 ok, 1 the benchmark failed, 2 wrong usage, 3 refused, 4 stopped, lost, incomplete or not saved
"""
    + "\n".join(f"  {row.codes}" for row in KINDS.values() if row.codes),
)
@click.argument("names", nargs=-1, metavar="PRESET... | SUITE", shell_complete=complete_listed)
@targets_option
@measuring_options
@study_option("runs", "--repeat")
@study_option("runs", "--order")
@study_options
@click.option(
    "--expect",
    multiple=True,
    metavar="FIGURE",
    help="What each preset must reach: iops>=5000, 'write iops>=5k', bandwidth>=200MiB/s, p99<=5ms. Repeatable.",
)
@click.option(
    "--resume",
    is_flag=False,
    flag_value="last",
    metavar="[SESSION [STUDY]]",
    shell_complete=complete_own_sessions,
    help="Run what is missing from a study of SESSION, after a stop, a crash or a reboot. Default: the last "
    "unfinished study of the last session. cephtui studies lists them.",
)
def run(**arguments: Any) -> int:
    """Run presets one after the other, or a suite, and save what they measure.

    A suite is a list of steps in one order: cephtui presets lists them.
    """
    from cephtui.cli.commands.run import run_presets
    from cephtui.cli.work import NamedSteps

    options, chosen, resume = (arguments.pop(name) for name in ("options", "chosen", "resume"))
    return run_presets(NamedSteps(**arguments), chosen, resume, options)


@click.command(
    short_help="Judge whether a change helped: before, after, verdict.",
    epilog="""\b
Examples:
  cephtui check tuning                     the runs before its last mark against those after it
  cephtui check tuning/1 tuning/7          two runs, each with its repeats
  cephtui check cluster-a cluster-b        all runs of two sessions
  cephtui check tuning/1 --expect 'iops>=5000' --expect 'p99<=5ms'
  cephtui check --against tuning/1         measure the same now, and judge
  cephtui check --preset write-iops --node pve1 --target rbd:bench
  cephtui check --preset write-iops --target rbd:bench --node pve1 \\
    --change 'ceph osd pool set bench compression_mode aggressive' \\
    --undo 'ceph osd pool set bench compression_mode none'
  cephtui check tuning -o verdict.html     the verdict on one page, with its chart
  cephtui check tuning --require 20 --json | jq 'select(.event == "conclusion").answer'

\b
Exit codes:
  0 met, 5 not met, 6 inconclusive: the runs show neither
  1 a benchmark or a command failed, 2 wrong usage, 3 refused, 4 stopped, lost, incomplete or not saved
""",
)
@click.argument("names", nargs=-1, metavar="[SESSION | BEFORE AFTER]", shell_complete=complete_runs)
@mark_option
@click.option(
    "--against", metavar="BEFORE", shell_complete=complete_runs, help="Measure with the options of BEFORE, then judge."
)
@click.option(
    "--preset",
    "presets",
    multiple=True,
    metavar="PRESET",
    shell_complete=complete_presets,
    help="Measure before and after a change; repeatable.",
)
@study_option("check", "--change")
@study_option("check", "--undo")
@click.option("--continue", "resume", metavar="SESSION [STUDY]", help="Continue a check that was interrupted.")
@judging_options
@study_option("check", "--runs")
@study_option("check", "--most", default="12")
@target_option
@measuring_options
@click.option(
    "--expect",
    multiple=True,
    metavar="FIGURE",
    help="Instead, check whether the runs of SESSION or SESSION/RUN reach a figure, as in cephtui run. Repeatable.",
)
def check(**arguments: Any) -> int:
    """Judge whether a change helped, by how much, and how certain that is.

    The change is the ratio of the geometric means of the runs before and after, with its confidence interval.
    """
    from cephtui.cli.commands.check import check_change

    return check_change(**arguments)


@click.command(
    short_help="Measure what limits a cluster: links, OSDs, one I/O.",
    epilog="""\b
Examples:
  cephtui ceilings --node pve1 --node pve2 --node pve3 --target rbd:bench
  cephtui ceilings --node pve --dry-run
  cephtui ceilings --node pve -o ceilings.html

\b
Exit codes:
  0 ok, 1 the benchmark failed, 2 wrong usage, 3 refused, 4 stopped, lost, incomplete or not saved
""",
)
@click.option(
    "--target",
    metavar="TARGET",
    shell_complete=complete_targets,
    help="Where one I/O in flight is measured, such as rbd:POOL. Default: not measured.",
)
@click.option("--again", is_flag=True, help="Measure known limits again.")
@ceiling_options
def ceilings(**arguments: Any) -> int:
    """Measure the limits of a cluster that are not known yet, and show all limits.

    Takes about two minutes with three nodes. It measures each link between the nodes in both directions (iperf3), also
    in the cluster network between hosts of OSDs, then one I/O in flight on the target, and the rate at which each OSD
    writes blocks of 4 MiB and of 4 KiB to its own store. OSDs that serve clients are skipped without --shared-pool.
    The results are kept on this machine, for each cluster, and stay valid for 24 hours, or as long as the NICs and
    disks are the same.
    """
    from cephtui.cli.commands.ceilings import measure_ceilings

    return measure_ceilings(**arguments)


@click.command(
    short_help="Find out why a cluster is slow.",
    epilog="""\b
Examples:
  cephtui why --target rbd:bench --node pve1 --node pve2 --node pve3
  cephtui why --target rbd:bench --node pve1 --shared-pool -o why.html
  cephtui why --target rbd:bench --node pve1 --osds --shared-pool
  cephtui why --target rbd:bench --node pve1 --dry-run
  cephtui why last
  cephtui why tuning/3 --format md

\b
Exit codes:
  0 ok, 1 the benchmark failed, 2 wrong usage, 3 refused, 4 stopped, lost, incomplete or not saved
""",
)
@click.argument("name", metavar="[SESSION[/RUN]]", required=False, shell_complete=complete_runs)
@click.option(
    "--target",
    metavar="TARGET",
    shell_complete=complete_targets,
    help="What is slow, such as rbd:POOL: new images in the pool are measured.",
)
@click.option(
    "--osds", is_flag=True, help="Measure also the writes of each OSD to its own store, one OSD after the other."
)
@measuring_options
def why(**arguments: Any) -> int:
    """Find out why a cluster is slow: where the latency goes, and what causes it.

    Takes about two minutes. It measures the links between the nodes (iperf3, with two nodes or more), then writes with
    a flush and reads, first one at a time, then 16 in flight on each node, 10 s each, on images of its own that are
    removed afterwards; with --osds also each OSD by itself, for 10 s or more. Causes are sorted by the time they cost,
    each with its evidence, what to do, and the command that proves it. No cause is named without evidence.

    With SESSION nothing is measured: the last diagnosis of that session is shown, or, without one, a diagnosis from
    all its runs; with SESSION/RUN, from that run.
    """
    from cephtui.cli.commands.why import diagnose

    return diagnose(**arguments)


@click.command(
    short_help="Show what nodes have: tools, disks, OSDs, networks.",
    epilog="\b\nExamples:\n  cephtui nodes --node pve1 --node root@10.0.0.2\n  cephtui nodes rados-write --node pve\n"
    "  cephtui nodes --node pve --json",
)
@click.argument("presets", nargs=-1, metavar="[PRESET]...", shell_complete=complete_presets)
@where_options
@output_options
def nodes(**arguments: Any) -> int:
    """Show what nodes have, what is missing, and how to install it.

    Tools with their versions and presets, disks with their OSDs, network interfaces. It flags partitions that do not
    begin at a multiple of 4 KiB, and networks in which the MTU differs. Nothing is written.

    A node is ready if it can run the given presets or, without any, at least one preset.
    """
    from cephtui.cli.commands.nodes import check_nodes

    return check_nodes(**arguments)


@click.command(
    short_help="Remove leftovers of cephtui processes that were killed.",
    epilog="\b\nExamples:\n  cephtui cleanup --dry-run\n  cephtui cleanup\n"
    "  cephtui cleanup --yes --node root@10.0.0.2\n  cephtui cleanup --undo tuning",
)
@where_options
@click.option("--dry-run", is_flag=True, help="Only list what would be removed, and how the nodes are reached.")
@click.option("--yes", is_flag=True, help="Remove, or undo, without asking.")
@click.option(
    "--undo",
    "undone",
    metavar="SESSION",
    shell_complete=complete_own_sessions,
    help="Instead, run the --undo command that a killed check in SESSION has not run.",
)
@click.option(
    "--as-listed",
    is_flag=True,
    help="For nodes that your settings don't reach, use those in the undo lists: see --dry-run.",
)
def cleanup(**arguments: Any) -> int:
    """Remove leftovers (images, namespaces, files) of cephtui processes that were killed.

    Nodes are reached with the settings of your config file and these options. If a session's undo list has others
    (host, prefix, ssh_config, Ceph access), they are shown and need your consent, since they can run any command.
    """
    from cephtui.cli.commands.cleanup import clean_up

    return clean_up(**arguments)


MEASURING_VERBS = (run, check, ceilings, why, nodes, cleanup)
