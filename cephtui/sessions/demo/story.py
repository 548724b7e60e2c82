"""The demo as a story: which of its runs and views are shown one after the other, how long, and what is seen there."""

from __future__ import annotations

from typing import Literal

from cephtui.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Scene:
    """A part of a run that is played, or a view of it and of the runs that belong to it."""

    text: str
    """What is seen."""
    run: int
    """The number of the run."""
    seconds: float
    """How long it is shown at 1x."""
    begin_seconds: float = 0.0
    """Where in the run it begins."""
    speed: float = 1.0
    """How many seconds of the run pass in one."""
    view: Literal["run", "verdict", "curve", "diagnosis"] = "run"
    before: int = 0
    """Of a verdict the run before the change."""


_END = 1e9
STORY = (
    Scene("Small writes on three nodes, and what the cluster does meanwhile", 7, 32),
    Scene("An OSD stops: which second, which OSD, and who waits for it", 8, 38, begin_seconds=14),
    Scene("At its end the run is marked, with the reason and what helps", 8, 14, begin_seconds=_END),
    Scene("On another day the same writes are slow, and all is HEALTH_OK", 9, 14, begin_seconds=3),
    Scene("cephtui why: the cause, its cost, what to do", 18, 32, view="diagnosis"),
    Scene("The disk of that OSD is as fast as the others again", 22, 14, begin_seconds=3),
    Scene("Did it help? A verdict, and how sure it is", 22, 24, view="verdict", before=9),
    Scene("A tip from a forum: more memory for the OSDs", 29, 10, begin_seconds=3),
    Scene("Did that help?", 29, 24, view="verdict", before=25),
    Scene("Past the knee, more depth adds latency only", 33, 30, view="curve"),
    Scene("esc: all runs of this session, to replay, compare and report", 7, 10, begin_seconds=_END),
)
"""As it is told at 1x, in four minutes."""
