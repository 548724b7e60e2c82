"""What textual-serve has no public name for. Seen in textual-serve 1.1.3."""

from __future__ import annotations

import asyncio
import contextlib
import html
import shlex
import signal
import socket
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import field
from string import Template
from typing import Any

from aiohttp import web
from textual_serve.app_service import AppService
from textual_serve.server import Server, to_int

from cephtui.frozen import dataclass
from cephtui.paths import packaged_text
from cephtui.serve.gate import Gate, Shut

_DRIVER = "cephtui.tui.terminal.browser:BrowserDriver"
_GRACE_SECONDS = 15.0
"""After which a process that has only shown something is killed."""
_SHUTDOWN_SECONDS = 5.0
"""For files that are still being loaded when the server ends."""
_COLUMNS, _ROWS = range(1, 501), range(1, 201)
_FONT_PIXELS = range(6, 41)
_CHUNK_BYTES = 1 << 16
_MOST = 8
"""Pages at once: each is a process that draws."""
_FULL = f"{_MOST} pages are open, which is the maximum: close one and reload this page"
_TO_THE_PAGE = '<!DOCTYPE html><meta http-equiv="refresh" content="0;url=/"><title>cephtui</title>'
"""A redirection would still count as opened by the page that the link was clicked on, and get no strict cookie."""


def _within(number: int, limits: range) -> int:
    return min(max(number, limits[0]), limits[-1])


@dataclass(frozen=True, slots=True)
class Served:
    """What every page shows."""

    argv: Sequence[str]
    """The command, by its words; no shell reads them."""
    title: str
    variables: Mapping[str, str] = field(default_factory=dict)
    """For its environment."""
    cleans_up: bool = False
    """Whether it may take its time to end, since it removes what it has created."""


class Page(AppService):
    """The process of an open page. The end of its input is to it what a hang-up is on a terminal."""

    def __init__(self, served: Served, websocket: web.WebSocketResponse, **more: Any) -> None:
        super().__init__(
            shlex.join(served.argv),
            write_bytes=websocket.send_bytes,
            write_str=websocket.send_str,
            close=_closing(websocket),
            **more,
        )
        self._served = served
        self._ending: asyncio.Task[None] | None = None

    def _build_environment(self, width: int = 80, height: int = 24) -> dict[str, str]:
        environment = super()._build_environment(_within(width, _COLUMNS), _within(height, _ROWS))
        return {**environment, **self._served.variables, "TEXTUAL_DRIVER": _DRIVER}

    async def _open_app_process(self, width: int = 80, height: int = 24) -> Process:
        """In a session of its own: Ctrl+C on the server's terminal is for the server, which then ends each in order."""
        self._process = await asyncio.create_subprocess_exec(
            *self._served.argv,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=self._build_environment(width, height),
            start_new_session=True,
        )
        self._stdin = self._process.stdin
        return self._process

    async def set_terminal_size(self, width: int, height: int) -> None:
        """No larger than a screen can be."""
        await super().set_terminal_size(_within(width, _COLUMNS), _within(height, _ROWS))

    async def run(self) -> None:
        """Until the process has ended, or the page was closed: what it then writes is read, or it would wait."""
        try:
            await super().run()
        finally:
            await self.remote_close()
            while self._process and self._process.stdout and await self._process.stdout.read(_CHUNK_BYTES):
                pass

    def end(self) -> asyncio.Task[None]:
        """End the process; a task of its own, since a request is cancelled when its connection is lost."""
        self._ending = self._ending or asyncio.create_task(self._end())
        return self._ending

    async def _end(self) -> None:
        if self._process is None:
            return
        self.stdin.close()
        try:
            async with asyncio.timeout(None if self._served.cleans_up else _GRACE_SECONDS):
                await self._process.wait()
        except TimeoutError:
            self._process.kill()
            await self._process.wait()
        if self._task:  # where its process has ended at once, textual-serve cancels it with what it has not begun
            await asyncio.wait([self._task])

    def hurry(self) -> None:
        """Let it end at once, and leave what it has not removed."""
        if self._process and self._process.returncode is None:
            self._process.send_signal(signal.SIGHUP)


def _closing(websocket: web.WebSocketResponse) -> Callable[[], Awaitable[None]]:
    async def close() -> None:
        await websocket.close()

    return close


class PageServer(Server):
    """Serves the page to those whom the gate lets in."""

    def __init__(self, served: Served, gate: Gate, port: int) -> None:
        super().__init__(shlex.join(served.argv), title=served.title)
        self._served, self._gate = served, gate
        self._cookie = f"cephtui-{port}"  # those of one host are sent to all of its ports
        self._pages: set[Page] = set()

    async def run(self, listening: socket.socket, over: asyncio.Event) -> None:
        """Serve until then; all processes have ended when this returns."""
        runner = web.AppRunner(await self.application(), access_log=None, shutdown_timeout=_SHUTDOWN_SECONDS)
        try:
            await runner.setup()
            await web.SockSite(runner, listening).start()
            await over.wait()
        finally:
            await runner.cleanup()

    async def application(self) -> web.Application:
        """The page and its socket, behind the gate."""
        app = await self._make_app()
        app.router.add_get("/page.js", self.handle_script)
        app.middlewares.append(self._guard)
        app.on_response_prepare.append(self._add_headers)
        app.on_cleanup.append(self._end_pages)
        return app

    async def _end_pages(self, app: web.Application) -> None:
        await asyncio.gather(*(page.end() for page in self._pages))

    def hurry(self) -> None:
        """End all processes at once."""
        for page in self._pages:
            page.hurry()

    # ------------------------------------------------------------------ before a request

    @web.middleware
    async def _guard(self, request: web.Request, handler: Callable[[web.Request], Awaitable[Any]]) -> Any:
        is_socket = request.path == "/ws"
        try:
            self._gate.check_address(request.headers, is_socket=is_socket)
            token = request.query.get("token") if request.path == "/" and request.method == "GET" else None
            cookie = self._gate.admit(request.cookies.get(self._cookie), token)
        except Shut as reason:
            raise web.HTTPForbidden(text=f"cephtui: {reason}\n") from None
        if token is not None:
            return self._to_the_page(cookie)
        if request.path.startswith("/static") and request.path.endswith(("/static", "/")):
            raise web.HTTPNotFound  # else it would list its files
        if request.path in ("/", "/ws") and len(self._pages) >= _MOST:
            raise web.HTTPServiceUnavailable(text=f"cephtui: {_FULL}\n")
        return await handler(request)

    def _to_the_page(self, cookie: str | None) -> web.Response:
        """Without the token, so that it is not in the browser's address bar or history."""
        response = web.Response(text=_TO_THE_PAGE, content_type="text/html")
        if cookie:
            response.set_cookie(self._cookie, cookie, httponly=True, samesite="Strict")
        return response

    async def _add_headers(self, request: web.Request, response: web.StreamResponse) -> None:
        """Nothing is loaded from elsewhere, and no other page can show this one or is given its address.

        A name that is not this server's is in no answer.
        """
        own_socket = f"ws://{request.host}" if self._gate.is_own(request.host) else "'none'"
        response.headers["Content-Security-Policy"] = (
            "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; "
            f"img-src data:; connect-src {own_socket}; frame-ancestors 'none'; base-uri 'none'"
        )
        response.headers["Referrer-Policy"] = "no-referrer"
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers.setdefault("Cache-Control", "no-store")

    # ------------------------------------------------------------------ requests

    async def on_startup(self, app: web.Application) -> None:
        """The command line prints what is served."""

    async def on_shutdown(self, app: web.Application) -> None:
        """Close all sockets; the process of each ends with it."""
        await asyncio.gather(*(page.remote_close() for page in self._pages), return_exceptions=True)

    async def handle_index(self, request: web.Request) -> Any:
        """Our page: textual-serve's own loads a font from the internet."""
        values = {
            "title": html.escape(self.title),
            "socket": html.escape(f"ws://{request.host}/ws"),
            "font_size": _within(to_int(request.query.get("fontsize", ""), 16), _FONT_PIXELS),
        }
        text = Template(packaged_text("cephtui.serve", "page.html")).substitute(values)
        return web.Response(text=text, content_type="text/html")

    async def handle_script(self, request: web.Request) -> web.Response:
        """Keys go to the terminal without a click."""
        return web.Response(text=packaged_text("cephtui.serve", "page.js"), content_type="text/javascript")

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """A process for as long as the socket is open."""
        websocket = web.WebSocketResponse(heartbeat=15)
        page = Page(self._served, websocket, download_manager=self.download_manager)
        self._pages.add(page)
        try:
            await websocket.prepare(request)
            size = (to_int(request.query.get(name, ""), default) for name, default in (("width", 80), ("height", 24)))
            await page.start(*size)
            with contextlib.suppress(ValueError, LookupError, TypeError, AssertionError):  # no browser's message
                await self._process_messages(websocket, page)
        finally:
            page.end().add_done_callback(lambda _: self._pages.discard(page))
            await asyncio.shield(page.end())
        return websocket
