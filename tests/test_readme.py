"""What the README shows is there, and is what cephtui gives."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from cephtui.cli.verbs import cli
from cephtui.paths import packaged_presets_dir
from cephtui.presets import find_presets, the_six
from cephtui.sessions import demo, store
from cephtui.tui.copying import handout_of_run

ROOT = Path(__file__).parent.parent
PAGES = (ROOT / "README.md", ROOT / "screenshots" / "README.md")
MOST_BYTES = 1_500_000
"""Of a picture: a page with it must open over a slow link."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_links_to_exists(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", page.read_text())
    assert links
    assert [link for link in links if not (page.parent / link).is_file()] == []


def test_every_picture_is_shown_on_a_page() -> None:
    links = {page: re.findall(r"\]\(([^)]+)\)", page.read_text()) for page in PAGES}
    shown = {(page.parent / link).resolve() for page, found in links.items() for link in found}
    pictures = {path for path in (ROOT / "screenshots").iterdir() if path.suffix != ".md"}
    assert pictures - shown == set()
    assert max(path.stat().st_size for path in pictures) < MOST_BYTES


def test_the_result_in_a_ticket_is_that_of_the_demo(tmp_path: Path) -> None:
    session = demo.unpack(tmp_path)
    copied = handout_of_run(session, store.read_run(session, demo.STAR)).text
    quoted = re.findall(r"^> ?(.*)$", PAGES[0].read_text(), re.MULTILINE)
    assert quoted == [line.rstrip() for line in copied.rstrip().splitlines()]


def test_the_presets_are_those_of_the_table(tmp_path: Path) -> None:
    rows = re.findall(r"^\| `(\d)` \| `(\S+)` \|.*\| (\d+) \| (\d+) \|$", PAGES[0].read_text(), re.MULTILINE)
    six = the_six(find_presets(packaged_presets_dir(), tmp_path))
    packaged = [[each.file.key, each.name, *map(each.file.options.get, ("iodepth", "numjobs"))] for each in six]
    assert [list(row) for row in rows] == [[str(1 if cell is None else cell) for cell in row] for row in packaged]


def test_the_check_is_that_of_the_demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CEPHTUI_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    demo.unpack(tmp_path / "sessions")
    checked = CliRunner().invoke(cli, ["check", "demo/7", "demo/10"])
    assert checked.exit_code == 0, "click's own runner gives the result as a value"
    section = PAGES[0].read_text().partition("## Did it help?")[2]
    quoted = re.findall(r"^```\n(.*?)^```", section, re.MULTILINE | re.DOTALL)[0]
    assert quoted.splitlines() == checked.stdout.rstrip().splitlines()
