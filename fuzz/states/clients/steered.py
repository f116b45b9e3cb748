"""The bench's broker, where some requests wait until it is said what they are answered with. No sockets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from barnabas.fuzz.answering.answers.ask import Ask
from barnabas.fuzz.answering.answers.registry import ANSWERS
from barnabas.fuzz.answering.broker import Broker, Reply, framed
from barnabas.fuzz.answering.cluster import Cluster
from barnabas.fuzz.answering.fitting import encoded
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
"""What a request carries that is over."""

WAITS: Final = Reply(())
"""Stands in the place of a reply that is to be told."""

_CODES: Final = {one.name: one.code for one in ERROR_CODES}
_ANSWERS: Final = dict(ANSWERS)
_BEAT: Final = 200
"""Milliseconds between heartbeats of a member of a consumer group: brokers say how many."""
_REBALANCING: Final = frozenset((JOIN_GROUP, SYNC_GROUP))


class Steered:
    """What stands behind all connections of a client. A watched request is `pending` until `answered`; once
    it is `free`, everything is answered validly. Behind an error a request that was due by the clock may come
    before what the client makes of it: one passes, and gets the same."""

    def __init__(self, alphabet: ClientAlphabet, host: str, port: int) -> None:
        self._broker = Broker(Cluster(host, port), alphabet.offer)
        self._alphabet = alphabet
        self._again = ""
        """The error that a request which was due gets, too."""
        self.pending: tuple[RequestHead, bytes] | None = None
        self.free = False
        self._member, self._generation = "", -1
        self._lost: set[str] = set()
        self._producer: tuple[int, int] = (-1, -1)

    def answer(self, frame: bytes) -> Reply | None:
        """The reply to a request, WAITS where it waits; None where none is wanted."""
        try:
            head = request_head(frame, 0, len(frame))
        except (Short, Malformed):
            return self._broker.answer(frame)
        low, high = self._broker.offer.get(head.key, (0, -1))
        watched = (
            head.key in self._alphabet.watched and low <= head.version <= high and not self.free
        )
        if watched and self.pending is not None:
            watched = False  # what goes on beside it: heartbeats of a thread of their own
        if not watched:
            return self._broker.answer(frame)
        if self._again and head.key in self._alphabet.timed:
            error, self._again = self._again, ""
            return framed(head, self._refusal(head, _body(head, frame), error))
        self.pending = head, frame
        return WAITS

    @property
    def asked(self) -> str:
        """The request that waits, and what it carries."""
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
            held = [
                (batch.producer_id, batch.producer_epoch)
                for topic in body["topic_data"]
                for one in topic["partition_data"]
                for batch in read(one["records"] or b"")
            ]
            return "" if all(one == self._producer for one in held) else OLD_EPOCH
        names = ("producer_id", "producer_epoch")
        found = tuple(body.get(one, body.get(f"v3_and_below_{one}", -1)) for one in names)
        stale = head.key != INIT_PRODUCER_ID and found != self._producer
        if stale or head.key != END_TXN:
            return OLD_EPOCH if stale else ""
        return "that commits" if body["committed"] else "that aborts"

    def answered(self, error: str) -> Reply:
        """The reply to the request that waits, by the name of an error."""
        assert self.pending is not None  # noqa: S101 (it is looked at before)
        head, frame = self.pending
        self.pending = None
        body = _body(head, frame)
        self._again = "" if error in (OK, *self._alphabet.ends) else error
        if error != OK:
            return framed(head, self._refusal(head, body, error))
        if head.key == SYNC_GROUP or head.key == HEARTBEAT:  # taken, whoever it is
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
        ask = Ask(head.version, head.client_id or "", body)
        return _ANSWERS[head.key](self._broker.cluster, ask)


def _body(head: RequestHead, frame: bytes) -> Mapping[str, Any]:
    body: Mapping[str, Any] = api(head.key).request.codec(head.version).decode(frame[head.body :])
    return body


def _with(values: Any, code: int) -> Any:
    """The same with this error wherever there may be one."""
    if isinstance(values, list):
        return [_with(one, code) for one in values]
    if not isinstance(values, dict):
        return values
    return {
        name: code if name.endswith("error_code") else _with(one, code)
        for name, one in values.items()
    }
