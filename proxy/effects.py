"""Effects: what a fault asks the connection to do with a message.

A fault is a frozen configuration and one pure function that returns effects; it never touches a socket, a
clock or a queue. `proxy.connection.dispatch` carries effects out. `str(effect)` is the effect in a few words,
for the log and for comments in a capture. Times are in ns.

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
    """The message leaves this long after it arrived, never early; what is behind it waits too."""

    ns: int

    def __str__(self) -> str:
        return f"delay {show_duration(self.ns)}"


class Aside(NamedTuple):
    """The message waits for one of these, or only for its time; what is behind it passes."""

    at_most: int
    """It leaves after this time at the latest."""
    until: Match | None = None
    """It leaves right behind the next message that matches."""
    same: Same = "connection"
    """Where that message must pass."""
    passing: int | None = None
    """It leaves behind this many messages of its own direction on its connection, or (if `until` is
    given) behind this many that match."""
    restore: bool = True
    """Responses to requests that left in another order are put back into the client's order."""
    control: bool = False
    """It leaves when the control port says so."""

    @property
    def timed(self) -> bool:
        """Whether it waits for its time alone."""
        return self.until is None and self.passing is None and not self.control

    def __str__(self) -> str:
        whose = "anywhere" if self.same == "any" else f"same {self.same}"
        if self.control:
            what = "until released"
        elif self.passing is not None:
            where = "" if self.until is None else f" ({whose})"
            what = f"until {self.passing} more have passed{where}"
        elif self.until is not None:
            what = f"until {self.until.describe()} ({whose})"
        else:
            return f"hold {show_duration(self.at_most)}"
        return f"hold {what}, at most {show_duration(self.at_most)}"


class Halt(NamedTuple):
    """The message waits until somebody decides what becomes of it; what is behind it waits too."""

    at_most: int
    """It leaves as it is after this time at the latest."""

    def __str__(self) -> str:
        return f"breakpoint, at most {show_duration(self.at_most)}"


class Shuffle(NamedTuple):
    """Messages gather until the window is full, or the time is up, and leave in this order.

    The first message of a window fixes it: a permutation of range(size of the window).
    """

    order: tuple[int, ...]
    at_most: int
    restore: bool = True
    scope: str = ""
    """What shares the window, e.g. `client app`; "" for the connection alone."""

    def __str__(self) -> str:
        among = f" of {self.scope}" if self.scope else ""
        return f"shuffle {len(self.order)}{among}, at most {show_duration(self.at_most)}"


class Gather(NamedTuple):
    """The message and all behind it wait until so many have gathered, or the time is up, and then leave
    at once."""

    size: int
    at_most: int

    def __str__(self) -> str:
        return f"gather {self.size}, at most {show_duration(self.at_most)}"


class Lose(NamedTuple):
    """The message never leaves, nor does anything behind it in its direction: TCP can't lose one message
    out of a stream. `selective` takes out this exchange alone."""

    selective: bool = False

    def __str__(self) -> str:
        return "drop (this exchange only)" if self.selective else "drop"


class HangUp(NamedTuple):
    """Both sides of the connection are closed; `forward`: once this message has left."""

    forward: bool = False
    reset: bool = False
    """With RST instead of FIN: what is still on its way is lost."""

    def __str__(self) -> str:
        end = "reset" if self.reset else "close"
        return f"{end} after this message" if self.forward else end


class Break(NamedTuple):
    """Only the first bytes of the message leave; then both sides are closed."""

    keep: int
    """Bytes of the frame, the 4 of its size among them."""

    def __str__(self) -> str:
        return f"truncate after {plural(self.keep, 'byte')}"


class HalfClose(NamedTuple):
    """Once the message has left, nothing more leaves in its direction and its receiver sees a FIN;
    the other direction goes on."""

    def __str__(self) -> str:
        return "half-close after this message"


class Become(NamedTuple):
    """The message is changed, for the faults and rules that follow too."""

    body: bytes
    what: str
    """What was changed, in words."""
    head: bytes | None = None
    """The header, if that is changed."""

    def __str__(self) -> str:
        return self.what


class Answer(NamedTuple):
    """The request goes no further: the proxy sends this body when it is the response's turn.

    A Produce with acks=0 gets no answer from anybody: it is only taken out.
    """

    body: bytes

    def __str__(self) -> str:
        return f"answer with {plural(len(self.body), 'byte')}"


class LoseReply(NamedTuple):
    """The request goes its way; when its response comes, it is lost and both sides are closed."""

    def __str__(self) -> str:
        return "lose the response"


class Repeat(NamedTuple):
    """The message leaves so many times more. What a broker answers to the repetitions of a request
    is taken out: the client has asked once."""

    times: int

    def __str__(self) -> str:
        return f"repeat {plural(self.times, 'time')}"


class Insert(NamedTuple):
    """A frame that nobody sent leaves behind the message, or in the other direction at once.

    A broker's answer to it is taken out.
    """

    direction: Direction
    frame: bytes
    """With its size."""

    def __str__(self) -> str:
        return f"inject a {self.direction} of {plural(len(self.frame), 'byte')}"


class Schedule(NamedTuple):
    """The message leaves when a function says so, which is told when it would leave otherwise."""

    leave: Callable[[int], int]
    """ns since the epoch -> the same. It is called once, when it is the message's turn: a response may
    have to wait until those to earlier requests have come."""
    what: str
    """What is done, in words."""

    def __str__(self) -> str:
        return self.what


class Pieces(NamedTuple):
    """The message leaves in pieces of so many bytes, so long after each other (ns)."""

    size: int
    every: int

    def __str__(self) -> str:
        every = show_duration(self.every)
        return f"slice into pieces of {plural(self.size, 'byte')}, {every} apart"


class Stall(NamedTuple):
    """Nothing is read for so long (ns) from whoever sends in this direction."""

    direction: Direction
    ns: int

    def __str__(self) -> str:
        return f"stop reading {self.direction}s for {show_duration(self.ns)}"


class Partition(NamedTuple):
    """For so long (ns) no byte passes these ways between such clients and such brokers, on any
    connection; None: all of them. What was sent meanwhile arrives behind that."""

    ns: int
    clients: tuple[str, ...] | None
    brokers: frozenset[int] | None
    ways: tuple[Direction, ...]

    def __str__(self) -> str:
        who = " or ".join(self.clients or ("all clients",))
        where = " and ".join(map(str, sorted(self.brokers))) if self.brokers else "all"
        way = "" if len(self.ways) == 2 else f", {self.ways[0]}s only"
        return f"isolate {who} from brokers {where} for {show_duration(self.ns)}{way}"


class Reject(NamedTuple):
    """A connection is not taken (this is about connections only): RST, FIN, or nothing for a time."""

    how: Literal["reset", "close", "hang"]
    at_most: int

    def __str__(self) -> str:
        lasting = f" for {show_duration(self.at_most)}" if self.how == "hang" else ""
        return f"refuse the connection ({self.how}){lasting}"


class Silence(NamedTuple):
    """From here on nothing passes in either direction, not even a FIN; when the time is up, both sides
    are closed."""

    at_most: int

    def __str__(self) -> str:
        return f"blackhole for {show_duration(self.at_most)}"


Effect = (
    Wait | Aside | Halt | Shuffle | Gather | Lose | HangUp | Break | HalfClose | Become | Answer | LoseReply
    | Repeat | Insert | Schedule | Pieces | Stall | Partition | Reject | Silence
)  # fmt: skip

EFFECTS: Final = get_args(Effect)

Effects = tuple[Effect, ...]
"""What a fault asks for, in order."""

FINAL: Final = (Lose, HangUp, Break, Answer, Silence)
"""Behind one of these no other fault or rule has a say."""
