"""The process behind a broker's address: start, stop, log and memory, where they are known."""

from __future__ import annotations

import socket
from typing import Final, Protocol

from barnabas.fuzz.cases.observation import Death


class Service(Protocol):
    """A broker, or what stands in for one. `start` raises barnabas.fuzz.errors.CannotRun."""

    @property
    def name(self) -> str:
        """In one line, with the version."""
        ...

    @property
    def address(self) -> tuple[str, int]:
        """Where it listens; may be another one after a restart."""
        ...

    def start(self) -> None:
        """Bring it up; also again after it died."""
        ...

    def stop(self) -> None:
        """End what was started, nothing else."""
        ...

    def death(self) -> Death | None:
        """How its process ended, if it did and was not started since."""
        ...

    def log(self) -> tuple[str, ...]:
        """Entries that its log gained since the last call, each with its stack trace."""
        ...

    def rss(self) -> tuple[int, int] | None:
        """Resident memory in bytes: now, and the most since the last call; None: not known."""
        ...

    def heap(self) -> tuple[int, int] | None:
        """The same of a JVM's heap."""
        ...


LISTENS_S: Final = 1.0
"""Seconds that it may take to tell whether anybody listens."""


class Elsewhere:
    """A service that somebody else runs: only its address is known."""

    def __init__(self, host: str, port: int) -> None:
        self.name = f"broker {host}:{port}"
        self.address = (host, port)

    def start(self) -> None:
        """Nothing to do."""

    def stop(self) -> None:
        """Nothing to do."""

    def death(self) -> Death | None:
        """Whether its address refuses connections. How it ended is not known."""
        try:
            socket.create_connection(self.address, LISTENS_S).close()
        except ConnectionRefusedError:
            return Death(None, "")
        except OSError:
            pass
        return None

    def log(self) -> tuple[str, ...]:
        """Not known."""
        return ()

    def rss(self) -> tuple[int, int] | None:
        """Not known."""
        return None

    def heap(self) -> tuple[int, int] | None:
        """Not known."""
        return None
