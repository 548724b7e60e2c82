"""What every test shares."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
import textual.app
import textual.pilot
import textual.screen
from hypothesis import HealthCheck, settings

from tests.support import golden as golden_texts
from tests.support import settled

# derandomize: what a check says depends on the commit alone; deadline and too_slow: a busy machine is no defect
settings.register_profile(
    "cephtui", deadline=None, derandomize=True, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("thorough", settings.get_profile("cephtui"), max_examples=600)  # of make test-all
settings.load_profile("cephtui")

# pilot.press() and pilot.pause() return when all is done, however long that takes on a busy machine
setattr(textual.app, "wait_for_idle", settled.until_handled)  # noqa: B010
setattr(textual.pilot, "wait_for_idle", settled.until_settled)  # noqa: B010
setattr(textual.screen.Screen, "_compositor_refresh", settled.draw_later)  # noqa: B010

ROOT_FIXTURES = {"mounted", "device", "lab", "new_lab"}
WITH_PROCESSES = {"end_to_end", "on_browser", "on_lab", "on_terminal"}
"""Folders of tests that start processes."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """What the lab of the tests is made of, and what the tests write."""
    parser.addoption("--release", help="a release of Debian whose Ceph and fio the lab has")
    parser.addoption("--golden", action="store_true", help="write tests/golden.txt; only its tests are run")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests that mount, attach devices or want the lab are marked: ``-m "not root"`` leaves them out."""
    if config.getoption("golden"):
        items[:] = [item for item in items if "golden" in getattr(item, "fixturenames", ())]
    for item in items:
        if ROOT_FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker("root")


def pytest_collection_finish() -> None:
    """Collect garbage seldom: an app of Textual makes so many objects that each test spent a fifth of its time on it.

    What has been imported stays until the end, and no collection goes through it again.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000)


@pytest.fixture(scope="session")
def golden_file(request: pytest.FixtureRequest) -> Iterator[golden_texts.File]:
    """The wording of what users read."""
    texts = golden_texts.File(writes=request.config.getoption("golden"))
    yield texts
    if not request.session.testsfailed:
        texts.save()


@pytest.fixture
def golden(request: pytest.FixtureRequest, golden_file: golden_texts.File) -> golden_texts.Golden:
    """That of the texts of a test."""
    return golden_texts.of(request, golden_file)


@pytest.fixture(scope="module", autouse=True)
def leaks(request: pytest.FixtureRequest) -> Iterator[None]:
    """A process that is not waited for is found in the module that has leaked it, not at the end of all."""
    yield
    if request.path.parent.name in WITH_PROCESSES:
        gc.collect()
