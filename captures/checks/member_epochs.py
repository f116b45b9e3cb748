"""Check `member_epochs`: members with group heartbeats only take the steps of `barnabas.specs.groups`.

A client that gives up waiting for a response sends its heartbeat again on another connection, and does not
know the responses in the capture. For that reason brokers accept the previous epoch (KIP-848).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from barnabas.captures.checks.facts import GROUP_TYPES
from barnabas.captures.checks.finding import Check, Evidence, Finding, NoSettings, See, evidence
from barnabas.captures.checks.group_messages import GroupMessage
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.memory import Memory
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.groups import CONSUMER_MEMBER, NONE
from barnabas.specs.groups.consumer import BEAT, JOINED, UNSUBSCRIBED, event


@dataclass(slots=True)
class _Member:
    group: str
    id: str
    losses: int
    evidence: Evidence
    state: str = UNSUBSCRIBED
    epoch: int = 0
    since: int = 0
    """When the client knew the state, in ns since the epoch, if it read the response."""

    def enter(self, state: str, message: GroupMessage) -> None:
        """Take the state from a response."""
        self.state, self.since, self.evidence = state, message.end, evidence(message.exchange)


def member_epochs(_: NoSettings) -> See:
    """Find steps that the protocol forbids, epochs that no broker assigned, and epochs that go back."""
    members: Memory[tuple[str, str], _Member] = Memory()

    def see(exchange: Exchange, context: Context) -> Iterator[Finding]:
        message = GroupMessage.of(exchange) if exchange.key in GROUP_TYPES else None
        if message is None:
            return
        request_epoch = message.request["member_epoch"]
        step, answer = event(request_epoch), exchange.error or NONE
        key = (message.group, message.response["member_id"] or message.request["member_id"])
        member = members.get(key)
        if member is None or member.losses != exchange.losses:
            if step == BEAT:
                members.pop(key, None)
                return  # the member joined before the capture
            member = members[key] = _Member(*key, exchange.losses, evidence(exchange))
        following = CONSUMER_MEMBER.step(member.state, step, answer)
        if exchange.ts > member.since:
            yield from _check_step(exchange, member, request_epoch, following)
        if following is not None:
            yield from _step(message, member, following, answer)
        elif exchange.connection != member.evidence.connection:
            member.enter(member.state, message)  # the client got the state on this connection

    return see


def _step(message: GroupMessage, member: _Member, following: str, answer: str) -> Iterator[Finding]:
    """Take a step that the protocol allows."""
    request_epoch, epoch = message.request["member_epoch"], message.response["member_epoch"]
    if following == JOINED and answer == NONE:
        if 0 < epoch < request_epoch:
            yield Finding(
                "error",
                f"group {member.group}: the broker answered member {member.id} with epoch {epoch}, "
                f"lower than its {request_epoch}",
                "Member epochs only grow: the coordinator has lost the group's state.",
                (member.evidence, evidence(message.exchange)),
                group=member.group,
            )
        member.epoch = epoch
    if following != member.state or answer == NONE:
        member.enter(following, message)


def _check_step(
    exchange: Exchange, member: _Member, request_epoch: int, following: str | None
) -> Iterator[Finding]:
    same_connection = exchange.connection == member.evidence.connection
    if following is None and (same_connection or exchange.error == ""):
        meaning = dict(CONSUMER_MEMBER.states)[member.state]
        yield Finding(
            "error" if exchange.error == "" else "warning",
            f"group {member.group}: a heartbeat with epoch {request_epoch} of member {member.id} in state "
            f"{member.state} ({meaning}) was answered with {exchange.error or NONE}",
            "A member that was fenced or has left must join again with epoch 0.",
            (member.evidence, evidence(exchange)),
            group=member.group,
        )
    elif (
        same_connection
        and request_epoch > 0
        and member.state == JOINED
        and request_epoch != member.epoch
    ):
        yield Finding(
            "warning",
            f"group {member.group}: member {member.id} sent a heartbeat with epoch {request_epoch}; its "
            f"current epoch is {member.epoch}",
            "A member must send the epoch of the latest response.",
            (member.evidence, evidence(exchange)),
            group=member.group,
        )


CHECK: Final = Check(
    "member_epochs", NoSettings(), member_epochs, "steps that the protocol of KIP-848 does not allow",
    "ConsumerGroupHeartbeat v0+ (KIP-848), ShareGroupHeartbeat v0+ (KIP-932), "
    "StreamsGroupHeartbeat v0+ (KIP-1071); members whose first heartbeat was captured", "group",
)  # fmt: skip
