"""What checks see of bodies: a few values of each. A check decodes none itself.

What several checks ask for is read once, and kept with its exchange. Over captures of any size it is read
where the bodies are, and travels in their place: `barnabas.pipeline.rows.seen`.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, Generic, NamedTuple, TypeVar

from barnabas.captures.checks.batches import first_batch
from barnabas.captures.checks.flaws import flaws
from barnabas.captures.checks.partitions import answered_partitions, partitions
from barnabas.captures.checks.partitions import by_follower as follows
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.error_codes import ERROR_CODES
from barnabas.specs.keys import (
    API_VERSIONS,
    END_TXN,
    FETCH,
    INIT_PRODUCER_ID,
    METADATA,
    OFFSET_COMMIT,
    PRODUCE,
    SHARE_FETCH,
    SYNC_GROUP,
    TXN_OFFSET_COMMIT,
)
from barnabas.specs.records import summary
from barnabas.specs.registry import key_of

T = TypeVar("T")

MODULUS: Final = 1 << 31
"""Behind the sequence number 2^31 - 1 comes 0."""

HALF: Final = MODULUS // 2
"""A sequence number that is less than this ahead of another one comes after it."""

WHOLE: Final = -1
"""In place of a partition's number: the error is that of the whole response."""

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
"""The APIs by which members of groups come, stay, commit and go."""

GROUP_TYPES: Final = {68: "consumer", 76: "share", 88: "streams"}
"""By the API of their heartbeats: groups whose members are told an epoch and an interval with each of
them (ConsumerGroupHeartbeat, KIP-848; ShareGroupHeartbeat, KIP-932; StreamsGroupHeartbeat, KIP-1071)."""

RANGE: Final = struct.Struct(">hhh")
"""Key of an API, least and greatest version of it."""

RETRIABLE: Final = frozenset(error.name for error in ERROR_CODES if error.retriable)

_GROUP: Final = frozenset(map(key_of, GROUP_APIS))
_COMMITS: Final = (OFFSET_COMMIT, TXN_OFFSET_COMMIT)


@dataclass(frozen=True, slots=True)
class Fact(Generic[T]):
    """What is read of an exchange, and what it is called."""

    name: str
    read: Callable[[Exchange, Context], T]

    def of(self, exchange: Exchange, context: Context | None = None) -> T:
        """The same, read once. context: where topics may have ids alone."""
        known = exchange.facts
        if known is None:
            known = exchange.facts = {}
        if self.name not in known:
            known[self.name] = self.read(exchange, context or Context())
        found: T = known[self.name]
        return found


class Place(NamedTuple):
    """What an exchange says of one partition. None: nothing."""

    topic: str
    """Its name, or the text of its id if no name is known."""
    partition: int
    asked: bool = True
    """Whether the request is about it; a Fetch may be answered for others of its session."""
    error: int | None = None
    offset: int | None = None
    """Produce: where the broker has put the records; Fetch: where it is asked to begin; OffsetCommit: what
    is committed; ShareFetch: the first of the records that were acquired most often."""
    known_epoch: int | None = None
    """Fetch: the leader epoch that the client knew."""
    preferred: int | None = None
    """Fetch: the replica that it had better read from."""
    leader: int | None = None
    """Metadata: its leader, -1: none; Produce, Fetch: the one that the broker points at."""
    leader_epoch: int | None = None
    checksum: int | None = None
    """Produce: of what stays the same when the records are sent again; None: no batch can be read."""
    producer_id: int | None = None
    """Of the first batch, as what follows; None if it is not idempotent."""
    producer_epoch: int | None = None
    base_sequence: int | None = None
    last_sequence: int | None = None
    next_offset: int | None = None
    """Fetch: what follows the last whole batch that came; -1: only part of one came; None: nothing."""
    deliveries: int | None = None
    """ShareFetch: how often the records at `offset` were acquired."""

    @property
    def text(self) -> str:
        """In words: orders[3]."""
        return f"{self.topic}[{self.partition}]" if self.partition != WHOLE else "all partitions"


class Said(NamedTuple):
    """What a request and its response say of a group: some of their fields, under their names."""

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


def _said(exchange: Exchange, context: Context) -> Said | None:
    if exchange.key not in _GROUP:
        return None
    asked, answered = exchange.request, exchange.response
    request = _few(asked, REQUEST)
    response = _few(answered, RESPONSE)
    if request is not None and exchange.key == SYNC_GROUP:
        request["assigns"] = bool((asked or {}).get("assignments"))
    if response is not None and exchange.key in _COMMITS:
        codes = {one.said["error_code"] for one in partitions(exchange, "response", context)}
        response["errors"] = sorted(codes)
    return Said(request, response)


def _few(body: dict[str, Any] | None, names: Iterable[str]) -> dict[str, Any] | None:
    if not body:
        return None
    found = {name: body[name] for name in names if name in body}
    if isinstance(body.get("members"), list):
        found["members"] = [
            {name: one[name] for name in MEMBER if name in one} for one in body["members"]
        ]
    return found


def _places(exchange: Exchange, context: Context) -> tuple[Place, ...] | None:
    if exchange.key == METADATA:
        return tuple(
            Place(
                one.name,
                one.number,
                leader=one.said["leader_id"],
                leader_epoch=one.said.get("leader_epoch"),
            )
            for one in partitions(exchange, "response", context)
        )
    if exchange.key in (OFFSET_COMMIT, SHARE_FETCH):
        return tuple((_committed if exchange.key == OFFSET_COMMIT else _shared)(exchange, context))
    if exchange.key == FETCH:
        return None if follows(exchange.request or {}) else tuple(_fetched(exchange, context))
    return tuple(_produced(exchange, context)) if exchange.key == PRODUCE else None


def _produced(exchange: Exchange, context: Context) -> Iterator[Place]:
    for one in answered_partitions(exchange, context):
        answer = one.answer or {}
        offset = answer.get("base_offset", -1)
        checksum, *producer = _first(one.said["records"] or b"")
        yield Place(
            one.name,
            one.number,
            True,
            answer.get("error_code"),
            offset if offset >= 0 else None,
            None,
            None,
            *_hint(answer),
            checksum,
            *producer,
        )


def _first(records: bytes) -> tuple[int | None, ...]:
    """The last five fields of a place, of the first batch that is sent to it."""
    found = first_batch(records)
    if found is None:
        return None, None, None, None, None
    batch, checksum = found
    base = batch.base_sequence
    if batch.producer_id < 0 or base < 0:
        return checksum, None, None, None, None
    last = (base + batch.last_offset - (batch.base_offset or 0)) % MODULUS
    return checksum, batch.producer_id, batch.producer_epoch, base, last


def _fetched(exchange: Exchange, context: Context) -> Iterator[Place]:
    response = exchange.response
    if response:
        yield Place("", WHOLE, asked=False, error=response.get("error_code", 0))
    answers = {one[:2]: one for one in partitions(exchange, "response", context)}
    asked = set()
    for one in partitions(exchange, "request", context):
        asked.add(one[:2])
        found = answers.get(one[:2])
        answer = {} if found is None else found.said
        yield Place(
            one.name,
            one.number,
            True,
            answer.get("error_code"),
            one.said.get("fetch_offset"),
            one.said.get("current_leader_epoch"),
            answer.get("preferred_read_replica"),
            *_hint(answer),
            next_offset=_next_offset(answer),
        )
    for key, one in answers.items():
        if key not in asked:
            error, next_offset = one.said["error_code"], _next_offset(one.said)
            yield Place(one.name, one.number, False, error, next_offset=next_offset)


def _next_offset(answer: dict[str, Any]) -> int | None:
    data = answer.get("records")
    if not data:
        return None
    last = summary(data).last_offset
    return -1 if last is None else last + 1


def _committed(exchange: Exchange, context: Context) -> Iterator[Place]:
    for one in answered_partitions(exchange, context):
        error = (one.answer or {}).get("error_code")
        yield Place(one.name, one.number, True, error, one.said["committed_offset"])


def _shared(exchange: Exchange, context: Context) -> Iterator[Place]:
    for one in partitions(exchange, "response", context):
        acquired = one.said["acquired_records"]
        most = max(acquired, key=lambda run: run["delivery_count"], default=None)
        offset, times = (most["first_offset"], most["delivery_count"]) if most else (None, None)
        error = one.said["error_code"]
        yield Place(one.name, one.number, True, error, offset, deliveries=times)


def _hint(answer: dict[str, Any]) -> tuple[int | None, int | None]:
    """The leader that an error names, and its epoch."""
    hint = answer.get("current_leader") if answer.get("error_code") else None
    if not hint or hint["leader_id"] < 0:
        return None, None
    return hint["leader_id"], hint["leader_epoch"]


def _offered(exchange: Exchange, _: Context) -> bytes | None:
    if exchange.key != API_VERSIONS:
        return None
    if exchange.response_came is not None and not exchange.rules:  # the proxy left some out
        exchange = replace(exchange, response_body=exchange.response_came)
    response = exchange.response
    if not response or response["error_code"]:
        return None
    return b"".join(
        RANGE.pack(one["api_key"], one["min_version"], one["max_version"])
        for one in response["api_keys"]
    )


def _hash(exchange: Exchange, _: Context) -> int | None:
    if exchange.request_body is None or exchange.error not in RETRIABLE:
        return None
    digest = hashlib.blake2b(exchange.request_body, digest_size=8).digest()
    return int.from_bytes(digest, signed=True)


def _acks(exchange: Exchange, _: Context) -> int | None:
    return (exchange.request or {}).get("acks") if exchange.key == PRODUCE else None


def _begun(exchange: Exchange, _: Context) -> tuple[int, int] | None:
    response = exchange.response if exchange.key in (INIT_PRODUCER_ID, END_TXN) else None
    if not response or response.get("error_code", 1) or response.get("producer_id", -1) < 0:
        return None
    return response["producer_id"], response["producer_epoch"]


ACKS: Final = Fact("acks", _acks)
"""Of a Produce."""
BEGUN: Final = Fact("begun", _begun)
"""Producer id and epoch that the broker gave to somebody."""
FLAWS: Final = Fact("flaws", flaws)
"""What is wrong with record batches of a Produce, Fetch or ShareFetch; None: nothing."""
GROUP: Final = Fact("group", _said)
"""What a message of a group's member says."""
OFFERED: Final = Fact("offered", _offered)
"""The ranges of versions that a broker offers, as RANGE has each: there are some ninety. What a rule made
of them counts, what the proxy leaves out by itself does not."""
PLACES: Final = Fact("places", _places)
"""The partitions of a Produce, ShareFetch, OffsetCommit, of a consumer's Fetch and of Metadata, in order."""
REQUEST_HASH: Final = Fact("request_hash", _hash)
"""Of a request's body, equal for equal ones, if a retriable error came of it."""
RESPONDED: Final = Fact("responded", lambda exchange, _: bool(exchange.response))
"""Whether there is a response that says something."""

FACTS: Final = (ACKS, BEGUN, FLAWS, GROUP, OFFERED, PLACES, REQUEST_HASH, RESPONDED)
"""All that any check sees of bodies, beside the first error (`Exchange.error`)."""
