"""Sessions of groups in which a member has to join again."""

from __future__ import annotations

from typing import Final

from barnabas.fuzz.bench_broker.contexts.context import Context, Turn, top_error
from barnabas.specs import keys

_UNKNOWN_MEMBER_ID: Final = 25
_REBALANCE_IN_PROGRESS: Final = 27
_FENCED_MEMBER_EPOCH: Final = 110

_AGAIN: Final = {keys.JOIN_GROUP: 0, keys.SYNC_GROUP: 0}

CONTEXTS: Final = (
    Context(
        "rebalance",
        _AGAIN,
        "group",
        turns=(Turn(keys.SYNC_GROUP, top_error(_REBALANCE_IN_PROGRESS)),),
    ),
    Context(
        "member-forgotten",
        _AGAIN,
        "group",
        turns=(Turn(keys.SYNC_GROUP, top_error(_UNKNOWN_MEMBER_ID)),),
    ),
    Context(
        "member-fenced",
        {keys.CONSUMER_GROUP_HEARTBEAT: 0},
        "consumer-protocol",
        turns=(Turn(keys.CONSUMER_GROUP_HEARTBEAT, top_error(_FENCED_MEMBER_EPOCH)),),
    ),
)
