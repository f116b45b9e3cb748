"""Generations of classic groups: why each began, who came together in it, and for whom it waited.

The coordinator answers no JoinGroup before all members that it knows have sent one, or the rebalance
timeout is over (KIP-62). It tells a member with its next Heartbeat, or with the answer to a commit or to
SyncGroup: a member is late from there on, not from when the first one joined. Why a member joins or
leaves it says itself (KIP-800: JoinGroup v8+, LeaveGroup v5+), else what passes shows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from barnabas.captures.checks.answered import Answered, Read
from barnabas.captures.checks.finding import evidence
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


def kafkas(exchange: Exchange) -> Iterable[Answered]:
    """What an exchange says of a classic group's generation, where it does."""
    often = exchange.key in (HEARTBEAT, OFFSET_COMMIT)
    if exchange.key not in _KEYS or (often and exchange.error not in _TELLING):
        return ()
    seen = Answered.of(exchange)
    return () if seen is None else (seen,)


class Generations(Groups):
    """What exchanges say of the classic groups, in the order in which they end. read: Kafka's own, or a
    dialect's."""

    def __init__(self, bytes_: int = BYTES, *, read: Read = kafkas) -> None:
        super().__init__(read, bytes_)
        self._asked: Memory[tuple[str, str], str] = Memory(bytes_=bytes_)
        """Reasons of newcomers that were given an id to come back with."""

    def _take(self, seen: Answered, group: Group) -> Iterator[Cause | Generation]:
        if seen.key == JOIN_GROUP:
            yield from (self._refused if seen.error else self._joined)(seen, group)
        elif seen.key == LEAVE_GROUP:
            yield from self._left(seen, group)
        else:
            yield from self._told(seen, group)

    def _refused(self, seen: Answered, group: Group) -> Iterator[Cause]:
        """A JoinGroup was answered with an error."""
        request = seen.request
        if seen.error == MEMBER_ID_REQUIRED:
            self._asked[seen.group, seen.response["member_id"]] = request.get("reason") or ""
        elif seen.error == UNKNOWN_MEMBER_ID:
            yield from self._gone(seen, group, request["member_id"], EXPIRED)

    def _joined(self, seen: Answered, group: Group) -> Iterator[Cause | Generation]:
        exchange, name, request, response, end, *_ = seen
        member, reason = response["member_id"], request.get("reason") or ""
        number, now = response["generation_id"], group.now
        if now is not None and number < now.number:
            return  # overtaken on its way by a later one
        if now is None or number > now.number:
            if now is not None:
                yield now.ended()
            now = _next_generation(seen, group)
        static = now.joined and seen.ts > now.joins[0].end
        before = group.member(member, group.before)
        asked = self._asked.pop((name, member), None)
        new = before is None and (
            not request["member_id"] or asked is not None or bool(group.before)
        )
        timeout = request.get("rebalance_timeout_ms", request["session_timeout_ms"])
        instance = request.get("group_instance_id")
        now.awaited.pop(group.members.static(instance), None)  # it has that one's place
        one = Member.of(exchange, member, instance, timeout)
        group.members[member] = one
        if asked is not None or reason.startswith(GIVEN_ID):
            reason = asked or ""
        told = None if before is None or asked is not None else before.told
        if static:
            return  # it has its place back, and nobody else hears of it (KIP-345)
        if new or (before is not None and told is None and not now.causes):
            cause = one.cause(JOINED if new else REJOINED, name, exchange, reason, group.members)
            cause.back = self._absent.ended(name, one) if new else None
            now.causes.append(cause)
            yield cause
        who = one.named(group.members), member, one.client
        times = seen.ts, end, now.told(told)
        now.join(Join(*who, *times, new, evidence(exchange)))
        now.leader = response["leader"]
        if response["members"]:
            yield from self._members(seen, group, now)

    def _members(self, seen: Answered, group: Group, now: Generation) -> Iterator[Cause]:
        """The members as the leader is told them: those that are no longer there were waited for in vain."""
        told = seen.response["members"]
        group.listed = {one["member_id"] for one in told}
        group.listed_weight = weight((group.before, group.listed))
        places = {one.get("group_instance_id") for one in told} - {None}
        now.members = len(group.listed)
        for member in sorted({*group.members, *group.before} - group.listed):
            one = group.member(member, group.before)
            now.awaited.pop(member, None)
            if one is None or one.instance in places:
                group.members.discard(member)  # another process has its place (KIP-345)
                continue
            now.missed[member] = one.named(group.members)
            what = EXPIRED if now.told(one.told) is None else LATE
            for cause in self._gone(seen, group, member, what):
                group.pending.pop()
                now.causes.append(cause)
                yield cause

    def _gone(
        self, seen: Answered, group: Group, member: str, what: str, reason: str = ""
    ) -> Iterator[Cause]:
        """A member has gone: a cause of the next generation."""
        one = group.member(member, group.listed) or group.member(member, group.before)
        if one is None:
            return
        cause = one.cause(what, seen.group, seen.exchange, reason, group.members)
        group.members.discard(member)
        group.listed.discard(member)
        group.before.discard(member)
        self._absent.began(one, cause)
        group.pending.append(cause)
        yield cause

    def _left(self, seen: Answered, group: Group) -> Iterator[Cause]:
        request, response = seen.request, seen.response
        members = request.get("members", [request])
        answers = response.get("members") or [{}] * len(members)
        for asked, answer in zip(members, answers, strict=False):
            error = error_name(response["error_code"] or answer.get("error_code", 0))
            member, reason = asked["member_id"], asked.get("reason") or ""
            if not member:  # a static one, by its name
                member = group.members.static(asked.get("group_instance_id"))
            if error == "NONE":
                yield from self._gone(seen, group, member, LEFT, reason)
            elif error == UNKNOWN_MEMBER_ID:  # it was removed before: now it says why
                self._absent.explained(seen.group, member, reason)

    def _told(self, seen: Answered, group: Group) -> Iterator[Cause | Generation]:
        """Heartbeat, OffsetCommit and SyncGroup: what a member is told."""
        request, end = seen.request, seen.end
        member = group.members.get(request["member_id"])
        if seen.error == REBALANCE_IN_PROGRESS:
            came = 0 if group.now is None else group.now.came
            if member is not None and (member.told is None or member.told <= came):
                member.told = end
        elif seen.error == ILLEGAL_GENERATION:
            now, id_ = group.now, request["member_id"]
            if now is not None and id_ in now.awaited:
                now.missed[id_] = now.awaited.pop(id_)
            if member is not None:
                member.told = None  # that was of the generation that it missed
        elif seen.error == UNKNOWN_MEMBER_ID:
            yield from self._gone(seen, group, request["member_id"], EXPIRED)
        elif seen.key == SYNC_GROUP and not seen.error and group.now is not None:
            yield from self._synced(seen, group, group.now)

    def _synced(
        self, seen: Answered, group: Group, now: Generation
    ) -> Iterator[Cause | Generation]:
        """A member has its assignment."""
        if seen.request["generation_id"] == now.number:
            now.assigned = max(now.assigned or 0, seen.end)
            if seen.response.get("members"):  # of a dialect whose groups have no leader
                yield from self._members(seen, group, now)
            if not now.joined:
                now.joined = True
                yield now


def _next_generation(seen: Answered, group: Group) -> Generation:
    """Make the generation that a JoinGroup names the present one of its group."""
    protocol = seen.response.get("protocol_name") or ""
    number = seen.response["generation_id"]
    last = group.now
    now = Generation(seen.group, number, seen.type, protocol, seen.ts, group.pending)
    if last is not None:
        now.follows(last, group.members)
    group.now, group.pending = now, Weighed()
    group.before, group.listed = group.listed, set()
    group.listed_weight = weight(group.before)
    return now
