"""Findings about what is saved of a run."""

from __future__ import annotations

from cephtui.models.findings.kind import FindingKind, Values, says, worded


def _raw_cut(values: Values) -> str:
    others = f", and so {values['others']} more" if "others" in values else ""
    return (
        worded("raw output stored only in part: of {output} the first {stored_bytes:size} of {said_bytes:size}", values)
        + f", and its end{others}; all samples are kept"
    )


RAW_CUT = FindingKind(
    "raw-cut", "note", "record", "raw output cut", _raw_cut,
    why="The figures come from the samples, which are all kept.",
    cure="none needed",
)  # fmt: skip
PARTLY_SAVED = FindingKind(
    "partly-saved", "note", "record", "saved in part",
    says("only a part of this run is saved: {why}"),
    why="The run ended when its session could no longer be written; what was measured until then is right.",
    cure="make room for the session and measure again",
)  # fmt: skip
UNSAVED = FindingKind(
    "unsaved", "note", "record", "not saved",
    says("this run is not saved: {why}"),
    why="The run stands on this screen alone.",
    cure="make room for the session and measure again",
)  # fmt: skip
