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

ProducerOf = Callable[[Memory], Memory | None]


def begins(name: str) -> Memory:
    """Return a new producer's memory, with a producer id that no broker assigns so soon."""
    nobody = 1 << 48 | zlib.crc32(name.encode())
    return {"transactional_id": name, "producer_id": nobody, "producer_epoch": 0, "sequence": 0}


def _last_epoch(memory: Memory) -> Memory | None:
    """Return the memory with the epoch before; None in the first epoch."""
    epoch = memory["producer_epoch"]
    return {**memory, "producer_epoch": epoch - 1} if epoch else None


def _same(memory: Memory) -> Memory | None:
    return memory


def _initialized(memory: Memory, answer: Answer, error: str) -> None:
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


def _produce(
    name: str, producer_of: ProducerOf = _same, *, ahead: int = 0, event: str = ""
) -> Input:
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

    return Input(name, keys.PRODUCE, fields, heard, event, most=BEFORE_TV2)


def _end(name: str, event: str, producer_of: ProducerOf = _same) -> Input:
    def fields(memory: Memory) -> Mapping[str, Any] | None:
        producer = producer_of(memory)
        return None if producer is None else {**producer, "committed": event != ABORT}

    return Input(name, keys.END_TXN, fields, event=event, most=4, again=True)


TRANSACTION: Final = Alphabet(
    "transaction",
    "a transactional producer",
    (keys.INIT_PRODUCER_ID, keys.ADD_PARTITIONS_TO_TXN),
    begins,
    (
        Input(
            "InitProducerId",
            keys.INIT_PRODUCER_ID,
            lambda memory: {**memory, "producer_id": -1, "producer_epoch": -1},
            _initialized,
            "InitProducerId",
            most=4,
        ),
        Input("AddPartitionsToTxn", keys.ADD_PARTITIONS_TO_TXN, _enters, event=RECORDS, most=3),
        _produce("Produce", event=PRODUCE),
        _produce("Produce of the last batch again", ahead=-BATCH),
        _produce("Produce after a gap", ahead=2 * BATCH),
        _produce("Produce of the last epoch", _last_epoch, event=REFUSED),
        Input(
            "AddOffsetsToTxn",
            keys.ADD_OFFSETS_TO_TXN,
            lambda memory: {**memory, "group_id": memory["transactional_id"]},
            event=OFFSETS,
            most=3,
        ),
        Input(
            "TxnOffsetCommit",
            keys.TXN_OFFSET_COMMIT,
            lambda memory: {**memory, "group_id": memory["transactional_id"]},
            event=OFFSET_COMMIT,
            most=4,
        ),
        _end("EndTxn, commit", COMMIT),
        _end("EndTxn, abort", ABORT),
        _end("EndTxn of the last epoch", REFUSED, _last_epoch),
        Input(
            "DescribeTransactions",
            keys.DESCRIBE_TRANSACTIONS,
            lambda memory: {"transactional_ids": [memory["transactional_id"]]},
            shown=lambda _, answer: answer["transaction_states"][0]["transaction_state"],
        ),
    ),
    TRANSACTIONAL_PRODUCER,
)
