from __future__ import annotations

import pytest

from barnabas.fuzz.observations.requests import question
from barnabas.specs.keys import PRODUCE
from tests.fuzz.observed import ASK, request

QUIET = request(PRODUCE, 3, {"acks": 0, "timeout_ms": 1, "topic_data": []})


@pytest.mark.parametrize(
    ("chunks", "answers", "rest"),
    [
        ((ASK,), 1, ""),
        ((ASK, ASK), 2, ""),
        ((ASK + QUIET,), 1, ""),
        ((ASK[:-1],), 0, "partial"),
        ((ASK + b"\0\0",), 1, "partial"),
        ((b"\xff\xff\xff\xff" + ASK[4:],), 0, "nonsense"),
        ((b"\x7f\xff\xff\xff" + ASK[4:],), 0, "nonsense"),
        ((b"\0\0\0\x02ab",), 1, ""),
    ],
)
def test_what_a_broker_is_asked(chunks: tuple[bytes, ...], answers: int, rest: str) -> None:
    found = question(chunks)
    assert (found.answers, found.rest) == (answers, rest)
