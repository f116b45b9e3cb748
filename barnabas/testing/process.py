"""A command of barnabas in a process of its own, which ends with this process, however this one ends."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

START: Final = 60.0
"""Seconds until a process must be ready."""

START_CLUSTER: Final = 300.0
"""Seconds until a cluster must be ready, which may have to be downloaded or built first."""

STOP: Final = 15.0
"""Seconds in which a process must stop."""

LOOK: Final = 0.01
"""Seconds between two reads of a process' output."""

LAST: Final = 10
"""The most lines of stderr in an error message ..."""

LAST_BYTES: Final = 4096
"""... and bytes."""


class Ended(RuntimeError):
    """The process has exited; the message has its last lines."""


@dataclass(frozen=True, slots=True)
class Process:
    """A running process whose output goes to files, so that it needs no reader."""

    popen: subprocess.Popen[bytes]
    out: Path
    err: Path
    ready: dict[str, Any]
    """The value of the ready line."""

    def check(self, wait: float = 0.0) -> None:
        """Raise Ended if the process has exited, or exits within `wait` seconds."""
        __tracebackhide__ = True
        try:
            code = self.popen.wait(wait)
        except subprocess.TimeoutExpired:
            return
        raise Ended(
            f"the process of barnabas has ended with {_text(code)}:\n{last_lines(self.err)}"
        )


def command(*arguments: str) -> list[str]:
    """Return a command line that runs barnabas with this interpreter.

    Modules of the current folder are not imported.
    """
    return [sys.executable, "-P", "-m", "barnabas", *arguments]


@contextmanager
def running(
    arguments: Sequence[str], folder: Path, name: str, patience: float = START
) -> Iterator[Process]:
    """Start a process, wait for its ready line, and stop it at the end of `with`.

    Its stdout goes to `name`.jsonl, its stderr to `name`.log.

    Raises:
        Ended: The process did not start, exited before the end, or had to be killed.
    """
    out, err = folder / f"{name}.jsonl", folder / f"{name}.log"
    with out.open("wb") as stdout, err.open("wb") as stderr:
        popen = subprocess.Popen(  # noqa: S603 (ourselves)
            command("--until-eof", *arguments),
            stdin=subprocess.PIPE,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,  # Ctrl-C is for the tests, which stop it
        )
    try:
        process = Process(popen, out, err, _ready(popen, out, err, patience))
        yield process
        process.check()
    finally:
        stopped = _stop(popen)
    if not stopped:
        raise Ended(f"barnabas did not stop within {STOP:g} s and was killed:\n{last_lines(err)}")
    if popen.returncode:
        process.check()


def last_lines(err: Path) -> str:
    """Return the last lines of a process' stderr."""
    with err.open("rb") as file:
        file.seek(max(0, err.stat().st_size - LAST_BYTES))
        lines = file.read().decode(errors="replace").splitlines()
    relevant = [
        line for line in lines if not line.startswith(("edit:", "memory:"))
    ]  # at every start
    return "\n".join(relevant[-LAST:]) or "it said nothing"


def _ready(popen: subprocess.Popen[bytes], out: Path, err: Path, patience: float) -> dict[str, Any]:
    end = time.monotonic() + patience
    while True:
        ended = popen.poll() is not None
        with out.open("rb") as file:
            line = file.readline()
        if line.endswith(b"\n"):
            ready: dict[str, Any] = json.loads(line)["ready"]
            return ready
        if ended:
            raise Ended(last_lines(err))
        if time.monotonic() > end:
            raise Ended(f"barnabas was not ready within {patience:g} s: {last_lines(err)}")
        time.sleep(LOOK)


def _stop(popen: subprocess.Popen[bytes]) -> bool:
    """Stop a process by closing its stdin; return False if it had to be killed."""
    assert popen.stdin is not None  # noqa: S101 - a pipe, see above
    popen.stdin.close()
    try:
        popen.wait(STOP)
    except subprocess.TimeoutExpired:
        popen.kill()
        popen.wait()
        return False
    return True


def _text(code: int) -> str:
    return f"exit code {code}" if code >= 0 else f"signal {-code}"
