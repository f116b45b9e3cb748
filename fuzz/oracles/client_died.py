"""The client's process ended: whatever a broker sends, it must not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.observations.client_end import client_end
from barnabas.fuzz.oracles.oracle import Oracle, Verdict


def _judge(observation: Observation) -> Iterator[Verdict]:
    end = client_end(observation)
    if end is not None:
        yield Verdict("client-died", *end)


CLIENT_DIED: Final = Oracle(
    "client-died",
    "the client's process died",
    frozenset(("client",)),
    _judge,
    "an error that the application can handle",
)
