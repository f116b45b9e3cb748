"""The signals that ask a program to end."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from types import FrameType
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")


def stop_signals() -> tuple[signal.Signals, ...]:
    """Return the signals that end the program.

    SIGHUP, which a closed terminal sends, is one of them unless it is ignored (nohup).
    """
    hang_up = () if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else (signal.SIGHUP,)
    return (signal.SIGINT, signal.SIGTERM, *hang_up)


@contextlib.contextmanager
def stop_event() -> Iterator[threading.Event]:
    """Yield an event that these signals set within `with`; they interrupt nothing.

    Signals reach only the main thread: in other threads the event stays unset.
    """
    heard = threading.Event()
    with _handled(lambda *_: heard.set()):
        yield heard


@contextlib.contextmanager
def delay_stop() -> Iterator[None]:
    """Delay these signals until the end of `with`.

    An import that is interrupted may keep its module's lock, for which other threads would wait forever. In
    other threads than the main one, nothing changes.
    """
    heard: list[int] = []
    try:
        with _handled(lambda number, _: heard.append(number)):
            yield
    finally:
        for first in heard[:1]:
            signal.raise_signal(first)


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt at the first of these signals within `with`; ignore later ones.

    So the clean-up after the first signal is not interrupted.
    """

    def interrupt(*_: object) -> None:
        for number in handled:
            signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    with _handled(interrupt) as handled:
        yield


@contextlib.contextmanager
def _handled(handler: Callable[[int, FrameType | None], object]) -> Iterator[Iterable[int]]:
    """Install a handler for these signals within `with`, and yield the signals.

    Only the main thread may install handlers; in others there are no signals.
    """
    main = threading.current_thread() is threading.main_thread()
    before = {number: signal.getsignal(number) for number in stop_signals() if main}
    for number in before:
        signal.signal(number, handler)
    try:
        yield before
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


def ignore_signals(loop: asyncio.AbstractEventLoop, numbers: Iterable[signal.Signals]) -> None:
    """Ignore signals that a loop has handled.

    They are blocked meanwhile: when a loop removes a handler, Python's own handler, which interrupts, is
    active for a moment.
    """
    numbers = list(numbers)
    signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    for number in numbers:
        loop.remove_signal_handler(number)
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, numbers)


def cancellable(items: Iterable[T], go_on: Callable[[], None] | None) -> Iterator[T]:
    """Yield items, calling `go_on` before each; its exception ends the iteration."""
    for item in items:
        if go_on is not None:
            go_on()
        yield item
