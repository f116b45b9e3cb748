"""A client: a library in a release, and how its program is installed and started."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple


class Program(NamedTuple):
    """A command that reads its tasks line by line (`programs/lines.py`), and its environment.

    forks: whether it can load its library once for many processes (`programs/forking.py`).
    """

    line: Sequence[str]
    environment: Mapping[str, str] = {}
    forks: bool = False


class Client(NamedTuple):
    """A release of a client library.

    prepare: installs or builds the missing parts and returns the program; raises UnavailableClientError.
    counted: returns a program that counts the lines of the library that it reaches; None: not supported.
    """

    library: str
    version: str
    prepare: Callable[[], Program]
    counted: Callable[[], Program] | None = None

    @property
    def name(self) -> str:
        """Return the library and its version.

        >>> Client("sarama", "1.46.2", lambda: Program([])).name
        'sarama 1.46.2'
        """
        return f"{self.library} {self.version}"
