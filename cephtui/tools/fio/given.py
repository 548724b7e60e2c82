"""What a user gave fio: a command line or a job file, as sections with their options.

Format (fio 3.33 HOWTO, "Command line options" and "Job file format"): ``--name`` begins a section, and what stands
before the first one, or in ``[global]``, holds for all that follow. An option has one dash or two, its value behind
``=`` or as the next word; options that are flags have no value.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from cephtui.frozen import dataclass
from cephtui.models import OptionValue
from cephtui.tools.base import OptionError
from cephtui.tools.fio.options import FLAGS, FioOptions
from cephtui.tools.logs import without_redirections
from cephtui.units import parse_size, short_size

SECTIONS_MOST = 1000
"""Jobs of one command line or job file."""
_WORD = re.compile(r"--?([A-Za-z][\w-]*)(?:=(.*))?", re.DOTALL)
_DASHES = re.compile(r"(?<!\S)[\u2010-\u2015\u2212]{1,2}(?=\w)")
"""Dashes that word processors make of the hyphens of an option."""
_END = re.compile(r"[|;&][^>]*|done", re.DOTALL)
"""A word that ends those of a command."""
_SUBSTITUTED = re.compile(r"`(?![^`]*fio\s)[^`]*`|\$\((?![^()]*fio\s)[^()]*\)")
"""Text in whose place a shell puts the output of a command, which is one word here."""
_WITHIN = re.compile(r"(?:^|[\s/])fio\s+\S")
"""The begin of fio in a word that is a command line itself: ``bash -c 'fio ...'``."""
_ALONE = FLAGS | {"minimal", "append-terse", "readonly", "bandwidth-log", "latency-log"}
"""Words that take no value."""
_HEADING = re.compile(r"\[(.*)\]\s*(?:[#;].*)?")
_COMMENT = re.compile(r"[#;].*")
_SIZE = re.compile(r"([0-9]{1,19})(?:([kmgtp]?)b?|([kmgtp])ib?)", re.IGNORECASE)
_POWERS = " kmgtp"
_SPELT = {("rw", "readwrite"): "rw"}
"""Values that fio takes for others."""
_SIZES = ("bs", "size", "io_size", "rate")
_DEFAULTS: Mapping[str, str] = {
    "bs": "4k",
    "iodepth": "1",
    "numjobs": "1",
    "rw": "read",
    "direct": "0",
    "ramp_time": "0",
}
"""fio's own defaults of options that cephtui always stores."""
_UNSET: Mapping[str, OptionValue] = {"time_based": False, "group_reporting": False}


@dataclass(frozen=True, slots=True)
class JobSection:
    """A job as it was given, with what holds for all jobs; options by the name they were given, values as text."""

    name: str
    options: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class FioJobs:
    """All sections of a command line or a job file."""

    sections: tuple[JobSection, ...]
    files: tuple[str, ...] = ()
    """Words of a command line that are no options: job files, and variables of a shell."""
    unread: str = ""
    """A command line of which no job is known."""

    def find(self, name: str) -> JobSection | None:
        """The section of a name."""
        return next((section for section in self.sections if section.name == name), None)


def option_name(name: str) -> str:
    """The one name that is used here for an option and its aliases."""
    return FioOptions.aliases.get(name, name)


def read_command(text: str) -> FioJobs:
    """A command line, from ``fio`` on or with what stands before it; raises ValueError where its quotes are not closed.

    The first word that is ``fio`` or a path to it begins the options.
    """
    words = shlex.split(_DASHES.sub("-", text), comments=True)
    return _read_words(words[_begin(words) + 1 :])


def read_commands(text: str) -> list[FioJobs]:
    """Every command line of fio in a line of a shell; raises ValueError as ``read_command`` does."""
    commands = []
    whole = _SUBSTITUTED.sub(lambda inner: "".join(inner[0].split()), _DASHES.sub("-", text))
    for words in _simple_commands(shlex.split(whole, comments=True)):
        begin = _begin(words)
        if begin >= 0:
            commands.append(_read_words(words[begin + 1 :]))
        else:  # what another shell runs
            commands += [jobs for word in words if _WITHIN.search(word) for jobs in read_commands(word)]
    return commands


def _begin(words: Sequence[str]) -> int:
    """The index of the word that is fio; -1 for none."""
    return next((n for n, word in enumerate(words) if word.rsplit("/", 1)[-1] == "fio"), -1)


def _simple_commands(words: Sequence[str]) -> list[list[str]]:
    commands: list[list[str]] = [[]]
    for word in without_redirections(words):
        if _END.fullmatch(word):
            commands.append([])
            continue
        commands[-1].append(word.rstrip(";"))
        if word.endswith(";"):
            commands.append([])
    return commands


def _read_words(words: Sequence[str]) -> FioJobs:
    common: dict[str, str] = {}
    sections: list[tuple[str, dict[str, str]]] = []
    files: list[str] = []
    for name, value in _words(words):
        if not name:
            files.append(value)
        elif name == "name":
            sections.append((value, dict(common)))
        else:
            _put(sections[-1][1] if sections and sections[-1][0] != "global" else common, name, value)
    return FioJobs(tuple(JobSection(*section) for section in _jobs(sections)), tuple(files))


def _words(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each option with its value; a word that is none with an empty name. What a shell does with them is left out."""
    words, at = without_redirections(words), 0
    while at < len(words) and not _END.fullmatch(words[at]):
        word, following = words[at].removesuffix(";"), words[at + 1] if at + 1 < len(words) else "-"
        option = _WORD.fullmatch(word)
        if option is None:
            yield "", word
        elif option[2] is not None:
            yield option[1], option[2]
        elif option_name(option[1]) in _ALONE or following.startswith("-") or word != words[at]:
            yield option[1], _alone(option[1])
        else:
            yield option[1], following.removesuffix(";")
            at += 1
        at = len(words) if words[at].endswith(";") else at + 1


def _jobs(sections: Iterable[tuple[str, dict[str, str]]]) -> list[tuple[str, dict[str, str]]]:
    return [section for section in sections if section[0] != "global"]


def read_job_file(text: str) -> FioJobs:
    """A job file; ``[global]`` may come again, and then holds for what follows it."""
    common: dict[str, str] = {}
    sections: list[tuple[str, dict[str, str]]] = []
    for line in text.splitlines():
        stripped = line.strip()
        if heading := _HEADING.fullmatch(stripped):
            sections.append((heading[1].strip(), dict(common)))
            continue
        name, _, value = _COMMENT.sub("", stripped).partition("=")
        name = " ".join(name.split())
        if not name or not sections:
            continue
        into = common if sections[-1][0] == "global" else sections[-1][1]
        _put(into, name, _behind_blank(name, value) or _alone(name))
    return FioJobs(tuple(JobSection(*section) for section in _jobs(sections)))


def _behind_blank(name: str, value: str) -> str:
    """The value in a line of a job file; a blank before it stays where fio does not skip it (fio 3.42, parse.c)."""
    stripped = value.strip()
    is_skipped = option_name(name) not in FioOptions.model_fields or stripped.isdecimal()
    return stripped if is_skipped or not value[:1].isspace() else f" {stripped}".rstrip()


def _alone(name: str) -> str:
    """The value of an option without one: fio refuses it where it is no flag."""
    return "" if option_name(name) in FioOptions.model_fields.keys() - FLAGS else "1"


def _put(options: dict[str, str], name: str, value: str) -> None:
    """Set an option at the end: what is given last holds, whatever other name the option had before."""
    options.pop(name, None)
    options[name] = value


def canonical_options(texts: Mapping[str, str]) -> dict[str, str]:
    """Options under one name each, and those that negate or complement another as that one."""
    named = {option_name(name): value for name, value in texts.items()}
    if named.get("buffered") in ("0", "1") and "direct" not in named:
        named["direct"] = "1" if named.pop("buffered") == "0" else "0"
    if "rwmixread" not in named and (mix := named.get("rwmixwrite", "")).isdecimal() and int(mix) <= 100:
        named["rwmixread"] = str(100 - int(named.pop("rwmixwrite")))
    return named


def stored_options(texts: Mapping[str, str], *, whole: bool) -> dict[str, OptionValue]:
    """The options of a run as cephtui stores them, those that it knows and whose values it can have.

    With ``whole`` nothing else was given, so that fio's defaults hold for the rest.
    """
    values = {**(_DEFAULTS if whole else {}), **canonical_options(texts)}
    options = {
        name: value
        for name in FioOptions.model_fields
        if name in values and (value := option_value(name, values[name])) is not None
    }
    return {**(_UNSET if whole else {}), **options}


@lru_cache(maxsize=1024)
def option_value(name: str, text: str) -> OptionValue | None:
    """The value as it is stored; None for an option that a preset can't have, or not with this value."""
    if name == "ioengine":
        return text
    try:
        return FioOptions.check({"rw": "read", "time_based": False, name: plain_value(name, text)})[name]
    except (OptionError, LookupError):
        return None


def plain_value(name: str, text: str) -> str:
    """The value of an option; a size as it is written shortest, so that equal ones are equal."""
    try:
        return short_size(parse_size(plain_size(text))) if name in _SIZES else _SPELT.get((name, text), text)
    except ValueError:
        return text


def plain_size(text: str) -> str:
    """A size without the units that fio alone has: ``4KiB`` is 4000 bytes to it, ``4kB`` and ``4k`` are 4096 (fio 3.33
    HOWTO, "kb_base")."""
    match = _SIZE.fullmatch(text.strip())
    if not match:
        return text
    digits, binary, decimal = match.groups()
    return str(int(digits) * 1000 ** _POWERS.index(decimal.lower())) if decimal else f"{digits}{binary}"


def target_of(options: Mapping[str, str]) -> str:
    """The target as it would be typed; empty where it is not known."""
    if image := options.get("rbdname"):
        return f"rbd:{options.get('pool', '')}/{image}"
    if pool := options.get("pool"):
        return f"pool:{pool}"
    if path := options.get("filename"):
        return f"{'device' if path.startswith('/dev/') else 'file'}:{path}"
    return f"file:{options['directory']}" if options.get("directory") else ""


def target_options(options: Mapping[str, str]) -> frozenset[str]:
    """The options that ``target_of`` is made of."""
    for names in (("rbdname", "pool"), ("pool",), ("filename",), ("directory",)):
        if options.get(names[0]):
            return frozenset(names)
    return frozenset()
