"""Signatures of S3 requests.

Format: AWS Signature Version 4, "Authenticating Requests: Using the Authorization Header", docs.aws.amazon.com. The
request is signed at the console and sent by a node, which so learns no key.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from urllib.parse import quote, urlsplit

from cephtui.frozen import dataclass

REGION = "us-east-1"
"""The region where there are none; radosgw takes any."""


@dataclass(frozen=True, slots=True)
class S3Request:
    """A request to an S3 endpoint, path style."""

    method: str
    endpoint: str
    path: str = "/"
    query: Mapping[str, str] = field(default_factory=dict)
    body: str = ""

    @property
    def url(self) -> str:
        """The URL of the request."""
        query = self.canonical_query
        return f"{self.endpoint}{quote(self.path, safe='/-_.~')}" + (f"?{query}" if query else "")

    @property
    def canonical_query(self) -> str:
        """The query in the order in which it is signed."""
        pairs = sorted((quote(key, safe="-_.~"), quote(value, safe="-_.~")) for key, value in self.query.items())
        return "&".join(f"{key}={value}" for key, value in pairs)


def signed_headers(request: S3Request, keys: Sequence[str], at: datetime) -> dict[str, str]:
    """The headers that sign a request with an access key; ``at`` is the time in UTC."""
    access, secret = keys
    body = request.body.encode()
    day, time = at.strftime("%Y%m%d"), at.strftime("%Y%m%dT%H%M%SZ")
    digest = hashlib.sha256(body).hexdigest()
    headers = {"host": urlsplit(request.endpoint).netloc, "x-amz-content-sha256": digest, "x-amz-date": time}
    names = ";".join(headers)
    canonical = "\n".join(
        [
            request.method,
            quote(request.path, safe="/-_.~"),
            request.canonical_query,
            *(f"{name}:{value}" for name, value in headers.items()),
            "",
            names,
            digest,
        ]
    )
    scope = f"{day}/{REGION}/s3/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", time, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = f"AWS4{secret}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    signature = hmac.new(key, text.encode(), "sha256").hexdigest()
    credential = f"Credential={access}/{scope}"
    if body:  # radosgw asks for it where objects are deleted
        headers["content-md5"] = base64.b64encode(hashlib.md5(body, usedforsecurity=False).digest()).decode()
    del headers["host"]
    return {**headers, "authorization": f"AWS4-HMAC-SHA256 {credential}, SignedHeaders={names}, Signature={signature}"}
