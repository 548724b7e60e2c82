"""fio's job files and command lines as options of presets: what is taken, what is not and why, and what is tested."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping, Sequence

from cephtui.tools.adopted import Adopted, differing, joined
from cephtui.tools.base import OptionError
from cephtui.tools.fio.given import Given, Section, option_name, plain, read_command, read_job_file, target_of
from cephtui.tools.fio.options import FioOptions, check, reason_against
from cephtui.tools.logs import Log, LogLine, command_pattern, whole_command

GIVEN_MOST = 1000
"""Command lines and job files of one text."""
_COMMAND = command_pattern("fio")
_RADOS = "rados counts failed operations as I/O: cephtui run rados-write --target pool:POOL measures a pool"
_HEADING = re.compile(r"\s*\[[^\]\[\"']{1,100}\]\s*(?:[#;].*)?")
_OPTION = re.compile(r"\s*(?:[a-z][\w-]*\s*=.*|[a-z_]{4,40}\s*(?:[#;].*)?|[#;].*|)")
"""A line of a job file below its heading: an option, a flag, a comment, or empty."""
_SHOWN = (*("rw", "bs", "iodepth", "numjobs", "ioengine", "direct"), *("time_based", "runtime", "ramp_time"))
"""What a preset says in any case."""


def find_given(log: Log) -> list[Given]:
    """The job files and command lines in a text, in its order; what can't be read as one is left out."""
    lines, at = log.lines, 0
    found: list[Given] = []
    while at < len(lines) and len(found) < GIVEN_MOST:
        if _HEADING.fullmatch(lines[at].text):
            end = _end_of_job_file(lines, at + 1)
            given = read_job_file("\n".join(line.text for line in lines[at:end]))
            found += [given] * any(section.options for section in given.sections)
            at = end
            continue
        match = _COMMAND.fullmatch(lines[at].text) if "fio" in lines[at].text else None
        if match:
            with contextlib.suppress(ValueError):  # text with an apostrophe
                given = read_command(whole_command(lines, at, match["words"]))
                found += [given] * bool(given.sections)
        at += 1
    return found


def _end_of_job_file(lines: Sequence[LogLine], at: int) -> int:
    while at < len(lines) and (_HEADING.fullmatch(lines[at].text) or _OPTION.fullmatch(lines[at].text)):
        at += 1
    return at


def adopt(section: Section) -> Adopted:
    """The options of a preset that does what fio would do with a section; raises OptionError where none can.

    fio's own defaults are written down where cephtui has others.
    """
    wanted: dict[str, str] = {}
    left_out: dict[str, str] = {}
    for option, value in section.options.items():
        reason = _reason_against(option, value)
        if reason is None:
            wanted[option_name(option)] = plain(option_name(option), value)
        else:
            left_out[option] = reason
    notes = _interpret(wanted, section.options)
    checked = check(wanted)
    kept = {name: checked[name] for name in FioOptions.model_fields if name in wanted or name in _SHOWN}
    if "ioengine" in left_out:  # the target's own
        del kept["ioengine"], kept["direct"]
    return Adopted(
        name=section.name,
        tool="fio",
        options=kept,
        left_out=tuple(left_out.items()),
        notes=tuple(notes),
        target=_target_of(section.options),
        waits=_is_on(section.options, "stonewall") or _is_on(section.options, "wait_for_previous"),
    )


def _is_on(options: Mapping[str, str], name: str) -> bool:
    return options.get(name, "0") != "0"


def _reason_against(option: str, value: str) -> str | None:
    """None for an option that is taken."""
    if option == "ioengine" and value == "rbd":
        return "not needed: images are measured with it (--target rbd:POOL/IMAGE)"
    if option == "ioengine" and value == "rados":
        raise OptionError(option, _RADOS)
    if option in ("bssplit", "bsrange", "blocksize_range"):
        raise OptionError(option, "a preset has one block size at a time: choose bs")
    if option_name(option) in ("size", "io_size") and "%" in value:
        return "not needed: without it all of the target is used"
    if option_name(option) in FioOptions.model_fields:
        return None
    return reason_against(option) or "cephtui does not set it"


def _interpret(wanted: dict[str, str], given: Mapping[str, str]) -> list[str]:
    """Add fio's defaults and what other options say in their own words; the notes."""
    if given.get("buffered") in ("0", "1"):
        wanted.setdefault("direct", "1" if given["buffered"] == "0" else "0")
    if given.get("rwmixwrite", "").isdecimal():
        wanted.setdefault("rwmixread", str(100 - int(given["rwmixwrite"])))
    defaults = {"rw": "read", "ioengine": "psync", "direct": "0", "time_based": "0", "runtime": "0", "ramp_time": "0"}
    notes = []
    if given.get("ioengine") == "rbd":
        defaults = {**defaults, "ioengine": "libaio", "direct": "1"}
        notes += ["direct: images are measured without librbd's cache"] * (wanted.get("direct") != "1")
        wanted["direct"] = "1"
    for name, value in defaults.items():
        wanted.setdefault(name, value)
    if wanted.get("numjobs", "1") != "1":
        wanted.setdefault("group_reporting", "0")
        notes.append("numjobs: each job has a region of its own, where fio's would all work on the same")
    if wanted["time_based"] == "0" and wanted["runtime"] != "0":
        notes.append("time_based is not given: a run ends with its data, and after runtime at the latest")
    return notes


def _target_of(given: Mapping[str, str]) -> str:
    """An engine for images has an image, whatever file is named besides."""
    if given.get("ioengine") != "rbd":
        given = {name: value for name, value in given.items() if name not in ("pool", "rbdname")}
    found = target_of(given)
    if "directory" in given and "filename" in given and not given["filename"].startswith("/"):
        return f"file:{given['directory'].rstrip('/')}/{given['filename']}"
    return found if found != f"file:{given.get('directory')}" else ""


def together(sections: Sequence[Adopted], name: str) -> list[Adopted]:
    """One preset for sections that run at the same time, as so many jobs; raises OptionError where they differ."""
    varied = [option for option in differing(sections) if option != "numjobs"]
    if varied:
        names = ", ".join(section.name for section in sections[:4])
        how = f"{names} differ in {', '.join(varied)}: a preset has one kind of jobs at a time"
        raise OptionError("--together", f"{how}: take --in-order, or give fio one job with rw=randrw")
    jobs = sum(int(str(section.options.get("numjobs", 1))) for section in sections)
    return [joined(sections, name, {**sections[0].options, "numjobs": jobs})]
