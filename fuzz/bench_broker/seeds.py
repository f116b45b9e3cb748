"""Seeds for cases against clients: valid responses of the bench's broker to plain requests.

They are a function of the APIs and versions alone: the requests are the ones below, not a live client's,
whose order and timing would show in them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from barnabas.fuzz.bench_broker.broker import Broker, encoded
from barnabas.fuzz.bench_broker.cluster import (
    PARTITIONS,
    PARTS,
    TIME,
    TOPIC,
    TOPIC_ID,
    Cluster,
    Log,
    Part,
    some_records,
)
from barnabas.fuzz.bench_broker.contexts.context import NO_CONTEXT, Context
from barnabas.fuzz.bench_broker.contexts.members import assignment, subscription
from barnabas.fuzz.bench_broker.contexts.registry import CONTEXTS
from barnabas.fuzz.bench_broker.offer import narrowed
from barnabas.fuzz.bench_broker.planted import ADDRESS
from barnabas.fuzz.bench_broker.response_shapes import Shape, shapes, single
from barnabas.fuzz.cases.case import Seed
from barnabas.fuzz.generators.containers import names
from barnabas.specs import keys
from barnabas.specs.frames import response_body
from barnabas.specs.headers import encode_header
from barnabas.specs.records import Record, build
from barnabas.specs.records.control import control_key, marker_value
from barnabas.specs.registry import NAMES, api

_CORRELATION: Final = 0x5EED5EED
"""The correlation id of every seed; the request's replaces it if the case has not changed it."""

GROUP: Final = "bench-group"
_MEMBER: Final = "member-1"

SUBSCRIPTION: Final = subscription(0)
ASSIGNMENT: Final = assignment(0)

_TOPIC: Final = {"name": TOPIC, "topic": TOPIC, "topic_id": TOPIC_ID}
_BY_GROUP: Final = {
    "group_id": GROUP,
    "generation_id": 1,
    "generation_id_or_member_epoch": 1,
    "member_id": _MEMBER,
}
_SHARED: Final = {"group_id": GROUP, "member_id": _MEMBER, "share_session_epoch": 0}
_TXN: Final = {"transactional_id": "bench-txn", "producer_id": 4000, "producer_epoch": 0}
_OFFSET: Final = {"partition_index": 0, "committed_offset": 3, "committed_metadata": "so far"}

_PLAIN: Final[Mapping[int, Mapping[str, Any]]] = {
    keys.PRODUCE: {
        "acks": -1,
        "topic_data": [
            {
                **_TOPIC,
                "partition_data": [{"index": 0, "records": build([Record(0, 0, None, b"v")])}],
            }
        ],
    },
    keys.FETCH: {
        "max_wait_ms": 0,
        "isolation_level": 1,
        "session_id": 0,
        "session_epoch": 0,
        "topics": [
            {**_TOPIC, "partitions": [{"partition": i, "fetch_offset": 0} for i in range(2)]}
        ],
    },
    keys.LIST_OFFSETS: {
        "topics": [
            {**_TOPIC, "partitions": [{"partition_index": i, "timestamp": -2} for i in range(2)]}
        ]
    },
    keys.METADATA: {
        "topics": [_TOPIC],
        "include_topic_authorized_operations": True,
        "include_cluster_authorized_operations": True,
    },
    keys.OFFSET_COMMIT: {**_BY_GROUP, "topics": [{**_TOPIC, "partitions": [_OFFSET]}]},
    keys.OFFSET_FETCH: {
        "group_id": GROUP,
        "topics": [{**_TOPIC, "partition_indexes": [0, 1]}],
        "groups": [{"group_id": GROUP, "topics": [{**_TOPIC, "partition_indexes": [0, 1]}]}],
    },
    keys.FIND_COORDINATOR: {"key": GROUP, "coordinator_keys": [GROUP]},
    keys.JOIN_GROUP: {
        "group_id": GROUP,
        "protocol_type": "consumer",
        "protocols": [{"name": "range", "metadata": SUBSCRIPTION}],
    },
    keys.HEARTBEAT: _BY_GROUP,
    keys.LEAVE_GROUP: {**_BY_GROUP, "members": [{"member_id": _MEMBER, "group_instance_id": None}]},
    keys.SYNC_GROUP: {
        **_BY_GROUP,
        "assignments": [{"member_id": _MEMBER, "assignment": ASSIGNMENT}],
    },
    keys.SASL_HANDSHAKE: {"mechanism": "PLAIN"},
    keys.SASL_AUTHENTICATE: {"auth_bytes": b"\0barnabas\0secret"},
    keys.API_VERSIONS: {},
    keys.INIT_PRODUCER_ID: {"transactional_id": None, "transaction_timeout_ms": 1000},
    keys.OFFSET_FOR_LEADER_EPOCH: {
        "topics": [{**_TOPIC, "partitions": [{"partition": 0, "leader_epoch": 0}]}]
    },
    keys.ADD_PARTITIONS_TO_TXN: {
        "transactions": [{**_TXN, "topics": [{**_TOPIC, "partitions": [0]}]}],
        "v3_and_below_topics": [{**_TOPIC, "partitions": [0]}],
    },
    keys.END_TXN: _TXN,
    keys.TXN_OFFSET_COMMIT: {
        **_TXN,
        **_BY_GROUP,
        "topics": [{**_TOPIC, "partitions": [_OFFSET]}],
    },
    keys.CONSUMER_GROUP_HEARTBEAT: {
        "group_id": GROUP,
        "member_id": "",
        "member_epoch": 0,
        "subscribed_topic_names": [TOPIC],
    },
    keys.SHARE_GROUP_HEARTBEAT: {
        "group_id": GROUP,
        "member_id": _MEMBER,
        "member_epoch": 0,
        "subscribed_topic_names": [TOPIC],
    },
    keys.SHARE_FETCH: {
        **_SHARED,
        "topics": [{**_TOPIC, "partitions": [{"partition_index": i} for i in range(2)]}],
    },
    keys.SHARE_ACKNOWLEDGE: {
        **_SHARED,
        "topics": [{**_TOPIC, "partitions": [{"partition_index": i} for i in range(2)]}],
    },
    # requests of admin clients about the topic and group above
    keys.DESCRIBE_GROUPS: {"groups": [GROUP], "include_authorized_operations": True},
    keys.CONSUMER_GROUP_DESCRIBE: {"group_ids": [GROUP], "include_authorized_operations": True},
    keys.DESCRIBE_CLUSTER: {"include_cluster_authorized_operations": True},
    keys.DELETE_GROUPS: {"groups_names": [GROUP]},
    keys.DESCRIBE_CONFIGS: {
        "resources": [{"resource_type": 2, "resource_name": TOPIC, "configuration_keys": None}]
    },
    keys.CREATE_TOPICS: {
        "topics": [{"name": "other", "num_partitions": 1, "replication_factor": 1}]
    },
    keys.DELETE_TOPICS: {"topics": [{"name": "other"}], "topic_names": ["other"]},
    keys.CREATE_PARTITIONS: {"topics": [{**_TOPIC, "count": 3, "assignments": None}]},
    keys.DELETE_RECORDS: {
        "topics": [{**_TOPIC, "partitions": [{"partition_index": 0, "offset": 1}]}]
    },
    keys.SHARE_GROUP_DESCRIBE: {"group_ids": [GROUP], "include_authorized_operations": True},
    keys.DESCRIBE_TRANSACTIONS: {"transactional_ids": ["bench-txn"]},
    keys.DESCRIBE_TOPIC_PARTITIONS: {"topics": [_TOPIC]},
}
"""API key -> a request; fields that a version lacks are left out. Other requests have defaults."""

_JOINED: Final = frozenset((keys.HEARTBEAT, keys.SYNC_GROUP, keys.LEAVE_GROUP, keys.OFFSET_FETCH))
"""Requests of a member that has joined; offsets are committed before."""

_FIRST: Final = PARTS[0].records
_CONTROL: Final = Record(
    _FIRST[-1].offset + 1, _FIRST[-1].timestamp, control_key("COMMIT"), marker_value(0)
)

_BARE: Final = Record(0, TIME, None, None, (("", None),))
_WHOLE: Final = Record(0, TIME, b"key", b"value", (("trace", b"\x01"), ("none", None), ("", b"")))

_SHORT: Final = (Part((_WHOLE,)),)

LOGS: Final[tuple[tuple[str, int, tuple[Part, ...]], ...]] = (
    ("null-record", 0, (Part((_BARE,)),)),
    ("batches", 0, tuple(Part(some_records(at, 4)) for at in (0, 4, 8))),
    ("no-records", 0, ()),
    *(
        (name, 0 if name in names(zstd=False) else 4, (Part(_FIRST, name),))
        for name in names(zstd=True)
    ),
    (
        "transaction",
        4,
        (
            Part(_FIRST, is_transactional=True, producer_id=4000),
            Part((_CONTROL,), is_transactional=True, is_control=True, producer_id=4000),
        ),
    ),
    ("magic-0", 2, tuple(part._replace(magic=0) for part in PARTS)),
    ("magic-1", 4, tuple(part._replace(magic=1) for part in PARTS)),
)
"""(name, first version, batches of a partition) for seeds of Fetch: a broker returns old batches as they were
written. There is one partition, since some clients accept no more in a response."""


def seeds(versions: Iterable[tuple[int, int]]) -> list[Seed]:
    """Return several seeds for each (API key, version), in order. Raises LookupError for an unknown one.

    They are the plain response, then each of its `shapes` that differs, with one record in a partition; for
    Fetch also one for each of LOGS. Then comes one for each of CONTEXTS that has the API.
    """
    return [seed for key, version in sorted(set(versions)) for seed in _of(key, version)]


def _of(key: int, version: int) -> Iterator[Seed]:
    origin = f"answering:{NAMES[key]}-{version}"
    plain = _answer(key, version, PARTS)
    yield Seed(key, version, "response", plain, origin)
    frames, short = {plain}, _answer(key, version, _SHORT)
    for name, shape in shapes(key):
        frame = _shaped(key, version, short, shape)
        if frame not in frames:
            frames.add(frame)
            yield Seed(key, version, "response", frame, f"{origin}:{name}")
    for name, since, parts in LOGS if key == keys.FETCH else ():
        if version >= since:
            frame = _shaped(key, version, _answer(key, version, parts), single)
            yield Seed(key, version, "response", frame, f"{origin}:{name}")
    for context in CONTEXTS:
        if version >= context.keys.get(key, version + 1):
            frame = _answer(key, version, PARTS, context)
            if context.single:
                frame = _shaped(key, version, frame, single)
            yield Seed(key, version, "response", frame, f"{origin}:{context.name}")


def _answer(key: int, version: int, parts: Sequence[Part], context: Context = NO_CONTEXT) -> bytes:
    """Return the frame of a response by a broker with these batches in each partition."""
    end = parts[-1].records[-1].offset + 1 if parts else 0
    logs = [Log(list(parts), end) for _ in range(PARTITIONS)]
    broker = Broker(Cluster(*ADDRESS, logs=logs), narrowed(key, version), context=context)
    for turn in context.turns:
        for _ in range(0 if turn.ordinal is None else turn.ordinal + 1):
            _ask(broker, turn.key, broker.offer[turn.key][1])
    if key in _JOINED:
        _ask(broker, keys.JOIN_GROUP, 5)
        _ask(broker, keys.OFFSET_COMMIT, 5)
    return _ask(broker, key, version)


def _shaped(key: int, version: int, frame: bytes, shape: Shape) -> bytes:
    """Return the frame with its body in another shape."""
    body = response_body(frame, key, version)
    codec = api(key).response.codec(version)
    return frame[:body] + codec.encode(shape(codec.layout, codec.decode(frame[body:])))


def _ask(broker: Broker, key: int, version: int) -> bytes:
    """Return the response's frame."""
    header = encode_header("request", key, version, _CORRELATION, "barnabas")
    reply = broker.answer(header + encoded(key, version, "request", _PLAIN.get(key, {})))
    assert reply is not None  # noqa: S101 (none of the requests is a Produce without acks)
    return b"".join(reply.chunks)[4:]
