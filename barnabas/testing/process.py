"""A command of ours in a process of its own, which ends with this one, however this one ends."""

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
"""Seconds that it may take to be ready."""

STOP: Final = 15.0
"""Seconds that it may take to stop."""

LOOK: Final = 0.01
"""Seconds between two looks at what it has written."""

LAST: Final = 10
"""Lines of what it said last ..."""

LAST_BYTES: Final = 4096
"""... and bytes."""


class Ended(RuntimeError):
    """The process is not there, and what it said last."""


@dataclass(frozen=True, slots=True)
class Process:
    """A process that runs; what it writes is in files, so that nobody has to read along."""

    popen: subprocess.Popen[bytes]
    out: Path
    err: Path
    ready: dict[str, Any]
    """What its first line said."""

    def check(self, wait: float = 0.0) -> None:
        """Raises Ended if it has, or does so within some seconds."""
        __tracebackhide__ = True
        try:
            code = self.popen.wait(wait)
        except subprocess.TimeoutExpired:
            return
        raise Ended(f"the process of barnabas has ended with {_text(code)}:\n{said(self.err)}")


def command(*arguments: str) -> list[str]:
    """The command line: this interpreter, and nothing from the present directory."""
    return [sys.executable, "-P", "-m", "barnabas", *arguments]


@contextmanager
def running(arguments: Sequence[str], folder: Path, name: str) -> Iterator[Process]:
    """Start it, wait for its ready line, and stop it at the end.

    Its stdout is in `name`.jsonl, its stderr in `name`.log. Raises Ended if it does not start, and in
    the end if it had not gone on until then.
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
        process = Process(popen, out, err, _ready(popen, out, err))
        yield process
        process.check()
    finally:
        stopped = _stop(popen)
    if not stopped:
        raise Ended(f"barnabas did not stop within {STOP:g} s and was killed:\n{said(err)}")
    if popen.returncode:
        process.check()


def said(err: Path) -> str:
    """What it said last."""
    with err.open("rb") as file:
        file.seek(max(0, err.stat().st_size - LAST_BYTES))
        lines = file.read().decode(errors="replace").splitlines()
    told = [line for line in lines if not line.startswith(("edit:", "memory:"))]  # at every start
    return "\n".join(told[-LAST:]) or "it said nothing"


def _ready(popen: subprocess.Popen[bytes], out: Path, err: Path) -> dict[str, Any]:
    end = time.monotonic() + START
    while True:
        ended = popen.poll() is not None
        with out.open("rb") as file:
            line = file.readline()
        if line.endswith(b"\n"):
            found: dict[str, Any] = json.loads(line)["ready"]
            return found
        if ended:
            raise Ended(said(err))
        if time.monotonic() > end:
            raise Ended(f"barnabas was not ready within {START:g} s: {said(err)}")
        time.sleep(LOOK)


def _stop(popen: subprocess.Popen[bytes]) -> bool:
    """Whether it stopped by itself; else it is killed."""
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
