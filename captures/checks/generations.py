"""Track generations of classic groups: why each began, which members joined it, and which member delayed it.

The coordinator answers no JoinGroup before all known members have sent one, or the rebalance timeout is over
(KIP-62). It tells a member with the response to its next Heartbeat, commit or SyncGroup: only from then on is
the member late. The reason of a join or leave is in the message (KIP-800: JoinGroup v8+, LeaveGroup v5+), or
else inferred from other messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from barnabas.captures.checks.finding import evidence
from barnabas.captures.checks.group_messages import GroupMessage, ReadGroupMessages
from barnabas.captures.checks.groups import Group, Groups
from barnabas.captures.checks.rebalance import (
    EXPIRED,
    JOINED,
    LATE,
    LEFT,
    REJOINED,
    Cause,
    Generation,
    Join,
    Member,
)
from barnabas.captures.kafka.context.memory import BYTES, Memory, Weighed, weight
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.phrases.groups import GIVEN_ID
from barnabas.specs.error_codes import error_name
from barnabas.specs.keys import HEARTBEAT, JOIN_GROUP, LEAVE_GROUP, OFFSET_COMMIT, SYNC_GROUP

REBALANCE_IN_PROGRESS: Final = "REBALANCE_IN_PROGRESS"
MEMBER_ID_REQUIRED: Final = "MEMBER_ID_REQUIRED"
UNKNOWN_MEMBER_ID: Final = "UNKNOWN_MEMBER_ID"
ILLEGAL_GENERATION: Final = "ILLEGAL_GENERATION"

_KEYS: Final = (JOIN_GROUP, SYNC_GROUP, LEAVE_GROUP, HEARTBEAT, OFFSET_COMMIT)
_TELLING: Final = (REBALANCE_IN_PROGRESS, UNKNOWN_MEMBER_ID, ILLEGAL_GENERATION)


def kafkas(exchange: Exchange) -> Iterable[GroupMessage]:
    """Return the group message of a Kafka exchange, if it matters to the generations of a classic group."""
    often = exchange.key in (HEARTBEAT, OFFSET_COMMIT)
    if exchange.key not in _KEYS or (often and exchange.error not in _TELLING):
        return ()
    message = GroupMessage.of(exchange)
    return () if message is None else (message,)


class Generations(Groups):
    """The generations of classic groups in exchanges, in the order in which the exchanges end.

    `read` returns the group messages of an exchange: Kafka's own, or a dialect's.
    """

    def __init__(self, bytes_: int = BYTES, *, read: ReadGroupMessages = kafkas) -> None:
        super().__init__(read, bytes_)
        self._newcomer_reasons: Memory[tuple[str, str], str] = Memory(bytes_=bytes_)
        """Reasons of newcomers that were given a member id to join again with."""

    def _take(self, message: GroupMessage, group: Group) -> Iterator[Cause | Generation]:
        if message.key == JOIN_GROUP:
            yield from (self._refused if message.error else self._joined)(message, group)
        elif message.key == LEAVE_GROUP:
            yield from self._left(message, group)
        else:
            yield from self._notified(message, group)

    def _refused(self, message: GroupMessage, group: Group) -> Iterator[Cause]:
        """Note a JoinGroup that failed."""
        request = message.request
        if message.error == MEMBER_ID_REQUIRED:
            self._newcomer_reasons[message.group, message.response["member_id"]] = (
                request.get("reason") or ""
            )
        elif message.error == UNKNOWN_MEMBER_ID:
            yield from self._departed(message, group, request["member_id"], EXPIRED)

    def _joined(self, message: GroupMessage, group: Group) -> Iterator[Cause | Generation]:
        exchange, name, request, response, end, *_ = message
        member, reason = response["member_id"], request.get("reason") or ""
        number, now = response["generation_id"], group.now
        if now is not None and number < now.number:
            return  # overtaken by a later generation
        if now is None or number > now.number:
            if now is not None:
                yield now.ended()
            now = _next_generation(message, group)
        static = now.joined and message.ts > now.joins[0].end
        before = group.member(member, group.before)
        newcomer_reason = self._newcomer_reasons.pop((name, member), None)
        new = before is None and (
            not request["member_id"] or newcomer_reason is not None or bool(group.before)
        )
        timeout = request.get("rebalance_timeout_ms", request["session_timeout_ms"])
        instance = request.get("group_instance_id")
        now.awaited.pop(group.members.static(instance), None)  # it replaces that static member
        state = Member.of(exchange, member, instance, timeout)
        group.members[member] = state
        if newcomer_reason is not None or reason.startswith(GIVEN_ID):
            reason = newcomer_reason or ""
        notified_at = None if before is None or newcomer_reason is not None else before.notified_at
        if static:
            return  # it resumes its membership without a rebalance (KIP-345)
        if new or (before is not None and notified_at is None and not now.causes):
            cause = state.cause(JOINED if new else REJOINED, name, exchange, reason, group.members)
            cause.back = self._absent.ended(name, state) if new else None
            now.causes.append(cause)
            yield cause
        identity = state.named(group.members), member, state.client
        times = message.ts, end, now.notified(notified_at)
        now.join(Join(*identity, *times, new, evidence(exchange)))
        now.leader = response["leader"]
        if response["members"]:
            yield from self._members(message, group, now)

    def _members(self, message: GroupMessage, group: Group, now: Generation) -> Iterator[Cause]:
        """Compare the members that the leader got with the expected members.

        A missing member was waited for in vain.
        """
        members = message.response["members"]
        group.listed = {fields["member_id"] for fields in members}
        group.listed_weight = weight((group.before, group.listed))
        instances = {fields.get("group_instance_id") for fields in members} - {None}
        now.members = len(group.listed)
        for member in sorted({*group.members, *group.before} - group.listed):
            missing = group.member(member, group.before)
            now.awaited.pop(member, None)
            if missing is None or missing.instance in instances:
                group.members.discard(member)  # another process replaced it (KIP-345)
                continue
            now.missed[member] = missing.named(group.members)
            step = EXPIRED if now.notified(missing.notified_at) is None else LATE
            for cause in self._departed(message, group, member, step):
                group.pending.pop()
                now.causes.append(cause)
                yield cause

    def _departed(
        self, message: GroupMessage, group: Group, member: str, step: str, reason: str = ""
    ) -> Iterator[Cause]:
        """Yield the departure of a member as a cause of the next generation."""
        state = group.member(member, group.listed) or group.member(member, group.before)
        if state is None:
            return
        cause = state.cause(step, message.group, message.exchange, reason, group.members)
        group.members.discard(member)
        group.listed.discard(member)
        group.before.discard(member)
        self._absent.began(state, cause)
        group.pending.append(cause)
        yield cause

    def _left(self, message: GroupMessage, group: Group) -> Iterator[Cause]:
        request, response = message.request, message.response
        members = request.get("members", [request])
        answers = response.get("members") or [{}] * len(members)
        for leaving, answer in zip(members, answers, strict=False):
            error = error_name(response["error_code"] or answer.get("error_code", 0))
            member, reason = leaving["member_id"], leaving.get("reason") or ""
            if not member:  # a static member, by its instance id
                member = group.members.static(leaving.get("group_instance_id"))
            if error == "NONE":
                yield from self._departed(message, group, member, LEFT, reason)
            elif error == UNKNOWN_MEMBER_ID:  # removed earlier: now it gives its reason
                self._absent.explained(message.group, member, reason)

    def _notified(self, message: GroupMessage, group: Group) -> Iterator[Cause | Generation]:
        """Note the coordinator's response to a Heartbeat, OffsetCommit or SyncGroup."""
        request, end = message.request, message.end
        member = group.members.get(request["member_id"])
        if message.error == REBALANCE_IN_PROGRESS:
            last_join = 0 if group.now is None else group.now.came
            if member is not None and (
                member.notified_at is None or member.notified_at <= last_join
            ):
                member.notified_at = end
        elif message.error == ILLEGAL_GENERATION:
            now, id_ = group.now, request["member_id"]
            if now is not None and id_ in now.awaited:
                now.missed[id_] = now.awaited.pop(id_)
            if member is not None:
                member.notified_at = None  # that concerned the generation that it missed
        elif message.error == UNKNOWN_MEMBER_ID:
            yield from self._departed(message, group, request["member_id"], EXPIRED)
        elif message.key == SYNC_GROUP and not message.error and group.now is not None:
            yield from self._synced(message, group, group.now)

    def _synced(
        self, message: GroupMessage, group: Group, now: Generation
    ) -> Iterator[Cause | Generation]:
        """Note that a member has its assignment."""
        if message.request["generation_id"] == now.number:
            now.assigned = max(now.assigned or 0, message.end)
            if message.response.get("members"):  # a dialect whose groups have no leader
                yield from self._members(message, group, now)
            if not now.joined:
                now.joined = True
                yield now


def _next_generation(message: GroupMessage, group: Group) -> Generation:
    """Begin the generation of a JoinGroup as the current one of its group."""
    protocol = message.response.get("protocol_name") or ""
    number = message.response["generation_id"]
    last = group.now
    now = Generation(message.group, number, message.type, protocol, message.ts, group.pending)
    if last is not None:
        now.follows(last, group.members)
    group.now, group.pending = now, Weighed()
    group.before, group.listed = group.listed, set()
    group.listed_weight = weight(group.before)
    return now
