"""One run of a client's program with one workload: its history and its end."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from barnabas.experiments.clients.client_process import MIB, ClientProcess, PrintedTooMuchError
from barnabas.peers.clients.client import Program

NUMBER: Final = 1
"""The number of the task and of its result."""

OUTPUT_LIMIT: Final = 32 * MIB
"""Bytes that a program may print: 20,000 records make 5 MiB of events."""

EVENT_LIMIT: Final = 4096
"""Bytes of an event: names are in it, and values that are names."""

DUMP_SECONDS: Final = 1.0
"""Seconds that a hanging program has to print its stacks."""

UNANSWERED: Final = "ended without an answer"
"""The outcome of a program that reported neither a result nor an exception."""

UNUSABLE: Final = "its events are invalid: "
"""The beginning of an error of the program itself, whatever its client does."""

ERROR_CHARACTERS: Final = 500
"""Characters to keep of an error."""


class RunResult(NamedTuple):
    """The result of a run.

    history: the reported events, a line each; empty if the program printed too much. raised: class and
    message of the exception that left the client, empty if none did; UNANSWERED if the program exited with 0
    and without a result. code: the exit code; None: timeout; 0: it was ended because it printed too much.
    seconds: duration. idle: of it, the seconds since a record was acknowledged or consumed the first time.
    """

    history: bytes
    raised: str
    code: int | None
    seconds: float
    idle: float


def worst(results: Sequence[RunResult]) -> RunResult:
    """Return the result of runs at the same time: a failed one's, with the events of all."""
    codes = [result.code for result in results]
    longest = max(results, key=lambda result: result.seconds)
    return RunResult(
        b"".join(result.history for result in results),
        next((result.raised for result in results if result.raised), ""),
        None if None in codes else next(filter(None, codes), 0),
        longest.seconds,
        longest.idle,
    )


class Watch(NamedTuple):
    """Limits of a run, and a callback for its start."""

    limit: float
    """Timeout in seconds."""
    stop: threading.Event
    """Ends the run when it is set."""
    began: Callable[[int], None] = lambda pid: None
    """Receives the process id."""


def run(
    program: Program, workload: str, parameters: Mapping[str, Any], output: Path, watch: Watch
) -> RunResult:
    """Run a workload; output other than the program's lines goes to a file.

    Args:
        program: the client.
        workload: its name.
        parameters: `bootstrap`, `topic` and `work`, as in `peers/clients/programs/lines.py`.
        output: the file.
        watch: limits of the run.

    Raises:
        OSError: The program can't be started.
        Stopped: The run was stopped.
    """
    events: list[bytes] = []
    records: set[tuple[str, str]] = set()
    raised, answered = "", False
    with (
        output.open("wb", buffering=0) as printed,
        ClientProcess(
            program, {"number": NUMBER, "run": workload, **parameters}, printed, OUTPUT_LIMIT
        ) as process,
    ):
        start = advanced = time.monotonic()
        try:
            watch.began(process.pid)
            for text in _output_lines(process, watch):
                message = parse_line(text)
                if "event" in message and len(text) > EVENT_LIMIT:
                    raise PrintedTooMuchError(f"told an event of more than {EVENT_LIMIT} bytes")
                if "event" in message:
                    events.append(text)
                    record = message["event"], str(message.get("id"))
                    if record[0] in ("acknowledged", "consumed") and record not in records:
                        records.add(record)
                        advanced = time.monotonic()
                elif "raised" in message:
                    answered |= message.get("number") == NUMBER
                    raised = exception_text(message) or raised
            code = process.code
        except PrintedTooMuchError as problem:
            events, raised, code = [], f"{UNUSABLE}it {problem}", 0
        ended = time.monotonic()
    if code == 0 and not (answered or raised):
        raised = UNANSWERED
    return RunResult(b"".join(events), raised, code, ended - start, ended - advanced)


def _output_lines(process: ClientProcess, watch: Watch) -> Iterator[bytes]:
    """Yield the program's lines until its exit; at a timeout, including the stacks of its threads."""
    yield from process.lines(watch.limit, watch.stop)
    if process.code is None:
        process.dump()
        yield from process.lines(DUMP_SECONDS, watch.stop)


def parse_line(line: str | bytes) -> dict[str, Any]:
    """Parse a line of a program; return an empty dict for anything else, and for a line that was cut off.

    >>> parse_line('{"ready": true}'), parse_line("1"), parse_line('{"event": "se')
    ({'ready': True}, {}, {})
    """
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


def exception_text(message: Mapping[str, Any]) -> str:
    """Return class and message of the exception in a program's line; empty: none.

    >>> exception_text({"raised": {"class": "KafkaError", "message": "no"}}), exception_text({"raised": "no"})
    ('KafkaError: no', 'no')
    """
    problem = message.get("raised")
    if isinstance(problem, dict):
        problem = f"{problem.get('class')}: {problem.get('message')}"
    return "" if problem is None else _encodable(str(problem)[:ERROR_CHARACTERS])


def _encodable(text: str) -> str:
    r"""Replace characters that can't be encoded: JSON may contain half a surrogate pair.

    >>> _encodable("\ud800!")
    '?!'
    """
    return text.encode("utf-8", "replace").decode("utf-8")
