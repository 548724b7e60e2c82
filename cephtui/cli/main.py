"""The entry point: streams, signals, errors, and the exit code."""

from __future__ import annotations

import gc
import logging
import os
import signal
import sys
from typing import NoReturn

import click

from cephtui.cli.errors import ReaderGone
from cephtui.cli.log import start_log
from cephtui.cli.verbs import cli
from cephtui.exit_codes import EXIT_FAILED, EXIT_INCOMPLETE
from cephtui.terminal import (
    ENDING,
    Ending,
    Interrupted,
    blocking,
    prepare_streams,
    say,
    signal_handlers,
    silence,
    until_seen,
)

_GRACE_SECONDS = 15.0
_NEW_OBJECTS = 50_000
"""As many are made between two collections. With Python's 700, collections are a fifth of a short command."""
log = logging.getLogger("cephtui.cli.main")


def main() -> None:
    """The entry point: errors are one line, the traceback goes to the log file."""
    gc.set_threshold(_NEW_OBJECTS)
    prepare_streams()
    ending = Ending(_interrupt, _leave, lambda seconds: seconds > _GRACE_SECONDS and _leave())
    try:
        with signal_handlers(ending.handlers()), ending.persistent():
            _main(ending)
    finally:
        gc.freeze()  # Python's last collection is of nothing then


def _interrupt() -> NoReturn:
    raise Interrupted


def _leave() -> NoReturn:
    """Exit at once, without waiting for other threads."""
    os._exit(EXIT_INCOMPLETE)


def _main(ending: Ending) -> None:
    try:
        code = cli.main(prog_name="cephtui", standalone_mode=False)
        with until_seen():
            sys.stdout.flush()
    except click.ClickException as error:
        log.info("exit code %d: %s", error.exit_code, error.format_message())
        say(error.format_message())
        sys.exit(error.exit_code)
    except (click.Abort, Interrupted) as error:
        _report_interruption(*error.args)
    except (BrokenPipeError, ReaderGone):
        silence(sys.stdout)
        sys.exit(EXIT_INCOMPLETE)
    except Exception as error:
        if ending.is_requested:  # pydantic makes an error of its own of what is raised while it builds a model
            _report_interruption()
        silence(sys.stdout)
        from cephtui.paths import log_file

        start_log()
        log.exception("unexpected error")
        say(f"unexpected error: {error!r}; the traceback is in {log_file()}")
        sys.exit(EXIT_FAILED)
    sys.exit(code or 0)


def _report_interruption(*left: str) -> NoReturn:
    silence(sys.stdout)
    with signal_handlers(dict.fromkeys(ENDING, signal.SIG_IGN)), blocking(sys.stderr, False):
        for text in ("interrupted", *left):
            say(text)
    _leave()
