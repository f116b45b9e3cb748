"""A service: the process of a broker, with its start, stop, log and memory, as far as they are known."""

from __future__ import annotations

import socket
from typing import Final, Protocol

from barnabas.fuzz.cases.observation import Death


class Service(Protocol):
    """A broker's process. `start` raises barnabas.fuzz.errors.CannotRun."""

    @property
    def name(self) -> str:
        """Return the name in one line, with the version."""
        ...

    @property
    def address(self) -> tuple[str, int]:
        """Return the listener's address, which may change with a restart."""
        ...

    def start(self) -> None:
        """Start the broker, also after a crash."""
        ...

    def stop(self) -> None:
        """Stop what was started, nothing else."""
        ...

    def death(self) -> Death | None:
        """Return how the process ended, if it did and was not started since."""
        ...

    def log(self) -> tuple[str, ...]:
        """Return the entries that the log gained since the last call, with stack traces."""
        ...

    def rss(self) -> tuple[int, int] | None:
        """Return resident memory in bytes: now, and the peak since the last call; None if unknown."""
        ...

    def heap(self) -> tuple[int, int] | None:
        """Return a JVM's heap in use in bytes: now, and the peak since the last call; None if unknown."""
        ...


LISTENS_S: Final = 1.0
"""Seconds that a look for a listener may take."""


class Elsewhere:
    """A running broker of which only the address is known."""

    def __init__(self, host: str, port: int) -> None:
        self.name = f"broker {host}:{port}"
        self.address = (host, port)

    def start(self) -> None:
        """Do nothing."""

    def stop(self) -> None:
        """Do nothing."""

    def death(self) -> Death | None:
        """Return a death without an exit code if the address refuses connections, else None."""
        try:
            socket.create_connection(self.address, LISTENS_S).close()
        except ConnectionRefusedError:
            return Death(None, "")
        except OSError:
            pass
        return None

    def log(self) -> tuple[str, ...]:
        """Return nothing: the log is unknown."""
        return ()

    def rss(self) -> tuple[int, int] | None:
        """Return None: the memory is unknown."""
        return None

    def heap(self) -> tuple[int, int] | None:
        """Return None: the heap is unknown."""
        return None
