"""Who may open the page: requests are checked before anything is started for them."""

from __future__ import annotations

import re
import secrets
import socket
from collections.abc import Callable, Mapping
from hashlib import sha256
from ipaddress import ip_address

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_HOST = re.compile(r"(?:\[(?P<address>[0-9A-Fa-f:.]+)\]|(?P<name>[A-Za-z0-9_.-]+))(?::[0-9]{1,5})?")
_OTHER_HOST = "wrong address: the Host of the request is not this server"
_FOREIGN = "opened from another page: the Origin of the request is not this server"
_NO_TOKEN = "a token is missing: open the whole link that cephtui serve has printed"
_WRONG = "wrong token: open the whole link that cephtui serve has printed"
_USED = "this link was used already and works in one browser only: take the next link from the output of cephtui serve"


class Shut(Exception):
    """A request is refused; the text is the reason."""


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address; a name other than localhost may be any machine's."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def url(host: str, port: int) -> str:
    """The URL of the page, with a slash at its end."""
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


class Tokens:
    """One-time tokens: each is exchanged for a cookie once, and is then followed by another."""

    def __init__(self, renewed: Callable[[str], object]) -> None:
        """``renewed`` is called with each token that replaces a used one."""
        self._renewed = renewed
        self.current = secrets.token_urlsafe()
        self._used: set[str] = set()
        self._cookies: set[str] = set()

    def exchange(self, token: str) -> str:
        """A cookie for the current token; raises Shut."""
        if _digest(token) in self._used:
            raise Shut(_USED)
        if not secrets.compare_digest(_digest(token), _digest(self.current)):
            raise Shut(_WRONG)
        self._used.add(_digest(self.current))
        self.current, cookie = secrets.token_urlsafe(), secrets.token_urlsafe()
        self._cookies.add(_digest(cookie))
        self._renewed(self.current)
        return cookie

    def knows(self, cookie: str | None) -> bool:
        """Whether this cookie was given for a token."""
        return cookie is not None and _digest(cookie) in self._cookies


def _digest(text: str) -> str:
    """The digest of a text, for comparisons whose time says nothing about the text."""
    return sha256(text.encode("utf-8", "replace")).hexdigest()


class Gate:
    """Checks the headers of a request; the port is left to the browser, as a tunnel may have another one."""

    def __init__(self, host: str, tokens: Tokens | None) -> None:
        """``host`` is the address that is served on; without ``tokens`` none is asked for."""
        self._tokens = tokens
        self._names = {host.lower(), *(_LOOPBACK if is_loopback(host) else [socket.gethostname().lower()])}
        self._any_address = host in ("0.0.0.0", "::")

    def check_address(self, headers: Mapping[str, str], *, is_socket: bool) -> None:
        """Raises Shut for a name that is not this server's, as after DNS rebinding, and for another page's socket."""
        host = headers.get("Host", "")
        if not self.is_own(host):
            raise Shut(_OTHER_HOST)
        origin = headers.get("Origin")
        if (is_socket or origin is not None) and origin != f"http://{host}":
            raise Shut(_FOREIGN)

    def is_own(self, host: str) -> bool:
        """Whether a Host header names this server."""
        name = _name(host)
        return name in self._names or (self._any_address and _is_address(name))

    def admit(self, cookie: str | None, token: str | None) -> str | None:
        """The cookie for a token; None where the request may pass as it is. Raises Shut."""
        if self._tokens is None or self._tokens.knows(cookie):
            return None
        if token is None:
            raise Shut(_NO_TOKEN)
        return self._tokens.exchange(token)


def _name(host: str) -> str:
    """The host name in a Host header; empty where the header has none that may be repeated in an answer."""
    match = _HOST.fullmatch(host)
    return (match["address"] or match["name"]).lower() if match else ""


def _is_address(name: str) -> bool:
    try:
        return bool(ip_address(name))
    except ValueError:
        return False
