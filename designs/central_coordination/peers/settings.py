"""Configuration of both sides. `option` quotes the document where it lists an option."""

from __future__ import annotations

from dataclasses import dataclass, field

from barnabas.designs.brokers.listener import Address


@dataclass(frozen=True)
class BrokerSettings:
    """A broker's configuration; it matters while it coordinates. Raises ValueError."""

    rebalance_threads: int = field(default=4, metadata={"option": "Rebalancing threadpool size"})
    """The number of rebalance queues: one group of each is rebalanced at a time."""
    processor_threads: int = field(default=1, metadata={"option": "Socket server threadpool size"})
    """Accepted without effect: one event loop reads and writes all connections."""
    min_session_timeout_ms: int = field(
        default=1_000, metadata={"option": "Minimum viable value for consumer session timeout"}
    )
    max_failed_pings: int = field(
        default=2, metadata={"option": "Maximum number of timed out heartbeats to consumers"}
    )
    """A consumer has failed when more of its pings than that were lost in a row."""
    rebalance_retries: int = 4
    frame_limit: int = 1 << 20

    def __post_init__(self) -> None:
        if self.rebalance_threads < 1:
            raise ValueError(f"{self.rebalance_threads} threads for rebalances")
        if self.min_session_timeout_ms < 3:
            raise ValueError("min_session_timeout_ms: a ping comes every third, so 3 is the least")
        if self.max_failed_pings < 0 or self.rebalance_retries < 0:
            raise ValueError("max_failed_pings and rebalance_retries are not below 0")


@dataclass(frozen=True)
class ConsumerSettings:
    """A consumer's configuration. Raises ValueError for no broker."""

    group_id: str
    consumer_id: str
    bootstrap: tuple[Address, ...]
    """The known brokers of its properties file."""
    topic_count: str = '{"t": 1}'
    auto_commit: bool = True
    auto_offset_reset: str = "largest"
    session_timeout_ms: int = 6_000
    silence_ms: int | None = None
    """Milliseconds without a request after which the connection counts as lost; None: half the session. A
    ping comes every third, so the consumer has gone within a third after a missing one, as the document
    requires. The coordinator reassigns its partitions two thirds after an unanswered request: by then the
    consumer has stopped, even if the request was in flight for up to a sixth of the session."""
    request_timeout_ms: int = 3_000
    """The timeout of connecting, and of its two requests."""
    backoff_ms: int = 100

    def __post_init__(self) -> None:
        if not self.bootstrap:
            raise ValueError("no broker to begin with")

    @property
    def silence(self) -> int:
        """Return the ms without a request after which the coordinator is considered dead."""
        return self.session_timeout_ms // 2 if self.silence_ms is None else self.silence_ms
