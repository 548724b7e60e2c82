"""Every answer of ``ceph tell osd.N bench`` in a saved log; its forms are in ``output``. Each is a run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from cephtui import stats
from cephtui.ceph import answers
from cephtui.frozen import dataclass
from cephtui.models import OptionValue
from cephtui.tools.base import OptionError
from cephtui.tools.commands import CommandLine, begun_by, carried_on, command_lines
from cephtui.tools.documents import json_documents
from cephtui.tools.logs import FoundRun, Log, is_variable
from cephtui.tools.osd_bench.options import OsdBenchOptions
from cephtui.tools.osd_bench.output import OsdBenchParser, read_text
from cephtui.tools.signs import Sign
from cephtui.units import short_size

_START = re.compile(r"\{(?=\s*\"bytes_written\"\s*:)")
_OSD = re.compile(r"\bosd\.(\d{1,6})\b")
_OF_SEVERAL = re.compile(r"osd\.\d{1,6}:")
_COUNTS = ("count", "size", "object_size", "object_num")
"""The words behind ``bench``, in this order."""
_DEFAULTS = {"count": "1073741824", "size": "4194304"}
_NUMBERED = re.compile(r"osd\.(\d{1,6}|\*|\$\S+)")
SIGNS: Sequence[Sign] = (Sign("output", r'(?:osd\.\d+: *)?\{?\s*"bytes_written"|bench: wrote \d'),)
COMMAND = ("ceph", r"\stell\s.*\sbench")


@dataclass(frozen=True, slots=True)
class _Answer:
    portion: Mapping[str, object]
    """The portion as ceph prints it."""
    osd: int | None
    line: int
    last_line: int
    is_of_several: bool
    """Whether the OSD stands before it as in the answers of ``osd.*``."""


def find_runs(log: Log) -> list[FoundRun]:
    """The runs in the order of the log; raises nothing."""
    all_answers = sorted([*_documents(log), *_texts(log)], key=lambda answer: answer.line)
    if not all_answers:
        return []
    commands = [command for command in command_lines(log, "ceph") if _osd_of(command) is not None]
    begun = begun_by(commands, all_answers, lambda answer: (answer.line, answer.last_line), _fits)
    whole = carried_on(begun, all_answers, _is_next)
    return [run for answer, command in zip(all_answers, whole, strict=True) if (run := _run(answer, command))]


def _documents(log: Log) -> Iterator[_Answer]:
    for document in json_documents(log, _START, '"bytes_written"'):
        if isinstance(document.content, dict):
            yield _answer(document.content, document.before, document.line, document.last_line)


def _texts(log: Log) -> Iterator[_Answer]:
    if "bench: wrote" not in log.text:
        return
    for line in log.lines:
        at = line.text.find("bench: wrote ") if "bench: wrote" in line.text else -1
        if at >= 0 and (portion := read_text(line.text[at:].strip())):
            yield _answer(portion, line.text[:at].strip(), line.number, line.number)


def _answer(portion: Mapping[str, object], before: str, line: int, last_line: int) -> _Answer:
    osd = _OSD.search(before)
    is_of_several = bool(_OF_SEVERAL.fullmatch(before))
    return _Answer(portion, int(osd[1]) if osd else None, line, last_line, is_of_several)


def _osd_of(command: CommandLine) -> str | None:
    """The OSD of a command, ``*`` for all, or the variable of a shell; None for another command."""
    words = command.words
    if "tell" in words[:-2]:
        at = words.index("tell")
        match = _NUMBERED.fullmatch(words[at + 1])
        return match[1] if match and words[at + 2 : at + 3] == ("bench",) else None
    return None


def _fits(command: CommandLine, answer: _Answer) -> bool:
    """Whether a command can have this answer."""
    osd, counts = _osd_of(command), {**_DEFAULTS, **_typed_options(command)}
    if answer.osd is not None and osd not in ("*", str(answer.osd)) and not is_variable(str(osd)):
        return False
    portion = {"count": answer.portion.get("bytes_written"), "size": answer.portion.get("blocksize")}
    return all(
        value == str(portion[name]) for name, value in counts.items() if name in portion and value.isdecimal()
    )  # what a shell would have put in is not known


def _typed_options(command: CommandLine) -> dict[str, str]:
    words = command.words[command.words.index("tell") + 3 :]
    values = [word for word in words if word[:1].isdigit() or word.startswith("$")]
    return dict(zip(_COUNTS, values, strict=False))


def _is_next(command: CommandLine, _before: _Answer, answer: _Answer) -> bool:
    """``osd.*`` has an answer of each OSD."""
    return _osd_of(command) == "*" and answer.is_of_several


def _run(answer: _Answer, command: CommandLine | None) -> FoundRun | None:
    """The run of an answer; None for one without figures."""
    osd_text = _osd_of(command) if command else None
    osd = int(osd_text) if answer.osd is None and osd_text and osd_text.isdecimal() else answer.osd
    portion = _portion(answer.portion)
    parser = OsdBenchParser(together=False)
    parser.feed("stdout", f"{json.dumps({**portion, 'osd': osd or 0})}\n".encode(), 0.0)
    flows = parser.result().flows
    if "write" not in flows:
        return None
    flow = flows["write"]
    options, other = _options(portion, command)
    if osd is None and osd_text:
        other["osd"] = osd_text
    return FoundRun(
        line=answer.line,
        last_line=answer.last_line,
        name="osd-write",
        options=options,
        other_options=other,
        has_all_options=command is not None,
        command=command.text if command else "",
        request=f"osd.{osd}: {command.text}" if command else "",
        target="" if osd is None else f"osd:{osd}",
        node=command.node if command else "",
        duration_seconds=flow.runtime_seconds,
        summary=stats.summarise([flows]),
    )


def _portion(answer: Mapping[str, object]) -> dict[str, object]:
    """The portion with its time, which older versions of Ceph leave out."""
    if "elapsed_sec" in answer:
        return dict(answer)
    try:
        seconds = answers.number(answer["bytes_written"]) / answers.number(answer["bytes_per_sec"])
    except (LookupError, TypeError, ValueError, ArithmeticError):
        return dict(answer)
    return {**answer, "elapsed_sec": seconds}


def _options(
    portion: Mapping[str, object], command: CommandLine | None
) -> tuple[dict[str, OptionValue], dict[str, str]]:
    """The options that a preset can have, and the others: how much an OSD was to write is cephtui's to decide."""
    block, nbytes = int(str(portion["blocksize"])), int(str(portion["bytes_written"]))
    typed_options = _typed_options(command) if command else {}
    other = {name: value for name, value in typed_options.items() if name in ("object_size", "object_num")}
    other["count"] = short_size(nbytes)
    try:
        return {"block-size": OsdBenchOptions.check({"block-size": short_size(block)})["block-size"]}, other
    except OptionError:
        return {}, {**other, "size": short_size(block)}
