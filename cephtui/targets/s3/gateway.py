"""An S3 endpoint as a node reaches it: its buckets are listed, made, emptied and removed."""

from __future__ import annotations

import asyncio
import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import UTC, datetime

from cephtui.frozen import dataclass
from cephtui.nodes.shell import Shell, failure_reason
from cephtui.nodes.transport import Completed
from cephtui.paths import packaged_text
from cephtui.printable import one_line
from cephtui.targets.base import TargetFault
from cephtui.targets.s3.signing import S3Request, signed_headers

_SEND = ("bash", "-c", packaged_text("cephtui.targets.s3", "request.sh"), "cephtui-s3")
_OPTIONS = ("silent", "show-error", "globoff", "path-as-is")
_VALUES = {"connect-timeout": "10", "max-time": "120", "write-out": "\n%{http_code}\n"}
_REQUEST_SECONDS = 150.0
_AT_ONCE = 500
"""Objects of a request that deletes: their names are on one line of curl's config, of 100 KiB in older versions."""
_EMPTY_TRIES = 5
_LIST_AGAIN_SECONDS = 1.0
_ROUNDS_MOST = 100_000
"""Rounds of listing and deleting: no run makes 50 million objects."""
_NOT_TRUSTED = 60
"""curl's exit status where it can't verify a certificate."""
_NOT_ACCEPTED = {"InvalidAccessKeyId", "SignatureDoesNotMatch", "AccessDenied"}


class GatewayError(TargetFault):
    """An endpoint did not do what was asked; ``code`` is its own error code, empty where it did not answer."""

    def __init__(self, text: str, code: str = "") -> None:
        super().__init__(text)
        self.code = code

    @property
    def is_about_keys(self) -> bool:
        """Whether the endpoint does not accept the keys."""
        return self.code in _NOT_ACCEPTED


@dataclass(frozen=True, slots=True)
class Gateway:
    """An endpoint with the keys of a user. All methods raise GatewayError and TransportError."""

    shell: Shell
    endpoint: str
    keys: Sequence[str] = field(repr=False)

    async def buckets(self, prefix: str) -> list[str]:
        """The user's buckets with this prefix."""
        names = re.findall(r"<Bucket><Name>([^<]*)</Name>", await self._send("GET"))
        return [name for name in map(html.unescape, names) if name.startswith(prefix)]

    async def make(self, bucket: str) -> None:
        """Make a bucket."""
        await self._send("PUT", f"/{bucket}")

    async def remove(self, bucket: str) -> None:
        """Remove a bucket with all that is in it; a bucket that does not exist any more is removed."""
        for tries_left in reversed(range(_EMPTY_TRIES)):
            try:
                await self._empty(bucket)
                await self._send("DELETE", f"/{bucket}")
            except GatewayError as error:
                if error.code == "NoSuchBucket":
                    return
                if error.code != "BucketNotEmpty" or not tries_left:  # what was being written has come in
                    raise
            else:
                return

    async def _empty(self, bucket: str) -> None:
        """Delete all objects of a bucket; a gateway may list deleted objects for a moment or for ever."""
        before, in_vain = None, 0
        for _ in range(_ROUNDS_MOST):
            objects = await self._objects(bucket)
            if not objects:
                return
            in_vain = in_vain + 1 if objects == before else 0
            if in_vain == _EMPTY_TRIES:
                break
            if in_vain:
                await asyncio.sleep(_LIST_AGAIN_SECONDS)
            await self._delete(bucket, objects)
            before = objects
        text = f"{self.shell.node.name}: {self.endpoint} still lists objects of bucket {bucket} that were deleted"
        raise GatewayError(f"{text}: check it with radosgw-admin bucket check --bucket {bucket}")

    async def _delete(self, bucket: str, objects: Sequence[str]) -> None:
        named = "".join(f"<Object><Key>{html.escape(name)}</Key></Object>" for name in objects)
        answer = await self._send("POST", f"/{bucket}", {"delete": ""}, f"<Delete><Quiet>true</Quiet>{named}</Delete>")
        if code := re.search(r"<Error>.*?<Code>(\w+)</Code>", answer, re.DOTALL):
            raise GatewayError(f"can't delete objects of bucket {bucket}: {code[1]}", code[1])

    async def _objects(self, bucket: str) -> list[str]:
        query = {"list-type": "2", "max-keys": str(_AT_ONCE)}
        names = re.findall(r"<Key>([^<]*)</Key>", await self._send("GET", f"/{bucket}", query))
        return [html.unescape(name) for name in names]

    async def _send(self, method: str, path: str = "/", query: dict[str, str] | None = None, body: str = "") -> str:
        """The body of the answer to a request."""
        request = S3Request(method, self.endpoint, path, query or {}, body)
        config = curl_config(request, signed_headers(request, self.keys, datetime.now(UTC)))
        done = await self.shell.run(_SEND, timeout_seconds=_REQUEST_SECONDS, stdin=config)
        place = f"{self.shell.node.name}: {self.endpoint}"
        if done.status != 0:
            raise GatewayError(f"{place}: {_explain(done)}")
        answer, _, status = done.stdout.rstrip("\n").rpartition("\n")
        if status[:1] == "2":
            return answer
        code = re.search(r"<Code>(\w{1,100})</Code>", answer)
        raise GatewayError(
            f"{place}: {method} {path}: {code[1] if code else f'HTTP status {status:.20}'}", code[1] if code else ""
        )


def curl_config(request: S3Request, headers: Mapping[str, str]) -> str:
    """A request in the form that curl reads from a file or stdin.

    Format: curl(1), ``--config``.
    """
    lines = {**_VALUES, "request": request.method, "url": request.url}
    header_lines = [f"{name}: {value}" for name, value in headers.items()]
    body = {"data-raw": request.body} if request.body else {}
    pairs = [*lines.items(), *body.items(), *(("header", text) for text in ("Content-Type:", "Expect:", *header_lines))]
    return "".join([*(f"{name}\n" for name in _OPTIONS), *(f"{name} = {_quoted(value)}\n" for name, value in pairs)])


def _quoted(text: str) -> str:
    escaped = text.replace("\\", r"\\").replace('"', r"\"")
    for char, name in {"\n": "n", "\r": "r", "\t": "t", "\v": "v"}.items():
        escaped = escaped.replace(char, f"\\{name}")
    return f'"{escaped}"'


def _explain(failed: Completed) -> str:
    """The error of curl, with a remedy where a certificate is not trusted: curl explains that in more lines.

    Format: ``curl: (60) SSL certificate problem: ...``, curl(1), EXIT CODES.
    """
    message = re.search(r"^curl: (.+)$", failed.stderr, re.MULTILINE)
    text = one_line(message[1]) if message else failure_reason(failed)
    helps = ": add its CA to the node (update-ca-certificates)" if failed.status == _NOT_TRUSTED else ""
    return f"{text}{helps}"
