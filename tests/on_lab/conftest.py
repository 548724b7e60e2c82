"""One lab for all tests of this folder."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from tests.lab import Lab, LabError
from tests.lab.cluster import OSDS
from tests.on_lab.others import Others, pool_on
from tests.on_lab.runs import Bench, benches_on

LONGEST_FIRST = ("kernel", "new_pool", "pool_guards", "faults", "lost", "undo", "check", "guards")
"""The modules that take the most time: those that come last would be waited for."""
SLOW_OSDS = {
    "osd_debug_inject_dispatch_delay_duration": "0.002",
    "osd_debug_inject_dispatch_delay_probability": "1",
}
"""As slow as on disks: a load without a rate, as that of rados bench, leaves the CPU to the other tests."""
NewLab = Callable[..., Lab]
NewBench = Callable[[], Bench]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the modules that take the most time; what is not essential is of the matrix."""
    for item in items:
        if Path(__file__).parent in item.path.parents and not item.get_closest_marker("essential"):
            item.add_marker("matrix")
    order = {f"test_{name}": place for place, name in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: order.get(item.path.stem, len(order)))


@contextmanager
def temporary_lab(*options: str) -> Iterator[Lab]:
    """A lab with these options of `python -m tests.lab up`, until the end of the block."""
    # Not pytest's own directories: the sockets of a lab need a short path, its OSDs a disk.
    directory = Path(tempfile.mkdtemp(prefix="lab-", dir="/var/tmp"))
    lab = Lab(directory)
    try:
        # Killed tests cannot take it down: then it goes by itself, for want of its owner.
        Lab.start(directory, "--owner", str(os.getpid()), *options)
        yield lab
    finally:
        lab.stop()
        with suppress(FileNotFoundError):
            directory.rmdir()


@pytest.fixture(scope="session")
def made_of(pytestconfig: pytest.Config) -> Sequence[str]:
    """The options of a lab that say whose Ceph and fio it has."""
    release = pytestconfig.getoption("release")
    return ["--release", release] if release else []


@pytest.fixture(scope="session")
def lab(made_of: Sequence[str]) -> Iterator[Lab]:
    """The lab. Where this machine forbids one, the tests that need it fail and say why."""
    with ExitStack() as stack:
        try:
            running = stack.enter_context(temporary_lab(*made_of))
        except LabError as error:
            pytest.fail(f"no lab to test with: {error}", pytrace=False)
        for name, value in SLOW_OSDS.items():
            running.ceph("config", "set", "osd", name, value)
        yield running
        assert_all_osds_run(running)


def assert_all_osds_run(lab: Lab) -> None:
    """One that has ended would be missed by tests that have to do with something else: it is said here, and why."""
    commands = lab.processes("ceph-osd", "ceph").values()
    for osd in OSDS:
        if not any(f"--id {osd}" in command for command in commands):
            log = (lab.directory / "log" / f"osd.{osd}.log").read_text(errors="replace")
            pytest.fail(f"osd.{osd} has ended; its log ends with: {log[-3000:]}", pytrace=False)


@pytest.fixture
def new_lab(made_of: Sequence[str]) -> Iterator[NewLab]:
    """Brings up a lab of this test's own, with options of `python -m tests.lab up`; it ends with the test."""
    with ExitStack() as stack:
        yield lambda *options: stack.enter_context(temporary_lab(*made_of, *options))


@pytest.fixture
def bench(lab: Lab, tmp_path: Path) -> Iterator[Bench]:
    """A cephtui of this test's own on the lab; whatever it leaves, here or there, fails the test."""
    with benches_on(lab) as make:
        yield make(tmp_path)


@pytest.fixture(scope="module")
def new_bench(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[NewBench]:
    """The same for tests that share what is started, several of them side by side."""
    with benches_on(lab) as make:
        yield lambda: make(tmp_path_factory.mktemp("bench"))


@pytest.fixture
def pool(bench: Bench) -> Iterator[str]:
    """A pool of this test's own."""
    with pool_on(bench.lab) as name:
        yield name


@pytest.fixture
def others(bench: Bench, pool: str) -> Others:
    """What somebody else has in it."""
    return Others(bench.lab, pool)
