"""From what a capture holds of a connection to exchanges: the same that the live log showed.

The arrived flow has every frame as it came; the linked flow those that left otherwise: `left` in the
comment of an arrived frame says whether it left later, changed or never, and the frame that left
bears the same number. So both what the client saw and what the broker saw can be told.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from typing import Final

from barnabas.captures.kafka.exchange import GSSAPI_START, SASL_TOKEN, STRAY, UNREADABLE, Exchange
from barnabas.captures.kafka.framing.frame_resync import FrameResync
from barnabas.captures.kafka.framing.framing import (
    UNKNOWN,
    CapturedFrame,
    Framing,
    facts_of,
    head_of,
)
from barnabas.captures.kafka.framing.inference import LONGEST, inferred
from barnabas.captures.kafka.pairing.exchange_builder import build_exchange
from barnabas.captures.kafka.pairing.fast_pairing import UNANSWERED, FastPairing
from barnabas.captures.kafka.pairing.in_flight import LIMIT, Pairing, Pending
from barnabas.captures.kafka.wording import arrow
from barnabas.captures.tcp.events import Chunk, Opened
from barnabas.captures.tcp.mid_stream import first_frames, waiting
from barnabas.specs.frames import Direction, response_body
from barnabas.specs.keys import SASL_HANDSHAKE
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import NAMES, api

CUT_OFF = "a rule closed the connection"
"""How the capture's note on a frame ends that was not sent on, and the connection with it."""

UNASKED = "the answer to a message that the client did not send"
"""What the capture says of a response to a repeated or injected request: it never leaves."""

NOT_ASKED = "request not captured: API and version are what fits"
"""Of an exchange whose API and version are inferred."""

PASSED_OVER = "no response"
"""Of what had no header, where the next request was answered."""

NOT_CAPTURED = "the response was not captured"
"""Why an exchange has none, though one behind it was answered: bytes are missing."""


TOO_MANY: Final = "no response: too many requests wait"
"""Of a request that is given up while its connection goes on, as where only one direction was captured."""

WAITING: Final = 256 << 20
"""Bytes of the requests of a connection that wait."""


class Conversation:
    """One connection: pairs what its two flows hold."""

    def __init__(
        self, opened: Opened, client: str, broker: int | None, *, infers: bool = False
    ) -> None:
        """infers: whether responses are given whose requests were not captured."""
        self._infers = infers
        self.told = 0
        """Bytes of those: they were skipped before that."""
        self.number = opened.connection
        self.client = client
        self.server = opened.server
        self.broker = broker
        self.demands = opened.demands
        self.undecoded = 0
        self.earlier = 0
        """Responses to requests that are in a segment which is not here."""
        self._first = first_frames(opened.comment)
        self._earlier = waiting(opened.comment)
        self.lossy = not opened.whole
        """Whether frames are missing: then a response may answer one of those."""
        self.framings: dict[tuple[str, str], Framing] = {}
        self.pairing = Pairing(limit=1 << 31)
        self._came = 0
        """Bytes of requests since those that wait were last counted."""
        self._connection = self.number, client, broker, self.server
        self._fast = FastPairing(*self._connection, self.pairing)
        self._raw_tokens = False
        self._cut_off = False
        self._answered = False
        """Whether a request was answered that was seen: then so is all that is answered later."""
        self._requests: dict[int, tuple[Pending, bool]] = {}
        """Requests that will leave later, by number, and whether they expect a response."""
        self._responses: dict[int, tuple[Pending, CapturedFrame]] = {}
        """Responses that will leave later or changed, by number."""
        self._own: dict[int, Pending] = {}
        """Requests that the proxy answers itself, by correlation id."""

    def framing(self, flow: str, direction: Direction) -> Framing:
        """What takes the bytes of a flow's direction apart."""
        if (flow, direction) not in self.framings:
            asked = None if direction == "request" else self.pairing.asked
            first = self._first.get(direction, 0)
            self.framings[flow, direction] = (
                Framing(linked=True)
                if flow == "left"
                else Framing(
                    search=FrameResync(asked),
                    keeps=LONGEST if asked and self._infers else 0,
                    ordinal=first,
                )
            )
        return self.framings[flow, direction]

    def plain(self, chunk: Chunk) -> tuple[list[Exchange], bytes]:
        """The exchanges that are over with the frames that arrived bytes begin with, if all is as usual;
        and the bytes behind those."""
        _, flow, direction, ts_ns, data, _, packet = chunk
        framing = self.framing(flow, direction)
        found: list[Exchange] = []
        if self._cut_off or (direction == "request" and self._raw_tokens):
            return found, data
        begun = framing.begun(len(data))
        if begun is None:
            return found, data
        skim = self._fast.requests if direction == "request" else self._fast.responses
        at = skim(framing, begun, data, ts_ns, packet, found)
        if at < 0:  # perhaps only since the header is in two parts
            data = b"".join((begun, data))
            at = skim(framing, bytearray(), data, ts_ns, packet, found)
        if found and direction == "response":
            self._answered = True
        if not framing.keep(data, at):
            return found, data[at:]
        self.demand(direction, framing)
        return found, b""

    def overdue(self, size: int) -> Iterator[Exchange]:
        """After so many bytes of requests: the oldest that wait, if those are too many or too large."""
        waiting = self.pairing.waiting
        self._came += size
        if len(waiting) <= LIMIT and self._came <= WAITING:
            return
        self._came = sum(pending.size for pending in waiting)
        while len(waiting) > LIMIT or self._came > WAITING // 2:
            self.lossy = True  # a response may come all the same
            self._came -= waiting[0].size
            yield self._without_response(waiting.popleft(), note=TOO_MANY)

    def demand(self, direction: Direction, framing: Framing) -> None:
        """Say how many bytes the frame that has begun needs."""
        demands = self.demands
        demand = demands.request if direction == "request" else demands.response
        demand.bytes = framing.missing

    def frame(self, flow: str, direction: Direction, frame: CapturedFrame) -> Iterator[Exchange]:
        """The exchanges that are over with a frame."""
        if self._cut_off:
            return
        if flow == "arrived":
            if frame.after_gap and direction == "response":
                yield from self._not_asked(frame)
                yield from self._not_captured(frame)
            if direction == "response" and facts_of(frame).get("note") != UNASKED:
                yield from self._passed_over(frame)
            # what stands in the same chunk behind a frame that ended the connection went nowhere
            self._cut_off = str(facts_of(frame).get("note", "")).endswith(CUT_OFF)
            step = self._request if direction == "request" else self._response
        else:
            step = self._request_left if direction == "request" else self._response_left
        found = step(frame)
        if found is not None:
            yield found

    def _not_asked(self, first: CapturedFrame) -> Iterator[Exchange]:
        """What stands before a response behind a gap, and answers requests that stood in it."""
        framing = self.framing("arrived", "response")
        data, ends = framing.take_passed()
        if not data:
            return
        known = int.from_bytes(first.data[:4], signed=True)
        for one in inferred(data, known, self.pairing.asked().values()):
            at = bisect.bisect_left(ends, one.end, key=lambda piece: piece[0])
            _, ts, packet = ends[at]
            self.told += one.end - one.begin
            yield Exchange(
                ts,
                self.number,
                self.client,
                None,
                self.broker,
                one.key,
                one.version,
                one.correlation_id,
                0,
                one.end - one.begin - 4,
                response_body=one.body,
                note=NOT_ASKED,
                response_packet=packet,
                ordinal=UNKNOWN,
                server_address=self.server,
                inferred=True,
            )

    def _not_captured(self, frame: CapturedFrame) -> Iterator[Exchange]:
        """Responses come in the order of requests: those before this one stood in the gap."""
        for pending in self.pairing.before(int.from_bytes(frame.data[:4], signed=True)):
            yield self._without_response(pending, note=NOT_CAPTURED)

    def _passed_over(self, frame: CapturedFrame) -> Iterator[Exchange]:
        """What had no header and is not answered, now that a request behind it is."""
        if len(frame.data) >= 4:
            for pending in self.pairing.passed_over(int.from_bytes(frame.data[:4], signed=True)):
                yield self._without_response(pending, note=PASSED_OVER)

    def close(self, how: str) -> Iterator[Exchange]:
        """Those that were not over when the connection ended, with a note on how it did."""
        for pending, _ in self._requests.values():
            yield self._without_response(pending, note=f"request not sent on: {how}")
        for pending, frame in self._responses.values():
            yield build_exchange(
                pending,
                *self._connection,
                received=frame.ts,
                response_size=len(frame.data),
                note=f"response not sent on: {how}",
                packet=frame.packet,
            )
        for pending in (*self.pairing.unanswered(), *self._own.values()):
            yield self._without_response(pending, note=f"no response: {how}")

    def _request(self, frame: CapturedFrame) -> Exchange | None:
        facts = facts_of(frame)
        head = head_of(frame.data)
        if frame.ordinal == 0 and frame.data[:1] == bytes([GSSAPI_START]):
            self._raw_tokens = True
        token = self._raw_tokens or facts.get("token") is True
        unreadable = head is None or facts.get("unreadable") is True
        if head is None or unreadable or (token and not _known(head.key, head.version)):
            self.undecoded += not token
            size = len(frame.data)
            key = SASL_TOKEN if token else UNREADABLE
            raw = Pending(0, key, 0, None, size, frame.ts, frame.ts, opaque=True)
            raw.sasl, raw.packet = facts.get("sasl", ""), frame.packet
            raw.ordinal, raw.request_place = frame.ordinal, frame.place
            self.pairing.sent(raw)
            return None
        self._raw_tokens = head.key == SASL_HANDSHAKE and head.version == 0
        self.undecoded += not _known(head.key, head.version)
        pending = Pending(
            head.correlation_id,
            head.key,
            head.version,
            head.client_id,
            len(frame.data),
            frame.ts,
            frame.ts,
            body=frame.data[head.body :],
            rules=tuple(facts.get("rules", ())),
            sasl=facts.get("sasl", ""),
            payload=facts.get("payload", {}),
            packet=frame.packet,
            ordinal=frame.ordinal,
            request_place=frame.place,
        )
        left, note = facts.get("left"), facts.get("note", "")
        if left == "later":
            self._requests[frame.ordinal] = (pending, head.acks != 0)
        elif left == "never" and note == "answered by the proxy":
            pending.note = note
            self._own[head.correlation_id] = pending
        elif left == "never":
            return self._without_response(pending, note=note)
        else:
            if not self._raw_tokens and _known(head.key, head.version):
                self._fast.learn(frame.data, head)
            if head.acks == 0:
                return self._without_response(pending, note=UNANSWERED)
            self.pairing.sent(pending)
        return None

    def _request_left(self, frame: CapturedFrame) -> Exchange | None:
        entry = self._requests.pop(_number(frame), None)
        if entry is None:
            return None
        pending, answered = entry
        pending.sent = frame.ts
        if not answered:
            return self._without_response(pending, note=UNANSWERED)
        self.pairing.sent(pending)
        return None

    def _response(self, frame: CapturedFrame) -> Exchange | None:
        waiting = self.pairing.waiting
        opaque = bool(waiting) and waiting[0].opaque
        correlation_id = None if opaque else int.from_bytes(frame.data[:4], signed=True)
        if facts_of(frame).get("note") == UNASKED:
            return None
        # out of turn is no fault here: what left late may stand behind others of the same chunk
        pending, _ = self.pairing.answer(correlation_id)
        if pending is None and correlation_id in self._earlier:
            self._earlier.remove(correlation_id)
            self.earlier += 1
            return None
        if pending is None:
            self.undecoded += 1
            return self._stray(frame) if self._answered and not self.lossy else None
        self._answered = True
        self.pairing.came(pending, frame.ts)
        pending.response_place = frame.place
        facts = facts_of(frame)
        begun = facts.get("begun")
        if isinstance(begun, int) and 0 <= begun <= frame.ts:
            pending.begun = begun  # what came before it was left out of the capture
        pending.sasl = arrow(pending.sasl, facts.get("sasl", ""))
        left = facts.get("left")
        if left in ("later", "changed"):
            self._responses[frame.ordinal] = (pending, frame)
            return None
        never = left == "never"
        note, left_at = (facts.get("note", ""), None) if never else ("", frame.ts)
        return self._with_response(pending, frame, frame.ts, left_at, note, facts.get("payload"))

    def _stray(self, frame: CapturedFrame) -> Exchange:
        """A response that no request can have asked for."""
        answer = Pending(
            int.from_bytes(frame.data[:4], signed=True), STRAY, 0, None, 0, frame.ts, frame.ts
        )
        answer.response_place = frame.place
        return build_exchange(
            answer,
            *self._connection,
            received=frame.ts,
            answered=frame.ts,
            response_size=len(frame.data),
            packet=frame.packet,
        )

    def _response_left(self, frame: CapturedFrame) -> Exchange | None:
        number = _number(frame)
        if number < 0:  # made by the proxy
            own = self._own.pop(int.from_bytes(frame.data[:4], signed=True), None)
            return None if own is None else self._with_response(own, frame, None, frame.ts)
        entry = self._responses.pop(number, None)
        if entry is None:
            return None
        pending, arrived = entry
        payload = facts_of(frame).get("payload")
        return self._with_response(pending, frame, arrived.ts, frame.ts, payload=payload)

    def _without_response(self, pending: Pending, note: str) -> Exchange:
        """Of a request that has no response."""
        return build_exchange(pending, *self._connection, note=note)

    def _with_response(
        self,
        pending: Pending,
        frame: CapturedFrame,
        came: int | None,
        left: int | None,
        note: str = "",
        payload: dict[str, str] | None = None,
    ) -> Exchange:
        """Of a request and its response, when that came and when it left."""
        return build_exchange(
            pending,
            *self._connection,
            received=came,
            answered=left,
            response_size=len(frame.data),
            response_body=frame.data[_offset(frame.data, pending) :],
            rules=tuple(facts_of(frame).get("rules", ())),
            note=note,
            payload=payload,
            packet=frame.packet,
        )


def _number(frame: CapturedFrame) -> int:
    """The number that a frame of the linked flow had where it arrived; -1 for one of our own."""
    number = facts_of(frame).get("frame", -1)
    return number if isinstance(number, int) else -1


def _known(key: int, version: int) -> bool:
    return key in NAMES and version <= api(key).versions[1]


def _offset(data: bytes, pending: Pending) -> int:
    if pending.opaque:
        return 0
    if not _known(pending.key, pending.version):
        return 4
    try:
        return response_body(data, pending.key, pending.version)
    except Malformed:
        return 4
