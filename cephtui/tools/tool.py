"""What is known of a benchmark program before its options are chosen; a subclass of ``Tool`` declares it."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

from cephtui.models.metrics import METRICS, Metric
from cephtui.tools.base import OptionField, V, option_text

if TYPE_CHECKING:
    from cephtui.models import Kind, OptionValue
    from cephtui.tools import base
    from cephtui.tools.options import ToolOptions


class Tool:
    """One program's knowledge: what is known of it before its options are chosen. A subclass declares it."""

    Options: ClassVar[type[ToolOptions]]
    """The options that a preset may set."""
    Workload: ClassVar[type[base.Workload]]
    """The workload of these options."""
    name: ClassVar[str]
    """In presets, plans and sessions."""
    title: ClassVar[str]
    """The name for display: ``rados bench``."""
    program: ClassVar[str]
    """The command that has to be there."""
    package: ClassVar[str]
    """Debian's package that has it; empty where Debian does not have it."""
    version_argv: ClassVar[tuple[str, ...]]
    """Prints its version on stdout, on one line."""
    minimum_version: ClassVar[tuple[int, int] | None] = None
    """The oldest that can be used; None is any."""
    ships_with_ceph: ClassVar[bool] = False
    """Whether it comes with Ceph, and so runs behind a node's ``ceph_prefix``."""
    kinds: ClassVar[frozenset[Kind]]
    """The targets it can use."""
    other_kinds: ClassVar[str]
    """Why it can't use another, with the next step on a command line."""
    accepted_targets: ClassVar[str] = "another target"
    """The targets it can use, in words."""
    metrics: ClassVar[tuple[Metric, ...]] = METRICS
    """The figures it has; the others are null in all its samples and summaries."""
    measures_network: ClassVar[bool] = False
    """Whether it measures the network between two nodes: one runs it, the other is its target."""
    pauses: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Why the tool itself may do nothing for a while, by the flow for which that is so."""
    has_seconds: ClassVar[bool] = True
    """Whether its samples are of one load and without a gap, so that they show how the seconds of a run are spread."""
    depth_option: ClassVar[str] = ""
    """The option that says how many I/Os a job has in flight; empty where it has none."""
    size_option: ClassVar[str] = ""
    """The option that says how much of its target each job uses; empty where it has none."""
    ramp_option: ClassVar[str] = ""
    """The option that says how many seconds are left out at the beginning; empty where it has none."""
    jobs_option: ClassVar[str] = ""
    """The option that says how many jobs a node runs; empty where it has none."""
    direction_option: ClassVar[str] = ""
    """The option that decides between reading and writing, where each table of figures shows that anyway."""
    load_options: ClassVar[frozenset[str]] = frozenset()
    """The options that say what is asked of the target: without one of them it is not known what a log's run did."""
    described: ClassVar[frozenset[str]] = frozenset()
    """The options that are in what its workload describes."""
    latency: ClassVar[str] = "latency"
    """The tool's own word for its latencies, where it has several kinds."""
    latency_about: ClassVar[str] = "from the start of a request to its end"
    """The latencies in words: from when to when."""
    why_fitted: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Why a kind of target may need another value than was asked for, by option."""
    secrets: ClassVar[tuple[str, ...]] = ()
    """Names of what only the user knows, such as ``secret key``.

    A process gets them by its stdin, a line each in this order, and nowhere else: no argv, environment, plan or
    session holds one.
    """

    def canonical(self, options: Mapping[str, V]) -> dict[str, V]:
        """Every option under the one name that is used here; raises OptionError for one that is given twice."""
        return self.Options.canonical(options)

    def check_options(self, options: Mapping[str, object]) -> dict[str, OptionValue]:
        """One value per option, normalised; raises OptionError for what is unknown, refused or out of range."""
        return self.Options.check(options)

    def fields(self) -> tuple[OptionField, ...]:
        """Every option that may be set, for a form."""
        return self.Options.form_fields()

    def unusual(self, options: Mapping[str, OptionValue], edited: Collection[str] = ()) -> dict[str, OptionValue]:
        """The options to be named beside a workload's description: the ``edited``, and those without their default."""
        usual = self._defaults
        return {
            name: value
            for name, value in options.items()
            if name not in self.described and (name in edited or option_text(value) != usual.get(name))
        }

    def default_text(self, option: str, options: Mapping[str, OptionValue]) -> str | None:
        """The text of an option that is not among all that were given, as it is shown; None where it is not known."""
        return "default"

    @cached_property
    def _defaults(self) -> Mapping[str, str]:
        """The default of each option; an empty text where it is left to the tool."""
        return {field.name: field.default for field in self.fields()}

    def bind(self, options: dict[str, OptionValue]) -> base.Workload:
        """The workload of these options, which have been checked before."""
        return self.Workload(options)

    @property
    def how_to_install(self) -> str:
        """How to get the tool on a node, in words: a command, where there is one."""
        return f"apt-get install {self.package}"

    def check_version(self, text: str | None, programs: Mapping[str, str] = MappingProxyType({})) -> str | None:
        """Why the installed version can't be used, or None; ``text`` is what ``version_argv`` has printed.

        ``programs`` are the paths that the user has named for programs on the node.
        """
        if not text or not text.strip():
            path = programs.get(self.version_argv[0])
            if path:
                return f"{path} in [programs] is not on the node, or can't be run"
            return f"{self.program} is not installed: {self.how_to_install}"
        if self.minimum_version is None:
            return None
        match = re.search(r"(\d+)\.(\d+)", text)
        if match and (int(match[1]), int(match[2])) >= self.minimum_version:
            return None
        version = ".".join(map(str, self.minimum_version))
        return f"{text.strip()} is too old: install {self.program} {version} or later ({self.how_to_install})"

    def check_kind(self, kind: Kind) -> str | None:
        """Why it can't use this kind of target, or None."""
        return None if kind in self.kinds else self.other_kinds

    def check_path(self, path: str) -> str | None:
        """Why it can't use a file or device of this path, or None."""
        return None

    def short_command(self, command: str) -> str:
        """A command line for display, without the arguments that are always the same."""
        return command
