"""What a client is: how its program is got and started."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from barnabas.fuzz.observations.client_memory import LIMIT


class Program(NamedTuple):
    """A command and its environment. each: it is started for every case, with {bootstrap} and {topic}
    put in, and ends by itself; else it runs one session after the other, as `programs/lines.py` says."""

    line: Sequence[str]
    environment: Mapping[str, str] = {}
    each: bool = False


class Limits(NamedTuple):
    """Times in seconds, memory in bytes.

    patience_s: how long a client may sit on an answer before its connection is closed; also what it has
    left of a session when it is through with the case. hung_s: how long a session may take once it was said
    to be over, and twice as long if it never is; a client's own timeouts are far below. starts_s: until its
    process is ready. memory: resident memory that one case may cost.
    """

    patience_s: float = 0.05
    hung_s: float = 4.0
    starts_s: float = 30.0
    memory: int = LIMIT


class Client(NamedTuple):
    """A client of a release.

    dialect: the name under which oracles know what it documents (fuzz/oracles/documented.py).
    prepare: gets what is missing (a venv, a build) and says how it is started; raises CannotRun.
    side_by_side: sessions at once, each with a process of its own. Much of their time they wait, so
    there are more of them than cores.
    """

    name: str
    dialect: str
    prepare: Callable[[], Program]
    limits: Limits = Limits()
    side_by_side: int = 16
