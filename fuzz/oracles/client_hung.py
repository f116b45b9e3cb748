"""A call of a client did not come back, long after its own timeouts and with a broker that answers.

No progress alone is nothing: good clients fetch a corrupt batch again and again, in silence. Here a call
was given a timeout, all connections of the case are closed or answered, and still no new session could
begin, twice: the second time with this case alone in a new process. Who is told to wait
(throttle_time_ms, KIP-219) may. A client that computes is another bug than one that waits.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from barnabas.fuzz.cases.observation import SPINS, Observation
from barnabas.fuzz.observations.changed_fields import api_and_change
from barnabas.fuzz.observations.told_to_wait import told_to_wait
from barnabas.fuzz.oracles.oracle import Oracle, Verdict


def _judge(observation: Observation) -> Iterator[Verdict]:
    probe = observation.probe
    facts: dict[str, Any] = dict(observation.facts)
    # who died ended its session: that is for `client-died`
    if probe is None or probe.answered or observation.death is not None:
        return
    if facts.get("confirmed") and not told_to_wait(observation.case):
        api, *change = api_and_change(observation.case)
        doing = "computes" if facts.get(SPINS) else "waits"
        what = f"the client hangs and {doing}: {probe.problem}"
        yield Verdict("client-hung", what, (api, doing, *change))


CLIENT_HUNG: Final = Oracle(
    "client-hung",
    "a call of the client does not return, and no new session starts",
    frozenset(("client",)),
    _judge,
    "the call returns, with an error or a result",
)
