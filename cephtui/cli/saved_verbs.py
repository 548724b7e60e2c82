"""The verbs that show what is saved: sessions, runs, comparisons, replays, and the same in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from cephtui.cli.complete import complete_runs, complete_served, complete_sessions
from cephtui.cli.emit import output_options
from cephtui.cli.options import json_option, judging_options, mark_option, metric_option
from cephtui.cli.screen import begin_screen
from cephtui.reports.render import FORMATS


@click.command(
    short_help="List the saved sessions.",
    epilog="\b\nExamples:\n  cephtui sessions\n  cephtui sessions --json | jq -r .session",
)
@output_options
def sessions(**arguments: Any) -> None:
    """List the saved sessions, and below them the demo, which comes with cephtui and is read-only.

    json, csv and xlsx list only your own sessions.
    """
    from cephtui.cli.commands.sessions import print_sessions

    print_sessions(**arguments)


@click.command(
    short_help="List the studies of a session, with what is missing.",
    epilog="\b\nExamples:\n  cephtui studies\n  cephtui studies tuning\n  cephtui run --resume tuning s2\n"
    "  cephtui studies tuning --json | jq 'select(.finished | not)'",
)
@click.argument("name", metavar="[SESSION]", default="last", shell_complete=complete_sessions)
@json_option
def studies(**arguments: Any) -> None:
    """List the studies of a session, each with the runs that are still missing.

    A study is what was started as one: presets, a suite, a sweep, a check. To resume one: cephtui run --resume SESSION
    STUDY; for a check: cephtui check --continue SESSION STUDY.
    """
    from cephtui.cli.commands.studies import print_studies

    print_studies(**arguments)


@click.command(
    short_help="Show a session or a run.",
    epilog="\b\nExamples:\n  cephtui show\n  cephtui show 2026-11-21-101530/2\n  cephtui show last --format md\n"
    "  cephtui show tuning --format csv > tuning.csv\n  cephtui show tuning/2 --json\n"
    "  cephtui show tuning --table --format md\n  cephtui show tuning --curve --metric p99",
)
@click.argument("name", metavar="[SESSION[/RUN]]", default="last", shell_complete=complete_runs)
@click.option(
    "--table",
    is_flag=True,
    help="Table of a session: steps by target and node, with what is missing and what is slowest.",
)
@click.option("--curve", is_flag=True, help="Results against depth, block size, target, node or mark.")
@metric_option
@output_options
def show(**arguments: Any) -> None:
    """Show the runs and marks of a session, or one run in full with its ceilings; as JSON with its samples.

    Without SESSION, the last session is shown, also named "last" or "-"; the beginning of a name is enough.
    "demo" is the recorded session that comes with cephtui, unless you have one of that name.
    """
    from cephtui.cli.commands.show import show_saved

    show_saved(**arguments)


@click.command(
    short_help="Compare two runs or two sessions.",
    epilog="\b\nExamples:\n  cephtui compare\n  cephtui compare tuning/1 tuning/4 --format md\n"
    "  cephtui compare 2026-11-21-101530/2 2026-11-22-090000/2\n"
    "  cephtui compare cluster-a cluster-b\n"
    "  cephtui compare tuning/1 tuning/4 --json | jq 'select(.event == \"figure\")'",
)
@click.argument("left", metavar="[SESSION[/RUN]", required=False, shell_complete=complete_runs)
@click.argument("right", metavar="SESSION[/RUN]]", required=False, shell_complete=complete_runs)
@metric_option
@output_options
def compare(**arguments: Any) -> None:
    """Compare two runs, or two whole sessions: differences in their conditions, marks between them, their results.

    A run is grouped with its repeats in the same session. Two sessions are compared by all their runs that have the
    same preset and options, on the same number of nodes; names of targets and nodes may differ. Without names, the last
    two measurements are compared.
    """
    from cephtui.cli.commands.compare import compare_runs

    compare_runs(**arguments)


@click.command(
    short_help="Write a report: Markdown, HTML, CSV or a workbook.",
    epilog="""\b
Examples:
  cephtui report tuning                    the verdict around its last mark, as Markdown
  cephtui report tuning -o tuning.html     one page to attach to a ticket, or to print
  cephtui report tuning/1 tuning/7 -o change.html --require -5
  cephtui report tuning --anonymous -o public.md --assets charts
  cephtui report tuning -o tuning.xlsx --seconds
""",
)
@click.argument("names", nargs=-1, metavar="[SESSION[/RUN] | BEFORE AFTER]", shell_complete=complete_runs)
@click.option("--format", "form", type=click.Choice(tuple(FORMATS)), help="Default: by the extension of FILE, or md.")
@click.option(
    "-o", "--output", "file", type=click.Path(path_type=Path), metavar="FILE", help="Write to FILE; - is stdout."
)
@click.option("--force", is_flag=True, help="Overwrite FILE.")
@click.option("--anonymous", is_flag=True, help="Replace names of hosts, pools, images and files, addresses and fsids.")
@click.option("--title", default="", metavar="TEXT", help="Title. Default: the session and the change.")
@click.option("--seconds", is_flag=True, help="With csv and xlsx: add every second of each run.")
@click.option(
    "--assets", type=click.Path(path_type=Path), metavar="DIR", help="With md: write the charts to DIR, as SVG."
)
@mark_option
@judging_options
def report(**arguments: Any) -> None:
    """Write a report on a change, or on a session: verdict, figures, charts, conditions, findings, commands.

    A session is judged at its last mark with comparable runs before and after it; without such a mark the report has
    no verdict. An existing file is kept. The exit code is 0 if the report was written; the first line of the report
    has the exit code of the verdict.
    """
    from cephtui.cli.commands.report import make_report

    make_report(**arguments)


@click.command(
    short_help="Replay a saved run as it was live.",
    epilog="\b\nExamples:\n  cephtui replay\n  cephtui replay tuning/2\n  cephtui replay tuning/2 --speed 8\n"
    "\nKeys: space pauses, left and right go back and forth, + and - change the speed, z zooms in, f presents it, esc "
    "leads to the session's other runs.",
)
@click.argument("name", metavar="[SESSION[/RUN]]", default="last", shell_complete=complete_runs)
@click.option("--speed", type=click.FloatRange(1, 20), default=1.0, show_default=True, help="Playback speed.")
def replay(**arguments: Any) -> None:
    """Replay a saved run as it was live: through the same parser, on the same screen.

    Without RUN, the newest run of the session is replayed; without SESSION, that of the last session.
    """
    begin_screen("replay")
    from cephtui.cli.commands.replay import replay_run

    replay_run(**arguments)


@click.command(
    short_help="Follow a session while it is measured.", epilog="\b\nExamples:\n  cephtui watch\n  cephtui watch tuning"
)
@click.argument("name", metavar="[SESSION]", default="last", shell_complete=complete_sessions)
def watch(**arguments: Any) -> None:
    """Follow a session that another cephtui on this machine is writing, read-only; by default the last one measured."""
    begin_screen("watch")
    from cephtui.cli.commands.watch import watch_session

    watch_session(**arguments)


@click.command(
    short_help="Play a recorded session of a real cluster.",
    epilog="\b\nExamples:\n  cephtui demo\n  cephtui demo --speed 2",
)
@click.option("--speed", type=click.FloatRange(1, 20), default=1.0, show_default=True, help="Playback speed.")
def demo(**arguments: Any) -> None:
    """Play a recorded session of a real cluster. Needs no Ceph, fio or network.

    In four minutes: a healthy run, an OSD that stops, a slow disk and its diagnosis, a change that helps and one that
    does not, a sweep with its knee. n goes to the next scene, space pauses; esc leads to all runs of the session, to
    open, replay and compare them. All commands that read a session know it as "demo": cephtui show demo, cephtui why
    demo, cephtui check demo/9 demo/22.
    """
    begin_screen("demo")
    from cephtui.cli.commands.demo import play_demo

    play_demo(**arguments)


@click.command(
    short_help="Show a session in a browser, read-only.",
    epilog="""\b
Examples:
  cephtui serve                            the demo, at http://127.0.0.1:8000/
  cephtui serve watch tuning               a session, while it is measured
  cephtui serve --port 8080 replay tuning/2
  cephtui serve --public --host 10.0.0.5   for browsers on other machines
  cephtui serve --interactive -- --node pve1 --target rbd:bench

\b
From your desk, over SSH:
  ssh -L 8000:127.0.0.1:8000 pve1 cephtui serve
""",
)
@click.argument(
    "words", nargs=-1, metavar="[demo | watch SESSION | replay SESSION/RUN]", shell_complete=complete_served
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to serve on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="Port to serve on; 0 chooses a free one.",
)
@click.option("--public", is_flag=True, help="Allow any address; each browser needs a one-time link.")
@click.option("--interactive", is_flag=True, help="Serve the console, with its options after --; on this machine only.")
def serve(**arguments: Any) -> int:
    """Show the demo, a session or a run in a browser, read-only: keys change the view and nothing else.

    Each open page is a process of its own (8 at most), which ends when the page is closed; Ctrl+C ends all of them.
    Needs textual-serve, which is installed with cephtui[web].
    """
    from cephtui.cli.commands.serve import serve_pages

    return serve_pages(**arguments)


@click.command(
    "import",
    short_help="Import saved output of benchmark tools as a session.",
    epilog="""\b
Examples:
  cephtui import proxmox-rbd-fio.txt
  cephtui import --dry-run ~/bench/2025-04
  cephtui import fio-before.json rados-before.txt --session before
  fio --name=a ... | tee a.txt; cephtui import a.txt
  cephtui compare before/1 tuning/1

\b
Exit codes:
  0 every file had output and all of it was imported, 4 some of it, 1 none
""",
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(exists=True, path_type=Path))
@click.option("--session", metavar="NAME", help="The new session. Default: named after the file and its first run.")
@click.option("--dry-run", is_flag=True, help="Show what would be imported; save nothing.")
@json_option
def import_(**arguments: Any) -> int:
    """Read saved output of fio, rados bench and other tools into a session, to be shown and compared like any other.

    FILE is a log, a document with output in it, JSON or JSON+ of fio, or a directory of these. Each run found is marked
    as imported, and what the log does not say stays unknown. A table lists what was found, and why some of it is
    not imported. A file may have 32 MiB: of a longer one import the end (tail -c 30M), which has the totals.
    """
    from cephtui.cli.commands.import_logs import import_logs

    return import_logs(**arguments)


SAVED_VERBS = (sessions, studies, show, compare, report, replay, watch, demo, serve, import_)
