"""A transactional producer in a transaction that a partition belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from barnabas.fuzz.sessions.bodies import body, produce
from barnabas.fuzz.sessions.session import TOPIC, Session, Stage, Steps
from barnabas.fuzz.sessions.steps import ask, topic
from barnabas.specs import keys

KEYS: Final = frozenset(
    (
        keys.PRODUCE,
        keys.INIT_PRODUCER_ID,
        keys.ADD_PARTITIONS_TO_TXN,
        keys.ADD_OFFSETS_TO_TXN,
        keys.TXN_OFFSET_COMMIT,
        keys.END_TXN,
        keys.DESCRIBE_TRANSACTIONS,
    )
)

CLIENTS: Final = 3
"""The newest version of AddPartitionsToTxn that clients may ask; later ones are brokers' (KIP-890)."""


def run(stage: Stage) -> Steps:
    """Gets its id, and enters a partition."""
    live = yield from topic(stage)
    given = yield from ask(
        stage,
        keys.INIT_PRODUCER_ID,
        4,
        transactional_id=stage.transactional_id,
        producer_id=-1,
        producer_epoch=-1,
    )
    producer = {
        "producer_id": given["producer_id"],
        "producer_epoch": given["producer_epoch"],
    }
    yield from ask(
        stage,
        keys.ADD_PARTITIONS_TO_TXN,
        CLIENTS,
        v3_and_below_transactional_id=stage.transactional_id,
        v3_and_below_producer_id=given["producer_id"],
        v3_and_below_producer_epoch=given["producer_epoch"],
        v3_and_below_topics=[{"name": TOPIC, "partitions": [0]}],
    )
    return {
        **live,
        **producer,
        **{f"v3_and_below_{name}": value for name, value in producer.items()},
        "base_sequence": 0,
        "v3_and_below_transactional_id": stage.transactional_id,
        "transactional_id": stage.transactional_id,
        "group_id": stage.group_id,
    }


def _body(key: int, version: int) -> Mapping[str, Any] | None:
    if key == keys.PRODUCE:
        return produce(version, transactional=version >= 3)
    return body(key, version)


TRANSACTION: Final = Session(
    "transaction",
    "in a transaction",
    (keys.INIT_PRODUCER_ID, keys.ADD_PARTITIONS_TO_TXN),
    KEYS,
    1,
    run,
    _body,
)
