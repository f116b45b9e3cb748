from __future__ import annotations

from typing import Any

import pytest

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.summary.lag import Lag
from tests.captures.checks.given import exchange
from tests.captures.checks.groups import commit, transact
from tests.captures.summary.test_transactions import ends
from tests.captures.summary.views import shown


def latest(at: float, offset: int, *, time: int = -1, isolation: int = 0) -> Exchange:
    asked = {"partition_index": 0, "timestamp": time}
    said = {"partition_index": 0, "error_code": 0, "timestamp": -1, "offset": offset}
    topics = [{"name": "orders", "partitions": [asked]}]
    request = {"replica_id": -1, "isolation_level": isolation, "topics": topics}
    answer = {"topics": [{"name": "orders", "partitions": [said]}]}
    return exchange("ListOffsets", 2, request, answer, at=at)


def rows(*exchanges: Exchange) -> list[dict[str, Any]]:
    context = Context()
    return shown(Lag(context), context, *exchanges).rows()


def test_the_end_less_what_is_committed_with_both_times() -> None:
    (row,) = rows(latest(0, 10), commit(100), latest(200, 12))
    assert (row["lag"], row["committed"]["offset"], row["end"]["offset"]) == (5, 7, 12)
    assert (row["committed"]["ts"], row["end"]["ts"]) == ("101000000", "201000000")
    assert (row["committed"]["api"], row["end"]["api"]) == ("OffsetCommit", "ListOffsets")


@pytest.mark.parametrize("other", [latest(0, 10, time=-2), latest(0, 10, isolation=1)])
def test_what_is_no_end_says_nothing_of_it(other: Exchange) -> None:
    (row,) = rows(other, commit(100))
    assert (row["end"], row["lag"]) == (None, None)


def test_a_commit_that_is_refused_is_none() -> None:
    assert rows(commit(0, error=22)) == []


@pytest.mark.parametrize(("committed", "count"), [(True, 1), (False, 0)])
def test_offsets_of_a_transaction_count_once_it_is_committed(committed: bool, count: int) -> None:
    assert rows(transact(0)) == []
    assert len(rows(transact(0), ends(100, committed))) == count
