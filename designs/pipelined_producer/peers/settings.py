"""How a pipelined producer works: the document's choices, and the limits that 0.8's producer had.

Names in brackets are those of 0.8's producer configuration. Their defaults are 0.8's, too, but
for acks (0 there) and linger_ms (5000). [queue.enqueue.timeout.ms] is `wait` of `PipelinedProducer.send`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from barnabas.specs.records import CODECS

NEWEST_PRODUCE: Final = 12
"""The newest Produce that names topics; v13 has ids, which Metadata v0 does not tell."""


@dataclass(frozen=True, slots=True)
class Settings:
    """All times in milliseconds. Raises ValueError for what can't be."""

    client_id: str = "barnabas-pipelined"
    in_flight: int = 5
    """Requests to one broker that may wait for their answers."""
    in_flight_total: int | None = None
    """The same over all brokers; None: no limit beside that of each."""
    queueing: Literal["partition", "one"] = "partition"
    """A queue per partition, and one per topic for what has none yet; or one queue for everything."""
    metadata: Literal["blocking", "non-blocking"] = "non-blocking"
    """Whether the event loop stands still until a metadata request is answered."""
    serializing: Literal["client thread", "send thread"] = "send thread"
    """Where bytes are made of keys and values. Batches are compressed in the send thread in any case."""
    acks: int = 1
    """[request.required.acks]"""
    request_timeout_ms: int = 10_000
    """[request.timeout.ms] How long a broker may wait for other replicas."""
    answer_timeout_ms: int = 30_000
    """After so long without the oldest answer a connection is given up."""
    versions_timeout_ms: int = 2000
    """After so long without its versions a broker counts as an old one: 0.9 neither answers nor closes."""
    queue_messages: int = 10_000
    """[queue.buffering.max.messages] Of each queue."""
    outstanding: int = 100_000
    """Messages in the producer's hands altogether: queued, in flight, or waiting to be sent again."""
    linger_ms: float = 0
    """[queue.buffering.max.ms] How long a batch that is not full waits for more."""
    batch_messages: int = 200
    """[batch.num.messages] Of one partition in one request."""
    batch_bytes: int = 1_000_000
    """Of one partition in one request, before compression. As message.max.bytes of 0.8's brokers."""
    request_bytes: int = 1 << 20
    """Of a request, before compression. As max.request.size of the producer that came of the document."""
    retries: int = 3
    """[message.send.max.retries]"""
    retry_backoff_ms: float = 100
    """[retry.backoff.ms] Before a batch is sent again, and between two metadata requests."""
    reconnect_backoff_ms: float = 50
    expiry_ms: float = 60_000
    """After so long a message that is in a queue or is to be sent again is given up."""
    compression: str = "none"
    """[compression.codec] none, gzip, snappy; lz4 from 0.8.2 on, zstd from 2.1."""
    metadata_refresh_ms: float = 600_000
    """[topic.metadata.refresh.interval.ms]"""
    produce_version: int | None = None
    """None: the newest that both know; brokers without ApiVersions get v0."""

    def __post_init__(self) -> None:
        at_least_one = ("in_flight", "queue_messages", "outstanding", "batch_messages")
        for name in (*at_least_one, "batch_bytes", "request_bytes"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} of {getattr(self, name)}: at least 1")
        for name, known in (
            ("queueing", ("partition", "one")),
            ("metadata", ("blocking", "non-blocking")),
            ("serializing", ("client thread", "send thread")),
            ("compression", CODECS),
        ):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} of {getattr(self, name)!r}: one of {', '.join(known)}")
        for name in (*(name for name in self.__slots__ if name.endswith("_ms")), "retries"):
            if not getattr(self, name) >= 0:  # nan is not, either
                raise ValueError(f"{name} of {getattr(self, name)}: at least 0")
        if not -(1 << 15) <= self.acks < 1 << 15:
            raise ValueError(f"acks of {self.acks}: an int16")
        if self.request_timeout_ms >= 1 << 31:
            raise ValueError(f"request_timeout_ms of {self.request_timeout_ms}: an int32")
        if len(self.client_id.encode()) >= 1 << 15:
            raise ValueError("client_id: at most 32767 bytes")
        if self.in_flight_total is not None and self.in_flight_total < 1:
            raise ValueError(f"in_flight_total of {self.in_flight_total}: at least 1, or None")
        if self.produce_version is not None and not 0 <= self.produce_version <= NEWEST_PRODUCE:
            raise ValueError(f"produce_version of {self.produce_version}: 0 to {NEWEST_PRODUCE}")


BLOCKING_0_8: Final = Settings(
    client_id="barnabas-blocking-0.8",
    in_flight=1,
    in_flight_total=1,
    queueing="one",
    metadata="blocking",
    produce_version=0,
)
"""As 0.8's producer: one thread that sends to one broker after the other and waits for each answer."""
