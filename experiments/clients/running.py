"""A client's program, run once for one workload: what it said, and how it ended."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from barnabas.peers.clients.client import Program

NUMBER: Final = 1
"""Of the line that a program is given, which its answer has, too."""

LOOK: Final = 0.2
"""Seconds between two looks whether it is to end."""

DUMP: Final = 1.0
"""Seconds that a program which hangs has to say where."""

SOON: Final = 5.0
"""Seconds in which a process that was killed is gone."""

UNANSWERED: Final = "ended without an answer"
"""Said of a program that told neither that its workload is over nor what it raised."""

WORDS: Final = 500
"""Characters of an error that are kept."""


class Ended(NamedTuple):
    """How a run ended.

    history: the events that it told, a line each. raised: the class and message of what left the client,
    empty if nothing did; UNANSWERED if it ended as if all was well, and had not said so. code: the exit
    code; None: its time was up. seconds: from its start.
    """

    history: bytes
    raised: str
    code: int | None
    seconds: float


class Stopped(Exception):
    """Somebody wants it all to end."""


def run(
    program: Program,
    workload: str,
    asked: Mapping[str, Any],
    limit: float,
    output: Path,
    stop: threading.Event,
    began: Callable[[int], None] = lambda pid: None,
) -> Ended:
    """Run a workload, at most so many seconds; what the program prints beside goes to a file.

    asked: `bootstrap`, `topic` and `work`, as `peers/clients/programs/lines.py` has them. began: is told the
    program's process. Raises OSError if it can't be started, Stopped.
    """
    line = json.dumps({"number": NUMBER, "run": workload, **asked}) + "\n"
    with output.open("wb") as printed:
        process = subprocess.Popen(  # noqa: S603 - a program of ours, or the user's
            program.line,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=printed,
            env={**os.environ, **program.environment},
            start_new_session=True,
        )
        try:
            began(process.pid)
            start = time.monotonic()
            out = _said(process, line.encode(), limit, stop)
            code: int | None = process.returncode
            if out is None:
                out, code = _ended(process), None
            seconds = time.monotonic() - start
        finally:
            _kill(process)
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()
    events, raised, answered = [], "", False
    for text in out.splitlines(keepends=True):
        said = heard(text)
        if "event" in said:
            events.append(text)
        elif "raised" in said:
            answered |= said.get("number") == NUMBER
            raised = raised_of(said) or raised
    if code == 0 and not (answered or raised):
        raised = UNANSWERED
    return Ended(b"".join(events), raised, code, seconds)


def heard(line: str | bytes) -> dict[str, Any]:
    """A line of a program; nothing of one that is none of its lines, or was ended within it.

    >>> heard('{"ready": true}'), heard("1"), heard('{"event": "se')
    ({'ready': True}, {}, {})
    """
    try:
        said = json.loads(line)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


def raised_of(said: Mapping[str, Any]) -> str:
    """The class and message of what left the client, as a line tells it; empty: nothing did.

    >>> raised_of({"raised": {"class": "KafkaError", "message": "no"}}), raised_of({"raised": "no"})
    ('KafkaError: no', 'no')
    """
    problem = said.get("raised")
    if isinstance(problem, dict):
        problem = f"{problem.get('class')}: {problem.get('message')}"
    return "" if problem is None else _text(str(problem)[:WORDS])


def _text(said: str) -> str:
    """What can be written: JSON may hold half a surrogate pair.

    >>> _text("\\ud800!")
    '?!'
    """
    return said.encode("utf-8", "replace").decode("utf-8")


def _said(
    process: subprocess.Popen[bytes], line: bytes, limit: float, stop: threading.Event
) -> bytes | None:
    """What one says until its end; None: its time is up."""
    until = time.monotonic() + limit
    told: bytes | None = line
    while time.monotonic() < until:
        if stop.is_set():
            raise Stopped
        try:
            return process.communicate(told, LOOK)[0]
        except subprocess.TimeoutExpired:
            told = None  # it has it
    return None


def _ended(process: subprocess.Popen[bytes]) -> bytes:
    """What one said whose time is up, and that says first where it hangs."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGQUIT)
    with contextlib.suppress(subprocess.TimeoutExpired):
        return process.communicate(timeout=DUMP)[0]
    _kill(process)
    with contextlib.suppress(subprocess.TimeoutExpired):
        return process.communicate(timeout=SOON)[0]
    return b""


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End it with all that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(SOON)
