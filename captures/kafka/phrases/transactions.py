"""Describe exchanges about transactions."""

from __future__ import annotations

from barnabas.captures.kafka.wording import (
    WIDTH,
    Body,
    Names,
    arrow,
    joined,
    listed,
    partitions_of,
    ranges,
)


def init_producer_id(request: Body, response: Body, names: Names) -> str:
    """Describe an InitProducerId: transactional id, producer id and epoch."""
    producer = ""
    if response.get("producer_id", -1) >= 0:
        producer = f"producer {response['producer_id']} epoch {response['producer_epoch']}"
    return arrow(request.get("transactional_id") or "", producer)


def add_partitions_to_txn(request: Body, response: Body, names: Names) -> str:
    """Describe an AddPartitionsToTxn: transactions and their partitions."""

    def one(transaction: Body) -> str:
        partitions = partitions_of(transaction["topics"], "partitions", names, ranges)
        return joined(transaction["transactional_id"], partitions)

    transactions = request.get("transactions")
    if transactions is None:
        before = "v3_and_below_"
        transactions = [
            {name: request[before + name] for name in ("transactional_id", "topics")}
        ] if request else []  # fmt: skip
    return listed(map(one, transactions), "transaction", WIDTH - 22)


def add_offsets_to_txn(request: Body, response: Body, names: Names) -> str:
    """Describe an AddOffsetsToTxn: transaction and group."""
    return joined(request.get("transactional_id", ""), request.get("group_id", ""))


def end_txn(request: Body, response: Body, names: Names) -> str:
    """Describe an EndTxn: the transaction, and commit or abort."""
    if not request:
        return ""
    return joined(request["transactional_id"], "commit" if request["committed"] else "abort")


def write_txn_markers(request: Body, response: Body, names: Names) -> str:
    """Describe a WriteTxnMarkers: producers, commit or abort, and partitions."""

    def one(marker: Body) -> str:
        outcome = "commit" if marker["transaction_result"] else "abort"
        partitions = partitions_of(marker["topics"], "partition_indexes", names, ranges)
        return joined(f"producer {marker['producer_id']}", outcome, partitions)

    return listed(map(one, request.get("markers") or ()), "marker", WIDTH - 16)
