"""What every test shares."""

from __future__ import annotations

from hypothesis import settings

# derandomize: what a check says depends on the commit alone; deadline: a busy machine is no defect
settings.register_profile("cephtui", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("cephtui")
