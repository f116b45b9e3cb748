"""What a client is: how its program is got and started."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple


class Program(NamedTuple):
    """A command and its environment. each: it is started for every case, with {bootstrap} and {topic}
    put in, and ends by itself; else it runs one session after the other, as `programs/lines.py` says."""

    line: Sequence[str]
    environment: Mapping[str, str] = {}
    each: bool = False


class Client(NamedTuple):
    """A client of a release.

    dialect: the name under which oracles know what it documents (fuzz/oracles/documented.py).
    prepare: gets what is missing (a venv, a build) and says how it is started; raises CannotRun.
    starts_s: seconds that its process may take until its first session has ended.
    """

    name: str
    dialect: str
    prepare: Callable[[], Program]
    starts_s: float = 30.0
