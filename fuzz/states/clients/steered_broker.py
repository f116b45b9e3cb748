"""The bench's broker, with some requests pending until their response is chosen. No sockets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from barnabas.fuzz.bench_broker.broker import Broker, Reply, encoded, framed
from barnabas.fuzz.bench_broker.cluster import Cluster
from barnabas.fuzz.bench_broker.responses.registry import RESPONSES
from barnabas.fuzz.bench_broker.responses.request import Request
from barnabas.fuzz.states.clients.alphabets import OK, ClientAlphabet
from barnabas.specs.error_codes import ERROR_CODES
from barnabas.specs.frames import RequestHead, Short, request_head
from barnabas.specs.keys import (
    CONSUMER_GROUP_HEARTBEAT,
    END_TXN,
    HEARTBEAT,
    INIT_PRODUCER_ID,
    JOIN_GROUP,
    PRODUCE,
    SYNC_GROUP,
)
from barnabas.specs.malformed import Malformed
from barnabas.specs.records import read
from barnabas.specs.registry import NAMES, api

LOST_ID: Final = "with an id that it lost"
OLD_ID: Final = "with an old id"
OLD_GENERATION: Final = "of an old generation"
OLD_EPOCH: Final = "of an old epoch"
STALE: Final = (LOST_ID, OLD_ID, OLD_GENERATION, OLD_EPOCH)
"""Descriptions of outdated values in a request."""

WAITS: Final = Reply(())
"""Stands for a reply that is not chosen yet."""

_CODES: Final = {error.name: error.code for error in ERROR_CODES}
_ANSWERS: Final = dict(RESPONSES)
_BEAT: Final = 200
"""Milliseconds between heartbeats of a consumer group's member, which brokers set."""
_REBALANCING: Final = frozenset((JOIN_GROUP, SYNC_GROUP))


class SteeredBroker:
    """The broker of all connections of a client.

    A watched request is `pending` until `answered`; once the broker is `free`, all are answered validly.
    After an error, one request that a clock triggers may come before the client's reaction: it gets the same
    error.
    """

    def __init__(self, alphabet: ClientAlphabet, host: str, port: int) -> None:
        self._broker = Broker(Cluster(host, port), alphabet.offer)
        self._alphabet = alphabet
        self._again = ""
        """The error for one request that a clock triggered."""
        self.pending: tuple[RequestHead, bytes] | None = None
        self.free = False
        self._member, self._generation = "", -1
        self._lost: set[str] = set()
        self._producer: tuple[int, int] = (-1, -1)

    def answer(self, frame: bytes) -> Reply | None:
        """Return the reply to a request, WAITS for a pending one; None without a response."""
        try:
            head = request_head(frame, 0, len(frame))
        except (Short, Malformed):
            return self._broker.answer(frame)
        low, high = self._broker.offer.get(head.key, (0, -1))
        watched = (
            head.key in self._alphabet.watched and low <= head.version <= high and not self.free
        )
        if watched and self.pending is not None:
            watched = False  # a heartbeat of the client's own thread
        if not watched:
            return self._broker.answer(frame)
        if self._again and head.key in self._alphabet.timed:
            error, self._again = self._again, ""
            return framed(head, self._refusal(head, _body(head, frame), error))
        self.pending = head, frame
        return WAITS

    @property
    def pending_request(self) -> str:
        """Return the pending request, with a description of its ids and epochs."""
        assert self.pending is not None  # noqa: S101 (it is looked at before)
        head, frame = self.pending
        return " ".join(filter(None, (NAMES[head.key], self._carries(head, _body(head, frame)))))

    def _carries(self, head: RequestHead, body: Mapping[str, Any]) -> str:
        if head.key in (*_REBALANCING, HEARTBEAT):
            member = body["member_id"]
            if member in self._lost:
                return LOST_ID
            if member and member != self._member:
                return OLD_ID
            if head.key == JOIN_GROUP:
                return "with its id" if member else "without an id"
            return "" if body["generation_id"] == self._generation else OLD_GENERATION
        if head.key == CONSUMER_GROUP_HEARTBEAT:
            epoch = body["member_epoch"]
            if epoch > 0:
                return "" if epoch == self._generation else OLD_EPOCH
            return "that joins" if epoch == 0 else "that leaves"
        if head.key == PRODUCE:
            producers = [
                (batch.producer_id, batch.producer_epoch)
                for topic in body["topic_data"]
                for item in topic["partition_data"]
                for batch in read(item["records"] or b"")
            ]
            return "" if all(item == self._producer for item in producers) else OLD_EPOCH
        names = ("producer_id", "producer_epoch")
        producer = tuple(body.get(item, body.get(f"v3_and_below_{item}", -1)) for item in names)
        stale = head.key != INIT_PRODUCER_ID and producer != self._producer
        if stale or head.key != END_TXN:
            return OLD_EPOCH if stale else ""
        return "that commits" if body["committed"] else "that aborts"

    def answered(self, error: str) -> Reply:
        """Return the reply to the pending request, by the name of an error."""
        assert self.pending is not None  # noqa: S101 (it is looked at before)
        head, frame = self.pending
        self.pending = None
        body = _body(head, frame)
        self._again = "" if error in (OK, *self._alphabet.ends) else error
        if error != OK:
            return framed(head, self._refusal(head, body, error))
        if head.key == SYNC_GROUP or head.key == HEARTBEAT:  # accept any member and generation
            group = self._broker.cluster.group(body["group_id"])
            group.member, group.generation = body["member_id"], body["generation_id"]
        values = self._values(head, body)
        if head.key == JOIN_GROUP:
            self._member, self._generation = values["member_id"], values["generation_id"]
            self._lost.discard(self._member)
        if head.key == CONSUMER_GROUP_HEARTBEAT:
            self._generation = values["member_epoch"]
            values["heartbeat_interval_ms"] = _BEAT
        if head.key == INIT_PRODUCER_ID:
            self._producer = values["producer_id"], values["producer_epoch"]
        return framed(head, encoded(head.key, head.version, "response", values))

    def _refusal(self, head: RequestHead, body: Mapping[str, Any], error: str) -> bytes:
        if error in ("UNKNOWN_MEMBER_ID", "FENCED_INSTANCE_ID") and body.get("member_id"):
            self._lost.add(body["member_id"])
        if error in ("ILLEGAL_GENERATION", "UNKNOWN_MEMBER_ID", "FENCED_MEMBER_EPOCH"):
            self._generation = -2
        code, layout = _CODES[error], api(head.key).response.codec(head.version).layout
        if any(slot.name == "error_code" for slot in layout.slots):
            return encoded(head.key, head.version, "response", {"error_code": code})
        return encoded(head.key, head.version, "response", _with(self._values(head, body), code))

    def _values(self, head: RequestHead, body: Mapping[str, Any]) -> dict[str, Any]:
        ask = Request(head.version, head.client_id or "", body)
        return _ANSWERS[head.key](self._broker.cluster, ask)


def _body(head: RequestHead, frame: bytes) -> Mapping[str, Any]:
    body: Mapping[str, Any] = api(head.key).request.codec(head.version).decode(frame[head.body :])
    return body


def _with(values: Any, code: int) -> Any:
    """Return the values with this error wherever there is an error code."""
    if isinstance(values, list):
        return [_with(value, code) for value in values]
    if not isinstance(values, dict):
        return values
    return {
        name: code if name.endswith("error_code") else _with(value, code)
        for name, value in values.items()
    }
