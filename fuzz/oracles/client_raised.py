"""An exception of a class that the client does not document left it, or ended a thread of its own.

Who uses a client catches what is documented. Anything else ends the application, or, in the background,
leaves a client behind that does nothing any more.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.oracles.documented import documented
from barnabas.fuzz.oracles.oracle import Oracle, Verdict

_FRAMES: Final = 3
"""Frames that tell one bug from another: where it was raised, and two callers."""


def _judge(observation: Observation) -> Iterator[Verdict]:
    facts: dict[str, Any] = dict(observation.facts)
    if not observation.raised or "bases" not in facts:
        return
    if documented(facts.get("dialect", ""), facts["bases"]):
        return
    first = observation.raised.splitlines()[0]
    how = (
        "left the client" if facts["where"] == "call" else f"ended a {facts['where']} of the client"
    )
    behaviour = (facts["bases"][0], *facts["frames"][:_FRAMES])
    yield Verdict("client-raised", f"{first}: undocumented, it {how}", behaviour)


CLIENT_RAISED: Final = Oracle(
    "client-raised",
    "the client raised an exception of an undocumented class",
    frozenset(("client",)),
    _judge,
    "an exception of a documented class",
)
