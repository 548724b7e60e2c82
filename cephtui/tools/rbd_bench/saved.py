"""Every run in a saved log of ``rbd bench``; the format is in ``output``.

A run begins with the line ``bench  type ...`` and ends with its totals. Without these it was stopped, or the log was
cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from cephtui import stats
from cephtui.frozen import dataclass
from cephtui.models import Finding, OptionValue
from cephtui.models.findings.measurement import INCOMPLETE, NO_SECONDS
from cephtui.tools.base import Reading
from cephtui.tools.commands import CommandLine, begun_by, carried_on, command_lines, parsed_options
from cephtui.tools.logs import FoundRun, Log, LogLine, is_variable, without_output
from cephtui.tools.rbd_bench.options import RbdBenchOptions
from cephtui.tools.rbd_bench.output import RbdAnnounced, RbdBenchParser, is_last, read_announced, second_of, totalled
from cephtui.tools.signs import Sign
from cephtui.units import parse_size, short_size

_SHORT = {"p": "pool", "c": "conf", "n": "name", "k": "keyring", "m": "mon-host"}
_FLAGS = frozenset(("no-progress",))
_VERBS = ("bench", "bench-write")
_TYPES = {"write": "write", "read": "read", "readwrite": "rw"}
_PATTERNS = {"random": "rand", "rand": "rand", "sequential": "seq", "seq": "seq", "full sequential": "full-seq"}
_OF_TARGET = frozenset(("pool", "namespace", "image"))
_OF_CLIENT = frozenset(("id", "name", "cluster", "conf", "keyring", "mon-host", "user", "no-progress"))
"""Who asks, and what is printed: no part of what is measured."""
_DEFAULTS = {"io-size": "4096", "io-threads": "16", "io-total": "1G", "io-pattern": "seq", "rw-mix-read": "50"}
_NEAR_LINES = 3
"""Lines from the totals of a run to those of the next of the same command."""
_SAME = 0.01
"""The fraction by which operations may differ from those asked for, as every thread has whole ones."""
_FALSE, _TRUE = ("false", "0", "no", "off"), ("true", "1", "yes", "on")
SIGNS: Sequence[Sign] = (
    Sign("output", r"bench(?:-write|-read)? +(?:type|io_size) |SEC +OPS +OPS/SEC"),
    Sign("output", r"elapsed: +\d+ +ops: ", "rbd bench without its first line or its command"),
)
COMMAND = ("rbd", r"\sbench")


@dataclass(frozen=True, slots=True)
class _Block:
    """The lines of one run."""

    start: RbdAnnounced | None
    """None of totals alone: what was done, only the command says."""
    lines: Sequence[LogLine]

    @property
    def span(self) -> tuple[int, int]:
        """Its first and last line."""
        return self.lines[0].number, self.lines[-1].number


def find_runs(log: Log) -> list[FoundRun]:
    """The runs in the order of the log; raises nothing."""
    blocks = list(_blocks(log.lines)) if "io_threads" in log.text or "ops/sec" in log.text else []
    if not blocks:
        return []
    commands = [command for command in command_lines(log, "rbd") if any(word in _VERBS for word in command.words)]
    begun = begun_by(commands, blocks, lambda block: block.span, _fits)
    runs = map(_run, blocks, carried_on(begun, blocks, _is_again))
    return [run for run in runs if run]


def _is_again(command: CommandLine, before: _Block, block: _Block) -> bool:
    """Totals right below others are of the same command once more."""
    return not block.start and block.span[0] - before.span[1] <= _NEAR_LINES and _fits(command, block)


def _blocks(lines: Sequence[LogLine]) -> Iterator[_Block]:
    start: RbdAnnounced | None = None
    block_lines: list[LogLine] = []
    last, over = -1, False
    for line in lines:
        text = line.text.strip()
        begins, second = read_announced(text), second_of(text)
        if start and (begins or (second is not None and (over or second < last))):
            yield _Block(start, block_lines)
            start = None
        if begins:
            start, block_lines, last, over = begins, [line], -1, False
        elif totalled(text) and (start is None or over):
            if start:
                yield _Block(start, block_lines)
            start = None
            yield _Block(None, [line])
        elif start and (second is not None or is_last(text)):
            block_lines.append(line)
            last, over = last if second is None else second, over or second is None
    if start:
        yield _Block(start, block_lines)


def _typed_options(command: CommandLine) -> dict[str, str]:
    """The options that were given, with the target's."""
    options, plain = parsed_options(command.words, _SHORT, _FLAGS)
    options = {name.replace("_", "-"): value for name, value in options.items()}
    spec = next((word for word in plain if word not in _VERBS), "")
    return options if "image" in options or not spec else {**options, "image": spec}


def _all_options(command: CommandLine) -> dict[str, str]:
    """All options, those with their defaults that were not given."""
    verb_options = {"io-type": "write"} if "bench-write" in command.words else {}
    return {**_DEFAULTS, **_typed_options(command), **verb_options}


def _announced(command: CommandLine) -> str:
    """The line in which a run of a command would announce itself; raises ValueError for a size that is none."""
    options = _all_options(command)
    size, total = parse_size(options["io-size"]), parse_size(options["io-total"])
    patterns = {short: printed for printed, short in _PATTERNS.items() if printed != short}
    kind = options.get("io-type", "")
    reads = options["rw-mix-read"]
    mix = f" read:write={reads}:{100 - int(reads)}" if kind in ("readwrite", "rw") else ""
    name = "readwrite" if mix else kind
    pattern = patterns.get(options["io-pattern"], options["io-pattern"])
    return f"bench  type {name}{mix} io_size {size} io_threads {options['io-threads']} bytes {total} pattern {pattern}"


def _fits(command: CommandLine, block: _Block) -> bool:
    """Whether a command can have begun a run: all that both say is the same."""
    start, options = block.start, _all_options(command)
    if start is None:
        return _is_total_of(command, block.lines[0].text)
    stated = {**_stated(start), **({} if start.total_bytes is None else {"io-total": str(start.total_bytes)})}
    return all(_alike(options[name], str(value)) for name, value in stated.items() if name in options)


def _is_total_of(command: CommandLine, text: str) -> bool:
    """Whether so many operations are all that a command asks for."""
    try:
        start = read_announced(_announced(command))
    except ValueError:
        return False
    ops = totalled(text)
    return bool(start and start.total_bytes and ops and abs(ops * start.block_bytes / start.total_bytes - 1) <= _SAME)


def _alike(typed_value: str, printed: str) -> bool:
    if is_variable(typed_value) or typed_value == printed or (typed_value in ("readwrite", "rw") and printed == "rw"):
        return True
    try:
        return parse_size(typed_value) == parse_size(printed)
    except ValueError:
        return typed_value == printed or _PATTERNS.get(typed_value) == printed


def _stated(start: RbdAnnounced) -> dict[str, OptionValue]:
    """The options that a run announces."""
    options: dict[str, OptionValue] = {"io-type": _TYPES[start.type], "io-size": short_size(start.block_bytes)}
    options["io-threads"] = start.threads
    if start.pattern in _PATTERNS:
        options["io-pattern"] = _PATTERNS[start.pattern]
    if start.read_percent is not None:
        options["rw-mix-read"] = start.read_percent
    return options


def _run(block: _Block, command: CommandLine | None) -> FoundRun | None:
    """The run of a block; None where nothing was finished, or it is not known what."""
    head = "" if block.start or command is None else _announced(command)
    start = block.start or read_announced(head)
    if start is None:
        return None
    typed_options = _typed_options(command) if command else {}
    options, other = _options(start, typed_options, has_command=command is not None)
    parser = RbdBenchParser(None, cached=options.get("rbd-cache") is True)
    parser.feed("stdout", f"{head}\n".encode(), 0.0)
    readings = _feed(parser, block.lines)
    result = parser.result()
    if not result.flows:
        return None
    whole = any(is_last(line.text.strip()) for line in block.lines)
    return FoundRun(
        line=block.lines[0].number,
        last_line=block.lines[-1].number,
        name=f"rbd-{_TYPES[start.type]}",
        options=options,
        other_options=other,
        has_all_options=command is not None,
        command=command.text if command else "",
        request=without_output(command.text) if command else "",
        target=_target(typed_options),
        node=command.node if command else "",
        duration_seconds=max(flow.runtime_seconds for flow in result.flows.values()),
        stopped=not whole,
        summary=stats.summarise([result.flows]),
        findings=(*_findings(block, result.findings), *(() if whole else (INCOMPLETE.found(log=True),))),
        readings=tuple(readings) if block.start else (),
    )


def _findings(block: _Block, findings: Sequence[Finding]) -> list[Finding]:
    """The findings of a block: totals alone do not say that nothing was printed before them."""
    return [finding for finding in findings if block.start or finding.code != NO_SECONDS.code]


def _feed(parser: RbdBenchParser, lines: Sequence[LogLine]) -> list[Reading]:
    """A line of the table is printed with the first I/O of its second."""
    readings: list[Reading] = []
    elapsed = 0.0
    for line in lines:
        text = line.text.strip()
        elapsed = float(second_of(text) or elapsed)
        readings += parser.feed("stdout", f"{text}\n".encode(), elapsed)
    return [*readings, *parser.finish()]


def _options(
    start: RbdAnnounced, typed_options: Mapping[str, str], *, has_command: bool
) -> tuple[dict[str, OptionValue], dict[str, str]]:
    """The options that a preset can have, and the others."""
    stated = _stated(start)
    options, refused = RbdBenchOptions.check_each(stated, {"io-type": stated["io-type"]})
    other = {name: str(value) for name, value in refused.items()}
    if start.total_bytes is not None:
        other["io-total"] = short_size(start.total_bytes)
    cache = typed_options.get("rbd-cache", "true").lower()
    if has_command and cache in (*_FALSE, *_TRUE):
        options["rbd-cache"] = cache in _TRUE  # Ceph's default
    if is_variable(cache):
        other["rbd-cache"] = typed_options["rbd-cache"]
    known_names = {*_DEFAULTS, "io-type", "rbd-cache", *_OF_TARGET, *_OF_CLIENT}
    return options, {**other, **{name: value for name, value in typed_options.items() if name not in known_names}}


def _target(options: Mapping[str, str]) -> str:
    """The image that was tested; without a pool it is in ``rbd``, Ceph's default."""
    image = options.get("image", "")
    if not image:
        return ""
    if "/" in image:
        return f"rbd:{image}"
    return "rbd:" + "/".join(filter(None, (options.get("pool", "rbd"), options.get("namespace"), image)))
