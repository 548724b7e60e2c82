"""iperf3: which options a preset may set.

They keep iperf3's own long names (man iperf3), but for ``runtime``, which is its ``time``, and ``direction``: ``in`` is
its ``reverse``, ``both`` its ``bidir``. ``network`` decides which address of the target is used.
"""

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from cephtui.tools.base import OptionError
from cephtui.tools.options import NUMBER, DayRuntime, Size, ToolOptions, seconds, worded
from cephtui.units import parse_size


class Iperf3Options(ToolOptions):
    """The typed allow-list."""

    direction: Literal["out", "in", "both"] = Field(
        "out", title="direction", description="out: this node sends; in: the target sends; both: at once"
    )
    parallel: Annotated[int, Field(ge=1, le=128), NUMBER] = Field(1, title="streams", description="TCP streams at once")
    """128 is iperf3's own limit (``MAX_STREAMS``)."""
    runtime: DayRuntime = Field(10, title="runtime", description="how long to measure")
    """iperf3 itself takes no more than a day, and no fractions."""
    network: Literal["public", "cluster"] = Field(
        "public",
        title="network",
        description="network of the target: that of the clients, or that between OSDs",
    )
    omit: Annotated[int, BeforeValidator(seconds), Field(ge=0, le=60), worded("0 to 60 seconds"), NUMBER] = Field(
        1, description="seconds at the start that are not measured"
    )
    window: Size | None = Field(None, description="socket buffer; default: set by the kernel")
    length: Size | None = Field(None, description="bytes of one write to a socket")
    zerocopy: bool | None = None
    no_delay: bool | None = Field(None, alias="no-delay")

    refused = (
        (r"time|bytes|blockcount", "use runtime for the length of the run"),
        (r"reverse|bidir", "use direction: in is reverse, both is bidir"),
        (r"client|server|bind|bind-dev|port|cport|daemon|one-off|server-.*|version4|version6", "the target decides it"),
        (r"ramp_time", "use omit"),
        (
            r"udp.*|sctp|xbind|nstreams|bitrate|fq-rate|pacing-timer",
            "cephtui measures TCP, as Ceph uses it",
        ),
        (
            r"json.*|format|interval|verbose|forceflush|timestamps.*|logfile|title|get-server-output|debug|quiet",
            "cephtui sets the output of iperf3",
        ),
        (r"file|username|rsa-.*|authorized-.*|use-pkcs1-padding|pidfile", "cephtui has no use for it"),
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        for option, size, most in (("window", self.window, "512M"), ("length", self.length, "1M")):
            if size and parse_size(size) > parse_size(most):
                raise OptionError(option, f"expected at most {most}, got {size}")
        return self
