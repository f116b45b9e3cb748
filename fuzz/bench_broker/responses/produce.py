"""Produce, and the requests of producers before and after it: ids and transactions (KIP-98)."""

from __future__ import annotations

from typing import Any, Final

from barnabas.fuzz.bench_broker.cluster import Cluster
from barnabas.fuzz.bench_broker.responses.request import (
    UNKNOWN_TOPIC_OR_PARTITION,
    Request,
    topic_key,
    topic_reference,
)
from barnabas.specs import records
from barnabas.specs.malformed import Malformed

_CORRUPT_MESSAGE: Final = 2


def produce(cluster: Cluster, request: Request) -> dict[str, Any]:
    """Append the records, which can be fetched from then on."""
    topics = []
    for topic in request.body["topic_data"]:
        partitions = []
        for partition in topic["partition_data"]:
            log = cluster.log(topic_key(topic), partition["index"])
            error, base = UNKNOWN_TOPIC_OR_PARTITION, -1
            if log is not None:
                try:
                    new_records = [
                        r for b in records.read(partition["records"] or b"") for r in b.records()
                    ]
                    error, base = 0, log.append(tuple(new_records))
                except Malformed:
                    error = _CORRUPT_MESSAGE
            offsets = {"base_offset": base, "log_start_offset": 0 if log else -1}
            partitions.append({"index": partition["index"], "error_code": error, **offsets})
        topics.append({**topic_reference(topic), "partition_responses": partitions})
    return {"responses": topics}


def init_producer_id(cluster: Cluster, request: Request) -> dict[str, Any]:
    """Return a new id, or the next epoch of the given one."""
    named_id = request.body.get("producer_id", -1)
    if named_id >= 0:
        return {"producer_id": named_id, "producer_epoch": request.body["producer_epoch"] + 1}
    return {"producer_id": cluster.new_producer(), "producer_epoch": 0}


def add_partitions_to_txn(cluster: Cluster, request: Request) -> dict[str, Any]:
    """Add all partitions; for several transactions at once since v4, which brokers use."""

    def each(topics: Any) -> list[dict[str, Any]]:
        return [
            {
                "name": topic["name"],
                "results_by_partition": [
                    {"partition_index": partition, "partition_error_code": 0}
                    for partition in topic["partitions"]
                ],
            }
            for topic in topics
        ]

    several = [
        {
            "transactional_id": transaction["transactional_id"],
            "topic_results": each(transaction["topics"]),
        }
        for transaction in request.body.get("transactions", ())
    ]
    topic_results = each(request.body.get("v3_and_below_topics", ()))
    return {"results_by_transaction": several, "results_by_topic_v3_and_below": topic_results}


def end_txn(cluster: Cluster, request: Request) -> dict[str, Any]:
    """End the transaction, since v5 with the next epoch (KIP-890)."""
    body = request.body
    return {"producer_id": body["producer_id"], "producer_epoch": body["producer_epoch"] + 1}
