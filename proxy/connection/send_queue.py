"""The frames of one direction that wait: in order for their time, or aside for something else.

`delay` keeps the order: frames after a delayed one wait too. `hold` and `reorder` put frames aside: frames
after them pass. Each wait has a deadline. The waiting bytes are counted, so that reading can pause.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from barnabas.proxy.connection.outgoing_frame import Halted, OutgoingFrame
from barnabas.proxy.effects import Aside, Gather
from barnabas.specs.frames import Direction


@dataclass(slots=True, eq=False)
class HeldFrame:
    """A frame that waits aside, and its release condition."""

    frame: OutgoingFrame
    aside: Aside
    rule: str
    deadline: int | None
    """The latest departure in ns; None if the frame leaves in its window's turn, see
    `barnabas.proxy.connection.windows`."""
    remaining: int = 0
    """The number of messages that must still pass the frame."""
    due: bool = False
    ended: bool = False
    """Whether the direction ended first, so that the condition cannot be met any more."""
    over: bool = False
    """Whether the frame no longer waits aside."""

    @property
    def met(self) -> bool:
        """Return whether the frame leaves because its release condition was met."""
        return self.due or self.aside.timed


@dataclass(slots=True)
class SendQueue:
    """The frames that wait to leave in one direction."""

    in_order: deque[OutgoingFrame] = field(default_factory=deque)
    aside: list[HeldFrame] = field(default_factory=list)
    batches: dict[str, list[tuple[OutgoingFrame, int]]] = field(default_factory=dict)
    """By rule: queued frames that wait for each other, each with its departure without the batch."""
    bytes: int = 0
    ending: bool = False
    """Whether no more frames will arrive in this direction."""
    lost: bool = False
    """Whether a message was lost: no later message leaves."""

    @property
    def idle(self) -> bool:
        """Return whether no frame waits."""
        return not (self.in_order or self.aside)

    @property
    def busy(self) -> bool:
        """Return whether a frame that arrives now must not pass at once."""
        return self.lost or not self.idle

    def append(self, frame: OutgoingFrame) -> None:
        """Queue a frame after all that wait."""
        self.in_order.append(frame)
        self.bytes += frame.cost

    def rejoin(self, frame: OutgoingFrame) -> None:
        """Queue a frame that waited aside before all frames that arrived after it."""
        later = (
            at
            for at, other in enumerate(self.in_order)
            if other.ordinal > frame.ordinal and not other.delivery.gone
        )
        self.in_order.insert(next(later, len(self.in_order)), frame)
        self.bytes += frame.cost

    def set_aside(self, held: HeldFrame) -> None:
        """Let a frame wait aside."""
        self.aside.append(held)
        self.bytes += held.frame.cost

    def batch(self, rule: str, gather: Gather, frame: OutgoingFrame, now: int) -> None:
        """Queue a frame that waits, with all frames after it, until its rule's batch is complete."""
        self._forget_batches(now)
        batch = self.batches.setdefault(rule, [])
        batch.append((frame, frame.delivery.not_before))
        until = batch[0][0].delivery.not_before if len(batch) > 1 else now + gather.at_most
        frame.delivery.not_before = max(frame.delivery.not_before, until)
        self.append(frame)
        if len(batch) >= gather.size:
            self.complete(rule)

    def complete(self, rule: str) -> None:
        """Give the frames of a rule's batch the times that they would have without it."""
        for frame, at in self.batches.pop(rule):
            frame.delivery.not_before = at

    def _forget_batches(self, now: int) -> None:
        """Forget the batches whose time is up before they were complete."""
        for rule, batch in list(self.batches.items()):
            if batch[0][0].delivery.not_before <= now:
                del self.batches[rule]

    def expire(self, now: int) -> list[HeldFrame]:
        """Queue the frames whose wait aside is over, and return them."""
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

    def take(self, held: HeldFrame) -> None:
        """Remove a frame from those that wait aside."""
        self.aside.remove(held)
        self.bytes -= held.frame.cost
        held.over = True

    def release(self, rule: str, now: int) -> None:
        """Make the frames that a rule holds due, whatever they wait for."""
        for held in self.aside:
            held.due = held.due or (held.rule == rule and held.deadline is not None)
        for _, halted in self.halted():
            if halted.rule == rule:
                halted.until, halted.decided = now, True

    def halted(self) -> Iterator[tuple[OutgoingFrame, Halted]]:
        """Yield the queued frames that wait at breakpoints, in order, each with its breakpoint."""
        for frame in self.in_order:
            if (halted := frame.delivery.halted) is not None and not halted.decided:
                yield frame, halted

    def remove(self, frame: OutgoingFrame) -> list[OutgoingFrame]:
        """Remove a queued frame and return the frames after it."""
        index = self.in_order.index(frame)
        del self.in_order[index]
        self.bytes -= frame.cost
        return list(self.in_order)[index:]

    def next(self, now: int) -> OutgoingFrame | None:
        """Remove and return the first frame if its time has come; None otherwise."""
        if self.in_order and self.in_order[0].delivery.due <= now:
            frame = self.in_order.popleft()
            self.bytes -= frame.cost
            return frame
        return None

    def put_back(self, frame: OutgoingFrame) -> None:
        """Put a frame, or its rest, at the head of the queue."""
        self.in_order.appendleft(frame)
        self.bytes += frame.cost

    def passed(self) -> None:
        """Count a departed message for the frames that wait until a number of messages has passed."""
        for held in self.aside:
            if held.remaining and held.aside.until is None:
                held.remaining -= 1
                held.due = not held.remaining

    def wake(self) -> int | None:
        """Return the next time at which a frame is due, in ns; None if no frame waits for a time."""
        times = [held.deadline for held in self.aside if held.deadline is not None]
        if self.in_order:
            times.append(self.in_order[0].delivery.due)
        return min(times, default=None)

    def end(self, now: int) -> None:
        """End the direction: frames no longer wait for messages that cannot arrive any more."""
        self.ending = True
        for held in self.aside:
            waits = held.aside.until is not None or held.aside.passing is not None
            if waits and held.aside.same == "connection":
                held.deadline, held.ended = now, True
        for rule in list(self.batches):
            self.complete(rule)

    def give_up(self, now: int) -> None:
        """Release the frames at breakpoints: no client waits for them any more."""
        for _, halted in self.halted():
            halted.until, halted.ended = now, True

    def keep(self, rules: Collection[str], direction: Direction) -> None:
        """Queue the frames that removed rules held, before all frames that arrived after them.

        `rules` are the names of the retained rules. A delayed frame keeps its time while one of the rules
        that fired on it is retained.
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
        """Lose the direction's further messages: remove and return the frames aside, which would leave later.

        Queued frames arrived before the lost message and still leave.
        """
        self.lost = True
        frames = [held.frame for held in self.aside]
        for held in list(self.aside):
            self.take(held)
        return frames

    def abandon(self) -> list[OutgoingFrame]:
        """Remove and return all waiting frames: the connection is closed."""
        frames = [*self.in_order, *self.lose()]
        self.in_order.clear()
        self.batches.clear()
        self.bytes = 0
        return frames
