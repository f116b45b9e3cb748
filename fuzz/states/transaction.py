"""The alphabet of a transactional producer: its ids, its transactions, and its older epochs.

Brokers: TransactionCoordinator, ProducerStateManager.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from typing import Any, Final

from barnabas.fuzz.sessions.bodies import records
from barnabas.fuzz.sessions.session import TOPIC
from barnabas.fuzz.states.alphabet import REFUSED, Alphabet, Answer, Input, Memory
from barnabas.specs import keys
from barnabas.specs.groups import NONE, TRANSACTIONAL_PRODUCER
from barnabas.specs.groups.transaction import (
    ABORT,
    COMMIT,
    OFFSET_COMMIT,
    OFFSETS,
    PRODUCE,
    RECORDS,
)

BATCH: Final = 3
"""Records of a batch of `sessions.bodies`."""

BEFORE_TV2: Final = 11
"""The newest Produce that does not add its partitions to the transaction (KIP-890)."""

BEFORE_BUMPS: Final = 4
"""The newest EndTxn that keeps the epoch, and TxnOffsetCommit that needs AddOffsetsToTxn (KIP-890)."""

ProducerOf = Callable[[Memory], Memory | None]


def begins(name: str) -> Memory:
    """Return a new producer's memory, with a producer id that no broker assigns so soon."""
    nobody = 1 << 48 | zlib.crc32(name.encode())
    return {"transactional_id": name, "producer_id": nobody, "producer_epoch": 0, "sequence": 0}


def last_epoch(memory: Memory) -> Memory | None:
    """Return the memory with the epoch before; None in the first epoch."""
    epoch = memory["producer_epoch"]
    return {**memory, "producer_epoch": epoch - 1} if epoch else None


def the_same(memory: Memory) -> Memory | None:
    """Return the memory unchanged."""
    return memory


def initialized(memory: Memory, answer: Answer, error: str) -> None:
    """Keep the producer id and epoch of a response; sequence numbers begin anew."""
    if error == NONE:
        memory.update(
            producer_id=answer["producer_id"], producer_epoch=answer["producer_epoch"], sequence=0
        )


def _enters(memory: Memory) -> Mapping[str, Any]:
    return {
        **{
            f"v3_and_below_{name}": memory[name]
            for name in ("transactional_id", "producer_id", "producer_epoch")
        },
        "v3_and_below_topics": [{"name": TOPIC, "partitions": [0]}],
    }


def produce(
    name: str,
    producer_of: ProducerOf = the_same,
    *,
    ahead: int = 0,
    event: str = "",
    most: int = BEFORE_TV2,
) -> Input:
    """Return a Produce of one batch.

    producer_of: returns the producer that is written; None: nothing can be sent. ahead: records between its
    last batch and this one.
    """

    def fields(memory: Memory) -> Mapping[str, Any] | None:
        producer = producer_of(memory)
        if producer is None:
            return None
        batch = records(
            BEFORE_TV2,
            producer_id=producer["producer_id"],
            producer_epoch=producer["producer_epoch"],
            base_sequence=max(memory["sequence"] + ahead, 0),
            is_transactional=True,
        )
        partitions = [{"index": 0, "records": batch}]
        return {
            "transactional_id": memory["transactional_id"],
            "topic_data": [{"name": TOPIC, "partition_data": partitions}],
        }

    def heard(memory: Memory, _: Answer, error: str) -> None:
        if error == NONE and event == PRODUCE:
            memory["sequence"] += BATCH

    return Input(name, keys.PRODUCE, fields, heard, event, most=most)


def end(name: str, event: str, *, commit: bool, producer_of: ProducerOf = the_same) -> Input:
    """Return an EndTxn. producer_of: returns its producer; None: nothing can be sent."""

    def fields(memory: Memory) -> Mapping[str, Any] | None:
        producer = producer_of(memory)
        return None if producer is None else {**producer, "committed": commit}

    return Input(name, keys.END_TXN, fields, event=event, most=BEFORE_BUMPS)


def _end(name: str, event: str, producer_of: ProducerOf = the_same) -> Input:
    alone = end(name, event, commit=event != ABORT, producer_of=producer_of)
    return alone._replace(sent_after=alone)


def commit_offsets(name: str, event: str, most: int, producer_of: ProducerOf = the_same) -> Input:
    """Return a TxnOffsetCommit of a client that is no member of the group."""

    def fields(memory: Memory) -> Mapping[str, Any] | None:
        producer = producer_of(memory)
        return None if producer is None else {**producer, "group_id": memory["transactional_id"]}

    return Input(name, keys.TXN_OFFSET_COMMIT, fields, event=event, most=most)


DESCRIBE: Final = Input(
    "DescribeTransactions",
    keys.DESCRIBE_TRANSACTIONS,
    lambda memory: {"transactional_ids": [memory["transactional_id"]]},
    shown=lambda _, answer: answer["transaction_states"][0]["transaction_state"],
)

INIT: Final = Input(
    "InitProducerId",
    keys.INIT_PRODUCER_ID,
    lambda memory: {**memory, "producer_id": -1, "producer_epoch": -1},
    initialized,
    "InitProducerId",
    most=4,
)

TRANSACTION: Final = Alphabet(
    "transaction",
    "a transactional producer",
    (keys.INIT_PRODUCER_ID, keys.ADD_PARTITIONS_TO_TXN),
    begins,
    (
        INIT,
        Input("AddPartitionsToTxn", keys.ADD_PARTITIONS_TO_TXN, _enters, event=RECORDS, most=3),
        produce("Produce", event=PRODUCE),
        produce("Produce of the last batch again", ahead=-BATCH),
        produce("Produce after a gap", ahead=2 * BATCH),
        produce("Produce of the last epoch", last_epoch, event=REFUSED),
        Input(
            "AddOffsetsToTxn",
            keys.ADD_OFFSETS_TO_TXN,
            lambda memory: {**memory, "group_id": memory["transactional_id"]},
            event=OFFSETS,
            most=3,
        ),
        commit_offsets("TxnOffsetCommit", OFFSET_COMMIT, BEFORE_BUMPS),
        _end("EndTxn, commit", COMMIT),
        _end("EndTxn, abort", ABORT),
        _end("EndTxn of the last epoch", REFUSED, last_epoch),
        DESCRIBE,
    ),
    TRANSACTIONAL_PRODUCER,
    describes=DESCRIBE.name,
)
