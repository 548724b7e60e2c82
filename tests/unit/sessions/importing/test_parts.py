"""Which imported runs repeat each other: what a document parts, and what a log does not say, stays apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from cephtui import units
from cephtui.analysis.runs.batches import group
from cephtui.analysis.runs.sides import side_of
from cephtui.analysis.verdicts.conditions import differences
from cephtui.analysis.verdicts.versus import WholeSession, versus
from cephtui.analysis.views.curve import Axis, axes_or_depth, curve_of, family, varying_axes
from cephtui.cli.verbs import cli
from cephtui.models import Run
from cephtui.reports.views.curve import curves_of, runs_of, title_of_curve
from cephtui.sessions.log_files import read_log_file
from cephtui.tools.fio.saved import find_runs as find_fio
from cephtui.tools.headings import places
from cephtui.tools.logs import read_log
from cephtui.tools.rados_bench.saved import find_runs as find_rados
from cephtui.tui.widgets.run_rows import TableContent
from tests import RECORDINGS
from tests.support.drawings import draw_runs
from tests.support.golden import Golden
from tests.support.imported import import_texts, rados
from tests.support.logs import COMMAND, WRITES
from tests.support.runs import run

BARE = WRITES[WRITES.index("Starting") :]
"""Without the lines that say what was asked for."""


def fenced(text: str) -> str:
    return f"\n```\n{text}```\n\n"


def fio(depth: int = 64, block: str = "4k", device: str = "rbd0", jobs: int = 8) -> str:
    """A command and its output."""
    size = f"{units.parse_size(block) // 1024}KiB"
    command = COMMAND.replace("--bs=4K", f"--bs={block}").replace("rbd0", device).replace("jobs=8", f"jobs={jobs}")
    output = WRITES.replace("4096B", size).replace("jobs=8", f"jobs={jobs}")
    return (command + output).replace("iodepth=64", f"iodepth={depth}")


def repeats(runs: Sequence[Run]) -> list[list[int]]:
    """The numbers of the runs that repeat each other."""
    return sorted([run.run for run in point.repeats] for batch in group(runs) for point in batch.points)


def imported(root: Path, text: str, name: str = "s") -> list[Run]:
    return import_texts(root, name, {"log.md": text})


# ------------------------------------------------------------------ headings


@pytest.mark.parametrize(
    "document",
    [
        lambda title, text: f"## {title}\n{fenced(text)}",
        lambda title, text: f"## {title} ##\n\n{text}\n",
        lambda title, text: f"{title}\n------\n\n{text}\n",
        lambda title, text: f"== {title} ==\n{text}",
        lambda title, text: f"h2. {title}\n{text}",
        lambda title, text: f"<h2 id='a'>{title}</h2>\n{text}",
        lambda title, text: f"**{title}:**\n{fenced(text)}",
        lambda title, text: f"- {title}\n{fenced(text)}",
        lambda title, text: f"\n{title}:\n\n{text}",
        lambda title, text: f"{title}\n{text}",
        lambda title, text: f"=== {title} ===\n{text}",
        lambda title, text: f"----- {title}\n{text}",
        lambda title, text: f"# {title}\nroot@pve1:~# rados bench -p bench 40 write\n{text}",
        lambda title, text: fenced(f"# {title}\n# rados bench -p bench 40 write\n{text}"),
    ],
)
@pytest.mark.parametrize("of", [lambda: rados("write"), lambda: WRITES])
def test_runs_below_different_headings_are_apart_and_keep_them(
    tmp_path: Path, document: Callable[[str, str], str], of: Callable[[], str]
) -> None:
    titles = ["1 OSD", "2 OSDs", "3 OSDs"]
    runs = imported(tmp_path, "".join(document(title, of()) for title in titles))
    assert [run.heading for run in runs] == titles
    assert repeats(runs) == [[1], [2], [3]]


def test_a_heading_has_the_ones_above_it_that_are_not_above_all() -> None:
    text = "# Ceph\n\n" + "".join(
        f"## {title}\n\n### Write.\n{fenced(rados('write'))}### Read\n{fenced(rados('seq'))}" for title in ("a", "b")
    )
    log = read_log(text)
    found = places(log, [(run.line, run.last_line) for run in find_rados(log)])
    assert [(place.part, place.heading) for place in found] == [
        (0, "a / Write"),
        (1, "a / Read"),
        (2, "b / Write"),
        (3, "b / Read"),
    ]


def test_the_heading_of_a_single_run_is_the_nearest(tmp_path: Path) -> None:
    assert [run.heading for run in imported(tmp_path, f"# Ceph\n\n## On 3 OSDs\n\n{WRITES}")] == ["On 3 OSDs"]


@pytest.mark.parametrize(
    "between",
    [
        "\n",
        "root@pve1:~# rados -p bench cleanup\nRemoved 800 objects\n",
        "root@pve1:~# sleep 10; sync\n",
        "\nreal\t0m40.1s\nuser\t0m0.1s\nsys\t0m0.1s\n\n",
        "Clean up completed and total clean up time :0.4\n",
        "\nThu Jun 16 21:24:44 UTC 2016\n\n",
        "```\n\n```\n",
        "note: both iodepth >= 1 and synchronous I/O engine are selected\n",
        "--------------------\n",
    ],
)
def test_what_tools_and_shells_print_parts_nothing(tmp_path: Path, between: str) -> None:
    command = "root@pve1:~# rados bench -p bench 40 write --no-cleanup | tee {}.log\n"
    text = between.join(command.format(number) + rados("write", 50 + number) for number in range(3))
    runs = imported(tmp_path, text)
    assert repeats(runs) == [[1, 2, 3]]
    assert [(run.repeat, run.heading) for run in runs] == [(1, None), (2, None), (3, None)]


def test_a_change_of_the_cluster_between_two_runs_parts_them(tmp_path: Path) -> None:
    change = "root@pve1:~# ceph osd pool set bench size {}\nset pool 3 size to {}\n"
    runs = imported(tmp_path, "".join(change.format(size, size) + rados("write") for size in (1, 2)))
    assert repeats(runs) == [[1], [2]]
    assert [run.heading for run in runs] == ["ceph osd pool set bench size 1", "ceph osd pool set bench size 2"]


def test_the_number_of_a_heading_is_part_of_it(tmp_path: Path) -> None:
    runs = imported(tmp_path, "".join(f"{number}. Test\n{fenced(rados('write'))}" for number in (1, 2)))
    assert [run.heading for run in runs] == ["1. Test", "2. Test"]


def test_a_paragraph_parts_and_is_no_heading(tmp_path: Path) -> None:
    prose = "Then we have added a disk to each of the nodes,\nand measured again.\n"
    runs = imported(tmp_path, f"## Writes\n{fenced(WRITES)}{prose}{fenced(WRITES)}")
    assert (repeats(runs), [run.heading for run in runs]) == ([[1], [2]], ["Writes", "Writes"])


# ------------------------------------------------------------------ unknown is not equal


def test_reads_of_which_the_mode_is_not_known_are_no_repeats(tmp_path: Path) -> None:
    runs = imported(tmp_path, 3 * (rados("write") + rados("seq") + rados("rand")))
    assert repeats(runs) == [[1, 4, 7], [2], [3], [5], [6], [8], [9]]


def test_a_run_with_its_command_is_no_repeat_of_one_without(tmp_path: Path) -> None:
    seq = "$ rados bench -p bench 40 seq\n"
    assert repeats(imported(tmp_path, seq + rados("seq") + rados("seq"))) == [[1], [2]]


def test_other_commands_are_no_repeats_though_their_known_options_are_alike(tmp_path: Path) -> None:
    synced = COMMAND.replace("--verify=0", "--verify=md5")
    runs = imported(tmp_path, COMMAND + WRITES + synced + WRITES + COMMAND + WRITES)
    assert runs[0].options == runs[1].options
    assert repeats(runs) == [[1, 3], [2]]


def test_options_that_only_the_log_knows_set_documents_apart(tmp_path: Path) -> None:
    text = (RECORDINGS / "logs" / "fio-3.33-json.txt").read_text()
    synced = text.replace('"rw" : ', '"fsync_on_close" : "1", "rw" : ', 1)
    assert synced != text
    first, second = (run.request for run in (*find_fio(read_log(text)), *find_fio(read_log(synced))))
    assert first
    assert first != second


def test_runs_of_which_it_is_not_known_what_was_asked_are_no_repeats(tmp_path: Path) -> None:
    assert repeats(imported(tmp_path, 2 * BARE)) == [[1], [2]]


def test_two_commands_above_both_outputs_each_have_their_own(tmp_path: Path) -> None:
    one = WRITES.replace("jobs=8", "jobs=1")
    runs = imported(tmp_path, COMMAND.replace("numjobs=8", "numjobs=1") + COMMAND + one + WRITES)
    assert [run.options["numjobs"] for run in runs] == [1, 8]
    assert repeats(runs) == [[1], [2]]


def test_runs_of_different_files_are_no_repeats(tmp_path: Path) -> None:
    runs = import_texts(tmp_path, "s", {"a.txt": COMMAND + WRITES, "b.txt": COMMAND + WRITES})
    assert repeats(runs) == [[1], [2]]
    assert len(versus(WholeSession(runs), WholeSession(runs)).pairs) == 2


# ------------------------------------------------------------------ where headings stand


def test_headings_stand_in_all_that_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CEPHTUI_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "200")
    runs = imported(tmp_path, "".join(f"## {n} OSDs\n{fenced(rados('write', 50 * n))}" for n in (1, 2)))
    for words in ("show s", "show s --format md", "show s/2", "compare s/1 s/2", "report s --format md"):
        assert '"2 OSDs"' in CliRunner().invoke(cli, words.split()).stdout, words
    assert "2 OSDs" in CliRunner().invoke(cli, ["show", "s", "--format", "csv"]).stdout
    (differs,) = [each for each in differences(side_of(runs[0], runs), side_of(runs[1], runs)) if each.topic == "run"]
    assert (differs.name, differs.left, differs.right) == ("heading", "1 OSDs", "2 OSDs")
    assert '"2 OSDs"' in TableContent({run.run: run for run in runs}).rows()[0].texts["differs"]
    assert draw_runs(runs)


def test_two_sessions_are_paired_by_heading(tmp_path: Path) -> None:
    titles = [f"{number} OSDs" for number in (1, 2, 3)]
    one = imported(tmp_path, "".join(f"## {title}\n\n{WRITES}" for title in titles), "one")
    two = imported(tmp_path, "".join(f"## {title}\n\n{WRITES}" for title in titles[::-1]), "two")
    pairs = versus(WholeSession(one), WholeSession(two)).pairs
    assert [(pair.before[0].heading, pair.after[0].heading) for pair in pairs] == list(zip(titles, titles, strict=True))


# ------------------------------------------------------------------ curves


def test_the_axis_is_the_one_option_that_differs(tmp_path: Path) -> None:
    runs = imported(tmp_path, "".join(fio(depth) for depth in (1, 4, 16)))
    (curve,) = curves_of(runs)
    assert (curve.axis.role, [place.label for place in curve.places]) == ("depth", ["1", "4", "16"])


def test_where_two_options_differ_each_curve_has_one_of_them(tmp_path: Path) -> None:
    runs = imported(tmp_path, "".join(fio(depth, block) for depth in (1, 4) for block in ("4k", "1M")))
    assert [(curve.axis.role, [run.run for run in runs_of(curve)]) for curve in curves_of(runs)] == [
        ("depth", [1, 3]),
        ("depth", [2, 4]),
    ]


def test_the_headings_are_the_axis_where_nothing_else_differs(tmp_path: Path, golden: Golden) -> None:
    runs = imported(tmp_path, "".join(f"## {n} OSDs\n\n{rados('write', 50 * n)}" for n in (1, 2, 3)))
    (curve,) = curves_of(runs)
    assert (curve.axis, [place.label for place in curve.places]) == (Axis("heading"), ["1 OSDs", "2 OSDs", "3 OSDs"])
    golden.same(title_of_curve(curve))


def test_blocks_of_two_sizes_in_four_pools_are_no_axis(tmp_path: Path) -> None:
    pools = [("rbd0", "1M"), ("rbd1", "4M"), ("rbd2", "1M"), ("rbd3", "4M")]
    by_command = imported(tmp_path, "".join(fio(block=block, device=pool) for pool, block in pools), "a")
    below = imported(tmp_path, "".join(f"## {pool}\n\n{fio(block=block)}" for pool, block in pools), "b")
    for runs, kind in ((by_command, "target"), (below, "heading")):
        assert varying_axes(runs) == []
        assert [(curve.axis.kind, len(runs_of(curve))) for curve in curves_of(runs)] == [(kind, 2), (kind, 2)]


def test_what_is_not_known_of_all_is_no_axis_and_no_default(tmp_path: Path) -> None:
    other = WRITES.replace("4096B-4096B, (W)", "4096B-8192B, (W)")
    runs = imported(tmp_path, WRITES + other)
    assert "bs" not in runs[1].options
    assert (varying_axes(runs), curves_of(runs)) == ([], [])
    assert family(runs[0], runs) == [runs[0]]


def test_runs_that_are_not_known_to_be_repeats_are_not_put_on_one_spot(tmp_path: Path) -> None:
    below = "".join(f"## {n} OSDs\n\n{rados('seq')}{rados('rand')}" for n in (1, 2))
    assert curves_of(imported(tmp_path, below)) == []


def test_a_single_run_has_no_curve(tmp_path: Path) -> None:
    (run,) = imported(tmp_path, WRITES)
    assert axes_or_depth([run]) == []


def test_a_file_without_runs_has_no_parts(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Notes\n\nnothing was measured\n")
    assert read_log_file(tmp_path / "a.md").runs == ()


def with_options(number: int, depth: int, other_options: dict[str, str], *, is_all: bool) -> Run:
    """An imported run of which the log has these options, and perhaps no others."""
    return run(
        number,
        imported_from=f"a.txt:{number}",
        is_dated=False,
        batch=f"imported-{number}",
        options={"rw": "randwrite", "bs": "4k", "iodepth": depth},
        other_options=other_options,
        has_all_options=is_all,
    )


def test_options_that_no_preset_can_have_set_runs_apart_on_a_curve() -> None:
    one, two = {"verify_pattern": "1"}, {"verify_pattern": "2"}
    runs = [with_options(1, 1, one, is_all=True), with_options(2, 4, two, is_all=True)]
    assert (varying_axes(runs), curves_of(runs)) == ([], [])
    runs = [with_options(1, 1, one, is_all=True), with_options(2, 4, one, is_all=True)]
    assert [axis.role for axis in varying_axes(runs)] == ["depth"]


def test_they_are_an_axis_where_the_log_has_all_that_was_asked() -> None:
    runs = [with_options(1, 1, {"rwmixread": "75"}, is_all=True), with_options(2, 1, {}, is_all=True)]
    (axis,) = varying_axes(runs)
    assert (axis.name, [place.label for place in curve_of(runs, axis).places]) == ("rwmixread", ["75", "default"])
    assert varying_axes([run.model_copy(update={"has_all_options": False}) for run in runs]) == []
