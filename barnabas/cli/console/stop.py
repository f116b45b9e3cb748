"""When a command that runs on stops: at a signal and, with `--until-eof`, at the end of stdin.

With `--until-eof` a process does not outlive the process that started it: the system closes the pipe to its
stdin even if that process was killed. prctl(PR_SET_PDEATHSIG) follows the thread that started it, and only
Linux has it.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from typing import Final

from barnabas.stop_signals import stop_signals
from barnabas.trouble import COULD_NOT_RUN

_UNHEARD: Final = (
    b"barnabas: stdin has ended, which stops this program: keep stdin open, or omit --until-eof\n"
)


def until_signal() -> asyncio.Event:
    """Return an event that is set when a signal asks the running loop's program to end."""
    stop = asyncio.Event()
    for number in stop_signals():
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop


def stop_at_eof() -> None:
    """Send this process a SIGTERM when its stdin ends; ignore what stdin contains.

    If no handler for SIGTERM is installed by then, print the reason and exit.
    """
    threading.Thread(target=_wait, name="until eof", daemon=True).start()


def _wait() -> None:
    try:
        while os.read(0, 4096):
            pass
    except OSError:  # a closed stdin counts as ended
        pass
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        os.write(2, _UNHEARD)
        os._exit(COULD_NOT_RUN)
    os.kill(os.getpid(), signal.SIGTERM)
