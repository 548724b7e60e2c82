"""Results that leave cephtui: Markdown and CSV that stand alone, plain text in pipes, names of sessions."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from markdown_it import MarkdownIt
from rich.cells import cell_len
from rich.text import Text

from cephtui.analysis.runs.sides import Side
from cephtui.analysis.verdicts.conclusion import judge_sides
from cephtui.cli import verbs
from cephtui.models import Finding, Mark, Run, Summary
from cephtui.models.metrics import BY_NAME
from cephtui.reports.render.tables import Noted, add_row, make_table
from cephtui.reports.words.facts import facts, head_line, period, ranges
from cephtui.sessions import store
from cephtui.sessions.names import find_session
from cephtui.sessions.store import StoreError
from tests.support import two_copies
from tests.support.drawings import comparison_markdown, draw_run, draw_session, printed, runs_csv, runs_markdown
from tests.support.golden import Golden
from tests.support.runs import SESSION, cluster, recorded

HOSTILE = "a | b \\| `c` *d* _e_ [f](g) <h> &amp; ~~i~~ #1"


def on_pve1(number: int = 1, **fields: Any) -> Run:
    node = recorded().environment["local"].model_copy(update={"hostname": "pve1"})
    return recorded(number, **{"environment": {"local": node}, **fields})


def in_cluster(number: int, size: int = 3, **fields: Any) -> Run:
    pool = {"name": "bench", "type": "replicated", "size": size}
    started_at = datetime(2026, 11, 22, 1, 28, tzinfo=UTC) + timedelta(minutes=number)
    of_three_osds = cluster(osds=3, osds_up=3, osds_in=3, pool=pool)
    return on_pve1(number, target="rbd:bench", cluster=of_three_osds, started_at=started_at, **fields)


def tables(text: str) -> list[list[list[str]]]:
    """The cells of each table, as a GFM reader shows them; a row that is none ends a table."""
    found: list[list[list[str]]] = []
    for token in (tokens := iter(MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text))):
        if token.type == "table_open":
            found.append([])
        elif token.type == "tr_open":
            found[-1].append([])
        elif token.type in ("th_open", "td_open"):
            content = next(tokens)
            assert {child.type for child in content.children or ()} <= {"text", "text_special"}, content
            found[-1][-1].append("".join(child.content for child in content.children or ()))
    return found


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with two sessions: the demo, and a newer one."""
    home = tmp_path_factory.mktemp("home")
    two_copies.unpack(home / "sessions")
    shutil.copytree(SESSION, home / "sessions" / "replay")
    run = home / "sessions" / "replay" / "002" / "run.json"
    run.write_text(json.dumps({**json.loads(run.read_text()), "started_at": "2033-05-18T03:33:20Z"}))
    return home


def run(home: Path, *words: str) -> Result:
    """The command line, in this process."""
    return CliRunner().invoke(verbs.cli, words, prog_name="cephtui", env={"CEPHTUI_DATA_DIR": str(home)})


# ---------------------------------------------------------------------------------------------- what is said first


def test_the_head_says_when_where_with_what_and_on_what() -> None:
    assert head_line([in_cluster(1)]).split(" · ")[1:] == [
        "pve1",
        "fio 3.33, Ceph 19.2.1 HEALTH_OK before the run",
        "rbd:bench size 3",
    ]
    assert head_line([in_cluster(1)], ascii_only=True).isascii()
    local = in_cluster(1).started_at.astimezone()
    assert head_line([in_cluster(1)]).startswith(f"{local:%Y-%m-%d %H:%M %Z} · ")


def test_what_was_not_the_same_in_all_runs_has_their_numbers() -> None:
    runs = [in_cluster(number, size=3 if number in (1, 2, 4) else 2) for number in range(1, 5)]
    assert head_line(runs).endswith("rbd:bench size 3 (runs 1-2, 4); rbd:bench size 2 (run 3)")
    assert facts(runs)["target"] == "rbd:bench"
    assert facts(runs)["pool"].startswith("name bench, type replicated, size 3 (runs 1-2, 4); ")
    assert ranges([1, 2, 3, 7, 9, 10]) == "1-3, 7, 9-10"


def test_the_time_is_as_short_as_it_can_be() -> None:
    def over(seconds: float) -> str:
        first = on_pve1(started_at=datetime(2026, 11, 22, 12, 0, tzinfo=UTC), duration_seconds=1.0)
        return period([first, first.model_copy(update={"started_at": first.started_at + timedelta(seconds=seconds)})])

    assert " to " not in over(20)
    assert len(over(600).split(" to ")[1].split()[0]) == len("12:10")
    assert over(90000).split(" to ")[1].startswith("2026-11-23 ")


def test_only_what_is_known_is_said() -> None:
    bare = on_pve1(environment={}, nodes=(), cluster=None, cephtui_version=None)
    assert list(facts([bare])) == ["date", "target"]


# ---------------------------------------------------------------------------------------------- Markdown


def test_markdown_of_a_run_stands_alone() -> None:
    text = runs_markdown([in_cluster(3, cephtui_version="0.2.0", findings=(Finding(code="x", text="too short"),))])
    for words in (
        "**write-iops: 4k randwrite, depth 64, jobs 8, 20 s**",
        "- nodes: pve1",
        "- versions: cephtui 0.2.0, fio 3.33, Ceph 19.2.1",
        "- cluster: before the run: HEALTH_OK, 3/3 OSDs up, 3 in",
        "- target: rbd:bench",
        "- pool: name bench, type replicated, size 3",
        "- run 3: questionable (counted): too short",
        "details: `cephtui show replay/3`",
    ):
        assert words in text
    ((head, row),) = tables(text)
    assert head == [
        "#",
        "preset",
        "conditions",
        "",
        "IOPS",
        "bandwidth",
        "clat mean",
        "clat p99",
        "clat p99.9",
        "outcome",
    ]
    assert row[:4] == ["3", "write-iops", "4k randwrite qd64 j8 20 s", "write"]
    assert row[4:] == ["40.7k", "159 MiB/s", "12.4 ms", "40.1 ms", "64.7 ms", "questionable"]


def test_marks_and_refused_runs_have_their_rows() -> None:
    refused = in_cluster(2, batch="b", outcome="refused", error="the pool is in use", summary=Summary())
    mark = Mark(at=in_cluster(1).started_at + timedelta(seconds=50), text="ceph osd pool set bench size 2")
    text = runs_markdown([in_cluster(1), refused], [mark])
    ((_, first, marked, second),) = tables(text)
    assert (first[0], marked[0], second[0]) == ("1", "*", "2")
    assert marked[1].startswith("ceph osd pool set bench size 2 (2026-")
    assert second[3:] == [*"-----", "refused", "the pool is in use"]
    assert text.count("4k randwrite qd64 j8 20 s") == 1, "what is the same for all runs stands once"


def test_markdown_has_the_mean_of_repeats_and_csv_only_runs() -> None:
    runs = [recorded(n, iops=iops, p99=0.1) for n, iops in ((1, 10000), (2, 10400), (3, 9800))]
    ((_, *_, mean, interval, spread),) = tables(runs_markdown(runs))
    assert (mean[:4], mean[-1]) == (["1-3", "mean", "write", "10.1k"], "n=3")
    assert (interval[1:4], spread[1:4]) == (["95 %", "", "±7.8 %"], ["spread", "", "3.0 %"])
    assert [row["run"] for row in csv.DictReader(StringIO(runs_csv(runs)))] == ["1", "2", "3"]


def test_what_is_the_same_for_all_runs_of_a_tool_stands_once() -> None:
    first = in_cluster(1, preset="one")
    runs = [first, in_cluster(2, preset="two", batch="b", options={**first.options, "iodepth": 4})]
    text = runs_markdown(runs)
    assert "all runs: 4k randwrite j8 20 s" in text
    ((_, *rows),) = tables(text)
    assert [row[2].split()[0] for row in rows] == ["qd64", "qd4"]
    other = in_cluster(3, preset="three", batch="c", tool="rados-bench", options={})
    assert "all runs of fio: 4k randwrite j8 20 s" in runs_markdown([*runs, other])


def test_any_text_stays_itself_in_a_table() -> None:
    run = in_cluster(1, preset=HOSTILE, outcome="failed", error=HOSTILE)
    text = runs_markdown([run], [Mark(at=run.started_at, text=HOSTILE, run=9)])
    ((head, *rows),) = tables(text)
    assert {len(row) for row in [head, *rows]} == {11}
    assert rows[0][1] == HOSTILE
    (shown,) = [row[1] for row in rows if row[0] == "*"]
    assert shown.startswith(HOSTILE)
    html = MarkdownIt("commonmark").enable("table").render(text)
    assert not any(tag in html for tag in ("<em>", "<h>", "<a ", "<s>", "<code>c<"))


def test_a_command_with_backticks_is_code() -> None:
    text = runs_markdown([in_cluster(1, command="fio ```x``` --name=y")])
    assert "<code>fio ```x``` --name=y\n</code>" in MarkdownIt("commonmark").render(text)


def test_no_ticket_is_linked() -> None:
    run = in_cluster(7)
    mark = Mark(at=run.started_at, text="m", run=7, elapsed_seconds=3.0)
    assert "#7" not in runs_markdown([run], [mark])
    assert "3 s into run 7" in runs_markdown([run], [mark])


def test_markdown_of_a_comparison_stands_alone() -> None:
    before, after = in_cluster(1), in_cluster(5, size=2, batch="other")
    mark = Mark(at=before.started_at + timedelta(minutes=2), text="size 2")
    sides = Side((before,), (mark,)), Side((after,), (mark,))
    judged = judge_sides(*sides, lambda run: BY_NAME["iops"], before.started_at)
    text = comparison_markdown(*sides, judged)
    differs, changes = tables(text)
    assert differs[1:] == [["cluster", "pool size", "3", "2"]]
    assert (changes[0][0], changes[1][:4]) == ("write", ["IOPS", "40.7k", "40.7k", "0.0 %"])
    assert "- mark: **size 2** (" in text
    assert "**write-iops**  INCONCLUSIVE: 1 run per side: too few for a verdict (3 needed)" in text
    assert r"write IOPS 40.7k -> 40.7k, 0.0 %" in text
    assert text.count("- nodes: pve1") == 1, "what is alike stands once"
    assert not set(text.split()) & {"better", "worse"}


# ---------------------------------------------------------------------------------------------- CSV


def test_csv_has_base_units_and_a_row_for_each_direction(golden: Golden) -> None:
    runs = store.read_runs(SESSION)[0]
    mark = Mark(at=runs[0].started_at, text='before "x", and y', run=1)
    text = runs_csv(runs, [mark])
    assert text.count("\r\n") == 1 + 3 + 1
    rows = list(csv.DictReader(StringIO(text)))
    assert [(row["event"], row["run"], row["direction"]) for row in rows] == [
        ("run", "1", "write"),
        ("mark", "1", ""),
        ("run", "2", "read"),
        ("run", "2", "write"),
    ]
    first = rows[0]
    total = runs[0].summary.flows["write"]
    assert float(first["latency_p99_seconds"]) == total.latency_p99_seconds
    assert float(first["bandwidth_bytes"]) == total.bandwidth_bytes
    asked = [first[name] for name in ("block_bytes", "pattern", "depth", "jobs", "runtime_seconds")]
    assert asked == ["4096", "randwrite", "64", "8", "20.0"]
    golden.same(rows[1]["text"])


# ---------------------------------------------------------------------------------------------- plain text


def test_a_table_stands_alone() -> None:
    lines = printed(draw_session([in_cluster(1), in_cluster(2)])).splitlines()
    assert "pve1 · fio 3.33, Ceph 19.2.1 HEALTH_OK before the run · rbd:bench size 3" in lines[0]
    assert lines[1].startswith("all runs: 4k randwrite qd64 j8 20 s")
    assert lines[3].split()[:3] == ["1", "write-iops", "write"]
    assert lines[-1] == "details: cephtui show replay/1"
    assert "details" not in printed(draw_session([in_cluster(1)], saved=False))


@pytest.mark.parametrize("width", [80, 120, 200])
def test_no_word_is_broken(width: int) -> None:
    runs = [
        in_cluster(1, preset="write-throughput", outcome="stopped"),
        in_cluster(2, preset="write-throughput", outcome="refused", error="the pool is in use by 3 clients " * 4),
    ]
    mark = Mark(at=runs[0].started_at + timedelta(seconds=40), text="ceph osd pool set bench target_size_ratio 0.5")
    text = printed(draw_session(runs, [mark]), width)
    assert max(map(cell_len, text.splitlines())) <= width
    words = [*("write-throughput " * 2).split(), "4k", "randwrite", "qd64", "j8", "target_size_ratio", "refused"]
    assert [word for word in words if word not in text.split()] == []
    assert text.split().count("clients") == 4


def test_a_note_stands_behind_its_row_where_there_is_room() -> None:
    table = make_table("a", whole=("a",))
    add_row(table, "row")
    for width, lines in ((20, ["a", "row the note"]), (10, ["a", "row", "  the note"])):
        assert printed(Noted(table, [Text("the note")], 2), width).splitlines() == lines


def test_no_figure_of_a_node_is_cut(home: Path) -> None:
    run = store.read_run(home / "sessions" / "demo", 9)
    for width in (72, 120):
        lines = printed(draw_run(run), width).splitlines()
        for figure in ("1.31k", "5.13 MiB/s", "12.2 ms", "58.5 ms"):
            assert any(figure in line and "lab1 write" in line for line in lines), (width, figure)


def test_a_run_in_full_begins_with_the_head() -> None:
    assert printed(draw_run(in_cluster(1))).splitlines()[0] == head_line([in_cluster(1)])


@pytest.mark.parametrize(
    "words", [["show", "demo"], ["show", "demo/14"], ["compare", "demo/9", "demo/12"], ["presets"]]
)
def test_piped_output_is_neither_wrapped_nor_padded(home: Path, words: list[str]) -> None:
    environ = {**os.environ, "CEPHTUI_DATA_DIR": str(home), "COLUMNS": "40", "LANG": "C.UTF-8", "TERM": "xterm"}
    done = subprocess.run([sys.executable, "-m", "cephtui", *words], env=environ, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert [line for line in lines if line != line.rstrip()] == []
    assert max(map(len, lines)) > 70
    assert "\x1b" not in done.stdout


# ---------------------------------------------------------------------------------------------- names, and the verbs


def test_a_session_is_named_by_last_and_by_its_beginning(home: Path) -> None:
    root = home / "sessions"
    assert {find_session(root, name).name for name in ("last", "-", "r", "replay")} == {"replay"}
    assert find_session(root, "de").name == "demo"
    for name in ("x", "", "replay2"):
        with pytest.raises(StoreError, match="no session"):
            find_session(root, name)


def test_a_beginning_of_several_lists_them(tmp_path: Path, golden: Golden) -> None:
    for number in range(10):
        (tmp_path / f"2026-{number}").mkdir()
    (tmp_path / "2026").mkdir()
    assert find_session(tmp_path, "2026").name == "2026", "a whole name is no beginning"
    with golden.raises(StoreError):
        find_session(tmp_path, "2026-")
    (tmp_path / "last").mkdir()
    assert find_session(tmp_path, "last").name == "last"
