"""Ends a fetch or share session that began before a rule which needs the session's partitions.

The client then begins another session with a request that names all partitions, as after the eviction of its
session by a broker (KIP-227, KIP-932).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from barnabas.captures.kafka.context.sessions import INCREMENTAL, NOT_FOUND
from barnabas.proxy.effects import Answer
from barnabas.proxy.matching.message import Message
from barnabas.proxy.rules.rules import Decision
from barnabas.specs import api
from barnabas.specs.entities import values_at

_NOT_FOUND: Final = dict(zip(INCREMENTAL, NOT_FOUND, strict=True))
"""API -> the error by which a broker reports that it does not know a session."""


def end_session(message: Message, decisions: Sequence[Decision]) -> list[Decision]:
    """Return the decision that ends the session of a request, if a rule needs that.

    A request with acknowledgements passes, because they would be lost; the next one ends the session.
    """
    rule = message.undecided_by_session
    if not rule or any(decision.is_final for decision in decisions):
        return []
    values = message.values()
    if values_at(values, ("topics", "partitions", "acknowledgement_batches")):
        return []
    codec = api(message.key).response.codec(message.version)
    body = codec.encode({"error_code": _NOT_FOUND[message.key]})
    return [Decision(rule, (Answer(body),), ("end the session, which began before the rule",))]
