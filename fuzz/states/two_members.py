"""The alphabet of two members of a consumer group (KIP-848), between which partitions move."""

from __future__ import annotations

from typing import Final

from barnabas.fuzz.states.alphabet import Alphabet, Memory
from barnabas.fuzz.states.consumer_group import CONSUMER_GROUP, begins
from barnabas.fuzz.states.two_clients import begins_with, of_both
from barnabas.specs.groups import TWO_MEMBERS
from barnabas.specs.groups.pairs import ENTERS, LEAVES, SENDS

_EVENTS: Final = {
    "Heartbeat that joins": ENTERS,
    "Heartbeat": SENDS,
    "Heartbeat that leaves": LEAVES,
    "OffsetCommit": SENDS,
}


def _member(name: str, client: str) -> Memory:
    return {**begins(f"{name}-{client}"), "group_id": begins(name)["group_id"]}


MEMBERS: Final = Alphabet(
    "two-members",
    "two members of a consumer group (KIP-848)",
    CONSUMER_GROUP.needs,
    begins_with(_member),
    of_both(CONSUMER_GROUP.inputs, _EVENTS),
    TWO_MEMBERS,
)
