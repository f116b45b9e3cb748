"""The traffic of a workload, drawn from a seed.

A `Draw` has the features of the traffic. `plain` has none: one record a send (in transactions five), each
with a key. `traffic.py` makes the records of a draw.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from random import Random
from typing import Any, Final, Literal

from barnabas.experiments.clients.workloads import ALL, CODECS, PARTITIONS, PAUSE, Workload
from barnabas.proxy.matching.settings import Settings

SEND_BYTES: Final = 900_000
"""Bytes of a send: some libraries make one batch of its records, and brokers take up to 1,048,588 bytes."""

MAX_WAIT: Final = 500
"""`fetch.max.wait.ms`, Kafka's default, where `fetch.min.bytes` is drawn: of some libraries it is 5 s."""

STALL: Final = 8.0
"""Seconds: more than the shortest drawn session.timeout.ms."""

MOST_RECORDS: Final = 2_000
"""Records of a draw, unless the workload has more."""


class Draw(Settings):
    """The features of a workload's traffic.

    to: records have a key, neither key nor partition, a chosen partition, or one of the three. keys: number
    of different keys; None: a record's key is its id. per_send: records handed over at once. in_flight: sends
    that are awaited together; ALL: of the workload. topics: number of topics. largest: bytes of the largest
    value; 0: values are ids. empty: whether some values are null or empty. ending: the last sends of a
    producer are awaited, or followed by a flush or by the close. max_in_flight, linger_ms, batch_size,
    compression: settings of the library, by which it translates max.in.flight.requests.per.connection,
    linger.ms, batch.size and compression.type.

    history: the topics are new; or had records before, which are deleted or were committed by the group.
    moved: whether partitions had another leader before.
    members, leaves, delay, stall, pauses, rewinds, partial: number and work of a group's members, as
    `members.py` gives it to programs. session_ms, poll_records, fetch_min, fetch_bytes: their settings.
    """

    seed: int = 0
    sends: int
    to: Literal["key", "nothing", "partition", "any"] = "key"
    keys: int | None = None
    per_send: int = 1
    in_flight: int = ALL
    partitions: int = PARTITIONS
    topics: int = 1
    largest: int = 0
    headers: bool = False
    empty: bool = False
    timestamps: bool = False
    pause: float = 0
    compression: str | None = None
    max_in_flight: int | None = None
    linger_ms: int | None = None
    batch_size: int | None = None
    ending: Literal["await", "flush", "close"] = "await"
    history: Literal["none", "deleted", "committed"] = "none"
    moved: bool = False
    members: int = 0
    leaves: bool = False
    delay: float = 0
    stall: float = 0
    pauses: bool = False
    rewinds: bool = False
    partial: bool = False
    session_ms: int | None = None
    poll_records: int | None = None
    fetch_min: int | None = None
    fetch_bytes: int | None = None

    @property
    def records(self) -> int:
        """Return the number of records."""
        return self.sends * self.per_send

    @property
    def settings(self) -> dict[str, str | int]:
        """Return the library's settings by Kafka's names."""
        return self._given(
            {
                "compression.type": "compression",
                "max.in.flight.requests.per.connection": "max_in_flight",
                "linger.ms": "linger_ms",
                "batch.size": "batch_size",
            }
        )

    @property
    def consumer_settings(self) -> dict[str, int]:
        """Return the settings of consumers by Kafka's names."""
        settings = self._given(
            {
                "session.timeout.ms": "session_ms",
                "max.poll.records": "poll_records",
                "fetch.min.bytes": "fetch_min",
                "max.partition.fetch.bytes": "fetch_bytes",
            }
        )
        return settings if self.fetch_min is None else {**settings, "fetch.max.wait.ms": MAX_WAIT}

    def _given(self, fields: Mapping[str, str]) -> dict[str, Any]:
        """Return the settings whose field has a value. fields: the field by Kafka's name."""
        values = {name: getattr(self, field) for name, field in fields.items()}
        return {name: value for name, value in values.items() if value is not None}


TEXTS: Final[dict[str, str]] = {
    "to": "records to {}",
    "keys": "{} different keys",
    "per_send": "{} records a send",
    "in_flight": "{} sends in flight",
    "partitions": "{} partitions",
    "topics": "{} topics",
    "largest": "values of up to {} bytes",
    "headers": "headers",
    "empty": "null and empty values",
    "timestamps": "given timestamps",
    "pause": "a pause of {} s",
    "compression": "compression.type={}",
    "max_in_flight": "max.in.flight.requests.per.connection={}",
    "linger_ms": "linger.ms={}",
    "batch_size": "batch.size={}",
    "ending": "{} at the end",
    "history": "topics with {} records",
    "moved": "leader epochs above 0",
    "members": "{} members",
    "leaves": "a member that leaves, and a successor",
    "delay": "{} s of work on each poll's records",
    "stall": "{} s of work on the first records",
    "pauses": "paused partitions",
    "rewinds": "a seek to committed offsets",
    "partial": "commits of one partition at a time",
    "session_ms": "session.timeout.ms={}",
    "poll_records": "max.poll.records={}",
    "fetch_min": "fetch.min.bytes={}",
    "fetch_bytes": "max.partition.fetch.bytes={}",
}
"""The descriptions of features, in the order in which they are tried to be left out."""


BATCH_BYTES: Final = 16_384
"""`batch.size`, Kafka's default."""

FEW_LARGE: Final = 500
"""Records that are drawn at most if a batch does not hold the largest one, unless the workload has more: some
libraries send one batch of a partition at a time, and a fault may delay each."""


def plain(workload: Workload, records: int | None = None) -> Draw:
    """Return the traffic without features. records: their number, unless it is the workload's.

    Producers of `compressed` have a round each, and each round of `transact` is a transaction.
    """
    count = workload.records if records is None else records
    per_send = workload.per_send if count % workload.per_send == 0 else 1
    sends = count // per_send
    compressed = workload.name == "compressed"
    return Draw(
        sends=sends,
        per_send=per_send,
        in_flight=max(sends // len(CODECS), 1) if compressed else workload.in_flight,
        pause=workload.pause,
        topics=workload.topics,
        members=workload.members,
        leaves=workload.leaves,
    )


def draw(seed: int, workload: Workload) -> Draw:
    """Return the traffic of a seed."""
    random, base = Random(f"{seed}/{workload.name}"), plain(workload)  # noqa: S311 (no secret)
    partitions = random.choice((1, 2, 3, 4, 6, 12))
    common: dict[str, Any] = {"seed": seed, "partitions": partitions}
    maybe = partial(_maybe, random)
    if workload.written:
        return base.model_copy(update={**common, **_reading(workload, base, maybe, random)})
    if not workload.sends:
        return base.model_copy(update={"seed": seed})
    fewest = max(base.per_send // 10, 1)
    per_send = maybe(lambda: max(round(500 ** random.random()), fewest), base.per_send)
    records = max(base.records, min(base.sends * per_send, MOST_RECORDS))
    groups: Sequence[int] = (1, 2, 5, 20, ALL) if base.in_flight == ALL else (1, 2, 5, 10)
    if workload.in_flight > max(groups):
        groups = (workload.in_flight // 2, workload.in_flight * 2)  # long transactions remain long
    drawn = Draw(
        **common,
        sends=records // per_send,
        per_send=per_send,
        to=maybe(lambda: random.choice(("nothing", "partition", "any")), "key"),
        keys=maybe(lambda: random.choice((1, 5, 20)), None),
        in_flight=maybe(lambda: random.choice(groups), base.in_flight),
        topics=maybe(lambda: random.choice((2, 3)), base.topics),
        largest=maybe(lambda: round(SEND_BYTES ** random.uniform(0.4, 1)), 0),
        headers=maybe(lambda: True, False),
        empty=maybe(lambda: True, False),
        timestamps=maybe(lambda: True, False),
        pause=maybe(lambda: random.choice((0.0, PAUSE)), base.pause)
        if base.pause <= PAUSE
        else base.pause,
        compression=maybe(lambda: random.choice(("gzip", "snappy", "lz4", "zstd")), None)
        if workload.name != "compressed"
        else None,
        max_in_flight=maybe(lambda: random.randint(1, 5), None),
        linger_ms=maybe(lambda: random.choice((0, 1, 5, 20, 100)), None),
        batch_size=maybe(lambda: random.choice((1024, 16_384, 65_536, 262_144)), None),
        moved=maybe(lambda: True, False),
        ending="await"
        if workload.transacts
        else maybe(lambda: random.choice(("flush", "close")), "await"),
    )
    few = max(base.records, FEW_LARGE)
    if drawn.records <= few or drawn.largest < (drawn.batch_size or BATCH_BYTES):
        return drawn
    return drawn.model_copy(update={"sends": max(few // per_send, 1)})


def _maybe(random: Random, feature: Callable[[], Any], otherwise: Any) -> Any:
    """Return a feature in half of the draws; draw it in all, so that features are independent."""
    value = feature()
    return value if random.random() < 0.5 else otherwise


def _reading(
    workload: Workload, base: Draw, maybe: Callable[..., Any], random: Random
) -> dict[str, Any]:
    """Return the features of a workload that reads; only members of groups have most of them."""
    histories = ("deleted", "committed") if workload.members else ("deleted",)
    features = {
        "topics": maybe(lambda: random.choice((2, 3)), base.topics),
        "history": maybe(lambda: random.choice(histories), "none"),
        "moved": maybe(lambda: True, False),
    }
    if not workload.members:
        return features
    features |= {
        "members": maybe(lambda: random.choice((1, 2, 3)), base.members),
        "leaves": maybe(lambda: not base.leaves, base.leaves),
    }
    if workload.copies:
        return features
    return features | {
        "delay": maybe(lambda: random.choice((0.01, 0.05, 0.2)), 0),
        "stall": maybe(lambda: STALL, 0),
        "pauses": maybe(lambda: True, False),
        "rewinds": maybe(lambda: True, False),
        "partial": maybe(lambda: True, False),
        "session_ms": None
        if "group.protocol" in workload.settings  # brokers determine it
        else maybe(lambda: random.choice((6_000, 30_000)), None),
        "poll_records": maybe(lambda: random.choice((1, 500)), None),
        "fetch_min": maybe(lambda: random.choice((1, 100_000)), None),
        "fetch_bytes": maybe(lambda: random.choice((1_000, 100_000)), None),
    }


def features(drawn: Draw, workload: Workload) -> tuple[str, ...]:
    """Return descriptions of everything in which a draw differs from the plain one."""
    values = drawn.model_dump() | ({"in_flight": "all"} if drawn.in_flight == ALL else {})
    return tuple(TEXTS[name].format(values[name]) for name in differing(drawn, workload))


def differing(drawn: Draw, workload: Workload) -> list[str]:
    """Return the names of the features in which a draw differs from the plain one."""
    base = plain(workload)
    return [name for name in TEXTS if getattr(drawn, name) != getattr(base, name)]
