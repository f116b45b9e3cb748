"""What a client is: a library in a release, and how its program is got and started."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple


class Program(NamedTuple):
    """A command that runs what it is told line by line (`programs/lines.py`), and its environment. forks: it
    can load its library once for many processes (`programs/forking.py`)."""

    line: Sequence[str]
    environment: Mapping[str, str] = {}
    forks: bool = False


class Client(NamedTuple):
    """A release of a library.

    prepare: gets what is missing (a venv, a build) and says how it is started; raises UnavailableClientError.
    counted: the same, for a program that counts the lines of the library that it reaches; None: it can't.
    """

    library: str
    version: str
    prepare: Callable[[], Program]
    counted: Callable[[], Program] | None = None

    @property
    def name(self) -> str:
        """What it is called.

        >>> Client("sarama", "1.46.2", lambda: Program([])).name
        'sarama 1.46.2'
        """
        return f"{self.library} {self.version}"
