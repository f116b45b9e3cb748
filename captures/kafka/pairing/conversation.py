"""Build the exchanges of one connection in a capture: the same as the live log shows.

The arrived flow has every frame as it arrived, the linked flow the frames that left changed or later. `left`
in the comment on an arrived frame is "later", "changed" or "never"; a frame in the linked flow has the same
number.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from barnabas.captures.kafka import notes
from barnabas.captures.kafka.exchange import GSSAPI_START, SASL_TOKEN, STRAY, UNREADABLE, Exchange
from barnabas.captures.kafka.framing.flow_framings import FlowFramings
from barnabas.captures.kafka.framing.inference import LONGEST, Layout, inferred
from barnabas.captures.kafka.framing.lone_responses import LoneResponses
from barnabas.captures.kafka.framing.stream_framing import (
    UNKNOWN,
    CapturedFrame,
    Framing,
    facts_of,
    head_of,
)
from barnabas.captures.kafka.pairing import sasl_frames
from barnabas.captures.kafka.pairing.captured_requests import (
    altered,
    body_of_response,
    captured_request,
    known_version,
    number_of,
    opaque_request,
    partial_request,
)
from barnabas.captures.kafka.pairing.exchange_builder import Link, Outcome, build_exchange
from barnabas.captures.kafka.pairing.fast_pairing import FastPairing
from barnabas.captures.kafka.pairing.in_flight import LIMIT, Pairing, Pending
from barnabas.captures.kafka.sasl import Sasl, name_of_user
from barnabas.captures.kafka.wording import arrow
from barnabas.captures.tcp.events import Chunk, FlowName, Opened
from barnabas.captures.tcp.mid_stream import first_frames, waiting
from barnabas.specs.frames import Direction
from barnabas.specs.keys import API_VERSIONS, SASL_HANDSHAKE

WAITING: Final = 256 << 20
"""Bytes of the requests in flight on a connection."""


class Conversation:
    """One connection of a capture: pairs the requests and responses of its two flows."""

    def __init__(
        self, opened: Opened, client: str, broker: int | None, *, infers: bool = False
    ) -> None:
        """Begin a connection.

        Args:
            opened: The event that opened it.
            client: The client's address.
            broker: The node id of the broker or controller; None: unknown.
            infers: Whether to yield responses whose requests were not captured.
        """
        self.covered_bytes = 0
        """Bytes that `framings.skipped` counts although exchanges cover them: inferred responses and partial
        frames."""
        self.number = opened.connection
        self._needs = opened.needs
        self.ended_by: Direction | None = None
        """The direction whose sender closed the connection, if a capture of barnabas records it."""
        self.undecoded = 0
        self.earlier = 0
        """Responses to requests in an unavailable segment of the capture."""
        self._earlier = waiting(opened.comment)
        self.lossy = not opened.whole
        """Whether frames are missing: then an unmatched response may answer a missing request."""
        self.pairing = Pairing(limit=1 << 31)
        first, keeps = first_frames(opened.comment), LONGEST if infers else 0
        self.framings = FlowFramings(first, self.pairing.by_correlation_id, keeps)
        self._request_bytes = 0
        """Bytes of requests since the requests in flight were last counted."""
        proxied = "broker" in opened.comment  # else messages were captured at one point only
        controller = None
        if opened.comment.get("kind") == "controller":  # a broker may have the same id
            broker, controller = None, broker
        self._link = Link(self.number, client, broker, controller, opened.server, proxied)
        self._fast = FastPairing(self._link, self.pairing)
        self._sasl = None if proxied else Sasl()
        """The client's authentication; None: the comments have it, since the capture hides tokens."""
        self._fast.user = name_of_user(opened.comment.get("user"))
        self._raw_tokens = False
        self.cut_off = False
        """Whether the proxy has ended the connection: frames that arrive later were not forwarded."""
        self._any_answered = False
        """Whether a captured request was answered: then later responses answer captured requests, too."""
        self.responses_lost = False
        """Whether response bytes are missing, and none were captured after them."""
        self._lone = LoneResponses() if infers else None
        self._requests: dict[int, tuple[Pending, bool]] = {}
        """Requests that will leave later, by number, and whether they expect a response."""
        self._changed: dict[int, Pending] = {}
        """Requests that left at once and changed, by number."""
        self._responses: dict[int, tuple[Pending, CapturedFrame]] = {}
        """Responses that will leave later or changed, by number."""
        self._answered_by_proxy: dict[int, Pending] = {}
        """Requests that the proxy answers itself, by correlation id."""

    def pair_fast(self, chunk: Chunk) -> tuple[list[Exchange], bytes]:
        """Pair the plain frames at the start of a chunk; return their exchanges and the remaining bytes."""
        direction = chunk.direction
        framing = self.framings[chunk.flow, direction]
        if self.cut_off or (direction == "request" and self._raw_tokens):
            return [], chunk.data
        begun = framing.begun(len(chunk.data))
        if begun is None:
            return [], chunk.data
        if begun:
            chunk = chunk._replace(data=b"".join((begun, chunk.data)))
        pair = self._fast.requests if direction == "request" else self._fast.responses
        exchanges, at = pair(framing, chunk)
        if exchanges and direction == "response":
            self._any_answered = True
        if not framing.keep(chunk.data, at, chunk.ts_ns, chunk.packet):
            return exchanges, chunk.data[at:]
        self.report_needed(direction, framing)
        return exchanges, b""

    def overdue(self, size: int) -> Iterator[Exchange]:
        """Yield the oldest requests in flight if they are too many or too large, after `size` more bytes."""
        waiting = self.pairing.waiting
        self._request_bytes += size
        if len(waiting) <= LIMIT and self._request_bytes <= WAITING:
            return
        self._request_bytes = sum(pending.size for pending in waiting)
        while len(waiting) > LIMIT or self._request_bytes > WAITING // 2:
            self.lossy = True  # the response may still arrive
            self._request_bytes -= waiting[0].size
            yield self._without_response(waiting.popleft(), self._no_response(notes.TOO_MANY))

    def report_needed(self, direction: Direction, framing: Framing) -> None:
        """Report how many bytes the current frame needs."""
        self._needs[direction].bytes = framing.missing

    def frame(
        self, flow: FlowName, direction: Direction, frame: CapturedFrame
    ) -> Iterator[Exchange]:
        """Yield the exchanges that a frame ends."""
        if flow == "arrived":
            if self.cut_off:
                return
            note = str(facts_of(frame).get("note", ""))
            if direction == "response" and len(frame.data) >= 4:
                answered = int.from_bytes(frame.data[:4], signed=True)
                if frame.after_gap:
                    yield from self._inferred(frame)
                    # responses are in request order: the responses before this one were in the gap
                    yield from self._without_responses(
                        self.pairing.before(answered), notes.NOT_CAPTURED
                    )
                if note != notes.REPEATED:
                    yield from self._without_responses(
                        self.pairing.passed_over(answered), notes.PASSED_OVER
                    )
            # frames after the one that ended the connection were not forwarded
            self.cut_off = note == notes.WITHHELD or note.endswith(notes.CUT_OFF)
            step = self._request if direction == "request" else self._response
        else:
            step = self._request_left if direction == "request" else self._response_left
        exchange = step(frame)
        if exchange is not None:
            yield exchange

    def _inferred(self, first: CapturedFrame) -> Iterator[Exchange]:
        """Yield inferred exchanges for the responses before the first one after a gap."""
        data, ends = self.framings["arrived", "response"].take_passed()
        known_id = int.from_bytes(first.data[:4], signed=True)
        requests = self.pairing.by_correlation_id().values()
        for response in inferred(data, known_id, requests) if data else ():
            _, ts, packet = ends[bisect.bisect_left(ends, response.end, key=lambda piece: piece[0])]
            size = response.end - response.begin
            self.covered_bytes += size
            yield replace(
                self._without_request(response.correlation_id, response.layout, ts),
                response_size=size - 4,
                response_packet=packet,
            )

    def _without_request(self, correlation_id: int, layout: Layout, ts: int) -> Exchange:
        """Build the exchange of a response whose layout was inferred; `ts` is when it arrived."""
        pending = Pending(correlation_id, layout.key, layout.version, None, 0, ts, ts)
        pending.ordinal = UNKNOWN
        exchange = self._without_response(pending, note=notes.INFERRED)
        return replace(exchange, response_body=layout.body, inferred=True)

    def _inferred_alone(self, frame: CapturedFrame) -> Exchange | None:
        """Build the exchange of a response where no request was captured; None: its layout is unknown."""
        if self._lone is None or self.framings["arrived", "request"].frame_count:
            return None
        layout = self._lone.layout(frame.data)
        if layout is None:
            return None
        correlation_id = int.from_bytes(frame.data[:4], signed=True)
        return replace(
            self._without_request(correlation_id, layout, frame.ts),
            response_size=len(frame.data),
            response_packet=frame.packet,
            response_place=frame.place,
        )

    def under_way(self) -> Iterator[Exchange]:
        """Yield the exchanges in progress. Any thread may call this."""
        for pending, _ in list(self._requests.values()):
            yield self._without_response(pending, note=notes.WAITS)
        for pending in [*list(self.pairing.waiting), *list(self._answered_by_proxy.values())]:
            yield self._without_response(pending, note="")
        for pending, frame in list(self._responses.values()):
            yield self._with_response(pending, frame, received=frame.ts, note=notes.WAITS)

    def close(self, how: str, then: str) -> Iterator[Exchange]:
        """Yield the unfinished exchanges of a connection that ends.

        Args:
            how: How it ended, for their notes.
            then: What happened instead of the rest of a partial frame.
        """
        yield from self._partial("response", then)
        waiting = [pending for pending, _ in self._requests.values()]
        yield from self._without_responses(waiting, f"request not forwarded: {how}")
        for pending, frame in self._responses.values():
            note = f"response not forwarded: {how}"
            yield self._responded(pending, frame, received=frame.ts, note=note)
        waiting = [*self.pairing.unanswered(), *self._answered_by_proxy.values()]
        yield from self._without_responses(waiting, self._no_response(f"no response: {how}"))
        yield from self._partial("request", then)

    def _no_response(self, note: str) -> str:
        """Return the note on a request in flight that gets no response any more."""
        return notes.NOT_CAPTURED if self.responses_lost else note

    def _partial(self, direction: Direction, then: str) -> Iterator[Exchange]:
        """Yield the exchange of a frame that arrived in part, if its request is known."""
        partial = self.framings["arrived", direction].cut_off()
        if partial is None or self.cut_off:
            return
        frame, size = partial
        pending = None
        if direction == "response":
            pending = self.pairing.answered_by(frame.data)
        elif not self._raw_tokens:
            pending = partial_request(frame, self._fast.user)
        if pending is not None:
            arrived_bytes = 4 + len(frame.data)
            self.covered_bytes += arrived_bytes
            note = notes.partial(direction, arrived_bytes, 4 + size, then)
            yield self._without_response(pending, note)

    def _request(self, frame: CapturedFrame) -> Exchange | None:
        facts = facts_of(frame)
        head = head_of(frame.data)
        if frame.ordinal == 0 and frame.data[:1] == bytes([GSSAPI_START]):
            self._raw_tokens = True
        token = self._raw_tokens or facts.get("token") is True
        # frames that came too late to be parsed are asterisks, see MaskedFlow.close
        unreadable = facts.get("unreadable") is True or not frame.data.strip(b"*")
        if head is None or unreadable or (token and not known_version(head.key, head.version)):
            self.undecoded += not token
            opaque = opaque_request(frame, SASL_TOKEN if token else UNREADABLE)
            self._authenticates(opaque, frame.data, facts)
            self.pairing.sent(opaque)
            return None
        self._raw_tokens = head.key == SASL_HANDSHAKE and head.version == 0
        # an ApiVersions response is readable anyway; its exchange shows that the request is not
        self.undecoded += head.key != API_VERSIONS and not known_version(head.key, head.version)
        pending = captured_request(frame, head)
        self._authenticates(pending, pending.body or b"", facts)
        departure, note = facts.get("left"), facts.get("note", "")
        if departure in ("later", "never"):
            pending.sent = 0
        if departure == "later":
            self._requests[frame.ordinal] = (pending, head.acks != 0)
        elif departure == "never" and note == notes.ANSWERED_BY_PROXY:
            pending.note = note
            self._answered_by_proxy[head.correlation_id] = pending
        elif departure == "never":
            return self._without_response(pending, note=note)
        else:
            if head.key not in sasl_frames.KEYS and known_version(head.key, head.version):
                self._fast.learn(frame.data, head)
            if head.acks == 0:
                return self._without_response(pending, note=notes.UNANSWERED)
            self.pairing.sent(pending)
            if departure == "changed":
                self._changed[frame.ordinal] = pending
        return None

    def _authenticates(self, pending: Pending, body: bytes, facts: Mapping[str, Any]) -> None:
        """Set the user of a request, and note the SASL message that it may carry."""
        self._read_user(facts)  # the capture may lack the authentication itself
        pending.user = self._fast.user
        if self._sasl is not None and pending.key in sasl_frames.KEYS:
            pending.sasl = sasl_frames.note_request(self._sasl, pending, body)

    def _read_user(self, facts: Mapping[str, Any]) -> None:
        """Take the authenticated user from the comment on a frame."""
        if "sasl" in facts:
            self._sasl = None
        if "user" in facts:
            self._fast.user = name_of_user(facts["user"])

    def _request_left(self, frame: CapturedFrame) -> Exchange | None:
        number = number_of(frame)
        pending, expects = self._requests.pop(number, (None, False))
        if (changed := pending or self._changed.pop(number, None)) is not None:
            head = head_of(frame.data)
            changed.request_left = (
                None if head is None else altered(changed.body, frame.data[head.body :])
            )
        if pending is None:
            return None
        pending.sent = frame.ts
        if not expects:
            return self._without_response(pending, note=notes.UNANSWERED)
        self.pairing.sent(pending)
        return None

    def never_left(self, direction: Direction, facts: Mapping[str, Any]) -> Iterator[Exchange]:
        """Yield the exchange of a delayed message that turns out never to leave."""
        number, note = facts.get("frame"), str(facts.get("note", ""))
        if not isinstance(number, int):
            return
        if direction == "response":
            if number in self._responses:
                pending, frame = self._responses.pop(number)
                yield self._responded(pending, frame, received=frame.ts, note=note)
            return
        if number not in self._requests:
            return
        pending, _ = self._requests.pop(number)
        if note == notes.ANSWERED_BY_PROXY:
            pending.note = note
            self._answered_by_proxy[pending.correlation_id] = pending
        else:
            yield self._without_response(pending, note=note)

    def _response(self, frame: CapturedFrame) -> Exchange | None:
        waiting = self.pairing.waiting
        opaque = bool(waiting) and waiting[0].opaque
        correlation_id = None if opaque else int.from_bytes(frame.data[:4], signed=True)
        facts = facts_of(frame)
        self._read_user(facts)
        if facts.get("note") == notes.REPEATED:
            return None
        # out of order is fine here: a frame that left late may follow others of the same chunk
        pending, _ = self.pairing.answer(correlation_id)
        withheld = facts.get("note") == notes.WITHHELD
        if pending is None and facts.get("note") == notes.WITHHELD_UNNAMED:
            withheld = self.cut_off = True
            if not waiting:
                return None
            pending = waiting.popleft()
        if pending is None:
            return self._unrequested(frame, correlation_id)
        self._any_answered = True
        self.pairing.note_response(pending, frame.ts)
        pending.response_place = frame.place
        begun = facts.get("begun")
        if isinstance(begun, int) and 0 <= begun <= frame.ts:
            pending.begun = begun  # the capture lacks the response before this one
        pending.sasl = arrow(pending.sasl, facts.get("sasl", ""))
        if self._sasl is not None and pending.key in sasl_frames.KEYS:
            body = frame.data[body_of_response(frame.data, pending) :]
            outcome = sasl_frames.note_response(self._sasl, pending, body)
            pending.sasl = arrow(pending.sasl, outcome)
            self._fast.user = self._sasl.authenticated
        if withheld:
            return self._responded(pending, frame, received=frame.ts, note=facts["note"])
        departure = facts.get("left")
        if departure in ("later", "changed"):
            self._responses[frame.ordinal] = (pending, frame)
            return None
        outcome_fields = (
            {"answered": frame.ts} if departure != "never" else {"note": facts.get("note", "")}
        )
        payload = facts.get("payload")
        return self._with_response(
            pending, frame, received=frame.ts, payload=payload, **outcome_fields
        )

    def _unrequested(self, frame: CapturedFrame, correlation_id: int | None) -> Exchange | None:
        """Build the exchange of a response whose request is unknown, if there is something to show."""
        if correlation_id in self._earlier:
            self._earlier.remove(correlation_id)
            self.earlier += 1
            return None
        exchange = self._inferred_alone(frame)
        if exchange is None:
            self.undecoded += 1
            if self._any_answered and not self.lossy:
                return self._stray(frame)
        return exchange

    def _stray(self, frame: CapturedFrame) -> Exchange:
        """Build the exchange of a response without a request."""
        number = int.from_bytes(frame.data[:4], signed=True)
        answer = Pending(number, STRAY, 0, None, 0, frame.ts, frame.ts, response_place=frame.place)
        note = str(facts_of(frame).get("note", ""))
        answered = None if note else frame.ts
        return self._responded(answer, frame, received=frame.ts, answered=answered, note=note)

    def _response_left(self, frame: CapturedFrame) -> Exchange | None:
        number = number_of(frame)
        if number < 0:  # a response of the proxy itself
            pending_own = self._answered_by_proxy.pop(
                int.from_bytes(frame.data[:4], signed=True), None
            )
            return (
                None
                if pending_own is None
                else self._with_response(pending_own, frame, answered=frame.ts)
            )
        pending, arrived = self._responses.pop(number, (None, frame))
        if pending is None:
            return None
        times = {"received": arrived.ts, "answered": frame.ts}
        exchange = self._with_response(
            pending, frame, payload=facts_of(frame).get("payload"), **times
        )
        arrived_body = arrived.data[body_of_response(arrived.data, pending) :]
        exchange.response_came = altered(exchange.response_body, arrived_body)
        return exchange

    def _without_responses(self, several: Iterable[Pending], note: str) -> Iterator[Exchange]:
        for pending in several:
            yield self._without_response(pending, note)

    def _without_response(self, pending: Pending, note: str) -> Exchange:
        return build_exchange(pending, self._link, Outcome(note=note))

    def _with_response(self, pending: Pending, frame: CapturedFrame, **outcome: Any) -> Exchange:
        """Build the exchange of a request and its response with body; `outcome` are fields of `Outcome`."""
        body = frame.data[body_of_response(frame.data, pending) :]
        rules = tuple(facts_of(frame).get("rules", ()))
        return self._responded(pending, frame, response_body=body, rules=rules, **outcome)

    def _responded(self, pending: Pending, frame: CapturedFrame, **outcome: Any) -> Exchange:
        """Build the exchange of a request and its response; `outcome` are fields of `Outcome`."""
        fields = {"response_size": len(frame.data), "packet": frame.packet, **outcome}
        return build_exchange(pending, self._link, Outcome(**fields))
