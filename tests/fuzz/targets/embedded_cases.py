"""Requests to librdkafka's mock, and what comes of them."""

from __future__ import annotations

from typing import Any, Final

import pytest

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.targets.broker import BrokerTarget
from barnabas.fuzz.targets.connections import CaseConnection
from barnabas.fuzz.targets.flow import Flow
from barnabas.specs.keys import FETCH
from tests.fuzz.observed import ASK, case, request

_PARTITION: Final = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 100}
_TOPIC: Final[dict[str, Any]] = {"topic": "fuzz-topic", "partitions": [_PARTITION]}
PARKED: Final = request(FETCH, 4, {"max_wait_ms": 60000, "min_bytes": 1 << 20, "topics": [_TOPIC]})


def asks(count: int) -> list[Case]:
    return [case(ASK, number=number) for number in range(count)]


def run(target: BrokerTarget, *cases: Case) -> list[Observation]:
    found = list(target.run(cases))
    assert [one.case for one in found] == list(cases)
    return found


def all_at_once(target: BrokerTarget, count: int) -> None:
    """From now on so many cases are on their way at once."""
    while target.at_once < count:
        run(target, *asks(target.at_once))


def give_up_parked(patch: pytest.MonkeyPatch) -> None:
    """PARKED is waited for no longer, all else as long as before."""
    written = Flow._written

    def given_up(flow: Flow, connection: CaseConnection) -> None:
        written(flow, connection)
        if connection.sent == (PARKED,):
            connection.deadline = connection.began

    patch.setattr(Flow, "_written", given_up)
