"""Track group epochs of members with group heartbeats (KIP-848, 932, 1071) as generations.

The group epoch itself is not on the wire: a member gets it after it has revoked its partitions. So here an
epoch begins when the first member gets it; the other members' partitions may have waited for the last one. No
message has the reason of an epoch. A member joins with epoch 0 and leaves with -1 or -2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from barnabas.captures.checks.facts import GROUP_TYPES
from barnabas.captures.checks.finding import evidence
from barnabas.captures.checks.group_messages import GroupMessage
from barnabas.captures.checks.groups import REMOVED, Group, Groups
from barnabas.captures.checks.rebalance import (
    EXPIRED,
    JOINED,
    LEFT,
    Cause,
    Generation,
    Join,
    Member,
)
from barnabas.captures.kafka.context.memory import BYTES, Weighed
from barnabas.captures.kafka.exchange import Exchange


class Epochs(Groups):
    """The group epochs in exchanges, in the order in which the exchanges end.

    An epoch is returned when it is over.
    """

    def __init__(self, bytes_: int = BYTES) -> None:
        super().__init__(_read, bytes_)

    def _take(self, message: GroupMessage, group: Group) -> Iterator[Cause | Generation]:
        exchange, name, request, response, end, *_ = message
        request_epoch = request["member_epoch"]
        member = response["member_id"] or request["member_id"]
        state = group.members.get(member)
        if exchange.error or request_epoch < 0:
            if state is not None and (request_epoch < 0 or exchange.error in REMOVED):
                cause = state.cause(
                    LEFT if request_epoch < 0 else EXPIRED, name, exchange, "", group.members
                )
                group.members.discard(member)
                self._absent.began(state, cause)
                group.pending.append(cause)
                yield cause
            return
        if state is None:
            timeout = max(request.get("rebalance_timeout_ms", 0), 0)
            state = Member.of(exchange, member, request.get("instance_id"), timeout)
            group.members[member] = state
            if request_epoch == 0:
                cause = state.cause(JOINED, name, exchange, "", group.members)
                cause.back = self._absent.ended(name, state)
                group.pending.append(cause)
                yield cause
        epoch, now = response["member_epoch"], group.now
        if now is None or epoch > now.number:
            if now is not None:
                yield now.ended()
            type_, assignor = GROUP_TYPES[exchange.key], request.get("server_assignor") or ""
            now = group.now = Generation(name, epoch, type_, assignor, end)
        if epoch == now.number:
            for cause in group.pending:
                now.causes.append(cause)
            group.pending = Weighed()
            if state.epoch != epoch:
                times = (end, end, None, request_epoch == 0, evidence(exchange))
                now.joins.append(Join(state.named(group.members), member, state.client, *times))
                now.members = len(group.members)
        state.epoch = epoch


def _read(exchange: Exchange) -> Iterable[GroupMessage]:
    message = GroupMessage.of(exchange) if exchange.key in GROUP_TYPES else None
    return () if message is None else (message,)
