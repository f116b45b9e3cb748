"""Messages of one connection about which somebody is to decide, and what becomes of them then."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from heapq import nsmallest
from itertools import islice
from operator import itemgetter
from typing import Final

from barnabas.captures.kafka.notes import CUT_OFF
from barnabas.proxy.connection.action_buffer import ActionBuffer
from barnabas.proxy.connection.actions import Left
from barnabas.proxy.connection.dispatch import ANSWERED, Dispatch, refused
from barnabas.proxy.connection.outgoing_frame import Halted, OutgoingFrame, comment_on
from barnabas.proxy.connection.state import State
from barnabas.proxy.effects import Answer, Become, Lose
from barnabas.proxy.matching.message import Message
from barnabas.proxy.rules.by_hand import decision
from barnabas.proxy.rules.merged_effects import MergedEffects, merge
from barnabas.proxy.rules.rules import Decision
from barnabas.proxy.scenario.model import RuleConfig
from barnabas.specs import api
from barnabas.specs.frames import Direction
from barnabas.specs.malformed import Malformed

TIMEOUTS: Final = ("timeout_ms", "rebalance_timeout_ms", "max_wait_ms")
"""Fields of requests that say how long the client waits for the answer, or asks the broker to take."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A message that waits at a breakpoint. Times are in ns since the epoch."""

    id: str
    """No other one ever has it."""
    rule: str
    connection: int
    client: str
    client_id: str | None
    broker: int | None
    direction: Direction
    key: int
    version: int
    correlation_id: int
    size: int
    since: int
    until: int
    """When it leaves as it is."""
    asked: int
    """When its request came."""
    timeout: tuple[str, int] | None
    """The field of its request that says how long the answer may take, and the ms there; None: it says
    nothing."""
    body: bytes = field(default=b"", repr=False)
    """Without its header; only where it was asked for."""


class Breakpoints:
    """The breakpoints of one connection."""

    def __init__(self, state: State, actions: ActionBuffer, dispatch: Dispatch) -> None:
        self.state = state
        self.actions = actions
        self.dispatch = dispatch

    def waiting(self, most: int) -> Iterator[tuple[int, Callable[[], Waiting]]]:
        """Yield since when each message waits, and how to show it: of each direction so many at most."""
        for direction in self.state.queues:
            for _, frame, halted, message in islice(self._halted(direction), most):
                yield halted.since, partial(self._shown, frame, halted, message)

    def message(self, id: str) -> Waiting:
        """One of them, with its body. Raises LookupError if it does not wait (any longer)."""
        _, frame, halted, message = self._find(id)
        return self._shown(frame, halted, message, message.body or b"")

    def weigh(self, id: str, wanted: RuleConfig | None) -> Decision:
        """What would be done to one of them; None: it is let go. Raises LookupError, Unable."""
        _, _, halted, message = self._find(id)
        return decision(wanted, halted.rule, message)

    def decide(self, id: str, decision: Decision, now: int) -> None:
        """Do to one of them what was decided. Raises LookupError."""
        direction, frame, halted, message = self._find(id)
        self._change(direction, frame, message, decision)
        found = merge([decision])
        if note := refused(direction, found):
            frame.delivery.halted = None
            self.state.plan.rules.rule(halted.rule).released += 1
            self._take_out(direction, frame, found, decision, note, now)
        else:  # it leaves when it is its turn
            halted.until, halted.decided = now, True

    def _change(
        self, direction: Direction, frame: OutgoingFrame, message: Message, decision: Decision
    ) -> None:
        """Give the frame other bytes, or none where the proxy answers."""
        for effect in decision.effects:
            if isinstance(effect, Become):
                message.become(effect.body, effect.head, effect.what)
                frame.changed = (*frame.changed, effect.what)
                self._become(direction, frame, message.frame)
            elif isinstance(effect, Answer):
                self._never(direction, frame, ANSWERED, decision)
                self.dispatch.own_reply(frame, effect.body)
                self._become(direction, frame, b"")
        if direction == "response":
            frame.response_body = message.body
        elif frame.data:
            frame.answered = message.acks != 0

    def _become(self, direction: Direction, frame: OutgoingFrame, data: bytes) -> None:
        self.state.queues[direction].bytes += len(data) - len(frame.data)
        frame.data = data

    def _take_out(
        self,
        direction: Direction,
        frame: OutgoingFrame,
        found: MergedEffects,
        decision: Decision,
        note: str,
        now: int,
    ) -> None:
        """The frame never leaves: nor does what is behind it, or the connection is closed."""
        queue = self.state.queues[direction]
        behind = queue.remove(frame)
        self._never(direction, frame, note, decision)
        self.actions.lost(direction, frame, note)
        if found.hang_up is not None:
            self.actions.abort(CUT_OFF, reset=found.hang_up.reset)
        elif isinstance(found.chosen, Lose) and not found.chosen.selective:
            for other in behind:
                queue.remove(other)
            for other in (*behind, *queue.lose()):
                why = f"{direction} lost behind a dropped one"
                self._never(direction, other, why)
                self.actions.lost(direction, other, why)
        elif frame.pending is not None:
            self.dispatch.turn(frame.pending, now)

    def _never(
        self, direction: Direction, frame: OutgoingFrame, note: str, *decisions: Decision
    ) -> None:
        """For the capture, which has it that the frame would leave later."""
        comment = {"frame": frame.ordinal, **comment_on(decisions), "left": "never", "note": note}
        self.actions.append(Left(direction, b"", comment, *frame.kind))

    def _find(self, id: str) -> tuple[Direction, OutgoingFrame, Halted, Message]:
        for direction in self.state.queues:
            for found in self._halted(direction):
                if found[2].id == id:
                    return found
        raise LookupError(id)

    def _halted(
        self, direction: Direction
    ) -> Iterator[tuple[Direction, OutgoingFrame, Halted, Message]]:
        for frame, halted in () if self.state.over else self.state.queues[direction].halted():
            assert frame.message is not None  # noqa: S101 - rules fired on it
            yield direction, frame, halted, frame.message

    def _shown(
        self, frame: OutgoingFrame, halted: Halted, message: Message, body: bytes = b""
    ) -> Waiting:
        asked, request = frame.arrived, message.body
        if message.direction == "response" and frame.pending is not None:
            asked, request = frame.pending.arrived, frame.pending.body
        return Waiting(
            id=halted.id,
            rule=halted.rule,
            connection=message.connection,
            client=self.state.client,
            client_id=message.client_id,
            broker=message.broker,
            direction=message.direction,
            key=message.key,
            version=message.version,
            correlation_id=message.correlation_id,
            size=message.size + 4,
            since=halted.since,
            until=halted.until,
            asked=asked,
            timeout=_timeout(message.key, message.version, request),
            body=body,
        )


def oldest(connections: Iterable[Breakpoints], most: int) -> list[Waiting]:
    """Return the messages that wait longest on these connections, so many at most, without their bodies."""
    each = (found for breakpoints in connections for found in breakpoints.waiting(most))
    return [show() for _, show in nsmallest(most, each, key=itemgetter(0))]


def _timeout(key: int, version: int, request: bytes | None) -> tuple[str, int] | None:
    """What a request says of how long its answer may take."""
    if request is None:
        return None
    try:
        codec = api(key).request.codec(version)
        for slot in codec.layout.slots:
            if slot.name in TIMEOUTS:
                return slot.name, int(codec.project(slot.name)(request)[slot.name])
    except (LookupError, Malformed):
        pass
    return None
