"""Stop when stdin ends: so a process does not outlive the one that started it, however that ends.

The pipe to it is closed by the system even if that was killed. prctl(PR_SET_PDEATHSIG) goes by the
thread that started it, and is Linux's alone.
"""

from __future__ import annotations

import os
import signal
import threading


def stop_at_eof() -> None:
    """From now on the end of stdin is a SIGTERM to this process. What stands in stdin is not used."""
    threading.Thread(target=_wait, name="until eof", daemon=True).start()


def _wait() -> None:
    try:
        while os.read(0, 4096):
            pass
    except OSError:  # there is no stdin: it has ended
        pass
    os.kill(os.getpid(), signal.SIGTERM)
