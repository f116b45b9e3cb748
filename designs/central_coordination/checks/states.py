"""`central_states`: consumers of central coordination take only the steps of `states.CENTRAL_CONSUMER`.

A consumer is looked at from its registration to the end of its connection: on another one it has
registered anew. From then on the coordinator asks, and the steps are the consumer's answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from barnabas.captures.checks.finding import Check, Evidence, Finding, NoSettings, See, evidence
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.memory import Memory
from barnabas.captures.kafka.exchange import Exchange
from barnabas.designs.central_coordination.schemas import CENTRAL_COORDINATION
from barnabas.designs.central_coordination.states import CENTRAL_CONSUMER, REGISTERED
from barnabas.designs.exchange import DialectExchange
from barnabas.specs.groups.table import NONE


@dataclass(slots=True)
class _Consumer:
    name: str
    states: frozenset[str]
    evidence: Evidence


def central_states(_: NoSettings) -> See:
    """Find requests that a consumer must not get, or must not refuse, in its state."""
    consumers: Memory[int, _Consumer] = Memory()

    def see(exchange: Exchange, context: Context) -> Iterator[Finding]:
        seen = DialectExchange.of_dialect(CENTRAL_COORDINATION, exchange)
        if seen is None:
            return
        if seen.api == "RegisterConsumer":
            if seen.error == "":
                consumers[seen.connection] = _Consumer(
                    seen.client, frozenset({REGISTERED}), evidence(exchange)
                )
            return
        known = consumers.get(seen.connection)
        if known is None:
            return
        steps = {CENTRAL_CONSUMER.step(one, seen.api, seen.error or NONE) for one in known.states}
        after = frozenset(one for one in steps if one is not None)
        if not after:
            answer = "no answer" if seen.error is None else seen.error or NONE
            yield Finding(
                "error",
                f"{seen.api} of consumer {known.name} ({answer}) is not allowed in state "
                f"{' or '.join(sorted(known.states))}",
                "Stop running fetchers before you start them again; a consumer may not reject a "
                "request.",
                (known.evidence, evidence(exchange)),
            )
        elif seen.error is None:  # it may have done what it was asked, or not
            known.states |= after
        elif after != known.states:
            known.states, known.evidence = after, evidence(exchange)

    return see


CHECK: Final = Check(
    "central_states", NoSettings(), central_states, "steps that central coordination does not allow",
    "the dialect central-coordination; consumers whose RegisterConsumer was captured",
)  # fmt: skip
