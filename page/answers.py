"""The types of what the page is answered.

Times are ns since the epoch as text (they exceed what a number of JavaScript holds) unless they are said to
be ISO 8601. Durations are in ms, sizes in bytes.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict  # pydantic's own: it takes no other one before Python 3.12

Json = Any
Side = Literal["request", "response"]


class Sides(TypedDict):
    """Of both, where there is any."""

    request: NotRequired[Json]
    response: NotRequired[Json]


class State(TypedDict):
    """Which numbers are held: from `first` up to, without, `end`. trouble: why no more come, and what
    could not be read."""

    first: int
    end: int
    over: bool
    trouble: str


class Source(State):
    """Where exchanges are from."""

    kind: Literal["live", "capture"]
    name: str
    keeps: int


class Found(State):
    """A line of the stream: runs of numbers that match, first and last of each; and where to go on."""

    runs: list[tuple[int, int]]
    after: int
    skipped: int


class Column(TypedDict):
    """What a filter can name."""

    name: str
    about: str


class Columns(TypedDict):
    """What there is of every exchange, but for its bodies; `ts` is ISO 8601."""

    ts: str
    connection: int
    client_address: str
    client_id: str | None
    user: str | None
    broker: int | None
    api: str
    key: int
    version: int
    correlation_id: int
    request_size: int
    response_size: int | None
    latency_ms: float | None
    broker_ms: float | None
    error: str | None
    rules: list[str]


class Row(Columns):
    """A line of the list; `ts` is ISO 8601."""

    number: int
    details: str
    note: str


class Field(TypedDict):
    """Where the bytes of a field stand in a body, how they were read and how they are declared."""

    path: str
    type: str
    start: int
    end: int
    declared: str


class Body(TypedDict):
    """A request or a response; `hex` is base64 of its first bytes, null if they may have secrets."""

    value: Json
    reason: str
    size: int | None
    hex: str | None
    fields: list[Field]


class Altered(TypedDict):
    """Those that the proxy changed, as the other side has them."""

    request: NotRequired[Body]
    response: NotRequired[Body]


class Declared(TypedDict):
    """An API and one of its versions."""

    purpose: str
    versions: tuple[int, int]
    brought: list[str]


class Detail(Row):
    """One exchange; `altered` has the other form of a body that the proxy changed."""

    sasl: str
    declared: Declared | None
    packets: tuple[int, int]
    inside: Sides
    request: Body
    response: Body
    altered: Altered


class Fed(TypedDict):
    """How many exchanges a view has had, and how many fell out before it was asked for."""

    fed: int
    missed: int


class Event(TypedDict):
    """What a member of a group asked, or a run of heartbeats that all brought the same."""

    api: str
    start: str
    end: str | None
    generation: int
    error: str | None
    connection: int
    correlation_id: int
    count: int


class Lane(TypedDict):
    """A member of a group."""

    group: str
    member: str
    client: str
    instance: str | None
    events: list[Event]


class Late(TypedDict):
    """For whom a generation waited."""

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
        "late": Late | None,
        "over": bool,
        "until": str | None,
        "moved": list[Move],
    },
)


class Offset(TypedDict):
    """An offset, and who said it when."""

    offset: int
    api: str
    ts: str


class LagRow(TypedDict):
    """How far a group is behind in a partition; null where no end was seen."""

    group: str
    topic: str
    partition: int
    committed: Offset
    end: Offset | None
    lag: int | None


class Groups(Fed):
    """One group, and the names of all."""

    groups: list[str]
    group: str | None
    lanes: list[Lane]
    bands: list[Band]
    lag: list[LagRow]
    forgotten: int


class Transaction(TypedDict):
    """One transaction; offsets: how many of each group."""

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


class Transactions(Fed):
    """Those that are over, then those that are open."""

    transactions: list[Transaction]
    forgotten: int


class Flow(TypedDict):
    """Who writes to a topic, or reads it."""

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


class Topics(Fed):
    """All that were seen."""

    flows: list[Flow]
    forgotten: int


class Percentiles(TypedDict):
    """Of an API."""

    api: str
    count: int
    p50_ms: float | None
    p99_ms: float | None
    max_ms: float | None


class Heat(TypedDict):
    """Cells: when a column begins, the longest latency in ms, how many."""

    width_ms: int
    cells: list[tuple[str, float, int]]


class Latencies(TypedDict):
    """One side's."""

    apis: list[Percentiles]
    heat: Heat


class Latency(Fed):
    """What clients saw, and the brokers alone."""

    client: Latencies
    broker: Latencies


class Message(TypedDict):
    """A request or a response: when it arrived at the proxy, and when it left."""

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


Sequence = TypedDict(
    "Sequence",
    {
        "from": str,
        "to": str,
        "first": str,
        "last": str,
        "messages": list[Message],
        "left_out": int,
    },
)


class Rule(TypedDict):
    """What a rule has done."""

    name: str
    matched: NotRequired[int]
    fired: int
    to_fire: NotRequired[int]
    released: NotRequired[int]
    timed_out: NotRequired[int]
    undecided: NotRequired[int]
    what: NotRequired[str]


class Scenario(TypedDict):
    """The one that holds."""

    text: str
    seed: NotRequired[int]
    rules: list[Rule]


class Problem(TypedDict):
    """What is wrong in a line of a scenario."""

    line: int
    text: str


class Checked(TypedDict):
    """What is wrong with a scenario, and what is to be said of one that is right."""

    problems: list[Problem]
    remarks: list[str]


class Tried(TypedDict):
    """What a rule would have done; matches, fires: which exchanges."""

    name: str
    matches: list[int]
    matched: int
    fired: int
    undecided: int
    why: str
    fires: list[int]


class Try(TypedDict):
    """What the rules of a scenario would have done."""

    exchanges: int
    rules: list[Tried]
    limits: str


class Part(TypedDict):
    """What the match of a drafted rule can have."""

    name: str
    value: Json
    kept: bool


class Draft(TypedDict):
    """A rule in YAML, alone and in a scenario of its own, and what its match can have."""

    name: str
    rule: str
    scenario: str
    parts: list[Part]
    settings: str


class Timeout(TypedDict):
    """How long the client waits, as a field of its request says."""

    field: str
    ms: int
    left_ms: float


class Waiting(TypedDict):
    """A message that waits at a breakpoint; `since` is ISO 8601."""

    id: str
    rule: str
    connection: int
    client_address: str
    client_id: str | None
    broker: int | None
    direction: Side
    api: str
    key: int
    version: int
    correlation_id: int
    size: int
    since: str
    waited_ms: float
    left_ms: float
    client_timeout: Timeout | None


class Record(TypedDict):
    """A record; base64: key, value and the values of headers are. timestamp: ms since the epoch, or -1."""

    offset: int
    timestamp: int
    headers: list[tuple[str, str | None]]
    key: str | None
    value: str | None
    base64: bool


class Whole(Waiting):
    """The same with its body, its fields' types and its records, by path."""

    body: Json
    types: dict[str, str]
    records: dict[str, list[Record]]
    problem: str
    hex: str | None
    masked: bool


class Decided(TypedDict):
    """What becomes of a message that waited, and a scenario that does the same again."""

    id: str
    what: list[str]
    scenario: str | None
