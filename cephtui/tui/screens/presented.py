"""What the presenter says: two figures, a headline, the cluster. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cephtui import units
from cephtui.analysis.detectors.explaining import mark_of
from cephtui.analysis.views.live import LiveRun
from cephtui.frozen import dataclass
from cephtui.models import ClusterSample
from cephtui.models.metrics import BY_NAME, COMMIT, FLUSH, Headline, Metric
from cephtui.reports.words.text import how_far, phase_words, title_of
from cephtui.tui.widgets.shown import Shown

_ACTIVE_SECONDS = 2.0
"""What ended so long ago is still shown: the newest figures are of the second before."""
_P99 = BY_NAME["latency_p99_seconds"]


@dataclass(frozen=True, slots=True)
class PresentedFigure:
    """A number, and what it is."""

    word: str
    """With the unit: ``IOPS write``, ``latency p99 ms``, ``flush p99 ms``."""
    value: str
    flow: str = ""
    """``read``, ``write`` or another, if it is of that alone."""
    parts: tuple[tuple[str, str], ...] = ()
    """Flows with their numbers and units, where there are several."""


def two_figures(
    shown: Shown | None, live: LiveRun | None, headline: Headline
) -> tuple[PresentedFigure, PresentedFigure]:
    """The metric and the p99; while a target is prefilled, how fast that is and how far."""
    if live and live.phase == "prepare":
        return _prefill(live)
    flows = shown.current if shown else {}
    tool = shown.tool if shown else ""
    return _figure(headline.metric, flows, tool), _figure(_P99, flows, tool)


def _figure(metric: Metric, flows: Mapping[str, Any], tool: str) -> PresentedFigure:
    texts = {name: metric.as_text(value) for name, value in metric.of_whole(flows).items()}
    number, _, unit = metric.as_text(metric.combined(flows)).partition(" ")
    flow = next(iter(texts)) if len(texts) == 1 else ""
    whole = metric.names_of_whole(flows)
    title = title_of(metric, [tool])
    of_time = (f"{whole[0]} {metric.title}" if whole and whole[0] in (FLUSH, COMMIT) else title, unit)
    words = of_time if metric.unit == "s" else (unit or title, flow)
    return PresentedFigure(" ".join(filter(None, words)), number, flow, tuple(texts.items()) if len(texts) > 1 else ())


def _prefill(live: LiveRun) -> tuple[PresentedFigure, PresentedFigure]:
    written = live.latest.write if live.latest else None
    rate, _, unit = units.bandwidth(written.bandwidth_bytes if written else None).partition(" ")
    speed = PresentedFigure(f"prefill {unit}".strip(), rate, "write")
    if not live.prefill_bytes:
        number, _, unit = units.size(live.prepared_bytes).partition(" ")
        return speed, PresentedFigure(f"{unit} written", number)
    done = live.progress().fraction
    percent = units.DASH if done is None else f"{100 * done:.0f} %"
    return speed, PresentedFigure(f"of {units.size(live.prefill_bytes)}", percent)


@dataclass(frozen=True, slots=True)
class Banner:
    """The headline: what happens or has happened, in a few words."""

    texts: tuple[str, ...] = ("",)
    """The first that fits is shown."""
    kind: str = ""
    """``-wrong`` for a stall or another finding, ``-mark``, ``-phase``; empty for none."""


def banner(shown: Shown | None, live: LiveRun | None) -> Banner:
    """A stall or another finding of now first, then the newest mark, then the phase before the benchmark."""
    if shown is None or (live and live.phase == "prepare"):
        return Banner(("prefilling",), "-phase") if live else Banner()
    now = float("-inf") if shown.whole else shown.history.reached - _ACTIVE_SECONDS
    active = next((span for span in shown.spans if span.end_seconds >= now), None)
    if active:
        cause = mark_of(active.begin_seconds, shown.marks)
        with_cause = [f"{cause[1]} → {active.text}"] if cause else []
        return Banner((*with_cause, active.text), "-wrong")
    if mark := max(shown.marks, default=None):
        return Banner((mark[1],), "-mark")
    return Banner(("ramp, not counted", "ramp"), "-phase") if live and live.phase == "ramp" else Banner()


def health(cluster: ClusterSample | None) -> tuple[str, str]:
    """What Ceph says of itself, and how bad that is: ``-ok``, ``-warn``, ``-err``, or empty where it is not known."""
    text = (cluster.health or "").split() if cluster else []
    word = text[0] if text else ""
    return word, {"HEALTH_OK": "-ok", "HEALTH_WARN": "-warn", "HEALTH_ERR": "-err"}.get(word, "")


def osd_texts(cluster: ClusterSample | None) -> tuple[str, ...]:
    """OSDs that are down, else the slowest one of the cluster; the first text that fits is shown."""
    if cluster is None:
        return ("",)
    if cluster.osds and cluster.osds_up is not None and cluster.osds_up < cluster.osds:
        return (f"{cluster.osds_up} of {cluster.osds} OSDs up", f"{cluster.osds_up}/{cluster.osds} OSD")
    slowest = max(cluster.osd_latency_seconds.items(), key=lambda item: item[1], default=None)
    if slowest is None:
        return ("",)
    text = f"OSD.{slowest[0]} {units.latency(slowest[1])}"
    return (f"slowest of all: {text}", text)


def progress(shown: Shown | None, live: LiveRun | None) -> str:
    """How far the run is: ``running 34 of 62 s``."""
    if live is None:
        return "over the whole run" if shown and shown.whole else ""
    expected = None if live.phase == "prepare" else live.expected_seconds
    return f"{phase_words(live, live.phase)} {how_far(live.progress().elapsed_seconds, expected)}"
