"""``cephtui import-preset``: fio's job files, command lines of fio and rados bench, and gosbench's configs become the
user's presets."""

from __future__ import annotations

import json
import re
import shlex
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Literal

import click

from cephtui import paths
from cephtui.cli.catalogue import find_catalogue
from cephtui.cli.errors import Refused
from cephtui.exit_codes import EXIT_FAILED, EXIT_INCOMPLETE
from cephtui.models import OptionValue
from cephtui.presets import STEPS_MOST, Preset, PresetFile, combinations
from cephtui.printable import one_line, shortened
from cephtui.reading import DOCUMENT_MOST_BYTES, read_bytes
from cephtui.terminal import say
from cephtui.tools import TOOLS
from cephtui.tools.adopted import Adopted, is_in_order, presets_in_order
from cephtui.tools.base import OptionError
from cephtui.tools.fio.adopted import adopt, find_jobs, presets_at_once, refuse
from cephtui.tools.gosbench.adopted import find_tests, is_config
from cephtui.tools.logs import read_log
from cephtui.tools.rados_bench import adopted as rados
from cephtui.writing import write_whole

How = Literal["together", "in-order"]
Jobs = Sequence[tuple[str, Callable[[], Adopted]]]
"""Each job of a command line or file, and what makes a preset of it, which raises OptionError where none can be."""
_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")
_NAME_MOST = 60
_COMMAND_MOST = 80
_INCLUDE = re.compile(r"^[ \t]*include[ \t]+(?P<file>\S+)[ \t]*$", re.MULTILINE)
_SECTION = re.compile(r"^\s*\[", re.MULTILINE)
_COMMAND = re.compile(r"(?<![\w.-])(?:fio|rados)(?![\w.-])")
_INCLUDED_MOST = 8
"""Files within one another."""
_LARGE_BYTES = 128 << 10
"""From this block size on, bandwidth is what a preset is about."""


def import_presets(source: str, name: str | None, how: How | None, dry_run: bool, force: bool) -> int:
    """Write a preset for each job, or print them; the exit code."""
    file_name, text = _text_of(source)
    adopted_presets: list[Adopted] = []
    problems = 0
    for jobs in _jobs_in(source, file_name, text):
        adopted = _adopted(jobs)
        problems += len(jobs) - len(adopted)
        adopted_presets += _arranged(adopted, name or Path(file_name).stem or adopted[0].name, how) if adopted else []
    presets = _named(adopted_presets, name)
    if not dry_run:
        _check_free(presets, force=force)
    for preset_name, preset in presets.items():
        _give(preset_name, preset, file_name, dry_run=dry_run)
    if not presets:
        return EXIT_FAILED
    return EXIT_INCOMPLETE if problems else 0


def _text_of(source: str) -> tuple[str, str]:
    """The name of a file and its text; a command line has no file."""
    if source == "-":
        return "", sys.stdin.read(DOCUMENT_MOST_BYTES)
    path = Path(source)
    try:
        return path.name, read_bytes(path).decode("utf-8-sig", "replace")
    except OSError as error:
        words = source.split()
        if len(words) > 1 and (_COMMAND.search(source) or words[0].startswith("-")):
            return "", f"fio {source}" if words[0].startswith("-") else source
        raise click.UsageError(f"{source}: {error.strerror}: name a job file, or quote a command line") from None


def _jobs_in(source: str, file_name: str, text: str) -> list[Jobs]:
    """Those of each command line and file in a text."""
    where = one_line(source) if file_name else shortened(one_line(source), _COMMAND_MOST)
    what = "no job file, no fio command with --name and no rados bench command found"
    if is_config(file_name, text):
        try:
            return [find_tests(text)]
        except ValueError as error:  # or YAML of something else, with a job file or commands in it
            what = str(error)
    try:
        is_file = file_name and _SECTION.search(text)
        log = read_log(_with_included(text, Path(source)) if is_file else text)
        parts = find_jobs(log, is_job_file=Path(file_name).suffix == ".fio")
        commands = rados.find_bench_commands(log)
    except ValueError as error:
        raise click.UsageError(f"{where}: {error}") from None
    jobs_of_parts: list[Jobs] = [
        [(section.name, partial(adopt, section, part.files)) for section in part.sections]
        for part in parts
        if part.sections
    ]
    jobs_of_parts += [[(command.name, partial(rados.adopt, command))] for command in commands]
    if not jobs_of_parts:
        raise click.UsageError(f"{where}: {what}")
    return jobs_of_parts + [
        [(one_line(part.unread)[:_NAME_MOST], partial(refuse, part.unread))] for part in parts if part.unread
    ]


def _with_included(text: str, path: Path, within: Sequence[Path] = ()) -> str:
    """A job file with the files beside it or below that it includes; a line stays where there is none.

    A file elsewhere is not read: what is in it would be shown where it is no option. Raises UsageError for files that
    include each other.
    """
    if path in within or len(within) > _INCLUDED_MOST:
        raise click.UsageError(f"{one_line(str(path))}: include: it includes itself, or too many files")

    folder = (*within, path)[0].parent.resolve()

    def content(line: re.Match[str]) -> str:
        file = path.parent / line["file"]
        try:
            if not file.resolve().is_relative_to(folder):
                return line[0]
            content_text = read_bytes(file).decode("utf-8-sig", "replace")
        except OSError:
            return line[0]
        return _with_included(content_text, file, (*within, path))

    return _INCLUDE.sub(content, text)


def _adopted(jobs: Jobs) -> list[Adopted]:
    """The jobs that can become presets; the others are named with the reason."""
    sections = []
    for name, become in jobs:
        try:
            sections.append(become())
        except OptionError as error:
            say(f"[{name}] can't become a preset: {error}")
    return sections


def _arranged(sections: Sequence[Adopted], name: str, how: How | None) -> list[Adopted]:
    """As the tool would run them, or as the user wants it where that is not the same."""
    if sections[0].at_once:
        _check_in_turn(sections[0], how)
    if len(sections) < 2:
        return list(sections)
    is_behind = is_in_order(sections)
    if how is None and not is_behind:
        how = _asked(sections, is_behind)
    if how != "together" and len(sections) > STEPS_MOST:
        return list(sections)
    try:
        return presets_at_once(sections, name) if how == "together" else presets_in_order(sections, name)
    except OptionError as error:
        raise click.UsageError(str(error)) from None


def _check_in_turn(section: Adopted, how: How | None) -> None:
    """Raises UsageError, or click's Abort, unless the user wants one target after the other."""
    title = TOOLS[section.tool].title
    what = f"{title} would load {', '.join(section.at_once)} at the same time, and a run has one target"
    if how == "in-order":
        return
    if how == "together" or not _can_ask():
        raise click.UsageError(f"{what}: use --in-order")
    say(f"{what}.")
    click.confirm("Measure one after the other", default=True, abort=True, err=True)


def _asked(sections: Sequence[Adopted], is_behind: bool | None) -> How:
    """fio would run these at the same time, at least some of them."""
    names = ", ".join(section.name for section in sections[:4])
    what = "all at the same time" if is_behind is False else "some at the same time, some one after the other"
    if not _can_ask():
        raise click.UsageError(f"fio would run {names} {what}: use --in-order or --together")
    say(f"fio would run {names} {what}.")
    answer: How = click.prompt(
        "Run them", type=click.Choice(["in-order", "together"]), default="in-order", err=True, show_choices=True
    )
    return answer


def _can_ask() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _named(sections: Sequence[Adopted], name: str | None) -> dict[str, Adopted]:
    """Each under the name of its file: the given one, or with several its own behind that."""
    named: dict[str, Adopted] = {}
    for section in sections:
        own_name = _fit(section.name)
        base_name = (_fit(name) if len(sections) == 1 else f"{_fit(name)}-{own_name}") if name else own_name
        number = 2
        unique = base_name
        while unique in named:
            unique, number = f"{base_name}-{number}", number + 1
        named[unique] = section
    return named


def _fit(name: str) -> str:
    return _UNFIT.sub("-", name).strip("-._")[:_NAME_MOST] or "imported"


def _check_free(presets: Mapping[str, Adopted], *, force: bool) -> None:
    """Raises Refused where a preset would be overwritten, or take the place of a packaged one."""
    catalogue = find_catalogue()
    for name in presets:
        present = catalogue.get(name)
        if present is not None and not force:
            whose = "a packaged preset" if isinstance(present, Preset) and not present.user else "one of your presets"
            raise Refused(f"{whose} has the name {name}: choose another --name, or replace it with --force")


def _give(name: str, preset: Adopted, source: str, *, dry_run: bool) -> None:
    """Write or print a preset, and say what became of its options; raises ClickException."""
    text = toml_of(preset, f"from {source or 'a command line'}")
    path = paths.user_presets_dir() / f"{name}.toml"
    if dry_run:
        print(f"# {path}\n{text}")
    else:
        try:
            paths.make_private(path.parent)
            write_whole(path, text)
        except OSError as error:
            raise click.ClickException(f"can't write {path}: {error.strerror}") from None
        say(f"{name}: {path}")
    for reason in dict.fromkeys(reason for _, reason in preset.left_out):
        options = [option for option, why in preset.left_out if why == reason]
        say(f"{name}: {', '.join(options)} {'are' if options[1:] else 'is'} left out: {reason}")
    for note in preset.notes:
        say(f"{name}: {note}")
    target = f" --target {shlex.quote(preset.target)}" if preset.target else ""
    say(f"next: cephtui run {name}{target}{'' if target else ' --target TARGET'}")


def toml_of(preset: Adopted, description: str) -> str:
    """The text of a preset's file, as it can be read again."""
    tool = TOOLS[preset.tool]
    loads = [tool.bind(options).load() for options in combinations(tool, preset.options)]
    headline = "bandwidth" if min(load.block_bytes for load in loads) >= _LARGE_BYTES else "iops"
    if all(load.commits for load in loads):
        headline = "latency"
    lines = [
        f"title = {json.dumps(one_line(preset.name))}",
        f"description = {json.dumps(one_line(description))}",
        f'tool = "{tool.name}"',
        f'headline = "{headline}"',
        "",
        "[options]",
        *(f"{option} = {_value(value)}" for option, value in preset.options.items()),
    ]
    text = "\n".join(lines) + "\n"
    PresetFile.model_validate(tomllib.loads(text))
    return text


def _value(value: OptionValue | list[OptionValue]) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value)
