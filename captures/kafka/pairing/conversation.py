"""The exchanges of one connection in a capture: the same that the live log showed.

The arrived flow has every frame as it came, the linked flow those that left otherwise. `left` in the comment
of an arrived frame says whether it left later, changed or never; a frame that left has the same number.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from barnabas.captures.kafka import notes
from barnabas.captures.kafka.exchange import GSSAPI_START, SASL_TOKEN, STRAY, UNREADABLE, Exchange
from barnabas.captures.kafka.framing.flow_framings import FlowFramings
from barnabas.captures.kafka.framing.inference import LONGEST, inferred
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
"""Bytes of the requests of a connection that wait."""


class Conversation:
    """One connection: pairs what its two flows hold."""

    def __init__(
        self, opened: Opened, client: str, broker: int | None, *, infers: bool = False
    ) -> None:
        """infers: whether responses are given whose requests were not captured."""
        self.told_bytes = 0
        """Bytes of those, and of partial frames of which an exchange tells, which count as skipped too."""
        self.number = opened.connection
        self._needs = opened.needs
        self.ended_by: Direction | None = None
        """The direction whose sender ended it, where a capture of ours says so."""
        self.undecoded = 0
        self.earlier = 0
        """Responses to requests that are in a segment of the capture which is not here."""
        self._earlier = waiting(opened.comment)
        self.lossy = not opened.whole
        """Whether frames are missing: then a response may answer one of those."""
        self.pairing = Pairing(limit=1 << 31)
        first, keeps = first_frames(opened.comment), LONGEST if infers else 0
        self.framings = FlowFramings(first, self.pairing.asked, keeps)
        self._came = 0
        """Bytes of requests since those that wait were last counted."""
        proxied = "broker" in opened.comment  # else one place is known that messages passed
        controller = None
        if opened.comment.get("kind") == "controller":  # of which a broker may have the id
            broker, controller = None, broker
        self._link = Link(self.number, client, broker, controller, opened.server, proxied)
        self._fast = FastPairing(self._link, self.pairing)
        self._sasl = None if proxied else Sasl()
        """What is known of the client's authentication; None: the capture, which hides tokens, says it."""
        self._fast.user = name_of_user(opened.comment.get("user"))
        self._raw_tokens = False
        self.cut_off = False
        """Whether the proxy has ended the connection: what else arrived went nowhere."""
        self._answered = False
        """Whether a request was answered that was seen: then so is all that is answered later."""
        self._requests: dict[int, tuple[Pending, bool]] = {}
        """Requests that will leave later, by number, and whether they expect a response."""
        self._changed: dict[int, Pending] = {}
        """Requests that have left at once and changed, by number."""
        self._responses: dict[int, tuple[Pending, CapturedFrame]] = {}
        """Responses that will leave later or changed, by number."""
        self._own: dict[int, Pending] = {}
        """Requests that the proxy answers itself, by correlation id."""

    def pair_fast(self, chunk: Chunk) -> tuple[list[Exchange], bytes]:
        """The exchanges that frames at the beginning of a chunk complete, and the bytes behind those."""
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
        found, at = pair(framing, chunk)
        if found and direction == "response":
            self._answered = True
        if not framing.keep(chunk.data, at, chunk.ts_ns, chunk.packet):
            return found, chunk.data[at:]
        self.say_needed(direction, framing)
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
            yield self._without_response(waiting.popleft(), note=notes.TOO_MANY)

    def say_needed(self, direction: Direction, framing: Framing) -> None:
        """Say how many bytes the frame that has begun needs."""
        self._needs[direction].bytes = framing.missing

    def frame(
        self, flow: FlowName, direction: Direction, frame: CapturedFrame
    ) -> Iterator[Exchange]:
        """The exchanges that are over with a frame."""
        if flow == "arrived":
            if self.cut_off:
                return
            note = str(facts_of(frame).get("note", ""))
            if direction == "response" and len(frame.data) >= 4:
                answered = int.from_bytes(frame.data[:4], signed=True)
                if frame.after_gap:
                    yield from self._inferred(frame)
                    # responses come in the order of requests: those before this one stood in the gap
                    yield from self._given_up(self.pairing.before(answered), notes.NOT_CAPTURED)
                if note != notes.REPEATED:
                    yield from self._given_up(self.pairing.passed_over(answered), notes.PASSED_OVER)
            # what stands in the same chunk behind a frame that ended the connection went nowhere
            self.cut_off = note == notes.WITHHELD or note.endswith(notes.CUT_OFF)
            step = self._request if direction == "request" else self._response
        else:
            step = self._request_left if direction == "request" else self._response_left
        found = step(frame)
        if found is not None:
            yield found

    def _inferred(self, first: CapturedFrame) -> Iterator[Exchange]:
        """Responses before the first one behind a gap, which answer requests that stood in the gap."""
        data, ends = self.framings["arrived", "response"].take_passed()
        known = int.from_bytes(first.data[:4], signed=True)
        for one in inferred(data, known, self.pairing.asked().values()) if data else ():
            _, ts, packet = ends[bisect.bisect_left(ends, one.end, key=lambda piece: piece[0])]
            size = one.end - one.begin
            self.told_bytes += size
            pending = Pending(one.correlation_id, one.key, one.version, None, 0, ts, ts)
            pending.ordinal = UNKNOWN
            yield replace(
                self._without_response(pending, note=notes.INFERRED),
                response_size=size - 4,
                response_body=one.body,
                response_packet=packet,
                inferred=True,
            )

    def under_way(self) -> Iterator[Exchange]:
        """Those that are not over, as they stand. Any thread may ask."""
        for pending, _ in list(self._requests.values()):
            yield self._without_response(pending, note=notes.WAITS)
        for pending in [*list(self.pairing.waiting), *list(self._own.values())]:
            yield self._without_response(pending, note="")
        for pending, frame in list(self._responses.values()):
            yield self._with_response(pending, frame, received=frame.ts, note=notes.WAITS)

    def close(self, how: str, then: str) -> Iterator[Exchange]:
        """Those that were not over when the connection ended, with a note on how it did; then: what came
        in place of the rest of a frame."""
        yield from self._partial("response", then)
        waiting = [pending for pending, _ in self._requests.values()]
        yield from self._given_up(waiting, f"request not forwarded: {how}")
        for pending, frame in self._responses.values():
            note = f"response not forwarded: {how}"
            yield self._responded(pending, frame, received=frame.ts, note=note)
        waiting = [*self.pairing.unanswered(), *self._own.values()]
        yield from self._given_up(waiting, f"no response: {how}")
        yield from self._partial("request", then)

    def _partial(self, direction: Direction, then: str) -> Iterator[Exchange]:
        """Yield the exchange of a frame that has arrived in part, if it can be told which request it is
        or answers."""
        found = self.framings["arrived", direction].cut_off()
        if found is None or self.cut_off:
            return
        frame, size = found
        pending = None
        if direction == "response":
            pending = self.pairing.answered_by(frame.data)
        elif not self._raw_tokens:
            pending = partial_request(frame, self._fast.user)
        if pending is not None:
            came = 4 + len(frame.data)
            self.told_bytes += came
            note = notes.partial(direction, came, 4 + size, then)
            yield self._without_response(pending, note)

    def _request(self, frame: CapturedFrame) -> Exchange | None:
        facts = facts_of(frame)
        head = head_of(frame.data)
        if frame.ordinal == 0 and frame.data[:1] == bytes([GSSAPI_START]):
            self._raw_tokens = True
        token = self._raw_tokens or facts.get("token") is True
        unreadable = head is None or facts.get("unreadable") is True
        if head is None or unreadable or (token and not known_version(head.key, head.version)):
            self.undecoded += not token
            opaque = opaque_request(frame, SASL_TOKEN if token else UNREADABLE)
            self._authenticates(opaque, frame.data, facts)
            self.pairing.sent(opaque)
            return None
        self._raw_tokens = head.key == SASL_HANDSHAKE and head.version == 0
        # an ApiVersions response can be read all the same: its exchange tells that the request can't
        self.undecoded += head.key != API_VERSIONS and not known_version(head.key, head.version)
        pending = captured_request(frame, head)
        self._authenticates(pending, pending.body or b"", facts)
        left, note = facts.get("left"), facts.get("note", "")
        if left in ("later", "never"):
            pending.sent = 0
        if left == "later":
            self._requests[frame.ordinal] = (pending, head.acks != 0)
        elif left == "never" and note == notes.ANSWERED_BY_PROXY:
            pending.note = note
            self._own[head.correlation_id] = pending
        elif left == "never":
            return self._without_response(pending, note=note)
        else:
            if head.key not in sasl_frames.KEYS and known_version(head.key, head.version):
                self._fast.learn(frame.data, head)
            if head.acks == 0:
                return self._without_response(pending, note=notes.UNANSWERED)
            self.pairing.sent(pending)
            if left == "changed":
                self._changed[frame.ordinal] = pending
        return None

    def _authenticates(self, pending: Pending, body: bytes, facts: Mapping[str, Any]) -> None:
        """A request: who sends it, and if it is one of an authentication, what it says."""
        self._told(facts)  # where his authentication was left out of the capture
        pending.user = self._fast.user
        if self._sasl is not None and pending.key in sasl_frames.KEYS:
            pending.sasl = sasl_frames.note_request(self._sasl, pending, body)

    def _told(self, facts: Mapping[str, Any]) -> None:
        """Who is authenticated, if the capture says it of a frame."""
        if "sasl" in facts:
            self._sasl = None
        if "user" in facts:
            self._fast.user = name_of_user(facts["user"])

    def _request_left(self, frame: CapturedFrame) -> Exchange | None:
        number = number_of(frame)
        pending, expects = self._requests.pop(number, (None, False))
        if (changed := pending or self._changed.pop(number, None)) is not None:
            head = head_of(frame.data)
            changed.left = None if head is None else altered(changed.body, frame.data[head.body :])
        if pending is None:
            return None
        pending.sent = frame.ts
        if not expects:
            return self._without_response(pending, note=notes.UNANSWERED)
        self.pairing.sent(pending)
        return None

    def never_left(self, direction: Direction, facts: Mapping[str, Any]) -> Iterator[Exchange]:
        """What was to leave later never does, as it turns out."""
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
            self._own[pending.correlation_id] = pending
        else:
            yield self._without_response(pending, note=note)

    def _response(self, frame: CapturedFrame) -> Exchange | None:
        waiting = self.pairing.waiting
        opaque = bool(waiting) and waiting[0].opaque
        correlation_id = None if opaque else int.from_bytes(frame.data[:4], signed=True)
        facts = facts_of(frame)
        self._told(facts)
        if facts.get("note") == notes.REPEATED:
            return None
        # out of turn is no fault here: what left late may stand behind others of the same chunk
        pending, _ = self.pairing.answer(correlation_id)
        withheld = facts.get("note") == notes.WITHHELD
        if pending is None and facts.get("note") == notes.WITHHELD_UNNAMED:
            withheld = self.cut_off = True
            if not waiting:
                return None
            pending = waiting.popleft()
        if pending is None:
            if correlation_id in self._earlier:
                self._earlier.remove(correlation_id)
                self.earlier += 1
                return None
            self.undecoded += 1
            return self._stray(frame) if self._answered and not self.lossy else None
        self._answered = True
        self.pairing.came(pending, frame.ts)
        pending.response_place = frame.place
        begun = facts.get("begun")
        if isinstance(begun, int) and 0 <= begun <= frame.ts:
            pending.begun = begun  # what came before it was left out of the capture
        pending.sasl = arrow(pending.sasl, facts.get("sasl", ""))
        if self._sasl is not None and pending.key in sasl_frames.KEYS:
            body = frame.data[body_of_response(frame.data, pending) :]
            outcome = sasl_frames.note_response(self._sasl, pending, body)
            pending.sasl = arrow(pending.sasl, outcome)
            self._fast.user = self._sasl.authenticated
        if withheld:
            return self._responded(pending, frame, received=frame.ts, note=facts["note"])
        left = facts.get("left")
        if left in ("later", "changed"):
            self._responses[frame.ordinal] = (pending, frame)
            return None
        came = {"answered": frame.ts} if left != "never" else {"note": facts.get("note", "")}
        payload = facts.get("payload")
        return self._with_response(pending, frame, received=frame.ts, payload=payload, **came)

    def _stray(self, frame: CapturedFrame) -> Exchange:
        """A response that no request can have asked for."""
        number = int.from_bytes(frame.data[:4], signed=True)
        answer = Pending(number, STRAY, 0, None, 0, frame.ts, frame.ts, response_place=frame.place)
        note = str(facts_of(frame).get("note", ""))
        left = None if note else frame.ts
        return self._responded(answer, frame, received=frame.ts, answered=left, note=note)

    def _response_left(self, frame: CapturedFrame) -> Exchange | None:
        number = number_of(frame)
        if number < 0:  # made by the proxy
            own = self._own.pop(int.from_bytes(frame.data[:4], signed=True), None)
            return None if own is None else self._with_response(own, frame, answered=frame.ts)
        pending, arrived = self._responses.pop(number, (None, frame))
        if pending is None:
            return None
        came = {"received": arrived.ts, "answered": frame.ts}
        found = self._with_response(pending, frame, payload=facts_of(frame).get("payload"), **came)
        came_as = arrived.data[body_of_response(arrived.data, pending) :]
        found.response_came = altered(found.response_body, came_as)
        return found

    def _given_up(self, several: Iterable[Pending], note: str) -> Iterator[Exchange]:
        for pending in several:
            yield self._without_response(pending, note)

    def _without_response(self, pending: Pending, note: str) -> Exchange:
        """Of a request that has no response."""
        return build_exchange(pending, self._link, Outcome(note=note))

    def _with_response(self, pending: Pending, frame: CapturedFrame, **came: Any) -> Exchange:
        """Of a request and its response, whose body is kept; came: see `Outcome`."""
        body = frame.data[body_of_response(frame.data, pending) :]
        rules = tuple(facts_of(frame).get("rules", ()))
        return self._responded(pending, frame, response_body=body, rules=rules, **came)

    def _responded(self, pending: Pending, frame: CapturedFrame, **came: Any) -> Exchange:
        """Of a request and its response; came: see `Outcome`."""
        about = {"response_size": len(frame.data), "packet": frame.packet, **came}
        return build_exchange(pending, self._link, Outcome(**about))
