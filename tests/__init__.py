"""The tests of cephtui, and where what they read stands."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "cephtui"
RECORDINGS = ROOT / "tests" / "recordings"
