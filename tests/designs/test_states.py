"""Tables of the drafts are whole: each state is told, reached, and has a way on."""

from __future__ import annotations

import pytest

from barnabas.designs.central_coordination import states as central
from barnabas.designs.central_coordination.schemas import CENTRAL_COORDINATION
from barnabas.designs.central_coordination.states import CENTRAL_CONSUMER, CENTRAL_GROUP
from barnabas.designs.consumer_rewrite import states as rewrite
from barnabas.designs.consumer_rewrite.schemas.rewrite_0_8_2 import REWRITE_0_8_2
from barnabas.designs.consumer_rewrite.states import REWRITE_CONSUMER, REWRITE_COORDINATOR
from barnabas.specs.dialects import Dialect
from barnabas.specs.groups import ANY, NONE, OTHER, Table

CENTRAL_EVENTS = (central.START, central.STOP, central.LOST)
GROUP_EVENTS = (
    *(central.CHANGED, central.NEWCOMER, central.TAKEN, central.ALL_STOPPED, central.OFFSETS_READ),
    *(central.ALL_STARTED, central.FAILED, central.EXHAUSTED, central.EMPTIED),
)
COORDINATOR_EVENTS = (
    *(
        rewrite.ELECTED,
        rewrite.LOADED,
        rewrite.RESIGNED,
        rewrite.JOINED,
        rewrite.LEFT,
        rewrite.DEAD,
    ),
    *(rewrite.PARTITIONS_CHANGED, rewrite.CANCELLED, rewrite.ALL_JOINED, rewrite.ANSWERED),
    rewrite.EMPTIED,
)
TABLES = [
    pytest.param(REWRITE_CONSUMER, REWRITE_0_8_2, rewrite.CONSUMER_EVENTS, id="rewrite, consumer"),
    pytest.param(REWRITE_COORDINATOR, REWRITE_0_8_2, COORDINATOR_EVENTS, id="rewrite, coordinator"),
    pytest.param(CENTRAL_CONSUMER, CENTRAL_COORDINATION, CENTRAL_EVENTS, id="central, consumer"),
    pytest.param(CENTRAL_GROUP, CENTRAL_COORDINATION, GROUP_EVENTS, id="central, group"),
]


@pytest.mark.parametrize(("table", "draft", "events"), TABLES)
def test_rows_speak_of_what_there_is(table: Table, draft: Dialect, events: tuple[str, ...]) -> None:
    states = {state for state, _ in table.states}
    answers = {NONE, OTHER, ANY} | {error.name for error in draft.errors}
    apis = {api.name for api in draft.apis} | {"OffsetFetch"}  # 0.8's own
    assert {row[0] for row in table.rows} == states
    assert {row[3] for row in table.rows} == states
    assert {row[2] for row in table.rows} <= answers
    assert {row[1] for row in table.rows} <= apis | set(events)
    assert set(events) <= {row[1] for row in table.rows}
    assert len({row[:3] for row in table.rows}) == len(table.rows)


@pytest.mark.parametrize(("table", "draft", "events"), TABLES)
def test_each_state_is_reached_from_the_first(
    table: Table, draft: Dialect, events: tuple[str, ...]
) -> None:
    reached = {table.states[0][0]}
    for _ in table.states:
        reached |= {row[3] for row in table.rows if row[0] in reached}
    assert reached == {state for state, _ in table.states}


@pytest.mark.parametrize(
    ("state", "event", "answer", "following"),
    [
        ("STOPPED_CONSUMPTION", "JoinGroup", "UnknownConsumerId", "STARTUP_AND_DISCOVER"),
        ("PART_OF_A_GROUP", "Heartbeat", "IllegalGeneration", "STOPPED_CONSUMPTION"),
        ("PART_OF_A_GROUP", "Heartbeat", "NotCoordinatorForGroup", "REDISCOVER"),
        ("PART_OF_A_GROUP", "Heartbeat", "CoordinatorStartupNotComplete", "PART_OF_A_GROUP"),
        ("STOPPED_CONSUMPTION", "Heartbeat", NONE, None),
        ("PART_OF_A_GROUP", "JoinGroup", NONE, None),
    ],
)
def test_a_consumer_of_the_rewrite(
    state: str, event: str, answer: str, following: str | None
) -> None:
    assert REWRITE_CONSUMER.step(state, event, answer) == following
