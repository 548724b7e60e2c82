"""Findings about what is saved of a run."""

from __future__ import annotations

from cephtui.models.findings.kind import FindingKind, Values, says, worded
from cephtui.units import size


def _raw_cut(values: Values) -> str:
    """What is stored of raw output; an earlier cephtui left out ``end_bytes``, since it did not store the end."""
    shares = (("first", values["stored_bytes"]), ("last", values.get("end_bytes", 0)))
    stored = " and ".join(f"the {which} {size(part)}" for which, part in shares if part)
    more = f"; {values['others']} more in part" if "others" in values else ""
    return worded("raw output is stored only in part: of {output} ", values) + (
        worded(f"{stored or 'nothing'} of {{said_bytes:size}}", values) + more
    )


RAW_CUT = FindingKind(
    "raw-cut", "note", "record", "raw output cut", _raw_cut,
    why="The figures were not made from the stored raw output.",
    cure="none needed for the figures",
)  # fmt: skip
PARTLY_SAVED = FindingKind(
    "partly-saved", "note", "record", "saved in part",
    says("only a part of this run is saved: {why}"),
    why="The run ended when its session could no longer be written; the figures until then are correct.",
    cure="free up space for the session and measure again",
)  # fmt: skip
UNSAVED = FindingKind(
    "unsaved", "note", "record", "not saved",
    says("this run is not saved: {why}"),
    why="The run is only on this screen.",
    cure="free up space for the session and measure again",
)  # fmt: skip
