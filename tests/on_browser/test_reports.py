"""A report in a real browser: light, dark and on paper; nothing of it is loaded from anywhere."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import pytest

from cephtui.analysis.verdicts.conclusion import ConclusionTerms
from cephtui.reports.render.html import html_of
from cephtui.reports.views.report.material import of_session
from tests.support import studies
from tests.support.chromium import Browser
from tests.support.documents import AT, document, material, utc
from tests.support.runs import IOPS

__all__ = ["utc"]
PAGES_MOST = 2
"""Of a change: what fits a ticket."""
PAPER = 688
"""Pixels between the margins of A4."""
WIDER = "[...document.querySelectorAll('.wide')].filter(box => box.scrollWidth > box.clientWidth).length"
OVERPRINTED = """
(() => {
  const texts = [...document.querySelectorAll('svg')].map(svg => [...svg.querySelectorAll('text')]
    .map(text => text.getBoundingClientRect()).filter(box => box.width));
  const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
  return texts.map(boxes => boxes.flatMap((a, at) => boxes.slice(at + 1).filter(b => meet(a, b))).length);
})()
"""
"""How many texts of each chart stand on another one."""


@pytest.mark.asyncio(loop_scope="module")
async def test_it_is_drawn_in_light_and_dark_and_fits_two_pages(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(html_of(document(material(mark="<script>document.title = 'pwned'</script>"))))
    tab = await browser.tab()
    await tab.ask("Network.enable")
    paper: dict[str, list[int]] = {}
    for scheme in ("light", "dark"):
        await tab.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        await tab.open(f"file://{file}")
        colors = await browser.colors(await tab.picture())
        most = max(colors, key=lambda color: colors[color])
        paper[scheme] = [int(part) for part in most.split(",")]
        assert len(colors) > 50, "text and charts are drawn"
        assert not await tab.evaluate("document.documentElement.scrollWidth > window.innerWidth")
    assert min(paper["light"]) > 240
    assert max(paper["dark"]) < 40
    assert (await tab.evaluate("document.title")).startswith("tuning: <script>document.title")
    assert await tab.evaluate("performance.getEntriesByType('resource').length") == 0
    assert await tab.evaluate("document.querySelectorAll('svg').length") == 3

    printed = base64.b64decode((await tab.ask("Page.printToPDF", preferCSSPageSize=True))["data"])
    pages = len(re.findall(rb"/Type /Page\b(?!s)", printed))
    assert 1 <= pages <= PAGES_MOST
    assert re.search(rb"/MediaBox \[0 0 59[45](\.\d+)? 84[12](\.\d+)?\]", printed), "A4"
    await tab.close()


@pytest.mark.asyncio(loop_scope="module")
async def test_the_tables_of_a_suite_fit_and_nothing_is_overprinted(browser: Browser, tmp_path: Path) -> None:
    directory = studies.write(tmp_path, [*studies.runs()], studies.order())
    file = tmp_path / "report.html"
    file.write_text(html_of(document(of_session(directory, ConclusionTerms(lambda _: IOPS), AT))))
    tab = await browser.tab()
    for width in (390, 1200, 1600):
        await tab.resize(width, 800)
        await tab.open(f"file://{file}")
        assert not await tab.evaluate("document.documentElement.scrollWidth > window.innerWidth"), width
        assert width == 390 or await tab.evaluate(WIDER) == 0, "a phone scrolls a table by itself"
    assert set(await tab.evaluate(OVERPRINTED)) == {0}
    await tab.ask("Emulation.setEmulatedMedia", media="print")
    await tab.resize(PAPER, 900)
    assert await tab.evaluate("document.documentElement.scrollWidth") <= PAPER
    await tab.close()
