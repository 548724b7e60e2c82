"""Secrets of services, such as the keys of an S3 endpoint: kept in memory, for as long as the program runs."""

from __future__ import annotations

from collections.abc import Callable

Find = Callable[[str], tuple[str, ...] | None]
"""The secrets of a service by its name; raises VaultError."""


class VaultError(Exception):
    """Secrets can't be read; the text says where they are, and has none of them."""


def _nothing(service: str) -> None:
    return None


class Vault:
    """The secrets of each service, by its name: those that were typed, else those that are found."""

    def __init__(self, named: Find = _nothing, usual: Find = _nothing, services: tuple[str, ...] = ()) -> None:
        """``named`` finds what the user has for this very service, ``usual`` what programs take for any."""
        self._named, self._usual = named, usual
        self.services = services
        """Services for which the config file has secrets."""
        self._typed: dict[str, tuple[str, ...]] = {}

    def put(self, service: str, secrets: tuple[str, ...]) -> None:
        """Keep the secrets that the user has typed."""
        self._typed[service] = secrets

    def named(self, service: str) -> tuple[str, ...] | None:
        """The secrets that were typed, or are meant for this service; raises VaultError."""
        return self._typed.get(service) or self._named(service)

    def get(self, service: str) -> tuple[str, ...] | None:
        """The secrets that can be used for this service; raises VaultError."""
        return self.named(service) or self._usual(service)
