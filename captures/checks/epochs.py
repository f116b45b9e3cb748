"""Group epochs of members with heartbeats of their own (KIP-848, 932, 1071), seen as generations.

The group epoch itself is not on the wire: a member is given it once it has revoked what it must. So here an
epoch begins when the first member is given it, and the others' partitions may have waited for the last one
that is. No message says why an epoch begins. A member joins with epoch 0 and leaves with -1 or -2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from barnabas.captures.checks.answered import Answered
from barnabas.captures.checks.facts import GROUP_TYPES
from barnabas.captures.checks.finding import evidence
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
    """What exchanges say of these groups, in the order in which they end. No epoch is shown before it is
    over."""

    def __init__(self, bytes_: int = BYTES) -> None:
        super().__init__(_read, bytes_)

    def _take(self, seen: Answered, group: Group) -> Iterator[Cause | Generation]:
        exchange, name, request, response, end, *_ = seen
        asked = request["member_epoch"]
        member = response["member_id"] or request["member_id"]
        one = group.members.get(member)
        if exchange.error or asked < 0:
            if one is not None and (asked < 0 or exchange.error in REMOVED):
                cause = one.cause(LEFT if asked < 0 else EXPIRED, name, exchange, "", group.members)
                group.members.discard(member)
                self._absent.began(one, cause)
                group.pending.append(cause)
                yield cause
            return
        if one is None:
            timeout = max(request.get("rebalance_timeout_ms", 0), 0)
            one = Member.of(exchange, member, request.get("instance_id"), timeout)
            group.members[member] = one
            if asked == 0:
                cause = one.cause(JOINED, name, exchange, "", group.members)
                cause.back = self._absent.ended(name, one)
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
            if one.epoch != epoch:
                told = (end, end, None, asked == 0, evidence(exchange))
                now.joins.append(Join(one.named(group.members), member, one.client, *told))
                now.members = len(group.members)
        one.epoch = epoch


def _read(exchange: Exchange) -> Iterable[Answered]:
    seen = Answered.of(exchange) if exchange.key in GROUP_TYPES else None
    return () if seen is None else (seen,)
