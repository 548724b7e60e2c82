"""``cephtui serve``: the screens in a browser."""

from __future__ import annotations

import asyncio
import errno
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cephtui.cli.errors import Refused
from cephtui.cli.saved import find_run, find_session
from cephtui.terminal import Ending, signal_handlers
from cephtui.tui.read_only import VARIABLE

if TYPE_CHECKING:
    from cephtui.serve.textual_serve_private import PageServer, Served

_MISSING = "serve needs textual-serve: pipx inject cephtui textual-serve (or pip install 'cephtui[web]')"
_EXPECTED = "expected demo, watch SESSION or replay SESSION/RUN"
_NOT_ENCRYPTED = "warning: not encrypted: anyone who can read the traffic can read the screen and the links"
_ONLY_HERE = "only this machine can open the page: --host serves on another address"


def serve_pages(words: tuple[str, ...], host: str, port: int, public: bool, interactive: bool) -> int:
    """Serve until a signal; the exit code. Raises UsageError, and Refused where that is not possible here."""
    try:
        from cephtui.serve import gate
        from cephtui.serve.textual_serve_private import PageServer
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("cephtui"):
            raise
        raise Refused(_MISSING) from None
    _check_address(gate.is_loopback(host), host, public, interactive)
    served = _console(words) if interactive else _looked_at(words)
    with _listen(host, port) as listening:
        port = listening.getsockname()[1]
        url = gate.url(_reached_by(host), port)
        tokens = None
        if public or interactive:  # on this machine, its other users could open the console, too
            tokens = gate.Tokens(lambda token: _say(f"used; for the next browser: {url}?token={token}"))
        _say(f"serving {served.title}{'' if tokens else f': {url}'}   (Ctrl+C ends it)")
        if public:
            click.echo(f"cephtui: {_ONLY_HERE if gate.is_loopback(host) else _NOT_ENCRYPTED}", err=True)
        if tokens:
            _say(f"for one browser, once: {url}?token={tokens.current}")
        asyncio.run(_serve(PageServer(served, gate.Gate(host, tokens), port), listening))
    return 0


def _check_address(is_loopback: bool, host: str, public: bool, interactive: bool) -> None:
    if interactive and (public or not is_loopback):
        raise click.UsageError("--interactive serves this machine only: leave out --public and --host")
    if not (is_loopback or public):
        raise click.UsageError(f"--host {host}: others can reach this address; --public allows it, with one-time links")


def _looked_at(words: tuple[str, ...]) -> Served:
    """What is shown read-only; the names are looked up now, and not by the first who opens the page."""
    from cephtui.serve.textual_serve_private import Served

    match words:
        case () | ("demo",):
            verb = ["demo"]
        case ("watch", name):
            verb = ["watch", find_session(name).name]
        case ("replay", name):
            directory, number = find_run(name)
            verb = ["replay", f"{directory.name}/{number}"]
        case _:
            raise click.UsageError(f"{' '.join(words)!r}: {_EXPECTED}")
    return Served((*_this_program(), *verb), f"cephtui {' '.join(verb)}, read-only", {VARIABLE: "1"})


def _console(options: tuple[str, ...]) -> Served:
    """The console with its options, which it checks itself."""
    from cephtui.serve.textual_serve_private import Served

    if options and not options[0].startswith("-"):
        raise click.UsageError(f"--interactive serves the console, not {options[0]}; its options go after --")
    return Served((*_this_program(), *options), "cephtui", {VARIABLE: ""}, cleans_up=True)


def _this_program() -> tuple[str, ...]:
    """Without -P, Python would import modules of the current folder; from a checkout, it does anyway."""
    safely = () if str(Path.cwd()) in sys.path else ("-P",)
    return (sys.executable, *safely, "-m", "cephtui")


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise Refused(f"port {port} of {host} is in use: choose another with --port") from None
        raise Refused(f"can't serve on {host}, port {port}: {error.strerror or error}") from None


def _reached_by(host: str) -> str:
    """Of an address that stands for all of them, the name of this machine."""
    return socket.gethostname() if host in ("0.0.0.0", "::") else host


def _say(text: str) -> None:
    print(text, flush=True)


async def _serve(server: PageServer, listening: socket.socket) -> None:
    """Until the first signal; a second one ends the processes of the pages at once."""
    loop, over = asyncio.get_running_loop(), asyncio.Event()

    def soon(act: Callable[[], object]) -> Callable[[], object]:
        return lambda: loop.call_soon_threadsafe(act)

    with signal_handlers(Ending(soon(over.set), soon(server.hurry), lambda seconds: None).handlers()):
        await server.run(listening, over)
