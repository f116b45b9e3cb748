"""The entry point of the command line. Ctrl-C is quiet from here on: loading the rest takes a second.

What comes before is Python's own start and the import of this file, some 20 ms: an interrupt then is told as
Python does.
"""

from __future__ import annotations

import os

INTERRUPTED = 130
"""The exit code, as a shell has it for SIGINT."""

try:
    import io
    import signal
    import sys
except KeyboardInterrupt:
    os._exit(INTERRUPTED)


def main() -> None:
    """Load and run the command line. Where SIGINT is ignored it stays so."""
    ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if ours:
        signal.signal(signal.SIGINT, _end)
    _buffer_stdout()
    import threading

    from barnabas.cli.app import main as run

    def repeat(lost: sys.UnraisableHookArgs) -> None:
        """Send an interrupt again that Python has lost in a callback, such as importlib's of a weakref."""
        if issubclass(lost.exc_type, KeyboardInterrupt):
            threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGINT)).start()
        else:
            sys.__unraisablehook__(lost)

    sys.unraisablehook = repeat
    if ours:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except RuntimeError as problem:
        # until 3.12 Python makes that of what comes while a class is made, as by modules that load
        if not isinstance(problem.__cause__, KeyboardInterrupt):
            raise
        sys.exit(INTERRUPTED)
    finally:
        # what is left is to end; a command that has come to its own ignores it
        if ours and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, _end)


def _buffer_stdout() -> None:
    """With PYTHONUNBUFFERED, what a short write leaves is lost in silence: on a full disk, say."""
    out = sys.stdout
    if isinstance(out, io.TextIOWrapper) and isinstance(out.buffer, io.RawIOBase):
        encoding, errors = out.encoding, out.errors
        whole = io.BufferedWriter(out.detach())
        sys.stdout = io.TextIOWrapper(whole, encoding, errors, line_buffering=True)


def _end(number: int, frame: object) -> None:
    os._exit(INTERRUPTED)
