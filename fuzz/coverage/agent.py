"""The connections on which programs report the probes that they passed, on request."""

from __future__ import annotations

import contextlib
import io
import socket
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, BinaryIO, Final, NamedTuple, cast

from barnabas.fuzz.coverage.probes import Key, PassedProbes, ProbeReport, Probes, merge

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

SAYS_S: Final = 20.0
"""Seconds that the reports of all programs may take. A program that is not done by then is dropped; the
following ones report at the next request."""

SIZE: Final = 16 << 20
"""Bytes of a report at most; a larger one is no program's of ours."""

PROGRAMS: Final = 256
"""Connections at once; others wait."""

HOST: Final = "127.0.0.1"


class DumpError(Exception):
    """A report can't be read."""


class _Answers(io.RawIOBase):
    """The bytes of a connection, up to a deadline for the whole report."""

    def __init__(self, program: socket.socket, clock: Callable[[], float]) -> None:
        self._program, self._clock = program, clock
        self.until = 0.0

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Read into a buffer, as RawIOBase does. Raises TimeoutError after the deadline."""
        self._program.settimeout(left(self.until, self._clock()))
        return self._program.recv_into(buffer)


def left(until: float, now: float) -> float:
    """Return the seconds until a deadline. Raises TimeoutError if there are none."""
    if now >= until:
        raise TimeoutError
    return until - now


class _Program(NamedTuple):
    connection: socket.socket
    answers: _Answers
    stream: BinaryIO


class Agent:
    """A listener for programs, from its creation to `close`.

    Args:
        dump: Reads a report; raises DumpError, and EOFError if the program has ended.
        ask: The bytes of a request.
        opens: The bytes at the beginning of a connection.
        clock: Returns seconds.
    """

    def __init__(
        self,
        dump: Callable[[BinaryIO], ProbeReport],
        *,
        ask: bytes = b"?",
        opens: bytes = b"",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._dump, self._ask, self._opens, self._clock = dump, ask, opens, clock
        self._programs: list[_Program] = []
        self._listener = socket.create_server((HOST, 0), backlog=128)
        self._listener.setblocking(False)

    @property
    def port(self) -> int:
        """Return the port on HOST."""
        port: int = self._listener.getsockname()[1]
        return port

    def since(self) -> dict[Key, Probes]:
        """Return what all programs report now."""
        until = self._clock() + SAYS_S
        with contextlib.suppress(BlockingIOError):
            while len(self._programs) < PROGRAMS and self._clock() < until:
                connection, _ = self._listener.accept()
                answers = _Answers(connection, self._clock)
                stream = cast(BinaryIO, io.BufferedReader(answers))
                self._programs.append(_Program(connection, answers, stream))
                with contextlib.suppress(OSError):
                    connection.settimeout(left(until, self._clock()))
                    connection.sendall(self._opens)
        passed: dict[Key, Probes] = {}
        for program in list(self._programs):
            try:
                seconds = left(until, self._clock())
            except TimeoutError:
                break
            try:
                program.connection.settimeout(seconds)
                program.connection.sendall(self._ask)
                program.answers.until = until
                merge(passed, self._dump(program.stream))
            except (OSError, EOFError, DumpError):
                self._programs.remove(program)
                program.stream.close()
                program.connection.close()
        return passed

    def close(self) -> None:
        """Close all connections."""
        for program in self._programs:
            program.stream.close()
            program.connection.close()
        self._listener.close()


class CountedProcess:
    """A process that counts lines.

    environment: the variables that it is started with. passed: the probes of all processes.
    """

    def __init__(self, agent: Agent, environment: Mapping[str, str], passed: PassedProbes) -> None:
        self._agent, self._passed = agent, passed
        self.environment = environment

    def news(self) -> list[str]:
        """Return the features of probes that it passed since the last call, before any other process."""
        return self._passed.add(self._agent.since())

    def close(self) -> None:
        """Close the process's connection."""
        self._agent.close()


def exactly(stream: BinaryIO, size: int) -> bytes:
    """Read exactly `size` bytes. Raises EOFError."""
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return data


def sized(stream: BinaryIO) -> bytes:
    """Read a report after four bytes of its size. Raises DumpError, EOFError."""
    size = int.from_bytes(exactly(stream, 4))
    if size > SIZE:
        raise DumpError(f"an answer of {size} bytes")
    return exactly(stream, size)
