"""Transactions: producer ids, their epochs, and the partitions that are added."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from barnabas.pipeline.rows.body_columns.topics import (
    Body,
    Names,
    about,
    answers,
    listed,
    name_of,
    said,
)


def init_producer_id(request: Body, response: Body, names: Names) -> Body:
    """InitProducerId: what was given; if nothing was, what the producer had."""
    return _producer(response) or _producer(request)


def end_txn(request: Body, response: Body, names: Names) -> Body:
    """EndTxn, AddOffsetsToTxn: the producer that asks."""
    return _producer(request)


def add_partitions_to_txn(request: Body, response: Body, names: Names) -> Body:
    """AddPartitionsToTxn: the partitions; from v4 on a broker may ask for several transactions."""
    asked = request.get("transactions")
    if asked is None:
        before = "v3_and_below_"
        asked = [{name: request.get(before + name) for name in ("producer_id", "producer_epoch")}]
        asked[0]["topics"] = request.get(before + "topics")
        results: list[Body] = [{"topic_results": response.get("results_by_topic_v3_and_below")}]
    else:
        by_id = {
            one["transactional_id"]: one for one in response.get("results_by_transaction") or ()
        }
        results = [by_id.get(one["transactional_id"], {}) for one in asked]
    partitions = [
        one
        for transaction, result in zip(asked, results, strict=True)
        for one in _added(transaction["topics"], result.get("topic_results"), names)
    ]
    return {"partitions": partitions} | (_producer(asked[0]) if len(asked) == 1 else {})


def _added(
    topics: Iterable[Body] | None, results: Iterable[Body] | None, names: Names
) -> Iterator[Body]:
    answered = answers(results, "results_by_partition", "partition_index")
    for topic in topics or ():
        called = said(topic)
        for number in topic["partitions"]:
            error = answered.get((called, number), {}).get("partition_error_code")
            yield about(name_of(called, names), number, error_code=error)


def write_txn_markers(request: Body, response: Body, names: Names) -> Body:
    """WriteTxnMarkers: where transactions end; the producer, if it is one."""
    markers = request.get("markers") or []
    partitions = [
        one for marker in markers for one in listed(marker["topics"], "partition_indexes", names)
    ]
    return {"partitions": partitions} | (_producer(markers[0]) if len(markers) == 1 else {})


def _producer(body: Body) -> Body:
    number = body.get("producer_id")
    if number is None or number < 0:
        return {}
    return {"producer_id": number, "producer_epoch": body.get("producer_epoch")}
