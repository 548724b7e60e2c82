"""The presets and the suites that there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cephtui import paths
from cephtui.presets import Catalogue, find_presets

if TYPE_CHECKING:
    from cephtui.suites import Suites


def find_catalogue() -> Catalogue:
    """All presets, packaged and the user's."""
    return find_presets(paths.packaged_presets_dir(), paths.user_presets_dir())


def find_all_suites(catalogue: Catalogue) -> Suites:
    """All suites, packaged and the user's, of these presets."""
    from cephtui.suites import find_suites

    return find_suites(paths.packaged_suites_dir(), paths.user_suites_dir(), catalogue)
