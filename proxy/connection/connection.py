"""One client's connection to one broker, without sockets: bytes and times in, actions out.

    connection.receive("request", data, now) -> actions
    connection.receive_eof("request", now)   -> actions
    connection.tick(now)                     -> actions     (at `connection.wake`, in ns)

Frames of which nobody wants more than the header pass as they come (`barnabas.proxy.fastpath.header_walk`).
Those that a rule may touch, or in which an address may stand, are collected whole: at most `Limits.frame`
bytes of one frame, and `Limits.queued` bytes of frames that wait; then reading pauses (`full`).
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Final

from barnabas.captures.kafka.pairing.draft_pairing import DraftPairing
from barnabas.captures.kafka.wording import plural
from barnabas.captures.summary.api_stats import Tally
from barnabas.captures.writing.masked_flow import Hidden
from barnabas.proxy.connection.actions import NOTHING, PASS, Actions, Hide
from barnabas.proxy.connection.draft_handler import Way
from barnabas.proxy.connection.egress import Departures
from barnabas.proxy.connection.ingress import foreign
from barnabas.proxy.connection.requests import ADDRESSES, UNREAD, Requests
from barnabas.proxy.connection.responses import Responses
from barnabas.proxy.connection.send_queue import Item
from barnabas.proxy.connection.shared_state import Crossing
from barnabas.proxy.connection.state import Limits, State
from barnabas.proxy.connection.totals import Totals
from barnabas.proxy.edits.topology import Find
from barnabas.proxy.fastpath.header_walk import skim_requests, skim_responses
from barnabas.proxy.fastpath.plan import Plan
from barnabas.specs.addresses import Resolve, leaks
from barnabas.specs.frames import Direction, Short
from barnabas.specs.malformed import Malformed

HEAD: Final = 64 << 10
"""A request's header is read no further than this; a client id and its tags need far less."""

SEVERAL: Final = 1000
"""Requests that may wait where several client ids were seen, each of them kept; clients have one."""

DIRECTIONS: Final[tuple[Direction, ...]] = ("request", "response")

Skim = Callable[[State, memoryview, int], int]

_SKIM: Final[dict[Direction, Skim]] = {"request": skim_requests, "response": skim_responses}

_SIZE = struct.Struct(">i")


class Connection:
    """The protocol logic between one client and one broker."""

    def __init__(
        self,
        number: int,
        *,
        client: str,
        broker: int | None,
        plan: Plan,
        crossing: Crossing,
        tally: Tally,
        totals: Totals,
        resolve: Resolve,
        find: Find,
        observed: bool = False,
        rehearses: bool = False,
        limits: Limits = Limits(),  # noqa: B008 - frozen
    ) -> None:
        self.state = State(
            number,
            client=client,
            broker=broker,
            plan=plan,
            crossing=crossing,
            tally=tally,
            totals=totals,
            resolve=resolve,
            find=find,
            observed=observed,
            rehearses=rehearses,
            limits=limits,
        )
        self.departures = Departures(self.state)
        self.requests: Requests | Way
        self.responses: Responses | Way
        if plan.dialect is None:
            self.requests = Requests(self.state, self.departures)
            self.responses = Responses(self.state, self.departures, self.requests)
        else:
            talk = DraftPairing(plan.dialect)
            self.requests = Way(self.state, self.departures, "request", talk)
            self.responses = Way(self.state, self.departures, "response", talk)
        self.wake: int | None = None
        self._skim: dict[Direction, Skim | None] = dict.fromkeys(DIRECTIONS)
        self._unread = 0
        """Bytes of the last chunk that were not looked at, since the connection ended before them."""

    def receive(self, direction: Direction, data: memoryview, now: int) -> Actions:
        """A chunk has arrived. `PASS` if it may be sent on as it is.

        Slices of `data` may be in the actions: carry them out before its buffer is used again.
        """
        start = 0
        skim = self._skim[direction]
        if skim is not None:
            start = skim(self.state, data, now)
            if start == len(data):
                return PASS
        elif self.state.over or self.state.silent:
            return NOTHING
        self.state.begin()
        if start:
            self.state.send_piece(direction, data, 0, start)
        self._feed(direction, data, start, now)
        return self._settle(now)

    def receive_eof(self, direction: Direction, now: int) -> Actions:
        """The sender of this direction will send no more; a frame cut off is sent on as it is."""
        if self.state.over or self.state.silent:
            return NOTHING
        self.state.begin()
        inbound, outlet = self.state.inbound[direction], self.state.outlet[direction]
        self._cut_off(direction)
        rest = bytes(inbound.start) or (bytes(inbound.frame) if inbound.need else b"")
        if rest and not outlet.lost:
            outlet.append(Item(rest, inbound.frames, now))
        inbound.start = bytearray()
        inbound.frame = bytearray()
        inbound.need = inbound.passing = 0
        self.departures.ending(direction, now)
        return self._settle(now)

    def tick(self, now: int) -> Actions:
        """Time has passed, or a message that a frame waited for has passed somewhere else."""
        state = self.state
        if state.over:
            return NOTHING
        state.begin()
        if state.until is not None and now >= state.until:
            state.until = None
            state.abort("a black hole closed at last")
        state.stalled = {way: until for way, until in state.stalled.items() if until > now}
        return self._settle(now)

    def replace(self, plan: Plan, now: int) -> Actions:
        """Go on under the rules of another plan; what rules that are gone held back leaves.

        Rules are the same ones if both plans have the same objects, see `barnabas.proxy.rules.rules.Rules`.
        """
        state, old = self.state, self.state.plan.rules
        if state.over:
            return NOTHING
        state.begin()
        kept = plan.rules.shared(old)
        state.adopt(plan, kept)
        self.departures.keep(kept)
        return self._settle(now)

    def release(self, rule: str, now: int) -> Actions:
        """What a rule holds leaves, whatever it waits for."""
        state = self.state
        if state.over:
            return NOTHING
        state.begin()
        state.crossing.windows.release(rule)
        for outlet in state.outlet.values():
            outlet.release(rule, now)
        return self._settle(now)

    def closed(self, now: int) -> Actions:
        """Both sides are closed: account for what was under way."""
        state = self.state
        state.begin()
        state.over = True
        self.wake = None
        self._skim = dict.fromkeys(DIRECTIONS)
        self._cut_off("response")
        stuck = self.departures.abandon()
        state.crossing.forget(state)
        if stuck:
            state.say(f"closed with {plural(stuck, 'frame')} not sent on")
        for pending in state.pairing.unanswered():
            state.done(pending, note="no response: connection closed")
        return state.actions

    def full(self, direction: Direction) -> bool:
        """Whether enough waits already: read no more from the sender of this direction."""
        state, limits = self.state, self.state.limits
        if direction in state.stalled or direction in state.apart:
            return True
        if state.outlet[direction].bytes > limits.queued:
            return True
        most = min(SEVERAL, limits.waiting) if self.requests.several else limits.waiting
        return direction == "request" and (
            len(state.pairing.waiting) >= most
            or state.kept > limits.queued
            # the response that these wait for must still be read, but no more is to be asked
            or self.departures.early > limits.queued
        )

    def missing(self, direction: Direction) -> int:
        """Bytes up to the end of the frame under way, as far as is known: 4 between frames."""
        inbound = self.state.inbound[direction]
        rest = inbound.passing or inbound.need
        if rest:
            return rest
        begun = len(inbound.start)
        if begun < 4:
            return 4 - begun
        return 4 + int(_SIZE.unpack_from(inbound.start)[0]) - begun

    def undecided(self, direction: Direction) -> int:
        """Bytes that came of a frame of which it is not known yet what it is, or that is to be
        masked and not whole: the capture must not have them."""
        inbound = self.state.inbound[direction]
        if self.state.plan.hides is None:
            return 0
        if self.state.over or self.state.silent:  # nobody looks into what came behind
            return self._unread
        collected = len(inbound.frame) if inbound.hidden is not None and inbound.need else 0
        return len(inbound.start) + collected

    @property
    def idle(self) -> bool:
        """Whether no request waits for its response, and no frame to leave or for its rest."""
        state = self.state
        return (
            not state.pairing.waiting
            and state.inbound["response"].between
            and all(outlet.idle for outlet in state.outlet.values())
        )

    def _feed(self, direction: Direction, data: memoryview, at: int, now: int) -> None:
        """Take the chunk apart from this offset on."""
        inbound, end = self.state.inbound[direction], len(data)
        while at < end and not (self.state.over or self.state.silent):
            if inbound.passing:
                taken = min(inbound.passing, end - at)
                self.state.send_piece(direction, data, at, at + taken)
                if inbound.copy is not None:
                    inbound.copy += data[at : at + taken]
                inbound.passing -= taken
                at += taken
                if not inbound.passing:
                    self._passed(direction, now)
            elif inbound.need:
                taken = min(inbound.need, end - at)
                inbound.frame += data[at : at + taken]
                inbound.need -= taken
                at += taken
                if not inbound.need:
                    self._whole(direction, now, at)
            else:
                at = self._begin(direction, data, at, now)
        self._unread = end - at

    def _begin(self, direction: Direction, data: memoryview, at: int, now: int) -> int:
        """The first bytes of a frame (perhaps with some from before): decide how it will travel.

        Returns the offset behind the bytes that were taken.
        """
        state, inbound = self.state, self.state.inbound[direction]
        before = len(inbound.start)
        view: memoryview | bytes = data[at:]
        if before:
            inbound.start += data[at : at + HEAD]
            if len(inbound.start) < inbound.enough:
                return min(len(data), at + HEAD)
            view = bytes(inbound.start)
        if len(view) < 4:
            inbound.start, inbound.enough = bytearray(view), 4
            return at + len(view) - before
        size: int = _SIZE.unpack_from(view)[0]
        if not 0 <= size <= state.limits.frame:
            self._refuse(direction, bytes(view[:4]), size)
            return at
        inbound.size = size
        inbound.hidden = None
        have = min(len(view), 4 + size)
        collect = False
        try:
            handler = self.requests if direction == "request" else self.responses
            collect = handler.begin(view, have, now, at)
        except Short:
            if have < HEAD:
                inbound.start = bytearray(view[:have])
                # a header may come in tiny pieces, and is read from its beginning each time
                inbound.enough = min(have + 1 + have // 4, 4 + size, HEAD)
                return at + have - before
            reason = "a header of over 64 KiB"
            collect = self._unreadable(direction, bytes(view[4:6]), now, at, reason)
        except Malformed as problem:
            collect = self._unreadable(direction, bytes(view[4:6]), now, at, state.why(problem))
        if state.over:
            return at
        inbound.start = bytearray()
        inbound.frames += 1
        at += have - before
        missing = 4 + size - have
        if collect:
            inbound.frame = bytearray(view[:have])
            inbound.need = missing
            if not missing:
                self._whole(direction, now, at)
            return at
        if state.observed and size <= state.limits.copy:
            inbound.copy = bytearray(view[:have])
        if before:
            state.send(direction, bytes(view[:have]))
        else:
            state.send_piece(direction, data, at - have, at)
        inbound.passing = missing
        if not missing:
            self._passed(direction, now)
        return at

    def _unreadable(
        self, direction: Direction, first: bytes, now: int, at: int, reason: str
    ) -> bool:
        """A frame whose header can't be read: whether it must wait for others, or be whole."""
        state = self.state
        state.flag(direction, state.inbound[direction].frames, at, reason)
        if direction == "request":
            key = int.from_bytes(first[:2], signed=True)
            hides = state.inbound[direction].size > 1 and leaks(key)
            return self.requests.headless(now, key, ADDRESSES if hides else UNREAD)
        return state.outlet[direction].busy

    def _cut_off(self, direction: Direction) -> None:
        """No more will come: a response that has begun will never be complete."""
        inbound = self.state.inbound[direction]
        cut = inbound.passing or inbound.need
        if cut and direction == "response" and inbound.pending is not None:
            self.state.done(inbound.pending, note="response cut off")

    def _refuse(self, direction: Direction, first: bytes, size: int) -> None:
        state = self.state
        broker = "the bootstrap broker" if state.broker is None else f"broker {state.broker}"
        peer = f"client {state.client}" if direction == "request" else broker
        other = foreign(first)
        if other:
            what = f"{peer} speaks {other}, not Kafka in plain text"
        elif size < 0:
            what = f"{peer} sent a frame of negative size {size}"
        else:
            what = f"{peer} sent a frame of {size} bytes; the most is {state.limits.frame}"
        state.give_up(what)

    def _passed(self, direction: Direction, now: int) -> None:
        """A frame that passed as it came is through."""
        inbound = self.state.inbound[direction]
        frame = None if inbound.copy is None else bytes(inbound.copy)
        inbound.copy = None
        handler = self.requests if direction == "request" else self.responses
        handler.passed(frame, now)
        self.departures.pump(direction, now)

    def _whole(self, direction: Direction, now: int, at: int) -> None:
        """A frame that was collected is complete."""
        inbound = self.state.inbound[direction]
        frame = bytes(inbound.frame)
        inbound.frame = bytearray()
        if inbound.hidden is not None:
            what = Hidden(at, len(frame), inbound.frames - 1, *inbound.hidden)
            self.state.actions.append(Hide(direction, what))
        handler = self.requests if direction == "request" else self.responses
        handler.whole(frame, now, at)
        self.departures.pump(direction, now)

    def _settle(self, now: int) -> Actions:
        """At the end of every call: send what is due, see when to wake up and what may be skimmed."""
        state = self.state
        self.departures.pump("request", now)
        self.responses.own_replies(now)
        self.departures.pump("response", now)
        state.crossing.windows.advance()
        if self.requests.refused and self.idle and not state.over:
            state.give_up(f"{self.requests.refused} is not offered")
        times = [
            outlet.wake()
            for direction, outlet in state.outlet.items()
            # while a frame passes in pieces, nothing else can leave: its end sets off the rest
            if not (outlet.idle or state.inbound[direction].passing)
        ]
        state.apart = state.crossing.isolated(state.client_id, state.broker, now)
        times += [state.until, *state.stalled.values(), *state.apart.values()]
        due = min((time for time in times if time is not None), default=None)
        self.wake = None if state.over else due
        self.departures.reordering &= bool(self.departures.expected)
        free = self.requests.met and not (
            state.observed
            or state.over
            or state.silent
            or state.crossing.partitions
            or self.departures.expected
            or self.departures.marked
            or self.requests.replies
            or self.requests.raw_tokens
            or self.requests.refused
        )
        for direction in DIRECTIONS:
            outlet, inbound = state.outlet[direction], state.inbound[direction]
            skimming = (
                free
                and outlet.idle
                and not (outlet.lost or outlet.ending or inbound.start or inbound.need)
            )
            if skimming:
                if inbound.passing:
                    # the rest of this frame will be skimmed: count it now
                    handler = self.requests if direction == "request" else self.responses
                    handler.passed(None, now)
                inbound.head = inbound.pending = inbound.copy = None  # what is skimmed has none
            self._skim[direction] = _SKIM[direction] if skimming else None
        return state.actions
