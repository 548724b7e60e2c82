"""Who may open the page that cephtui serves, and the process behind each page that is open."""

from __future__ import annotations

import asyncio
import shlex
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from click.testing import CliRunner

from cephtui import paths
from cephtui.cli import verbs
from cephtui.cli.commands import serve as command
from cephtui.serve import textual_serve_private as serving
from cephtui.serve.gate import Gate, Shut, Tokens, is_loopback, url
from cephtui.serve.textual_serve_private import PageServer, Served
from tests.support.golden import Golden

# ---------------------------------------------------------------------------------------------- the gate


def problem(gate: Gate, host: str, origin: str | None = None, *, is_socket: bool = False) -> str:
    """Why a request is refused; nothing where it is not."""
    try:
        gate.check_address({"Host": host, **({"Origin": origin} if origin else {})}, is_socket=is_socket)
    except Shut as reason:
        return str(reason)
    return ""


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost:8000", "[::1]:8000", "localhost", "localhost:9000"])
def test_this_machine_is_let_in_by_its_names_and_through_a_tunnel(host: str) -> None:
    assert problem(Gate("127.0.0.1", None), host) == ""
    assert problem(Gate("127.0.0.1", None), host, f"http://{host}", is_socket=True) == ""


@pytest.mark.parametrize("host", ["evil.example:8000", "127.0.0.1.evil.example:8000", "", "[", "192.0.2.1:8000"])
def test_another_name_is_refused(host: str, golden: Golden) -> None:
    golden.same(problem(Gate("127.0.0.1", None), host, f"http://{host}", is_socket=True))


@pytest.mark.parametrize(
    "origin",
    [None, "null", "http://evil.example", "http://127.0.0.1:3000", "http://localhost:8000", "https://127.0.0.1:8000"],
)
def test_the_socket_of_another_page_is_refused(origin: str | None, golden: Golden) -> None:
    golden.same(problem(Gate("127.0.0.1", None), "127.0.0.1:8000", origin, is_socket=True))


def test_an_address_is_reached_by_itself_and_by_the_names_of_this_machine() -> None:
    gate = Gate("192.0.2.1", None)
    for host in ("192.0.2.1:8000", f"{socket.gethostname()}:8000"):
        assert problem(gate, host) == ""
    for host in ("192.0.2.2:8000", "evil.example:8000", "localhost:8000"):
        assert problem(gate, host)
    everywhere = Gate("0.0.0.0", None)
    assert problem(everywhere, "192.0.2.2:8000") == ""
    assert problem(everywhere, "evil.example:8000")


@pytest.mark.parametrize(
    ("host", "expected"),
    [("127.0.0.1", True), ("127.8.8.8", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("::", False)]
    + [(host, False) for host in ("192.0.2.1", "pve1", "", "localhost.example", "127.1")],
)
def test_loopback_is_known_by_its_address(host: str, expected: bool) -> None:
    assert is_loopback(host) == expected


def test_an_address_of_ipv6_has_brackets() -> None:
    assert (url("::1", 8000), url("pve1", 80)) == ("http://[::1]:8000/", "http://pve1:80/")


def test_a_token_is_good_for_one_cookie(golden: Golden) -> None:
    renewed: list[str] = []
    tokens = Tokens(renewed.append)
    gate, first = Gate("127.0.0.1", tokens), tokens.current
    cookie = gate.admit(None, first)
    assert cookie
    assert gate.admit(cookie, None) is None
    assert gate.admit(cookie, first) is None  # its own browser goes back to the link
    with golden.raises(Shut):
        gate.admit(None, first)
    assert renewed == [tokens.current]
    assert len({first, tokens.current, cookie}) == 3
    assert gate.admit("another", tokens.current)


@pytest.mark.parametrize(
    ("cookie", "token"),
    [
        (None, None),
        (None, ""),
        (None, "wrong"),
        ("wrong", None),
        (None, "ü\udc80"),
    ],
)
def test_nothing_else_is_let_in(cookie: str | None, token: str | None, golden: Golden) -> None:
    with golden.raises(Shut):
        Gate("127.0.0.1", Tokens(print)).admit(cookie, token)


def test_without_tokens_none_is_asked_for() -> None:
    assert Gate("127.0.0.1", None).admit(None, None) is None


# ---------------------------------------------------------------------------------------------- the process of a page

Client = TestClient[web.Request, web.Application]
STARTS = "import sys, time; print('__GANGLION__', flush=True); "


@asynccontextmanager
async def served(program: str, tokens: Tokens | None = None) -> AsyncIterator[Client]:
    """A server whose pages run this program."""
    server = PageServer(Served((sys.executable, "-c", program), "title"), Gate("127.0.0.1", tokens), 1)
    async with TestClient(TestServer(await server.application())) as client:
        yield client


async def eventually(holds: Callable[[], Awaitable[object]]) -> None:
    """Wait for what another process brings about."""
    async with asyncio.timeout(60):
        while not await holds():
            await asyncio.sleep(0.02)


async def wrote(file: Path) -> str:
    """What a page's process has written there, once it has."""

    async def holds() -> bool:
        return file.exists() and file.read_text().endswith("\n")

    await eventually(holds)
    return file.read_text().strip()


def writes(file: Path, what: str) -> str:
    """A program that starts as an application does, and writes something."""
    return f"{STARTS}import os, pathlib; pathlib.Path({str(file)!r}).write_text(str({what}) + chr(10)); "


def origin(client: Client) -> dict[str, str]:
    return {"Origin": str(client.make_url("/"))[:-1]}


async def test_a_page_whose_process_does_not_start_is_closed() -> None:
    async with served("import sys; sys.exit('nothing to see')") as client:
        socket = await client.ws_connect("/ws", headers=origin(client))
        assert (await socket.receive()).type == aiohttp.WSMsgType.CLOSE


async def test_what_is_no_message_of_a_page_closes_it() -> None:
    async with served(f"{STARTS}sys.stdin.read()") as client:
        for text in ("{", "[]", '["resize", {}]', '["resize", {"width": "1", "height": 2}]', '["stdin", 7]', "7"):
            socket = await client.ws_connect("/ws", headers=origin(client))
            await socket.send_str(text)
            assert (await socket.receive()).type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED), text


async def test_a_process_that_does_not_end_is_killed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(serving, "_GRACE_SECONDS", 0.1)
    file = tmp_path / "pid"
    async with served(f"{writes(file, 'os.getpid()')}time.sleep(600)") as client:
        socket = await client.ws_connect("/ws", headers=origin(client))
        process = Path(f"/proc/{await wrote(file)}")
        assert process.exists()
        await socket.close()

        async def has_ended() -> bool:
            return not process.exists()

        await eventually(has_ended)


async def test_one_that_cleans_up_has_its_time_until_there_is_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "_GRACE_SECONDS", 0.0)
    hung_up = "import signal; signal.signal(signal.SIGHUP, signal.SIG_DFL); "  # also below nohup
    argv = (sys.executable, "-c", f"{hung_up}{STARTS}sys.stdin.read(); print('D', flush=True); time.sleep(600)")
    server = PageServer(Served(argv, "title", cleans_up=True), Gate("127.0.0.1", None), 1)
    async with TestClient(TestServer(await server.application())) as client:
        websocket = await client.ws_connect("/ws", headers=origin(client))
        await websocket.close()
        (page,) = server._pages
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(page.end()), 0.5)
        server.hurry()
        await page.end()


async def test_a_terminal_is_no_larger_than_a_screen(tmp_path: Path) -> None:
    file = tmp_path / "size"
    async with served(writes(file, "os.environ['COLUMNS'] + ' ' + os.environ['ROWS']")) as client:
        await client.ws_connect("/ws?width=1000000000&height=-5", headers=origin(client))
        assert await wrote(file) == "500 1"


async def test_there_are_only_so_many_pages(monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    monkeypatch.setattr(serving, "_MOST", 1)
    async with served(f"{STARTS}sys.stdin.read()") as client:
        first = await client.ws_connect("/ws", headers=origin(client))
        for path in ("/", "/ws"):
            answer = await client.get(path, headers=origin(client))
            assert answer.status == 503
            golden.same(await answer.text())
        await first.close()

        async def is_open() -> bool:
            return (await client.get("/")).status == 200

        await eventually(is_open)


async def test_nothing_is_started_before_the_gate(tmp_path: Path) -> None:
    file = tmp_path / "started"
    tokens = Tokens(print)
    async with served(writes(file, "'started'"), tokens) as client:
        for path in (
            "/",
            "/ws",
            "/static/js/textual.js",
            "/?token=wrong",
            f"/ws?token={tokens.current}",
            "/download/x",
        ):
            answer = await client.get(path, headers=origin(client))
            assert answer.status == 403, path
        assert (await client.head(f"/?token={tokens.current}")).status == 403  # as the preview of a chat asks
        entered = await client.get(f"/?token={tokens.current}")
        cookie = entered.cookies["cephtui-1"]
        assert entered.status == 200
        assert (cookie["httponly"], cookie["samesite"]) == (True, "Strict")
        assert not file.exists()
        assert (await client.get("/ws")).status == 403  # without its origin
        assert (await client.get("/")).status == 200
        await client.ws_connect("/ws", headers=origin(client))
        assert await wrote(file) == "started"


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1:80; script-src 'unsafe-inline'", "127.0.0.1 evil", "[::1]x"]
)
async def test_nothing_of_a_request_that_was_refused_is_in_its_answer(host: str) -> None:
    async with served("") as client:
        for path in ("/", "/ws", "/nothing"):
            answer = await client.get(path, headers={"Host": host})
            assert answer.status == 403
            assert host not in str(answer.headers) + await answer.text()
            assert "connect-src 'none'" in answer.headers["Content-Security-Policy"]


async def test_no_folder_is_listed() -> None:
    async with served("") as client:
        for path in ("/static", "/static/", "/static/css/", "/static/images/"):
            assert (await client.get(path, headers=origin(client))).status == 404, path


async def test_the_page_loads_nothing_from_elsewhere() -> None:
    async with served("") as client:
        answer = await client.get("/")
        text = await answer.text()
        assert "//" not in text.replace("<!--", "").replace(f"ws://{client.host}:{client.port}/ws", "")
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "https:" not in policy
        for path in (
            "/static/js/textual.js",
            "/static/css/xterm.css",
            "/static/fonts/RobotoMono-VariableFont_wght.ttf",
        ):
            assert path in text
            assert (await client.get(path)).status == 200


# ---------------------------------------------------------------------------------------------- the command line


@pytest.fixture
def at_home(demo_session: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """It is among the user's own."""
    monkeypatch.setattr(paths, "sessions_dir", lambda: demo_session.parent)
    return demo_session


def refusal(*words: str) -> tuple[int, str]:
    """The exit code, and what is wrong in its one line."""
    result = CliRunner().invoke(verbs.cli, ["serve", *words], prog_name="cephtui")
    return result.exit_code, result.output.splitlines()[-1].removeprefix("Error: ")


@pytest.mark.parametrize(
    "words",
    [
        "--host 192.0.2.1",
        "--host pve1 demo",
        "--interactive --public",
        "--interactive --host 0.0.0.0",
        "--interactive demo",
        "--interactive run x",
        "run write-iops",
        "-- --target rbd:x",
        "watch",
        "watch nothing",
        "replay demo/99",
    ],
)
def test_what_is_refused(at_home: Path, words: str, golden: Golden) -> None:
    code, line = refusal(*shlex.split(words))
    assert code == 2
    golden.same(line)


def test_a_port_in_use_is_one_line(golden: Golden) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, line = refusal("--port", str(port))
        assert (code, str(port) in line) == (3, True)
        golden.same(line)


def test_an_address_of_another_machine_is_one_line(golden: Golden) -> None:
    code, line = refusal("--public", "--host", "192.0.2.1")
    assert code == 3
    golden.same(line.partition(": ")[0])


@pytest.mark.parametrize("missing", ["textual_serve", "aiohttp"])
def test_the_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == missing]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "cephtui.serve.textual_serve_private")
    monkeypatch.delattr("cephtui.serve.textual_serve_private")
    monkeypatch.setitem(sys.modules, missing, None)
    line = "serve needs textual-serve: pipx inject cephtui textual-serve (or pip install 'cephtui[web]')"
    assert refusal() == (3, line)


def test_the_command_is_this_python_and_is_read_only(at_home: Path) -> None:
    looked_at = command._looked_at(("replay", "demo/1"))
    assert looked_at.argv[0] == sys.executable
    assert looked_at.argv[-2:] == ("replay", "demo/1")
    assert looked_at.variables == {"CEPHTUI_READ_ONLY": "1"}
    assert not looked_at.cleans_up
    console = command._console(("--target", "rbd:a b; touch /tmp/x"))
    assert console.argv[-2:] == ("--target", "rbd:a b; touch /tmp/x")
    assert console.variables == {"CEPHTUI_READ_ONLY": ""}


def test_no_module_of_the_current_folder_is_imported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert command._this_program()[1] == "-P"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("", ["demo", "watch", "replay"]),
        ("w", ["watch"]),
        ("watch ", ["demo", "last"]),
        ("replay demo/1", 6),
        ("demo ", []),
    ],
)
def test_completion(at_home: Path, words: str, expected: list[str] | int) -> None:
    line = f"cephtui serve {words}"
    asked = {"_CEPHTUI_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
    result = CliRunner().invoke(verbs.cli, [], prog_name="cephtui", env=asked)
    found = [row.partition(",")[2] for row in result.output.splitlines() if row]
    assert (len(found) if isinstance(expected, int) else found) == expected
