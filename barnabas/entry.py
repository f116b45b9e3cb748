"""The entry point of the command line, which makes Ctrl-C quiet while slow modules load.

Before it only Python itself and this file load, which takes some 20 ms; an interrupt then prints Python's
traceback.
"""

from __future__ import annotations

import os

INTERRUPTED = 130
"""The exit code of a shell for a command that SIGINT ended."""

try:
    import io
    import signal
    import sys
except KeyboardInterrupt:
    os._exit(INTERRUPTED)


def main() -> None:
    """Load and run the command line. If SIGINT is ignored, it stays ignored."""
    ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if ours:
        signal.signal(signal.SIGINT, _end)
    _buffer_stdout()
    import gc
    import threading

    from barnabas.cli.app import main as run

    def repeat(lost: sys.UnraisableHookArgs) -> None:
        """Send an interrupt again that Python lost in a callback, such as a weakref's in importlib."""
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
        # before 3.12 Python wraps exceptions in a class body, also of modules that load
        if not isinstance(problem.__cause__, KeyboardInterrupt):
            raise
        sys.exit(INTERRUPTED)
    finally:
        gc.freeze()  # Python's last collection would visit every object, for seconds after a campaign
        # only the exit remains; a command that handles SIGINT ignores it by now
        if ours and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, _end)


def _buffer_stdout() -> None:
    """Buffer stdout with PYTHONUNBUFFERED: otherwise the rest of a short write is lost without an error.

    A full disk causes short writes, for example.
    """
    out = sys.stdout
    if isinstance(out, io.TextIOWrapper) and isinstance(out.buffer, io.RawIOBase):
        encoding, errors = out.encoding, out.errors
        whole = io.BufferedWriter(out.detach())
        sys.stdout = io.TextIOWrapper(whole, encoding, errors, line_buffering=True)


def _end(number: int, frame: object) -> None:
    os._exit(INTERRUPTED)
