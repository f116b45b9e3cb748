"""A client took far more memory than it was sent bytes, twice: the second time with this case alone in a new
process. What it took once may have been of a case before it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.observations.changed_fields import changed
from barnabas.fuzz.observations.client_memory import LIMIT, grown
from barnabas.fuzz.oracles.oracle import Oracle, Verdict


def _judge(observation: Observation) -> Iterator[Verdict]:
    more = grown(observation)
    if more >= LIMIT and dict(observation.facts).get("confirmed"):
        sent = sum(map(len, observation.case.chunks))
        what = f"{more >> 20} MiB more memory for {sent} bytes"
        yield Verdict("client-memory", what, changed(observation.case))


CLIENT_MEMORY: Final = Oracle(
    "client-memory",
    "the client allocated 512 MiB or more for a case",
    frozenset(("client",)),
    _judge,
    "memory in proportion to the response",
)
