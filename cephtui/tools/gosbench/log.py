"""The logs of gosbench's server and worker: ``time="..." level=info msg="..." error="..."``.

Read by the program on the node, too, so that it is for Python 3.9.
"""

from __future__ import annotations

import json
import re

_FIELD = re.compile(r'(\w+)=("(?:[^"\\]|\\.)*"|\S+)')
_IDS = re.compile(r"https response error |, RequestID: [^,]*, HostID: [^,]*|: UnknownError$")
"""Parts of an error of its S3 library that say nothing to a user."""
_FAILED = re.compile(r'\bmsg="Issues when performing work\b.*? error="operation error S3: (Get|Put|List|Delete)')
"""A measured operation; those of the preparation have other messages."""


def message_of(line: str) -> str:
    """The message of a line, with the error; the line itself where it is no line of the log."""
    fields = dict(_FIELD.findall(line))
    parts = [_unquoted(fields[name]) for name in ("msg", "error") if name in fields]
    return _IDS.sub("", ": ".join(parts)) if "msg" in fields else line


def is_error(line: str) -> bool:
    """Whether it says that something failed."""
    return bool(re.search(r"\blevel=(?:error|fatal|panic)\b", line))


def failed_method(line: str) -> str:
    """The method of a measured operation that failed, as in the metrics: ``GET``; empty for another line."""
    failed = _FAILED.search(line)
    return failed[1].upper() if failed else ""


def _unquoted(text: str) -> str:
    try:
        return str(json.loads(text)) if text.startswith('"') else text
    except ValueError:
        return text.strip('"')
