"""Programs that tell what they passed whenever they are asked, over a connection that they open."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable, Mapping
from typing import BinaryIO, Final

from barnabas.fuzz.coverage.probes import Key, Passed, Probes, Told, merge

SAYS_S: Final = 20.0
"""Seconds that a program may take to tell its probes; one that hangs tells nothing more."""

SIZE: Final = 64 << 20
"""Bytes of an answer at most: who says more is no program of ours."""

HOST: Final = "127.0.0.1"


class DumpError(Exception):
    """What came is no answer."""


class Agent:
    """Where programs connect to, from its making to `close`.

    dump: reads an answer; raises DumpError, and EOFError where the program is gone. ask: what they are asked
    with. opens: what they are told first.
    """

    def __init__(
        self, dump: Callable[[BinaryIO], Told], *, ask: bytes = b"?", opens: bytes = b""
    ) -> None:
        self._dump, self._ask, self._opens = dump, ask, opens
        self._programs: list[tuple[socket.socket, BinaryIO]] = []
        self._listener = socket.create_server((HOST, 0), backlog=128)
        self._listener.setblocking(False)

    @property
    def port(self) -> int:
        """Where it listens on HOST."""
        port: int = self._listener.getsockname()[1]
        return port

    def since(self) -> dict[Key, Probes]:
        """What all programs tell now."""
        with contextlib.suppress(BlockingIOError):
            while True:
                program, _ = self._listener.accept()
                program.settimeout(SAYS_S)
                self._programs.append((program, program.makefile("rb")))
                with contextlib.suppress(OSError):
                    program.sendall(self._opens)
        found: dict[Key, Probes] = {}
        for one in list(self._programs):
            program, stream = one
            try:
                program.sendall(self._ask)
                merge(found, self._dump(stream))
            except (OSError, EOFError, DumpError):
                self._programs.remove(one)
                stream.close()
                program.close()
        return found

    def close(self) -> None:
        """Let go of all of them."""
        for program, stream in self._programs:
            stream.close()
            program.close()
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
