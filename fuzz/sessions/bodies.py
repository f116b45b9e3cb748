"""Valid request bodies about the topic, group and transaction of sessions: one for each API.

A stand-in of the same size takes the place of each live value.
"""

from __future__ import annotations

import base64
import uuid
from collections.abc import Mapping
from typing import Any, Final

from barnabas.fuzz.generators.containers import names, packing
from barnabas.fuzz.sessions.live_values import Values
from barnabas.fuzz.sessions.session import CLIENT_ID, TOPIC, Stage
from barnabas.peers.replay.versions import prune
from barnabas.specs import keys
from barnabas.specs.records import build
from barnabas.specs.records.record import Record
from barnabas.specs.registry import api

GROUP_ID: Final = Stage({}).group_id
TRANSACTIONAL_ID: Final = Stage({}).transactional_id
MEMBER_ID: Final = f"{CLIENT_ID}-{uuid.UUID(int=0)}"
"""Has the length of the ids that brokers make: the client id, a hyphen, a UUID."""


def member_uuid(number: int) -> str:
    """Return a member id as Kafka's newer groups have it: a UUID in base64 (KIP-848, KIP-932)."""
    return base64.urlsafe_b64encode(uuid.UUID(int=1 << 96 | number).bytes).decode().rstrip("=")


MEMBER_UUID: Final = member_uuid(0)
TOPIC_ID: Final = uuid.UUID("5eed0000-0000-4000-8000-0000000000ff")
TIME_MS: Final = 1_500_000_000_000

SUBSCRIPTION: Final = (
    bytes.fromhex("0000 00000001") + len(TOPIC).to_bytes(2, "big") + TOPIC.encode()
)
"""ConsumerProtocolSubscription v0 of one topic; no user data follows."""
_SUBSCRIBED: Final = SUBSCRIPTION + b"\xff\xff\xff\xff"
_ASSIGNED: Final = SUBSCRIPTION + bytes.fromhex("00000001 00000000 ffffffff")


_NOTHING_LIVE: Final[Values] = {}


def records(version: int = 11, container: str = "none", **producer: Any) -> bytes:
    """Return three records as a producer sends them with a version of Produce, in a container."""
    magic = 2 if version >= 3 else 1 if version == 2 else 0
    time = TIME_MS if magic else -1
    headers = (("trace", b"\x01"), ("empty", None)) if magic == 2 else ()
    some = [Record(i, time, b"key" if i else None, b"value-%d" % i, headers[:i]) for i in range(3)]
    return build(some, magic=magic, **packing(container, magic), **(producer if magic == 2 else {}))


def containers(version: int) -> tuple[str, ...]:
    """Return the containers of batches that a version of Produce allows (zstd: KIP-110)."""
    return names(zstd=version >= 7)


def body(key: int, version: int, **changes: Any) -> Mapping[str, Any] | None:
    """Return a valid body for a version; None for an API without one here.

    changes: fields of the body's outermost structure.
    """
    whole = _BODIES.get(key)
    if whole is None:
        return None
    return prune({**whole, **changes}, api(key).request.layout(version))


def produce(
    version: int,
    *,
    transactional: bool = False,
    idempotent: bool = False,
    container: str = "none",
    live: Values = _NOTHING_LIVE,
) -> Mapping[str, Any]:
    """Return the body of a Produce request. live: values that take the place of stand-ins."""
    producer: dict[str, Any] = {}
    if transactional or idempotent:
        names = ("producer_id", "producer_epoch", "base_sequence")
        producer = {name: live.get(name, 0) for name in names}
    data = records(version, container, **producer, is_transactional=transactional)
    topic = {**_TOPIC, "partition_data": [{"index": 0, "records": data}]}
    if isinstance(topic_id := live.get("topic_id"), bytes):
        topic["topic_id"] = uuid.UUID(bytes=topic_id)
    named = live.get("transactional_id", TRANSACTIONAL_ID) if transactional else None
    request = body(keys.PRODUCE, version, transactional_id=named, topic_data=[topic])
    assert request is not None  # noqa: S101
    return request


_TOPIC: Final = {"name": TOPIC, "topic": TOPIC, "topic_id": TOPIC_ID}
_COMMITTED: Final = {
    **_TOPIC,
    "partitions": [{"partition_index": 0, "committed_offset": 1, "committed_metadata": "m"}],
}
_ENROLLED: Final = {"name": TOPIC, "partitions": [0]}
_MEMBER: Final = {"group_id": GROUP_ID, "member_id": MEMBER_ID, "generation_id": 0}
_WHOLE_MEMBER: Final = {**_MEMBER, "generation_id_or_member_epoch": 0, "member_epoch": 0}
_TRANSACTION: Final = {
    "transactional_id": TRANSACTIONAL_ID,
    "producer_id": 0,
    "producer_epoch": 0,
}
_ACKNOWLEDGED: Final = [{"first_offset": 0, "last_offset": 1, "acknowledge_types": [1]}]
_SHARED: Final = {
    "topic_id": TOPIC_ID,
    "partitions": [
        {
            "partition_index": 0,
            "partition_max_bytes": 1 << 20,
            "acknowledgement_batches": _ACKNOWLEDGED,
        }
    ],
}

TOPOLOGY: Final = {
    "epoch": 1,
    "subtopologies": [
        {
            "subtopology_id": "0",
            "source_topics": [TOPIC],
            "source_topic_regex": [],
            "state_changelog_topics": [],
            "repartition_sink_topics": [],
            "repartition_source_topics": [],
            "copartition_groups": [],
        }
    ],
}
"""The topology of a streams group: one subtopology that reads the topic and keeps no state (KIP-1071)."""
_TASKS: Final[dict[str, Any]] = {"active_tasks": [], "standby_tasks": [], "warmup_tasks": []}

_BODIES: Final[Mapping[int, Mapping[str, Any]]] = {
    keys.API_VERSIONS: {"client_software_name": CLIENT_ID, "client_software_version": "1.0"},
    keys.SASL_HANDSHAKE: {"mechanism": "PLAIN"},
    keys.SASL_AUTHENTICATE: {"auth_bytes": b"\0barnabas\0barnabas-secret"},
    keys.PRODUCE: {"acks": -1, "timeout_ms": 1000},
    keys.FETCH: {
        "max_wait_ms": 0,
        "min_bytes": 0,
        "session_id": 0,
        "session_epoch": 0,
        "topics": [
            {
                **_TOPIC,
                "partitions": [{"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1 << 16}],
            }
        ],
        "forgotten_topics_data": [],
    },
    keys.LIST_OFFSETS: {
        "replica_id": -1,
        "topics": [{"name": TOPIC, "partitions": [{"partition_index": 0, "timestamp": -1}]}],
    },
    keys.METADATA: {"topics": [{**_TOPIC, "topic_id": uuid.UUID(int=0)}]},
    keys.OFFSET_COMMIT: {**_WHOLE_MEMBER, "topics": [_COMMITTED]},
    keys.OFFSET_FETCH: {
        "group_id": GROUP_ID,
        "topics": [{"name": TOPIC, "partition_indexes": [0]}],
        "groups": [
            {
                "group_id": GROUP_ID,
                "member_id": MEMBER_ID,
                "member_epoch": 0,
                "topics": [{**_TOPIC, "partition_indexes": [0]}],
            }
        ],
    },
    keys.JOIN_GROUP: {
        **_MEMBER,
        "session_timeout_ms": 6000,
        "rebalance_timeout_ms": 1000,
        "protocol_type": "consumer",
        "protocols": [{"name": "range", "metadata": _SUBSCRIBED}],
        "reason": "fuzz",
    },
    keys.HEARTBEAT: _MEMBER,
    keys.LEAVE_GROUP: {**_MEMBER, "members": [{"member_id": MEMBER_ID, "reason": "fuzz"}]},
    keys.SYNC_GROUP: {
        **_MEMBER,
        "protocol_type": "consumer",
        "protocol_name": "range",
        "assignments": [{"member_id": MEMBER_ID, "assignment": _ASSIGNED}],
    },
    keys.DESCRIBE_GROUPS: {"groups": [GROUP_ID]},
    keys.DELETE_GROUPS: {"groups_names": [GROUP_ID]},
    keys.OFFSET_DELETE: {
        "group_id": GROUP_ID,
        "topics": [{"name": TOPIC, "partitions": [{"partition_index": 0}]}],
    },
    keys.CREATE_TOPICS: {
        "topics": [{"name": TOPIC, "num_partitions": 1, "replication_factor": 1}],
        "timeout_ms": 1000,
    },
    keys.DELETE_RECORDS: {
        "topics": [{"name": TOPIC, "partitions": [{"partition_index": 0, "offset": 0}]}],
        "timeout_ms": 100,
    },
    keys.INIT_PRODUCER_ID: {**_TRANSACTION, "transaction_timeout_ms": 10000},
    keys.OFFSET_FOR_LEADER_EPOCH: {
        "replica_id": -1,
        "topics": [{"topic": TOPIC, "partitions": [{"partition": 0, "leader_epoch": 0}]}],
    },
    keys.ADD_PARTITIONS_TO_TXN: {
        "transactions": [{**_TRANSACTION, "verify_only": False, "topics": [_ENROLLED]}],
        "v3_and_below_transactional_id": TRANSACTIONAL_ID,
        "v3_and_below_producer_id": 0,
        "v3_and_below_producer_epoch": 0,
        "v3_and_below_topics": [_ENROLLED],
    },
    keys.ADD_OFFSETS_TO_TXN: {**_TRANSACTION, "group_id": GROUP_ID},
    keys.END_TXN: {**_TRANSACTION, "committed": True},
    keys.TXN_OFFSET_COMMIT: {
        **_TRANSACTION,
        "group_id": GROUP_ID,
        "member_id": "",
        "generation_id_or_member_epoch": -1,
        "topics": [_COMMITTED],
    },
    keys.DESCRIBE_PRODUCERS: {"topics": [{"name": TOPIC, "partition_indexes": [0]}]},
    keys.DESCRIBE_TRANSACTIONS: {"transactional_ids": [TRANSACTIONAL_ID]},
    keys.CONSUMER_GROUP_HEARTBEAT: {
        **_WHOLE_MEMBER,
        "rebalance_timeout_ms": 10000,
        "subscribed_topic_names": [TOPIC],
        "subscribed_topic_regex": "",
        "topic_partitions": [],
    },
    keys.CONSUMER_GROUP_DESCRIBE: {"group_ids": [GROUP_ID]},
    keys.SHARE_GROUP_HEARTBEAT: {**_WHOLE_MEMBER, "subscribed_topic_names": [TOPIC]},
    keys.SHARE_GROUP_DESCRIBE: {"group_ids": [GROUP_ID]},
    keys.SHARE_FETCH: {
        "group_id": GROUP_ID,
        "member_id": MEMBER_ID,
        "share_session_epoch": 0,
        "max_wait_ms": 0,
        "min_bytes": 0,
        "max_records": 10,
        "batch_size": 10,
        "topics": [_SHARED],
        "forgotten_topics_data": [],
    },
    keys.SHARE_ACKNOWLEDGE: {
        "group_id": GROUP_ID,
        "member_id": MEMBER_ID,
        "share_session_epoch": 0,
        "topics": [_SHARED],
    },
    keys.STREAMS_GROUP_HEARTBEAT: {
        **_WHOLE_MEMBER,
        "endpoint_information_epoch": 0,
        "rebalance_timeout_ms": 10000,
        "topology": TOPOLOGY,
        **_TASKS,
        "process_id": "fuzz-process",
        "user_endpoint": {"host": "127.0.0.1", "port": 9092},
        "client_tags": [{"key": "zone", "value": "a"}],
    },
    keys.STREAMS_GROUP_DESCRIBE: {"group_ids": [GROUP_ID]},
    keys.DESCRIBE_CONFIGS: {"include_synonyms": True, "include_documentation": False},
    keys.ALTER_CONFIGS: {},
    keys.INCREMENTAL_ALTER_CONFIGS: {},
    keys.LIST_CONFIG_RESOURCES: {},
}
