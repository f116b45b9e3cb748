"""Programs that tell what they passed whenever they are asked, over a connection that they open."""

from __future__ import annotations

import contextlib
import io
import socket
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, BinaryIO, Final, NamedTuple, cast

from barnabas.fuzz.coverage.probes import Key, Passed, Probes, Told, merge

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

SAYS_S: Final = 20.0
"""Seconds that all programs may take to tell their probes; one that is not done by then tells nothing more,
and those behind it tell theirs when they are asked again."""

SIZE: Final = 16 << 20
"""Bytes of an answer at most: who says more is no program of ours."""

PROGRAMS: Final = 256
"""Connections at once; others wait."""

HOST: Final = "127.0.0.1"


class DumpError(Exception):
    """What came is no answer."""


class _Answers(io.RawIOBase):
    """What comes over a connection, up to a time that is the same however little comes at once."""

    def __init__(self, program: socket.socket, clock: Callable[[], float]) -> None:
        self._program, self._clock = program, clock
        self.until = 0.0

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """As RawIOBase has it. Raises TimeoutError when the time is up."""
        self._program.settimeout(left(self.until, self._clock()))
        return self._program.recv_into(buffer)


def left(until: float, now: float) -> float:
    """Seconds. Raises TimeoutError if there are none."""
    if now >= until:
        raise TimeoutError
    return until - now


class _Program(NamedTuple):
    connection: socket.socket
    answers: _Answers
    stream: BinaryIO


class Agent:
    """Where programs connect to, from its making to `close`.

    dump: reads an answer; raises DumpError, and EOFError where the program is gone. ask: what they are asked
    with. opens: what they are told first. clock: seconds.
    """

    def __init__(
        self,
        dump: Callable[[BinaryIO], Told],
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
        """Where it listens on HOST."""
        port: int = self._listener.getsockname()[1]
        return port

    def since(self) -> dict[Key, Probes]:
        """What all programs tell now."""
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
        found: dict[Key, Probes] = {}
        for one in list(self._programs):
            try:
                seconds = left(until, self._clock())
            except TimeoutError:
                break
            try:
                one.connection.settimeout(seconds)
                one.connection.sendall(self._ask)
                one.answers.until = until
                merge(found, self._dump(one.stream))
            except (OSError, EOFError, DumpError):
                self._programs.remove(one)
                one.stream.close()
                one.connection.close()
        return found

    def close(self) -> None:
        """Let go of all of them."""
        for one in self._programs:
            one.stream.close()
            one.connection.close()
        self._listener.close()


class Counted:
    """A process that counts. environment: what it is started with. passed: by all processes."""

    def __init__(self, agent: Agent, environment: Mapping[str, str], passed: Passed) -> None:
        self._agent, self._passed = agent, passed
        self.environment = environment

    def news(self) -> list[str]:
        """The features of what it passed since it was last asked, and no process had before."""
        return self._passed.add(self._agent.since())

    def close(self) -> None:
        """It is over."""
        self._agent.close()


def exactly(stream: BinaryIO, size: int) -> bytes:
    """So many bytes. Raises EOFError."""
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return data


def sized(stream: BinaryIO) -> bytes:
    """An answer behind four bytes of its size. Raises DumpError, EOFError."""
    size = int.from_bytes(exactly(stream, 4))
    if size > SIZE:
        raise DumpError(f"an answer of {size} bytes")
    return exactly(stream, size)
