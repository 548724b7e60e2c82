"""A thread with an event loop of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class LoopThread:
    """Runs one coroutine to its end, and beside it the calls of other threads."""

    def __init__(self, name: str, main: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._main, self._ready = main, threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), name=name)

    @property
    def is_alive(self) -> bool:
        """Whether it was started and has not ended."""
        return self._thread.is_alive()

    def start(self) -> None:
        """Start it; once this returns, it can be called."""
        self._thread.start()
        self._ready.wait()

    def call(self, coroutine: Coroutine[Any, Any, T], /) -> Future[T]:
        """Run a coroutine there."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop)

    def call_soon(self, function: Callable[[], object]) -> None:
        """Call a function there; it must not wait."""
        self.loop.call_soon_threadsafe(function)

    def join(self) -> None:
        """Wait for its end."""
        self._thread.join()

    async def _run(self) -> None:
        self.loop = asyncio.get_running_loop()
        self._ready.set()
        await self._main()
