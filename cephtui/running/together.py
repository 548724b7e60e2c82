"""The nodes of a step whose processes prepare their own data: they begin to measure at the same moment."""

from __future__ import annotations

from collections.abc import Callable

from cephtui.nodes.transport import Process


class Together:
    """Holds back those that are prepared until all are, or have ended."""

    def __init__(self, begin: Callable[[], None]) -> None:
        """``begin`` is called when they go on."""
        self._begin = begin
        self._awaited: set[str] = set()
        self._prepared: dict[str, Process] = {}

    def expect(self, name: str) -> None:
        """The others wait for this one."""
        self._awaited.add(name)

    def prepared(self, name: str, process: Process) -> None:
        """This one waits; may be called again."""
        if name in self._awaited:
            self._prepared[name] = process
            self._no_longer_await(name)

    def ended(self, name: str) -> None:
        """The others need not wait for this one any more."""
        self._prepared.pop(name, None)
        self._no_longer_await(name)

    def _no_longer_await(self, name: str) -> None:
        self._awaited.discard(name)
        if self._prepared and not self._awaited:
            waiting, self._prepared = self._prepared, {}
            self._begin()
            for process in waiting.values():
                process.go_on()
