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


def endings() -> tuple[signal.Signals, ...]:
    """Those that it hears: SIGHUP, too, when its terminal is closed, unless it is to outlive that (nohup)."""
    hang_up = () if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else (signal.SIGHUP,)
    return (signal.SIGINT, signal.SIGTERM, *hang_up)


@contextlib.contextmanager
def noted() -> Iterator[threading.Event]:
    """Within it each of these signals sets the event, and disturbs nothing. Only the main thread hears them:
    in another one it stays unset."""
    heard = threading.Event()
    with _handled(lambda *_: heard.set()):
        yield heard


@contextlib.contextmanager
def put_off() -> Iterator[None]:
    """Within it each of these signals waits for its end: what is interrupted while it loads a module may keep
    that module's lock, for which another thread would wait for ever. In other threads it changes nothing."""
    heard: list[int] = []
    try:
        with _handled(lambda number, _: heard.append(number)):
            yield
    finally:
        for first in heard[:1]:
            signal.raise_signal(first)


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Within it, the first of these signals raises KeyboardInterrupt. What ends then is not to be disturbed:
    later ones are ignored."""

    def interrupt(*_: object) -> None:
        for number in handled:
            signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    with _handled(interrupt) as handled:
        yield


@contextlib.contextmanager
def _handled(handler: Callable[[int, FrameType | None], object]) -> Iterator[Iterable[int]]:
    """Within it these signals are handled so, which it gives, and then as before. Only in the main thread:
    others hear none, and may not say so."""
    main = threading.current_thread() is threading.main_thread()
    before = {number: signal.getsignal(number) for number in endings() if main}
    for number in before:
        signal.signal(number, handler)
    try:
        yield before
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


def ignore(loop: asyncio.AbstractEventLoop, numbers: Iterable[signal.Signals]) -> None:
    """Ignore signals that a loop has handled.

    They are blocked meanwhile: a handler that a loop gives up is Python's own for a moment, which interrupts.
    """
    numbers = list(numbers)
    signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    for number in numbers:
        loop.remove_signal_handler(number)
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, numbers)


def asking(items: Iterable[T], go_on: Callable[[], None] | None) -> Iterator[T]:
    """Items, as they come. go_on: called before each: what it raises ends them."""
    for one in items:
        if go_on is not None:
            go_on()
        yield one
