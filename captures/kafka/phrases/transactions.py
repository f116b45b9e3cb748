"""Transactions."""

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
    """InitProducerId: transactional id, producer id and epoch."""
    found = ""
    if response.get("producer_id", -1) >= 0:
        found = f"producer {response['producer_id']} epoch {response['producer_epoch']}"
    return arrow(request.get("transactional_id") or "", found)


def add_partitions_to_txn(request: Body, response: Body, names: Names) -> str:
    """AddPartitionsToTxn: transactions and their partitions."""

    def one(transaction: Body) -> str:
        where = partitions_of(transaction["topics"], "partitions", names, ranges)
        return joined(transaction["transactional_id"], where)

    transactions = request.get("transactions")
    if transactions is None:
        before = "v3_and_below_"
        transactions = [
            {name: request[before + name] for name in ("transactional_id", "topics")}
        ] if request else []  # fmt: skip
    return listed(map(one, transactions), "transaction", WIDTH - 22)


def add_offsets_to_txn(request: Body, response: Body, names: Names) -> str:
    """AddOffsetsToTxn: transaction and group."""
    return joined(request.get("transactional_id", ""), request.get("group_id", ""))


def end_txn(request: Body, response: Body, names: Names) -> str:
    """EndTxn: transaction, and how it ends."""
    if not request:
        return ""
    return joined(request["transactional_id"], "commit" if request["committed"] else "abort")


def write_txn_markers(request: Body, response: Body, names: Names) -> str:
    """WriteTxnMarkers: producers, how their transactions end, and where."""

    def one(marker: Body) -> str:
        how = "commit" if marker["transaction_result"] else "abort"
        where = partitions_of(marker["topics"], "partition_indexes", names, ranges)
        return joined(f"producer {marker['producer_id']}", how, where)

    return listed(map(one, request.get("markers") or ()), "marker", WIDTH - 16)
