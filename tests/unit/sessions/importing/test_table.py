"""What an import says of a document: what was found in it, what was not, and why."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cephtui.cli.verbs import cli
from cephtui.models.rows import ImportedPart
from cephtui.reports.render.rich import draw
from cephtui.reports.views.listings import parts_blocks
from cephtui.sessions import log_files
from cephtui.sessions.log_files import read_log_file
from cephtui.tools.logs import read_log
from cephtui.tools.saved import SAVED
from cephtui.tools.unread import UNREAD_MOST, Unread, find_unread
from tests import RECORDINGS
from tests.support.drawings import draw_runs, printed
from tests.support.golden import Golden
from tests.support.imported import import_texts, rados
from tests.support.logs import COMMAND, WRITES

UDP = """\
Connecting to host 10.0.0.2, port 5201
[ ID] Interval           Transfer     Bitrate         Total Datagrams
[  5]   0.00-1.00   sec   129 KBytes  1.05 Mbits/sec  91
[  5]   1.00-2.00   sec   127 KBytes  1.04 Mbits/sec  90
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams
[  5]   0.00-2.00   sec   256 KBytes  1.05 Mbits/sec  0.006 ms  0/181 (0%)  sender
"""
DD = "1073741824 bytes (1.1 GB) copied, 6.5 s, 165 MB/s\n"
RECORDED = [
    path
    for name in ("logs/*.txt", "clients/*.*", "asked/*.txt", "forms/terse/*")
    for path in sorted(RECORDINGS.glob(name))
]
CUT = "".join(f"{line}\n" for line in rados("seq").splitlines()[:20])
READ = "root@pve1:~# fio --name=rr --rw=randread --bs=4k --filename=/dev/rbd0 --runtime=60\n"


def unread(text: str) -> list[Unread]:
    log = read_log(text)
    return find_unread(log, [(tool, run) for tool, saved in SAVED.items() for run in saved.find(log)])


def kinds(text: str) -> list[tuple[int, int, str, str]]:
    return [(each.line, each.last_line, each.tool, each.kind) for each in unread(text)]


def imported(folder: Path, *words: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, list[dict[str, Any]]]:
    capsys.readouterr()
    code = cli.main(["import", "--json", *words], prog_name="cephtui", standalone_mode=False)
    return int(code or 0), [json.loads(line) for line in capsys.readouterr().out.splitlines()]


# ------------------------------------------------------------------ what is in no run


@pytest.mark.parametrize(
    "text", [COMMAND + WRITES, WRITES, rados("write"), rados("seq"), COMMAND + COMMAND + WRITES + WRITES]
)
def test_nothing_is_left_of_what_was_read(text: str) -> None:
    assert not unread(text)
    assert not unread(
        f"Fio is a tool. fio can do much, and rados bench too.\n\n{text}\n\nSo much for fio: it is done.\n"
    )


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.name)
def test_what_announces_sums_up_or_repeats_a_run_is_no_output_of_its_own(path: Path) -> None:
    text = path.read_text()
    assert not unread(text)
    assert not unread(f"{text}\n\n# Next\n\n{text}")


@pytest.mark.parametrize(
    ("text", "tool", "kind"),
    [
        (UDP, "iperf3", "output"),
        (DD, "dd", "output"),
        ("elapsed:    10  ops:    26112  ops/sec:  2611.1  bytes/sec: 10695000\n", "rbd-bench", "output"),
        ('{\n    "bytes_written": 1073741824,\n', "osd-bench", "output"),
        ("4 KiB >>> /dev/sdb (block device 931 GiB): request=1 time=1.5 ms\n", "ioping", "output"),
        ("1000, 512, 1, 4096, 0\n1500, 500, 1, 4096, 0\n", "fio", "output"),
        ("  write: IOPS=10, BW=1MiB/s\n", "fio", "output"),
        ('{\n  "fio version" : "fio-3.33",\n  "jobs" : [\n', "fio", "output"),
        ("Total time run:         60.05\n", "rados-bench", "output"),
        (WRITES.split("write_iops: (groupid")[0], "fio", "begun"),
        (rados("write").split("  sec Cur")[0], "rados-bench", "begun"),
        ("fio: engine libaio not loadable\n", "fio", "error"),
        (READ, "fio", "command"),
        ("$ rados bench -p a 10 write\n", "rados-bench", "command"),
    ],
)
def test_what_looks_like_output_or_a_command_and_is_in_no_run_is_named(text: str, tool: str, kind: str) -> None:
    around = f"# One\n\n{COMMAND}{WRITES}\n# Two\n\n{text}\n# Three\n\nSo much for this.\n"
    at = around.count("\n", 0, around.rindex(text)) + 1
    (found,) = unread(around)
    assert (found.tool, found.kind) == (tool, kind)
    assert at <= found.line <= found.last_line <= at + text.count("\n")
    assert (found.kind == "output") is found.is_lost


def test_the_line_that_is_not_understood_is_shown(golden: Golden) -> None:
    texts = "\n\n# Next\n\n".join(
        [
            UDP,
            "  write: IOPS=ten, BW=1MiB/s",
            "Total time run: 60",
            READ,
            "Maintaining 16 concurrent writes of 4 bytes",
        ]
    )
    golden.same([f"{each.what}: {each.why}" for each in unread(texts)])


def test_a_long_line_is_cut() -> None:
    (found,) = unread(f"  write: IOPS=10, {'x' * 5000}\n")
    assert len(found.why) < 200


def test_lines_near_each_other_are_one_output_and_a_command_parts_them() -> None:
    assert [each[:2] for each in kinds(UDP + DD + UDP)] == [(1, 7), (8, 8), (9, 15)]
    line = "  write: IOPS=10, BW=1MiB/s\n"
    assert [each[:2] for each in kinds(line + line)] == [(1, 2)]
    assert [each[:2] for each in kinds(line + READ + line)] == [(1, 1), (3, 3)]
    assert [each[:2] for each in kinds(UDP + 20 * "\n" + UDP)] == [(1, 7), (28, 34)]


def test_a_line_whose_results_were_read_is_not_said_to_have_none() -> None:
    (found,) = unread("Maintaining 16 concurrent sheep of 4194304 bytes\n" + rados("seq"))
    assert (found.line, found.kind) == (1, "output")


def test_an_output_is_of_the_command_that_its_run_has_else_of_the_nearest_above() -> None:
    other = READ.replace("rr", "other")
    assert [each.line for each in unread(READ + COMMAND + WRITES)] == [1]
    assert [each.line for each in unread(COMMAND + READ + WRITES)] == [4]
    assert [each.line for each in unread(READ + other + WRITES)] == [1]
    assert not unread(READ + other + WRITES + WRITES)
    assert [each.line for each in unread(COMMAND + WRITES + COMMAND)] == [len((COMMAND + WRITES).splitlines()) + 1]


def test_a_log_of_many_outputs_has_an_end() -> None:
    assert len(unread((DD + 20 * "\n") * 2 * UNREAD_MOST)) == UNREAD_MOST


# ------------------------------------------------------------------ the table


def document(folder: Path) -> Path:
    path = folder / "post.md"
    path.write_text(
        f"# Post\n\n{UDP}\n## Writes\n\n{COMMAND}{WRITES}\n## Reads\n\n$ rados bench -p a 40 seq\n{rados('seq')}"
        f"{rados('seq')}\n## Cut\n\n{CUT}\n## Then\n\n{READ}\n{DD}"
    )
    return path


def test_each_part_of_a_document_has_a_row(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = document(home)
    lines = path.read_text().splitlines()
    code, rows = imported(home, str(path), "--session", "post", capsys=capsys)
    parts = [row for row in rows if row["event"] == "part"]
    assert [(row["what"], row["runs"], row["heading"], bool(row["problem"])) for row in parts] == [
        ("iperf3 output", [], "Post", True),
        ("fio text", [1], "Writes", False),
        ("rados bench seq", [2], "Reads", False),
        ("rados bench text", [3], "Reads", False),
        ("rados bench text", [4], "Cut", True),
        ("fio command", [], "Then", True),
        ("dd output", [], "Then", True),
    ]
    assert [row["lost"] for row in parts] == [True, False, False, False, False, False, True]
    assert lines[parts[0]["line"] - 1].startswith("Connecting to host")
    assert lines[parts[0]["last_line"] - 1].endswith("sender")
    assert lines[parts[5]["line"] - 1] == READ.strip()
    assert [row["event"] for row in rows] == [*4 * ["run"], *7 * ["part"], "file"]
    assert code == 4, "what two tools have measured was not imported"


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("logs/fio-3.33-text.txt", "fio text"),
        ("logs/fio-3.33-json.txt", "fio JSON"),
        ("forms/terse/version-3.txt", "fio terse"),
        ("forms/hsbench/64k.csv", "hsbench CSV"),
        ("forms/hsbench/64k.json", "hsbench JSON"),
        ("forms/gosbench/gosbench_results.csv", "gosbench CSV"),
        ("forms/gosbench/metrics.prom", "gosbench metrics"),
        ("forms/gosbench/server.log", "gosbench text"),
    ],
)
def test_the_form_of_output_is_said(home: Path, capsys: pytest.CaptureFixture[str], name: str, what: str) -> None:
    code, rows = imported(home, str(RECORDINGS / name), "--dry-run", capsys=capsys)
    assert (code, {row["what"] for row in rows if row["event"] == "part"}) == (0, {what})


def test_metrics_of_gosbench_before_the_end_of_its_test_are_named(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = (RECORDINGS / "forms" / "gosbench" / "metrics.prom").read_text().splitlines()
    (home / "a.prom").write_text("".join(f"{line}\n" for line in lines if "_test_end" not in line))
    code, rows = imported(home, str(home / "a.prom"), capsys=capsys)
    assert (code, [(row["what"], row["lost"]) for row in rows if row["event"] == "part"]) == (
        1,
        [("gosbench output", True)],
    )


def test_a_document_of_which_all_was_read_is_read_whole(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "a.md").write_text(f"{READ}\n# Writes\n\n{COMMAND}{WRITES}")
    code, rows = imported(home, str(home / "a.md"), "--dry-run", capsys=capsys)
    assert (code, [row["event"] for row in rows]) == (0, ["run", "part", "part", "file"])


@pytest.mark.parametrize("text", [READ, "notes\n", UDP])
def test_a_file_without_runs_is_not_all_that_was_asked_for(
    home: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    (home / "a.txt").write_text(WRITES)
    (home / "b.txt").write_text(text)
    code, _ = imported(home, str(home / "a.txt"), str(home / "b.txt"), "--dry-run", capsys=capsys)
    assert code == 4


def test_a_file_without_runs_says_what_is_in_it(home: Path, capsys: pytest.CaptureFixture[str], golden: Golden) -> None:
    (home / "a.txt").write_text(UDP)
    (home / "b.txt").write_text("Total time run: 60\n")
    (home / "c.txt").write_text(READ)
    (home / "d.txt").write_text(" \n")
    (home / "e.txt").write_text('{\n  "fio version" : "fio-3.33",\n  "jobs" : [\n    {\n')
    code, rows = imported(home, *(str(home / f"{name}.txt") for name in "abcde"), capsys=capsys)
    assert code == 1
    golden.same([row["problem"] for row in rows if row["event"] == "file"])


def test_the_table_is_whole_at_80_columns(home: Path, capsys: pytest.CaptureFixture[str], golden: Golden) -> None:
    _, rows = imported(home, str(document(home)), "--session", "post", capsys=capsys)
    parts = [ImportedPart.model_validate(row) for row in rows if row["event"] == "part"]
    parts = [part.model_copy(update={"path": "a/directory/of/many/letters/and/then/post.md"}) for part in parts]
    text = printed(draw(parts_blocks(parts, ["hidden (3)"])), 80)
    golden.same(text.splitlines())
    assert max(map(len, text.splitlines())) <= 80
    shown = " ".join(text.split())
    for part in parts:
        assert part.what in shown
        assert f"#{part.runs[0]}" in shown if part.runs else " none" in shown
        assert " ".join((part.problem or "").split()) in shown


def test_the_figures_of_runs_are_whole_at_80_columns(tmp_path: Path) -> None:
    """Of two tools, with latencies: without room for it no heading, figure or outcome is cut."""
    texts = {"a.md": f"{COMMAND}{WRITES}".replace("write_iops", "random_writes_of_a_database") + rados("write") + CUT}
    runs = import_texts(tmp_path, "a", texts)
    text = printed(draw_runs(runs), 80)
    assert max(map(len, text.splitlines())) <= 80
    for word in ("outcome", "65.4 MiB/s", "200 MiB/s", "stopped", "73.0 ms", "p99.9", "#"):
        assert word in text


def test_what_is_left_out_of_a_directory_is_counted(
    home: Path, capsys: pytest.CaptureFixture[str], golden: Golden
) -> None:
    folder = home / "logs"
    folder.mkdir()
    (folder / "a.txt").write_text(WRITES)
    (folder / ".git").mkdir()
    (folder / "again").symlink_to(folder)
    (folder / "a.png").write_bytes(b"\0\0")
    code, rows = imported(home, str(folder), "--dry-run", capsys=capsys)
    left_out = {Path(row["path"]).name: row["problem"] for row in rows if row["event"] == "file" and row["problem"]}
    assert (code, set(left_out)) == (0, {".git", "again", "a.png"})
    golden.same(sorted(left_out.values()))


# ------------------------------------------------------------------ whatever the size


def test_a_file_that_is_too_large_says_what_to_do(home: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    text = (RECORDINGS / "fio-3.41" / "randwrite.stdout").read_text()
    (home / "a.json").write_text(text)
    (whole,) = read_log_file(home / "a.json").runs
    monkeypatch.setattr(log_files, "FILE_MOST_BYTES", len(text) - 1)
    golden.same(read_log_file(home / "a.json").problem)
    (home / "end.json").write_text(text[len(text) // 3 :])
    (end,) = read_log_file(home / "end.json").runs
    assert end[1].summary == whole[1].summary


def test_many_commands_take_no_square_of_the_time() -> None:
    log = read_log(2000 * READ + 100_000 * "x\n")
    began = time.process_time()
    assert len(find_unread(log, [])) == UNREAD_MOST
    assert time.process_time() - began < 5


def test_many_runs_take_no_square_of_the_time() -> None:
    (_, run), *_ = [("fio", each) for each in SAVED["fio"].find(read_log(WRITES))]
    runs = [("fio", replace(run, line=at, last_line=at)) for at in range(2, 10_000)]
    began = time.process_time()
    find_unread(read_log(10_000 * "x\n"), runs)
    assert time.process_time() - began < 3
