"""The signals that ask a program to end."""

from __future__ import annotations

import signal


def endings() -> tuple[signal.Signals, ...]:
    """Those that it hears: SIGHUP, too, when its terminal is closed, unless it is to outlive that (nohup)."""
    hang_up = () if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else (signal.SIGHUP,)
    return (signal.SIGINT, signal.SIGTERM, *hang_up)
