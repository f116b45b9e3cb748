"""`member_epochs`: members with heartbeats of their own take only the steps of `barnabas.specs.groups`.

A client that gives up waiting for a response sends its heartbeat again on another connection, and does not
know what the capture shows. Brokers accept the epoch before for that reason (KIP-848).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from barnabas.captures.checks.answered import Answered
from barnabas.captures.checks.facts import GROUP_TYPES
from barnabas.captures.checks.finding import Check, Evidence, Finding, NoSettings, See, evidence
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
    """When the client knew of the state, in ns since the epoch, if it read the response."""

    def enter(self, state: str, seen: Answered) -> None:
        """Take over what a response says."""
        self.state, self.since, self.evidence = state, seen.end, evidence(seen.exchange)


def member_epochs(_: NoSettings) -> See:
    """Steps that the table does not have, epochs that nobody gave, and epochs that go back."""
    members: Memory[tuple[str, str], _Member] = Memory()

    def see(exchange: Exchange, context: Context) -> Iterator[Finding]:
        seen = Answered.of(exchange) if exchange.key in GROUP_TYPES else None
        if seen is None:
            return
        asked = seen.request["member_epoch"]
        what, answer = event(asked), exchange.error or NONE
        key = (seen.group, seen.response["member_id"] or seen.request["member_id"])
        member = members.get(key)
        if member is None or member.losses != exchange.losses:
            if what == BEAT:
                members.pop(key, None)
                return  # it began before anybody looked
            member = members[key] = _Member(*key, exchange.losses, evidence(exchange))
        following = CONSUMER_MEMBER.step(member.state, what, answer)
        if exchange.ts > member.since:
            yield from _judged(exchange, member, asked, following)
        if following is not None:
            yield from _step(seen, member, following, answer)
        elif exchange.connection != member.evidence.connection:
            member.enter(member.state, seen)  # now it is told on this connection

    return see


def _step(seen: Answered, member: _Member, following: str, answer: str) -> Iterator[Finding]:
    """Take a step that the table has."""
    asked, epoch = seen.request["member_epoch"], seen.response["member_epoch"]
    if following == JOINED and answer == NONE:
        if 0 < epoch < asked:
            yield Finding(
                "error",
                f"group {member.group}: the broker answered member {member.id} with epoch {epoch}, "
                f"lower than its {asked}",
                "Member epochs only grow: the coordinator has lost the group's state.",
                (member.evidence, evidence(seen.exchange)),
            )
        member.epoch = epoch
    if following != member.state or answer == NONE:
        member.enter(following, seen)


def _judged(
    exchange: Exchange, member: _Member, asked: int, following: str | None
) -> Iterator[Finding]:
    here = exchange.connection == member.evidence.connection
    if following is None and (here or exchange.error == ""):
        meaning = dict(CONSUMER_MEMBER.states)[member.state]
        yield Finding(
            "error" if exchange.error == "" else "warning",
            f"group {member.group}: a heartbeat with epoch {asked} of member {member.id} in state "
            f"{member.state} ({meaning}) was answered with {exchange.error or NONE}",
            "A member that was fenced or has left must join again with epoch 0.",
            (member.evidence, evidence(exchange)),
        )
    elif here and asked > 0 and member.state == JOINED and asked != member.epoch:
        yield Finding(
            "warning",
            f"group {member.group}: member {member.id} sent a heartbeat with epoch {asked}; its "
            f"current epoch is {member.epoch}",
            "A member must send the epoch of the latest response.",
            (member.evidence, evidence(exchange)),
        )


CHECK: Final = Check(
    "member_epochs", NoSettings(), member_epochs, "steps that the protocol of KIP-848 does not allow",
    "ConsumerGroupHeartbeat v0+ (KIP-848), ShareGroupHeartbeat v0+ (KIP-932), "
    "StreamsGroupHeartbeat v0+ (KIP-1071); members whose first heartbeat was captured", "group",
)  # fmt: skip
