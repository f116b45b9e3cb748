"""Produce and what producers ask before and after it: ids and transactions (KIP-98)."""

from __future__ import annotations

from typing import Any, Final

from barnabas.fuzz.answering.answers.ask import UNKNOWN_TOPIC_OR_PARTITION, Ask, named, which
from barnabas.fuzz.answering.cluster import Cluster
from barnabas.specs import records
from barnabas.specs.malformed import Malformed

_CORRUPT_MESSAGE: Final = 2


def produce(cluster: Cluster, ask: Ask) -> dict[str, Any]:
    """Take the records in; they can be fetched from then on."""
    topics = []
    for topic in ask.body["topic_data"]:
        partitions = []
        for one in topic["partition_data"]:
            log = cluster.log(which(topic), one["index"])
            error, base = UNKNOWN_TOPIC_OR_PARTITION, -1
            if log is not None:
                try:
                    found = [r for b in records.read(one["records"] or b"") for r in b.records()]
                    error, base = 0, log.append(tuple(found))
                except Malformed:
                    error = _CORRUPT_MESSAGE
            known = {"base_offset": base, "log_start_offset": 0 if log else -1}
            partitions.append({"index": one["index"], "error_code": error, **known})
        topics.append({**named(topic), "partition_responses": partitions})
    return {"responses": topics}


def init_producer_id(cluster: Cluster, ask: Ask) -> dict[str, Any]:
    """A new id, or the next epoch of the one that was named."""
    named_id = ask.body.get("producer_id", -1)
    if named_id >= 0:
        return {"producer_id": named_id, "producer_epoch": ask.body["producer_epoch"] + 1}
    return {"producer_id": cluster.new_producer(), "producer_epoch": 0}


def add_partitions_to_txn(cluster: Cluster, ask: Ask) -> dict[str, Any]:
    """All of them; several transactions at once from v4 on, of brokers."""

    def each(topics: Any) -> list[dict[str, Any]]:
        return [
            {
                "name": topic["name"],
                "results_by_partition": [
                    {"partition_index": one, "partition_error_code": 0}
                    for one in topic["partitions"]
                ],
            }
            for topic in topics
        ]

    several = [
        {"transactional_id": one["transactional_id"], "topic_results": each(one["topics"])}
        for one in ask.body.get("transactions", ())
    ]
    own = each(ask.body.get("v3_and_below_topics", ()))
    return {"results_by_transaction": several, "results_by_topic_v3_and_below": own}


def end_txn(cluster: Cluster, ask: Ask) -> dict[str, Any]:
    """Done; from v5 on with the next epoch (KIP-890)."""
    body = ask.body
    return {"producer_id": body["producer_id"], "producer_epoch": body["producer_epoch"] + 1}
