"""Whether a run's figures can be believed, in words; and what was observed that they are in doubt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from cephtui import units
from cephtui.models.metrics import BY_NAME
from cephtui.printable import listed
from cephtui.reports.styles import OUTCOMES, Style

if TYPE_CHECKING:
    from cephtui.models import Finding, Run
    from cephtui.models.findings import Level
    from cephtui.models.run import Validity

LEVELS: Mapping[Level, str] = {"note": "note", "limits": "questionable", "invalidates": "not counted"}
"""What a finding of a level makes of a run."""
QUALITY: Mapping[Validity, str] = {
    "VALID": "valid",
    "SUSPECT": f"{LEVELS['limits']} (counted)",
    "INVALID": LEVELS["invalidates"],
}
_SHORT: Mapping[Validity, str] = {"VALID": "ok", "SUSPECT": LEVELS["limits"], "INVALID": LEVELS["invalidates"]}


def outcome_word(run: Run) -> str:
    """How it ended, in a word or two; of one that ended well, whether its figures can be believed."""
    if run.outcome == "ok" and run.validity:
        return _SHORT[run.validity]
    return run.outcome or "running"


def is_marked(run: Run) -> bool:
    """Whether a finding limits any of its figures."""
    return any(finding.level != "note" for finding in run.findings)


def outcome_style(run: Run) -> Style:
    """The style of the outcome's word: one that ended well is ``limited`` where a finding limits its figures."""
    return "limited" if run.outcome == "ok" and is_marked(run) else OUTCOMES.get(run.outcome or "", "")


def limited_figures(level: Level, figures: tuple[str, ...] | None) -> str:
    """``all figures``, ``latency``; empty for a note."""
    return "" if level == "note" else "all figures" if figures is None else _titles(figures)


def _titles(figures: Iterable[str]) -> str:
    """``IOPS, bandwidth``: each name once, however many latencies there are."""
    from cephtui.models.findings.kind import LATENCIES

    names = {**dict.fromkeys(LATENCIES, "latency"), "seconds": "the sums by second"}
    return listed([*dict.fromkeys(names.get(figure) or BY_NAME[figure].title for figure in figures)])


def effect_of(finding: Finding) -> str:
    """The effect of a finding on a run: ``questionable (counted)``, ``latency questionable``."""
    from cephtui.models.findings import finding_kind

    kind = finding_kind(finding.code)
    if kind.level != "limits":
        return LEVELS[kind.level]
    return QUALITY["SUSPECT"] if kind.figures is None else f"{_titles(kind.figures)} {LEVELS['limits']}"


def summed_findings(findings: Iterable[tuple[Run, Finding]], of: int) -> dict[str, list[Run]]:
    """Findings of a kind by their texts, with the runs that have them: ``stalls of 3 to 8 s on lab1 in 2 of 3 runs``.

    Of several runs that have it in different words one text stands for all, out of so many runs.
    """
    from cephtui.models.findings import finding_kind

    runs_by_text: dict[str, list[Run]] = {}
    every = [*findings]
    for run, finding in every:
        runs_by_text.setdefault(finding.text, []).append(run)
    runs = list({(run.session, run.run): run for run, _ in every}.values())
    if len(runs_by_text) == 1 or len(runs) == 1:
        return runs_by_text
    summed = finding_kind(every[0][1].code).summed
    if summed and (text := summed([finding.values for _, finding in every])):
        return {f"{text} in {len(runs)} of {of} runs": runs}
    return {more_like(every[0][1].text, len(runs_by_text) - 1): runs}


def more_like(text: str, others: int) -> str:
    """One text for so many others that differ from it in figures."""
    return f"{text}; {others} more like it" if others else text


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


def same_but_figures(finding: Finding) -> object:
    """What findings have in common that differ in their times and measured values alone."""
    of_what = tuple((name, value) for name, value in finding.values.items() if not isinstance(value, float))
    return (finding.code, finding.cure, of_what) if finding.values else finding.text


def first_of_each(findings: Iterable[Finding]) -> list[Finding]:
    """Findings, each text once, those that limit figures first.

    What came again, with other times and measured values alone, is told by its first text and the times of the others.
    """
    alike: dict[object, dict[str, Finding]] = {}
    for finding in findings:
        key = finding.text if finding.from_seconds is None else same_but_figures(finding)
        alike.setdefault(key, {}).setdefault(finding.text, finding)
    told = [_told_once([*by_text.values()]) for by_text in alike.values()]
    return sorted(told, key=lambda finding: finding.level == "note")


def _told_once(findings: Sequence[Finding]) -> Finding:
    """The first of findings that are alike, with the times of the others: ``...; again 0:27 to 0:45``."""
    first, *others = findings
    if not others:
        return first
    times = [f"{units.clock(other.from_seconds or 0.0)} to {units.clock(other.to_seconds or 0.0)}" for other in others]
    return first.model_copy(update={"text": f"{first.text}; again {listed(times)}"})
