"""Settings of a pipelined producer: the document's choices, and the limits of 0.8's producer.

Names in brackets are those of 0.8's producer configuration. Their defaults are 0.8's, too, except for
acks (0 there) and linger_ms (5000). [queue.enqueue.timeout.ms] is `wait` of `PipelinedProducer.send`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal

from barnabas.specs.records import CODECS

NEWEST_PRODUCE: Final = 12
"""The newest Produce with topic names; v13 has ids, which Metadata v0 lacks."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of a producer; times in milliseconds. Raises ValueError for invalid values."""

    client_id: str = "barnabas-pipelined"
    in_flight: int = 5
    """The most requests to one broker without responses."""
    in_flight_total: int | None = None
    """The most requests to all brokers without responses; None: no limit."""
    queueing: Literal["partition", "one"] = "partition"
    """A queue per partition, and one per topic for events without one; or one queue for everything."""
    metadata: Literal["blocking", "non-blocking"] = "non-blocking"
    """Whether the event loop waits for the response to a metadata request."""
    serializing: Literal["client thread", "send thread"] = "send thread"
    """The thread that serialises keys and values. The send thread always compresses batches."""
    acks: int = 1
    """[request.required.acks]"""
    request_timeout_ms: int = 10_000
    """[request.timeout.ms] How long a broker may wait for other replicas."""
    answer_timeout_ms: int = 30_000
    """Milliseconds without the oldest response after which the connection is closed."""
    versions_timeout_ms: int = 2000
    """Milliseconds to wait for ApiVersions; 0.9 neither responds nor closes the connection."""
    queue_messages: int = 10_000
    """[queue.buffering.max.messages] Of each queue."""
    outstanding: int = 100_000
    """The most messages in the producer: queued, in flight, or waiting to be sent again."""
    linger_ms: float = 0
    """[queue.buffering.max.ms] How long a batch that is not full waits for more."""
    batch_messages: int = 200
    """[batch.num.messages] Of one partition in one request."""
    batch_bytes: int = 1_000_000
    """Bytes of a partition in a request, before compression. As message.max.bytes of 0.8's brokers."""
    request_bytes: int = 1 << 20
    """Bytes of a request, before compression. As max.request.size of Kafka's later producer."""
    retries: int = 3
    """[message.send.max.retries]"""
    retry_backoff_ms: float = 100
    """[retry.backoff.ms] Before a batch is sent again, and between two metadata requests."""
    reconnect_backoff_ms: float = 50
    expiry_ms: float = 60_000
    """Milliseconds that a message may be in a queue or wait for a retry."""
    compression: str = "none"
    """[compression.codec] none, gzip, snappy; lz4 from 0.8.2 on, zstd from 2.1."""
    metadata_refresh_ms: float = 600_000
    """[topic.metadata.refresh.interval.ms]"""
    produce_version: int | None = None
    """None: the newest version that both sides know; v0 for brokers without ApiVersions."""

    def __post_init__(self) -> None:
        for name, words in _CHOICES.items():
            if getattr(self, name) not in words:
                raise ValueError(f"{name} of {getattr(self, name)!r}: one of {', '.join(words)}")
        times = [name for name in self.__slots__ if name.endswith("_ms")]
        for names, least, most, range_text in ((times, 0, math.inf, "at least 0"), *_RANGES):
            for name in names:
                value = getattr(self, name)
                unset = value is None and name in ("in_flight_total", "produce_version")
                if not unset and not least <= value <= most:  # nan is in no range
                    raise ValueError(f"{name} of {value}: {range_text}")
        if len(self.client_id.encode()) >= 1 << 15:
            raise ValueError("client_id: at most 32767 bytes")


_CHOICES: Final = {
    "queueing": ("partition", "one"),
    "metadata": ("blocking", "non-blocking"),
    "serializing": ("client thread", "send thread"),
    "compression": CODECS,
}
_COUNTS: Final = ["in_flight", "queue_messages", "outstanding", "batch_messages"]
_RANGES: Final = (
    ([*_COUNTS, "batch_bytes", "request_bytes"], 1, math.inf, "at least 1"),
    (["in_flight_total"], 1, math.inf, "at least 1, or None"),
    (["retries"], 0, math.inf, "at least 0"),
    (["acks"], -(1 << 15), (1 << 15) - 1, "an int16"),
    (["request_timeout_ms"], 0, (1 << 31) - 1, "an int32"),
    (["produce_version"], 0, NEWEST_PRODUCE, f"0 to {NEWEST_PRODUCE}"),
)


BLOCKING_0_8: Final = Settings(
    client_id="barnabas-blocking-0.8",
    in_flight=1,
    in_flight_total=1,
    queueing="one",
    metadata="blocking",
    produce_version=0,
)
"""0.8's producer: one thread that sends to one broker after the other and waits for each response."""
