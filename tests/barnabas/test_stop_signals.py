"""Signals that ask to end, in a process of its own: what is ignored is inherited."""

from __future__ import annotations

import subprocess
import sys

import pytest

CODE = (
    "from barnabas.stop_signals import stop_signals; print(*(one.name for one in stop_signals()))"
)


@pytest.mark.parametrize(
    ("outer", "heard"), [((), "SIGINT SIGTERM SIGHUP\n"), (("nohup",), "SIGINT SIGTERM\n")]
)
def test_a_hang_up_is_one_unless_it_is_to_be_outlived(outer: tuple[str, ...], heard: str) -> None:
    line = [*outer, sys.executable, "-c", CODE]
    assert subprocess.run(line, capture_output=True, text=True, check=True).stdout == heard


INTERRUPTED = """
import signal
from barnabas.stop_signals import interruptible

before = signal.getsignal(signal.SIGTERM)
try:
    with interruptible():
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            signal.raise_signal(signal.SIGTERM)
            signal.raise_signal(signal.SIGINT)
            print("ended")
except KeyboardInterrupt:
    print("interrupted", signal.getsignal(signal.SIGTERM) is before)
"""

EVENT = """
import signal, threading
from barnabas.stop_signals import stop_event

before = signal.getsignal(signal.SIGTERM)
with stop_event() as heard:
    signal.raise_signal(signal.SIGTERM)
    print("goes on", heard.is_set())
print(signal.getsignal(signal.SIGTERM) is before)


def elsewhere():
    with stop_event() as heard:
        print(heard.is_set(), signal.getsignal(signal.SIGTERM) is before)


one = threading.Thread(target=elsewhere)
one.start()
one.join()
"""

DELAYED = """
import signal
from barnabas.stop_signals import interruptible, delay_stop

before = signal.getsignal(signal.SIGTERM)
try:
    with interruptible():
        with delay_stop():
            signal.raise_signal(signal.SIGTERM)
            signal.raise_signal(signal.SIGINT)
            print("goes on")
        print("never")
except KeyboardInterrupt:
    print("interrupted", signal.getsignal(signal.SIGTERM) is before)
with delay_stop():
    pass
print("nothing")
"""


@pytest.mark.parametrize(
    ("program", "said"),
    [
        (INTERRUPTED, "ended\ninterrupted True\n"),
        (EVENT, "goes on True\nTrue\nFalse True\n"),
        (DELAYED, "goes on\ninterrupted True\nnothing\n"),
    ],
    ids=["the first interrupts, later ones do not disturb", "an event", "delayed until the end"],
)
def test_signals(program: str, said: str) -> None:
    line = [sys.executable, "-c", program]
    assert subprocess.run(line, capture_output=True, text=True, check=True).stdout == said
