"""Pairs the requests and answers of one connection of a draft protocol, in which either side may ask.

In central coordination a consumer asks until it has registered, and from then on the coordinator asks
on the same connection. There is no correlation id there: answers come in order. The rewrite's headers
are Kafka's, and Kafka's own APIs stand beside its own; beside central coordination's stand those of 0.8 for
records, which begin with other numbers.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from barnabas.specs.drafts import Draft, decode_frame
from barnabas.specs.drafts.central_coordination import stop_fetcher_response
from barnabas.specs.drafts.keys import BESIDE, error_in, own_key
from barnabas.specs.frames import OPPOSITE, Direction, Short, request_head
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import NAMES, api

REGISTER = "RegisterConsumer"


@dataclass(slots=True, eq=False)
class Asked:
    """A request. Equal to itself only."""

    side: Direction
    """Who asks: "request", the client, or "response", what it has connected to."""
    api: str
    key: int
    """As `barnabas.specs.drafts.keys` has it."""
    version: int
    correlation_id: int
    """Of the header; where there is none, a number of its own."""
    client_id: str | None
    body: bytes
    answered: bool = True
    """Whether an answer comes: not to a Produce with acks=0."""
    reason: Any = None
    """Whatever the caller wants to find again with the answer."""


class Answer(NamedTuple):
    """What came back."""

    asked: Asked
    body: bytes
    error: str
    """The name of an error that stands in the header; those in bodies are not looked for."""


@dataclass(slots=True)
class DraftPairing:
    """One connection. Frames are whole, without their size."""

    draft: Draft
    client: str | None = None
    """The client's id or, where there is none, the id that the consumer has registered with."""
    waiting: dict[Direction, deque[Asked]] = field(
        default_factory=lambda: {"request": deque(), "response": deque()}
    )
    """What was asked and is not answered, by who asked."""
    registered: dict[str, Any] | None = None
    """How the consumer has registered, from when on it only answers."""
    _count: int = 0

    def frame(self, direction: Direction, data: bytes) -> Asked | Answer:
        """What a frame is. Raises Malformed, or LookupError for an answer that nobody has asked for."""
        if self._answers(direction):
            return self._answer(OPPOSITE[direction], data)
        asked = self._ask(direction, data)
        if asked.answered:
            self.waiting[direction].append(asked)
        return asked

    def forget(self, asked: Asked) -> None:
        """It does not get to the other side: no answer will come."""
        if asked.answered:
            self.waiting[asked.side].remove(asked)

    def response(self, asked: Asked, body: bytes) -> dict[str, Any]:
        """An answer's decoded body. Raises Malformed."""
        if asked.key in NAMES:  # Kafka's own
            return api(asked.key).response.codec(asked.version).decode(body)
        kinds = {message.name: message for message in self.draft.api(asked.api).responses}
        name = next(iter(kinds))
        if len(kinds) > 1:
            auto = self.registered is not None and bool(self.registered["auto_commit"])
            name = stop_fetcher_response(auto_commit=auto)
        return kinds[name].codec(asked.version).decode(body)

    def _answers(self, direction: Direction) -> bool:
        if self.draft.has_kafkas:
            return direction == "response"
        if direction == "request":
            return self.registered is not None
        return bool(self.waiting["request"])

    def _ask(self, side: Direction, data: bytes) -> Asked:
        self._count += 1
        kafkas = self.draft.has_kafkas or (side == "request" and beside(data))
        if not kafkas:
            found = decode_frame(self.draft, data, "request")
            of = self.draft.api(found.api)
            if side == "request":
                self.client = found.body.get("consumer_id", self.client)
            key, body = own_key(self.draft, of), data[2:]
            return Asked(side, of.name, key, of.version, self._count, self.client, body)
        try:
            head = request_head(data, 0, len(data))
        except Short:
            raise Malformed("header", len(data), "the header is cut off") from None
        self.client, key, name = head.client_id, head.key, NAMES.get(head.key, f"key {head.key}")
        for one in self.draft.apis:
            if (one.key, one.version) == (head.key, head.version):
                key, name = own_key(self.draft, one), one.name
        body = data[head.body :]
        asked = Asked(side, name, key, head.version, head.correlation_id, self.client, body)
        asked.answered = head.acks != 0
        return asked

    def _answer(self, side: Direction, data: bytes) -> Answer:
        waiting, error = self.waiting[side], ""
        asked = waiting[0] if waiting else None
        kafkas = self.draft.has_kafkas or (asked is not None and asked.key in NAMES)
        start = 4 if kafkas else 2
        if len(data) < start:
            raise Malformed("header", len(data), "the header is cut off")
        head = int.from_bytes(data[:start], signed=True)
        if kafkas:
            asked = next((one for one in waiting if one.correlation_id == head), None)
        if asked is None:
            raise LookupError("response without a request")
        waiting.remove(asked)
        if not kafkas and head:
            error = error_in(asked.key, head)
        if asked.api == REGISTER and not error:
            self.registered = self.draft.api(REGISTER).request.codec(0).decode(asked.body)
        return Answer(asked, data[start:], error)


def beside(data: bytes) -> bool:
    """Whether a request's first bytes are those of an API of Kafka's that stands beside any draft's."""
    return len(data) > 1 and int.from_bytes(data[:2], signed=True) in BESIDE
