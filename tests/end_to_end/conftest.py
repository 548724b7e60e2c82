"""Sandboxes for the real thing."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.end_to_end.desk import Desk
from tests.end_to_end.sandbox import Sandbox
from tests.support import disks

NewSandbox = Callable[[], Sandbox]
Mount = Callable[[str], Path]


@pytest.fixture(scope="session")
def disk() -> Iterator[Path]:
    """A folder on a disk: /tmp may be memory, where direct=1 means nothing or is refused."""
    if not shutil.which("fio"):
        pytest.fail("fio is not installed: apt-get install fio")
    with tempfile.TemporaryDirectory(prefix="cephtui-tests-", dir="/var/tmp") as folder:
        yield Path(folder)


@contextmanager
def _sandbox(disk: Path) -> Iterator[Sandbox]:
    sandbox = Sandbox(Path(tempfile.mkdtemp(dir=disk)), forks=True)
    try:
        yield sandbox
    finally:
        left = sandbox.kill_all()
    assert not left, f"still running at the end of the test: {left}"


@pytest.fixture
def sandbox(disk: Path) -> Iterator[Sandbox]:
    """A cephtui of this test's own; whatever it leaves running fails the test."""
    with _sandbox(disk) as sandbox:
        yield sandbox


@pytest.fixture
def desk(sandbox: Sandbox) -> Desk:
    """A sandbox in whose own folder changes are made."""
    return Desk(sandbox)


@pytest.fixture(scope="module")
def new_sandbox(disk: Path) -> Iterator[NewSandbox]:
    """The same for tests that share what is started, several of them side by side.

    A console still runs at the end where the test that ends it was not to run: it is killed, and nothing may be left.
    """
    with ExitStack() as stack:

        def new() -> Sandbox:
            sandbox = stack.enter_context(_sandbox(disk))
            stack.callback(sandbox.kill_consoles)
            return sandbox

        yield new


@pytest.fixture
def mounted() -> Iterator[Mount]:
    """Mounts a tmpfs with these options, until the end of the test."""
    with ExitStack() as stack:
        yield lambda options: stack.enter_context(disks.mounted(options))
