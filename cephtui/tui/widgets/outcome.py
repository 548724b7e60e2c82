"""What a run that is over came to, beside its charts: percentiles as bars, OSDs, findings in full."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

from rich.text import Text

from cephtui import units
from cephtui.analysis.runs.ladder import LogAxis
from cephtui.models import Interval, Run, Total
from cephtui.reports.words.quality import short_notes
from cephtui.tui.charts.colors import flow_color
from cephtui.tui.widgets.cluster_now import HEALTH_STYLES

_PERCENTS = (50.0, 95.0, 99.0, 99.9)
_VALUE_COLUMNS, _BAR_LEAST = 8, 4
_LABEL_COLUMNS = len("p99.9")


def percentile_bars(flows: Mapping[str, Interval | Total], width: int, *, ascii_only: bool) -> list[Text]:
    """A bar for each percentile of each flow of a whole run, all on one logarithmic axis; none without percentiles."""
    rows = [
        (name, percent, seconds)
        for name, total in flows.items()
        if isinstance(total, Total)
        for percent, seconds in total.percentiles().items()
        if percent in _PERCENTS and seconds > 0
    ]
    if not rows:
        return []
    figures = [seconds for _, _, seconds in rows]
    axis = LogAxis(min(figures) / 2, max(figures))
    names = max(len(name) for name, _, _ in rows) + 1 if len({name for name, _, _ in rows}) > 1 else 0
    columns = max(_BAR_LEAST, width - names - _LABEL_COLUMNS - _VALUE_COLUMNS - 2)
    bar, lines = "=" if ascii_only else "━", []
    for name, percent, seconds in rows:
        label = f"{name if names else '':{names}}{f'p{percent:g}':{_LABEL_COLUMNS}}"
        filled = bar * max(1, round(columns * axis.place(seconds)))
        lines.append(
            Text.assemble(f"{label} {units.latency(seconds):>{_VALUE_COLUMNS}} ", (filled, f"bold {flow_color(name)}"))
        )
    return lines


def health_line(run: Run) -> Text:
    """``HEALTH_OK before the run``; empty where it is not known."""
    if run.cluster is None or not run.cluster.health:
        return Text()
    health = run.cluster.health
    return Text.assemble((health, HEALTH_STYLES.get(health, "bold yellow")), " before the run")


def finding_lines(run: Run, width: int) -> list[Text]:
    """What was found, in full, with a mark where it limits the figures."""
    return [
        Text(line, "yellow" if note.startswith("!") else "")
        for note in short_notes(run)
        for line in _wrapped(note, width)
    ]


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, max(8, width), subsequent_indent="  " if text.startswith("!") else "")
