"""A report in a real browser: light, dark and on paper; nothing of it is loaded from anywhere."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import pytest

from cephtui.reports.render.html import html_of
from tests.support.chromium import Browser
from tests.support.documents import document, material, utc

__all__ = ["utc"]
PAGES_MOST = 2
"""Of a change: what fits a ticket."""


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
