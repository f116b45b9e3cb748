"""Of two clients one takes an answer that the other refuses, or they take something else from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.oracles.oracle import Oracle, Verdict


def _judge(observation: Observation) -> Iterator[Verdict]:
    found = dict(observation.facts).get("clients_differ")
    if isinstance(found, list) and found:
        what, *behaviour = map(str, found)
        yield Verdict("clients-differ", what, tuple(behaviour))


CLIENTS_DIFFER: Final = Oracle(
    "clients-differ",
    "two clients make different things of one answer",
    frozenset(("client",)),
    _judge,
    "the same as the other client makes of it",
)
