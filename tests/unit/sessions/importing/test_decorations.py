"""What documents and terminals put around a saved log changes no figure of it, and nothing that a log is takes long."""

from __future__ import annotations

import re
import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cephtui.tools.fio.saved import find_runs as find_fio
from cephtui.tools.logs import FoundRun, Log, read_log
from cephtui.tools.rados_bench.saved import find_runs as find_rados
from tests import RECORDINGS
from tests.support.imported import assert_cuts_are_read_or_named, rados
from tests.support.logs import COMMAND, WRITES

FOLDER = RECORDINGS
RADOS = [
    (FOLDER / "rados-16.2" / f"{name}.stdout").read_text() for name in ("write", "seq", "stopped-int", "rand-deep")
]
FIO = [
    COMMAND + WRITES,
    (FOLDER / "logs" / "fio-2.2.10-text.txt").read_text(),
    (FOLDER / "logs" / "fio-3.33-json.txt").read_text(),
]
SEQ = "root@pve1:~# rados bench -p bench 40 seq -t 16\n" + rados("seq")
BASES = [*RADOS, *FIO, SEQ, rados("write")]


def runs(text: str) -> list[FoundRun]:
    """As they are found, without where they stand."""
    log = read_log(text)
    return [replace(run, line=0, last_line=0, other_spans=()) for run in (*find_fio(log), *find_rados(log))]


def each(lead: Callable[[int], str]) -> Callable[[str], str]:
    """Put something before each line, which may depend on its number."""
    return lambda text: "".join(f"{lead(n)}{line}\n" for n, line in enumerate(text.splitlines(), 1))


DECORATIONS: dict[str, Callable[[str], str]] = {
    "blanks": each(lambda _: "      "),
    "tab": each(lambda _: "\t"),
    "no-break blanks": each(lambda _: "\xa0\xa0"),
    "dash": each(lambda _: "- "),
    "star": each(lambda _: "  * "),
    "all ones": each(lambda _: "1. "),
    "item": each(lambda n: f"{n}. "),
    "below an item": lambda text: "1. " + each(lambda _: "   ")(text).lstrip(" "),
    "quote": each(lambda _: "> "),
    "quote of a quote": each(lambda _: ">> "),
    "code block": lambda text: f"```sh\n{text}```\n",
    "code": lambda text: "".join(f"{line}\n" if "`" in line else f"`{line}`\n" for line in text.splitlines()),
    "carriage returns": lambda text: text.replace("\n", "\r\n"),
    "colours": lambda text: "".join(f"\x1b[1;32m{line}\x1b[0m\x1b[K\n" for line in text.splitlines()),
}
NUMBERS: dict[str, Callable[[str], str]] = {
    "none": lambda text: text,
    "cat -n": each(lambda n: f"{n:6}\t"),
    "grep -n": each(lambda n: f"{n + 36}:"),
    "less -N": each(lambda n: f"{n:>7} "),
    "bars": each(lambda n: f"{n:>4} | "),
}


@pytest.mark.parametrize("name", [*DECORATIONS, *NUMBERS])
@pytest.mark.parametrize("base", BASES)
def test_one_decoration(base: str, name: str) -> None:
    assert runs({**DECORATIONS, **NUMBERS}[name](base)) == runs(base)


@given(
    st.sampled_from(BASES),
    st.lists(st.sampled_from(list(DECORATIONS)), max_size=3, unique=True),
    st.sampled_from(list(NUMBERS)),
    st.lists(st.sampled_from(list(DECORATIONS)), max_size=3, unique=True),
)
def test_any_decorations_together(base: str, inner: list[str], numbers: str, outer: list[str]) -> None:
    text = base
    for decorate in [*map(DECORATIONS.__getitem__, inner), NUMBERS[numbers], *map(DECORATIONS.__getitem__, outer)]:
        text = decorate(text)
    assert runs(text) == runs(base), (inner, numbers, outer)


@pytest.mark.parametrize("before", ["0 hdd 1.0 osd.0\n1 hdd 1.0 osd.1\n2 hdd 1.0 osd.2\n", "1 first\n2 second\n"])
@pytest.mark.parametrize("base", BASES)
def test_numbers_that_are_no_listing_swallow_nothing(base: str, before: str) -> None:
    assert runs(f"{before}{base}") == runs(base)


@pytest.mark.parametrize("hour", ["22", "02"])
def test_a_time_that_a_page_has_put_on_a_line_of_its_own_is_no_number_of_a_listing(hour: str) -> None:
    text = re.sub(r"\d\d(:\d\d:\d\d 2025)", rf"{hour}\1", WRITES[WRITES.index("write_iops: (groupid") :])
    assert f" {hour}:" in text.splitlines()[0]
    page = re.sub(rf" ({hour}:\d\d:\d\d 2025)", r"\n\1", NUMBERS["less -N"](text), count=1)
    assert [run.summary for run in runs(page)] == [run.summary for run in runs(text)]
    assert runs(page)[0].started_at == runs(text)[0].started_at


def test_a_json_line_of_any_length_is_whole() -> None:
    (text,) = (text for text in FIO if '"fio version"' in text)
    one_line = " ".join(text.split("\n"))
    assert runs("".join(f"> {line}\n" for line in ("text", one_line))) == runs(text)


@given(st.permutations(range(len(BASES))))
def test_the_order_of_the_runs_in_a_file_changes_no_figure(order: Sequence[int]) -> None:
    def figures(found: Sequence[FoundRun]) -> list[str]:
        return sorted(repr((run.name, run.options, run.summary, run.readings, run.error)) for run in found)

    together = runs("\n\n".join(BASES[number] for number in order))
    assert figures(together) == figures([run for base in BASES for run in runs(base)])


@pytest.mark.parametrize("base", BASES)
def test_a_log_that_was_cut_anywhere_is_read_or_named(base: str) -> None:
    assert_cuts_are_read_or_named(base)


SIZE = 1 << 19
NEAR = [
    ">" * SIZE,
    "- " * (SIZE // 2),
    "1. " * (SIZE // 3),
    " " * SIZE + "x",
    "`" * SIZE,
    "\x1b" * SIZE,
    ("1 " * 4000 + "\n") * (SIZE // 8001),
    ("> " * 4000 + "\n") * (SIZE // 8001),
    ("rados " * 1300 + "\n") * (SIZE // 7801),
    ("rados bench " * 600 + "write\n") * (SIZE // 7206),
    "rados bench -p x 10 write\n" * (SIZE // 26),
    "fio --name=a --rw=read\n" * (SIZE // 23),
    ("Maintaining 16 concurrent writes of 4096 bytes " * 100 + "\n") * (SIZE // 4701),
    ("1 x\n" * (SIZE // 4)),
    ("1 16 17 1 4 4 0.1" + " " * 8000 + "\n") * (SIZE // 8018),
    ("2016-06-16 21:24:44" + " " * 8000 + "\n") * (SIZE // 8020),
    ("error " * 1300 + "\n") * (SIZE // 7801),
    ("A=" * 4000 + "\n") * (SIZE // 8001),
    ("sudo " * 1600 + "rados\n") * (SIZE // 8006),
]


@pytest.mark.parametrize("text", NEAR, ids=lambda text: repr(text[:24]))
def test_near_matches_take_bounded_time_and_memory(text: str) -> None:
    begun = time.process_time()
    log = read_log(text)
    find_rados(log)
    find_fio(log)
    assert time.process_time() - begun < 15
    assert isinstance(log, Log)


def test_decorations_take_bounded_memory() -> None:
    text = "> 1. Maintaining\n" * 50_000
    tracemalloc.start()
    try:
        read_log(text)
        assert tracemalloc.get_traced_memory()[1] < 60 * len(text)
    finally:
        tracemalloc.stop()
