"""A real Chromium without a window, driven by its own DevTools protocol."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from itertools import count
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.support.waiting import FairClock

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = (
    "--headless",
    "--no-sandbox",  # which root can't have
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--no-proxy-server",
    "--disable-background-networking",
    "--hide-scrollbars",
    "--remote-debugging-port=0",
)
SECONDS = 60.0
"""Of a fair clock."""
NAMED = {"Enter": (13, "\r"), "Escape": (27, ""), "ArrowRight": (39, "")}
"""Keys that are no letters: the browser's code for them, and what they type."""
NOTE_TERMINAL = """
Object.defineProperty(Object.prototype, "terminal", {
  configurable: true,
  set(value) {
    window.drawn = value;
    Object.defineProperty(this, "terminal", { value, writable: true, configurable: true, enumerable: true });
  },
});
"""
"""Run before the page's own script: xterm.js keeps its terminal to itself."""
READ_TERMINAL = """
(() => {
  const terminal = window.drawn;
  if (!terminal) return [];
  const row = (number) => terminal.buffer.active.getLine(number).translateToString(true, 0, terminal.cols);
  return [...Array(terminal.rows).keys()].map(row);
})()
"""
COUNT_COLORS = """
(async (picture) => {
  const image = new Image();
  image.src = "data:image/png;base64," + picture;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
  canvas.drawImage(image, 0, 0);
  const colors = {}, data = canvas.getImageData(0, 0, image.width, image.height).data;
  for (let at = 0; at < data.length; at += 4) {
    const color = data.slice(at, at + 3).join(",");
    colors[color] = (colors[color] || 0) + 1;
  }
  return colors;
})
"""


async def _waited_for(holds: Callable[[], Awaitable[Any]]) -> Any:
    """What a condition gives once that is true; what it gave last where it does not come true."""
    clock = FairClock()
    while not (value := await holds()) and clock.seconds() < SECONDS:
        await asyncio.sleep(0.1)
    return value


class PageLeft(Exception):
    """What was asked of a page has no answer: another one took its place."""


class Tab:
    """A page; what it does is asked for in the page itself."""

    def __init__(self, browser: Browser, target: str, session: str) -> None:
        self._browser, self._target, self._session = browser, target, session

    async def ask(self, method: str, **parameters: Any) -> Any:
        """A command of the protocol."""
        return await self._browser.ask(method, self._session, **parameters)

    async def evaluate(self, script: str) -> Any:
        """The value of an expression in the page, waited for where it is a promise."""
        answer = await self.ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    async def open(self, url: str) -> None:
        """Go there, and wait until all of it has been loaded."""
        await self.ask("Page.navigate", url=url)
        await self.until(lambda: self.evaluate("document.readyState == 'complete' && location.href != 'about:blank'"))

    async def text(self) -> str:
        """What stands on the terminal, or on the page where there is none."""
        rows = await self.evaluate(READ_TERMINAL)
        return "\n".join(rows) if rows else str(await self.evaluate("document.body ? document.body.innerText : ''"))

    async def until(self, holds: Callable[[], Any]) -> Any:
        """Wait for a condition."""

        async def of_this_page() -> Any:
            with contextlib.suppress(PageLeft):
                return await holds()

        if value := await _waited_for(of_this_page):
            return value
        raise AssertionError(f"waited in vain; the page shows:\n{await self.text()}")

    async def reads(self, words: str) -> str:
        """Wait until something stands there, and give all."""

        async def holds() -> str:
            text = await self.text()
            return text if words in text else ""

        return str(await self.until(holds))

    async def press(self, *keys: str) -> None:
        """Press keys: each has a name, or is the letters of a word."""
        for key in (key for each in keys for key in ([each] if each in NAMED else each)):
            code, text = NAMED[key] if key in NAMED else (ord(key.upper()), key)
            given = {"key": key, "windowsVirtualKeyCode": code, "text": text}
            await self.ask("Input.dispatchKeyEvent", type="keyDown", **given)
            await self.ask("Input.dispatchKeyEvent", type="keyUp", **given)

    async def resize(self, width: int, height: int) -> None:
        """The window, in pixels."""
        await self.ask(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )

    async def picture(self) -> bytes:
        """What is to be seen, as PNG."""
        return base64.b64decode((await self.ask("Page.captureScreenshot", format="png"))["data"])

    async def close(self) -> None:
        """As one closes a tab."""
        await self._browser.ask("Target.closeTarget", targetId=self._target)


class Browser:
    """The protocol's connection, with the answers that are waited for."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket, self._numbers = socket, count(1)
        self._asked: dict[int, asyncio.Future[Any]] = {}

    async def read(self) -> None:
        """Until the browser ends."""
        async for message in self._socket:
            answer = json.loads(message.data)
            asked = self._asked.pop(answer.get("id"), None)
            if asked and not asked.done():
                asked.set_result(answer)

    async def ask(self, method: str, session: str | None = None, **parameters: Any) -> Any:
        """A command, and its result."""
        number = next(self._numbers)
        self._asked[number] = asyncio.get_running_loop().create_future()
        to = {"sessionId": session} if session else {}
        await self._socket.send_json({"id": number, "method": method, "params": parameters, **to})
        answer = await self._answer(self._asked[number], method)
        if "navigated" in answer.get("error", {}).get("message", ""):
            raise PageLeft(answer["error"]["message"])
        assert "result" in answer, f"{method}: {answer}"
        return answer["result"]

    async def _answer(self, asked: asyncio.Future[Any], method: str) -> Any:
        async def has_come() -> object:
            return (await asyncio.wait([asked], timeout=0.25))[0]

        assert await _waited_for(has_come), f"no answer within {SECONDS:.0f} s: {method}"
        return asked.result()

    async def tab(self, *, apart: bool = False) -> Tab:
        """A new one; ``apart`` is like another browser, without the cookies of this one."""
        context = (await self.ask("Target.createBrowserContext"))["browserContextId"] if apart else None
        more = {"browserContextId": context} if context else {}
        target = (await self.ask("Target.createTarget", url="about:blank", **more))["targetId"]
        session = (await self.ask("Target.attachToTarget", targetId=target, flatten=True))["sessionId"]
        tab = Tab(self, target, session)
        await tab.ask("Page.enable")
        await tab.ask("Page.addScriptToEvaluateOnNewDocument", source=NOTE_TERMINAL)
        await tab.ask("Emulation.setFocusEmulationEnabled", enabled=True)  # all tabs, not the last one alone
        await tab.resize(1280, 800)
        return tab

    async def colors(self, picture: bytes) -> dict[str, int]:
        """How many pixels of a PNG have each colour, as ``red,green,blue``."""
        tab = await self.tab()
        encoded = base64.b64encode(picture).decode()
        found: dict[str, int] = await tab.evaluate(f"{COUNT_COLORS}({json.dumps(encoded)})")
        await tab.close()
        return found


def program() -> str:
    """The browser; fails the test where there is none."""
    found = next((path for name in PROGRAMS if (path := shutil.which(name))), None)
    return found or pytest.fail("Chromium is not installed: sh .ci/setup browser")


@contextlib.asynccontextmanager
async def chromium(resolve: str = "") -> AsyncIterator[Browser]:
    """One of one's own, with an empty profile; all of its processes end with the block.

    ``resolve`` are rules for names, such as ``MAP a.example 127.0.0.1``.
    """
    with tempfile.TemporaryDirectory(prefix="cephtui-chromium-", ignore_cleanup_errors=True) as profile:
        process = await asyncio.create_subprocess_exec(
            program(),
            *OPTIONS,
            f"--host-resolver-rules={resolve}",
            f"--user-data-dir={profile}",
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
            env={**os.environ, "HOME": profile},
        )
        try:
            url = await _endpoint(Path(profile) / "DevToolsActivePort")
            async with aiohttp.ClientSession() as session, session.ws_connect(url, max_msg_size=0) as socket:
                browser = Browser(socket)
                reading = asyncio.create_task(browser.read())
                try:
                    yield browser
                finally:
                    reading.cancel()
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


async def _endpoint(file: Path) -> str:
    """Where the protocol is spoken, which the browser writes down."""

    async def written() -> list[str]:
        lines = file.read_text().splitlines() if file.exists() else []
        return lines if len(lines) == 2 else []

    lines = await _waited_for(written)
    assert lines, "the browser has not started"
    port, path = lines
    return f"ws://127.0.0.1:{port}{path}"
