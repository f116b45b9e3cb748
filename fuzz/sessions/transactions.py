"""Sessions in every state of a transaction, of both protocols: with AddPartitionsToTxn, and without it.

A state is a list of moves, each of which sends one or two requests and updates the live values.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

from barnabas.fuzz.sessions.bodies import produce
from barnabas.fuzz.sessions.producers import (
    CLIENTS,
    CONCURRENT_TRANSACTIONS,
    TRANSACTION,
    new_id,
    transactional_body,
)
from barnabas.fuzz.sessions.session import TOPIC, Request, Session, Stage, Steps
from barnabas.fuzz.sessions.steps import send_request, topic
from barnabas.specs import keys

LiveValues = dict[str, int | str | bytes]
Move = Callable[[Stage, "Protocol", LiveValues], Generator[Request, Mapping[str, Any], None]]
"""Sends requests of a producer, and updates its live values."""

FENCED: Final = (47, 90)
"""INVALID_PRODUCER_EPOCH and PRODUCER_FENCED."""
INVALID_TXN_STATE: Final = 48
BATCH: Final = 3
"""Records of one batch."""


class Protocol(NamedTuple):
    """A protocol of transactions.

    Attributes:
        name: Its name in sessions.
        newest: The newest versions of APIs in which clients speak it.
        oldest: The oldest such versions.
    """

    name: str
    newest: Mapping[int, int]
    oldest: Mapping[int, int]

    def version(self, stage: Stage, key: int) -> int:
        """Return the version of an API that a producer uses. Raises Unoffered."""
        return stage.version(key, self.newest.get(key, 32767))

    def speaks(self, key: int, version: int) -> bool:
        """Return whether a version of an API is part of the protocol."""
        return self.oldest.get(key, 0) <= version <= self.newest.get(key, 32767)


V1: Final = Protocol(
    "v1",
    {
        keys.PRODUCE: 11,
        keys.ADD_PARTITIONS_TO_TXN: CLIENTS,
        keys.TXN_OFFSET_COMMIT: 4,
        keys.END_TXN: 4,
    },
    {keys.PRODUCE: 3},
)
"""Partitions and groups are added to a transaction by requests of their own (KIP-98)."""

V2: Final = Protocol(
    "v2",
    {keys.ADD_PARTITIONS_TO_TXN: -1, keys.ADD_OFFSETS_TO_TXN: -1},
    {keys.PRODUCE: 12, keys.TXN_OFFSET_COMMIT: 5, keys.END_TXN: 5},
)
"""Produce and TxnOffsetCommit add them, and each transaction has an epoch of its own (KIP-890)."""


def begin(stage: Stage, protocol: Protocol, live: LiveValues) -> Generator[Any, Any, None]:
    """Get a producer id; an older producer with the same transactional id is fenced."""
    live |= yield from new_id(stage, stage.transactional_id)
    live["base_sequence"] = 0


def add_batch(
    stage: Stage, protocol: Protocol, live: LiveValues, fine: tuple[int, ...] = (0,)
) -> Generator[Any, Any, None]:
    """Produce a batch, after its partition was added to the transaction where that is needed."""
    if protocol is V1:
        topics = [{"name": TOPIC, "partitions": [0]}]
        yield from send_request(
            stage,
            keys.ADD_PARTITIONS_TO_TXN,
            CLIENTS,
            fine=fine,
            **_older_names(live),
            v3_and_below_topics=topics,
        )
    version = protocol.version(stage, keys.PRODUCE)
    batch = produce(version, transactional=True, live=live)
    yield from send_request(
        stage, keys.PRODUCE, version, fine=fine, **_fields(batch, "transactional_id", "topic_data")
    )
    live["base_sequence"] = int(live["base_sequence"]) + BATCH


def add_offsets(stage: Stage, protocol: Protocol, live: LiveValues) -> Generator[Any, Any, None]:
    """Commit offsets of a group in the transaction, after the group was added where that is needed."""
    producer = _fields(live, "transactional_id", "producer_id", "producer_epoch")
    group = {"group_id": stage.group_id, **producer}
    if protocol is V1:
        yield from send_request(stage, keys.ADD_OFFSETS_TO_TXN, **group)
    version = protocol.version(stage, keys.TXN_OFFSET_COMMIT)
    yield from send_request(stage, keys.TXN_OFFSET_COMMIT, version, **group)


def end(
    stage: Stage,
    protocol: Protocol,
    live: LiveValues,
    *,
    committed: bool,
    fine: tuple[int, ...] = (0,),
) -> Generator[Any, Any, None]:
    """End the transaction; the broker still writes its markers when the case comes."""
    producer = _fields(live, "transactional_id", "producer_id", "producer_epoch")
    version = protocol.version(stage, keys.END_TXN)
    ended = yield from send_request(
        stage, keys.END_TXN, version, fine=fine, **producer, committed=committed
    )
    if ended.get("producer_id", -1) >= 0:
        live |= _fields(ended, "producer_id", "producer_epoch")
        live["base_sequence"] = 0


def fence(stage: Stage, protocol: Protocol, live: LiveValues) -> Generator[Any, Any, None]:
    """Begin another producer with the transactional id; the live values stay those of the first.

    The broker aborts an ongoing transaction, and meanwhile asks the other producer to try again.
    """
    yield from send_request(
        stage,
        keys.INIT_PRODUCER_ID,
        fine=(0, CONCURRENT_TRANSACTIONS),
        transactional_id=stage.transactional_id,
        producer_id=-1,
        producer_epoch=-1,
    )


def compete(
    stage: Stage, protocol: Protocol, live: LiveValues, *, as_newer: bool
) -> Generator[Any, Any, None]:
    """Begin a second producer with the transactional id; it sends a batch, then the fenced one does.

    as_newer: the live values become those of the second producer.
    """
    newer = dict(live)
    yield from begin(stage, protocol, newer)
    yield from add_batch(stage, protocol, newer)
    yield from add_batch(stage, protocol, live, (0, *FENCED))
    if as_newer:
        live |= newer


def _older_names(live: LiveValues) -> LiveValues:
    """Return the producer by the names of fields of AddPartitionsToTxn."""
    return {
        f"v3_and_below_{name}": live[name]
        for name in ("transactional_id", "producer_id", "producer_epoch")
    }


def _fields(values: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: values[name] for name in names}


commit: Final = partial(end, committed=True)
abort: Final = partial(end, committed=False)
commit_again: Final = partial(
    end, committed=True, fine=(0, INVALID_TXN_STATE, CONCURRENT_TRANSACTIONS, *FENCED)
)

STATES: Final[tuple[tuple[str, str, tuple[Move, ...]], ...]] = (
    ("empty", "before its first batch", ()),
    ("ongoing", "with a batch and offsets", (add_batch, add_offsets)),
    ("committed", "just committed", (add_batch, commit)),
    ("aborted", "just aborted", (add_batch, abort)),
    ("ended-twice", "committed twice", (add_batch, commit, commit_again)),
    ("reopened", "the second one, after a commit", (add_batch, commit, begin, add_batch)),
    ("fenced", "whose producer another one has fenced", (add_batch, fence)),
    ("older", "of the older of two producers that both send", (partial(compete, as_newer=False),)),
    ("newer", "of the newer of two producers that both send", (partial(compete, as_newer=True),)),
)
"""The states: a name, a description, and the moves that lead there from a new producer id."""


def _run(protocol: Protocol, moves: tuple[Move, ...], stage: Stage) -> Steps:
    live: LiveValues = dict((yield from topic(stage)))
    live |= {"transactional_id": stage.transactional_id, "group_id": stage.group_id}
    yield from begin(stage, protocol, live)
    for move in moves:
        yield from move(stage, protocol, live)
    return {**live, **_older_names(live)}


def _body(protocol: Protocol, key: int, version: int) -> Mapping[str, Any] | None:
    return transactional_body(key, version) if protocol.speaks(key, version) else None


def _session(protocol: Protocol, name: str, description: str, moves: tuple[Move, ...]) -> Session:
    return Session(
        f"transaction-{protocol.name}-{name}",
        f"in a transaction {protocol.name}, {description}",
        (keys.INIT_PRODUCER_ID,),
        TRANSACTION.keys | {keys.DESCRIBE_PRODUCERS},
        1,
        partial(_run, protocol, moves),
        partial(_body, protocol),
        at_least={**protocol.oldest, keys.INIT_PRODUCER_ID: 3},
        newest_only=True,
    )


TRANSACTION_STATES: Final = tuple(
    _session(protocol, *state) for protocol in (V1, V2) for state in STATES
)
