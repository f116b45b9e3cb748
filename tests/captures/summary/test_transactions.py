from __future__ import annotations

from typing import Any

import pytest

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.summary.transactions import Transactions
from tests.captures.checks.given import Body, exchange
from tests.captures.summary.views import sample, shown

WHO = {"transactional_id": "t", "producer_id": 7, "producer_epoch": 0}


def adds(at: float, version: int = 3, epoch: int = 0, **more: Any) -> Exchange:
    topics = [{"name": "orders", "partitions": [0, 1]}]
    said = {**WHO, "producer_epoch": epoch, "topics": topics}
    parts = [{"partition_index": one, "partition_error_code": 0} for one in (0, 1)]
    results = [{"name": "orders", "results_by_partition": parts}]
    if version < 4:
        asked = {f"v3_and_below_{name}": value for name, value in said.items()}
        answer: Body = {"results_by_topic_v3_and_below": results}
    else:
        asked = {"transactions": [{**said, "verify_only": False, **more}]}
        results = [{"transactional_id": "t", "topic_results": results}]
        answer = {"error_code": 0, "results_by_transaction": results}
    return exchange("AddPartitionsToTxn", version, asked, answer, at=at)


def ends(at: float, committed: bool = True, error: int = 0) -> Exchange:
    return exchange("EndTxn", 3, {**WHO, "committed": committed}, {"error_code": error}, at=at)


def begins(at: float, epoch: int = 1) -> Exchange:
    answer = {"error_code": 0, "producer_id": 7, "producer_epoch": epoch}
    return exchange("InitProducerId", 1, {"transactional_id": "t"}, answer, at=at)


def rows(*exchanges: Exchange) -> list[dict[str, Any]]:
    context = Context()
    return shown(Transactions(context), context, *exchanges).rows()


@pytest.mark.parametrize("version", [0, 3, 4, 5])
@pytest.mark.parametrize(("committed", "outcome"), [(True, "commit"), (False, "abort")])
def test_one_from_its_beginning_to_its_end(version: int, committed: bool, outcome: str) -> None:
    (row,) = rows(adds(10, version), ends(100, committed))
    assert (row["by"], row["partitions"]) == ("AddPartitionsToTxn", ["orders[0]", "orders[1]"])
    assert (row["outcome"], row["open_ms"], row["began"]) == (outcome, 91.0, "10000000")


def test_what_a_broker_only_verifies_begins_nothing() -> None:
    assert rows(adds(10, 4, verify_only=True)) == []


def test_an_open_one_is_open_until_the_last_exchange() -> None:
    (row,) = rows(adds(10), exchange("EndTxn", 3, None, None, at=500))
    assert (row["outcome"], row["ended"], row["open_ms"]) == ("open", None, 490.0)


def test_one_that_began_before_the_capture() -> None:
    (row,) = rows(ends(10))
    assert (row["began"], row["open_ms"], row["outcome"]) == (None, None, "commit")


def test_an_end_that_is_refused_ends_nothing() -> None:
    (row,) = rows(adds(10), ends(20, error=51))
    assert (row["outcome"], row["error"]) == ("open", "CONCURRENT_TRANSACTIONS")


def test_who_begins_anew_aborts_what_is_open() -> None:
    first, zombie = rows(adds(10), begins(50), ends(60, error=90))
    assert (first["outcome"], first["ended"]) == ("abort", "51000000")
    assert (zombie["outcome"], zombie["error"], zombie["epoch"]) == ("fenced", "PRODUCER_FENCED", 0)


def test_a_zombie_does_not_end_the_transaction_of_its_successor() -> None:
    zombie, present = rows(begins(0), adds(10, epoch=1), ends(20, error=47))
    assert (zombie["outcome"], zombie["epoch"]) == ("fenced", 0)
    assert (present["outcome"], present["epoch"]) == ("open", 1)


def test_those_of_kip_890_begin_by_themselves() -> None:
    aborted, committed = rows(*sample("transactions.pcapng"))
    assert [(one["by"], one["outcome"], one["epoch"]) for one in (aborted, committed)] == [
        ("Produce", "abort", 0),
        ("Produce", "commit", 2),
    ]
    assert (committed["offsets"], aborted["offsets"]) == ({"readers": 1}, {})
    assert all(one["began"] for one in (aborted, committed))


def test_the_last_ones_are_kept() -> None:
    found = Transactions(Context(), most=2)
    shown(found, Context(), *(one for n in range(5) for one in (adds(n * 10), ends(n * 10 + 5))))
    assert ([row["began"] for row in found.rows()], found.count, found.forgotten) == (
        *(["30000000", "40000000"], 5, 3),
    )
