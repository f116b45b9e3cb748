"""Sessions of producers with an id: an idempotent one, and one in a transaction with a partition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from barnabas.fuzz.sessions.bodies import body, produce
from barnabas.fuzz.sessions.session import TOPIC, Session, Stage, Steps
from barnabas.fuzz.sessions.steps import Step, send_request, topic
from barnabas.specs import keys

CLIENTS: Final = 3
"""The newest version of AddPartitionsToTxn for clients; later ones are for brokers (KIP-890)."""


CONCURRENT_TRANSACTIONS: Final = 51
TRIES: Final = 200
"""Requests for an id, each of which is answered within a millisecond: a transaction ends in several."""


def new_id(stage: Stage, transactional_id: str | None) -> Step:
    """Request a producer id and its epoch, and return them; try again while a transaction ends."""
    for tries in range(TRIES):
        response = yield from send_request(
            stage,
            keys.INIT_PRODUCER_ID,
            4,
            fine=(0, CONCURRENT_TRANSACTIONS) if tries + 1 < TRIES else (0,),
            transactional_id=transactional_id,
            producer_id=-1,
            producer_epoch=-1,
        )
        if response["error_code"] != CONCURRENT_TRANSACTIONS:
            break
    return {"producer_id": response["producer_id"], "producer_epoch": response["producer_epoch"]}


def _begin(stage: Stage) -> Steps:
    """Get a producer id; the next batch begins its first sequence."""
    live = yield from topic(stage)
    producer = yield from new_id(stage, None)
    return {**live, **producer, "base_sequence": 0}


def _idempotent_body(key: int, version: int) -> Mapping[str, Any] | None:
    return produce(version, idempotent=version >= 3)


IDEMPOTENT: Final = Session(
    "idempotent",
    "an idempotent producer with its id",
    (keys.INIT_PRODUCER_ID,),
    frozenset((keys.PRODUCE,)),
    1,
    _begin,
    _idempotent_body,
)


def _begin_transaction(stage: Stage) -> Steps:
    """Get a producer id, and add a partition to the transaction."""
    live = yield from topic(stage)
    producer = yield from new_id(stage, stage.transactional_id)
    older = {
        f"v3_and_below_{name}": value
        for name, value in {"transactional_id": stage.transactional_id, **producer}.items()
    }
    topics = [{"name": TOPIC, "partitions": [0]}]
    yield from send_request(
        stage, keys.ADD_PARTITIONS_TO_TXN, CLIENTS, **older, v3_and_below_topics=topics
    )
    return {
        **live,
        **producer,
        **older,
        "base_sequence": 0,
        "transactional_id": stage.transactional_id,
        "group_id": stage.group_id,
    }


def transactional_body(key: int, version: int) -> Mapping[str, Any] | None:
    """Return the body of a producer's request in a transaction."""
    if key == keys.PRODUCE:
        return produce(version, transactional=version >= 3)
    return body(key, version)


TRANSACTION: Final = Session(
    "transaction",
    "in a transaction",
    (keys.INIT_PRODUCER_ID, keys.ADD_PARTITIONS_TO_TXN),
    frozenset(
        (
            keys.PRODUCE,
            keys.INIT_PRODUCER_ID,
            keys.ADD_PARTITIONS_TO_TXN,
            keys.ADD_OFFSETS_TO_TXN,
            keys.TXN_OFFSET_COMMIT,
            keys.END_TXN,
            keys.DESCRIBE_TRANSACTIONS,
        )
    ),
    1,
    _begin_transaction,
    transactional_body,
)
