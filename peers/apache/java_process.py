"""A process with a JVM and jars of Kafka, which does what it is asked.

One JSON object a line goes to the process (barnabas.peers.apache.client_process) and one comes back for
each, with its number. It ends when its input ends, so it does not outlive who started it.
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

from barnabas.peers.apache.artifacts import class_path
from barnabas.peers.apache.java import java, need_jpype

PROGRAM: Final = "barnabas.peers.apache.client_process"


class JavaError(RuntimeError):
    """A client's call ended with an exception: its class and message, as Java writes them."""


class JavaProcess:
    """The process of a program, from `with` to its end. Raises UnavailableError when Java, the artifacts or
    JPype are missing. A call that is interrupted ends it."""

    def __init__(self, coordinates: Sequence[str], program: str = PROGRAM) -> None:
        self._coordinates, self._program = coordinates, program
        self._running = contextlib.ExitStack()
        self.popen: subprocess.Popen[str] | None = None
        """None while it does not run."""
        self._asked = 0
        self._given_up = ""
        """Why no more is asked; empty while there is no reason."""

    def __enter__(self) -> Self:
        need_jpype()
        jars = class_path(self._coordinates)
        path = os.pathsep.join(str(jar) for jar in jars)
        with contextlib.ExitStack() as stack:
            self._log = stack.enter_context(tempfile.TemporaryFile("w+"))
            self.popen = stack.enter_context(
                subprocess.Popen(  # noqa: S603 (a module of ours)
                    [sys.executable, "-m", self._program, str(java()), path],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=self._log,
                    text=True,
                    start_new_session=True,
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
        """Do a call, which `do` names; its answer. Raises JavaError."""
        process, what = self.popen, call["do"]
        if process is None or process.stdin is None or process.stdout is None:
            raise RuntimeError("the client is not running")
        if self._given_up:
            said = " | ".join(self._said(3)) or "nothing"
            raise JavaError(f"the client's process was ended: {self._given_up}; it said: {said}")
        self._asked += 1
        request = {"number": self._asked, **call}
        try:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(json.dumps(request) + "\n")
                process.stdin.flush()
            line = process.stdout.readline()
        except BaseException as problem:  # the next call would read the answer of this one
            self._give_up(process, f"{what} was interrupted by {type(problem).__name__}")
            raise
        if not line:
            raise JavaError("\n  ".join(["the client's process ended; it said", *self._said(12)]))
        answer: dict[str, Any] = json.loads(line)
        number = answer.pop("number")
        if number != self._asked:
            self._give_up(process, f"{what} is request {self._asked}, the answer is of {number}")
            raise JavaError(self._given_up)
        if "error" in answer:
            raise JavaError(answer["error"])
        return answer

    def _give_up(self, process: subprocess.Popen[str], why: str) -> None:
        self._given_up = why
        process.kill()
        process.wait()

    def _said(self, most: int) -> list[str]:
        """The last lines of the log of a process that has ended: they share their place in it."""
        self._log.seek(0)
        return self._log.read().strip().splitlines()[-most:]


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    if process.stdin is not None:
        with contextlib.suppress(BrokenPipeError):  # what it did not read before it was gone
            process.stdin.close()
