"""Text to quantities and back, as fio and people write them."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cephtui import units
from tests.support.golden import Golden

KIB = 1024
NO_SIZE = "units: no size"
"""The name of a text of several tests."""


def wrong(parse: Callable[[str], float], text: str) -> str:
    """What is said of a text that is refused, which stands in it as TEXT."""
    with pytest.raises(ValueError, match=re.escape(repr(text))) as caught:
        parse(text)
    return str(caught.value).replace(repr(text), "TEXT")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", 0),
        ("1", 1),
        ("512", 512),
        ("512b", 512),
        ("4k", 4 * KIB),
        ("4K", 4 * KIB),
        ("4kb", 4 * KIB),
        ("4KB", 4 * KIB),
        (" 1m ", KIB**2),
        ("64M", 64 * KIB**2),
        ("10G", 10 * KIB**3),
        ("3t", 3 * KIB**4),
        ("1P", KIB**5),
    ],
)
def test_sizes_are_read_as_fio_reads_them(text: str, expected: int) -> None:
    assert units.parse_size(text) == expected


@pytest.mark.parametrize(
    ("text", "typed"), [("4KiB", "4K"), ("4kib", "4k"), ("1 MiB", "1M"), ("4Ki", "4K"), ("1GiB", "1G"), ("4 k", "4k")]
)
def test_binary_suffixes_are_refused(text: str, typed: str) -> None:
    """fio takes KiB for 1000 bytes."""
    assert wrong(units.parse_size, text) == f"expected {typed}, got TEXT"


@pytest.mark.parametrize(
    ("text", "typed"),
    [("5sec", "5s"), ("5 min", "5m"), ("1.5 hours", "1.5h"), ("2Days", "2D"), ("10 seconds", "10s"), ("3hrs", "3h")],
)
def test_a_duration_in_words_is_refused_with_how_it_is_typed(text: str, typed: str) -> None:
    assert wrong(units.parse_duration, text) == f"expected {typed}, got TEXT"


@pytest.mark.parametrize(("text", "percent"), [("10", 10), ("10%", 10), ("-10 %", -10), (" 2.5% ", 2.5)])
def test_percentages(text: str, percent: float) -> None:
    assert units.parse_percent(text) == percent


@pytest.mark.parametrize("text", ["", "%", "x", "10%%", "ten %"])
def test_other_text_is_no_percentage(text: str) -> None:
    assert "a percentage such as 10" in wrong(units.parse_percent, text)


@pytest.mark.parametrize(
    "text", ["", "k", "-4k", "+4k", "1.5M", "0x10", "4x", "50%", "1e3", "1_000", "\u0664k", "4\u212a"]
)
def test_other_text_is_no_size(text: str, golden: Golden) -> None:
    golden.same(wrong(units.parse_size, text), NO_SIZE)


def test_a_size_is_one_of_a_total_where_that_is_known() -> None:
    assert units.size_of(89 << 20, 6 << 30) == "89.0 MiB of 6.00 GiB"
    assert units.size_of(89 << 20, 0) == "89.0 MiB"


@given(st.integers(0, 1 << 63))
def test_short_sizes_are_exact(value: int) -> None:
    assert units.parse_size(units.short_size(value)) == value


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0, "0"), (1000, "1000"), (4096, "4k"), (4097, "4097"), (1 << 20, "1M"), (128 << 20, "128M"), (3 << 30, "3G")],
)
def test_short_sizes_take_the_largest_unit(value: int, expected: str) -> None:
    assert units.short_size(value) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("60", 60), ("60s", 60), ("1.5m", 90), ("2h", 7200), ("1d", 86400), ("0.25", 0.25), (" 5M ", 300)],
)
def test_durations(text: str, expected: float) -> None:
    assert units.parse_duration(text) == expected


@pytest.mark.parametrize("text", ["", "s", "-1", "1:30", "5 mins ago", "nan", "inf", "1e3", "\u0663"])
def test_other_text_is_no_duration(text: str, golden: Golden) -> None:
    golden.same(wrong(units.parse_duration, text), "units: no duration")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.00 KiB"),
        (1 << 30, "1.00 GiB"),
        (1.5 * KIB**2, "1.50 MiB"),
        (99.96 * KIB, "100 KiB"),
        (1023.9 * KIB, "1.00 MiB"),
        (5 << 60, "5.00 EiB"),
    ],
)
def test_size(value: float, expected: str) -> None:
    assert units.size(value) == expected


def test_bandwidth() -> None:
    assert units.bandwidth(65.4 * KIB**2) == "65.4 MiB/s"
    assert units.bandwidth(None) == units.DASH


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "-"),
        (0, "0"),
        (7.25, "7.25"),
        (573, "573"),
        (999.6, "1.00k"),
        (16_700, "16.7k"),
        (455_000, "455k"),
        (1.2e6, "1.20M"),
    ],
)
def test_iops(value: float | None, expected: str) -> None:
    assert units.iops(value) == expected


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (None, "-"),
        (0, "0 ns"),
        (250e-9, "250 ns"),
        (1.5e-6, "1.50 us"),
        (30.6e-3, "30.6 ms"),
        (0.9996, "1.00 s"),
        (12.34, "12.3 s"),
        (5000, "5000 s"),
    ],
)
def test_latency(seconds: float | None, expected: str) -> None:
    assert units.latency(seconds) == expected


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0, "0 s"), (37.4, "37 s"), (99, "99 s"), (125, "2:05 min"), (3599.6, "1:00:00 h"), (3725, "1:02:05 h")],
)
def test_duration(seconds: float, expected: str) -> None:
    assert units.duration(seconds) == expected


def test_count_and_percent() -> None:
    assert units.bit_rate(1e10) == "10.0 Gbit/s"
    assert units.bit_rate(100e6) == "100 Mbit/s"
    assert units.percent(99.44) == "99.4 %"
    assert units.percent(None) == units.DASH


@pytest.mark.parametrize(
    ("ratio", "expected"), [(1.25, "1.2 times"), (2.3, "2.3 times"), (9.96, "10 times"), (223.6, "224 times")]
)
def test_times(ratio: float, expected: str) -> None:
    assert units.times(ratio) == expected


@pytest.mark.parametrize(
    ("fraction", "expected"),
    [
        (0.0, "±0.0 %"),
        (0.029, "±2.9 %"),
        (0.0994, "±9.9 %"),
        (0.0996, "±10 %"),
        (0.26, "-21..+26 %"),
        (1.3, "-57..+130 %"),
        (44, "-98..>+999 %"),
    ],
)
def test_margin(fraction: float, expected: str) -> None:
    assert units.margin(fraction) == expected
    assert units.margin(fraction, ascii_only=True) == expected.replace("±", "+-")


@given(st.floats(0.001, 999_000))
def test_figures_stay_narrow(value: float) -> None:
    """A column of them has a width that can be relied on."""
    for text in (units.latency(value / 1000), units.iops(value), units.iops(value * 1e6), units.size(value * 1e9)):
        assert re.fullmatch(r"[0-9.]{1,7}( ?[a-zA-Z]*)", text)
