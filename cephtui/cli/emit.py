"""Views on the command line: the one place with formats, and the options that choose them."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cephtui.frozen import dataclass
from cephtui.reports.render import FORMATS, format_of

if TYPE_CHECKING:
    from cephtui.reports.blocks import View

FORMS = ("table", *FORMATS, "json")
"""Of any view: the first is for the terminal, the last JSON Lines."""
TO_STDOUT = Path("-")


@dataclass(frozen=True, slots=True)
class Output:
    """The format of a view, and the file it is written into."""

    form: str = "table"
    file: Path | None = None
    """None is stdout."""
    force: bool = False
    """Whether a file that exists is overwritten."""


NOWHERE = Output("")
"""The output of what is not shown by itself, but as a part of something else."""


def emit(view: View, output: Output) -> None:
    """Print a view, or write it into a file; raises Refused, UsageError and StoreError."""
    if output == NOWHERE:
        return
    if output.form in _PRINTED:
        _PRINTED[output.form](view)
    else:
        _render(view, output)


def emit_table(view: View) -> None:
    """Print a view for people."""
    from cephtui.cli.printing import print_blocks

    print_blocks(view.document())


def emit_lines(view: View) -> None:
    """Print a view as JSON Lines."""
    from cephtui.cli.printing import print_lines

    print_lines(view.lines())


_PRINTED: Mapping[str, Callable[[View], None]] = {"table": emit_table, "json": emit_lines}


def _render(view: View, output: Output) -> None:
    """Write a view in the format of a file."""
    check_output(output)
    hand_out(FORMATS[output.form].render(view), output)


def check_output(output: Output) -> None:
    """Raises Refused where a file can't be written, and UsageError for a workbook on a terminal."""
    from cephtui.cli.errors import Refused
    from cephtui.reports.writing import ExportError, check_free

    if output.file is None:
        if output.form in FORMATS and not FORMATS[output.form].is_text and sys.stdout.isatty():
            raise click.UsageError("xlsx can't be printed on a terminal: name a file with -o FILE")
        return
    try:
        check_free(output.file, force=output.force)
    except ExportError as error:
        raise Refused(str(error)) from None


def hand_out(content: str | bytes, output: Output) -> None:
    """A whole file, or the same on stdout; raises Refused."""
    from cephtui.cli.errors import Refused
    from cephtui.reports.writing import ExportError, write
    from cephtui.terminal import say, until_seen

    if output.file is None:
        with until_seen():
            sys.stdout.flush()
            sys.stdout.buffer.write(content.encode() if isinstance(content, str) else content)
            sys.stdout.buffer.flush()
        return
    try:
        write(output.file, content, force=output.force)
    except ExportError as error:
        raise Refused(str(error)) from None
    say(f"report in {output.file}")


class _Form(click.Choice[str]):
    """One of the formats."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value == _PDF:
            raise click.UsageError(_INSTEAD)
        return super().convert(value, param, ctx)


_PDF, _INSTEAD = "pdf", "there is no format pdf: print --format html as PDF in a browser"
OUTPUT_OPTIONS = ("--format", "--json", "--output", "--force")
"""What they are called."""
_ABOUT = "; ".join(f"{name} {row.about}" for name, row in FORMATS.items() if row.about)
_options = (
    click.option(
        "--format",
        "form",
        type=_Form(FORMS),
        help=f"{_ABOUT}. Default: by the extension of FILE, or {FORMS[0]}.",
    ),
    click.option(
        "-o",
        "--output",
        "destination",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Write to FILE; - is stdout.",
    ),
    click.option("--force", is_flag=True, help="Overwrite FILE."),
)


def output_options(command: Callable[..., Any], *, json_help: str = "The same as --format json.") -> Callable[..., Any]:
    """Adds the options that choose a format and a file; the command gets them as an ``output``."""

    @functools.wraps(command)
    def wrapped(form: str | None, as_json: bool, destination: Path | None, force: bool, **arguments: Any) -> Any:
        if as_json and form not in (None, "json"):
            raise click.UsageError(f"--format {form} contradicts --json: leave one of them out")
        return command(output=_output("json" if as_json else form, destination, force), **arguments)

    json_option = click.option("--json", "as_json", is_flag=True, help=json_help)
    for option in (*reversed(_options[1:]), json_option, _options[0]):
        wrapped = option(wrapped)
    return wrapped


def _output(form: str | None, file: Path | None, force: bool) -> Output:
    """Raises UsageError for what does not go together: none is ignored."""
    form = form_for(form, file, FORMS[0])
    file = None if file == TO_STDOUT else file
    if file and form not in FORMATS:
        raise click.UsageError(f"--format {form} is printed: leave out -o")
    if force and file is None:
        raise click.UsageError("--force needs -o FILE: no file is written")
    return Output(form, file, force)


def form_for(form: str | None, file: Path | None, usual: str) -> str:
    """The format that is named, else that of the file's name; raises UsageError for a name that stands for none."""
    if form or file in (None, TO_STDOUT):
        return form or usual
    assert file
    if named := format_of(file):
        return named
    if file.suffix == f".{_PDF}":
        raise click.UsageError(f"{file.name}: {_INSTEAD}")
    raise click.UsageError(f"{file.name}: unknown extension: expected .{', .'.join(FORMATS)}, or give --format")
