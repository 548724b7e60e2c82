"""What a saved run of fio was asked to do: the options that a preset can have, and all others as they were given."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import groupby

from cephtui.frozen import dataclass
from cephtui.models import OptionValue
from cephtui.tools.base import V
from cephtui.tools.fio.given import canonical_options, option_value, stored_options, target_of, target_options
from cephtui.tools.logs import is_variable

_OTHER_ALIASES: Mapping[str, str] = {
    "allrandrepeat": "randrepeat",
    "blockalign": "ba",
    "blocksize_range": "bsrange",
    "blocksize_unaligned": "bs_unaligned",
    "disable_bw": "disable_bw_measurement",
    "fileoffset": "offset",
    "fill_fs": "fill_device",
    "mem": "iomem",
    "mem_align": "iomem_align",
    "nr_files": "nrfiles",
    "ratecycle": "rate_cycle",
    "ratemin": "rate_min",
    "ss": "steadystate",
    "ss_dur": "steadystate_duration",
    "ss_ramp": "steadystate_ramp_time",
    "wait_for_previous": "stonewall",
}
"""fio's other names of options that no preset can have (fio 3.41, options.c)."""
_OUTPUT = re.compile(
    r"output(-format)?|minimal|append-terse|terse-version|eta(-newline|-interval)?|aux-path"
    r"|write_(bw|lat|hist|iops)_log|name"
)
"""Where output goes and what it is called, which is no part of what is measured."""
_DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class SavedOptions:
    """The options of a run."""

    options: Mapping[str, OptionValue]
    other_options: Mapping[str, str]
    """That a preset can't have, by name or by value, as they were given."""
    is_all: bool
    """Whether fio's defaults hold for all that is in neither."""
    target: str
    """The target of all jobs; empty where they have several, or none is known."""


def saved_options(
    job_options: Sequence[Mapping[str, str]], printed: Mapping[str, str] | None = None, *, is_all: bool = True
) -> SavedOptions:
    """The options of jobs that ran at the same time; an empty mapping is of a job whose options are not known.

    What is ``printed`` holds for all jobs together, whatever was given.
    """
    are_known, printed_options = all(job_options), dict(printed or {})
    common = same_of(job_options)
    named = [_named(options_of_job, target_options(common)) for options_of_job in job_options] if are_known else []
    names = dict.fromkeys(name for options_of_job in named for name in options_of_job)
    values = {name: _of_all([options_of_job.get(name, _DEFAULT) for options_of_job in named]) for name in names}
    varied = {name for name in names if len({options_of_job.get(name) for options_of_job in named}) > 1}
    unsure = varied | {name for name, value in values.items() if is_variable(value)}
    whole = bool(named) and is_all
    sure = {name: value for name, value in values.items() if name not in unsure}
    options = {
        name: value
        for name, value in stored_options({**sure, **printed_options}, whole=whole).items()
        if name not in unsure or name in printed_options
    }
    other_options = {
        name: value for name, value in values.items() if name in unsure or option_value(name, value) is None
    }
    return SavedOptions(options, other_options, is_all=whole, target=target_of(common))


def same_of(mappings: Sequence[Mapping[str, V]]) -> dict[str, V]:
    """The options that all have with the same value."""
    return {name: value for name, value in mappings[0].items() if all(other.get(name) == value for other in mappings)}


def _named(options: Mapping[str, str], left_out: Collection[str]) -> dict[str, str]:
    """Each option under one name, without those of the target and of the output."""
    named = {
        name: value
        for name, value in canonical_options(options).items()
        if name not in left_out and not _OUTPUT.fullmatch(name)
    }
    return {_OTHER_ALIASES.get(name, name): value for name, value in named.items()}


def _of_all(values: Sequence[str]) -> str:
    """``read x 2, write``: what the jobs have, once where it is the same."""
    runs = [(value, len(list(group))) for value, group in groupby(values)]
    if len(runs) == 1:
        return runs[0][0]
    return ", ".join(f"{value} x {number}" if number > 1 else value for value, number in runs)
