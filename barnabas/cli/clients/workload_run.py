"""`barnabas clients do`: a client's program runs workloads once and writes its history."""

from __future__ import annotations

import contextlib
import socket
import sys
import threading
from pathlib import Path
from typing import Any, Final, TextIO

from barnabas.addresses import parse_servers
from barnabas.cli.clients.names import named_clients, named_workloads
from barnabas.cli.clients.options import DoOptions
from barnabas.experiments.clients.client_process import ClientProcess, PrintedTooMuchError
from barnabas.experiments.clients.draws import plain
from barnabas.experiments.clients.runs import UNANSWERED, exception_text, parse_line
from barnabas.experiments.clients.traffic import parameters
from barnabas.experiments.clients.trial import LIMIT
from barnabas.peers.clients.client import Program
from barnabas.peers.clients.errors import UnavailableClientError
from barnabas.stop_signals import interruptible
from barnabas.trouble import COULD_NOT_RUN, FINDINGS, FINE, INTERRUPTED, Trouble

STAY: Final = 0.0
"""Seconds that a consumer stays after reading everything: faults here depend on exchanges, not on time."""

CONNECT: Final = 5.0
"""Seconds in which a broker must accept a connection."""


def do(options: DoOptions) -> int:
    """Run the workloads; return the exit code, FINDINGS if the client raised an error. Raises Trouble."""
    workloads = named_workloads(options.workloads)
    selection = (
        (options.client,) if options.client else (),
        (options.command,) if options.command else (),
    )
    [(_, prepare)] = named_clients(*selection)
    run_settings = {"bootstrap": options.bootstrap.replace(" ", ""), "topic": options.topic_of_run}
    _check(options.bootstrap)
    try:
        with interruptible(), _opened(options.history) as out:
            program = prepare()
            for workload in workloads:
                work_settings = {
                    "run": workload.program,
                    "work": {
                        **parameters(
                            plain(workload, options.records), workload, options.topic_of_run, 0
                        ),
                        **workload.work(stay=STAY),
                    },
                }
                raised = _one(
                    program,
                    {"number": 1, **run_settings, **work_settings},
                    LIMIT + options.records,
                    out,
                )
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


def _one(program: Program, settings: dict[str, Any], limit: float, out: TextIO) -> str:
    """Run a workload; return the error of the client or of its program; empty: there was none."""
    raised = f"its program {UNANSWERED}"
    try:
        with ClientProcess(program, settings) as process:
            for line in process.lines(limit, threading.Event()):
                event = parse_line(line)
                if "event" in event:
                    out.write(line.decode("utf-8", "replace"))
                    out.flush()
                elif "raised" in event:
                    raised = exception_text(event)
            code = process.code
    except PrintedTooMuchError as problem:
        return f"its program {problem}"
    if code is None:
        return f"its program had not ended after {limit:g} s"
    return raised or (f"its program ended with exit code {code}" if code else "")


def _check(bootstrap: str) -> None:
    """Raise Trouble unless a broker accepts connections.

    No request is sent: it would count where the command runs under faults.
    """
    problem: OSError | None = None
    for address in parse_servers(bootstrap):
        try:
            socket.create_connection(address, CONNECT).close()
        except OSError as error:
            problem = error
        else:
            return
    raise Trouble(f"--bootstrap-server: {bootstrap} can't be reached: {problem}", COULD_NOT_RUN)
