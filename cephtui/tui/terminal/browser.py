"""The driver of an application in a browser, behind textual-serve."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading

from textual.drivers.web_driver import WebDriver


class BrowserDriver(WebDriver):
    """The end of the page is a hang-up, as on a terminal, and signals are left to their handlers."""

    def start_application_mode(self) -> None:
        """Textual's own would take INT and TERM, and exit without asking the application."""
        before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        super().start_application_mode()
        for number, handler in before.items():
            asyncio.get_running_loop().remove_signal_handler(number)
            signal.signal(number, handler)

    def run_input_thread(self) -> None:
        """Ends with the input, which the server closes, or loses when it is killed."""
        super().run_input_thread()
        if not self.exit_event.is_set():
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGHUP)

    def write(self, data: str) -> None:
        """Send to a server that may have ended."""
        with contextlib.suppress(BrokenPipeError):
            super().write(data)

    def write_meta(self, data: dict[str, object]) -> None:
        """Send to a server that may have ended."""
        with contextlib.suppress(BrokenPipeError):
            super().write_meta(data)
