"""Extract the facts of bodies that checks use; checks decode no body themselves.

A fact is extracted once, and stored with its exchange for all checks. Over captures of any size it is
extracted where the bodies are, and passed on in their place: `barnabas.pipeline.rows.seen`.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, Generic, NamedTuple, TypeVar

from barnabas.captures.checks.flaws import flaws
from barnabas.captures.checks.partitions import answered_partitions, partitions
from barnabas.captures.checks.partitions import by_follower as follows
from barnabas.captures.checks.resends import identity
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.error_codes import ERROR_CODES
from barnabas.specs.keys import (
    API_VERSIONS,
    CONSUMER_GROUP_HEARTBEAT,
    END_TXN,
    FETCH,
    INIT_PRODUCER_ID,
    METADATA,
    OFFSET_COMMIT,
    PRODUCE,
    SHARE_FETCH,
    SHARE_GROUP_HEARTBEAT,
    STREAMS_GROUP_HEARTBEAT,
    SYNC_GROUP,
    TXN_OFFSET_COMMIT,
)
from barnabas.specs.malformed import Malformed
from barnabas.specs.records import Batch, read, summary
from barnabas.specs.registry import key_of

T = TypeVar("T")

MODULUS: Final = 1 << 31
"""The sequence number after 2^31 - 1 is 0."""

HALF: Final = MODULUS // 2
"""A sequence number that is less than this ahead of another one comes after it."""

WHOLE: Final = -1
"""In place of a partition number: an error of the whole response."""

GROUP_APIS: Final = (
    "JoinGroup",
    "SyncGroup",
    "Heartbeat",
    "LeaveGroup",
    "OffsetCommit",
    "TxnOffsetCommit",
    "ConsumerGroupHeartbeat",
    "ShareGroupHeartbeat",
    "StreamsGroupHeartbeat",
)
"""The APIs by which group members join, heartbeat, commit and leave."""

GROUP_TYPES: Final = {
    CONSUMER_GROUP_HEARTBEAT: "consumer",
    SHARE_GROUP_HEARTBEAT: "share",
    STREAMS_GROUP_HEARTBEAT: "streams",
}
"""Group types by the API of their heartbeats, which return an epoch and an interval (ConsumerGroupHeartbeat,
KIP-848; ShareGroupHeartbeat, KIP-932; StreamsGroupHeartbeat, KIP-1071)."""

RANGE: Final = struct.Struct(">hhh")
"""An API key with its lowest and highest version."""

RETRIABLE: Final = frozenset(error.name for error in ERROR_CODES if error.retriable)

_GROUP: Final = frozenset(map(key_of, GROUP_APIS))
_COMMITS: Final = (OFFSET_COMMIT, TXN_OFFSET_COMMIT)


@dataclass(frozen=True, slots=True)
class Fact(Generic[T]):
    """A named fact of an exchange, and the function that extracts it."""

    name: str
    read: Callable[[Exchange, Context], T]

    def of(self, exchange: Exchange, context: Context | None = None) -> T:
        """Return the fact of an exchange, extracting it once. `context` has the names of topic ids."""
        facts = exchange.facts
        if facts is None:
            facts = exchange.facts = {}
        if self.name not in facts:
            facts[self.name] = self.read(exchange, context or Context())
        fact: T = facts[self.name]
        return fact


class PartitionFacts(NamedTuple):
    """The facts of one partition in an exchange. None: not in the messages."""

    topic: str
    """The topic's name, or the text of its id if the name is unknown."""
    partition: int
    asked: bool = True
    """Whether the request has the partition; a Fetch response may have others of its session."""
    error: int | None = None
    offset: int | None = None
    """Produce: base offset of the records; Fetch: the requested offset; OffsetCommit: the committed offset;
    ShareFetch: the first of the records that were acquired most often."""
    known_epoch: int | None = None
    """Fetch: the leader epoch that the client knew."""
    preferred: int | None = None
    """Fetch: the preferred read replica."""
    leader: int | None = None
    """Metadata: the leader, -1: none; Produce, Fetch: the leader that the error names."""
    leader_epoch: int | None = None
    checksum: int | None = None
    """Produce: equal when the records are sent again (`resends.identity`); None: no readable batch."""
    producer_id: int | None = None
    """The producer id of the first batch, like the next three fields; None if it is not idempotent."""
    producer_epoch: int | None = None
    base_sequence: int | None = None
    last_sequence: int | None = None
    next_offset: int | None = None
    """Fetch: the offset after the last whole batch; -1: only a part of one was returned; None: no records."""
    deliveries: int | None = None
    """ShareFetch: how often the records at `offset` were acquired."""

    @property
    def text(self) -> str:
        """Return topic and partition as text: orders[3]."""
        return f"{self.topic}[{self.partition}]" if self.partition != WHOLE else "all partitions"


class GroupFields(NamedTuple):
    """Some fields of a group request and its response, under their names."""

    request: dict[str, Any] | None
    response: dict[str, Any] | None


REQUEST: Final = (
    *("group_id", "member_id", "generation_id", "generation_id_or_member_epoch", "member_epoch"),
    *("session_timeout_ms", "rebalance_timeout_ms", "group_instance_id", "instance_id", "reason"),
    "server_assignor",
)
RESPONSE: Final = (
    *("error_code", "member_id", "generation_id", "member_epoch", "protocol_name", "leader"),
    "heartbeat_interval_ms",
)
MEMBER: Final = ("member_id", "group_instance_id", "reason", "error_code")


def _group_fields(exchange: Exchange, context: Context) -> GroupFields | None:
    if exchange.key not in _GROUP:
        return None
    request_body, response_body = exchange.request, exchange.response
    request = _few(request_body, REQUEST)
    response = _few(response_body, RESPONSE)
    if request is not None and exchange.key == SYNC_GROUP:
        request["assigns"] = bool((request_body or {}).get("assignments"))
    if response is not None and exchange.key in _COMMITS:
        codes = {
            partition.fields["error_code"]
            for partition in partitions(exchange, "response", context)
        }
        response["errors"] = sorted(codes)
    return GroupFields(request, response)


def _few(body: dict[str, Any] | None, names: Iterable[str]) -> dict[str, Any] | None:
    if not body:
        return None
    fields = {name: body[name] for name in names if name in body}
    if isinstance(body.get("members"), list):
        fields["members"] = [
            {name: member[name] for name in MEMBER if name in member} for member in body["members"]
        ]
    return fields


def _partition_facts(exchange: Exchange, context: Context) -> tuple[PartitionFacts, ...] | None:
    if exchange.key == METADATA:
        return tuple(
            PartitionFacts(
                partition.name,
                partition.number,
                leader=partition.fields["leader_id"],
                leader_epoch=partition.fields.get("leader_epoch"),
            )
            for partition in partitions(exchange, "response", context)
        )
    if exchange.key in (OFFSET_COMMIT, SHARE_FETCH):
        return tuple((_committed if exchange.key == OFFSET_COMMIT else _shared)(exchange, context))
    if exchange.key == FETCH:
        return None if follows(exchange.request or {}) else tuple(_fetched(exchange, context))
    return tuple(_produced(exchange, context)) if exchange.key == PRODUCE else None


def _produced(exchange: Exchange, context: Context) -> Iterator[PartitionFacts]:
    for partition in answered_partitions(exchange, context):
        answer = partition.response_fields or {}
        offset = answer.get("base_offset", -1)
        checksum, *producer = _first(partition.fields["records"] or b"")
        yield PartitionFacts(
            partition.name,
            partition.number,
            True,
            answer.get("error_code"),
            offset if offset >= 0 else None,
            None,
            None,
            *_hint(answer),
            checksum,
            *producer,
        )


def first_batch(records: bytes) -> Batch | None:
    """Return the first batch of a record set; None: there is no batch, or none that can be read.

    A Produce v3 or later has one batch (KIP-98).
    """
    try:
        return next(read(records), None)
    except Malformed:
        return None


def _first(records: bytes) -> tuple[int | None, ...]:
    """Return the last five producer fields of a Place, from the first batch."""
    batch = first_batch(records)
    if batch is None:
        return None, None, None, None, None
    checksum, base = identity(records, batch), batch.base_sequence
    if batch.producer_id < 0 or base < 0:
        return checksum, None, None, None, None
    last = (base + batch.last_offset - (batch.base_offset or 0)) % MODULUS
    return checksum, batch.producer_id, batch.producer_epoch, base, last


def _fetched(exchange: Exchange, context: Context) -> Iterator[PartitionFacts]:
    response = exchange.response
    if response:
        yield PartitionFacts("", WHOLE, asked=False, error=response.get("error_code", 0))
    answers = {partition[:2]: partition for partition in partitions(exchange, "response", context)}
    requested = set()
    for partition in partitions(exchange, "request", context):
        requested.add(partition[:2])
        returned = answers.get(partition[:2])
        answer = {} if returned is None else returned.fields
        yield PartitionFacts(
            partition.name,
            partition.number,
            True,
            answer.get("error_code"),
            partition.fields.get("fetch_offset"),
            partition.fields.get("current_leader_epoch"),
            answer.get("preferred_read_replica"),
            *_hint(answer),
            next_offset=_next_offset(answer),
        )
    for key, partition in answers.items():
        if key not in requested:
            error, next_offset = partition.fields["error_code"], _next_offset(partition.fields)
            yield PartitionFacts(
                partition.name, partition.number, False, error, next_offset=next_offset
            )


def _next_offset(answer: dict[str, Any]) -> int | None:
    data = answer.get("records")
    if not data:
        return None
    last = summary(data).last_offset
    return -1 if last is None else last + 1


def _committed(exchange: Exchange, context: Context) -> Iterator[PartitionFacts]:
    for partition in answered_partitions(exchange, context):
        error = (partition.response_fields or {}).get("error_code")
        yield PartitionFacts(
            partition.name, partition.number, True, error, partition.fields["committed_offset"]
        )


def _shared(exchange: Exchange, context: Context) -> Iterator[PartitionFacts]:
    for partition in partitions(exchange, "response", context):
        acquired = partition.fields["acquired_records"]
        most = max(acquired, key=lambda run: run["delivery_count"], default=None)
        offset, times = (most["first_offset"], most["delivery_count"]) if most else (None, None)
        error = partition.fields["error_code"]
        yield PartitionFacts(
            partition.name, partition.number, True, error, offset, deliveries=times
        )


def _hint(answer: dict[str, Any]) -> tuple[int | None, int | None]:
    """Return the leader that an error names, and its epoch."""
    hint = answer.get("current_leader") if answer.get("error_code") else None
    if not hint or hint["leader_id"] < 0:
        return None, None
    return hint["leader_id"], hint["leader_epoch"]


def _offered(exchange: Exchange, _: Context) -> bytes | None:
    if exchange.key != API_VERSIONS:
        return None
    if exchange.response_came is not None and not exchange.rules:  # the proxy removed versions
        exchange = replace(exchange, response_body=exchange.response_came)
    response = exchange.response
    if not response or response["error_code"]:
        return None
    return b"".join(
        RANGE.pack(api["api_key"], api["min_version"], api["max_version"])
        for api in response["api_keys"]
    )


def _hash(exchange: Exchange, context: Context) -> int | None:
    return None if exchange.error not in RETRIABLE else content_hash(exchange, context)


def content_hash(exchange: Exchange, context: Context) -> int | None:
    """Return a number that is equal if the client sends the request again; None: no body."""
    content = exchange.request_body
    if content is None:
        return None
    if exchange.key == PRODUCE:  # its records may have new timestamps
        sent = PLACES.of(exchange, context) or ()
        content = repr([(*each[:2], each.checksum) for each in sent]).encode()
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), signed=True)


def _acks(exchange: Exchange, _: Context) -> int | None:
    return (exchange.request or {}).get("acks") if exchange.key == PRODUCE else None


def _assigned_producer(exchange: Exchange, _: Context) -> tuple[int, int] | None:
    response = exchange.response if exchange.key in (INIT_PRODUCER_ID, END_TXN) else None
    if not response or response.get("error_code", 1) or response.get("producer_id", -1) < 0:
        return None
    return response["producer_id"], response["producer_epoch"]


ACKS: Final = Fact("acks", _acks)
"""The acks of a Produce."""
BEGUN: Final = Fact("begun", _assigned_producer)
"""The producer id and epoch that a broker assigned."""
FLAWS: Final = Fact("flaws", flaws)
"""The flaws of record batches in a Produce, Fetch or ShareFetch; None: none."""
GROUP: Final = Fact("group", _group_fields)
"""Fields of a group member's request and its response."""
OFFERED: Final = Fact("offered", _offered)
"""The version ranges that a broker supports, each packed as RANGE (there are about ninety). Changes by a rule
are included, versions that the proxy itself leaves out are not."""
PLACES: Final = Fact("places", _partition_facts)
"""The partitions of a Produce, ShareFetch, OffsetCommit, Metadata, or of a consumer's Fetch, in order."""
REQUEST_HASH: Final = Fact("request_hash", _hash)
"""A hash that is equal when the request is sent again, if the response has a retriable error."""
RESPONDED: Final = Fact("responded", lambda exchange, _: bool(exchange.response))
"""Whether there is a response with a decodable body."""

FACTS: Final = (ACKS, BEGUN, FLAWS, GROUP, OFFERED, PLACES, REQUEST_HASH, RESPONDED)
"""Everything that checks use of bodies, in addition to the first error (`Exchange.error`)."""
