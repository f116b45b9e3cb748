"""Tables of transitions are whole: each state is told, reached, and has a way on."""

from __future__ import annotations

import pytest

from barnabas.specs.error_codes import ERROR_CODES
from barnabas.specs.groups import (
    ANY,
    CLASSIC_MEMBER,
    CONSUMER_MEMBER,
    FETCH_SESSION,
    NONE,
    OTHER,
    TRANSACTIONAL_PRODUCER,
    Table,
)

TABLES = (CLASSIC_MEMBER, CONSUMER_MEMBER, FETCH_SESSION, TRANSACTIONAL_PRODUCER)


@pytest.mark.parametrize("table", TABLES)
def test_rows_speak_of_states_and_answers_that_there_are(table: Table) -> None:
    states = {state for state, _ in table.states}
    answers = {NONE, OTHER, ANY} | {error.name for error in ERROR_CODES}
    assert {row[0] for row in table.rows} == states
    assert {row[3] for row in table.rows} == states
    assert {row[2] for row in table.rows} <= answers
    assert len({row[:3] for row in table.rows}) == len(table.rows)


def test_the_answer_that_is_named_goes_before_any_other() -> None:
    table = Table(
        "", (("a", ""),), (("a", "e", ANY, "any"), ("a", "e", "X", "x"), ("a", "e", OTHER, "o"))
    )
    assert [table.step("a", "e", answer) for answer in ("X", "Y", NONE)] == ["x", "o", "any"]


@pytest.mark.parametrize(
    ("events", "state"),
    [
        (["InitProducerId", "AddPartitionsToTxn", "Produce", "commit", "commit"], "COMMITTED"),
        (["InitProducerId", "AddOffsetsToTxn", "TxnOffsetCommit", "abort"], "ABORTED"),
        (["InitProducerId", "AddOffsetsToTxn", "AddPartitionsToTxn", "InitProducerId"], "READY"),
        (["InitProducerId", "Produce"], None),
        (["InitProducerId", "AddPartitionsToTxn", "TxnOffsetCommit"], None),
        (["InitProducerId", "AddPartitionsToTxn", "commit", "abort"], None),
    ],
)
def test_transactional_producers(events: list[str], state: str | None) -> None:
    found: str | None = "UNINITIALIZED"
    for event in events:
        assert found is not None
        found = TRANSACTIONAL_PRODUCER.step(found, event, NONE)
    assert found == state
