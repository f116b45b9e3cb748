"""`group_states`: members and coordinators of classic groups take only the steps of `specs.groups`.

A client that gives up waiting for a response sends its request again on another connection, and does not
know what the capture shows: a refusal there is the first that it hears of.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from barnabas.captures.checks.answered import Answered
from barnabas.captures.checks.finding import Check, Evidence, Finding, NoSettings, See, evidence
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
    """When the client knew of the state, in ns since the epoch."""

    def enter(self, state: str, seen: Answered) -> None:
        """Its state is another one, and behind a JoinGroup its generation too."""
        self.state, self.since, self.evidence = state, seen.end, evidence(seen.exchange)
        if seen.exchange.key == JOIN_GROUP and not seen.exchange.error:
            self.generation = seen.response["generation_id"]
            self.leads = seen.response["leader"] == seen.response["member_id"]


def group_states(_: NoSettings) -> See:
    """Steps that the table does not have, other generations, and assignments by a follower."""
    members: Memory[tuple[str, str], _Member] = Memory()

    def see(exchange: Exchange, context: Context) -> Iterator[Finding]:
        seen = Answered.of(exchange) if exchange.key in _KEYS else None
        if seen is None:
            return
        request, answer = seen.request, exchange.error or NONE
        if exchange.key == LEAVE_GROUP:
            for one in request.get("members", [request]):
                member = members.get((seen.group, one["member_id"]))
                if member is not None and answer == NONE:
                    member.enter(UNJOINED, seen)
            return
        key = (seen.group, seen.response.get("member_id") or request.get("member_id", ""))
        member = members.get(key)
        if member is not None and member.losses == exchange.losses:
            yield from _step(seen, member, answer)
            return
        members.pop(key, None)
        if exchange.key == JOIN_GROUP and answer == NONE:
            member = members[key] = _Member(*key, exchange.losses, evidence(exchange))
            member.enter(CLASSIC_MEMBER.step(UNJOINED, exchange.api, answer) or UNJOINED, seen)

    return see


def _step(seen: Answered, member: _Member, answer: str) -> Iterator[Finding]:
    exchange, _, request, *_ = seen
    generation = request.get("generation_id", request.get("generation_id_or_member_epoch", -1))
    late = exchange.ts > member.since
    if exchange.key != JOIN_GROUP and generation != member.generation:
        # commits are the matter of `commits`; one of somebody who only claims the id says nothing
        if generation >= 0 and late and answer == NONE and exchange.key in (SYNC_GROUP, HEARTBEAT):
            yield Finding(
                "error",
                f"group {member.group}: the broker accepted {exchange.api} of generation "
                f"{generation} from member {member.id}, which is in generation {member.generation}",
                "A coordinator must reject it with ILLEGAL_GENERATION: otherwise two members may "
                "own a partition.",
                (member.evidence, evidence(exchange)),
            )
        return
    if exchange.key == SYNC_GROUP and request["assigns"] and not member.leads:
        yield Finding(
            "error",
            f"group {member.group}: member {member.id} sent assignments, but is not the leader of "
            f"generation {generation}",
            "Only the member that JoinGroup names as leader may send assignments.",
            (member.evidence, evidence(exchange)),
        )
    following = CLASSIC_MEMBER.step(member.state, exchange.api, answer)
    if following is None:
        here = exchange.connection == member.evidence.connection
        if late and (here or answer == NONE):
            yield _violation(exchange, member, answer)
        if not here:
            member.enter(member.state, seen)
    elif following != member.state or exchange.key == JOIN_GROUP:
        member.enter(following, seen)


def _violation(exchange: Exchange, member: _Member, answer: str) -> Finding:
    what = f"group {member.group}: {exchange.api} of member {member.id} in state {member.state}"
    what += f" ({dict(CLASSIC_MEMBER.states)[member.state]})"
    both = (member.evidence, evidence(exchange))
    if answer == NONE:
        advice = "The coordinator has lost the group's state: two members may own a partition."
        return Finding("error", f"{what} was accepted", advice, both)
    return Finding(
        "warning", f"{what}: {answer}", "The member must rejoin before it continues.", both
    )


CHECK: Final = Check(
    "group_states", NoSettings(), group_states, "steps that the classic group protocol does not allow",
    "classic groups, JoinGroup v0+ (0.9), static members included (KIP-345); members whose "
    "JoinGroup was captured, requests sent after the member knew the state that they contradict", "group",
)  # fmt: skip
