"""Ends a fetch or share session that began before a rule which needs the session's partitions.

The client then begins another session with a request that names all partitions, as after the eviction of its
session by a broker (KIP-227, KIP-932).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from barnabas.captures.kafka.context.sessions import INCREMENTAL
from barnabas.proxy.effects import FINAL, Answer
from barnabas.proxy.matching.message import Message
from barnabas.proxy.rules.rules import Decision
from barnabas.specs import api
from barnabas.specs.entities import values_at

_NOT_FOUND: Final = dict(zip(INCREMENTAL, (70, 122), strict=True))
"""API -> FETCH_SESSION_ID_NOT_FOUND, SHARE_SESSION_NOT_FOUND."""


def end_session(message: Message, decisions: Sequence[Decision]) -> list[Decision]:
    """Return the decision that ends the session of a request, if a rule needs that.

    A request with acknowledgements passes, because they would be lost; the next one ends the session.
    """
    rule = message.undecided_by_session
    ended = any(isinstance(effect, FINAL) for each in decisions for effect in each.effects)
    if not rule or ended:
        return []
    values = message.values()
    if values_at(values, ("topics", "partitions", "acknowledgement_batches")):
        return []
    codec = api(message.key).response.codec(message.version)
    body = codec.encode({"error_code": _NOT_FOUND[message.key]})
    return [Decision(rule, (Answer(body),), ("end the session, which began before the rule",))]
