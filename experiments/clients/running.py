"""A client's program, run once for one workload: what it said, and how it ended."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from barnabas.experiments.clients.started import MIB, PrintedTooMuchError, Started
from barnabas.peers.clients.client import Program

NUMBER: Final = 1
"""Of the line that a program is given, which its answer has, too."""

MOST: Final = 32 * MIB
"""Bytes that a program may print: 20,000 records make 5 MiB of events."""

EVENT: Final = 4096
"""Bytes of an event: names are in it, and values that are names."""

DUMP: Final = 1.0
"""Seconds that a program which hangs has to say where."""

UNANSWERED: Final = "ended without an answer"
"""Said of a program that told neither that its workload is over nor what it raised."""

WORDS: Final = 500
"""Characters of an error that are kept."""


class Ended(NamedTuple):
    """How a run ended.

    history: the events that it told, a line each; none if it printed too much. raised: the class and message
    of what left the client, empty if nothing did; UNANSWERED if it ended as if all was well, and had not said
    so. code: the exit code; None: its time was up; 0: it was ended for what it printed. seconds: from its
    start.
    """

    history: bytes
    raised: str
    code: int | None
    seconds: float


class Watch(NamedTuple):
    """How a run is watched."""

    limit: float
    """Seconds after which it is ended."""
    stop: threading.Event
    """Set by whoever wants it to end."""
    began: Callable[[int], None] = lambda pid: None
    """Is told the program's process."""


def run(
    program: Program, workload: str, asked: Mapping[str, Any], output: Path, watch: Watch
) -> Ended:
    """Run a workload; what the program prints beside its lines goes to a file.

    asked: `bootstrap`, `topic` and `work`, as `peers/clients/programs/lines.py` has them. Raises OSError if
    it can't be started, Stopped.
    """
    events: list[bytes] = []
    raised, answered = "", False
    with (
        output.open("wb", buffering=0) as printed,
        Started(program, {"number": NUMBER, "run": workload, **asked}, printed, MOST) as process,
    ):
        start = time.monotonic()
        try:
            watch.began(process.pid)
            for text in _said(process, watch):
                said = heard(text)
                if "event" in said and len(text) > EVENT:
                    raise PrintedTooMuchError(f"told an event of more than {EVENT} bytes")
                if "event" in said:
                    events.append(text)
                elif "raised" in said:
                    answered |= said.get("number") == NUMBER
                    raised = raised_of(said) or raised
            code = process.code
        except PrintedTooMuchError as problem:
            events, raised, code = [], str(problem), 0
        seconds = time.monotonic() - start
    if code == 0 and not (answered or raised):
        raised = UNANSWERED
    return Ended(b"".join(events), raised, code, seconds)


def _said(process: Started, watch: Watch) -> Iterator[bytes]:
    """What one says until its end; one whose time is up says first where it hangs."""
    yield from process.lines(watch.limit, watch.stop)
    if process.code is None:
        process.dump()
        yield from process.lines(DUMP, watch.stop)


def heard(line: str | bytes) -> dict[str, Any]:
    """A line of a program; nothing of one that is none of its lines, or was ended within it.

    >>> heard('{"ready": true}'), heard("1"), heard('{"event": "se')
    ({'ready': True}, {}, {})
    """
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
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
