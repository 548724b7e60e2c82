"""Reading what ceph and rbd print as JSON, and finding out why they print nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cephtui.printable import listed as listed
from cephtui.reading import load_json

# some releases print figures that do not exist (the utilisation of an empty OSD) as no JSON knows them
_NO_NUMBER = re.compile(r"(?<=[:\[,])\s*-?(?:nan|inf)\b", re.IGNORECASE)
_OF_OSD = re.compile(r"^osd\.([0-9]{1,6}): ", re.MULTILINE)
_FIGURE_MOST = 1 << 64
_TEXT_MOST = 600
"""Characters of a setting's value that are kept: ``bluestore_rocksdb_options`` has some 300."""
_DENIED = re.compile(r"EACCES|EPERM|[Pp]ermission denied|Operation not permitted")
_NO_CLUSTER = (
    (re.compile(r"no keyring found"), "no keyring was found"),
    (re.compile(r"conf_read_file|unable to get monitor info"), "no ceph.conf was found"),
    (re.compile(r"RADOS permission denied|handle_auth_bad_method"), "the key is not accepted"),
    (re.compile(r"[Tt]imed out"), "the monitors do not answer"),
    (re.compile(r"connect(ing)? to the cluster|initializing cluster client"), "the monitors can't be reached"),
)
"""What ceph and rbd print on stderr, the more exact first, and what it means."""
_NOT_FOUND = re.compile(r"error opening (image|pool) .*\(2\) No such file or directory")


def parse_answer(text: str) -> Any:
    """The JSON in an answer; raises ValueError."""
    try:
        return load_json(text)
    except ValueError:
        pass
    try:
        return load_json(_NO_NUMBER.sub("null", text))
    except ValueError:
        raise ValueError(f"unexpected answer: {text.strip()[:200]!r}") from None


def json_object(text: str, *keys: str) -> Mapping[str, Any]:
    """The object in an answer, which has all these keys; raises ValueError."""
    answer = parse_answer(text)
    if not isinstance(answer, dict) or not all(key in answer for key in keys):
        raise ValueError(f"unexpected answer: {text.strip()[:200]!r}")
    return answer


def of_osds(text: str) -> Iterator[tuple[str, str]]:
    """The number and the answer of each OSD, of ``ceph tell osd.*``: ``osd.3: {}``."""
    parts = _OF_OSD.split(text)[1:]
    yield from zip(parts[::2], parts[1::2], strict=True)


def rows(text: str) -> Sequence[Mapping[str, Any]]:
    """The objects of the list in an answer; raises ValueError."""
    answer = parse_answer(text)
    if not isinstance(answer, list):
        raise ValueError(f"unexpected answer: {text.strip()[:200]!r}")
    return objects(answer)


def part(value: Mapping[str, Any], *keys: str) -> Mapping[str, Any]:
    """The object below these keys; empty where there is none."""
    inner: Any = value
    for key in keys:
        inner = inner.get(key) if isinstance(inner, dict) else None
    return inner if isinstance(inner, dict) else {}


def objects(value: Any) -> Sequence[Mapping[str, Any]]:
    """The objects in a list; empty where the value is no list."""
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def number(value: Any, default: float = 0.0) -> float:
    """A figure, which Ceph sometimes prints as text; the default where it is negative, infinite or no number."""
    try:
        figure = default if value is None or isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        return default
    return figure if 0 <= figure < _FIGURE_MOST else default


def whole(value: Any, default: int = 0) -> int:
    """A figure without a fraction, exact above 2**53 too."""
    is_exact = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _FIGURE_MOST
    return value if is_exact else int(number(value, default))


def names(value: Any) -> tuple[str, ...]:
    """The names in a list; empty where the value is no list."""
    return tuple(str(word) for word in value) if isinstance(value, list) else ()


def setting_text(value: Any) -> str:
    """The value of a setting as Ceph prints it; one that is too long is cut, and ends with its length."""
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= _TEXT_MOST else f"{text[:_TEXT_MOST]}... ({len(text)} characters)"


def is_denied(status: int | None, stderr: str) -> bool:
    """Whether the cephx caps deny a command; call ``no_cluster`` first: a refused key ends with the same status."""
    return status == 13 or (status != 0 and bool(_DENIED.search(stderr)))


def no_cluster(status: int | None, stderr: str) -> str | None:
    """Why a command did not get as far as the cluster, or None: the reason in a few words."""
    if status in (0, None):
        return None
    if status == 127:
        return "Ceph's programs are not installed"
    return next((text for pattern, text in _NO_CLUSTER if pattern.search(stderr)), None)


def missing(status: int | None, stderr: str) -> str | None:
    """``image`` or ``pool`` where rbd has found no such thing; None where the command failed for another reason."""
    match = _NOT_FOUND.search(stderr) if status == 2 else None
    return match[1] if match else None
