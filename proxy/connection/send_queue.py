"""One direction's way out: what waits for its time, in order, and what stands aside.

`delay` keeps order: what is behind waits. `hold` and `reorder` step aside: what is behind passes.
Both are bounded by a deadline each; the bytes that wait are counted, so that reading can pause.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Final

from barnabas.captures.kafka.pairing.in_flight import Pending
from barnabas.proxy.effects import Aside, Gather, HangUp, Pieces
from barnabas.proxy.matching.message import Message

OVERHEAD: Final = 1 << 10
"""What a frame that waits costs beside its bytes: a small one is mostly its entry here."""


@dataclass(slots=True, eq=False)
class Item:
    """A whole frame that is to leave (size prefix included)."""

    data: bytes
    ordinal: int
    """The frame's number among those that arrived in its direction; -1 if the proxy made it."""
    arrived: int
    at: int = 0
    """Not before this time."""
    pending: Pending | None = None
    unanswered: bool = False
    """A Produce request with acks=0: no response will come."""
    unasked: bool = False
    """It came with acks=0 and leaves otherwise: the client waits for no response."""
    message: Message | None = None
    response_body: bytes | None = None
    changed: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    late: bool = False
    hang_up: HangUp | None = None
    """The connection ends with it."""
    half_close: bool = False
    """This direction ends with it."""
    told: bool = False
    """Its exchange is accounted for already."""
    copies: int = 0
    """How many times more it leaves."""
    pieces: Pieces | None = None
    gone: int = 0
    """How many of its bytes have left, in pieces: nothing may come in between."""

    @property
    def cost(self) -> int:
        """Bytes of memory that it takes while it waits."""
        return OVERHEAD + len(self.data)


@dataclass(slots=True, eq=False)
class Held:
    """A frame that stands aside, and what it waits for."""

    item: Item
    aside: Aside
    rule: str
    deadline: int | None
    """When it leaves at the latest; None: in its turn, see `barnabas.proxy.connection.shared_windows`."""
    left: int = 0
    """How many messages must still pass it, where that is what it waits for."""
    due: bool = False
    over: bool = False
    """It stands aside no longer."""


@dataclass(slots=True)
class Window:
    """Frames gathered to leave in another order."""

    order: tuple[int, ...]
    deadline: int
    items: list[Item] = field(default_factory=list)

    def shuffled(self) -> list[Item]:
        """The frames in the window's order; one that did not fill up keeps to it as far as it goes."""
        return [self.items[place] for place in self.order if place < len(self.items)]


@dataclass(slots=True)
class Outlet:
    """What waits to leave in one direction."""

    queue: deque[Item] = field(default_factory=deque)
    aside: list[Held] = field(default_factory=list)
    windows: dict[str, Window] = field(default_factory=dict)
    batches: dict[str, list[tuple[Item, int]]] = field(default_factory=dict)
    """By rule: frames of the queue that wait for each other, with the time each would have otherwise."""
    bytes: int = 0
    ending: bool = False
    """Nothing more will arrive in this direction."""
    lost: bool = False
    """A message was lost: nothing behind it leaves."""

    @property
    def idle(self) -> bool:
        """Whether nothing waits."""
        return not (self.queue or self.aside or self.windows)

    @property
    def busy(self) -> bool:
        """Whether a frame that comes now must not pass at once."""
        return self.lost or not self.idle

    def append(self, item: Item) -> None:
        """Let a frame leave behind all that waits already, and not before its time."""
        self.queue.append(item)
        self.bytes += item.cost

    def rejoin(self, item: Item) -> None:
        """Let a frame that stood aside leave before all that came after it."""
        later = (
            at
            for at, other in enumerate(self.queue)
            if other.ordinal > item.ordinal and not other.gone
        )
        self.queue.insert(next(later, len(self.queue)), item)
        self.bytes += item.cost

    def stand(self, held: Held) -> None:
        """Let a frame stand aside."""
        self.aside.append(held)
        self.bytes += held.item.cost

    def gather(self, rule: str, window: Window, item: Item) -> None:
        """Put a frame into its rule's window; a full one is queued at once."""
        window = self.windows.setdefault(rule, window)
        window.items.append(item)
        self.bytes += item.cost
        if len(window.items) >= len(window.order):
            self._open(rule)

    def batch(self, rule: str, gather: Gather, item: Item, now: int) -> None:
        """Let a frame, and all behind it, wait until so many of its rule have gathered."""
        self._forget_batches(now)
        batch = self.batches.setdefault(rule, [])
        batch.append((item, item.at))
        item.at = max(item.at, batch[0][0].at if len(batch) > 1 else now + gather.at_most)
        self.append(item)
        if len(batch) >= gather.size:
            self.complete(rule)

    def complete(self, rule: str) -> None:
        """The frames of a batch wait for no others."""
        for item, at in self.batches.pop(rule):
            item.at = at

    def _forget_batches(self, now: int) -> None:
        """Those whose time is up did not become complete."""
        for rule in [rule for rule, batch in self.batches.items() if batch[0][0].at <= now]:
            del self.batches[rule]

    def _open(self, rule: str) -> None:
        for item in self.windows.pop(rule).shuffled():
            self.bytes -= item.cost
            self.append(item)

    def expire(self, now: int) -> list[Held]:
        """Queue what need not stand aside any longer; those held that were released."""
        self._forget_batches(now)
        for rule in [rule for rule, window in self.windows.items() if window.deadline <= now]:
            self._open(rule)
        free = [
            held
            for held in self.aside
            if held.due or (held.deadline is not None and held.deadline <= now)
        ]
        for held in free:
            self.take(held)
            (self.append if held.deadline is None else self.rejoin)(held.item)
        return free

    def take(self, held: Held) -> None:
        """Let a frame stand aside no longer."""
        self.aside.remove(held)
        self.bytes -= held.item.cost
        held.over = True

    def release(self, rule: str, now: int) -> None:
        """What a rule holds is due, whatever it waits for."""
        for held in self.aside:
            held.due = held.due or (held.rule == rule and held.deadline is not None)
        if rule in self.windows:
            self.windows[rule].deadline = now

    def next(self, now: int) -> Item | None:
        """The next frame whose time has come, taken out."""
        if self.queue and self.queue[0].at <= now:
            item = self.queue.popleft()
            self.bytes -= item.cost
            return item
        return None

    def passed(self) -> None:
        """Count a message that left against those that stand aside until a number has passed."""
        for held in self.aside:
            if held.left and held.aside.until is None:
                held.left -= 1
                held.due = not held.left

    def wake(self) -> int | None:
        """When something will be due, in ns; None if nothing waits for a time."""
        times = [held.deadline for held in self.aside if held.deadline is not None]
        times += [window.deadline for window in self.windows.values()]
        if self.queue:
            times.append(self.queue[0].at)
        return min(times, default=None)

    def lose(self) -> list[Item]:
        """A message is lost: what stands aside would leave behind it, and is taken out too.

        What is queued came before it and still leaves.
        """
        self.lost = True
        items = [held.item for held in self.aside]
        for held in list(self.aside):
            self.take(held)
        for window in self.windows.values():
            items += window.items
            self.bytes -= sum(item.cost for item in window.items)
        self.windows = {}
        return items

    def abandon(self) -> list[Item]:
        """Everything that waits, taken out: the connection is over."""
        items = [*self.queue, *self.lose()]
        self.queue.clear()
        self.batches.clear()
        self.bytes = 0
        return items
