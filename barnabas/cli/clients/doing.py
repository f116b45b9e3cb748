"""Has a client's program do workloads once, one after the other, and writes its history as it comes."""

from __future__ import annotations

import contextlib
import socket
import sys
import threading
from pathlib import Path
from typing import Any, Final, TextIO

from barnabas.addresses import parse_servers
from barnabas.cli.clients.naming import named_clients, named_workloads
from barnabas.cli.clients.options import DoOptions
from barnabas.endings import interruptible
from barnabas.experiments.clients.client_process import ClientProcess, PrintedTooMuchError
from barnabas.experiments.clients.runs import UNANSWERED, exception_text, parse_line
from barnabas.experiments.clients.trial import LIMIT
from barnabas.peers.clients.client import Program
from barnabas.peers.clients.errors import UnavailableClientError
from barnabas.trouble import COULD_NOT_RUN, FINDINGS, FINE, INTERRUPTED, Trouble

STAY: Final = 0.0
"""Seconds that a consumer stays when it has read all: here a fault comes to an exchange, not to a time."""

CONNECT: Final = 5.0
"""Seconds in which a broker takes a connection."""


def do(wanted: DoOptions) -> int:
    """Do them; returns the exit code: 1 if an error came out of the client. Raises Trouble."""
    workloads = named_workloads(wanted.workloads)
    given = (wanted.client,) if wanted.client else (), (wanted.command,) if wanted.command else ()
    [(_, prepare)] = named_clients(*given)
    asked = {"bootstrap": wanted.bootstrap.replace(" ", ""), "topic": wanted.topic_of_run}
    _check(wanted.bootstrap)
    try:
        with interruptible(), _opened(wanted.history) as out:
            program = prepare()
            for workload in workloads:
                told = {
                    "run": workload.runs or workload.name,
                    "work": workload.work(records=wanted.records, stay=STAY),
                }
                raised = _one(program, {"number": 1, **asked, **told}, LIMIT + wanted.records, out)
                if raised:
                    print(f"{workload.name}: {raised}", file=sys.stderr)
                    return FINDINGS
    except (UnavailableClientError, OSError) as problem:
        raise Trouble(str(problem), COULD_NOT_RUN) from None
    except KeyboardInterrupt:
        return INTERRUPTED
    return FINE


def _opened(history: Path | None) -> contextlib.AbstractContextManager[TextIO]:
    if history is None:
        return contextlib.nullcontext(sys.stdout)
    return history.open("a", encoding="utf-8", buffering=1)


def _one(program: Program, asked: dict[str, Any], limit: float, out: TextIO) -> str:
    """What left the client, or how its program ended; empty: all was well."""
    raised = f"its program {UNANSWERED}"
    try:
        with ClientProcess(program, asked) as process:
            for line in process.lines(limit, threading.Event()):
                said = parse_line(line)
                if "event" in said:
                    out.write(line.decode("utf-8", "replace"))
                    out.flush()
                elif "raised" in said:
                    raised = exception_text(said)
            code = process.code
    except PrintedTooMuchError as problem:
        return f"its program {problem}"
    if code is None:
        return f"its program had not ended after {limit:g} s"
    return raised or (f"its program ended with exit code {code}" if code else "")


def _check(bootstrap: str) -> None:
    """That somebody listens; nothing is asked, which would count where this is run under faults. Raises
    Trouble."""
    problem: OSError | None = None
    for address in parse_servers(bootstrap):
        try:
            socket.create_connection(address, CONNECT).close()
        except OSError as found:
            problem = found
        else:
            return
    raise Trouble(f"--bootstrap-server: {bootstrap} can't be reached: {problem}", COULD_NOT_RUN)
