"""Programs that are started can be interrupted, however we were started ourselves."""

from __future__ import annotations

import signal


def children_hear_interrupts() -> None:
    """Where a shell has us ignore SIGINT, as it does in its background, or nohup SIGHUP, ignore it by a
    handler: children inherit what is ignored, but no handler."""
    for number in (signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)
