"""Every run of dd in a saved log, if its command is there: dd itself does not print whether it has read or written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from cephtui import stats
from cephtui.models import OptionValue
from cephtui.models.findings.data import PAGE_CACHE
from cephtui.tools.base import OptionError, Parser
from cephtui.tools.commands import CommandLine, begun_by, command_lines, span_of
from cephtui.tools.copied import CopyParser, has_copied
from cephtui.tools.dd.command import DdWorkload
from cephtui.tools.dd.options import DdOptions
from cephtui.tools.logs import FoundRun, Log, LogLine, without_output
from cephtui.tools.signs import Sign
from cephtui.units import parse_size, short_size

_RECORDS = re.compile(r"(\d{1,15})\+(\d{1,15}) [^\W\d][\w ]{2,40}")
_COPIED = re.compile(r"(\d{1,18}) [^\W\d]\w{0,20} (?:\([^)]{1,40}\) )?[^\W\d][\w ]{2,40}, ([\d.,e+-]{1,20}) s(?:, .*)?")
"""Both in the words of any language, with its decimal point."""
_ERROR = re.compile(r"dd: .+")
_SOURCES = ("/dev/zero", "/dev/urandom", "/dev/random")
_SYNCED = frozenset(("fsync", "fdatasync", "sync", "dsync"))
_TAKEN = frozenset(("if", "of", "bs", "count", "status"))
_BLOCK = "512"
"""Bytes, where ``bs`` is not given."""
_FACTORS = {"c": 1, "w": 2, "b": 512, "kB": 1000, "MB": 1000**2, "GB": 1000**3, "TB": 1000**4}
SIGNS: Sequence[Sign] = (
    Sign("begun", r"\d+\+\d+ records in"),
    Sign(
        "output",
        r"\d+ bytes.*\bcopied, |\d+ [A-Za-z]+ \([^)]{1,40}\) [^\s,]+, [\d.,]+ s, ",
        "dd without its command, or of a copy",
    ),
)


def find_runs(log: Log) -> list[FoundRun]:
    """The runs in the order of the log; raises nothing. A copy from one file to another is no run."""
    if "copied" not in log.text and "+0 " not in log.text:
        return []
    blocks = list(_blocks([line._replace(text=_in_english(line.text)) for line in log.lines]))
    begun = begun_by(command_lines(log, "dd"), blocks, span_of, _fits)
    return [run for lines, command in zip(blocks, begun, strict=True) if command and (run := _run(lines, command))]


def _in_english(text: str) -> str:
    """A line that says how much was copied as dd prints it in the locale C; another as it is."""
    copied = _COPIED.fullmatch(text.strip()) if ", " in text and text.lstrip()[:1].isdecimal() else None
    return f"{copied[1]} bytes copied, {copied[2].replace(',', '.')} s" if copied else text


def _blocks(lines: Sequence[LogLine]) -> Iterator[list[LogLine]]:
    """The lines of each copy: its progress, its records, and its total, which ends it."""
    block: list[LogLine] = []
    records = False
    for line in lines:
        text = line.text.strip()
        counted = _RECORDS.fullmatch(text)
        if counted or _ERROR.fullmatch(text) or has_copied(text):
            block.append(line)
            records = records or bool(counted)
            if records and not counted and has_copied(text):
                yield block
                block, records = [], False


def _typed_options(command: CommandLine) -> dict[str, str]:
    parts = (word.partition("=") for word in command.words if "=" in word)
    return {name: value for name, _, value in parts}


def _fits(command: CommandLine, lines: Sequence[LogLine]) -> bool:
    """Whether a command can have copied so many records: fewer than it was to only from a file, or with an error."""
    options, records = _typed_options(command), _records(lines)
    count = options.get("count", "")
    if records is None or not count.isdecimal() or "count_bytes" in options.get("iflag", ""):
        return True
    is_short = _mode(options) != "write" or any(_ERROR.fullmatch(line.text.strip()) for line in lines)
    return records == int(count) or (records < int(count) and is_short)


def _records(lines: Sequence[LogLine]) -> int | None:
    """The number of records that were read, those in part too; None where that is not printed."""
    counts = [match for line in lines if (match := _RECORDS.fullmatch(line.text.strip()))]
    return next((int(count[1]) + int(count[2]) for count in counts), None)


def _is_in_part(lines: Sequence[LogLine]) -> bool:
    """Whether a record was not whole, so that blocks do not tell how many I/Os there were."""
    return any(int(counted[2]) for line in lines if (counted := _RECORDS.fullmatch(line.text.strip())))


def _mode(options: Mapping[str, str]) -> str:
    """``write`` or ``read``; empty for a copy from one file to another."""
    source, sink = options.get("if", ""), options.get("of", "")
    if source in _SOURCES:
        return "write" if sink and sink != "/dev/null" else ""
    return "read" if source and sink == "/dev/null" else ""


def _run(lines: Sequence[LogLine], command: CommandLine) -> FoundRun | None:
    """The run of a copy; None where it is not known what it has done."""
    typed_options = _typed_options(command)
    mode, block = _mode(typed_options), _bytes(typed_options.get("bs") or typed_options.get("ibs") or _BLOCK)
    if not mode or not block:
        return None
    texts = [line.text.strip() for line in lines]
    output = "\n".join(text for text in texts if not _RECORDS.fullmatch(text)).encode()
    options, other = _options(typed_options, mode, block)
    parser = _parser(options, mode, 0 if _is_in_part(lines) else block)
    readings = [*parser.feed("stderr", output, 0.0), *parser.finish()]
    result = parser.result()
    if not result.flows and not result.error:
        return None
    nbytes = next((flow.bytes or 0 for flow in result.flows.values()), 0)
    flags = {flag for name in ("oflag", "iflag", "conv") for flag in typed_options.get(name, "").split(",")}
    cached = () if "direct" in flags or (mode == "write" and _SYNCED & flags) else (PAGE_CACHE.found(),)
    path = typed_options["of"] if mode == "write" else typed_options["if"]
    return FoundRun(
        line=lines[0].number,
        last_line=lines[-1].number,
        name=f"dd-{mode}",
        options={**options, **({"size": short_size(nbytes)} if nbytes else {})},
        other_options=other,
        has_all_options=True,
        command=command.text,
        request=without_output(command.text),
        target=f"{'device' if path.startswith('/dev/') else 'file'}:{path}",
        node=command.node,
        duration_seconds=max((flow.runtime_seconds for flow in result.flows.values()), default=0.0),
        error=result.error,
        summary=stats.summarise([result.flows]),
        findings=(*result.findings, *cached),
        readings=tuple(readings),
    )


def _parser(options: Mapping[str, OptionValue], mode: str, block: int) -> Parser:
    if block and "mode" in options and "bs" in options:
        return DdWorkload(dict(options)).parser(ramp=False, seconds=None)
    return CopyParser(writes=mode == "write", block_bytes=block)


def _options(typed_options: Mapping[str, str], mode: str, block: int) -> tuple[dict[str, OptionValue], dict[str, str]]:
    """The options that a preset can have, and the others."""
    flags = {name: typed_options[name].split(",") for name in ("iflag", "oflag") if name in typed_options}
    direct = any("direct" in values for values in flags.values())
    options: dict[str, OptionValue] = {"mode": mode, "bs": short_size(block), "direct": direct}
    if mode == "write":
        options["if"] = typed_options["if"]
    rest = {name: ",".join(flag for flag in values if flag != "direct") for name, values in flags.items()}
    other = {name: value for name, value in {**typed_options, **rest}.items() if name not in _TAKEN and value}
    try:
        checked = DdOptions.check(options)
    except OptionError as error:
        named = options.pop(error.option, None)
        options.pop("if", None)
        return options, {**other, error.option: str(named)}
    return {name: value for name, value in checked.items() if not (name == "if" and value == _SOURCES[0])}, other


def _bytes(text: str) -> int:
    """0 for what is no size of dd's."""
    digits = text.rstrip("BbcwkKMGTPi")
    unit = text[len(digits) :]
    try:
        return int(digits) * _FACTORS[unit] if unit in _FACTORS else parse_size(text)
    except ValueError:
        return 0
