"""The state of one connection, which all modules of the package work on."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Final, Literal

from barnabas.captures.kafka.pairing.in_flight import Pairing, Pending
from barnabas.captures.kafka.sasl import Sasl
from barnabas.captures.summary.api_stats import ApiStats
from barnabas.proxy.connection.batch_order import BatchOrder
from barnabas.proxy.connection.ingress import Ingress
from barnabas.proxy.connection.response_order import ResponseOrder
from barnabas.proxy.connection.send_queue import SendQueue
from barnabas.proxy.connection.shared_state import SharedState
from barnabas.proxy.connection.totals import Totals
from barnabas.proxy.edits.topology import FindListener
from barnabas.proxy.effects import Amend
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
    """The bounds of a connection's memory, in bytes and messages."""

    frame: int = 100 * MIB
    """The largest frame; Kafka's default of socket.request.max.bytes is the same."""
    queued: int = 16 * MIB
    """The memory of waiting frames, in each direction, above which reading pauses."""
    waiting: int = 10_000
    """The number of requests without a response at which reading pauses."""
    whole: int = MIB // 8
    """The largest response that is collected whole if node endpoints may stand at its end; about the size of
    a read. Of a larger one the tail is collected."""
    copy: int = 4 * MIB
    """The largest frame that log and control port get a copy of; of larger ones they show the size."""


class Phase(Enum):
    """The treatment of the bytes that arrive on a connection."""

    UNDECIDED = "undecided"
    """The first bytes decide whether the connection speaks Kafka's protocol."""
    KAFKA = "kafka"
    """The bytes are split into frames."""
    FOREIGN = "foreign"
    """All bytes pass unchanged: the connection does not speak Kafka's protocol."""
    SILENT = "silent"
    """All bytes are discarded without notice to either side: a rule made the connection a black hole."""
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
"""The phase that follows an event; other transitions cannot happen."""


@dataclass(slots=True)
class Reply:
    """The treatment of the response to one request, if it does not pass as the broker sends it."""

    unwanted: bool = False
    """Whether the response is removed: the client does not wait for it."""
    lost_by: str = ""
    """The rule that loses the response."""
    body: bytes | None = None
    """The body of the proxy's own response: the request does not reach the broker."""
    amends: tuple[tuple[str, Amend], ...] = ()
    """The changes of the response, each with its rule, in the order in which the rules fired."""


@dataclass(slots=True, eq=False, kw_only=True)
class State:
    """The state of one connection."""

    number: int
    client: str
    broker: int | None
    plan: Plan
    shared: SharedState
    tally: ApiStats
    totals: Totals
    resolve: Resolve
    find: FindListener
    controller: bool = False
    """Whether `broker` is the id of a controller; brokers and controllers may share ids."""
    observed: bool = False
    """Whether every exchange is reported."""
    rehearses: bool = False
    """Whether the traffic comes from a capture, see `barnabas.proxy.rehearsal`."""
    limits: Limits = Limits()
    phase: Phase = Phase.KAFKA
    client_id: str | None = None
    ordinal: int = 0
    """The ordinal of the connection among that client's to that broker."""
    counts: Counts = field(default_factory=Counts)
    candidates: Candidates = field(init=False)
    known_prefixes: dict[int, KnownPrefix] = field(default_factory=dict)
    """The beginnings of requests that pass unread, by `plan.code`."""
    passing_sizes: dict[int, tuple[range, bool]] = field(default_factory=dict)
    """The sizes of responses that pass unread, and whether their tail must be read, by `plan.code`."""
    certified: str | None = None
    """The user that the client's certificate names, if the proxy requires one."""
    sasl: Sasl = field(default_factory=Sasl)
    """The state of the client's SASL authentication."""
    pairing: Pairing = field(default_factory=lambda: Pairing(limit=1 << 31))
    """The requests that wait for their responses; reading pauses long before its limit."""
    replies: dict[Pending, Reply] = field(default_factory=dict)
    """The treatment of responses that do not pass as the broker sends them, by request."""
    batch_order: BatchOrder = field(default_factory=BatchOrder)
    """The producers whose first batches were refused."""
    order: ResponseOrder = field(default_factory=ResponseOrder)
    """The responses that wait for those to earlier requests."""
    identified: bool = False
    """Whether a request's header has been read, so that the client id is known."""
    several_client_ids: bool = False
    """Whether the connection had several client ids, which no Kafka client does."""
    raw_tokens: bool = False
    """Whether frames without headers may arrive: such tokens follow SaslHandshake v0, and GSSAPI of 0.9
    begins with one."""
    not_offered: str = ""
    """The first request of a version that is not offered; requests after it are not read."""
    halts: int = 0
    """The number of messages that have waited at breakpoints."""
    retained_bytes: int = 0
    """The bytes of retained request bodies and of the proxy's own responses."""
    ingress: dict[Direction, Ingress] = field(
        default_factory=lambda: {"request": Ingress(), "response": Ingress()}
    )
    queues: dict[Direction, SendQueue] = field(
        default_factory=lambda: {"request": SendQueue(), "response": SendQueue()}
    )
    closes_at: int | None = None
    """The time at which a silent connection is closed, in ns."""
    stalled_until: dict[Direction, int] = field(default_factory=dict)
    """The time until which the sender of a direction is not read from, in ns."""
    isolated_until: dict[Direction, int] = field(default_factory=dict)
    """The time until which no byte may pass in a direction, in ns: a partition is in force."""

    def __post_init__(self) -> None:
        self.shared.add(self.number)
        self.reset_caches()

    @property
    def name(self) -> str:
        """Return the name of the connection in lines for a person."""
        client = f"{self.client_id}@{self.client}" if self.client_id else self.client
        return f"connection {self.number} ({client})"

    @property
    def user(self) -> str | None:
        """Return the authenticated user.

        It comes from SASL if the client begins it, else from the client's certificate, as in brokers.
        """
        return self.sasl.authenticated if self.sasl.mechanism else self.certified

    @property
    def over(self) -> bool:
        """Return whether both sides are closed, or about to be."""
        return self.phase is Phase.CLOSED

    @property
    def deaf(self) -> bool:
        """Return whether arriving bytes are discarded."""
        return self.phase is Phase.SILENT or self.phase is Phase.CLOSED

    @property
    def skims(self) -> bool:
        """Return whether frames may pass by their headers alone, if no frame waits to leave before them."""
        return (
            self.phase is Phase.KAFKA
            and self.identified
            and not (
                self.observed
                or self.replies
                or self.batch_order
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
        """Return the treatment of the response to a request, to be filled in."""
        return self.replies.setdefault(pending, Reply())

    def forget_reply(self, pending: Pending) -> Reply | None:
        """Forget the treatment of the response to a request, and return it; None if it has none."""
        reply = self.replies.pop(pending, None)
        if reply is not None:
            self.retained_bytes -= sum(amend.size for _, amend in reply.amends)
        return reply

    def is_unwanted(self, pending: Pending) -> bool:
        """Return whether the response to a request is removed."""
        reply = self.replies.get(pending)
        return reply is not None and reply.unwanted

    def reset_caches(self) -> None:
        """Forget which messages pass unread: the rules or the client have changed."""
        self.known_prefixes = {}
        self.passing_sizes = {}
        self.candidates = Candidates(self.plan.rules, self.broker, self.ordinal)

    def identify(self, client_id: str | None) -> None:
        """Set the client id that a request's header names."""
        self.client_id = client_id
        self.ordinal = self.shared.ordinal(client_id, self.broker)
        self.reset_caches()

    def retain_body(self, pending: Pending, body: bytes | None) -> None:
        """Retain a request's body until its response has arrived.

        A rule that needs the body always gets it; the log and the control port get it only while there is
        room.
        """
        pending.body = None
        if body is None:
            return
        room = min(self.limits.copy, self.limits.queued - self.retained_bytes)
        fits = self.observed and len(body) <= room
        if fits or self.plan.asks(pending.key, pending.version):
            pending.body = body
            self.retained_bytes += len(body)

    def hide(self, direction: Direction, key: int, version: int) -> bool:
        """Return whether the capture must mask the present frame, which must then be whole.

        `key` may be a stand-in of `barnabas.captures.writing.masking`.
        """
        hides = self.plan.hides
        if hides is None or not hides(direction, key):
            return False
        self.ingress[direction].hidden = (key, version)
        return True

    def reason(self, problem: Exception) -> str:
        """Return the reason for which bytes cannot be read; it quotes no bytes if payload is hidden."""
        if isinstance(problem, Malformed) and not self.plan.quotes:
            return problem.place
        return str(problem)
