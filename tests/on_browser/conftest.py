"""A Chromium, and servers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack

import pytest
import pytest_asyncio

from tests.on_browser.serving import Serving, serving
from tests.support import two_copies
from tests.support.chromium import Browser, chromium

Serve = Callable[..., Serving]


@pytest.fixture(scope="module")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    """Starts a server with these words, and the recorded session among the user's own."""
    with ExitStack() as stack:

        def start(*words: str) -> Serving:
            folder = tmp_path_factory.mktemp("serving")
            if "watch" in words:
                two_copies.unpack(folder / "sessions")
            return stack.enter_context(serving(folder, words))

        yield start


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    """One for all tests of a module; its tabs that are ``apart`` share nothing."""
    async with chromium("MAP *.example 127.0.0.1") as browser:
        yield browser
