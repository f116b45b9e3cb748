"""Forks a process from one with an event loop; the new process starts without a loop."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
import sys
from collections.abc import Callable, Collection


def fork(main: Callable[[], None], keep: Collection[int], name: str) -> int:
    """Run `main` in a new process, which ends when `main` returns; return its process id.

    The new process ignores the signals by which a terminal or a service manager stops all processes of a
    program: the process that forked it handles them and ends it.

    Args:
        main: The function to run.
        keep: The descriptors to keep open, in addition to 0, 1 and 2.
        name: The name of the process in the line that reports its exception.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    if pid := os.fork():
        return pid
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        names = os.listdir("/dev/fd")  # noqa: PTH208 - as numbers
        for descriptor in {*map(int, names)} - {0, 1, 2, *keep}:
            with contextlib.suppress(OSError):  # the descriptor of the listing is closed already
                os.close(descriptor)
        gc.freeze()  # the parent's garbage may have descriptors whose numbers are reused here
        asyncio._set_running_loop(None)
        main()
        code = 0
    except BaseException as problem:  # noqa: BLE001 - any error ends only this process
        print(f"{name}: {problem!r}", file=sys.stderr, flush=True)
    finally:
        os._exit(code)
