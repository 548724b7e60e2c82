"""Every run of ioping in a saved log, as it prints for people or as raw statistics; the forms are in ``output``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from cephtui import stats
from cephtui.models import OptionValue
from cephtui.stats import Flow
from cephtui.tools.base import Reading
from cephtui.tools.commands import CommandLine, begun_by, command_lines, parsed_options, span_of
from cephtui.tools.ioping.options import IopingOptions
from cephtui.tools.ioping.output import IopingParser, is_raw, read_statistics
from cephtui.tools.logs import FoundRun, Log, LogLine, is_variable, without_output
from cephtui.tools.options import size_or_zero
from cephtui.tools.signs import Sign
from cephtui.units import short_size

_LETTERS = (
    "c=count i=interval s=size S=work-size w=work-time o=work-offset p=print-count P=print-interval q=quiet "
    "D=direct C=cached L=linear R=rapid W=write G=read-write A=async y=data-sync Y=sync a=warmup "
    "l=speed-limit r=rate-limit t=min-time T=max-time J=json k=keep B=batch b=burst z=random H=hipri N=nowait "
    "I=time e=lock"
)
_SHORT = dict(pair.split("=") for pair in _LETTERS.split())
_FLAGS = frozenset(
    (
        *("quiet", "direct", "cached", "linear", "rapid", "write", "read-write", "async", "data-sync", "sync"),
        *("json", "keep", "batch", "hipri", "nowait", "WWW", "WW", "time"),
    )
)
_OF_OUTPUT = frozenset(("quiet", "print-count", "print-interval", "json", "batch", "time"))
_HEAD = re.compile(r"--- (\S+) \(.*\) ioping statistics ---")
_REQUEST = re.compile(r"([\d.]+) ([KMG]i)?B (?:<<<|>>>) (\S+) \(.*\): request=(\d+) time=.*")
_TOTALS = ("requests completed", "generated ", "min/avg/max")
_SECONDS = {"": 1.0, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "hour": 3600.0}
SIGNS: Sequence[Sign] = (
    Sign("output", r".*\bioping statistics ---", "ioping before 1.0"),
    Sign("output", r"min/avg/max/mdev = .* / |\d+ requests completed in |\d\S* \S+ \S+ /\S+ .*\btime="),
)
FILES = (("ioping without its command", r"(?m)^\d+(?: \d+){9}$"),)


def find_runs(log: Log) -> list[FoundRun]:
    """The runs in the order of the log; raises nothing. Without its command the size of raw requests is not known."""
    blocks = [*(_printed(log.lines) if "ioping statistics" in log.text else ()), *_raw(log.lines)]
    if not blocks:
        return []
    blocks.sort(key=lambda lines: lines[0].number)
    begun = begun_by(command_lines(log, "ioping"), blocks, span_of, _fits)
    return [run for lines, command in zip(blocks, begun, strict=True) if (run := _run(lines, command))]


def _printed(lines: Sequence[LogLine]) -> Iterator[list[LogLine]]:
    """The lines of each run that ends with its statistics."""
    block: list[LogLine] = []
    for line in lines:
        text = line.text.strip()
        request = _REQUEST.match(text) if "request=" in text else None
        if request and request[4] == "1":
            block = [line]
        elif request or _HEAD.fullmatch(text) or any(word in text for word in _TOTALS):
            block.append(line)
        if block and text.startswith("min/avg/max"):
            yield block
            block = []


def _raw(lines: Sequence[LogLine]) -> Iterator[list[LogLine]]:
    block: list[LogLine] = []
    for line in lines:
        if line.text[-1:].isdigit() and is_raw(line.text.strip()):
            block.append(line)
        elif block:
            yield block
            block = []
    if block:
        yield block


def _typed_options(command: CommandLine | None) -> tuple[dict[str, str], str]:
    """The options of a command, and its path."""
    if command is None:
        return {}, ""
    options, plain = parsed_options(command.words, _SHORT, _FLAGS)
    return options, next(iter(plain), "")


def _fits(command: CommandLine, lines: Sequence[LogLine]) -> bool:
    """Whether a command names the path of this output, where that has one."""
    head = next((match for line in lines if (match := _HEAD.fullmatch(line.text.strip()))), None)
    path = _typed_options(command)[1]
    return head is None or is_variable(path) or path.rstrip("/") in (head[1].rstrip("/"), ".")


def _run(lines: Sequence[LogLine], command: CommandLine | None) -> FoundRun | None:
    """The run of some lines; None where there are no figures."""
    texts = [line.text.strip() for line in lines]
    (typed_options, path), printed = _typed_options(command), not is_raw(texts[0])
    size = _size(texts) or size_or_zero(typed_options.get("size", "4k" if command else ""))
    readings, flows = ([], read_statistics(texts)) if printed else _measured(texts, size)
    if not flows:
        return None
    options, other = _options(typed_options, size, has_command=command is not None)
    head = next((match[1] for text in texts if (match := _HEAD.fullmatch(text))), path)
    return FoundRun(
        line=lines[0].number,
        last_line=lines[-1].number,
        name=f"ioping-{next(iter(flows))}",
        options=options,
        other_options=other,
        has_all_options=command is not None,
        command=command.text if command else "",
        request=without_output(command.text) if command else "",
        target=f"{'device' if head.startswith('/dev/') else 'file'}:{head}" if head else "",
        node=command.node if command else "",
        duration_seconds=max(flow.runtime_seconds for flow in flows.values()),
        summary=stats.summarise([flows]),
        readings=tuple(readings),
    )


def _measured(texts: Sequence[str], size: int) -> tuple[list[Reading], Mapping[str, Flow]]:
    """Each request by itself; nothing where it is not known how large they were."""
    if not size:
        return [], {}
    parser = IopingParser(size)
    readings = parser.feed("stdout", "".join(f"{text}\n" for text in texts).encode(), 0.0)
    return [*readings, *parser.finish()], parser.result().flows


def _size(texts: Sequence[str]) -> int:
    """Bytes of one request, as it is printed; 0 where it is not."""
    request = next((request for text in texts if (request := _REQUEST.match(text))), None)
    return size_or_zero(f"{request[1]}{(request[2] or '')[:1]}") if request else 0


def _options(
    typed_options: Mapping[str, str], size: int, *, has_command: bool
) -> tuple[dict[str, OptionValue], dict[str, str]]:
    """The options that a preset can have, and the others."""
    values: dict[str, object] = {"size": short_size(size)} if size else {}
    if has_command:
        values["interval"] = _duration(typed_options.get("interval", "1"))
        if work_size := size_or_zero(typed_options.get("work-size", "")):
            values["work-size"] = short_size(work_size)
        values |= {"linear": True} if "linear" in typed_options else {}
        values |= {"runtime": _duration(typed_options["work-time"])} if "work-time" in typed_options else {}
    options, refused = IopingOptions.check_each(values)
    other = {name: typed_options.get(name, str(value)) for name, value in refused.items()}
    known_names = {*_OF_OUTPUT, "interval", "size", "work-size", "linear", "work-time"}
    return options, {**other, **{name: value for name, value in typed_options.items() if name not in known_names}}


def _duration(text: str) -> float | str:
    """Seconds of ``200ms``; as it was given where it is none."""
    digits = text.strip().rstrip("abcdefghijklmnopqrstuvwxyz ")
    try:
        return float(digits) * _SECONDS[text.strip()[len(digits) :].strip()]
    except (LookupError, ValueError):
        return text
