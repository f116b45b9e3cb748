"""Stacks of C code upon a fatal signal; beside `lines.py`, in a venv that has nothing of this project.

faulthandler prints the frames of Python alone. Each frame is a line `file(+0xoffset)[0xaddress]`, as glibc's
backtrace_symbols_fd writes it; whoever has the library's file can name the function.
"""

from __future__ import annotations

import ctypes
import signal

FATAL = (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGABRT)
TITLE = b"Native stack:\n"
_MOST = 64
_ACTION = 1024
"""Bytes that are enough for a `struct sigaction` of any system."""

_kept: list[object] = []
"""What C code refers to."""


def enable() -> None:
    """Print the native stack upon a fatal signal, then do what was to be done before; only with glibc."""
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "backtrace_symbols_fd"):
        return
    frames = (ctypes.c_void_p * _MOST)()
    libc.backtrace(frames, 1)  # loads the library that unwinds
    before = {number: ctypes.create_string_buffer(_ACTION) for number in FATAL}

    def show(number: int) -> None:
        libc.sigaction(number, before[signal.Signals(number)], None)
        count = libc.backtrace(frames, _MOST)
        libc.write(2, TITLE, len(TITLE))
        libc.backtrace_symbols_fd(frames, count, 2)
        if number == signal.SIGABRT:  # abort() calls no second handler; others fault again
            libc.kill(libc.getpid(), number)

    handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(show)
    libc.signal.argtypes = ctypes.c_int, ctypes.c_void_p
    for number in FATAL:
        libc.sigaction(number, None, before[number])
        libc.signal(number, ctypes.cast(handler, ctypes.c_void_p))
    _kept.append(handler)
