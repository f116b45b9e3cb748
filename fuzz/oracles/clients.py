"""Oracles of clients: no crash, no hang, little memory, the right records, no undocumented exceptions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from barnabas.fuzz.cases.observation import SPINS, Observation
from barnabas.fuzz.observations.case_labels import api_and_field, last_change
from barnabas.fuzz.observations.client_outcome import (
    LIMIT,
    WRONG_DATA,
    claimed,
    client_end,
    is_throttled,
    memory_growth,
)
from barnabas.fuzz.observations.helper_frames import naming_frames
from barnabas.fuzz.oracles.documented import documented
from barnabas.fuzz.oracles.oracle import Verdict


def died(observation: Observation) -> Iterator[Verdict]:
    """Report a client's process that ended."""
    end = client_end(observation)
    if end is not None:
        yield Verdict("client-died", *end)


def hung(observation: Observation) -> Iterator[Verdict]:
    """Report a call that did not return, long after its own timeouts and with a broker that responds.

    Missing progress alone is no finding: good clients fetch a corrupt batch again and again. Here a call had
    a timeout, all connections of the case are closed or answered, and still no new session could begin,
    twice: the second time with this case alone in a new process. A throttled client (throttle_time_ms,
    KIP-219) may wait. A client that computes is another bug than one that waits.
    """
    probe = observation.probe
    facts: dict[str, Any] = dict(observation.facts)
    # a client that ended is reported by `died`
    if probe is None or probe.answered or observation.death is not None:
        return
    if facts.get("confirmed") and not is_throttled(observation.case):
        api, *fields = api_and_field(observation.case)
        doing = "computes" if facts.get(SPINS) else "waits"
        message = f"the client hangs and {doing}: {probe.problem}"
        yield Verdict("client-hung", message, (api, doing, *fields))


def memory(observation: Observation) -> Iterator[Verdict]:
    """Report a client whose memory grew far beyond the bytes it was sent.

    It grew twice, the second time with this case alone in a new process: the first growth may have been an
    earlier case's. Memory that is claimed and never touched counts, too.
    """
    more = memory_growth(observation)
    if more >= LIMIT and dict(observation.facts).get("confirmed"):
        sent = sum(map(len, observation.case.chunks))
        resource = "address space" if more == claimed(observation) else "memory"
        message = f"{more >> 20} MiB more {resource} for {sent} bytes"
        yield Verdict("client-memory", message, last_change(observation.case))


def wrong_data(observation: Observation) -> Iterator[Verdict]:
    """Report a read_committed consumer that delivers aborted records, or skips committed ones.

    It did twice, the second time with this case alone in a new process.
    """
    facts: dict[str, Any] = dict(observation.facts)
    if WRONG_DATA in facts and facts.get("confirmed"):
        doing, context, partition, offset = facts[WRONG_DATA]
        message = f"the consumer {doing}, {context}: offset {offset} of partition {partition}"
        yield Verdict("client-wrong-data", message, (doing, context))


def raised(observation: Observation) -> Iterator[Verdict]:
    """Report an exception of an undocumented class that left the client, or ended one of its threads.

    Applications catch what is documented. Anything else ends the application, or, in the background, leaves a
    client that does nothing any more.
    """
    facts: dict[str, Any] = dict(observation.facts)
    if not observation.raised or "bases" not in facts:
        return
    if documented(facts.get("dialect", ""), facts["bases"], facts["frames"]):
        return
    first = observation.raised.splitlines()[0]
    location = facts["where"]
    how = "left the client" if location == "call" else f"ended a {location} of the client"
    behaviour = (facts["bases"][0], *naming_frames(facts["frames"]))
    yield Verdict("client-raised", f"{first}: undocumented, it {how}", behaviour)
