"""Effects: what a fault asks the connection to do with a message.

A fault is a frozen configuration and one pure function that returns effects. It never touches a socket, a
clock or a queue; `proxy.connection.dispatch` carries effects out. `str(effect)` describes the effect in a few
words, for the log and for comments in a capture. Times are in ns.

>>> str(Wait(213_400_000)), str(Aside(5_000_000_000, passing=2))
('delay 213 ms', 'hold until 2 more have passed, at most 5 s')
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, NamedTuple, get_args

from barnabas.plural import plural
from barnabas.proxy.matching.match import Match, Same
from barnabas.proxy.matching.units import show_duration
from barnabas.specs.frames import Direction


class Wait(NamedTuple):
    """The message leaves this long after it arrived, never early; later messages wait too."""

    ns: int

    def __str__(self) -> str:
        return f"delay {show_duration(self.ns)}"


class Aside(NamedTuple):
    """The message waits for one of these conditions, or only for its time; later messages pass."""

    at_most: int
    """The longest wait in ns."""
    until: Match | None = None
    """The message leaves right after the next message that matches."""
    same: Same = "connection"
    """The scope in which that message must pass."""
    passing: int | None = None
    """The message leaves after this many messages of its direction on its connection, or after this many
    matches of `until`."""
    restore: bool = True
    """Whether responses to reordered requests leave in the client's order."""
    control: bool = False
    """Whether the message waits for the control port."""

    @property
    def timed(self) -> bool:
        """Return whether the message waits for its time alone."""
        return self.until is None and self.passing is None and not self.control

    def __str__(self) -> str:
        scope = "anywhere" if self.same == "any" else f"same {self.same}"
        if self.control:
            condition = "until released"
        elif self.passing is not None:
            among = "" if self.until is None else f" ({scope})"
            condition = f"until {self.passing} more have passed{among}"
        elif self.until is not None:
            condition = f"until {self.until.describe()} ({scope})"
        else:
            return f"hold {show_duration(self.at_most)}"
        return f"hold {condition}, at most {show_duration(self.at_most)}"


class Halt(NamedTuple):
    """The message waits for a person's decision; later messages wait too."""

    at_most: int
    """The time in ns after which the message leaves unchanged."""

    def __str__(self) -> str:
        return f"breakpoint, at most {show_duration(self.at_most)}"


class Shuffle(NamedTuple):
    """Messages gather until the window is full, or its time is up, and leave in this order.

    The first message of a window fixes the order: a permutation of range(size of the window).
    """

    order: tuple[int, ...]
    at_most: int
    restore: bool = True
    scope: str = ""
    """The name of what shares the window, e.g. `client app`; "" for one connection."""

    def __str__(self) -> str:
        among = f" of {self.scope}" if self.scope else ""
        return f"shuffle {len(self.order)}{among}, at most {show_duration(self.at_most)}"


class Gather(NamedTuple):
    """The message and all later ones wait until so many have gathered, or the time is up.

    Then they leave at once.
    """

    size: int
    at_most: int

    def __str__(self) -> str:
        return f"gather {self.size}, at most {show_duration(self.at_most)}"


class Lose(NamedTuple):
    """The message never leaves, nor does any later message of its direction.

    TCP can't lose one message out of a stream. `selective` removes this exchange alone.
    """

    selective: bool = False

    def __str__(self) -> str:
        return "drop (this exchange only)" if self.selective else "drop"


class HangUp(NamedTuple):
    """Both sides of the connection are closed; with `forward` after this message has left."""

    forward: bool = False
    reset: bool = False
    """Whether to close with RST instead of FIN: bytes in transit are lost."""

    def __str__(self) -> str:
        end = "reset" if self.reset else "close"
        return f"{end} after this message" if self.forward else end


class Break(NamedTuple):
    """Only the first bytes of the message leave; then both sides are closed."""

    keep: int
    """The number of bytes of the frame that leave, including the 4 of its size."""

    def __str__(self) -> str:
        return f"truncate after {plural(self.keep, 'byte')}"


class HalfClose(NamedTuple):
    """After the message nothing more leaves in its direction, and its receiver sees a FIN.

    The other direction continues.
    """

    def __str__(self) -> str:
        return "half-close after this message"


class Become(NamedTuple):
    """The message is changed, also for the faults and rules that follow."""

    body: bytes
    what: str
    """A description of the change."""
    head: bytes | None = None
    """The new header; None if it stays."""

    def __str__(self) -> str:
        return self.what


class Answer(NamedTuple):
    """The request does not reach the broker: the proxy sends this body when it is the response's turn.

    A Produce with acks=0 gets no response: it is only removed.
    """

    body: bytes

    def __str__(self) -> str:
        return f"answer with {plural(len(self.body), 'byte')}"


class Amend(NamedTuple):
    """The request reaches the broker; its response is changed before rules about responses see it."""

    change: Callable[[bytes], bytes]
    """Returns the new body for the body of the broker's response. Raises proxy.matching.message.Unable."""
    description: str
    """A description of the change."""
    size: int = 0
    """The memory in bytes that the change takes until the response arrives."""

    def __str__(self) -> str:
        return self.description


class LoseReply(NamedTuple):
    """The request reaches the broker; when its response arrives, it is lost and both sides are closed."""

    def __str__(self) -> str:
        return "lose the response"


class Repeat(NamedTuple):
    """The message leaves so many times more.

    A broker's responses to the repetitions of a request are removed: the client has sent it once.
    """

    times: int

    def __str__(self) -> str:
        return f"repeat {plural(self.times, 'time')}"


class Insert(NamedTuple):
    """A frame that the proxy makes leaves after the message, or in the other direction at once.

    A broker's response to it is removed.
    """

    direction: Direction
    frame: bytes
    """The frame with its size."""

    def __str__(self) -> str:
        return f"inject a {self.direction} of {plural(len(self.frame), 'byte')}"


class Schedule(NamedTuple):
    """The message leaves at a time that a function computes from its departure without the effect."""

    leave: Callable[[int], int]
    """Returns the departure for the departure without this effect, both in ns since the epoch. It is called
    once, when it is the message's turn: a response may have to wait for responses to earlier requests."""
    what: str
    """A description of the effect."""

    def __str__(self) -> str:
        return self.what


class Pieces(NamedTuple):
    """The message leaves in pieces of so many bytes, so many ns apart."""

    size: int
    every: int

    def __str__(self) -> str:
        every = show_duration(self.every)
        return f"slice into pieces of {plural(self.size, 'byte')}, {every} apart"


class Stall(NamedTuple):
    """For so many ns nothing is read from the sender in this direction."""

    direction: Direction
    ns: int

    def __str__(self) -> str:
        return f"stop reading {self.direction}s for {show_duration(self.ns)}"


class Partition(NamedTuple):
    """For so many ns no byte passes in these directions between such clients and brokers.

    It applies to all connections; None stands for all clients or all brokers. What was sent meanwhile arrives
    afterwards.
    """

    ns: int
    clients: tuple[str, ...] | None
    brokers: frozenset[int] | None
    ways: tuple[Direction, ...]

    def __str__(self) -> str:
        clients = " or ".join(self.clients or ("all clients",))
        brokers = " and ".join(map(str, sorted(self.brokers))) if self.brokers else "all"
        direction = "" if len(self.ways) == 2 else f", {self.ways[0]}s only"
        return f"isolate {clients} from brokers {brokers} for {show_duration(self.ns)}{direction}"


class Reject(NamedTuple):
    """A connection is refused: by an RST, a FIN, or no answer for a time. It is about connections only."""

    how: Literal["reset", "close", "hang"]
    at_most: int

    def __str__(self) -> str:
        lasting = f" for {show_duration(self.at_most)}" if self.how == "hang" else ""
        return f"refuse the connection ({self.how}){lasting}"


class Silence(NamedTuple):
    """From here on nothing passes in either direction, not even a FIN.

    When the time is up, both sides are closed.
    """

    at_most: int

    def __str__(self) -> str:
        return f"blackhole for {show_duration(self.at_most)}"


Effect = (
    Wait | Aside | Halt | Shuffle | Gather | Lose | HangUp | Break | HalfClose | Become | Answer | Amend
    | LoseReply | Repeat | Insert | Schedule | Pieces | Stall | Partition | Reject | Silence
)  # fmt: skip

EFFECTS: Final = get_args(Effect)

Effects = tuple[Effect, ...]
"""The effects that a fault returns, in order."""

FINAL: Final = (Lose, HangUp, Break, Answer, Silence)
"""The effects that end a message: no later fault or rule applies to it."""
