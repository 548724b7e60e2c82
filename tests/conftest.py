"""What every test shares."""

from __future__ import annotations

import gc

import pytest
from hypothesis import HealthCheck, settings

# derandomize: what a check says depends on the commit alone; deadline and too_slow: a busy machine is no defect
settings.register_profile(
    "cephtui", deadline=None, derandomize=True, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("cephtui")

ROOT_FIXTURES = {"mounted", "device", "lab", "new_lab"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that mount, attach devices or want the lab are marked: ``-m "not root"`` leaves them out."""
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
