"""What became of a client in a session: its process's end, its memory, a throttle that it obeys."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.observations.case_labels import api_and_field, last_change
from barnabas.fuzz.observations.crashes import describe_exit, find_crash
from barnabas.specs import Malformed, decode_frame

LIMIT: Final = 512 << 20
"""Bytes of memory that a case may cost: no response here has a hundredth of that."""

CLAIMED: Final = "claimed"
"""The fact of a case for which a client claimed much address space: the bytes."""

WRONG_DATA: Final = "wrong_data"
"""The fact of a session whose consumer delivered other records than it should: what it did, the context, the
partition and the offset."""


def memory_growth(observation: Observation) -> int:
    """Return the bytes of memory that the case cost; 0 if they were not measured."""
    before, highest = observation.rss or (0, 0)
    return max(highest - before, claimed(observation))


def claimed(observation: Observation) -> int:
    """Return the bytes of address space that the case cost, if they are many; else 0."""
    facts: dict[str, Any] = dict(observation.facts)
    return int(facts.get(CLAIMED, 0))


class ClientEnd(NamedTuple):
    """The end of a client as a message, and what tells it from others."""

    message: str
    behaviour: tuple[str, ...]


def client_end(observation: Observation) -> ClientEnd | None:
    """Return how the client ended; None if it did not, or was allowed to.

    An end without a location in the program is told apart by API and field: every fault in C is the same
    signal.
    """
    death = observation.death
    if death is None:
        return None
    facts: dict[str, Any] = dict(observation.facts)
    native_crash = find_crash(death.last_words)
    signalled = (death.exit_code or 0) < 0
    if facts.get("each") and native_crash is None and not signalled:
        return None  # the exit code of a command may report a failure
    code = describe_exit(death.exit_code)
    reason, frames = (code, ()) if native_crash is None else native_crash
    message = f"the process ended: {code}" + (f", {reason}" if native_crash else "")
    location = frames or (api_and_field(observation.case) if signalled else ())
    return ClientEnd(message, (reason, *location))


def is_throttled(case: Case) -> bool:
    """Return whether a throttle made the client wait (KIP-219).

    The case changed throttle_time_ms, or its response has a value above 0 there, whatever was changed.
    """
    seed = case.recipe.seed
    if any(label.endswith("throttle_time_ms") for label in last_change(case)):
        return True
    try:
        frame = b"".join(case.chunks)[4:]
        sent = decode_frame(frame, "response", key=seed.key, version=seed.version)
    except Malformed:
        return False
    return int(sent.body.get("throttle_time_ms", 0)) > 0
