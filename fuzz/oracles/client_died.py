"""The client's process ended: whatever a broker sends, it must not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.oracles.crashes import crash, how
from barnabas.fuzz.oracles.fields import about
from barnabas.fuzz.oracles.oracle import Oracle, Verdict


def ended(observation: Observation) -> Verdict | None:
    """How the client ended, None if it did not or may. What tells no place in a program is told apart by
    the API and the field: every fault of C is the same signal."""
    death = observation.death
    if death is None:
        return None
    facts: dict[str, Any] = dict(observation.facts)
    said = crash(death.last_words)
    if facts.get("each") and said is None and death.exit_code >= 0:
        return None  # a command that is run for each case may say by its code that something failed
    code = how(death.exit_code)
    reason, frames = (code, ()) if said is None else said
    what = f"the process ended: {code}" + (f", {reason}" if said else "")
    place = frames or (() if death.exit_code >= 0 else about(observation.case))
    return Verdict("client-died", what, (reason, *place))


def _judge(observation: Observation) -> Iterator[Verdict]:
    verdict = ended(observation)
    if verdict is not None:
        yield verdict


CLIENT_DIED: Final = Oracle(
    "client-died", "the client's process died", frozenset(("client",)), _judge
)
