"""Markdown in the language of man(1), which go-md2man (2.0.2) breaks in tables, and in code of lists.

A table becomes a list of what its rows are about: no terminal is too narrow."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

_FONTS = {"strong": "B", "em": "I", "code_inline": "B"}
_PAGE = re.compile(r"(?:[^:]*/)?([a-z0-9-]+)\.md(?:#.*)?")
"""The address of another page."""


def plain(text: str) -> str:
    """Text in which nothing is taken for a request."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-")
    return re.sub(r"^(?=[.'])", r"\\&", escaped, flags=re.MULTILINE)


def block(text: str) -> str:
    """Lines that stay as they are."""
    return f".sp\n.RS 4\n.nf\n{plain(text.rstrip())}\n.fi\n.RE\n"


def entry(name: str, text: str) -> str:
    """What stands at the margin, and what is said of it below."""
    return f".TP\n{name}\n{text}\n"


def of_markdown(text: str) -> str:
    """A whole document, without its title."""
    root = SyntaxTreeNode(MarkdownIt("commonmark").enable("table").parse(text))
    return "".join(map(_block, root.children))


def _block(node: SyntaxTreeNode) -> str:
    match node.type:
        case "heading":
            return f"{'.SH' if node.tag in ('h1', 'h2') else '.SS'} {_inline(node)}\n"
        case "paragraph":
            return f".PP\n{_inline(node)}\n"
        case "fence" | "code_block":
            return block(node.content)
        case "bullet_list" | "ordered_list":
            return "".join(_items(node)) + ".PP\n"
        case "table":
            return "".join(_rows(node)) + ".PP\n"
        case "blockquote":
            return f".RS\n{''.join(map(_block, node.children))}.RE\n"
    return ""


def _items(node: SyntaxTreeNode) -> Iterator[str]:
    first = int(node.attrs.get("start", 1))
    for number, item in enumerate(node.children, first):
        mark, width = (r"\(bu", 2) if node.type == "bullet_list" else (f"{number}.", 4)
        beginning, *others = item.children
        yield f".IP {mark} {width}\n{_block(beginning).removeprefix('.PP' + chr(10))}"
        if others:
            yield f".RS {width}\n{''.join(map(_block, others))}.RE\n"


def _rows(node: SyntaxTreeNode) -> Iterator[str]:
    head, *bodies = node.children
    _, *names = map(_inline, head.children[0].children)
    for row in (row for body in bodies for row in body.children):
        first, *cells = map(_inline, row.children)
        named = [(name, cell) for name, cell in zip(names, cells, strict=False) if cell]
        texts = [cell if len(names) == 1 else f"{name}: {cell}" for name, cell in named]
        yield entry(first or "(none)", "\n.br\n".join(texts))


def _inline(node: SyntaxTreeNode) -> str:
    (inline,) = node.children
    return re.sub(r"\n(?=[.'])", r"\n\\&", "".join(_words(inline.children))) if inline.children else ""


def _words(nodes: Sequence[SyntaxTreeNode]) -> Iterator[str]:
    for node in nodes:
        inner = "".join(_words(node.children))
        if node.type in _FONTS:
            yield rf"\f{_FONTS[node.type]}{inner or plain(node.content)}\fR"
        elif node.type == "link":
            yield inner + _place(str(node.attrs["href"]))
        elif node.type == "softbreak":
            yield "\n"
        elif node.type == "image":
            yield inner
        elif node.type == "text":
            yield plain(node.content)


def _place(address: str) -> str:
    if page := _PAGE.fullmatch(address):
        return rf" (\fBcephtui\-{plain(page[1])}\fR(7))"
    return f" ({plain(address)})" if "://" in address else ""
