"""Which session makes a client ask for an API; the programs know them by these names."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Final

from barnabas.fuzz.answering.offer import EVERYTHING, FIRST_TRANSACTIONS, Offer
from barnabas.specs import keys

EVERYBODYS: Final = ("consume", "group", "produce", "transaction", "admin", "sasl")
"""Those that every library's program has."""

WORKLOADS: Final[Mapping[str, str]] = {
    "consume": "reads partitions 0 and 1 of topic bench from the beginning, without a group; "
    "then asks for their end and for an offset by its time",
    "group": "joins group bench-group, reads topic bench, commits, asks what is committed, leaves",
    "produce": "sends three records to topic bench, acks=all",
    "transaction": "as bench-txn, sends a record to topic bench and offsets of bench-group, and commits",
    "admin": "describes the cluster, topic bench and bench-group, then creates and deletes some",
    "sasl": "reads topic bench behind a login with SASL_PLAINTEXT, PLAIN, barnabas, secret",
    "consumer-protocol": "reads topic bench in bench-group with group.protocol=consumer",
    "share-group": "reads topic bench in the share group bench-group and acknowledges",
    "telemetry": "reads topic bench with client metrics on",
}
"""All, in the order in which a survey of a client runs them, and what a client does in them, more or less.
One that a library lacks is over at once."""

SURVEYED: Final[tuple[tuple[str, Offer], ...]] = (
    *((workload, EVERYTHING) for workload in WORKLOADS),
    ("transaction", FIRST_TRANSACTIONS),
)
"""Workloads, and what they are offered: of transactions a client asks otherwise in each version."""

_BY_KEY: Final = {
    keys.PRODUCE: "produce",
    keys.FETCH: "consume",
    keys.LIST_OFFSETS: "consume",
    keys.METADATA: "consume",
    keys.API_VERSIONS: "consume",
    keys.OFFSET_FOR_LEADER_EPOCH: "consume",
    keys.OFFSET_COMMIT: "group",
    keys.OFFSET_FETCH: "group",
    keys.FIND_COORDINATOR: "group",
    keys.JOIN_GROUP: "group",
    keys.HEARTBEAT: "group",
    keys.LEAVE_GROUP: "group",
    keys.SYNC_GROUP: "group",
    keys.CONSUMER_GROUP_HEARTBEAT: "consumer-protocol",
    keys.SHARE_GROUP_HEARTBEAT: "share-group",
    keys.SHARE_FETCH: "share-group",
    keys.SHARE_ACKNOWLEDGE: "share-group",
    keys.GET_TELEMETRY_SUBSCRIPTIONS: "telemetry",
    keys.PUSH_TELEMETRY: "telemetry",
    keys.INIT_PRODUCER_ID: "produce",
    keys.ADD_PARTITIONS_TO_TXN: "transaction",
    keys.ADD_OFFSETS_TO_TXN: "transaction",
    keys.SASL_HANDSHAKE: "sasl",
    keys.SASL_AUTHENTICATE: "sasl",
    keys.END_TXN: "transaction",
    keys.TXN_OFFSET_COMMIT: "transaction",
}


def candidates(key: int) -> tuple[str, ...]:
    """The workloads that may ask for an API, the likeliest first.

    >>> candidates(1)[0], candidates(32)[0]
    ('consume', 'admin')
    """
    first = _BY_KEY.get(key, "admin")
    return first, *(one for one in WORKLOADS if one != first)


def chosen(key: int, version: int, asked: Mapping[str, Set[tuple[int, int]]]) -> str:
    """The workload for a version of an API: one that asked for it, else one that asked in another version.

    asked: workload -> what it asked for while everything was offered.

    >>> chosen(1, 11, {"consume": {(1, 10)}, "admin": {(1, 11)}})
    'admin'
    >>> chosen(1, 5, {"consume": {(1, 10)}, "admin": {(1, 11)}})
    'consume'
    """
    likely = candidates(key)
    found = [one for one in likely if (key, version) in asked.get(one, ())]
    found += [one for one in likely if any(key == other for other, _ in asked.get(one, ()))]
    return (*found, *likely)[0]
