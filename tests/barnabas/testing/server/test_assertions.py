"""What is asserted, against exchanges that are made up."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.proxy.control.request_models import Assertions
from barnabas.testing.server.assertions import evaluate
from tests.barnabas.testing.made import batch, exchange, produce

FAILED = {"request": {"key": "g"}, "error": "COORDINATOR_NOT_AVAILABLE"}
ASKED_TWICE = [
    exchange("FindCoordinator", 1, **FAILED),
    exchange("FindCoordinator", 2, **{**FAILED, "error": ""}),
]
WRITTEN_TWICE = [
    produce(3, (0, batch(7, 0, 5)), offsets={0: 10}),
    produce(4, (0, batch(7, 0, 5)), offsets={0: 11}),
]
FOUND: list[dict[str, Any]] = [{"check": "backoff", "what": "too fast"}]


def judged(**asked: Any) -> dict[str, Any]:
    return evaluate(Assertions.model_validate(asked), [*ASKED_TWICE, *WRITTEN_TWICE], FOUND)


@pytest.mark.parametrize(
    ("asked", "count"),
    [
        ({}, 1),
        ({"at_most": 1, "at_least": 1}, 1),
        ({"api": "produce", "at_most": 0}, 0),
        ({"api": "findcoordinator", "at_most": 1}, 1),
        ({"client_id": "other*", "at_most": 0}, 0),
        ({"client_id": "mak*"}, 1),
    ],
)
def test_retries_that_may_be(asked: dict[str, Any], count: int) -> None:
    assert judged(retries=asked) == {"holds": True, "broken": [], "retries": count}


def test_retries_that_are_too_many_or_too_few() -> None:
    said = judged(retries={"at_most": 0})
    assert (said["holds"], said["retries"]) == (False, 1)
    assert said["broken"] == [
        "1 retried request, where 0 at most should be:\n  retry 1 after "
        f"COORDINATOR_NOT_AVAILABLE: {ASKED_TWICE[1]}"
    ]
    (few,) = judged(retries={"at_least": 2, "api": "FindCoordinator"})["broken"]
    assert few.startswith("1 retried request, where at least 2 should be:\n  retry 1 after ")
    assert judged(retries={"at_least": 1, "api": "Produce"})["broken"] == [
        "0 retried requests, where at least 1 should be"
    ]


def test_duplicate_sequences_are_as_many_as_said() -> None:
    assert judged(duplicate_sequences=1) == {"holds": True, "broken": [], "duplicate_sequences": 1}
    (line,) = judged(duplicate_sequences=0)["broken"]
    assert line.startswith("1 duplicate sequence, where 0 should be:\n  DuplicateSequence(")


def test_findings_are_of_the_checks_that_are_named() -> None:
    assert judged(findings=["backoff"]) == {"holds": True, "broken": [], "findings": ["backoff"]}
    assert judged(findings=[])["broken"] == [
        "1 finding, where none of these checks should be:\n  backoff: too fast"
    ]
    assert judged(findings=["backoff", "order"])["broken"] == ["check order finds nothing"]


def test_all_that_is_broken_is_said() -> None:
    said = judged(retries={"at_most": 0}, duplicate_sequences=0, findings=[])
    assert len(said["broken"]) == 3
