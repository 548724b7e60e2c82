"""The parts of the documentation that are made from the code: ``python -m tests.pages`` writes them again.

A part stands between two markers in its page, ``<!-- made by make pages: NAME -->`` and ``<!-- end of NAME -->``.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import click
from textual.binding import Binding

from cephtui import exit_codes, tui
from cephtui.cli.verbs import cli, every_verb
from cephtui.cli.where import TARGET_HELP
from cephtui.models.findings import KINDS, TOPICS, FindingKind
from cephtui.models.findings.examples import example_findings
from cephtui.models.preset_rows import PresetRow
from cephtui.paths import packaged_presets_dir, packaged_suites_dir
from cephtui.presets import choice_text, find_presets
from cephtui.presets import preset_rows as preset_rows
from cephtui.reports.views.presets import size_of
from cephtui.reports.words.quality import LEVELS, QUALITY, limited_figures
from cephtui.sessions.jsonlines import schema
from cephtui.suites import find_suites
from cephtui.suites import suite_rows as suite_rows
from cephtui.tools import TOOLS
from cephtui.tools.tool import Tool
from cephtui.tui.keys import SIGNS

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
_COLUMNS = 120
_NOWHERE = Path("/nonexistent")
_WHERE = ("--node", "--config", "-F", "--ceph-conf", "--ceph-id", "--ceph-keyring", "--ceph-node")
"""Options of every command that uses nodes; they are told once."""
_TARGET = "What to test, see [targets](targets.md). Default: a scratch file."
_LANGUAGES = {".toml:": "toml", "codes:": "text"}
"""Of the lines below a heading of --help, by the heading's end; others are a shell's."""
KEYS: Mapping[str, str] = {
    "CephtuiApp": "Everywhere",
    "ConsoleScreen": "The console",
    "Panels": "The console, in the row of presets",
    "RunScreen": "Charts: the console, a session, a replay",
    "TimelineScreen": "Time: a replay and its presenter; zoom in every chart of a run",
    "RunsTable": "The list of runs",
    "FilterText": "The list of runs, where words for it are typed (`/`)",
    "FormScreen": "Edit (`e`)",
    "HowOftenScreen": "How often (`H`)",
    "Tick": "Edit, on a field that is yes or no",
    "QueueScreen": "Queue (`u`)",
    "CheckScreen": "Check (`C`)",
    "Picker": "Choosers: presets, targets, nodes, runs, commands",
    "PresetPicker": "Presets and suites (`p`)",
    "TargetPicker": "Targets (`t`)",
    "NodePicker": "Nodes (`n`)",
    "NameFilter": "Nodes, where a name is typed",
    "RunPicker": "The other run of a comparison (`c`)",
    "CommandPicker": "Commands (`ctrl+p`)",
    "ThemePicker": "Themes",
    "PanelsDialog": "Panels (`w`)",
    "Presenter": "Presenter (`f`)",
    "LogScreen": "Commands and output (`l`)",
    "DetailsScreen": "A run in full (`enter` on a run)",
    "CompareScreen": "Comparison (`c`)",
    "ComparePresenter": "Comparison in large digits (`f`)",
    "CurveScreen": "Curve (`V`)",
    "MatrixScreen": "Table of a session (`M`)",
    "MatrixTable": "Table of a session, its cells",
    "WhyScreen": "Why is it slow (`W`)",
    "SessionsScreen": "Sessions (`o`)",
    "SessionsTable": "The list of sessions",
    "SessionScreen": "A session",
    "PlayedScreen": "Replay and watch",
    "ReplayScreen": "Replay",
    "StoryScreen": "The demo",
    "Dialog": "Every dialog",
    "Scrolled": "Every text that scrolls",
    "Details": "A text in a dialog",
    "Help": "Help (`?`)",
    "Confirm": "A question with yes or no",
    "TypeName": "A question that wants a name typed",
    "NodeQuestion": "A question of a node, such as its passphrase",
    "EnterText": "A line of text",
    "Wait": "While it ends",
}
"""Who has keys, in the order of the page, and where the user meets it."""


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of GitHub's Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def code(text: str) -> str:
    """Words in the font of code; a text without any stays empty."""
    return f"`{text}`" if text else ""


def _paragraph(text: str) -> str:
    return textwrap.fill(text, _COLUMNS, break_long_words=False, break_on_hyphens=False)


def sections(parts: Iterable[str]) -> str:
    """Each with an empty line between."""
    return "\n\n".join(part for part in parts if part)


def commands_part() -> str:
    """Every verb with its usage, options and examples; before them the options that those with nodes share."""
    root = click.Context(cli, info_name="cephtui")
    shared = [option for option in cli.params if option.opts[0] in _WHERE]
    return sections(
        [
            "## cephtui",
            _verb(cli, root),
            "## Options that name nodes",
            "Commands that use nodes have these, in their own place or before the command.",
            _options(shared, root),
            *(
                sections([f"## {name}", _verb(command, click.Context(command, root, name))])
                for name, command in every_verb().items()
            ),
        ]
    )


def _verb(command: click.Command, context: click.Context) -> str:
    pieces = " ".join(command.collect_usage_pieces(context))
    own = [each for each in command.params if isinstance(each, click.Option) and each.opts[0] not in _WHERE]
    has_nodes = command is not cli and any(each.opts[0] in _WHERE for each in command.params)
    return sections(
        [
            inspect.cleandoc(command.help or ""),
            "" if command is cli else f"Usage: {code(f'{context.command_path} {pieces}'.strip())}",
            _options(own, context),
            "And the options that name nodes." if has_nodes else "",
            *_epilog(command.epilog or ""),
        ]
    )


def _options(options: Iterable[click.Parameter], context: click.Context) -> str:
    records = [record for option in options if (record := option.get_help_record(context))]
    rows = [(code(name), text.replace(TARGET_HELP, _TARGET)) for name, text in records]
    return table(("option", "meaning"), rows) if rows else ""


def _epilog(text: str) -> Iterator[str]:
    """Its sections, each a heading and lines; what --help folds is a paragraph."""
    for paragraph in re.split(r"\n\n+", text.replace("\x08", "").strip("\n")):
        heading, _, lines = paragraph.strip("\n").partition("\n")
        if lines:
            language = next((word for end, word in _LANGUAGES.items() if heading.endswith(end)), "")
            yield sections([heading, _fenced(_commented(textwrap.dedent(lines)), language)])
        elif heading:
            yield _paragraph(heading)


def _commented(lines: str) -> str:
    """What stands behind a command is a comment."""
    return re.sub(r"^(cephtui\b.*?)( {2,})(?=[a-z])", r"\1\2# ", lines, flags=re.MULTILINE)


def _fenced(text: str, language: str = "") -> str:
    return f"```{language}\n{text}\n```"


def options_part() -> str:
    """The options of each tool."""
    return sections(_tool(tool) for tool in TOOLS.values())


def _tool(tool: Tool) -> str:
    presets = [row.preset for row in _packaged() if row.tool == tool.name]
    used = _paragraph(f"Presets: {', '.join(map(code, presets))}.")
    rows = [(code(each.name), each.allowed, code(each.default), each.about) for each in tool.fields()]
    return sections([f"## {tool.name}", used, table(("option", "values", "default", "meaning"), rows)])


def _packaged() -> list[PresetRow]:
    return preset_rows(find_presets(packaged_presets_dir(), _NOWHERE))


def presets_part() -> str:
    """The packaged presets, those with a key first."""
    rows = sorted(_packaged(), key=lambda row: (row.key or 10, row.group, row.preset))
    return table(
        ("preset", "key", "tool", "what it measures", "options that make it what it is"),
        [(code(row.preset), code(str(row.key or "")), row.tool, row.description, _telling(row)) for row in rows],
    )


def _telling(row: PresetRow) -> str:
    """The options that are not the tool's defaults."""
    usual = {field.name: field.default for field in TOOLS[row.tool].fields()}
    told = {name: choice_text(value) for name, value in row.options.items()}
    return ", ".join(code(f"{name}={value}") for name, value in told.items() if usual.get(name) != value)


def suites_part() -> str:
    """The packaged suites, each with its steps."""
    catalogue = find_presets(packaged_presets_dir(), _NOWHERE)
    found = suite_rows(find_suites(packaged_suites_dir(), _NOWHERE, catalogue))
    return sections(
        sections(
            [
                f"### {row.suite}",
                _paragraph(f"{row.description} ({size_of(row)}, without prefill)."),
                table(
                    ("step", "preset", "runs", "where", "targets"),
                    [
                        (
                            step.title,
                            code(step.preset),
                            str(step.repeats),
                            "each node in turn" if step.each else "all nodes at once",
                            f"{', '.join(step.targets)}{'; left out without one' if step.optional else ''}",
                        )
                        for step in row.steps
                    ],
                ),
            ]
        )
        for row in found
    )


def findings_part() -> str:
    """Every finding by topic."""
    return sections(
        sections([f"## {TOPICS[topic].capitalize()}", *map(_finding, kinds)])
        for topic, kinds in groupby(KINDS.values(), key=lambda kind: kind.topic)
    )


def _finding(kind: FindingKind) -> str:
    figures = limited_figures(kind.level, kind.figures)
    level = QUALITY["SUSPECT"] if kind.level == "limits" else LEVELS[kind.level]
    rows = [
        ("level", f"{level}{f': {figures}' if figures else ''}"),
        *(("observed" if not number else "", each.text) for number, each in enumerate(example_findings(kind.code))),
        ("cause", kind.why),
        ("cure", kind.cure),
        *([("see", _linked(kind.source))] if kind.source else []),
    ]
    return sections([f"### {kind.code}", table((code(kind.code), kind.title), rows)])


def _linked(source: str) -> str:
    """Addresses that Markdown takes for links."""
    return re.sub(r"https?://[^\s,;]+", r"<\g<0>>", source)


def keys_part() -> str:
    """The keys of each screen and dialog, as they are bound."""
    found = {name: _bound(owner) for name, owner in bound_classes().items()}
    return sections(
        sections([f"## {title}", table(("key", "what it does"), found[name])]) for name, title in KEYS.items()
    )


def bound_classes() -> dict[str, type]:
    """All that have keys of their own, by name."""
    modules = [importlib.import_module(each.name) for each in pkgutil.walk_packages(tui.__path__, f"{tui.__name__}.")]
    classes = [each for module in modules for each in vars(module).values() if inspect.isclass(each)]
    return {each.__name__: each for each in classes if each.__module__.startswith(tui.__name__) and _bindings(each)}


def _bindings(owner: type) -> list[Binding]:
    """Those that are described."""
    return [each for each in vars(owner).get("BINDINGS", ()) if isinstance(each, Binding) and each.id]


def _bound(owner: type) -> list[tuple[str, str]]:
    signs: dict[str, dict[str, None]] = {}
    for binding in _bindings(owner):
        keys = [SIGNS.get(key, key) for key in binding.key.split(",")]
        shown = binding.key_display.split() if binding.key_display else keys
        signs.setdefault(binding.tooltip, {}).update(dict.fromkeys(shown))
    return [(" ".join(map(code, keys)), about) for about, keys in signs.items()]


def events_part() -> str:
    """The events of JSON Lines, each with its fields."""
    found = schema()
    rows = []
    for each in found["anyOf"]:
        model = found["$defs"][each["$ref"].rpartition("/")[2]]
        rows.append((model["properties"]["event"]["const"], _first_words(model), ", ".join(map(code, _fields(model)))))
    return table(("event", "what it is", "fields"), [(code(name), about, fields) for name, about, fields in rows])


def _first_words(model: Mapping[str, Any]) -> str:
    text = " ".join(str(model.get("description", "")).partition("\n\n")[0].split())
    return text.replace("``", "`")


def _fields(model: Mapping[str, Any]) -> list[str]:
    return [name for name in model["properties"] if name not in ("event", "schema_version")]


def exit_codes_part() -> str:
    """Each exit code with its meaning, as the module has them."""
    text = inspect.getsource(exit_codes)
    found = re.findall(r'^(EXIT_\w+) = (\d)\n"""(.*?)"""', text, re.MULTILINE | re.DOTALL)
    told = {int(number): " ".join(about.split()) for _, number, about in found}
    told |= {0: "All went well; of what was asked, the answer is yes.", 2: "Wrong usage, or no terminal."}
    return table(("code", "meaning"), [(code(str(number)), told[number]) for number in sorted(told)])


PARTS: Mapping[str, tuple[str, Callable[[], str]]] = {
    "commands": ("reference/commands.md", commands_part),
    "options": ("reference/options.md", options_part),
    "presets": ("reference/presets.md", presets_part),
    "suites": ("reference/suites.md", suites_part),
    "findings": ("reference/findings.md", findings_part),
    "keys": ("reference/keys.md", keys_part),
    "events": ("reference/json.md", events_part),
    "exit-codes": ("reference/exit-codes.md", exit_codes_part),
}
"""By name the page, below docs, and what makes it."""


def renewed(name: str) -> str:
    """The page of a part as it has to be."""
    page, made = PARTS[name]
    begin, end = f"<!-- made by make pages: {name} -->", f"<!-- end of {name} -->"
    before, marker, rest = (DOCS / page).read_text("utf-8").partition(begin)
    _, last, after = rest.partition(end)
    assert marker, f"docs/{page} has no line {begin}"
    assert last, f"docs/{page} has no line {end}"
    return f"{before}{begin}\n\n{made()}\n\n{end}{after}"


def main() -> None:
    """Write all parts."""
    for name, (page, _) in PARTS.items():
        (DOCS / page).write_text(renewed(name), "utf-8")


if __name__ == "__main__":
    main()
