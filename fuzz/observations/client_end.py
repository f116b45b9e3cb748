"""How a client's process ended, told apart from other ends."""

from __future__ import annotations

from typing import Any, NamedTuple

from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.observations.changed_fields import about
from barnabas.fuzz.observations.crashes import crash, how


class ClientEnd(NamedTuple):
    """An end in words, and what tells it from others."""

    what: str
    behaviour: tuple[str, ...]


def client_end(observation: Observation) -> ClientEnd | None:
    """How the client ended, None if it did not or may. What tells no place in a program is told apart by
    the API and the field: every fault of C is the same signal."""
    death = observation.death
    if death is None:
        return None
    facts: dict[str, Any] = dict(observation.facts)
    said = crash(death.last_words)
    signalled = (death.exit_code or 0) < 0
    if facts.get("each") and said is None and not signalled:
        return None  # a command that is run for each case may say by its code that something failed
    code = how(death.exit_code)
    reason, frames = (code, ()) if said is None else said
    what = f"the process ended: {code}" + (f", {reason}" if said else "")
    place = frames or (about(observation.case) if signalled else ())
    return ClientEnd(what, (reason, *place))
