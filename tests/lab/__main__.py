"""The lab from the command line: python -m tests.lab up."""

from __future__ import annotations

import argparse
import signal
import sys
import time
from pathlib import Path

from tests.lab import checks, lifetime, loops, releases
from tests.lab.cluster import OSD_BYTES
from tests.lab.machines import HOSTS
from tests.lab.processes import LabError, Process
from tests.lab.state import State

_DEFAULT = Path(__file__).resolve().parents[2] / ".lab"


def main() -> None:
    """Does what the words say; every refusal is a line and exit status 1."""
    arguments = _parser().parse_args()
    # Ended by a signal, what was begun is still taken down.
    for sig in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(sig, lambda *_: sys.exit(1))
    try:
        sys.exit(arguments.do(arguments))
    except LabError as error:
        sys.exit(f"lab: {error}")
    except KeyboardInterrupt:
        sys.exit(130)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.lab", description=__doc__)
    actions = parser.add_subparsers(required=True, metavar="ACTION")

    def action(name: str, do: object, help: str, directory: bool = True) -> argparse.ArgumentParser:
        added = actions.add_parser(name, help=help, description=help)
        added.set_defaults(do=do)
        if directory:
            added.add_argument("directory", type=Path, nargs="?", default=_DEFAULT, help="default: .lab")
        return added

    check = action("check", _check, "say whether a lab may run on this machine", directory=False)
    up = action("up", _up, "bring a lab up")
    up.add_argument("--no-ceph", action="store_true", help="the hosts and their network alone")
    up.add_argument("--kernel", action="store_true", help="a fourth host with a kernel of its own, which has rbd")
    up.add_argument("--gateway", action="store_true", help="an object gateway too, for S3")
    up.add_argument(
        "--release",
        choices=releases.RELEASES,
        default="",
        help="a release of Debian whose programs hosts and cluster have; default: those of this machine",
    )
    up.add_argument("--osd-gib", type=float, default=OSD_BYTES / 2**30, help="size of each of the three OSDs")
    up.add_argument("--owner", type=int, metavar="PID", help="end the lab when this process has ended")
    for looks_around in (check, up):
        looks_around.add_argument("--system", type=Path, default=Path("/"), help="the root directory to look in")
    action("down", _down, "end a lab and remove everything of it")
    action("status", _status, "say whether a lab is up")
    keep = actions.add_parser("keep")
    keep.set_defaults(do=_keep)
    keep.add_argument("directory", type=Path)
    keep.add_argument("owner", type=int)
    keep.add_argument("start")
    return parser


def _check(arguments: argparse.Namespace) -> str | None:
    reason = checks.refusal(arguments.system)
    return f"lab: {reason}" if reason else None


def _up(arguments: argparse.Namespace) -> None:
    directory = arguments.directory.resolve()
    began = time.monotonic()
    started = lifetime.up(
        directory,
        ceph=not arguments.no_ceph,
        with_kernel=arguments.kernel,
        with_gateway=arguments.gateway,
        owner=arguments.owner,
        osd_bytes=int(arguments.osd_gib * 2**30),
        release=arguments.release,
        system=arguments.system,
    )
    print(f"lab: up after {time.monotonic() - began:.0f} s" if started else "lab: is up already", f"in {directory}")
    if state := State.load(directory):
        print(f"lab: {releases.versions(Path(state.root or '/'))}")
    if reason := loops.forbidden(directory):
        print(f"lab: {reason}; tests that need one will fail")
    print(_usage(directory))


def _usage(directory: Path) -> str:
    shown = directory.relative_to(Path.cwd()) if directory.is_relative_to(Path.cwd()) else directory
    return f"""
    cephtui --config {shown}/config.toml run write-iops --node lab --target rbd:bench
    ssh -F {shown}/ssh_config {HOSTS[0]}        # {", ".join(HOSTS)}
    ssh -F {shown}/ssh_config {HOSTS[0]} ceph --conf {directory}/ceph.conf status

make lab-down ends it.""".lstrip("\n")


def _down(arguments: argparse.Namespace) -> None:
    directory = arguments.directory.resolve()
    ended = lifetime.down(directory)
    print(f"lab: ended, {directory} is removed" if ended else f"lab: none is up in {directory}")


def _status(arguments: argparse.Namespace) -> int:
    directory = arguments.directory.resolve()
    state = State.load(directory)
    if state and state.runs():
        print(f"lab: up in {directory}")
        return 0
    print(f"lab: half up in {directory}" if state else f"lab: none is up in {directory}")
    return 1


def _keep(arguments: argparse.Namespace) -> None:
    lifetime.keep(arguments.directory, Process(arguments.owner, arguments.start))


if __name__ == "__main__":
    main()
