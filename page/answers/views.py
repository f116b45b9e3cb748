"""Responses with views over many exchanges: groups, transactions, topics, latencies, messages over time."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from barnabas.page.answers.common import Json, Side


class ViewCounts(TypedDict):
    """The number of exchanges in a view, of dropped ones that it missed, and of those yet to be read."""

    fed: int
    missed: int
    waiting: int


class Counts(TypedDict):
    """The exchanges of a span of time; `errors` are those that are no part of normal operation."""

    exchanges: int
    errors: int
    bytes: int
    connections: int
    p50_ms: float | None
    p99_ms: float | None


Timeline = TypedDict(
    "Timeline",
    {
        "from": str,
        "width_ms": int,
        "columns": list[Counts],
        "recent": Counts,
        "recent_ms": int,
        "total": Counts,
    },
)


class CheckFindings(TypedDict):
    """The last findings of a check, and the number of all by severity."""

    check: str
    problem: str
    severity: Literal["error", "warning", "note"]
    counts: dict[str, int]
    findings: list[Json]


class OverviewRow(TypedDict):
    """The exchanges of a client, a topic, an API or a broker."""

    name: str
    count: int
    errors: int
    p99_ms: float | None


class Overview(ViewCounts):
    """Figures by time, what the checks found, the most severe first, and the busiest rows by table.

    `errors_filter`: the filter for the exchanges that are counted as errors.
    """

    timeline: Timeline
    errors_filter: str
    tables: dict[Literal["client", "topic", "api", "broker"], list[OverviewRow]]
    stands_out: list[CheckFindings]
    failed: str


class Event(TypedDict):
    """A request of a group's member, or a run of heartbeats with equal responses."""

    api: str
    start: str
    end: str | None
    generation: int
    error: str | None
    connection: int
    correlation_id: int
    count: int
    color: str


class Lane(TypedDict):
    """A member of a group."""

    group: str
    member: str
    client: str
    instance: str | None
    events: list[Event]


class LateMembers(TypedDict):
    """The members for which a generation waited."""

    kind: Literal["late", "absent", "untold"]
    members: list[str]
    ms: float


Move = TypedDict("Move", {"topic": str, "partition": int, "from": str, "to": str, "ts": str})

Band = TypedDict(
    "Band",
    {
        "group": str,
        "generation": int,
        "type": str,
        "protocol": str | None,
        "ts": str,
        "members": int,
        "why": str,
        "join_ms": float | None,
        "waited_for": str,
        "leader": str | None,
        "assignment_ms": float | None,
        "from": str,
        "standstill_ms": float | None,
        "late": LateMembers | None,
        "over": bool,
        "until": str | None,
        "moved": list[Move],
    },
)


class Offset(TypedDict):
    """An offset, and the API and time of the message that has it."""

    offset: int
    api: str
    ts: str


class LagRow(TypedDict):
    """The lag of a group in a partition; null if no end offset was seen."""

    group: str
    topic: str
    partition: int
    committed: Offset
    end: Offset | None
    lag: int | None


class PartitionLags(TypedDict):
    """The lag of a partition at the times of a series; null if it was not known."""

    topic: str
    partition: int
    lag: list[int | None]


class LagSeries(TypedDict):
    """The lag of a group at `times`: the sum over its partitions, and those with the most lag."""

    times: list[str]
    sum: list[int]
    partitions: list[PartitionLags]


class Groups(ViewCounts):
    """The details of one group, and the names of all."""

    groups: list[str]
    group: str | None
    lanes: list[Lane]
    bands: list[Band]
    lag: list[LagRow]
    lag_over_time: LagSeries
    forgotten: int


class Transaction(TypedDict):
    """A transaction; `offsets`: the number of committed offsets by group."""

    transactional_id: str
    producer_id: int
    epoch: int
    client: str
    began: str | None
    by: str
    partitions: list[str]
    offsets: dict[str, int]
    more: int
    ended: str | None
    outcome: str | None
    open_ms: float | None
    error: str | None


class Transactions(ViewCounts):
    """Transactions that ended, then open ones."""

    transactions: list[Transaction]
    forgotten: int


class Flow(TypedDict):
    """A client that produces to a topic or consumes it."""

    topic: str
    direction: Literal["write", "read"]
    client: str
    producer_id: int | None
    group: str | None
    records: int
    bytes: int
    records_per_s: float
    bytes_per_s: float
    refused: int
    last: str


class Topics(ViewCounts):
    """The clients of all topics."""

    flows: list[Flow]
    forgotten: int


class Percentiles(TypedDict):
    """The latencies of an API, a client or a broker."""

    name: str
    count: int
    p50_ms: float | None
    p99_ms: float | None
    max_ms: float | None


class HeatMap(TypedDict):
    """A heat map; a cell is the start of a column, the longest latency in ms, and a count."""

    width_ms: int
    cells: list[tuple[str, float, int]]


class Latencies(TypedDict):
    """The latencies of clients or of brokers."""

    tables: dict[Literal["api", "client", "broker"], list[Percentiles]]
    heat: HeatMap


class Latency(ViewCounts):
    """The latencies that clients saw, and those of brokers alone."""

    client: Latencies
    broker: Latencies


class Message(TypedDict):
    """A request or a response, with the times at which it arrived at the proxy and left it."""

    number: int
    direction: Side
    connection: int
    client: str
    broker: str
    api: str
    version: int
    correlation_id: int
    arrived: str | None
    left: str | None
    began: str
    ended: str
    lost: bool
    waits: bool
    reason: str
    size: int
    error: str | None
    rules: list[str]
    note: str


class ConnectionChoice(TypedDict):
    """A connection with its client and broker."""

    connection: int
    client: str
    broker: str


class Choices(TypedDict):
    """The connections, clients and groups with the latest exchanges; `left_out`: the number of the others."""

    connections: list[ConnectionChoice]
    clients: list[str]
    groups: list[str]
    left_out: int


Sequence = TypedDict(
    "Sequence",
    {
        "from": str,
        "to": str,
        "first": str,
        "last": str,
        "messages": list[Message],
        "left_out": int,
        "choices": Choices,
    },
)
