"""`group_states`: members and coordinators of classic groups take only the steps of `specs.groups`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

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
    state: str
    generation: int
    leads: bool
    since: int
    """When the client knew of the state, in ns since the epoch."""
    losses: int
    evidence: Evidence


def group_states(_: NoSettings) -> See:
    """Steps that the table does not have, other generations, and assignments by a follower."""
    members: Memory[tuple[str, str], _Member] = Memory()

    def see(exchange: Exchange, context: Context) -> Iterator[Finding]:
        request, response = exchange.request if exchange.key in _KEYS else None, exchange.response
        end = answered(exchange)
        if not request or not response or end is None:
            return
        answer = exchange.error or NONE
        if exchange.key == LEAVE_GROUP:
            for one in request.get("members", [request]):
                member = members.get((request["group_id"], one["member_id"]))
                if member is not None and answer == NONE:
                    _enter(member, UNJOINED, end, exchange)
            return
        asked = request.get("member_id", "")
        key = (request["group_id"], response.get("member_id") or asked)
        member = members.get(key)
        if member is None or member.losses != exchange.losses:
            members.pop(key, None)
            if exchange.key == JOIN_GROUP and answer == NONE:
                state = CLASSIC_MEMBER.step(UNJOINED, exchange.api, answer)
                members[key] = _joined(exchange, response, state or UNJOINED, end)
            return
        yield from _step(exchange, request, response, member, key, answer, end)

    return see


def _step(
    exchange: Exchange,
    request: dict[str, Any],
    response: dict[str, Any],
    member: _Member,
    key: tuple[str, str],
    answer: str,
    end: int,
) -> Iterator[Finding]:
    generation = request.get("generation_id", request.get("generation_id_or_member_epoch", -1))
    if exchange.key != JOIN_GROUP and generation != member.generation:
        if generation >= 0:
            yield from _other_generation(exchange, member, key, generation, answer)
        return  # nor does a commit of somebody who only claims the id say anything
    following = CLASSIC_MEMBER.step(member.state, exchange.api, answer)
    if following is None:
        if exchange.ts > member.since:
            yield _violation(exchange, member, key, answer)
    elif following != member.state or exchange.key == JOIN_GROUP:
        if exchange.key == JOIN_GROUP and answer == NONE:
            member.generation = response["generation_id"]
            member.leads = response["leader"] == response["member_id"]
        _enter(member, following, end, exchange)
    if exchange.key == SYNC_GROUP and request["assignments"] and not member.leads:
        yield Finding(
            "error",
            f"group {key[0]}: member {key[1]} sent assignments, but is not the leader of "
            f"generation {generation}",
            "Only the member that JoinGroup names as leader may send assignments.",
            (member.evidence, evidence(exchange)),
        )


def _other_generation(
    exchange: Exchange, member: _Member, key: tuple[str, str], generation: int, answer: str
) -> Iterator[Finding]:
    if (
        answer == NONE
        and exchange.key in (SYNC_GROUP, HEARTBEAT)  # commits are the matter of `commits`
        and exchange.ts > member.since
    ):
        yield Finding(
            "error",
            f"group {key[0]}: the broker accepted {exchange.api} of generation {generation} from "
            f"member {key[1]}, which is in generation {member.generation}",
            "A coordinator must reject it with ILLEGAL_GENERATION: otherwise two members may own "
            "a partition.",
            (member.evidence, evidence(exchange)),
        )


def _violation(exchange: Exchange, member: _Member, key: tuple[str, str], answer: str) -> Finding:
    meaning = dict(CLASSIC_MEMBER.states)[member.state]
    text = f"group {key[0]}: {exchange.api} of member {key[1]} in state {member.state} ({meaning})"
    if answer == NONE:
        return Finding(
            "error",
            f"{text} was accepted",
            "The coordinator has lost the group's state: two members may own a partition.",
            (member.evidence, evidence(exchange)),
        )
    return Finding(
        "warning",
        f"{text}: {answer}",
        "The member must rejoin before it continues.",
        (member.evidence, evidence(exchange)),
    )


def _joined(exchange: Exchange, response: dict[str, Any], state: str, end: int) -> _Member:
    leads = response["leader"] == response["member_id"]
    generation = response["generation_id"]
    return _Member(state, generation, leads, end, exchange.losses, evidence(exchange))


def _enter(member: _Member, state: str, end: int, exchange: Exchange) -> None:
    member.state, member.since = state, end
    member.evidence = evidence(exchange)


CHECK: Final = Check(
    "group_states", NoSettings(), group_states, "steps that the classic group protocol does not allow",
    "classic groups, JoinGroup v0+ (0.9), static members included (KIP-345); members whose "
    "JoinGroup was captured, requests sent after the member knew the state that they contradict", "group",
    reads=GROUP_APIS,
)  # fmt: skip
