"""Track which partitions moved between members in each generation or epoch of a group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from barnabas.captures.checks.dialect_groups import DialectGroups
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.id_names import name_of
from barnabas.captures.kafka.context.memory import Memory, Weighed
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.embedded.members import read_member
from barnabas.specs.keys import (
    CONSUMER_GROUP_HEARTBEAT,
    JOIN_GROUP,
    STREAMS_GROUP_HEARTBEAT,
    SYNC_GROUP,
)
from barnabas.specs.malformed import Malformed

MOVES: Final = 10_000
"""Moves of a generation that are retained, the first ones."""

Move = tuple[str, int | str, str, str, int]
"""Topic, partition, previous owner, new owner, time in ns since the epoch."""

Partitions = list[tuple[str, int | str]]


class Moves:
    """The last known owner of each partition, and the moves of each generation.

    Owners are only known from the capture: the first captured owner of a partition had no known predecessor.
    Partitions of share groups belong to several members and do not move.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._dialects = DialectGroups()
        self._owners: Memory[tuple[str, str, int | str], str] = Memory()
        self._moves: Memory[tuple[str, int], Weighed[Move]] = Memory()
        self.fell_out = 0
        """Dropped moves of generations that had too many."""

    @property
    def forgotten(self) -> int:
        """Return the number of dropped owners, generations and groups of dialects."""
        return self._owners.forgotten + self._moves.forgotten + self._dialects.forgotten

    def add(self, exchange: Exchange) -> None:
        """Add an exchange from which the context has learned."""
        for message in self._dialects.of(exchange):
            if message.key == JOIN_GROUP and not message.error:
                response = message.response
                partitions = [(topic, number) for topic, number, _ in message.partitions]
                self._assign(
                    (message.group, response["generation_id"]),
                    response["member_id"],
                    partitions,
                    message.end,
                )
        end = exchange.answered
        if end is None or exchange.error or not exchange.request:
            return
        group = exchange.request.get("group_id", "")
        assignments: Iterable[tuple[str, Partitions]] = ()
        generation = -1
        if exchange.key == SYNC_GROUP:
            generation = exchange.request["generation_id"]
            assignments = self._classic(exchange, group)
        elif exchange.key in (CONSUMER_GROUP_HEARTBEAT, STREAMS_GROUP_HEARTBEAT):
            response = exchange.response or {}
            if response.get("assignment") is None and response.get("active_tasks") is None:
                return  # unchanged
            member = self._context.members.of(exchange)
            if member is None or not member.assigned:
                return
            generation, names = member.epoch, self._context.topics
            assignments = [
                (member.id, [
                    (name_of(topic, names), partition)
                    for topic, numbers in member.assigned.items() for partition in numbers
                ])
            ]  # fmt: skip
        for owner, partitions in assignments:
            self._assign((group, generation), owner, partitions, end)

    def of(self, group: str, generation: int) -> list[dict[str, Any]]:
        """Return the moves of a generation in JSON form."""
        return [
            {"topic": topic, "partition": number, "from": before, "to": owner, "ts": str(ts)}
            for topic, number, before, owner, ts in self._moves.get((group, generation), ())
        ]

    def _assign(
        self, generation: tuple[str, int], owner: str, partitions: Partitions, end: int
    ) -> None:
        moves: Weighed[Move] | None = None
        for topic, number in partitions:
            key = (generation[0], topic, number)
            before = self._owners.get(key, owner)
            self._owners[key] = owner
            if before != owner:
                moves = self._moves.get(generation) or Weighed()
                if len(moves) < MOVES:
                    moves.append((topic, number, before, owner, end))
                    self._moves[generation] = moves
                else:
                    self.fell_out += 1

    def _classic(self, exchange: Exchange, group: str) -> Iterator[tuple[str, Partitions]]:
        """Yield the assignments that the leader sends, and the assignment that a member receives."""
        group_protocol = self._context.groups.get(group)
        if group_protocol is None or group_protocol.protocol_type != "consumer":
            return
        request, response = exchange.request or {}, exchange.response or {}
        own_assignment = (request["member_id"], response.get("assignment") or b"")
        assignments = (
            (assignment["member_id"], assignment["assignment"])
            for assignment in request["assignments"]
        )
        for member, data in (*assignments, own_assignment):
            yield member, list(_assigned(data))


def _assigned(data: bytes) -> Iterable[tuple[str, int]]:
    try:
        decoded = read_member("consumer", "assignment", data).values if data else {}
    except Malformed:
        return
    for topic in decoded.get("assigned_partitions", ()):
        for number in topic["partitions"]:
            yield topic["topic"], number
