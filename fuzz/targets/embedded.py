"""Embedded clusters as targets: librdkafka's mock brokers or franz-go's kfake, in a separate process."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from barnabas.fuzz.cases.observation import Death
from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.sessions.session import TOPIC
from barnabas.fuzz.targets.broker import BrokerTarget
from barnabas.fuzz.targets.log_entries import LogFollower
from barnabas.fuzz.targets.process_usage import rss
from barnabas.location import ROOT
from barnabas.peers import processes
from barnabas.peers.clients.client import Program
from barnabas.peers.clients.errors import UnavailableClientError
from barnabas.peers.kfake import kfake_program, name_of

LAST_WORDS: Final = 4000
"""Characters of the process's output that are kept when it ends."""


def _mock() -> Program:
    if importlib.util.find_spec("confluent_kafka") is None:
        raise CannotRun(
            "librdkafka's mock needs confluent-kafka: install barnabas with the extra 'peers'"
        )
    line = [sys.executable, "-P", "-m", "barnabas.fuzz.targets.embedded_process", TOPIC]
    return Program(line, {"PYTHONPATH": str(ROOT)})


def _kfake() -> Program:
    try:
        return kfake_program(TOPIC)
    except UnavailableClientError as problem:
        raise CannotRun(str(problem)) from None


class EmbeddedService:
    """One broker of a program that prints its addresses; librdkafka's mock by default.

    program: returns the command; raises CannotRun.
    """

    def __init__(
        self, name: str = "librdkafka's mock", program: Callable[[], Program] = _mock
    ) -> None:
        self.name = name
        self._program = program
        self.address = ("", 0)
        self._process: subprocess.Popen[bytes] | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._log: LogFollower | None = None

    @property
    def pid(self) -> int | None:
        """Return the process id, or None if the program does not run."""
        return self._process.pid if self._process else None

    def start(self) -> None:
        """Start the program. Raises CannotRun."""
        program = self._program()
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="barnabas-")
        path = Path(self._folder.name) / "log.txt"
        path.write_bytes(b"")
        with path.open("ab") as log:
            self._process = processes.start(
                program.line,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env={**os.environ, **program.environment},
            )
        assert self._process.stdout is not None  # noqa: S101
        line = self._process.stdout.readline().decode().strip()
        if not line:
            self._process.wait()
            raise CannotRun(f"the {self.name} did not start: {self._said()}")
        host, port = line.split(",")[0].rsplit(":", 1)
        self.address = (host, int(port))
        self._log = LogFollower(path)

    def stop(self) -> None:
        """End the program."""
        process, self._process = self._process, None
        if process is not None:
            processes.end(process)
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def death(self) -> Death | None:
        """Return how the process ended, or None."""
        process = self._process
        if process is None or process.poll() is None:
            return None
        return Death(process.returncode, self._said())

    def log(self) -> tuple[str, ...]:
        """Return the log entries since the last call."""
        return self._log.entries() if self._log else ()

    def rss(self) -> tuple[int, int] | None:
        """Return resident memory in bytes: now, and the peak since the last call."""
        return rss(self._process.pid) if self._process else None

    def heap(self) -> tuple[int, int] | None:
        """Return None: the program is no JVM."""
        return None

    def _said(self) -> str:
        if self._folder is None:
            return ""
        text = (Path(self._folder.name) / "log.txt").read_text(errors="replace")
        return text[-LAST_WORDS:]


def librdkafka() -> BrokerTarget:
    """Return librdkafka's mock brokers as a target.

    Responses are quick, so the timeout is short. Most fetches wait for records, so there are many
    connections.
    """
    return BrokerTarget(EmbeddedService(), batch=512, connections=96, timeout=0.2)


def kfake() -> BrokerTarget:
    """Return franz-go's fake cluster as a target."""
    return BrokerTarget(EmbeddedService(name_of(), _kfake), batch=512, connections=96, timeout=0.2)
