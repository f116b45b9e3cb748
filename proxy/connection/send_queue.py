"""The frames of one direction that wait: in order for their time, or aside for something else.

`delay` keeps order: what is behind waits. `hold` and `reorder` step aside: what is behind passes.
Both are bounded by a deadline each; the bytes that wait are counted, so that reading can pause.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from barnabas.proxy.connection.outgoing_frame import Halted, OutgoingFrame
from barnabas.proxy.effects import Aside, Gather
from barnabas.specs.frames import Direction


@dataclass(slots=True, eq=False)
class Held:
    """A frame that stands aside, and what it waits for."""

    frame: OutgoingFrame
    aside: Aside
    rule: str
    deadline: int | None
    """When it leaves at the latest; None: in its turn, see `barnabas.proxy.connection.windows`."""
    remaining: int = 0
    """How many messages must still pass it, where that is what it waits for."""
    due: bool = False
    ended: bool = False
    """The connection ended first: what it waits for can't come."""
    over: bool = False
    """It stands aside no longer."""

    @property
    def met(self) -> bool:
        """Whether it leaves because what it waited for came about."""
        return self.due or self.aside.timed


@dataclass(slots=True)
class SendQueue:
    """What waits to leave in one direction."""

    in_order: deque[OutgoingFrame] = field(default_factory=deque)
    aside: list[Held] = field(default_factory=list)
    batches: dict[str, list[tuple[OutgoingFrame, int]]] = field(default_factory=dict)
    """By rule: frames of the queue that wait for each other, with the time each would have otherwise."""
    bytes: int = 0
    ending: bool = False
    """Nothing more will arrive in this direction."""
    lost: bool = False
    """A message was lost: nothing behind it leaves."""

    @property
    def idle(self) -> bool:
        """Whether nothing waits."""
        return not (self.in_order or self.aside)

    @property
    def busy(self) -> bool:
        """Whether a frame that comes now must not pass at once."""
        return self.lost or not self.idle

    def append(self, frame: OutgoingFrame) -> None:
        """Let a frame leave behind all that waits already, and not before its time."""
        self.in_order.append(frame)
        self.bytes += frame.cost

    def rejoin(self, frame: OutgoingFrame) -> None:
        """Let a frame that stood aside leave before all that came after it."""
        later = (
            at
            for at, other in enumerate(self.in_order)
            if other.ordinal > frame.ordinal and not other.delivery.gone
        )
        self.in_order.insert(next(later, len(self.in_order)), frame)
        self.bytes += frame.cost

    def set_aside(self, held: Held) -> None:
        """Let a frame stand aside."""
        self.aside.append(held)
        self.bytes += held.frame.cost

    def batch(self, rule: str, gather: Gather, frame: OutgoingFrame, now: int) -> None:
        """Let a frame, and all behind it, wait until so many of its rule have gathered."""
        self._forget_batches(now)
        batch = self.batches.setdefault(rule, [])
        batch.append((frame, frame.delivery.not_before))
        until = batch[0][0].delivery.not_before if len(batch) > 1 else now + gather.at_most
        frame.delivery.not_before = max(frame.delivery.not_before, until)
        self.append(frame)
        if len(batch) >= gather.size:
            self.complete(rule)

    def complete(self, rule: str) -> None:
        """The frames of a batch wait for no others."""
        for frame, at in self.batches.pop(rule):
            frame.delivery.not_before = at

    def _forget_batches(self, now: int) -> None:
        """Those whose time is up did not become complete."""
        for rule, batch in list(self.batches.items()):
            if batch[0][0].delivery.not_before <= now:
                del self.batches[rule]

    def expire(self, now: int) -> list[Held]:
        """Queue frames whose wait is over. Returns those that stood aside."""
        self._forget_batches(now)
        free = [
            held
            for held in self.aside
            if held.due or (held.deadline is not None and held.deadline <= now)
        ]
        for held in free:
            self.take(held)
            (self.append if held.deadline is None else self.rejoin)(held.frame)
        return free

    def take(self, held: Held) -> None:
        """Let a frame stand aside no longer."""
        self.aside.remove(held)
        self.bytes -= held.frame.cost
        held.over = True

    def release(self, rule: str, now: int) -> None:
        """What a rule holds is due, whatever it waits for."""
        for held in self.aside:
            held.due = held.due or (held.rule == rule and held.deadline is not None)
        for _, halted in self.halted():
            if halted.rule == rule:
                halted.until, halted.decided = now, True

    def halted(self) -> Iterator[tuple[OutgoingFrame, Halted]]:
        """Yield the frames about which somebody is to decide, in their order, and where they wait."""
        for frame in self.in_order:
            if (halted := frame.delivery.halted) is not None and not halted.decided:
                yield frame, halted

    def remove(self, frame: OutgoingFrame) -> list[OutgoingFrame]:
        """Take out a frame that is queued. Returns those behind it."""
        place = self.in_order.index(frame)
        del self.in_order[place]
        self.bytes -= frame.cost
        return list(self.in_order)[place:]

    def next(self, now: int) -> OutgoingFrame | None:
        """The next frame whose time has come, taken out."""
        if self.in_order and self.in_order[0].delivery.due <= now:
            frame = self.in_order.popleft()
            self.bytes -= frame.cost
            return frame
        return None

    def put_back(self, frame: OutgoingFrame) -> None:
        """Put a frame, or its rest, in front of all others."""
        self.in_order.appendleft(frame)
        self.bytes += frame.cost

    def passed(self) -> None:
        """Count a message that left against those that stand aside until a number has passed."""
        for held in self.aside:
            if held.remaining and held.aside.until is None:
                held.remaining -= 1
                held.due = not held.remaining

    def wake(self) -> int | None:
        """When something will be due, in ns; None if nothing waits for a time."""
        times = [held.deadline for held in self.aside if held.deadline is not None]
        if self.in_order:
            times.append(self.in_order[0].delivery.due)
        return min(times, default=None)

    def end(self, now: int) -> None:
        """Nothing more will arrive in this direction: what can't come need not be waited for."""
        self.ending = True
        for held in self.aside:
            waits = held.aside.until is not None or held.aside.passing is not None
            if waits and held.aside.same == "connection":
                held.deadline, held.ended = now, True
        for rule in list(self.batches):
            self.complete(rule)

    def give_up(self, now: int) -> None:
        """Nobody waits any longer for what somebody was to decide about."""
        for _, halted in self.halted():
            halted.until, halted.ended = now, True

    def keep(self, rules: Collection[str], direction: Direction) -> None:
        """Queue what other rules than these hold back, before all that arrived after it.

        A frame that was delayed keeps its time as long as one of the rules that fired on it is kept.
        """
        freed: list[OutgoingFrame] = []
        for held in [held for held in self.aside if held.rule not in rules]:
            self.take(held)
            freed.append(held.frame)
        for rule in [rule for rule in self.batches if rule not in rules]:
            self.complete(rule)
        for frame in freed:
            self.rejoin(frame)
        waiting = [*self.in_order, *(held.frame for held in self.aside)]
        for frame in waiting:
            halted = frame.delivery.halted  # decided or not
            if halted is not None and halted.rule not in rules:
                frame.delivery.halted = None
            fired = frame.rules
            if direction == "request" and frame.pending is not None:
                fired = frame.pending.rules
            if fired and not any(rule in rules for rule in fired):
                frame.delivery.not_before = 0
                frame.delivery.effects.hang_up = None

    def lose(self) -> list[OutgoingFrame]:
        """A message is lost: what stands aside would leave behind it, and is taken out too.

        What is queued came before it and still leaves.
        """
        self.lost = True
        frames = [held.frame for held in self.aside]
        for held in list(self.aside):
            self.take(held)
        return frames

    def abandon(self) -> list[OutgoingFrame]:
        """Everything that waits, taken out: the connection is over."""
        frames = [*self.in_order, *self.lose()]
        self.in_order.clear()
        self.batches.clear()
        self.bytes = 0
        return frames
