"""An event that stops long waits of a thread: a signal reaches the main thread only."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from contextvars import ContextVar

_stop: ContextVar[threading.Event | None] = ContextVar("_stop", default=None)


@contextlib.contextmanager
def ended_by(stop: threading.Event) -> Iterator[None]:
    """Make waits of this thread raise their error once an event is set: for programs, and for brokers."""
    before = _stop.set(stop)
    try:
        yield
    finally:
        _stop.reset(before)


def stopped() -> bool:
    """Return whether this thread's waits should end."""
    stop = _stop.get()
    return stop is not None and stop.is_set()
