"""Ends `barnabas analyze` soon after a signal, whatever it does then."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from typing import Final

from barnabas.cli.console.output import Output
from barnabas.pipeline.spark.working_folder import abandon
from barnabas.stop_signals import interruptible, stop_signals
from barnabas.trouble import INTERRUPTED

PATIENCE: Final = 0.7
"""Seconds that the process has for its own end."""


@contextmanager
def prompt_stop(message: str, output: Output, folders: Sequence[Path] = ()) -> Iterator[None]:
    """Raise KeyboardInterrupt at the first signal, as `interruptible` does, and end the process soon after.

    The main thread must call it.
    A thread ends the process if this takes longer than PATIENCE: a library may be in a long call, or wait for
    its threads. This is like a kill: the next run completes the tables or leaves them unchanged.

    Args:
        message: The note that is printed at a signal.
        output: The output of the command.
        folders: Temporary folders to remove at a signal.
    """
    heard, waker = socket.socketpair()
    waker.setblocking(False)
    numbers = {*stop_signals()}

    printed = threading.Event()

    def watch() -> None:
        with heard:
            while not numbers.intersection(received := heard.recv(1)):
                if not received:
                    return  # the command has ended
        time.sleep(PATIENCE)
        abandon()
        for folder in folders:
            rmtree(folder, ignore_errors=True)
        if not printed.is_set():
            shown = (
                "\x1b[?25h\n" if output.err.is_terminal else ""
            )  # a progress bar hides the cursor
            os.write(sys.stderr.fileno(), f"{shown}{message}\n".encode())
        os._exit(INTERRUPTED)

    threading.Thread(target=watch, name="prompt stop", daemon=True).start()
    before = signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
    try:
        with interruptible():
            yield
    except KeyboardInterrupt:
        output.note(message)
        printed.set()
        raise
    finally:
        signal.set_wakeup_fd(before)
        waker.close()
