"""Conversations of a draft in a capture: who asked whom what, and what came back.

The scenario in a capture says what is spoken (`dialect`); where there is none, the reader is told.
Times are those at which a frame arrived at the proxy, in ns since the epoch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from captures.conversation import facts_of
from captures.errors import codes_in
from captures.events import Chunk, Closed, Event, Opened
from captures.framing import CapturedFrame, Framing
from captures.talk import Answer, Asked, Talk
from specs.contents import api
from specs.drafts import Draft
from specs.drafts.keys import error_in
from specs.frames import Direction
from specs.malformed import Malformed

CUT_OFF: Final = "connection closed"
"""Of an exchange whose answer never came."""


@dataclass(slots=True)
class DraftExchange:
    """A request of either side and its answer."""

    ts: int
    connection: int
    client: str
    """Who has connected: a client id or, where there is none, the consumer id; else ip:port."""
    broker: int | None
    asked_by: Direction
    """"request": the client asks, as everywhere; "response": what it has connected to does."""
    api: str
    request: dict[str, Any]
    end: int | None = None
    """When the answer came; None: it did not."""
    response: dict[str, Any] | None = None
    error: str | None = None
    """The draft's name of it; empty: none; None: no answer."""
    rules: tuple[str, ...] = ()
    note: str = ""

    @property
    def latency_ms(self) -> float | None:
        """From the request's arrival to the answer's."""
        return None if self.end is None else (self.end - self.ts) / 1e6


@dataclass(slots=True)
class _Conversation:
    """One connection."""

    opened: Opened
    talk: Talk
    framings: dict[Direction, Framing] = field(
        default_factory=lambda: {"request": Framing(), "response": Framing()}
    )


@dataclass(slots=True)
class Dialects:
    """All connections of a capture, read as of one draft. Memory is bounded by what is under way."""

    draft: Draft
    undecoded: int = 0
    """Frames that are none of the draft, nor Kafka's own beside it."""
    closed: dict[int, int] = field(default_factory=dict)
    """When each connection was closed."""
    _open: dict[int, _Conversation] = field(default_factory=dict)

    def exchanges(self, events: Iterable[Event]) -> Iterator[DraftExchange]:
        """The exchanges, each when it is over."""
        for event in events:
            if isinstance(event, Opened):
                self._open[event.connection] = _Conversation(event, Talk(self.draft))
            elif event.connection not in self._open:
                continue
            elif isinstance(event, Closed):
                self.closed[event.connection] = event.ts_ns
                yield from _ended(self._open.pop(event.connection))
            elif isinstance(event, Chunk) and event.flow == "arrived":
                known = self._open[event.connection]
                framing = known.framings[event.direction]
                for frame in framing.feed(event.data, event.ts_ns, event.comments, event.packet):
                    try:
                        yield from _frame(known, event.direction, frame)
                    except (Malformed, LookupError):
                        self.undecoded += 1
        for known in self._open.values():
            yield from _ended(known)


def _ended(known: _Conversation) -> Iterator[DraftExchange]:
    for waiting in known.talk.waiting.values():
        for asked in waiting:
            asked.reason.note = CUT_OFF
            yield asked.reason


def _frame(
    known: _Conversation, direction: Direction, frame: CapturedFrame
) -> Iterator[DraftExchange]:
    """The exchange that is over with a frame. Raises Malformed, LookupError."""
    facts, found = facts_of(frame), known.talk.frame(direction, frame.data)
    never, note = facts.get("left") == "never", facts.get("note", "")
    if isinstance(found, Asked):
        found.reason = _begun(known, found, frame)
        found.reason.rules = tuple(facts.get("rules", ()))
        if never:
            known.talk.forget(found)
            found.reason.note = note
            yield found.reason
        return
    exchange: DraftExchange = found.asked.reason
    exchange.rules += tuple(facts.get("rules", ()))
    exchange.note = note
    if not never:
        exchange.end, exchange.error = frame.ts, found.error
        if not found.error:  # behind an error in the header stands nothing
            exchange.response, exchange.error = _response(known.talk, found)
    yield exchange


def _begun(known: _Conversation, asked: Asked, frame: CapturedFrame) -> DraftExchange:
    """The exchange of a request. Raises Malformed, LookupError."""
    opened = known.opened
    try:
        body = api(asked.key).request.codec(asked.version).decode(asked.body)
    except (Malformed, LookupError):
        known.talk.forget(asked)
        raise
    return DraftExchange(
        frame.ts,
        opened.connection,
        asked.client_id or opened.comment.get("client", opened.client),
        opened.comment.get("broker"),
        asked.side,
        asked.api,
        body,
    )


def _response(talk: Talk, answer: Answer) -> tuple[dict[str, Any], str]:
    """Body and first error of an answer. Raises Malformed."""
    asked = answer.asked
    body = talk.response(asked, answer.body)
    codes = codes_in(body, asked.key, asked.version)
    return body, error_in(asked.key, codes[0]) if codes else ""
