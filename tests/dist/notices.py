"""What Debian wants to be told of licences: of cephtui, and of each package that comes with it."""

from __future__ import annotations

from collections.abc import Iterator
from email.parser import HeaderParser
from pathlib import Path

from tests.dist.wheels import CHECKOUT

_COMMON = {
    "Apache License": "Apache-2.0",
    "GNU LESSER GENERAL PUBLIC LICENSE": "LGPL-3",
    "GNU GENERAL PUBLIC LICENSE": "GPL-3",
}
"""What begins a text that every Debian has in /usr/share/common-licenses."""
_BEGINNING = 300
"""Characters."""
_HEADINGS = ("License-Expression", "License", "Classifier")


def copyright_of(packages: Path) -> str:
    """The text of /usr/share/doc/cephtui/copyright for what is in this folder."""
    parts = [f"cephtui\n{'=' * 7}\n\n{(CHECKOUT / 'LICENSE').read_text().strip()}"]
    for information in sorted(packages.glob("*.dist-info"), key=lambda path: path.name.lower()):
        if not information.name.startswith("cephtui-"):
            parts.append("\n\n".join(_parts(information)))
    return "\n\n\n".join(parts) + "\n"


def _parts(information: Path) -> Iterator[str]:
    about = HeaderParser().parsestr((information / "METADATA").read_text("utf-8"))
    title = f"{about['Name']} {about['Version']}, in /usr/lib/cephtui"
    source = f"Source: https://pypi.org/project/{about['Name']}/{about['Version']}/"
    licences = [value for name in _HEADINGS for value in about.get_all(name, []) if _is_licence(name, value)]
    yield f"{title}\n{'=' * len(title)}\n\n{source}\nLicence: {licences[0] if licences else 'see below'}"
    for path in sorted(information.rglob("*")):
        if path.is_file() and path.name.upper().startswith(("LICENSE", "COPYING", "NOTICE", "AUTHORS")):
            yield _text(path)


def _is_licence(heading: str, value: str) -> bool:
    return "\n" not in value and (heading != "Classifier" or value.startswith("License ::"))


def _text(path: Path) -> str:
    text = path.read_text("utf-8", "replace").strip()
    for beginning, name in _COMMON.items():
        if beginning in text[:_BEGINNING]:
            return f"{path.name}: on Debian its text is in /usr/share/common-licenses/{name}"
    return text
