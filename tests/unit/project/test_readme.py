"""What the README and the pages below docs show is there, and is what cephtui gives."""

from __future__ import annotations

import re
from pathlib import Path

from cephtui.paths import packaged_presets_dir
from cephtui.presets import find_presets, the_six
from cephtui.sessions import demo, store
from cephtui.tui.copying import run_snippet
from tests import ROOT

PAGES = (ROOT / "README.md", ROOT / "screenshots" / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
TUTORIAL = ROOT / "docs" / "tutorial"
MOST_BYTES = 1_500_000
"""Of a picture: a page with it must open over a slow link."""


def test_every_picture_is_shown_on_a_page() -> None:
    links = {page: re.findall(r"\]\(([^)]+)\)", page.read_text()) for page in PAGES}
    shown = {(page.parent / link).resolve() for page, found in links.items() for link in found}
    pictures = {path for path in (ROOT / "screenshots").iterdir() if path.suffix != ".md"}
    assert pictures - shown == set()
    assert max(path.stat().st_size for path in pictures) < MOST_BYTES


def test_the_result_in_a_ticket_is_that_of_the_demo(tmp_path: Path) -> None:
    session = demo.unpack(tmp_path)
    copied = run_snippet(session, store.read_run(session, demo.STAR)).text
    quoted = re.findall(r"^> ?(.*)$", (TUTORIAL / "ten-minutes.md").read_text(), re.MULTILINE)
    assert quoted == [line.rstrip() for line in copied.rstrip().splitlines()]


def test_the_presets_are_those_of_the_table(tmp_path: Path) -> None:
    text = (TUTORIAL / "first-hour.md").read_text()
    rows = re.findall(r"^\| `(\d)` \| `(\S+)` \|.*\| (\d+) \| (\d+) \|$", text, re.MULTILINE)
    six = the_six(find_presets(packaged_presets_dir(), tmp_path))
    packaged = [[each.file.key, each.name, *map(each.file.options.get, ("iodepth", "numjobs"))] for each in six]
    assert [list(row) for row in rows] == [[str(1 if cell is None else cell) for cell in row] for row in packaged]
