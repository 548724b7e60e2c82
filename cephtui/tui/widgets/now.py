"""The chosen metric in large digits, with what one asks next: its mean and range, the latency, what the node does."""

from __future__ import annotations

from collections.abc import Mapping

from rich.text import Text
from textual.content import Content
from textual.widget import Widget

from cephtui import units
from cephtui.analysis.detectors.machine import troubles
from cephtui.frozen import dataclass
from cephtui.models import Interval, MachineUse, Total
from cephtui.models.metrics import BY_NAME, COMMIT, Headline, Metric
from cephtui.reports.words.machine import busy_text
from cephtui.reports.words.text import latency_word, link_figures, title_of, value_range
from cephtui.tui.charts.colors import FLOW_COLORS, flow_color
from cephtui.tui.terminal.profile import profile_of
from cephtui.tui.widgets.big import big_with_unit
from cephtui.tui.widgets.layout import Need
from cephtui.tui.widgets.machine_bars import machine_bars
from cephtui.tui.widgets.outcome import percentile_bars
from cephtui.tui.widgets.shown import Shown, range_since_ramp

_MEAN, _P99 = BY_NAME["latency_mean_seconds"], BY_NAME["latency_p99_seconds"]
_DIGIT_ROWS = 5
_ROWS, _ROWS_LEAST = 7, 5
"""Rows within the frame, with digits of the usual and of the least size."""
_LINES = 2
"""Rows of small text that have their place below the digits."""


@dataclass(frozen=True, slots=True)
class LargeFigure:
    """A value with its unit, where the title does not name it, and the lines below it."""

    title: str
    value: str
    unit: str
    color: str
    lines: tuple[str, ...] = ()


def large_figure(shown: Shown, headline: Headline) -> LargeFigure:
    """The metric of a headline, of the last second or of the whole run; reads and writes together where they add up."""
    if shown.prefill:
        return _of_prefill(shown)
    headline = shown.written(headline)
    metric, flows = headline.metric, shown.current
    number, _, unit = metric.as_text(metric.combined(flows)).partition(" ")
    names = metric.names_of_whole(flows)
    only = names[0] if len(names) == 1 else ""
    what = title_of(metric, [shown.tool], [only])
    words = f"{what} {only or ('total' if flows else '')}".strip()
    title = f"{words}, whole run" if shown.whole else words
    lines = (_spread(shown, headline), *_latencies(flows, metric, shown.tool), _apart(flows, headline))
    return LargeFigure(title, number, unit, flow_color(only or "total"), tuple(filter(None, lines)))


def _of_prefill(shown: Shown) -> LargeFigure:
    fill = shown.prefill
    assert fill
    number, _, unit = units.bandwidth(fill.bandwidth_bytes).partition(" ")
    return LargeFigure("prefill", number, unit, FLOW_COLORS["write"], (f"{units.size(fill.written_bytes)} written",))


def _spread(shown: Shown, headline: Headline) -> str:
    """Mean and range since the ramp; of a whole run, whose mean is the large figure, the range."""
    since_ramp = range_since_ramp(shown, headline)
    if since_ramp is None:
        return ""
    extent = value_range(headline.metric, since_ramp.least, since_ramp.greatest)
    return f"range {extent}" if shown.whole else f"mean {headline.metric.as_text(since_ramp.mean)}  {extent}"


def _latencies(flows: Mapping[str, Interval | Total], above: Metric, tool: str) -> list[str]:
    """Mean and p99 of each flow's latency; only the p99 where the mean of one flow stands above."""
    whole = _MEAN.names_of_whole(flows)
    is_above = {whole[0]} if above.name == _MEAN.name and len(whole) == 1 else set[str]()
    words = {name: latency_word([tool], [name]) for name in flows}
    texts = {name: _latency(name, flow, words[name], is_above=name in is_above) for name, flow in flows.items()}
    return [f"{name} {text}" if len(flows) > 1 else text for name, text in texts.items() if text]


def _latency(name: str, flow: Interval | Total, word: str, *, is_above: bool) -> str:
    """Empty where there is nothing more of it; a commit has no percentiles."""
    p99 = "" if name == COMMIT else f"p99 {_P99.text_of(flow)}"
    if is_above:
        return f"{word} {p99}" if p99 else ""
    return f"{word} mean {_MEAN.text_of(flow)}  {p99}".rstrip() if _MEAN.of(flow) is not None else link_figures(flow)


def _apart(flows: Mapping[str, Interval | Total], headline: Headline) -> str:
    """What each flow adds to the sum; empty for a single one."""
    values = headline.metric.of_whole(flows) if headline.sums else {}
    many = len(values) > 1
    return "  ".join(f"{name} {headline.metric.as_text(value)}" for name, value in values.items()) if many else ""


def machine_line(use: MachineUse | None) -> Content:
    """``cpu 96 %`` of the only node, with what is unusual on it; empty where there are several."""
    if use is None or use.cpu_busy_ratio is None:
        return Content()
    unusual = troubles(use)
    return Content.styled(f" cpu {', '.join((busy_text(use), *unusual))} ", "yellow" if unusual else "")


def silence_text(seconds: float) -> str:
    """A text in place of a value that is of the past."""
    return f"no sample for {seconds:.0f} s"


class Now(Widget):
    """Large digits in a frame; dim while samples are overdue."""

    DEFAULT_CSS = "Now { text-wrap: nowrap; text-overflow: ellipsis; }"

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._reading: LargeFigure | None = None
        self._whole: Mapping[str, Interval | Total] = {}
        """The flows of a run that is over."""
        self._machine: MachineUse | None = None
        self._silence = ""

    def show(self, shown: Shown, headline: Headline) -> None:
        """Show a headline; the same again costs no redraw."""
        newest = large_figure(shown, headline)
        self.show_silence(0.0)
        whole = shown.current if shown.whole else {}
        if (newest, whole, shown.machine) != (self._reading, self._whole, self._machine):
            self._reading, self._whole, self._machine = newest, whole, shown.machine
            self.border_title = f" {newest.title} "
            self.on_resize()
            self.refresh()

    def on_resize(self) -> None:
        """The CPUs of a node for whose bars there is no room have a place in the frame."""
        _, machine = self._below(*self.content_size)
        self.border_subtitle = Content() if machine else machine_line(self._machine)

    def need(self, width: int, rows: int) -> Need:
        """The digits, of a run that is over with its percentiles, as far as there is room in so many rows; the node."""
        frame = self.gutter.height
        bars, machine = (len(lines) + 1 if lines else 0 for lines in self._bars(width))
        some = (_ROWS + bars if _ROWS + bars + frame <= rows else _ROWS) + frame
        return Need(_ROWS_LEAST + frame, some + machine, some)

    def _bars(self, width: int) -> tuple[list[Text], list[Text]]:
        """Of the percentiles, and of the node."""
        plain = profile_of(self).ascii_only
        whole = percentile_bars(self._whole, width, ascii_only=plain)
        return whole, machine_bars(self._machine, width, ascii_only=plain)

    def show_silence(self, seconds: float) -> None:
        """Mark the value as that of so many seconds ago; 0 for that of now."""
        text = silence_text(seconds) if seconds else ""
        if text != self._silence:
            self._silence = text
            self.refresh()

    def render(self) -> Text:
        if self._reading is None:
            return Text()
        width, height = self.content_size
        plain = profile_of(self).ascii_only
        below = [line for lines in self._below(width, height) for line in lines]
        height -= len(below)
        lines = ((self._silence,) if self._silence else self._reading.lines)[: max(0, height - 1)]
        rows = max(1, min(_DIGIT_ROWS, height - max(len(lines), _LINES)))
        digits = big_with_unit(self._reading.value, self._reading.unit, width, rows, ascii_only=plain)
        text = Text(no_wrap=True, overflow="ellipsis", end="")
        text.append("\n".join(digits), f"{'dim' if self._silence else 'bold'} {self._reading.color}")
        for line in lines:
            text.append("\n" + line.center(width).rstrip(), "bold yellow" if self._silence else "")
        padding = [Text()] * (height - len(digits) - len(lines)) if below else []
        return Text("\n", no_wrap=True, overflow="ellipsis", end="").join([text, *padding, *below])

    def _below(self, width: int, height: int) -> tuple[list[Text], list[Text]]:
        """What stands below the digits and their lines in so many rows: of the percentiles, and of the node."""
        bars, machine = self._bars(width)
        bars = [Text(), *bars] if bars and height > _ROWS + len(bars) else []
        room = height - _ROWS - len(bars) - 1
        return bars, [Text(), *machine[:room]] if machine and room > 0 else []
