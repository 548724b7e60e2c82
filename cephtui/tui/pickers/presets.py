"""The picker of presets."""

from __future__ import annotations

from collections.abc import Sequence

from cephtui import presets, suites
from cephtui.models.preset_rows import SuiteRow
from cephtui.presets import Catalogue, Preset, PresetError
from cephtui.reports.views.presets import size_of
from cephtui.suites import Suite, Suites
from cephtui.tui.keys import key
from cephtui.tui.pickers.picker import Picker
from cephtui.tui.widgets.pick_list import PickRow

_SUITE = "suite: "
"""How the key of a suite's row begins; no preset has such a name."""


def described(preset: Preset) -> str:
    """What a preset does, in the words of its tool; the values of a sweep with commas."""
    texts = [preset.tool.bind(options).describe() for options in presets.combinations(preset.tool, preset.file.options)]
    parts = zip(*(text.split(", ") for text in texts), strict=False)
    return ", ".join(map(_joined, parts))


def _joined(texts: Sequence[str]) -> str:
    """Several texts that differ in their values only, as one: ``4k randread`` and ``4k randwrite``."""
    word_lists = list(dict.fromkeys(tuple(text.split()) for text in texts))
    words = [list(dict.fromkeys(column)) for column in zip(*word_lists, strict=False)]
    number = 1
    for column in words:
        number *= len(column)
    if number != len(word_lists) or len(set(map(len, word_lists))) > 1:
        return ",".join(
            " ".join(words) for words in word_lists
        )  # not every value of one word with every one of another
    return " ".join(map(",".join, words))


def _preset_row(name: str, entry: Preset | PresetError) -> PickRow:
    if isinstance(entry, PresetError):
        return PickRow(name, ("", name, "broken", ""), str(entry), refused=f"broken preset: {entry}")
    title = f"{entry.file.title} (yours)" if entry.user else entry.file.title
    key = str(entry.file.key or "")
    return PickRow(name, (key, name, title, entry.file.tool), described(entry), more=entry.file.description)


def _suite_row(row: SuiteRow) -> PickRow:
    key = f"{_SUITE}{row.suite}"
    if row.error:
        return PickRow(key, ("", row.suite, "broken", ""), row.error, refused=f"broken suite: {row.error}")
    title = f"{row.title} (yours)" if row.user else row.title
    steps = ", ".join(dict.fromkeys(step.title for step in row.steps))
    return PickRow(key, ("", row.suite, title, ""), f"{size_of(row)}: {steps}", more=row.description)


def _grouped(catalogue: Catalogue) -> list[PickRow]:
    """The rows of presets with a key, then the others by group under their headings."""
    rows, group = list[PickRow](), ""
    for row in presets.preset_rows(catalogue):
        if row.key is None and row.group != group:
            group = row.group
            rows.append(PickRow("", (group,), heading=True))
        rows.append(_preset_row(row.preset, catalogue[row.preset]))
    return rows


class PresetPicker(Picker[Preset | Suite]):
    """Every preset, those without a key too, and below them the suites; a broken one with its error."""

    TITLE_TEXT = "presets and suites"
    BINDINGS = [key("enter", "use", "choose", "choose the preset; for a suite, queue all its runs", priority=True)]

    def __init__(self, catalogue: Catalogue, suite_catalogue: Suites) -> None:
        super().__init__()
        self._catalogue, self._suites = catalogue, suite_catalogue
        heading = PickRow("", ("key", "name", "title", "tool"), "what it does", heading=True, always=True)
        below = [_suite_row(row) for row in suites.suite_rows(suite_catalogue)]
        over = [PickRow("", ("suites",), "enter queues all runs of one", heading=True)] if below else []
        self._rows = [heading, *_grouped(catalogue), *over, *below]

    def rows(self) -> list[PickRow]:
        return self._rows

    def note(self) -> str:
        """What the preset is for."""
        return super().note() or (self.highlighted.more if self.highlighted else "")

    def use(self, row: PickRow | None) -> None:
        if row and row.key.startswith(_SUITE):
            chosen: object = self._suites[row.key.removeprefix(_SUITE)]
        else:
            chosen = self._catalogue[row.key] if row else None
        self.dismiss(chosen if isinstance(chosen, Preset | Suite) else None)
