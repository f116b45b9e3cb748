"""A process with a JVM and jars of Kafka that makes calls on request.

The process (barnabas.peers.apache.client_process) reads one JSON object a line, and writes one response for
each, with its number. It exits at the end of its input, so that it does not outlive this process.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any, Final, Self

from barnabas.peers import processes
from barnabas.peers.apache.artifacts import class_path
from barnabas.peers.apache.java import java, need_jpype

PROGRAM: Final = "barnabas.peers.apache.client_process"


class JavaError(RuntimeError):
    """A call of a Java client ended with an exception: its class and message, as Java writes them."""


class JavaProcess:
    """A process with a JVM and jars, from `with` to its end; an interrupted call ends it.

    Raises:
        UnavailableError: At the start of `with`: Java, the artifacts or JPype are missing.
    """

    def __init__(self, coordinates: Sequence[str], program: str = PROGRAM) -> None:
        self._coordinates, self._program = coordinates, program
        self._running = contextlib.ExitStack()
        self.popen: subprocess.Popen[str] | None = None
        """None while it does not run."""
        self._asked = 0
        self._given_up = ""
        """The reason why the process accepts no more calls; empty: it does."""

    def __enter__(self) -> Self:
        need_jpype()
        jars = class_path(self._coordinates)
        path = os.pathsep.join(str(jar) for jar in jars)
        with contextlib.ExitStack() as stack:
            self._log = stack.enter_context(tempfile.TemporaryFile("w+"))
            self.popen = stack.enter_context(
                processes.start(
                    [sys.executable, "-m", self._program, str(java()), path],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=self._log,
                    text=True,
                )
            )
            stack.callback(_end, self.popen)
            self._running = stack.pop_all()
        self._given_up = ""
        return self

    def __exit__(self, *problem: object) -> None:
        self._running.close()
        self.popen = None

    def ask(self, call: Mapping[str, Any]) -> dict[str, Any]:
        """Make the call named by `do`, and return its response. Raises JavaError."""
        process, name = self.popen, call["do"]
        if process is None or process.stdin is None or process.stdout is None:
            raise RuntimeError("the client is not running")
        if self._given_up:
            last_lines = " | ".join(self._last_lines(3)) or "nothing"
            raise JavaError(
                f"the client's process was ended: {self._given_up}; its last lines: {last_lines}"
            )
        self._asked += 1
        request = {"number": self._asked, **call}
        try:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(json.dumps(request) + "\n")
                process.stdin.flush()
            line = process.stdout.readline()
        except BaseException as problem:  # the next call would read the response to this one
            self._give_up(process, f"{name} was interrupted by {type(problem).__name__}")
            raise
        if not line:
            raise JavaError(
                "\n  ".join(["the client's process ended; it said", *self._last_lines(12)])
            )
        answer: dict[str, Any] = json.loads(line)
        number = answer.pop("number")
        if number != self._asked:
            self._give_up(process, f"{name} is request {self._asked}, the answer is of {number}")
            raise JavaError(self._given_up)
        if "error" in answer:
            raise JavaError(answer["error"])
        return answer

    def _give_up(self, process: subprocess.Popen[str], reason: str) -> None:
        self._given_up = reason
        processes.end(process)

    def _last_lines(self, most: int) -> list[str]:
        """Return the last lines of the log of an exited process."""
        self._log.seek(0)
        return self._log.read().strip().splitlines()[-most:]


def _end(process: subprocess.Popen[str]) -> None:
    if process.returncode is None:  # else another process may have its id by now
        processes.end(process)
    if process.stdin is not None:
        with contextlib.suppress(BrokenPipeError):  # input that it did not read before its exit
            process.stdin.close()
