"""`member_epochs`: members with heartbeats of their own take only the steps of `barnabas.specs.groups`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from barnabas.captures.checks.finding import (
    Check,
    Evidence,
    Finding,
    NoSettings,
    See,
    answered,
    evidence,
)
from barnabas.captures.checks.groups import GROUP_APIS
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.memory import Memory
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.groups import CONSUMER_MEMBER, NONE
from barnabas.specs.groups.consumer import BEAT, JOINED, UNSUBSCRIBED, event

HEARTBEATS: Final = (68, 76, 88)
"""ConsumerGroupHeartbeat, ShareGroupHeartbeat, StreamsGroupHeartbeat."""


@dataclass(slots=True)
class _Member:
    state: str
    epoch: int
    since: int
    losses: int
    evidence: Evidence


def member_epochs(_: NoSettings) -> See:
    """Steps that the table does not have, epochs that nobody gave, and epochs that go back."""
    members: Memory[tuple[str, str], _Member] = Memory()

    def see(exchange: Exchange, context: Context) -> Iterator[Finding]:
        request, response = (
            exchange.request if exchange.key in HEARTBEATS else None,
            exchange.response,
        )
        end = answered(exchange)
        if not request or not response or end is None:
            return
        asked = request["member_epoch"]
        what, answer = event(asked), exchange.error or NONE
        key = (request["group_id"], response["member_id"] or request["member_id"])
        member = members.get(key)
        if member is None or member.losses != exchange.losses:
            if what == BEAT:
                members.pop(key, None)
                return  # it began before anybody looked
            member = _Member(UNSUBSCRIBED, 0, 0, exchange.losses, evidence(exchange))
            members[key] = member
        following = CONSUMER_MEMBER.step(member.state, what, answer)
        if exchange.ts > member.since:
            yield from _judged(exchange, member, key, asked, following)
        if following is None:
            return
        if following == JOINED and answer == NONE:
            if 0 < response["member_epoch"] < asked:
                yield Finding(
                    "error",
                    f"group {key[0]}: the broker answered member {key[1]} with epoch "
                    f"{response['member_epoch']}, lower than its {asked}",
                    "Member epochs only grow: the coordinator has lost the group's state.",
                    (member.evidence, evidence(exchange)),
                )
            member.epoch = response["member_epoch"]
        if following != member.state or answer == NONE:
            member.state, member.since, member.evidence = following, end, evidence(exchange)

    return see


def _judged(
    exchange: Exchange, member: _Member, key: tuple[str, str], asked: int, following: str | None
) -> Iterator[Finding]:
    if following is None:
        meaning = dict(CONSUMER_MEMBER.states)[member.state]
        yield Finding(
            "error" if exchange.error == "" else "warning",
            f"group {key[0]}: a heartbeat with epoch {asked} of member {key[1]} in state "
            f"{member.state} ({meaning}) was answered with {exchange.error or NONE}",
            "A member that was fenced or has left must join again with epoch 0.",
            (member.evidence, evidence(exchange)),
        )
    elif asked > 0 and member.state == JOINED and asked != member.epoch:
        yield Finding(
            "warning",
            f"group {key[0]}: member {key[1]} sent a heartbeat with epoch {asked}; its current "
            f"epoch is {member.epoch}",
            "A member must send the epoch of the latest response.",
            (member.evidence, evidence(exchange)),
        )


CHECK: Final = Check(
    "member_epochs", NoSettings(), member_epochs, "steps that the protocol of KIP-848 does not allow",
    "ConsumerGroupHeartbeat v0+ (KIP-848), ShareGroupHeartbeat v0+ (KIP-932), "
    "StreamsGroupHeartbeat v0+ (KIP-1071); members whose first heartbeat was captured", "group",
    reads=GROUP_APIS,
)  # fmt: skip
