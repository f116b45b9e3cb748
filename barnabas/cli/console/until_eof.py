"""Stop when stdin ends: so a process does not outlive the one that started it, however that ends.

The pipe to it is closed by the system even if that was killed. prctl(PR_SET_PDEATHSIG) goes by the
thread that started it, and is Linux's alone.
"""

from __future__ import annotations

import os
import signal
import threading
from typing import Final

from barnabas.trouble import COULD_NOT_RUN

_UNHEARD: Final = (
    b"barnabas: stdin has ended, which stops this program: keep stdin open, or omit --until-eof\n"
)


def stop_at_eof() -> None:
    """From now on the end of stdin is a SIGTERM to this process. What stands in stdin is not used.

    While nothing runs yet that would end in good order by a SIGTERM, the process reports why it ends.
    """
    threading.Thread(target=_wait, name="until eof", daemon=True).start()


def _wait() -> None:
    try:
        while os.read(0, 4096):
            pass
    except OSError:  # there is no stdin: it has ended
        pass
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        os.write(2, _UNHEARD)
        os._exit(COULD_NOT_RUN)
    os.kill(os.getpid(), signal.SIGTERM)
