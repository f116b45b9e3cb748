"""The state of one connection, which all its parts work on."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Final, Literal

from barnabas.captures.kafka.pairing.in_flight import Pairing, Pending
from barnabas.captures.kafka.sasl import Sasl
from barnabas.captures.summary.api_stats import ApiStats
from barnabas.proxy.connection.ingress import Ingress
from barnabas.proxy.connection.response_order import ResponseOrder
from barnabas.proxy.connection.send_queue import SendQueue
from barnabas.proxy.connection.shared_state import SharedState
from barnabas.proxy.connection.totals import Totals
from barnabas.proxy.edits.topology import Find
from barnabas.proxy.rules.candidates import Candidates
from barnabas.proxy.rules.plan import Plan
from barnabas.proxy.rules.prefix_cache import KnownPrefix
from barnabas.proxy.rules.rule import Counts
from barnabas.specs.broker_addresses import Resolve
from barnabas.specs.frames import Direction
from barnabas.specs.malformed import Malformed

MIB: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """What bounds a connection's memory, in bytes (and messages)."""

    frame: int = 100 * MIB
    """The largest frame; Kafka's own default for socket.request.max.bytes is the same."""
    queued: int = 16 * MIB
    """Frames that wait, in each direction, with what they cost beside their bytes, before reading
    pauses."""
    waiting: int = 10_000
    """Requests without a response before reading pauses."""
    whole: int = MIB // 8
    """The largest response that is whole before it leaves if node endpoints may stand at its end; about what
    is read at once. Of a larger one its tail is."""
    copy: int = 4 * MIB
    """The largest frame of which log and control get a copy; of larger ones they show sizes."""


class Phase(Enum):
    """What a connection does with the bytes that arrive."""

    UNDECIDED = "undecided"
    """Its first bytes decide whether it speaks Kafka's protocol."""
    KAFKA = "kafka"
    """It takes frames apart."""
    FOREIGN = "foreign"
    """It passes all bytes unchanged: it does not speak Kafka's protocol."""
    SILENT = "silent"
    """It discards all bytes, and neither side is told: a rule made it a black hole."""
    CLOSED = "closed"
    """Both sides are closed, or about to be."""


Event = Literal["kafka", "foreign", "black hole", "close"]

TRANSITIONS: Final[dict[tuple[Phase, Event], Phase]] = {
    (Phase.UNDECIDED, "kafka"): Phase.KAFKA,
    (Phase.UNDECIDED, "foreign"): Phase.FOREIGN,
    (Phase.KAFKA, "black hole"): Phase.SILENT,
    (Phase.SILENT, "black hole"): Phase.SILENT,
    (Phase.CLOSED, "black hole"): Phase.CLOSED,
    **{(phase, "close"): Phase.CLOSED for phase in Phase},
}
"""The phase that follows an event; what is not listed cannot happen."""


@dataclass(slots=True)
class Reply:
    """What happens to the response to one request, if it does not pass as the broker sends it."""

    unwanted: bool = False
    """The client does not wait for the response: it is taken out."""
    lost_by: str = ""
    """The rule that loses the response."""
    body: bytes | None = None
    """The body of the proxy's own answer: the request does not reach the broker."""


@dataclass(slots=True, eq=False, kw_only=True)
class State:
    """One connection's state."""

    number: int
    client: str
    broker: int | None
    plan: Plan
    shared: SharedState
    tally: ApiStats
    totals: Totals
    resolve: Resolve
    find: Find
    controller: bool = False
    """Whether `broker` is the id of a controller, which may be a broker's, too."""
    observed: bool = False
    """Whether every exchange is reported."""
    rehearses: bool = False
    """Whether this has passed already, and no client hears of it: see `barnabas.proxy.rehearsal`."""
    limits: Limits = Limits()
    phase: Phase = Phase.KAFKA
    client_id: str | None = None
    ordinal: int = 0
    """Of the connection among that client's to that broker."""
    counts: Counts = field(default_factory=Counts)
    candidates: Candidates = field(init=False)
    known_prefixes: dict[int, KnownPrefix] = field(default_factory=dict)
    """Requests that pass unread, by `plan.code`; filled as they are met."""
    passing_sizes: dict[int, tuple[range, bool]] = field(default_factory=dict)
    """The sizes of responses that pass unread, and whether their tail is wanted, by `plan.code`; filled as
    they are met."""
    certified: str | None = None
    """Whom the client's certificate names, if it had to show one."""
    sasl: Sasl = field(default_factory=Sasl)
    """What is known of the client's authentication."""
    pairing: Pairing = field(default_factory=lambda: Pairing(limit=1 << 31))
    """Requests that wait for their responses; reading pauses long before its limit."""
    replies: dict[Pending, Reply] = field(default_factory=dict)
    """Requests whose responses do not pass as the broker sends them."""
    order: ResponseOrder = field(default_factory=ResponseOrder)
    """The responses that wait for those to earlier requests."""
    identified: bool = False
    """Whether a request's header has been read, so that the client id is known."""
    several: bool = False
    """Whether several client ids have been seen, as no client of Kafka's does."""
    raw_tokens: bool = False
    """Whether frames without headers may come: SaslHandshake v0 is followed by such tokens, and
    GSSAPI of 0.9 begins with one."""
    not_offered: str = ""
    """The first request of a version that is not offered: nothing behind it is read."""
    halts: int = 0
    """Messages that waited at a breakpoint so far."""
    kept: int = 0
    """Bytes of bodies of requests that wait for their responses, and of the proxy's own answers."""
    ingress: dict[Direction, Ingress] = field(
        default_factory=lambda: {"request": Ingress(), "response": Ingress()}
    )
    queues: dict[Direction, SendQueue] = field(
        default_factory=lambda: {"request": SendQueue(), "response": SendQueue()}
    )
    until: int | None = None
    """When a silent connection is closed."""
    stalled: dict[Direction, int] = field(default_factory=dict)
    """Until when nothing is read from the sender of a direction."""
    apart: dict[Direction, int] = field(default_factory=dict)
    """Until when no byte may pass in a direction: clients and brokers are isolated."""

    def __post_init__(self) -> None:
        self.shared.add(self.number)
        self.reset_caches()

    @property
    def name(self) -> str:
        """How lines for a person name the connection."""
        client = f"{self.client_id}@{self.client}" if self.client_id else self.client
        return f"connection {self.number} ({client})"

    @property
    def user(self) -> str | None:
        """Who is authenticated: as for brokers, by SASL where the client begins it."""
        return self.sasl.authenticated if self.sasl.mechanism else self.certified

    @property
    def over(self) -> bool:
        """Whether both sides are closed, or about to be."""
        return self.phase is Phase.CLOSED

    @property
    def deaf(self) -> bool:
        """Whether what arrives is discarded."""
        return self.phase is Phase.SILENT or self.phase is Phase.CLOSED

    @property
    def skims(self) -> bool:
        """Whether frames may pass by their headers alone, if nothing waits to leave before them."""
        return (
            self.phase is Phase.KAFKA
            and self.identified
            and not (
                self.observed
                or self.replies
                or self.order.expected
                or self.raw_tokens
                or self.not_offered
                or self.shared.partitions
            )
        )

    def on(self, event: Event) -> None:
        """Enter the phase that follows an event.

        Raises:
            KeyError: The event cannot happen in this phase.
        """
        self.phase = TRANSITIONS[self.phase, event]

    def reply(self, pending: Pending) -> Reply:
        """Return what happens to the response to a request, to be filled in."""
        return self.replies.setdefault(pending, Reply())

    def is_unwanted(self, pending: Pending) -> bool:
        """Return whether the response to a request is taken out."""
        reply = self.replies.get(pending)
        return reply is not None and reply.unwanted

    def reset_caches(self) -> None:
        """Forget which messages pass unread: the rules or the client are others."""
        self.known_prefixes = {}
        self.passing_sizes = {}
        self.candidates = Candidates(self.plan.rules, self.broker, self.ordinal)

    def identify(self, client_id: str | None) -> None:
        """The client says who it is."""
        self.client_id = client_id
        self.ordinal = self.shared.ordinal(client_id, self.broker)
        self.reset_caches()

    def keep(self, pending: Pending, body: bytes | None) -> None:
        """Keep a request's body until its response has come, if a rule asks for it then, or for log and
        control if there is room: those do without."""
        pending.body = None
        if body is None:
            return
        room = min(self.limits.copy, self.limits.queued - self.kept)
        shown = self.observed and len(body) <= room
        if shown or self.plan.asks(pending.key, pending.version):
            pending.body = body
            self.kept += len(body)

    def hide(self, direction: Direction, key: int, version: int) -> bool:
        """Whether a capture must not have the present frame as it is: then it is to be whole.

        `key` may be one of those in `barnabas.captures.writing.masking` that stand for none.
        """
        hides = self.plan.hides
        if hides is None or not hides(direction, key):
            return False
        self.ingress[direction].hidden = (key, version)
        return True

    def why(self, problem: Exception) -> str:
        """Why bytes can't be read, without them if payload is hidden."""
        if isinstance(problem, Malformed) and not self.plan.quotes:
            return problem.place
        return str(problem)
