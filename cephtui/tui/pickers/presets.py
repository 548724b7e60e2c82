"""The picker of presets."""

from __future__ import annotations

from collections.abc import Sequence

from cephtui import presets
from cephtui.presets import Catalogue, Preset, PresetError
from cephtui.tui.keys import key
from cephtui.tui.pickers.picker import Picker
from cephtui.tui.widgets.pick_list import Row


def described(preset: Preset) -> str:
    """What a preset does, in the words of its tool; the values of a sweep with commas."""
    texts = [preset.tool.bind(options).describe() for options in presets.combinations(preset.tool, preset.file.options)]
    parts = zip(*(text.split(", ") for text in texts), strict=False)
    return ", ".join(map(_joined, parts))


def _joined(texts: Sequence[str]) -> str:
    """One text of several that differ in their values only: ``4k randread`` and ``4k randwrite``."""
    seen = list(dict.fromkeys(tuple(text.split()) for text in texts))
    words = [list(dict.fromkeys(column)) for column in zip(*seen, strict=False)]
    number = 1
    for column in words:
        number *= len(column)
    if number != len(seen) or len(set(map(len, seen))) > 1:
        return ",".join(" ".join(one) for one in seen)  # not every value of one word with every one of another
    return " ".join(map(",".join, words))


def _preset_row(name: str, entry: Preset | PresetError) -> Row:
    if isinstance(entry, PresetError):
        return Row(name, ("", name, "broken", ""), str(entry), refused=f"broken preset: {entry}")
    title = f"{entry.file.title} (yours)" if entry.user else entry.file.title
    key = str(entry.file.key or "")
    return Row(name, (key, name, title, entry.file.tool), described(entry), more=entry.file.description)


class PresetPicker(Picker[Preset]):
    """Every preset, those without a key too; a broken one with its error."""

    TITLE_TEXT = "presets"
    BINDINGS = [key("enter", "use", "choose", "choose the preset", priority=True)]

    def __init__(self, catalogue: Catalogue) -> None:
        super().__init__()
        self._catalogue = catalogue
        heading = Row("", ("key", "name", "title", "tool"), "what it does", heading=True, always=True)
        self._rows = [heading, *(_preset_row(row.preset, catalogue[row.preset]) for row in presets.rows(catalogue))]

    def rows(self) -> list[Row]:
        return self._rows

    def note(self) -> str:
        """What the preset is for."""
        return super().note() or (self.highlighted.more if self.highlighted else "")

    def use(self, row: Row | None) -> None:
        preset = self._catalogue[row.key] if row else None
        self.dismiss(preset if isinstance(preset, Preset) else None)
