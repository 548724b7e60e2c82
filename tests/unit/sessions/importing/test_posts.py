"""What people post: several tools in one text, commands in loops and with variables, pages of HTML, and tables of other
programs that look like one's own.
"""

from __future__ import annotations

import html
import re
import sys
from pathlib import Path

import pytest

from cephtui.sessions.log_files import read_log_file
from cephtui.tools.headings import places
from cephtui.tools.logs import FoundRun, read_log
from cephtui.tools.saved import SAVED
from cephtui.tools.unread import find_unread
from tests.support.imported import import_texts

TOTALS = """\
Maintaining {depth} concurrent writes of 4194304 bytes to objects of size 4194304 for up to 10 seconds or 0 objects
Object prefix: benchmark_data_pve1_{depth}77
Total time run:         10.5
Total writes made:      {made}
Write size:             4194304
Object size:            4194304
Bandwidth (MB/sec):     {speed}
Average Latency(s):     0.25
Max latency(s):         1.5
Min latency(s):         0.125
"""
RBD = """\
bench  type write io_size {size} io_threads 16 bytes 1073741824 pattern random
  SEC       OPS   OPS/SEC   BYTES/SEC
    1      7000   7000.00   {rate}
elapsed: 2   ops: 14000   ops/sec: 7000.00   bytes/sec: {rate}
"""
DD = """\
{whole}+{part} records in
{whole}+{part} records out
{nbytes} bytes (2.1 GB, 2.0 GiB) copied, 4 s, 500 MB/s
"""
OSD = '{{\n  "bytes_written": 1073741824,\n  "blocksize": 4194304,\n  "elapsed_sec": {seconds}\n}}\n'
IPERF = """\
Connecting to host {host}, port 5201
[ ID] Interval           Transfer     Bitrate         Retr  Cwnd
[  5]   0.00-1.00   sec   125 MBytes  1.05 Gbits/sec    0    400 KBytes
[  5]   1.00-2.00   sec   125 MBytes  1.05 Gbits/sec    0    400 KBytes
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-2.00  sec   250 MBytes  1.05 Gbits/sec    0             sender
[  5]   0.00-2.00  sec   249 MBytes  1.04 Gbits/sec                  receiver

iperf Done.
"""
IOZONE = """\
              kB  reclen    write  rewrite    read    reread    read     write     read   rewrite      read
          524288       4     3017     3120     9020     9101     7010     4120
"""


def found_in(text: str, tool: str) -> list[FoundRun]:
    return SAVED[tool].find(read_log(text))


def written(depth: int, made: int = 1050) -> str:
    return TOTALS.format(depth=depth, made=made, speed=made * 4 / 10.5)


@pytest.mark.parametrize("heading", [True, False])
def test_a_table_of_another_program_is_no_run(tmp_path: Path, heading: bool) -> None:
    (tmp_path / "a.txt").write_text(f"Results of today\n\n{IOZONE if heading else IOZONE.splitlines()[1]}\n")
    file = read_log_file(tmp_path / "a.txt")
    assert file.runs == ()
    assert [unread.tool for unread in file.unread] == (["iozone"] if heading else [])


def test_columns_that_have_run_together_are_read() -> None:
    """Until Ceph 9 each was ten wide with nothing between them."""
    rows = [
        (1, 1, 84, 83, "0.324061", "0.324219", "0.00761449", "0.0120333"),
        (2, 1, 197, 196, "0.382701", "0.441406", "0.00930054", "0.010193"),
        (3, 2, 288, 286, "0.372309", "0.351562", "0.00824822", "0.00994581"),
    ]
    lines = ["{:>5}{:>8}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}".format(*row) for row in rows]
    assert any(re.search(r"\d\.\d+\.", line) for line in lines)
    (run,) = found_in(
        "Maintaining 1 concurrent writes of 4096 bytes for up to 3 seconds\n" + "\n".join(lines), "rados-bench"
    )
    done = [interval.ios for reading in run.readings for interval in reading.flows.values()]
    assert done == [int(line[23:33]) - before for line, before in zip(lines, (0, 83, 196), strict=True)]
    assert run.summary.flows["write"].latency_mean_seconds == pytest.approx(float(lines[-1][63:]))


LOOPS = [
    "root@pve1:~# for t in 1 16; do {0}; done\n",
    "for t in 1 16\ndo\n  echo $t\n  {0}\ndone\n",
    "$ for t in 1 16; do\n    {0} 2>&1 | tee log.$t\n  done\n",
]


@pytest.mark.parametrize("loop", LOOPS)
def test_each_run_of_a_loop_has_its_command(loop: str) -> None:
    text = loop.format("rados bench -p fast 10 write -t $t --no-cleanup") + written(1) + written(16, 2100)
    found = found_in(text, "rados-bench")
    assert [(run.target, run.options["concurrent-ios"], run.options["runtime"]) for run in found] == [
        ("pool:fast", 1, 10), ("pool:fast", 16, 10),
    ]  # fmt: skip
    assert all(run.other_options == {"no-cleanup": "true"} for run in found)
    command = "rbd bench --io-type write --io-size $t --io-pattern rand --rbd-cache=false fast/img"
    found = found_in(
        loop.format(command) + "".join(RBD.format(size=n, rate=n * 7000) for n in (4096, 8192)), "rbd-bench"
    )
    assert [(run.target, run.options["io-size"], run.options["rbd-cache"]) for run in found] == [
        ("rbd:fast/img", "4k", False), ("rbd:fast/img", "8k", False),
    ]  # fmt: skip
    found = found_in(loop.format("ceph tell osd.$t bench") + OSD.format(seconds=2) + OSD.format(seconds=4), "osd-bench")
    assert [(run.target, run.other_options["osd"]) for run in found] == [("", "$t")] * 2
    found = found_in(loop.format("iperf3 -c $t -t 2") + IPERF.format(host="a") + IPERF.format(host="b"), "iperf3")
    assert [(run.target, run.options["runtime"]) for run in found] == [("host:a", 2), ("host:b", 2)]
    copy = DD.format(whole=2000, part=0, nbytes=2000 << 20)
    found = found_in(loop.format("dd if=/dev/zero of=/mnt/a bs=1M count=2000") + copy + copy, "dd")
    assert [(run.target, run.options["bs"]) for run in found] == [("file:/mnt/a", "1M")] * 2


def test_a_word_such_as_for_above_a_command_begins_no_loop() -> None:
    text = f"The writes for this pool:\n$ rados bench -p fast 10 write\n{written(16)}{written(16)}"
    assert [run.target for run in found_in(text, "rados-bench")] == ["pool:fast", ""]


@pytest.mark.parametrize(
    "words", ["-p fast 10 write -t $N", "-p fast 10 write -b ${BS} -t 32", "-p fast 10 $MODE -t 32"]
)
def test_a_variable_leaves_what_else_a_command_says(words: str) -> None:
    (run,) = found_in(f"$ N=32\n$ rados bench {words}\n{written(32)}", "rados-bench")
    assert (run.target, run.options["concurrent-ios"], run.options["block-size"]) == ("pool:fast", 32, "4M")
    assert (run.options["mode"], run.options["runtime"], run.other_options) == ("write", 10, {})


@pytest.mark.parametrize("words", ["-p $POOL 10 write", "-p ${p} 10 write -t 16"])
def test_runs_of_a_pool_that_is_not_known_are_no_repeats(tmp_path: Path, words: str) -> None:
    text = f"$ for p in hdd ssd; do rados bench {words}; done\n{written(16)}{written(16, 2100)}"
    runs = import_texts(tmp_path, "a", {"a.txt": text})
    assert [(run.target, run.repeat) for run in runs] == [("-", 1), ("-", 1)]
    assert len({run.batch for run in runs}) == 2
    same = import_texts(tmp_path, "b", {"b.txt": text.replace("$POOL", "ssd").replace("${p}", "ssd")})
    assert [(run.target, run.repeat) for run in same] == [("pool:ssd", 1), ("pool:ssd", 2)]


def test_reads_of_a_loop_over_what_is_not_printed_are_no_repeats(tmp_path: Path) -> None:
    reads = "Total time run: 10.5\nTotal reads made: 1050\nRead size: 4194304\nBandwidth (MB/sec): 400\n"
    runs = import_texts(
        tmp_path, "a", {"a.txt": f"$ for t in 1 16; do rados bench -p a 10 rand -t $t; done\n{reads}{reads}"}
    )
    assert [(run.repeat, run.options.get("concurrent-ios"), run.other_options) for run in runs] == [
        (1, None, {"concurrent-ios": "$t"})
    ] * 2
    assert len({run.batch for run in runs}) == 2
    assert not any(run.has_all_options for run in runs)


def test_a_copy_belongs_to_a_command_that_can_have_made_it() -> None:
    command = "# dd if=/dev/zero of=/dev/sdb bs=1M count=2000\n"
    assert found_in(command + DD.format(whole=10, part=0, nbytes=10 << 20), "dd") == []
    full = "dd: error writing '/dev/sdb': No space left on device\n"
    (run,) = found_in(command + full + DD.format(whole=10, part=0, nbytes=10 << 20), "dd")
    assert run.error
    run_by = "Running command: /bin/dd if=/dev/zero of=/dev/sdc bs=1M count=10\n stderr: 10+0 records in\n"
    (run,) = found_in(command + run_by + DD.format(whole=10, part=0, nbytes=10 << 20), "dd")
    assert run.target == "device:/dev/sdc"


def test_of_a_record_in_part_it_is_not_known_how_many_writes_there_were() -> None:
    (run,) = found_in("$ dd if=/dev/zero of=a bs=5G count=1\n" + DD.format(whole=0, part=1, nbytes=2147479552), "dd")
    flow = run.summary.flows["write"]
    assert (flow.ios, flow.iops, flow.bandwidth_bytes) == (None, None, 2147479552 / 4)


@pytest.mark.parametrize(
    ("records", "copied"),
    [
        ("2000+0 Datensätze ein", "2097152000 Bytes (2,1 GB, 2,0 GiB) kopiert, 4,25 s, 493 MB/s"),
        ("2000+0 enregistrements lus", "2097152000 octets (2,1 GB, 2,0 GiB) copiés, 4,25 s, 493 MB/s"),
        ("2000+0 records in", "2097152000 bytes (2,1 GB, 2,0 GiB) copied, 4,25 s, 493 MB/s"),
    ],
)
def test_dd_is_read_in_other_languages(tmp_path: Path, records: str, copied: str) -> None:
    text = f"$ dd if=/dev/zero of=a bs=1M count=2000\n{records}\n{copied}\n"
    (run,) = found_in(text, "dd")
    number, seconds = copied.split()[0], re.findall(r"(\S+) s,", copied)[0]
    assert run.error is None
    assert run.summary.flows["write"].bandwidth_bytes == pytest.approx(int(number) / float(seconds.replace(",", ".")))
    (tmp_path / "a.txt").write_text(copied)
    assert [each.tool for each in read_log_file(tmp_path / "a.txt").unread] == ["dd"]


@pytest.mark.parametrize("form", ["[B]{0}[/B]", "<b>{0}</b>", "<h3>{0}</h3>", "[SIZE=5]{0}[/SIZE]"])
def test_titles_of_posts_part_runs(tmp_path: Path, form: str) -> None:
    named = {"before": written(16), "after": written(16, 2100)}
    text = "".join(f"{form.format(name)}\n[CODE]\n{output}[/CODE]\n" for name, output in named.items())
    runs = import_texts(tmp_path, "a", {"a.txt": text})
    assert [(run.heading, run.repeat) for run in runs] == [("before", 1), ("after", 1)]
    assert len({run.batch for run in runs}) == 2


@pytest.mark.parametrize(
    "words", ["ssh pve7", "docker exec -it mon1", "cephadm shell --", "$ kubectl exec deploy/a --"]
)
def test_what_runs_a_command_elsewhere_does_not_hide_it(words: str) -> None:
    (run,) = found_in(f"{words} rados -p fast bench 10 write\n{written(16)}", "rados-bench")
    assert run.target == "pool:fast"


def test_a_page_of_html_is_read_as_a_browser_shows_it() -> None:
    text = f"$ rados bench -p fast 10 write -t 32 2>&1 | tee a.log\n{written(32)}"
    shown = html.escape(text)
    forms = [
        f'<html><body><p>Hello</p><pre><code class="bash">{shown}</code></pre></body></html>',
        "<div>" + "".join(f"<span class='line'>{line}</span><br/>" for line in shown.splitlines()) + "</div>",
        "<pre>" + "".join(f'<span class="n">{line}\n</span>' for line in shown.splitlines()) + "</pre>",
    ]
    (plain,) = found_in(text, "rados-bench")
    for form in forms:
        (run,) = found_in(form, "rados-bench")
        assert (run.summary, run.options, run.target, run.command) == (
            plain.summary, plain.options, plain.target, plain.command,
        )  # fmt: skip


@pytest.mark.parametrize("line", [r"\# dd if=/dev/zero of=b bs=1M", "/usr/bin/rados -p a ls", "$ /bin/dd --version"])
def test_a_command_is_no_heading(line: str) -> None:
    text = f"{written(16)}\n{line}\n\n{written(16)}"
    spans = [(run.line, run.last_line) for run in found_in(text, "rados-bench")]
    assert [place.part for place in places(read_log(text), spans)] == [0, 0]


@pytest.mark.parametrize("line", ["fio --a=1 \\", "$ rados bench -p 'a \\", "rbd bench a -", '# dd if=a of="b \\'])
def test_lines_that_go_on_are_read_in_a_time_that_grows_with_their_number(line: str) -> None:
    def cost(number: int) -> int:
        steps = 0

        def count(*_: object) -> None:
            nonlocal steps
            steps += 1

        log = read_log(f"{line}\n" * number)
        sys.setprofile(count)
        try:
            for saved in SAVED.values():
                saved.find(log)
            find_unread(log, [])
        finally:
            sys.setprofile(None)
        return steps

    assert cost(2000) < 3 * cost(1000)
    assert cost(2000) < 400_000


def test_a_log_of_hsbench_that_is_cut_has_not_failed() -> None:
    row = "Loop: 0, Int: {0}, Dur(s): 1.0, Mode: PUT, Ops: 500, MB/s: 1.95, IO/s: 500, Lat(ms): [ min: 1.2, avg: 2.0, "
    row += "99%: 3.5, max: 4.5 ], Slowdowns: 0\n"
    text = "2020/01/02 10:00:00 Hotsauce S3 Benchmark Version 0.1\n2020/01/02 10:00:01 Running Loop 0 OBJECT PUT TEST\n"
    text += "".join(f"2020/01/02 10:00:0{second} {row.format(second - 2)}" for second in (2, 3, 4))
    whole = len(text) - len(row.format(2))
    for end in range(whole + 1, len(text)):
        (run,) = found_in(text[:end], "hsbench")
        assert run.error is None


def test_a_few_rows_tell_a_block_size_only_where_it_is_a_usual_one() -> None:
    """A second of the table is a bit more than one."""

    def table(nbytes: int) -> str:
        rows = [(at, 40 * at, 40 * at * nbytes / (at * 1.0004) / 2**20) for at in (1, 2, 3)]
        return "".join(f"{at} 16 {done + 16} {done} {speed:.6g} {speed:.6g} 0.25 0.25\n" for at, done, speed in rows)

    (usual,), (other,) = found_in(table(4 << 20), "rados-bench"), found_in(table(3 << 20), "rados-bench")
    assert (usual.options["block-size"], other.options.get("block-size")) == ("4M", None)
    totals = "Total time run: 20\nTotal reads made: 1000\nBandwidth (MB/sec): 150\n"
    assert found_in(totals, "rados-bench")[0].options["block-size"] == "3M"


def test_rows_far_below_a_run_of_iperf3_are_not_its_own() -> None:
    far = "".join(f"step {number} of another thing\n" for number in range(40))
    text = IPERF.format(host="a").removesuffix("\niperf Done.\n") + far + IPERF.splitlines()[2] + "\n"
    (run,) = found_in(text, "iperf3")
    assert run.last_line == 7
    assert [unread.line for unread in find_unread(read_log(text), [("iperf3", run)])] == [len(text.splitlines())]


def test_runs_in_one_line_of_a_page_are_no_repeats(tmp_path: Path) -> None:
    output = "".join(f"{line}<br>" for line in written(16).splitlines())
    page = f"<h2>Before</h2><pre>{output}</pre><h2>After</h2><pre>{output}</pre>"
    runs = import_texts(tmp_path, "a", {"a.html": f"{page}\n"})
    assert [run.repeat for run in runs] == [1, 1]
    assert len({run.batch for run in runs}) == 2
