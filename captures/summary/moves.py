"""Which partitions moved from whom to whom in a generation of a group, or in an epoch."""

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
"""Of a generation that are kept: the first ones."""

Move = tuple[str, int | str, str, str, int]
"""Topic, partition, from whom, to whom, when in ns since the epoch."""

Partitions = list[tuple[str, int | str]]


class Moves:
    """Who had which partition last, and what moved.

    Only what a capture shows has an owner: of a partition's first one nobody is said to have had it before.
    Partitions of share groups belong to several members and do not move.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._dialects = DialectGroups()
        self._owners: Memory[tuple[str, str, int | str], str] = Memory()
        self._moves: Memory[tuple[str, int], Weighed[Move]] = Memory()
        self.fell_out = 0
        """Moves of a generation that had too many."""

    @property
    def forgotten(self) -> int:
        """Owners, generations and groups of dialects that made room for later ones."""
        return self._owners.forgotten + self._moves.forgotten + self._dialects.forgotten

    def add(self, exchange: Exchange) -> None:
        """Take an exchange of which the context has learnt."""
        for seen in self._dialects.of(exchange):
            if seen.key == JOIN_GROUP and not seen.error:
                told = seen.response
                partitions = [(topic, number) for topic, number, _ in seen.partitions]
                self._given(
                    (seen.group, told["generation_id"]), told["member_id"], partitions, seen.end
                )
        end = exchange.answered
        if end is None or exchange.error or not exchange.request:
            return
        group = exchange.request.get("group_id", "")
        given: Iterable[tuple[str, Partitions]] = ()
        generation = -1
        if exchange.key == SYNC_GROUP:
            generation = exchange.request["generation_id"]
            given = self._classic(exchange, group)
        elif exchange.key in (CONSUMER_GROUP_HEARTBEAT, STREAMS_GROUP_HEARTBEAT):
            told = exchange.response or {}
            if told.get("assignment") is None and told.get("active_tasks") is None:
                return  # as before
            member = self._context.members.of(exchange)
            if member is None or not member.assigned:
                return
            generation, names = member.epoch, self._context.topics
            given = [
                (member.id, [
                    (name_of(topic, names), one)
                    for topic, numbers in member.assigned.items() for one in numbers
                ])
            ]  # fmt: skip
        for owner, partitions in given:
            self._given((group, generation), owner, partitions, end)

    def of(self, group: str, generation: int) -> list[dict[str, Any]]:
        """What moved in a generation, in JSON form."""
        return [
            {"topic": topic, "partition": number, "from": before, "to": owner, "ts": str(ts)}
            for topic, number, before, owner, ts in self._moves.get((group, generation), ())
        ]

    def _given(
        self, generation: tuple[str, int], owner: str, partitions: Partitions, end: int
    ) -> None:
        moves: Weighed[Move] | None = None
        for topic, number in partitions:
            place = (generation[0], topic, number)
            before = self._owners.get(place, owner)
            self._owners[place] = owner
            if before != owner:
                moves = self._moves.get(generation) or Weighed()
                if len(moves) < MOVES:
                    moves.append((topic, number, before, owner, end))
                    self._moves[generation] = moves
                else:
                    self.fell_out += 1

    def _classic(self, exchange: Exchange, group: str) -> Iterator[tuple[str, Partitions]]:
        """What the leader gives to all, and what a member is given."""
        known = self._context.groups.get(group)
        if known is None or known.protocol_type != "consumer":
            return
        request, response = exchange.request or {}, exchange.response or {}
        mine = (request["member_id"], response.get("assignment") or b"")
        told = ((one["member_id"], one["assignment"]) for one in request["assignments"])
        for member, data in (*told, mine):
            yield member, list(_assigned(data))


def _assigned(data: bytes) -> Iterable[tuple[str, int]]:
    try:
        found = read_member("consumer", "assignment", data).values if data else {}
    except Malformed:
        return
    for one in found.get("assigned_partitions", ()):
        for number in one["partitions"]:
            yield one["topic"], number
