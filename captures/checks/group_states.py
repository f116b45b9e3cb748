"""Check `group_states`: members and coordinators of classic groups only take the steps of `specs.groups`.

A client that gives up waiting for a response sends its request again on another connection, and does not know
the responses in the capture: an error on the new connection is the first that it receives.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from barnabas.captures.checks.finding import Check, Evidence, Finding, NoSettings, See, evidence
from barnabas.captures.checks.group_messages import GroupMessage
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.memory import Memory
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.groups import CLASSIC_MEMBER, NONE
from barnabas.specs.groups.classic import UNJOINED
from barnabas.specs.keys import (
    HEARTBEAT,
    JOIN_GROUP,
    LEAVE_GROUP,
    OFFSET_COMMIT,
    SYNC_GROUP,
    TXN_OFFSET_COMMIT,
)

_KEYS: Final = (JOIN_GROUP, SYNC_GROUP, HEARTBEAT, OFFSET_COMMIT, TXN_OFFSET_COMMIT, LEAVE_GROUP)


@dataclass(slots=True)
class _Member:
    group: str
    id: str
    losses: int
    evidence: Evidence
    state: str = UNJOINED
    generation: int = -1
    leads: bool = False
    since: int = 0
    """When the client knew the state, in ns since the epoch."""

    def enter(self, state: str, message: GroupMessage) -> None:
        """Change the state, and after a JoinGroup the generation, too."""
        self.state, self.since, self.evidence = state, message.end, evidence(message.exchange)
        if message.exchange.key == JOIN_GROUP and not message.exchange.error:
            self.generation = message.response["generation_id"]
            self.leads = message.response["leader"] == message.response["member_id"]


def group_states(_: NoSettings) -> See:
    """Find steps that the protocol does not allow, stale generations, and assignments by a follower."""
    members: Memory[tuple[str, str], _Member] = Memory()

    def see(exchange: Exchange, context: Context) -> Iterator[Finding]:
        message = GroupMessage.of(exchange) if exchange.key in _KEYS else None
        if message is None:
            return
        request, answer = message.request, exchange.error or NONE
        if exchange.key == LEAVE_GROUP:
            for leaving in request.get("members", [request]):
                member = members.get((message.group, leaving["member_id"]))
                if member is not None and answer == NONE:
                    member.enter(UNJOINED, message)
            return
        key = (message.group, message.response.get("member_id") or request.get("member_id", ""))
        member = members.get(key)
        if member is not None and member.losses == exchange.losses:
            yield from _step(message, member, answer)
            return
        members.pop(key, None)
        if exchange.key == JOIN_GROUP and answer == NONE:
            member = members[key] = _Member(*key, exchange.losses, evidence(exchange))
            member.enter(CLASSIC_MEMBER.step(UNJOINED, exchange.api, answer) or UNJOINED, message)

    return see


def _step(message: GroupMessage, member: _Member, answer: str) -> Iterator[Finding]:
    exchange, _, request, *_ = message
    generation = request.get("generation_id", request.get("generation_id_or_member_epoch", -1))
    late = exchange.ts > member.since
    if generation < 0 and exchange.key in (SYNC_GROUP, HEARTBEAT):
        yield Finding(
            "error",
            f"group {member.group}: member {member.id} sent {exchange.api} without a generation",
            "A member that lost its generation must join again: only JoinGroup goes without one.",
            (member.evidence, evidence(exchange)),
            group=member.group,
        )
        return
    if exchange.key != JOIN_GROUP and generation != member.generation:
        # `commits` covers commits; a request that only claims the member id proves nothing
        if generation >= 0 and late and answer == NONE and exchange.key in (SYNC_GROUP, HEARTBEAT):
            yield Finding(
                "error",
                f"group {member.group}: the broker accepted {exchange.api} of generation "
                f"{generation} from member {member.id}, which is in generation {member.generation}",
                "A coordinator must reject it with ILLEGAL_GENERATION: otherwise two members may "
                "own a partition.",
                (member.evidence, evidence(exchange)),
                group=member.group,
            )
        return
    if exchange.key == SYNC_GROUP and request["assigns"] and not member.leads:
        yield Finding(
            "error",
            f"group {member.group}: member {member.id} sent assignments, but is not the leader of "
            f"generation {generation}",
            "Only the member that JoinGroup names as leader may send assignments.",
            (member.evidence, evidence(exchange)),
            group=member.group,
        )
    following = CLASSIC_MEMBER.step(member.state, exchange.api, answer)
    if following is None:
        same_connection = exchange.connection == member.evidence.connection
        if late and (same_connection or answer == NONE):
            yield _violation(exchange, member, answer)
        if not same_connection:
            member.enter(member.state, message)
    elif following != member.state or exchange.key == JOIN_GROUP:
        member.enter(following, message)


def _violation(exchange: Exchange, member: _Member, answer: str) -> Finding:
    text = f"group {member.group}: {exchange.api} of member {member.id} in state {member.state}"
    text += f" ({dict(CLASSIC_MEMBER.states)[member.state]})"
    both = (member.evidence, evidence(exchange))
    if answer == NONE:
        advice = "The coordinator has lost the group's state: two members may own a partition."
        return Finding("error", f"{text} was accepted", advice, both, group=member.group)
    advice = "The member must rejoin before it continues."
    return Finding("warning", f"{text}: {answer}", advice, both, group=member.group)


CHECK: Final = Check(
    "group_states", NoSettings(), group_states, "steps that the classic group protocol does not allow",
    "classic groups, JoinGroup v0+ (0.9), static members included (KIP-345); members whose "
    "JoinGroup was captured, requests sent after the member knew the state that they contradict", "group",
)  # fmt: skip
