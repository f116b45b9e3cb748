"""What a client must not do, whatever it is sent: die, hang, take much memory, raise what is undocumented."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from barnabas.fuzz.cases.observation import SPINS, Observation
from barnabas.fuzz.observations.changed_fields import api_and_change, changed
from barnabas.fuzz.observations.client_end import client_end
from barnabas.fuzz.observations.client_memory import LIMIT, grown
from barnabas.fuzz.observations.told_to_wait import told_to_wait
from barnabas.fuzz.oracles.documented import documented
from barnabas.fuzz.oracles.oracle import Verdict

_FRAMES: Final = 3
"""Frames that tell one bug from another: where an exception was raised, and two callers."""


def died(observation: Observation) -> Iterator[Verdict]:
    """Report a client's process that ended."""
    end = client_end(observation)
    if end is not None:
        yield Verdict("client-died", *end)


def hung(observation: Observation) -> Iterator[Verdict]:
    """Report a call that did not return, long after its own timeouts and with a broker that answers.

    No progress alone is nothing: good clients fetch a corrupt batch again and again, in silence. Here a call
    was given a timeout, all connections of the case are closed or answered, and still no new session could
    begin, twice: the second time with this case alone in a new process. A client that is told to wait
    (throttle_time_ms, KIP-219) may. A client that computes is another bug than one that waits.
    """
    probe = observation.probe
    facts: dict[str, Any] = dict(observation.facts)
    # who died ended its session: that is for `died`
    if probe is None or probe.answered or observation.death is not None:
        return
    if facts.get("confirmed") and not told_to_wait(observation.case):
        api, *change = api_and_change(observation.case)
        doing = "computes" if facts.get(SPINS) else "waits"
        what = f"the client hangs and {doing}: {probe.problem}"
        yield Verdict("client-hung", what, (api, doing, *change))


def memory(observation: Observation) -> Iterator[Verdict]:
    """Report a client that took far more memory than it was sent bytes.

    It did so twice, the second time with this case alone in a new process: what it took once may have been of
    a case before.
    """
    more = grown(observation)
    if more >= LIMIT and dict(observation.facts).get("confirmed"):
        sent = sum(map(len, observation.case.chunks))
        what = f"{more >> 20} MiB more memory for {sent} bytes"
        yield Verdict("client-memory", what, changed(observation.case))


def raised(observation: Observation) -> Iterator[Verdict]:
    """Report an exception of an undocumented class that left the client, or ended a thread of its own.

    Applications catch what is documented. Anything else ends the application, or, in the background, leaves a
    client that does nothing any more.
    """
    facts: dict[str, Any] = dict(observation.facts)
    if not observation.raised or "bases" not in facts:
        return
    if documented(facts.get("dialect", ""), facts["bases"]):
        return
    first = observation.raised.splitlines()[0]
    where = facts["where"]
    how = "left the client" if where == "call" else f"ended a {where} of the client"
    behaviour = (facts["bases"][0], *facts["frames"][:_FRAMES])
    yield Verdict("client-raised", f"{first}: undocumented, it {how}", behaviour)
