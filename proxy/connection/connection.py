"""One client's connection to one broker, without sockets: bytes and times in, actions out.

    connection.receive("request", data, now) -> actions
    connection.receive_eof("request", now)   -> actions
    connection.tick(now)                     -> actions     (at `connection.wake`, in ns)

A frame passes unread if only its header matters (`barnabas.proxy.connection.header_walk`). A frame is
collected whole if a rule may match it or it may contain an address. Of a large response only the tail with
node endpoints is collected (`barnabas.specs.node_endpoints`).

A frame has at most `Limits.frame` bytes. Reading pauses (`full`) while waiting frames exceed `Limits.queued`
bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from barnabas.captures.kafka.pairing.dialect_pairing import pairing_of
from barnabas.plural import plural
from barnabas.proxy.connection.action_buffer import ActionBuffer
from barnabas.proxy.connection.actions import NOTHING, PASS, Actions
from barnabas.proxy.connection.breakpoints import Breakpoints
from barnabas.proxy.connection.dialect_handler import DialectHandler
from barnabas.proxy.connection.dispatch import Dispatch
from barnabas.proxy.connection.egress import Egress
from barnabas.proxy.connection.framing import MIN_FIRST_BYTES, Framing, begins
from barnabas.proxy.connection.header_walk import pass_all, walk_requests, walk_responses
from barnabas.proxy.connection.ingress import Mode
from barnabas.proxy.connection.outgoing_frame import OutgoingFrame
from barnabas.proxy.connection.requests import Requests
from barnabas.proxy.connection.responses import Responses
from barnabas.proxy.connection.state import Phase, State
from barnabas.proxy.rules.plan import Plan
from barnabas.proxy.rules.rules import Decision
from barnabas.specs.frames import Direction

MAX_WAITING_OF_SEVERAL: Final = 1000
"""The limit of pending requests on a connection with several client ids: each request keeps its id."""

DIRECTIONS: Final[tuple[Direction, ...]] = ("request", "response")

Walk = Callable[[State, memoryview, int], int]

_WALK: Final[dict[Direction, Walk]] = {"request": walk_requests, "response": walk_responses}


class Connection:
    """The protocol logic between one client and one broker."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.actions = ActionBuffer(state)
        self.dispatch = Dispatch(state, self.actions)
        self.egress = Egress(state, self.actions)
        requests: Requests | DialectHandler
        self.responses: Responses | DialectHandler
        parts = state, self.actions, self.dispatch
        if state.plan.dialect is None:
            requests = Requests(*parts)
            self.responses = Responses(*parts)
        else:
            pairing = pairing_of(state.plan.dialect)
            requests = DialectHandler(*parts, "request", pairing)
            self.responses = DialectHandler(*parts, "response", pairing)
        self.framing = Framing(
            state, self.actions, {"request": requests, "response": self.responses}
        )
        self.breakpoints = Breakpoints(*parts)
        self.wake: int | None = None
        self._walk: dict[Direction, Walk | None] = dict.fromkeys(DIRECTIONS)
        self._unread = 0
        """Bytes of the last chunk after which the connection ended, not split into frames."""

    def receive(self, direction: Direction, data: memoryview, now: int) -> Actions:
        """Take a chunk that has arrived and return the actions to carry out.

        `PASS` forwards the chunk unchanged. The actions may contain slices of `data`: carry them out before
        its buffer is used again.
        """
        start = 0
        walk = self._walk[direction]
        if walk is not None:
            start = walk(self.state, data, now)
            if start == len(data):
                return PASS
        elif self.state.deaf:
            return NOTHING
        elif self.state.phase is Phase.UNDECIDED and self._is_foreign(direction, data):
            return PASS
        self.actions.begin()
        if start:
            self.actions.send_piece(direction, data, 0, start)
        self._feed(direction, data, start, now)
        return self._end_call(now)

    def receive_eof(self, direction: Direction, now: int) -> Actions:
        """End a direction whose sender has closed its side. The bytes of an incomplete frame leave."""
        state = self.state
        if state.deaf:
            return NOTHING
        self.actions.begin()
        ingress, queue = state.ingress[direction], state.queues[direction]
        self.framing.cut_off(direction, now, by=direction)
        rest = ingress.take()
        if rest and not queue.lost:
            queue.append(OutgoingFrame(rest, ingress.frames, now))
        queue.end(now)
        state.shared.windows.end(state.number, direction)
        state.queues["request"].give_up(now)
        if direction == "request":  # the client has gone
            state.queues["response"].give_up(now)
        return self._end_call(now)

    def tick(self, now: int) -> Actions:
        """Let frames leave whose time has come, or that waited for another connection's message.

        Call it at `wake`, and when the connection's number is in `SharedState.ready`.
        """
        state = self.state
        if state.over:
            return NOTHING
        self.actions.begin()
        if state.closes_at is not None and now >= state.closes_at:
            state.closes_at = None
            self.actions.abort("black hole over: connection closed")
        state.stalled_until = {
            direction: until for direction, until in state.stalled_until.items() if until > now
        }
        return self._end_call(now)

    def replace(self, plan: Plan, now: int) -> Actions:
        """Continue under the rules of another plan and release the frames that removed rules held.

        A rule is retained if both plans have the same object, see `barnabas.proxy.rules.rules.Rules`.
        """
        state, old = self.state, self.state.plan.rules
        if state.over:
            return NOTHING
        self.actions.begin()
        retained = plan.rules.shared(old)
        state.plan = plan
        state.reset_caches()
        state.shared.remove(state.number)  # frames that still wait aside are registered again
        state.shared.add(state.number)
        for direction, queue in state.queues.items():
            queue.keep(retained, direction)
            for held in queue.aside:
                if held.aside.until is not None:
                    state.shared.wait(state.number, held)
        state.order.keep(retained)
        return self._end_call(now)

    def release(self, rule: str, now: int) -> Actions:
        """Release the frames that a rule holds, whatever they wait for."""
        state = self.state
        if state.over:
            return NOTHING
        self.actions.begin()
        state.shared.windows.release(rule)
        for queue in state.queues.values():
            queue.release(rule, now)
        return self._end_call(now)

    def decide(self, id: str, decision: Decision, now: int) -> Actions:
        """Apply a decision to a message that waits at a breakpoint.

        Raises:
            LookupError: No message with this id waits (any longer).
        """
        self.actions.begin()
        self.breakpoints.decide(id, decision, now)
        return self._end_call(now)

    def closed(self, now: int) -> Actions:
        """Account for the frames and requests under way after both sides are closed."""
        state = self.state
        self.actions.begin()
        for direction in ("response",) if state.over else DIRECTIONS:
            self.framing.cut_off(direction, now)
        state.on("close")
        self.wake = None
        self._walk = dict.fromkeys(DIRECTIONS)
        stuck = self.egress.abandon()
        state.shared.remove(state.number)
        if stuck:
            self.actions.say(f"closed with {plural(stuck, 'frame')} not forwarded")
        for pending in state.pairing.unanswered():
            self.actions.done(pending, note="no response: connection closed")
        return self.actions.actions

    def full(self, direction: Direction) -> bool:
        """Return whether this direction's sender must not be read from: enough frames wait."""
        state, limits = self.state, self.state.limits
        if direction in state.stalled_until or direction in state.isolated_until:
            return True
        if state.queues[direction].bytes > limits.queued:
            return True
        most = (
            min(MAX_WAITING_OF_SEVERAL, limits.waiting)
            if state.several_client_ids
            else limits.waiting
        )
        return direction == "request" and (
            len(state.pairing.waiting) >= most
            or state.retained_bytes > limits.queued
            # the response that these wait for must still be read, but no further request
            or state.order.bytes > limits.queued
        )

    def undecided(self, direction: Direction) -> int:
        """Return how many received bytes the capture must not have yet.

        These are the bytes of a frame whose kind is still unknown, and of a masked frame that is not whole.
        """
        if self.state.plan.hides is None:
            return 0
        if self.state.deaf:  # later bytes are not split into frames
            return self._unread
        return self.state.ingress[direction].unknown

    @property
    def idle(self) -> bool:
        """Return whether no request waits for its response and no frame waits or is incomplete."""
        state = self.state
        return (
            state.phase is not Phase.FOREIGN
            and not state.pairing.waiting
            and state.ingress["response"].between
            and all(queue.idle for queue in state.queues.values())
        )

    def _is_foreign(self, direction: Direction, data: memoryview) -> bool:
        """Decide by the connection's first bytes whether it speaks another protocol."""
        if direction == "request" and begins(bytes(data[:MIN_FIRST_BYTES])):
            self.state.on("kafka")
            return False
        self.state.on("foreign")
        self._walk = dict.fromkeys(DIRECTIONS, pass_all)
        return True

    def _feed(self, direction: Direction, data: memoryview, at: int, now: int) -> None:
        """Split the chunk into frames from this offset on."""
        state, framing, end = self.state, self.framing, len(data)
        ingress = state.ingress[direction]
        while at < end and state.phase is Phase.KAFKA:
            take = framing.go_on if ingress.missing else framing.begin
            at = take(direction, data, at, now)
            if not (ingress.missing or ingress.buffer):  # `between`, without the call
                self._leave(direction, now)
        self._unread = end - at

    def _leave(self, direction: Direction, now: int) -> None:
        """Let the proxy's own responses and the due frames of a direction leave."""
        if direction == "response":
            self.responses.own_replies(now)
        self.egress.pump(direction, now)

    def _end_call(self, now: int) -> Actions:
        """Let due frames leave, and choose the directions in which frames may pass unread."""
        state = self.state
        for direction in DIRECTIONS:
            self._leave(direction, now)
        state.shared.windows.advance()
        if state.not_offered and self.idle and not state.over:
            self.actions.give_up(f"{state.not_offered} is not offered")
        times = [
            queue.wake()
            for direction, queue in state.queues.items()
            # while a frame passes in chunks, no other frame can leave: its end triggers them
            if not (queue.idle or state.ingress[direction].passing)
        ]
        state.isolated_until = state.shared.isolated(state.client_id, state.broker, now)
        times += [state.closes_at, *state.stalled_until.values(), *state.isolated_until.values()]
        due = min((time for time in times if time is not None), default=None)
        self.wake = None if state.over else due
        state.order.reordering &= bool(state.order.expected)
        skims = state.skims
        for direction in DIRECTIONS:
            queue, ingress = state.queues[direction], state.ingress[direction]
            skimming = (
                skims
                and queue.idle
                and not (queue.lost or queue.ending)
                and ingress.mode is Mode.PASSING
            )
            if skimming:
                if ingress.missing:
                    # the rest of this frame will be skimmed: count it now
                    self.framing.handlers[direction].passed(None, now)
                ingress.head = ingress.pending = ingress.copy = None  # unread frames have none
            self._walk[direction] = _WALK[direction] if skimming else None
        if state.phase is Phase.FOREIGN:
            self._walk = dict.fromkeys(DIRECTIONS, pass_all)
        return self.actions.actions
