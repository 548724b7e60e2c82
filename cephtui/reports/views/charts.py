"""Charts of results as data: which points, which axes, which labels. A terminal shows none of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from cephtui import units
from cephtui.analysis.runs.batches import in_time_order, measured, name_of
from cephtui.analysis.statistics.ratio import required_ratio
from cephtui.frozen import dataclass
from cephtui.models import Run
from cephtui.models.metrics import BY_NAME, Metric
from cephtui.models.verdict import Verdict
from cephtui.reports.blocks import ChartSeries, Color, LineChart, Point, Tick
from cephtui.reports.ticks import SECONDS, multiples, round_up, trimmed
from cephtui.reports.words.text import metric_of

_PERCENTS = (-95, -90, -80, -70, -60, -50, -40, -30, -20, -10, -5, -2, -1, 0,
             1, 2, 5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 1000, 2000, 5000, 10000)  # fmt: skip
_TICKS_MOST = 9
_ROW_PIXELS, _FRAME_PIXELS = 34, 64
_EQUALS: tuple[Color, ...] = ("s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8")
_RATIO_LEAST, _RATIO_MOST = 1e-3, 1e3
"""Beyond these an interval is cut off: it is as wide as that with two runs that are far apart."""
_INTERVALS_MOST = 20
"""In one chart: a table has all of them."""


@dataclass(frozen=True, slots=True)
class Line:
    """A run over time: reads and writes together, the ramp left out."""

    metric: Metric
    """IOPS, or bandwidth where the tool does not count I/Os."""
    points: tuple[Point, ...]
    """(seconds since the ramp, value); a stretch with a stall has its least value."""


def interval_chart(labelled: Sequence[tuple[Verdict, str]]) -> LineChart | None:
    """A row for each of the first verdicts that has an interval: where the change lies, against what is required.

    Each has the name of its runs, which stands where there are several.
    """
    rows = [(verdict, label) for verdict, label in labelled[:_INTERVALS_MOST] if verdict.interval and verdict.ratio]
    if not rows:
        return None
    ratios = [1.0]
    series: list[ChartSeries] = []
    for number, (verdict, _) in enumerate(rows):
        low, mean, high = (min(max(end, _RATIO_LEAST), _RATIO_MOST) for end in ends_of(verdict))
        required = required_ratio(verdict.require_percent, BY_NAME[verdict.figure].better)
        row, first = float(len(rows) - number), number == 0
        ratios += [low, high, required]
        ends = ((math.log(low), row), (math.log(high), row))
        edge = math.log(required)
        series += [
            ChartSeries("change and its interval" * first, ends, "after", "thick"),
            ChartSeries("", ((math.log(mean), row),), "after", "dots"),
            ChartSeries("required" * first, ((edge, row - 0.45), (edge, row + 0.45)), "limit", "dashed"),
        ]
    series.insert(0, ChartSeries("no change", ((0.0, 0.4), (0.0, len(rows) + 0.6)), "ink", "line"))
    pad = 0.04 * (math.log(max(ratios)) - math.log(min(ratios))) or 0.1
    ends_of_x = math.log(min(ratios)) - pad, math.log(max(ratios)) + pad
    return LineChart(
        "interval",
        f"Change with its interval ({100 * rows[0][0].confidence:g} %), against what is required",
        tuple(series),
        _percent_ticks(*ends_of_x),
        tuple((float(len(rows) - number), _title(*labelled_row, rows)) for number, labelled_row in enumerate(rows)),
        ends_of_x,
        (0.4, len(rows) + 0.6),
        "change in %, logarithmic",
        _FRAME_PIXELS + _ROW_PIXELS * (1 + len(rows)),
    )


def ends_of(verdict: Verdict) -> tuple[float, float, float]:
    """The interval with the ratio between its ends; only of a verdict that has one."""
    assert verdict.interval
    assert verdict.ratio
    return verdict.interval[0], verdict.ratio, verdict.interval[1]


def _title(verdict: Verdict, label: str, rows: Sequence[tuple[Verdict, str]]) -> str:
    """``write IOPS``, with the name of its runs where there are several."""
    title = f"{verdict.direction} {metric_of(verdict.figure, verdict.tool, verdict.direction).full_title}"
    return title if len({label for _, label in rows}) == 1 else f"{label} {title}"


def _percent_ticks(low: float, high: float) -> tuple[Tick, ...]:
    """Round percent on a scale of logarithms of ratios; nothing is always among them."""
    percents = [percent for percent in _PERCENTS if low <= math.log(1 + percent / 100) <= high]
    least = 0.055 * (high - low)  # as near as labels may stand
    ticks: list[Tick] = [(0.0, "0")]
    for percent in sorted(percents, key=abs):
        at = math.log(1 + percent / 100)
        if all(abs(at - other) > least for other, _ in ticks):
            ticks.append((at, f"{percent:+d}"))
    return tuple(sorted(ticks))


def dots_chart(
    verdict: Verdict, label: str, runs: Mapping[str, Run], sides: tuple[str, str], number: int
) -> LineChart | None:
    """Each run of a verdict as a dot, in the order of time, and the geometric mean of each side."""
    metric = metric_of(verdict.figure, verdict.tool, verdict.direction)
    ordered = [name_of(run) for run in in_time_order(runs[name] for name in (*verdict.before, *verdict.after))]
    places = {name: float(at) for at, name in enumerate(ordered, 1)}
    x_range = 0.4, len(ordered) + 0.6
    colored: tuple[tuple[str, Color, Sequence[str], float | None], ...] = (
        (sides[0], "before", verdict.before, verdict.left),
        (sides[1], "after", verdict.after, verdict.right),
    )
    series: list[ChartSeries] = []
    for word, color, names, mean in colored:
        measured_runs = ((places[name], measured([runs[name]], verdict.direction, metric)) for name in names)
        points = tuple((place, value) for place, values in measured_runs for value in values)
        series += _side(word, color, points, mean)
    if not series:
        return None
    if verdict.left and verdict.after:
        edge = verdict.left * required_ratio(verdict.require_percent, metric.better)
        series.append(ChartSeries("required", tuple((at, edge) for at in x_range), "limit", "dashed"))
    values = [value for each in series for _, value in each.points]
    y_range = _padded(min(values), max(values))
    return LineChart(
        f"runs-{number}",
        f"{label}, {verdict.direction} {metric.full_title}: each run a dot, dashed the geometric mean",
        tuple(series),
        thinned([(place, name.rpartition("/")[2]) for name, place in places.items()]),
        round_ticks(*y_range, metric),
        x_range,
        y_range,
        "run",
        190,
    )


def _side(word: str, color: Color, points: tuple[Point, ...], mean: float | None) -> list[ChartSeries]:
    """The dots of a side and its mean, a little wider than they are; nothing before its first run."""
    if not points or mean is None:
        return []
    begin, end = min(at for at, _ in points) - 0.3, max(at for at, _ in points) + 0.3
    return [
        ChartSeries(word, points, color, "dots"),
        ChartSeries("", ((begin, mean), (end, mean)), color, "dashed"),
    ]


def thinned(ticks: Sequence[Tick], most: int = 24) -> tuple[Tick, ...]:
    """Every nth tick, so that labels have room."""
    step = -(-len(ticks) // most)
    return tuple(ticks[::step])


def time_chart(title: str, name: str, lines: Sequence[tuple[str, Color, Line]]) -> LineChart | None:
    """Runs over time in one picture; ``lines`` have their names in the legend, each name once."""
    if not lines:
        return None
    metric = lines[0][2].metric
    chosen = [named_line for named_line in lines if named_line[2].metric == metric]
    right = max(line.points[-1][0] for _, _, line in chosen)
    top = 1.08 * max(value for _, _, line in chosen for _, value in line.points) or 1.0
    names: set[str] = set()
    series = []
    for word, color, line in chosen:
        series.append(ChartSeries("" if word in names else word, line.points, color))
        names.add(word)
    return LineChart(
        name,
        f"{title}: {metric.title} in each second after the ramp",
        tuple(series),
        _time_ticks(right),
        round_ticks(0.0, top, metric),
        (0.0, right),
        (0.0, top),
        "time since the start, ramp included",
        210,
    )


def colors_of(names: Sequence[str]) -> dict[str, Color]:
    """One for each, for lines that are equals."""
    return {name: _EQUALS[at % len(_EQUALS)] for at, name in enumerate(names)}


def _padded(low: float, high: float) -> Point:
    """The ends of an axis on whose frame no point lies; the lower one is zero where the least is near to it."""
    pad = 0.12 * (high - low) or 0.05 * abs(high) or 1.0
    return (0.0 if low - pad < 0.3 * high else low - pad), high + pad


def round_ticks(low: float, high: float, metric: Metric, most: int = 5) -> tuple[Tick, ...]:
    """At most so many round values between two ends, with their units; bytes are round in powers of 1024."""
    unit = 1024.0 ** math.floor(math.log(high, 1024)) if metric.binary and high >= 1024 else 1.0
    step = round_up((high - low) / unit / most) * unit
    return tuple((value, trimmed(metric.as_text(value)) if value else "0") for value in multiples(step, low, high))


def _time_ticks(right: float) -> tuple[Tick, ...]:
    step = next((step for step in SECONDS if right / step <= _TICKS_MOST), right / _TICKS_MOST)
    texts: Callable[[float], str] = (lambda value: f"{value:g} s") if right < 120 else units.clock
    return tuple((value, texts(value)) for value in multiples(step, 0.0, right))
