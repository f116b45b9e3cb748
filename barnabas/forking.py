"""Forks a process from one with a loop: it begins as if it had none."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
import sys
from collections.abc import Callable, Collection


def fork(main: Callable[[], None], keep: Collection[int], name: str) -> int:
    """Run `main` in another process, which ends behind it; returns its process id.

    keep: descriptors that it has beside 0, 1 and 2. name: for the line that says what it raised. It does not
    hear the signals of a terminal: who forked it does, and says when it is over.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    if pid := os.fork():
        return pid
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        names = os.listdir("/dev/fd")  # noqa: PTH208 - as numbers
        for descriptor in {*map(int, names)} - {0, 1, 2, *keep}:
            with contextlib.suppress(OSError):  # that of the list itself
                os.close(descriptor)
        gc.freeze()  # garbage of before may have descriptors whose numbers are others' here
        asyncio._set_running_loop(None)
        main()
        code = 0
    except BaseException as problem:  # noqa: BLE001 - whatever it is costs this process only
        print(f"{name}: {problem!r}", file=sys.stderr, flush=True)
    finally:
        os._exit(code)
