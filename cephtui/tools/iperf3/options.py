"""iperf3: which options a preset may set.

They keep iperf3's own long names (man iperf3), but for ``runtime``, which is its ``time``, and ``direction``: ``in`` is
its ``reverse``, ``both`` its ``bidir``. ``network`` decides which address of the target is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from cephtui.models import OptionValue
from cephtui.tools.base import OptionError
from cephtui.tools.options import NUMBER, Size, explain, seconds
from cephtui.units import parse_size

ABOUT = {
    "direction": "out: this node sends; in: the target sends; both: at once",
    "parallel": "TCP streams at once",
    "runtime": "how long it measures",
    "network": "of the target: the one of clients, or the one of OSDs for themselves",
    "omit": "seconds at the start that do not count",
    "window": "socket buffer, by default the kernel decides",
    "length": "bytes of one write to a socket",
}
"""What a user changes most, in this order."""
TITLES = {"direction": "direction", "parallel": "streams", "runtime": "runtime", "network": "network"}
Direction = Literal["out", "in", "both"]


class Iperf3Options(BaseModel):
    """The typed allow-list."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    runtime: Annotated[
        int,
        BeforeValidator(seconds),
        Field(ge=1, le=86400, description="whole seconds from 1, or a time such as 5m; at most a day"),
        NUMBER,
    ] = 10
    """iperf3 itself takes no more than a day, and no fractions."""
    direction: Direction = "out"
    parallel: Annotated[int, Field(ge=1, le=128), NUMBER] = 1
    """128 is iperf3's own limit (``MAX_STREAMS``)."""
    network: Literal["public", "cluster"] = "public"
    omit: Annotated[int, BeforeValidator(seconds), Field(ge=0, le=60, description="0 to 60 seconds"), NUMBER] = 1
    window: Size | None = None
    length: Size | None = None
    zerocopy: bool | None = None
    no_delay: Annotated[bool | None, Field(alias="no-delay")] = None


_REFUSED = (
    (r"time|bytes|blockcount", "use runtime for the length of the run"),
    (r"reverse|bidir", "use direction: in is reverse, both is bidir"),
    (r"client|server|bind|bind-dev|port|cport|daemon|one-off|server-.*|version4|version6", "the target decides it"),
    (r"ramp_time", "use omit"),
    (r"udp.*|sctp|xbind|nstreams|bitrate|fq-rate|pacing-timer", "cephtui measures what TCP carries, as Ceph uses it"),
    (r"json.*|format|interval|verbose|forceflush|timestamps.*|logfile|title|get-server-output|debug|quiet",
     "cephtui decides what iperf3 prints and how"),
    (r"file|username|rsa-.*|authorized-.*|use-pkcs1-padding|pidfile", "cephtui has no use for it"),
)  # fmt: skip


def check(options: Mapping[str, object]) -> dict[str, OptionValue]:
    """One value per option, normalised; raises OptionError."""
    try:
        checked = Iperf3Options.model_validate(dict(options))
    except ValidationError as error:
        raise explain(error, Iperf3Options, refused=_REFUSED, verbs="") from None
    for option, most in (("window", "512M"), ("length", "1M")):
        size = getattr(checked, option)
        if size is not None and parse_size(size) > parse_size(most):
            raise OptionError(option, f"expected at most {most}, got {size}")
    return checked.model_dump(exclude_none=True, by_alias=True)
