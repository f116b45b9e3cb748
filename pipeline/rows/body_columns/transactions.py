"""Columns of transaction APIs: producer ids, their epochs, and added partitions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from barnabas.pipeline.rows.body_columns.topics import (
    Body,
    Names,
    name_of,
    partition_row,
    partition_rows,
    partitions_of_response,
    topic_key,
)


def init_producer_id(request: Body, response: Body, names: Names) -> Body:
    """Return the columns of InitProducerId: the new producer id, or else the producer's earlier one."""
    return _producer(response) or _producer(request)


def end_txn(request: Body, response: Body, names: Names) -> Body:
    """Return the columns of EndTxn and AddOffsetsToTxn: the producer."""
    return _producer(request)


def add_partitions_to_txn(request: Body, response: Body, names: Names) -> Body:
    """Return the columns of AddPartitionsToTxn: the partitions.

    From v4 on, a broker may send several transactions.
    """
    transactions = request.get("transactions")
    if transactions is None:
        before = "v3_and_below_"
        transactions = [
            {name: request.get(before + name) for name in ("producer_id", "producer_epoch")}
        ]
        transactions[0]["topics"] = request.get(before + "topics")
        results: list[Body] = [{"topic_results": response.get("results_by_topic_v3_and_below")}]
    else:
        by_id = {
            added["transactional_id"]: added
            for added in response.get("results_by_transaction") or ()
        }
        results = [by_id.get(added["transactional_id"], {}) for added in transactions]
    partitions = [
        added
        for transaction, result in zip(transactions, results, strict=True)
        for added in _added(transaction["topics"], result.get("topic_results"), names)
    ]
    return {"partitions": partitions} | (
        _producer(transactions[0]) if len(transactions) == 1 else {}
    )


def _added(
    topics: Iterable[Body] | None, results: Iterable[Body] | None, names: Names
) -> Iterator[Body]:
    by_partition = partitions_of_response(results, "results_by_partition", "partition_index")
    for topic in topics or ():
        key = topic_key(topic)
        for number in topic["partitions"]:
            error = by_partition.get((key, number), {}).get("partition_error_code")
            yield partition_row(name_of(key, names), number, error_code=error)


def write_txn_markers(request: Body, response: Body, names: Names) -> Body:
    """Return the columns of WriteTxnMarkers: the partitions, and the producer if there is one."""
    markers = request.get("markers") or []
    partitions = [
        partition
        for marker in markers
        for partition in partition_rows(marker["topics"], "partition_indexes", names)
    ]
    return {"partitions": partitions} | (_producer(markers[0]) if len(markers) == 1 else {})


def _producer(body: Body) -> Body:
    number = body.get("producer_id")
    if number is None or number < 0:
        return {}
    return {"producer_id": number, "producer_epoch": body.get("producer_epoch")}
