"""What cephtui serves, in a real browser: it is drawn, it takes keys that look, and nobody else gets in."""

from __future__ import annotations

import asyncio
import json
import re
import signal
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from aiohttp import web
from aiohttp.test_utils import RawTestServer

from tests.end_to_end.sandbox import ENDLESS
from tests.on_browser.conftest import Serve
from tests.on_browser.serving import Serving
from tests.support.chromium import Browser, Tab

pytestmark = pytest.mark.asyncio(loop_scope="module")

WATCHED = "watching session demo"
"""On its screen."""
STATE = re.compile(r"(playing|paused|finished) +[\d.]+x")
WRITE = "204,121,167"
"""The colour of writes, as pixels of a picture have it."""
PRESET = f"""
title = "Write IOPS"
key = 2
[options]
rw = "randwrite"
bs = "4k"
size = "4M"
runtime = {ENDLESS}
rate_iops = 20
"""
"""Runs until it is stopped, and loads nothing."""
OPEN_SOCKET = """
new Promise((done) => {
  const socket = new WebSocket(%s);
  socket.onopen = () => done("open");
  socket.onerror = () => done("refused");
})
"""


@pytest.fixture(scope="module")
def demo(serve: Serve) -> Serving:
    """The demo, on this machine only."""
    return serve()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def page(browser: Browser, demo: Serving) -> AsyncIterator[Tab]:
    """The demo in the middle of its run, paused."""
    tab = await browser.tab()
    await tab.open(demo.url)
    while (state := await _state(tab)) != "paused":  # the key may come when the replay is over, and play it again
        await tab.reads("osd.1 frozen")
        await tab.press(" ")
        await tab.until(partial(_is_no_longer, state, tab))
    yield tab


async def _state(page: Tab) -> str:
    """Of the replay."""
    return str(await page.until(partial(_state_or_none, page)))


async def _state_or_none(page: Tab) -> str:
    shown = STATE.search(await page.text())
    return shown[1] if shown else ""


async def _is_no_longer(state: str, page: Tab) -> bool:
    return await _state_or_none(page) not in ("", state)


async def test_the_demo_is_drawn(browser: Browser, demo: Serving, page: Tab) -> None:
    text = await page.text()
    assert "demo/8 " in text
    assert "⠀" < max(text) < "⣿" or "┤" in text  # more than ASCII, though the server's terminal has no more
    colors = await browser.colors(await page.picture())
    assert colors[WRITE] > 500
    assert sum(colors.values()) == 1280 * 800
    assert await page.evaluate("document.title") == "cephtui demo, read-only"
    assert len(demo.pages) == 1


async def test_nothing_comes_from_elsewhere(demo: Serving, page: Tab) -> None:
    loaded = await page.evaluate("performance.getEntriesByType('resource').map((entry) => entry.name)")
    assert {urlsplit(url).netloc for url in loaded if not url.startswith("data:")} == {urlsplit(demo.url).netloc}
    assert any(url.endswith("textual.js") for url in loaded)


async def test_it_is_as_large_as_the_window(page: Tab) -> None:
    large = await page.evaluate("[window.drawn.cols, window.drawn.rows]")
    await page.resize(960, 600)

    async def is_smaller() -> bool:
        columns, rows = await page.evaluate("[window.drawn.cols, window.drawn.rows]")
        lines = (await page.text()).splitlines()
        fits = len(lines) == rows and max(map(len, lines)) <= columns
        return columns < large[0] and rows < large[1] and fits and "? help" in lines[-1]

    await page.until(is_smaller)
    await page.resize(1280, 800)
    await page.until(lambda: page.evaluate(f"window.drawn.cols == {large[0]}"))


@pytest.mark.parametrize(("width", "height"), [(390, 844), (844, 390), (1600, 900)])
async def test_a_window_of_any_size_has_a_whole_screen(
    browser: Browser, demo: Serving, width: int, height: int
) -> None:
    tab = await browser.tab()
    await tab.resize(width, height)
    await tab.open(demo.url)
    await tab.reads("demo/7 ")
    columns, rows, pixels = await tab.evaluate(
        "[window.drawn.cols, window.drawn.rows, Number(window.drawn.options.fontSize)]"
    )
    assert columns >= 80
    assert rows >= 24
    assert (pixels == 16) == (width == 1600), "no smaller than it has to be"
    await tab.close()


async def test_keys_look_and_do_nothing_else(page: Tab) -> None:
    await page.press("o")  # the sessions
    await page.press("?")
    help_text = await page.reads("resume")
    assert "saved sessions" not in help_text
    await page.press("Escape")
    await page.reads("paused")
    await page.press("Escape")
    session = await page.reads("p play")
    assert "baseline" not in session
    await page.press("B")
    await page.press("v")
    assert "is the baseline" not in await page.reads("bandwidth")
    await page.press("DRNT")
    await page.press("?")
    help_text = await page.reads("back to the sessions")
    assert "Delete session" not in help_text
    assert "rename" not in help_text


# ---------------------------------------------------------------------------------------------- who gets in


async def test_another_page_gets_no_socket(browser: Browser, demo: Serving, page: Tab) -> None:
    async def foreign(request: web.BaseRequest) -> web.Response:
        return web.Response(text="foreign", content_type="text/html")

    before, tab = len(demo.pages), await browser.tab(apart=True)
    socket = json.dumps(f"ws://{urlsplit(demo.url).netloc}/ws?width=80&height=24")
    async with RawTestServer(foreign) as other:
        for place in (f"http://127.0.0.1:{other.port}/", "data:text/html,foreign"):
            await tab.open(place)
            assert await tab.evaluate(OPEN_SOCKET % socket) == "refused"
    assert len(demo.pages) == before
    await tab.close()


async def test_a_name_that_was_turned_to_this_machine_is_refused(browser: Browser, demo: Serving) -> None:
    tab = await browser.tab(apart=True)
    await tab.open(f"http://evil.example:{urlsplit(demo.url).port}/")
    assert "address" in await tab.text()
    assert await tab.evaluate("typeof window.drawn") == "undefined"
    await tab.close()


@pytest.fixture(scope="module")
def public(serve: Serve) -> Serving:
    """A session, for those who have a link."""
    return serve("--public", "watch", "demo")


async def test_a_link_is_for_one_browser(browser: Browser, public: Serving) -> None:
    link = public.url
    place, _, token = link.partition("?token=")
    for url in (place, f"{place}?token=wrong"):
        tab = await browser.tab(apart=True)
        await tab.open(url)
        assert "token" in await tab.text()
        await tab.close()
    assert public.pages == []
    first = await browser.tab(apart=True)
    await first.open(link)
    await first.reads(WATCHED)
    assert await first.evaluate("location.href + document.cookie") == place
    second = await browser.tab(apart=True)
    await second.open(link)
    assert "link" in await second.text()
    assert await second.evaluate("typeof window.drawn") == "undefined"
    (child,) = public.pages
    secret = (token + "token=").encode()
    for what in ("cmdline", "environ"):
        assert token.encode() not in Path(f"/proc/{child.pid}/{what}").read_bytes(), secret
    await second.open(public.urls[-1])  # the next one
    await second.reads(WATCHED)
    await first.close()
    await second.close()
    public.pages_become(0)


# ---------------------------------------------------------------------------------------------- how it ends


@pytest.fixture(scope="module")
def watched(serve: Serve) -> Serving:
    """A session that is over: its page has little to draw."""
    return serve("watch", "demo")


async def test_the_process_of_a_page_ends_with_it(browser: Browser, watched: Serving) -> None:
    first, second = await browser.tab(), await browser.tab()
    for tab in (first, second):
        await tab.open(watched.url)
        await tab.reads(WATCHED)
    assert len(watched.pages) == 2
    await first.close()
    watched.pages_become(1)
    assert WATCHED in await second.text()
    await second.close()


async def test_q_ends_it_and_it_can_be_opened_again(browser: Browser, watched: Serving) -> None:
    tab = await browser.tab()
    await tab.open(watched.url)
    await tab.reads(WATCHED)
    await tab.press("q")
    await tab.until(lambda: tab.evaluate("getComputedStyle(document.querySelector('#ended')).display == 'flex'"))
    await tab.press("Enter")
    await tab.reads(WATCHED)
    await tab.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
async def test_nothing_is_left_of_it(browser: Browser, serve: Serve, number: int) -> None:
    serving = serve("watch", "demo")
    tab = await browser.tab()
    await tab.open(serving.url)
    await tab.reads(WATCHED)
    serving.pages_become(1)
    status = await asyncio.to_thread(serving.end, number)
    assert status == (-number if number == signal.SIGKILL else 0)
    assert "Traceback" not in serving.said
    await tab.until(lambda: tab.evaluate("document.body.classList.contains('-closed')"))
    await tab.close()


async def test_the_console_has_all_its_keys_and_ends_with_its_page(browser: Browser, serve: Serve) -> None:
    serving = serve("--interactive")
    presets = serving.folder / "config" / "cephtui" / "presets"
    presets.mkdir(parents=True)
    (presets / "write-iops.toml").write_text(PRESET)
    assert "?token=" in serving.url  # other users of this machine can open an address, too
    tab = await browser.tab()
    await tab.open(serving.url)
    await tab.reads("p presets")
    await tab.press("2", "Enter")
    await tab.reads("running")
    serving.runs("fio")
    await tab.close()
    serving.pages_become(0)  # nor anything that it has started
    assert not [*(serving.folder / "cache").rglob("scratch*")]
    assert await asyncio.to_thread(serving.end) == 0
