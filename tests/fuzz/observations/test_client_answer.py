"""What is seen of a client, and whether it took an answer."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.fuzz.bench_broker.seeds import seeds
from barnabas.fuzz.cases.case import Case, Recipe
from barnabas.fuzz.cases.observation import Death, Observation, Probe
from barnabas.fuzz.observations.client_answer import (
    delivered_records,
    first_offsets,
    next_steps,
    refusals,
)
from barnabas.specs import keys

SEED = seeds([(keys.SYNC_GROUP, 3)])[0]
GOES_ON = [[keys.HEARTBEAT, 0], [keys.FETCH, 4]]


def seen(later: list[list[int]] = GOES_ON, **rest: Any) -> Observation:
    facts = {"later": later, **rest.pop("facts", {})}
    return Observation(Case(0, Recipe(SEED, ()), ()), facts=tuple(facts.items()), **rest)


@pytest.mark.parametrize(
    ("observation", "found"),
    [
        (seen(), []),
        (seen(facts={"failed": ["_BAD_MSG", "_TIMED_OUT", "_BAD_MSG"]}), ["reports _BAD_MSG"]),
        (seen(raised="kafka.errors.CorruptError: x\n a.py:f"), ["raises CorruptError"]),
        (seen(raised="kafka.errors.KafkaTimeoutError: x"), []),
        (seen(death=Death(-11, "")), ["dies"]),
        (seen(probe=Probe(False, 9.0)), ["hangs"]),
    ],
)
def test_what_shows_that_a_client_refuses(observation: Observation, found: list[str]) -> None:
    assert refusals(observation) == found


@pytest.mark.parametrize(
    ("observation", "found"),
    [
        (seen(), ["asks for Fetch"]),
        (seen([[keys.METADATA, 1], [keys.FIND_COORDINATOR, 1]]), ["asks for FindCoordinator"]),
        (seen([[keys.METADATA, 1], [keys.SYNC_GROUP, 3]]), ["asks again"]),
        (seen([[keys.SYNC_GROUP, 2]]), ["asks again in an earlier version"]),
        (seen([[keys.METADATA, 1], [keys.LEAVE_GROUP, 3]]), ["asks for nothing more"]),
        (seen(facts={"left": True}), ["makes another connection", "asks for Fetch"]),
    ],
)
def test_what_a_client_does_next(observation: Observation, found: list[str]) -> None:
    assert next_steps(observation) == found


def test_what_was_delivered_is_by_partition_and_may_not_be_told() -> None:
    records: list[list[object]] = [
        [1, 0, -1, None, "61", []],
        [0, 0, -1, None, "62", []],
        [1, 1, -1, None, "63", []],
    ]
    told = delivered_records(seen(facts={"delivered": records}))
    assert told == [records[1], records[0], records[2]]
    assert delivered_records(seen(facts={"delivered": None})) is None


def test_where_it_reads_on_is_by_partition() -> None:
    assert first_offsets(seen(facts={"starts": [[0, 3], [1, 7]]})) == {0: 3, 1: 7}
    assert first_offsets(seen()) == {}
