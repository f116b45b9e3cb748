"""The values of generated messages: few, so that several messages concern the same things."""

from __future__ import annotations

import uuid
from typing import Final

from barnabas.fuzz.generators.resources import resource_types
from barnabas.specs.error_codes import ERROR_CODES

CLIENT_ID: Final = "barnabas"
TOPICS: Final = ("fuzz-topic", "fuzz-topic", "fuzz-topic", "fuzz-other", "not-there")
"""The first exists on targets with sessions."""

GROUPS: Final = ("fuzz-group", "fuzz-group-2")
TRANSACTIONAL_IDS: Final = ("fuzz-txn", "fuzz-txn-2")
TOPIC_IDS: Final = (
    uuid.UUID(int=0),
    uuid.UUID(int=1),
    uuid.UUID("5eed0000-0000-4000-8000-000000000001"),
)
"""No id, the metadata log's, and one like any other."""

IDS: Final = (uuid.UUID(int=0), uuid.UUID("5eed0000-0000-4000-8000-000000000002"))
"""UUIDs of other things: directories, incarnations, client instances."""

ERRORS: Final = (0,) * 12 + tuple(error.code for error in ERROR_CODES)

OF_NUMBERS: Final[dict[str, tuple[int, ...]]] = {
    "acks": (-1, 1, 1, 0),
    "assignor_type": (0, 1),
    "attributes": (0, 1, 2),
    "broker_id": (0, 1, -1),
    "config_operation": (0, 1, 2, 3),
    "config_source": (0, 1, 4, 5),
    "config_type": (1, 2, 5),
    "controller_id": (0, 1),
    "coordinator_type": (0, 1),
    "correlation_id": (1, 2, 3),
    "credential_type": (0,),
    "election_type": (0, 1),
    "endpoint_type": (1, 2),
    "epoch": (-1, 0, 1),
    "error_code": ERRORS,
    "fetch_offset": (0, 0, 1, 5),
    "generation_id": (-1, 0, 1),
    "index": (0, 0, 1),
    "isolation_level": (0, 1),
    "iterations": (4096, 8192),
    "key_type": (0, 1, 2),
    "leader_epoch": (-1, 0, 1),
    "leader_id": (0, 1, -1),
    "match_type": (0, 1, 2),
    "max_bytes": (1 << 20, 1024, 1),
    "max_num_offsets": (1, 10),
    "max_wait_ms": (0, 10, 50),
    "mechanism": (1, 2),
    "min_bytes": (0, 1),
    "node_id": (0, 1),
    "num_partitions": (1, 2, -1),
    "offset": (0, 1, 7, -1),
    "operation": (1, 2, 3, 4, 8, 12),
    "partition": (0, 0, 1),
    "partition_index": (0, 0, 1),
    "partition_max_bytes": (1 << 20, 1024),
    "pattern_type": (1, 2, 3, 4),
    "pattern_type_filter": (1, 2, 3, 4),
    "permission_type": (1, 2, 3),
    "port": (9092, 19092),
    "producer_epoch": (0, 1, -1),
    "producer_id": (0, 1, 4000, -1),
    "replica_id": (-1, -1, 0),
    "replication_factor": (1, -1),
    "session_epoch": (-1, 0, 1),
    "session_id": (0, 0, 1),
    "share_session_epoch": (-1, 0, 1),
    "throttle_time_ms": (0, 0, 0, 1),
    "timeout_ms": (1000, 100, 0),
    "timestamp": (-1, -2, 0, 1500000000000),
    "upgrade_type": (1, 2, 3),
}
"""Values by a field's name, with Kafka's enumerations."""

BY_ENDING: Final[dict[str, tuple[int, ...]]] = {
    "_code": ERRORS,
    "_epoch": (-1, 0, 1, 5),
    "_ids": (0, 1),
    "_index": (0, 0, 1),
    "_indexes": (0, 1),
    "_nodes": (0, 1),
    "_offset": (0, 1, 7, -1),
    "_port": (9092,),
    "_timeout_ms": (6000, 10000, 30000),
    "_time_ms": (-1, 0, 1500000000000),
    "_type": (0, 1, 2),
    "_ms": (0, 1, 1000),
    "_id": (0, 1, -1),
    "s": (0, 1, 2),
}
"""Values by the ending of a field's name; the first that fits counts."""

TEXTS: Final[dict[str, tuple[str, ...]]] = {
    "client_software_name": ("barnabas",),
    "client_software_version": ("1.0",),
    "config_name": ("retention.ms", "cleanup.policy"),
    "group_instance_id": ("instance-1",),
    "host": ("127.0.0.1", "localhost"),
    "host_filter": ("*", "127.0.0.1"),
    "mechanism": ("PLAIN", "SCRAM-SHA-256"),
    "member_id": ("", "barnabas-00000000-0000-4000-8000-000000000001"),
    "principal": ("User:fuzz",),
    "principal_filter": ("User:fuzz", "User:*"),
    "principal_name": ("fuzz",),
    "principal_type": ("User",),
    "protocol": ("range", "PLAINTEXT"),
    "protocol_name": ("range", "roundrobin"),
    "protocol_type": ("consumer",),
    "rack": ("rack-1",),
    "resource_name": ("fuzz-topic", "0", "1", "", "kafka-cluster", "fuzz-group", "fuzz-metrics"),
    "server_assignor": ("uniform", "range"),
    "states_filter": ("Stable", "Empty"),
    "user": ("fuzz",),
}
"""Strings by a field's name."""

WORDS: Final = ("", "a", "fuzz", "fuzz-topic", "0", "naïve", "x" * 40)
"""Strings for all other fields."""


def numbers_for(key: int, name: str) -> tuple[int, ...] | None:
    """Return the values for a number field of an API; None if there are none."""
    numbers = resource_types(key, name) or OF_NUMBERS.get(name)
    if numbers is not None:
        return numbers
    return next((values for ending, values in BY_ENDING.items() if name.endswith(ending)), None)


def texts_for(name: str, entity: str | None) -> tuple[str, ...]:
    """Return the values for a string field; `entity` is what it names, if it names something."""
    named: dict[str | None, tuple[str, ...]] = {
        "topic": TOPICS,
        "group": GROUPS,
        "transactional_id": TRANSACTIONAL_IDS,
    }
    return named.get(entity) or TEXTS.get(name, WORDS)
