"""The alphabets of clients: watched requests, the responses to them, and the allowed steps after each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from barnabas.fuzz.bench_broker.offer import EVERYTHING, FIRST_TRANSACTIONS, Offer
from barnabas.specs import keys
from barnabas.specs.groups import CLASSIC_MEMBER, CONSUMER_MEMBER, NONE, Table
from barnabas.specs.groups.consumer import BEAT, JOIN, LEAVE
from barnabas.specs.registry import NAMES

OK: Final = NONE
"""The response without an error."""


class ClientAlphabet(NamedTuple):
    """The watched requests of a client, and their responses.

    Attributes:
        name: The alphabet's name.
        description: For lists.
        workload: What the client does, a function of its program.
        offer: The versions that the broker offers.
        watched: The APIs whose requests are the outputs; other requests are answered validly.
        input_names: The errors of the responses to watched requests.
        source: The documents of the allowed steps.
        table: The allowed steps.
        ends: Errors after which the client sends no more watched requests.
        mends: Event -> errors after which the client must continue by itself.
        timed: The watched APIs that a clock triggers.
        events: Prefix of an output -> its event in the table, the first request's first; without, each is its
            API.
    """

    name: str
    description: str
    workload: str
    offer: Offer
    watched: tuple[int, ...]
    input_names: tuple[str, ...]
    source: str
    table: Table | None = None
    ends: frozenset[str] = frozenset()
    mends: Mapping[str, frozenset[str]] = {}
    timed: frozenset[int] = frozenset()
    events: Mapping[str, str] = {}

    @property
    def first(self) -> str:
        """Return the event that a session begins with."""
        return next(iter(self.events.values()), NAMES[self.watched[0]])

    def event(self, output: str) -> str:
        """Return the event of an output; "" if it is no watched request."""
        events = self.events or {NAMES[key]: NAMES[key] for key in self.watched}
        return next((event for begin, event in events.items() if output.startswith(begin)), "")


_MOVED: Final = frozenset(("COORDINATOR_NOT_AVAILABLE", "NOT_COORDINATOR"))
_MEMBER: Final = frozenset(
    ("REBALANCE_IN_PROGRESS", "UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION", *_MOVED)
)

MEMBER: Final = ClientAlphabet(
    "classic-group",
    "a member of a classic group; inputs are responses of the coordinator",
    "member",
    EVERYTHING,
    (keys.JOIN_GROUP, keys.SYNC_GROUP, keys.HEARTBEAT),
    (
        OK,
        "REBALANCE_IN_PROGRESS",
        "UNKNOWN_MEMBER_ID",
        "ILLEGAL_GENERATION",
        "COORDINATOR_NOT_AVAILABLE",
        "NOT_COORDINATOR",
    ),
    f"{CLASSIC_MEMBER.source}; KIP-62",
    CLASSIC_MEMBER,
    mends={
        "JoinGroup": frozenset(("UNKNOWN_MEMBER_ID", *_MOVED)),
        "SyncGroup": _MEMBER,
        "Heartbeat": _MEMBER,
    },
    timed=frozenset((keys.HEARTBEAT,)),
)

STATIC: Final = MEMBER._replace(
    name="static-member",
    description="a static member of a classic group, which may be fenced (KIP-345)",
    workload="static-member",
    input_names=(OK, "REBALANCE_IN_PROGRESS", "UNKNOWN_MEMBER_ID", "FENCED_INSTANCE_ID"),
    source=f"{MEMBER.source}, KIP-345: a fenced member asks nothing more",
    ends=frozenset(("FENCED_INSTANCE_ID",)),
)

PRODUCER: Final = ClientAlphabet(
    "transaction",
    "a transactional producer; inputs are responses of the coordinator and leaders",
    "transactions",
    FIRST_TRANSACTIONS,
    (keys.INIT_PRODUCER_ID, keys.ADD_PARTITIONS_TO_TXN, keys.PRODUCE, keys.END_TXN),
    (
        OK,
        "PRODUCER_FENCED",
        "INVALID_PRODUCER_EPOCH",
        "INVALID_TXN_STATE",
        "CONCURRENT_TRANSACTIONS",
        "NOT_COORDINATOR",
    ),
    "KIP-98, KIP-360, KIP-447: a fenced producer asks nothing more",
    ends=frozenset(("PRODUCER_FENCED",)),
    mends={
        "InitProducerId": frozenset(("CONCURRENT_TRANSACTIONS", "NOT_COORDINATOR")),
        "AddPartitionsToTxn": frozenset(("CONCURRENT_TRANSACTIONS", "NOT_COORDINATOR")),
        "EndTxn": frozenset(("CONCURRENT_TRANSACTIONS", "NOT_COORDINATOR")),
    },
)

_EPOCH_OVER: Final = frozenset(("UNKNOWN_MEMBER_ID", "FENCED_MEMBER_EPOCH"))

CONSUMER: Final = ClientAlphabet(
    "consumer-group",
    "a member of a consumer group (KIP-848); inputs are responses of the coordinator",
    "consumer-member",
    EVERYTHING,
    (keys.CONSUMER_GROUP_HEARTBEAT,),
    (OK, *sorted(_EPOCH_OVER), *sorted(_MOVED)),
    CONSUMER_MEMBER.source,
    CONSUMER_MEMBER,
    mends={JOIN: _MOVED, BEAT: _EPOCH_OVER | _MOVED},
    events={
        "ConsumerGroupHeartbeat that joins": JOIN,
        "ConsumerGroupHeartbeat that leaves": LEAVE,
        "ConsumerGroupHeartbeat": BEAT,
    },
)

_LOADING: Final = _MOVED | {"COORDINATOR_LOAD_IN_PROGRESS"}

OFFSETS: Final = ClientAlphabet(
    "offsets",
    "a member of a classic group that commits; inputs are responses about offsets",
    "committing-member",
    EVERYTHING,
    (keys.OFFSET_FETCH, keys.OFFSET_COMMIT),
    (
        OK,
        "UNKNOWN_MEMBER_ID",
        "ILLEGAL_GENERATION",
        "COORDINATOR_LOAD_IN_PROGRESS",
        "NOT_COORDINATOR",
    ),
    "errors of OffsetFetchResponse and OffsetCommitResponse",
    mends={"OffsetFetch": _LOADING, "OffsetCommit": _LOADING},
)

CLIENT_ALPHABETS: Final = (MEMBER, STATIC, CONSUMER, OFFSETS, PRODUCER)
