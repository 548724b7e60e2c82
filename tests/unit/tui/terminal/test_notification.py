"""The end of a long run: what the terminal is sent, once, and which terminals are spared."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest

from cephtui import config
from cephtui.models import Run
from cephtui.tui.terminal import notification
from cephtui.tui.terminal.apply import PlainDriver
from cephtui.tui.widgets.live_view import LiveView
from tests.support.replayed import console, console_screen, finished, saved
from tests.support.runs import MIXED, WRITE_IOPS, recorded

BELL = "\a"


def test_the_end_of_a_run_in_a_line() -> None:
    assert notification.text_of(recorded(), "iops").startswith("cephtui: write-iops ok, ")
    assert notification.text_of(recorded(), "iops").endswith("k IOPS")
    assert notification.text_of(recorded(), "bandwidth").endswith("MiB/s")
    assert notification.text_of(recorded(of=MIXED), "latency").endswith(
        "ok, read latency 903 us, write latency 1.09 ms"
    )
    nothing = recorded(summary=type(recorded().summary)(), outcome="failed", preset="x\x1b]ö")
    assert notification.text_of(nothing, "iops") == "cephtui: x?]? failed"


def test_the_sequences() -> None:
    assert notification.sequences("a;b") == (BELL, "\x1b]9;a;b\a", "\x1b]777;notify;cephtui;a,b\a")


@pytest.mark.parametrize("sequence", notification.sequences("cephtui: write-iops ok, 16.7k IOPS"))
def test_a_plain_terminal_is_sent_the_bell_alone(sequence: str) -> None:
    class Driver(PlainDriver):
        def __init__(self) -> None:
            self.sent = StringIO()
            self._writer_thread = self.sent  # type: ignore[assignment]

    driver = Driver()
    driver.write(sequence)
    assert driver.sent.getvalue() == (BELL if sequence == BELL else "")


async def test_a_long_run_of_the_console_is_announced_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with console(tmp_path, run=WRITE_IOPS, speed=60.0, size=(80, 24)) as (app, pilot):
        sent: list[str] = []
        monkeypatch.setattr(app._driver, "write", sent.append)
        await pilot.press("2", "enter")
        await finished(app, pilot)
        assert BELL not in "".join(sent), "a short one"
        view = console_screen(app).query_one(LiveView)

        async def ends(run: Run) -> list[str]:
            sent.clear()
            view.post_message(LiveView.Ended(run, []))
            await pilot.pause()
            return [text for text in sent if BELL in text]

        (run,) = saved(tmp_path)
        long = run.model_copy(update={"duration_seconds": 61.0})
        text = notification.text_of(long, "iops")
        assert await ends(long) == [*notification.sequences(text)]
        switch = next(command for command in app.get_system_commands(app.screen) if "notifications" in command.title)
        assert switch.title == "turn off notifications"
        switch.callback()
        assert await ends(long) == []


def test_it_can_be_turned_off_in_the_config(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("notify = false\n")
    assert config.load_config(tmp_path / "none", required=False).notify
    assert not config.load_config(file, required=True).notify
