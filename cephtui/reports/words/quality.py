"""Whether a run's figures can be believed, in words; and what was observed that they are in doubt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from cephtui.models import Finding, Run
from cephtui.models.findings import Level, finding_kind
from cephtui.models.findings.kind import LATENCIES
from cephtui.models.metrics import BY_NAME
from cephtui.models.run import Validity
from cephtui.printable import listed

LEVELS: Mapping[Level, str] = {"note": "note", "limits": "questionable", "invalidates": "not counted"}
"""What a finding of a level makes of a run."""
QUALITY: Mapping[Validity, str] = {
    "VALID": "valid",
    "SUSPECT": f"{LEVELS['limits']} (counted)",
    "INVALID": LEVELS["invalidates"],
}
_SHORT: Mapping[Validity, str] = {"VALID": "ok", "SUSPECT": LEVELS["limits"], "INVALID": LEVELS["invalidates"]}
_NO_TITLES = {**dict.fromkeys(LATENCIES, "latency"), "seconds": "the sums by second"}
"""Figures that have another name here than in tables."""


def outcome_word(run: Run) -> str:
    """How it ended, in a word or two; of one that ended well, whether its figures can be believed."""
    if run.outcome == "ok" and run.validity:
        return _SHORT[run.validity]
    return run.outcome or "running"


def is_marked(run: Run) -> bool:
    """Whether a finding limits any of its figures."""
    return any(finding.level != "note" for finding in run.findings)


def limited_figures(level: Level, figures: tuple[str, ...] | None) -> str:
    """``all figures``, ``latency``; empty for a note."""
    return "" if level == "note" else "all figures" if figures is None else _titles(figures)


def _titles(figures: Iterable[str]) -> str:
    """``IOPS, bandwidth``: each name once, however many latencies there are."""
    return listed([*dict.fromkeys(_NO_TITLES.get(figure) or BY_NAME[figure].title for figure in figures)])


def effect_of(finding: Finding) -> str:
    """The effect of a finding on a run: ``questionable (counted)``, ``latency questionable``."""
    kind = finding_kind(finding.code)
    if kind.level != "limits":
        return LEVELS[kind.level]
    return QUALITY["SUSPECT"] if kind.figures is None else f"{_titles(kind.figures)} {LEVELS['limits']}"


def finding_line(finding: Finding, where: str = "") -> str:
    """The effect of a finding, what was observed ``where``, and what helps if that is known."""
    helps = f"; what helps: {finding.cure}" if finding.cure else ""
    return f"{effect_of(finding)}: {finding.text}{where}{helps}"


def short_notes(run: Run) -> list[str]:
    """The error and the findings of a run for little room, marked where they limit the figures."""
    texts = [f"! {run.error}"] if run.error else []
    return [*texts, *(f"{'! ' * (finding.level != 'note')}{finding.text}" for finding in first_of_each(run.findings))]


def quality_of(runs: Sequence[Run]) -> str:
    """The worst of some runs, with how many have it: ``questionable (1 of 3)``."""
    validities = [run.validity or "INVALID" for run in runs]
    for validity in ("INVALID", "SUSPECT"):
        if number := validities.count(validity):
            return f"{_SHORT[validity]} ({number} of {len(validities)})" if len(validities) > 1 else QUALITY[validity]
    return QUALITY["VALID"]


def first_of_each(findings: Iterable[Finding]) -> list[Finding]:
    """Findings, each text once, those that limit figures first."""
    by_text: dict[str, Finding] = {}
    for finding in findings:
        by_text.setdefault(finding.text, finding)
    return sorted(by_text.values(), key=lambda finding: finding.level == "note")
