"""Draws the screenshots of the documentation from the recorded session: ``make screenshots``."""

from __future__ import annotations

import asyncio
import re
import tempfile
from pathlib import Path

import resvg_py

from cephtui.tui.app import ConsoleApp
from tests.replayed import MIXED, WRITE_IOPS, console, until

FOLDER = Path(__file__).parent.parent / "screenshots"
SPEED = 10.0


def progress(app: ConsoleApp) -> str:
    """The console's progress line as text."""
    return str(app.screen.query_one("#progress").render())


def reached(app: ConsoleApp, second: int) -> bool:
    """Whether the run has come so far."""
    words = progress(app).split(" of ")[0].split()
    return "running" in words and words[-1].isdigit() and int(words[-1]) >= second


async def draw(name: str, run: int, key: str, size: tuple[int, int], second: int | None) -> None:
    """One screenshot: in mid-run at a second of the recording, or (None) after its end."""
    with tempfile.TemporaryDirectory() as folder:
        async with console(Path(folder), run=run, speed=SPEED, size=size) as (app, pilot):
            await pilot.press(key)
            await until(pilot, lambda: reached(app, second) if second else " ok" in progress(app))
            (FOLDER / f"{name}.svg").write_text(export(app))
            await pilot.press("s")
            await until(pilot, lambda: not app.busy)


def export(app: ConsoleApp) -> str:
    """The screen as SVG, without the web fonts that it would fetch."""
    return re.sub(r"@font-face \{.*?\}\s*", "", app.export_screenshot(title=""), flags=re.DOTALL)


def to_png(name: str) -> None:
    """The same as a picture."""
    picture = resvg_py.svg_to_bytes(svg_path=str(FOLDER / f"{name}.svg"), monospace_family="DejaVu Sans Mono")
    (FOLDER / f"{name}.png").write_bytes(bytes(picture))


async def main() -> None:
    """All of them."""
    FOLDER.mkdir(exist_ok=True)
    await draw("console", WRITE_IOPS, "2", (120, 36), 16)
    await draw("mixed", MIXED, "6", (120, 36), 17)
    await draw("console-80x24", WRITE_IOPS, "2", (80, 24), None)
    for name in ("console", "mixed", "console-80x24"):
        to_png(name)


if __name__ == "__main__":
    asyncio.run(main())
