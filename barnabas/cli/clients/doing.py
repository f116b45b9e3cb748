"""Has a client's program do workloads once, one after the other, and writes its history as it comes."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, TextIO

from barnabas.cli.clients.naming import named_clients, named_workloads
from barnabas.endings import interruptible
from barnabas.experiments.clients.running import heard, raised_of
from barnabas.peers.clients.client import Program
from barnabas.peers.clients.errors import UnavailableClientError
from barnabas.trouble import COULD_NOT_RUN, FINDINGS, FINE, INTERRUPTED, Trouble

STAY: Final = 0.0
"""Seconds that a consumer stays when it has read all: here a fault comes to an exchange, not to a time."""


class Wanted(NamedTuple):
    """What the command line asked for. history: None is stdout."""

    client: str | None
    command: str | None
    workloads: Sequence[str]
    bootstrap: str
    topic: str
    records: int
    history: Path | None


def do(wanted: Wanted) -> int:
    """Do them; returns the exit code: 1 if an error came out of the client. Raises Trouble."""
    workloads = named_workloads(wanted.workloads)
    if (wanted.client is None) == (wanted.command is None):
        raise Trouble("who is to do it? give one --client NAME@VERSION, or one --command NAME=LINE")
    given = (wanted.client,) if wanted.client else (), (wanted.command,) if wanted.command else ()
    [(_, prepare)] = named_clients(*given)
    asked = {"bootstrap": wanted.bootstrap, "topic": wanted.topic}
    try:
        program = prepare()
        with interruptible(), _opened(wanted.history) as out:
            for workload in workloads:
                told = {
                    "run": workload.runs or workload.name,
                    "work": workload.work(records=wanted.records, stay=STAY),
                }
                raised = _one(program, {"number": 1, **asked, **told}, out)
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


def _one(program: Program, asked: dict[str, Any], out: TextIO) -> str:
    """What left the client; empty: nothing did. The program is in this process' group, and ends with it."""
    raised = "its program ended without an answer"
    with tempfile.TemporaryFile("w+") as told:
        told.write(json.dumps(asked) + "\n")
        told.seek(0)
        with subprocess.Popen(  # noqa: S603 - a program of ours, or the user's
            program.line,
            stdin=told,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **program.environment},
        ) as process:
            try:
                for line in process.stdout or ():
                    said = heard(line)
                    if "event" in said:
                        out.write(line)
                    elif "raised" in said:
                        raised = raised_of(said)
            finally:
                process.kill()
    return raised
