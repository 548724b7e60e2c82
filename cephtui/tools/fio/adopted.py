"""fio's job files and command lines as options of presets: what is taken, what is not and why, and what is tested."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from cephtui.tools.adopted import Adopted, differing_options, joined_sections
from cephtui.tools.base import OptionError
from cephtui.tools.fio.given import (
    SECTIONS_MOST,
    FioJobs,
    JobSection,
    option_name,
    plain_size,
    plain_value,
    read_commands,
    read_job_file,
    target_of,
)
from cephtui.tools.fio.options import SEVERAL_BLOCKS, FioOptions
from cephtui.tools.logs import Log, LogLine, command_pattern, is_variable, whole_command
from cephtui.tools.options import NOT_SET
from cephtui.units import parse_size, short_size

GIVEN_MOST = 1000
"""Command lines and job files of one text."""
_COMMAND = command_pattern("fio")
_WITHIN = re.compile(r"""(?:^|[\s/"'`(\[=])(?P<words>fio["',]{0,2}\s.*?-name\b.*)""")
"""A command that another one runs: ``kubectl exec POD -- fio``, a loop, ``bash -c 'fio ...'``."""
_RADOS = "rados counts failed operations as I/O: cephtui run rados-write --target pool:POOL measures a pool"
_HEADING = re.compile(r"\s*\[(?![^\]]*[@~ ][^\]]*\][#$])[^\]\[\"']{1,100}\]\s*(?:[#;].*)?")
"""The heading of a section; ``[root@client ~]#`` is the prompt of a shell."""
_OPTION = re.compile(r"\s*(?:[a-z][\w-]*\s*=.*|[a-z_]{4,40}\s*(?:[#;].*)?|include\s.*|[#;].*|)")
"""A line of a job file below its heading: an option, a flag, another file, a comment, or empty."""
_WORDS = re.compile(r"[^a-z0-9_-]")
_MISSPELT = re.compile(r"\s*([a-z]\w*)[\s:]\s*\S+\s*")
"""A line of a job file that lacks only its ``=``."""
_ONLY_FIO = (FioOptions.model_fields.keys() | FioOptions.aliases.keys() | set(SEVERAL_BLOCKS)) - {
    *("size", "rate", "runtime", "timeout", "direct", "sync", "fsync", "thinktime"),
}
"""Options whose names no other program has in its files."""
_ADDED = re.compile(r"""\s*(?:[+%.\\]|f?["'])""")
"""Behind a text of a program that is not all of it."""
_STARTS = re.compile(r"(?:(?<![\w./-])(?<!name )|bin/)fio\s+-")
_JOB_FILE = re.compile(r"\S\.(?:fio|job|ini)\b")
_FILES = re.compile(r"(?<!\\):")
"""Between the files of a ``filename``."""
_VALUE = re.compile(r"\s*[a-z][\w-]*\s*=.*")
_ROUNDED = 0.01
"""The fraction that whole blocks take off the parts of several jobs."""
_SHOWN = (*("rw", "bs", "iodepth", "numjobs", "ioengine", "direct"), *("time_based", "runtime", "ramp_time"))
"""Options that a preset has in any case."""


def find_jobs(log: Log, *, is_job_file: bool = False) -> list[FioJobs]:
    """The job files and command lines in a text, in its order; what can't be read as one is left out.

    All of a text that ``is_job_file`` is one from its first heading on.
    """
    lines, at = log.lines, 0
    all_given: list[FioJobs] = []
    while at < len(lines):
        end = at + 1
        if _HEADING.fullmatch(lines[at].text):
            end = len(lines) if is_job_file else _end_of_job_file(lines, at + 1)
            jobs = read_job_file("\n".join(line.text for line in lines[at:end]))
            if (is_job_file and jobs.sections) or _is_job_file(jobs):
                all_given.append(jobs)
        elif words := _words_of(lines[at].text):
            text, last, is_whole = whole_command(lines, at, words)
            end = last + 1
            text = _unquoted(text, lines[at].text.removesuffix(words))
            all_given += _commands_in(text) if is_whole else [FioJobs((), unread=text)]
        at = end
        _check_number(all_given)
    return all_given


def _check_number(all_given: Sequence[FioJobs]) -> None:
    if len(all_given) > GIVEN_MOST or any(len(jobs.sections) > SECTIONS_MOST for jobs in all_given[-1:]):
        raise ValueError(f"too many jobs, expected at most {GIVEN_MOST} commands and {SECTIONS_MOST} jobs of each")


def _words_of(line: str) -> str:
    """The text from where a command of fio begins; empty for another line."""
    match = "fio" in line and (_COMMAND.fullmatch(line) or _WITHIN.search(line))
    return match["words"] if match else ""


def _unquoted(text: str, before: str) -> str:
    """A command that stands in quotes to their end, with a quote at its own where more text is added to it."""
    mark = next((quote for quote in "\"'`" if before.count(quote) % 2), "")
    if not mark:
        return text
    command, end, rest = [*re.split(rf"(?<!\\)({mark})", text, maxsplit=1), "", ""][:3]
    if not _WITHIN.search(command):
        return text
    return command + end * bool(command.endswith(" ") or _ADDED.match(rest))


def _commands_in(text: str) -> list[FioJobs]:
    """The commands that have jobs; one that names its job files is not read, nor one whose quotes have no end."""
    try:
        commands = read_commands(text)
    except ValueError:  # or text with an apostrophe
        return [FioJobs((), unread=text)] if _WITHIN.search(text) else []
    named = [jobs for jobs in commands if jobs.sections]
    files = any(jobs.files for jobs in commands if not jobs.sections) and _JOB_FILE.search(text)
    is_unread = files or (_WITHIN.search(text) and len(named) < max(1, len(_STARTS.findall(text))))
    return [*named, FioJobs((), unread=text)] if is_unread else named


def _is_job_file(jobs: FioJobs) -> bool:
    """Whether its options are fio's and no other program's."""
    names = [name for section in jobs.sections for name in section.options]
    if any(name in _ONLY_FIO or name.startswith("include ") for name in names):
        return True
    return any(map(_is_taken, names)) and all(map(_is_known, names))


def _end_of_job_file(lines: Sequence[LogLine], at: int) -> int:
    while at < len(lines) and (_is_of_job_file(lines[at].text) or _goes_on(lines, at)):
        at += 1
    return at


def _is_of_job_file(text: str) -> bool:
    misspelt = _MISSPELT.fullmatch(text)
    return bool(_HEADING.fullmatch(text) or _OPTION.fullmatch(text) or (misspelt and _is_taken(misspelt[1])))


def _goes_on(lines: Sequence[LogLine], at: int) -> bool:
    """Whether a line that is no option stands right between two that are."""
    return at + 1 < len(lines) and all(_VALUE.fullmatch(lines[near].text) for near in (at - 1, at + 1))


def _is_taken(option: str) -> bool:
    return option_name(option) in FioOptions.model_fields


def _is_known(option: str) -> bool:
    return _is_taken(option) or option in SEVERAL_BLOCKS or FioOptions.reason_against(option) is not None


def adopt(section: JobSection, files: Sequence[str] = ()) -> Adopted:
    """The options of a preset that does what fio would do with a section; raises OptionError where none can.

    fio's own defaults are written down where cephtui has others. The options of job files that the command names are
    not known.
    """
    if files:
        raise OptionError(files[0], "is not an option: a file or a variable may contain any")
    texts: dict[str, str] = {}
    left_out: dict[str, str] = {}
    for option, value in section.options.items():
        reason = _reason_against(option, value)
        if reason is None:
            texts[option_name(option)] = plain_value(option_name(option), value)
        else:
            left_out[option] = reason
    notes = _interpret(texts, section.options)
    checked = FioOptions.check(texts)
    options = {name: checked[name] for name in FioOptions.model_fields if name in texts or name in _SHOWN}
    if "ioengine" in left_out:  # the target's own
        del options["ioengine"], options["direct"]
    return Adopted(
        name=section.name,
        tool="fio",
        options=options,
        left_out=tuple(left_out.items()),
        notes=tuple(notes),
        target=_target_of(section.options),
        waits=_is_on(section.options, "stonewall") or _is_on(section.options, "wait_for_previous"),
    )


def refuse(unread: str) -> Adopted:
    """Raises OptionError for a command that has no job."""
    raise OptionError("fio", f"found no job with --name: {unread:.200}")


def _is_on(options: Mapping[str, str], name: str) -> bool:
    return options.get(name, "0") != "0"


def _reason_against(option: str, value: str) -> str | None:
    """The reason against an option; None for one that is taken."""
    _check_known(option, value)
    if option == "ioengine" and value == "rbd":
        return "not needed: images are measured with it (--target rbd:POOL/IMAGE)"
    if option == "ioengine" and value == "rados":
        raise OptionError(option, _RADOS)
    if option in SEVERAL_BLOCKS:
        raise OptionError(option, "a preset has one block size at a time: use bs")
    if option_name(option) in ("size", "io_size") and "%" in value:
        if value.strip() == "100%" and option == "size":
            return "not needed: without it all of the target is used"
        raise OptionError(option, f"a preset can't use a percentage of a target, got {value}: give a size such as 10G")
    if option_name(option) in FioOptions.model_fields:
        return None
    if option == "invalidate" and value == "0":
        return f"{NOT_SET}: fio drops the cached data of a target before it starts"
    return FioOptions.reason_to_leave_out(option)


def _check_known(option: str, value: str) -> None:
    """Raises OptionError for what is no option, has no value, or makes other values mean something else."""
    if _WORDS.search(option) or option == "include":
        why = (
            "must be in a file in the directory of the job file or below, and is not there"
            if option.startswith("include ")
            else ""
        )
        raise OptionError(option, why or "is not an option of fio")
    if not value:
        raise OptionError(option, "has no value")
    if value.startswith(" "):
        plainly = value.strip()
        raise OptionError(option, f"after a blank, fio reads {plainly} as something else: write {option}={plainly}")
    if option == "kb_base" and value != "1024":
        raise OptionError(option, f"with {value} a k is not 1024: give sizes in bytes, without {option}")


def _interpret(texts: dict[str, str], options: Mapping[str, str]) -> list[str]:
    """Add fio's defaults and what other options say in their own words; the notes."""
    _negate(texts, options)
    defaults = {"rw": "read", "ioengine": "psync", "direct": "0", "time_based": "0", "runtime": "0", "ramp_time": "0"}
    notes = []
    if options.get("ioengine") == "rbd":
        defaults = {**defaults, "ioengine": "libaio", "direct": "1"}
        if texts.get("direct") != "1":
            notes.append("direct: images are measured without librbd's cache")
        texts["direct"] = "1"
    for name, value in defaults.items():
        texts.setdefault(name, value)
    if texts.get("numjobs", "1") != "1":
        texts.setdefault("group_reporting", "0")
        notes += [_divide(texts, options)]
    if len(_FILES.split(options.get("filename", ""))) > 1:
        notes.append("filename: fio would use these files at the same time, but a run has one target")
    if texts["time_based"] == "0" and texts["runtime"] != "0":
        notes.append("without time_based a run ends when its data is done, or after runtime")
    return notes


def _negate(texts: dict[str, str], options: Mapping[str, str]) -> None:
    """Add what ``buffered`` and ``rwmixwrite`` say; of direct and buffered that holds which is given last."""
    buffered, names = options.get("buffered"), list(options)
    if buffered not in (None, "0", "1"):
        raise OptionError("buffered", f"expected 0 or 1, got {buffered}")
    if buffered and ("direct" not in options or names.index("direct") < names.index("buffered")):
        texts["direct"] = "1" if buffered == "0" else "0"
    mix = options.get("rwmixwrite")
    if mix is None:
        return
    if not re.fullmatch(r"[0-9]{1,2}|100", mix):
        raise OptionError("rwmixwrite", f"expected 0 to 100, got {mix}")
    if texts.setdefault("rwmixread", str(100 - int(mix))) != str(100 - int(mix)):
        raise OptionError("rwmixwrite", f"{mix} and rwmixread={texts['rwmixread']} don't add up to 100")


def _divide(texts: dict[str, str], options: Mapping[str, str]) -> str:
    """Give each of several jobs its part of what fio's would share; the note."""
    note = "numjobs: each job has a region of its own"
    if not _is_shared(options):
        return note
    jobs, size = texts["numjobs"], texts.get("size")
    if not size or not jobs.isdecimal() or not int(jobs):
        return f"{note}, where fio's would all work on the same"
    part = divided(size, int(jobs), texts.get("bs", "4k"))
    if part is None:
        return f"{note} of {size}, where fio's would all work on the same {size}"
    texts["size"] = part
    return f"size: each job has {part} of its own, where fio's {jobs} would all work on the same {size}"


def divided(size: str, jobs: int, block: str) -> str | None:
    """The part of each job in whole blocks; None where there is less than one, or what is given is no size."""
    try:
        unit, part = parse_size(plain_size(block)), parse_size(plain_size(size)) // jobs
    except ValueError:
        return None
    return short_size(part - part % unit) if unit and part >= unit else None


def _is_shared(options: Mapping[str, str]) -> bool:
    """Whether the jobs of a section use the same data: without a file or an image each has its own."""
    is_named = "rbdname" in options if options.get("ioengine") == "rbd" else "filename" in options
    return is_named and not {"offset_increment", "filename_format"} & options.keys()


def _target_of(options: Mapping[str, str]) -> str:
    """The target of a section: an engine for images has an image, whatever file is named besides."""
    if options.get("ioengine") != "rbd":
        options = {name: value for name, value in options.items() if name not in ("pool", "rbdname")}
    names = [name.replace("\\:", ":") for name in _FILES.split(options.get("filename", ""))]
    if len(names) > 1:
        return ""
    target = target_of({**options, "filename": names[0]})
    if is_variable(target):
        return ""
    if options.get("directory") and names[0] and not names[0].startswith("/"):
        return "" if is_variable(options["directory"]) else f"file:{options['directory'].rstrip('/')}/{names[0]}"
    return target if target != f"file:{options.get('directory')}" else ""


def presets_at_once(sections: Sequence[Adopted], name: str) -> list[Adopted]:
    """One preset for sections that run at the same time, as so many jobs; raises OptionError where they differ."""
    size = _size_together(sections)
    varied = [
        option for option in differing_options(sections) if option != "numjobs" and (option != "size" or not size)
    ]
    if varied:
        names = ", ".join(section.name for section in sections[:4])
        how = f"{names} differ in {', '.join(varied)}, but a preset has one kind of job at a time"
        raise OptionError("--together", f"{how}: use --in-order, or give fio one job with rw=randrw")
    jobs = sum(int(str(section.options.get("numjobs", 1))) for section in sections)
    options = {**sections[0].options, "numjobs": jobs}
    if not size:
        return [joined_sections(sections, name, options)]
    whole = joined_sections(sections, name, {**options, "size": size})
    notes = tuple(note for note in whole.notes if not note.startswith(("size:", "numjobs:")))
    return [replace(whole, notes=(*notes, f"size: each job has {size} of its own, where fio's would share their data"))]


def _size_together(sections: Sequence[Adopted]) -> str | None:
    """The size of each job where the jobs of sections share one target with fio; None where they do not, or differ."""
    target = {section.target for section in sections}
    if len(target) != 1 or not target.pop() or not all("size" in section.options for section in sections):
        return None
    jobs = [int(str(section.options.get("numjobs", 1))) for section in sections]
    wholes = [parse_size(str(section.options["size"])) * number for section, number in zip(sections, jobs, strict=True)]
    if max(wholes) - min(wholes) > _ROUNDED * max(wholes):
        return None
    return divided(str(max(wholes)), sum(jobs), str(sections[0].options["bs"]))
