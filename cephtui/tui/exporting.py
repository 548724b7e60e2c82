"""A report of a saved session, as a file. What makes it is imported with the first one."""

from __future__ import annotations

import asyncio
import os
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from textual import work
from textual.screen import Screen

from cephtui import paths
from cephtui.printable import either
from cephtui.sessions.names import ensure_unpacked
from cephtui.sessions.store import StoreError
from cephtui.tui.dialogs import Confirm, EnterText
from cephtui.tui.keys import key
from cephtui.tui.terminal.in_order import opening

EXPORT = key("e", "export", "export", "export a report of the session: HTML, Markdown, CSV or XLSX", shown=True)
_TOAST_SECONDS = 15.0


class ExportingScreen(Screen[None]):
    """A screen with a session that can be exported: it has the key ``EXPORT``."""

    @property
    def to_export(self) -> Path | None:
        """The directory of the session; None where none is selected."""
        return None

    @work(exclusive=True, group="export")
    async def action_export(self) -> None:
        """Ask for the file, and write it; one that exists only if that is wanted."""
        directory = self.to_export
        if directory is None:
            return
        from cephtui.reports.writing import ExportError

        file = await self._ask_for_file(directory.name)
        if file is None:
            return
        exists = _exists(file)
        if exists and not await self._may_overwrite(file):
            return

        self.notify(f"writing {file} ...", timeout=3, markup=False)
        try:
            await asyncio.to_thread(_write, directory, file, force=exists)
        except (StoreError, ExportError) as error:
            self.complain(error)
            return
        self.notify(f"report in {file}", timeout=_TOAST_SECONDS, markup=False)

    def complain(self, error: Exception) -> None:
        """Why something could not be done, for long enough to be read."""
        self.notify(str(error), severity="error", timeout=_TOAST_SECONDS, markup=False)

    async def _ask_for_file(self, session: str) -> Path | None:
        """None where the user does not want one."""
        from cephtui.reports.render import FORMATS
        from cephtui.reports.writing import default_name

        proposed = str(_folder() / default_name(session, "html"))
        hint = either([report_format.suffixes[0] for report_format in FORMATS.values()])
        name = await self.app.push_screen_wait(EnterText(f"report of session {session}", proposed, _wrong, hint=hint))
        return _path(name) if name else None

    async def _may_overwrite(self, file: Path) -> bool:
        with opening(self.app):
            return await self.app.push_screen_wait(Confirm(f"{file} exists. Overwrite it?", "overwrite", "keep"))


def _exists(file: Path) -> bool:
    return os.path.lexists(file)


def _path(text: str) -> Path:
    return Path(text).expanduser()


def _folder() -> Path:
    """The directory in which the console was started, if files can be made there; else the home directory."""
    here = Path.cwd()
    return here if os.access(here, os.W_OK) else Path.home()


def _wrong(text: str) -> str | None:
    """Why no report can get this name; None where it can."""
    from cephtui.reports.render import FORMATS, format_of
    from cephtui.reports.writing import ExportError, check_free

    file = _path(text)
    if format_of(file) is None:
        return f"expected a name that ends with .{', .'.join(FORMATS)}"
    try:
        check_free(file, force=True)
    except ExportError as error:
        return str(error)
    return None


def _write(directory: Path, file: Path, *, force: bool) -> None:
    """Raises StoreError and ExportError."""
    from cephtui.analysis.verdicts.conclusion import ConclusionTerms
    from cephtui.presets import find_presets, headline_metric
    from cephtui.reports.render import FORMATS, format_of
    from cephtui.reports.views.report.content import report_view
    from cephtui.reports.views.report.material import of_session
    from cephtui.reports.writing import write

    catalogue = find_presets(paths.packaged_presets_dir(), paths.user_presets_dir())
    material = of_session(
        ensure_unpacked(directory), ConclusionTerms(partial(headline_metric, catalogue)), datetime.now(UTC)
    )
    write(file, FORMATS[format_of(file) or "html"].render(report_view(material)), force=force)
