"""How findings are worded: ``make golden`` writes it again."""

from __future__ import annotations

import pytest

from cephtui.models.findings import KINDS
from cephtui.models.findings.examples import example_findings
from cephtui.reports.words.quality import finding_line
from tests.support.golden import Golden


@pytest.mark.parametrize("code", KINDS)
def test_each_form_of_a_finding(code: str, golden: Golden) -> None:
    golden.same(
        [f"{finding.label or '-'}: {finding_line(finding)}" for finding in example_findings(code)], f"finding {code}"
    )


def test_what_findings_mean(golden: Golden) -> None:
    for code, kind in KINDS.items():
        golden.same([kind.title, kind.why, kind.source], f"explained {code}")
