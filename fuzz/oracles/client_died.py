"""The client's process ended: whatever a broker sends, it must not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from fuzz.observation import Observation
from fuzz.oracles.crashes import crash, how
from fuzz.oracles.oracle import Oracle, Verdict


def _judge(observation: Observation) -> Iterator[Verdict]:
    death = observation.death
    if death is None:
        return
    facts: dict[str, Any] = dict(observation.facts)
    said = crash(death.last_words)
    if facts.get("each") and said is None and death.exit_code >= 0:
        return  # a command that is run for each case may say by its code that something failed
    ended = how(death.exit_code)
    if said is None:
        yield Verdict("client-died", f"the process ended: {ended}", (ended,))
    else:
        what = f"the process ended: {ended}, {said.reason}"
        yield Verdict("client-died", what, (said.reason, *said.frames))


CLIENT_DIED: Final = Oracle(
    "client-died", "the client's process died", frozenset(("client",)), _judge
)
