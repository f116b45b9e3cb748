"""`central_states`: consumers of central coordination take only the steps of `states.CENTRAL_CONSUMER`.

A consumer is checked from its registration to the end of its connection: on another one it registers again.
After the registration the coordinator sends requests, and the consumer's responses are the steps.
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
    """Find requests that are not allowed in a consumer's state, and refusals that are not."""
    consumers: Memory[int, _Consumer] = Memory()

    def see(exchange: Exchange, context: Context) -> Iterator[Finding]:
        message = DialectExchange.of_dialect(CENTRAL_COORDINATION, exchange)
        if message is None:
            return
        if message.api == "RegisterConsumer":
            if message.error == "":
                consumers[message.connection] = _Consumer(
                    message.client, frozenset({REGISTERED}), evidence(exchange)
                )
            return
        known = consumers.get(message.connection)
        if known is None:
            return
        steps = {
            CENTRAL_CONSUMER.step(state, message.api, message.error or NONE)
            for state in known.states
        }
        after = frozenset(state for state in steps if state is not None)
        if not after:
            answer = "no answer" if message.error is None else message.error or NONE
            yield Finding(
                "error",
                f"{message.api} of consumer {known.name} ({answer}) is not allowed in state "
                f"{' or '.join(sorted(known.states))}",
                "Stop running fetchers before you start them again; a consumer may not reject a "
                "request.",
                (known.evidence, evidence(exchange)),
            )
        elif message.error is None:  # the consumer may have processed the request, or not
            known.states |= after
        elif after != known.states:
            known.states, known.evidence = after, evidence(exchange)

    return see


CHECK: Final = Check(
    "central_states", NoSettings(), central_states, "steps that central coordination does not allow",
    "the dialect central-coordination; consumers whose RegisterConsumer was captured",
)  # fmt: skip
