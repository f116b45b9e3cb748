"""Configuration of both sides. `option` gives the document's name of a field, where it has one.

from_options(BrokerSettings, {"max.session.timeout": "30000"}, slots=2)     # of `barnabas.designs.options`
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from barnabas.designs.brokers.listener import Address
from barnabas.designs.consumer_rewrite.peers.own_strategies import with_listed
from barnabas.designs.consumer_rewrite.peers.strategies import STRATEGIES, Strategy
from barnabas.designs.options import addresses


@dataclass(frozen=True)
class BrokerSettings:
    """A broker's configuration. Raises ValueError for invalid values."""

    max_session_timeout_ms: int = field(default=30_000, metadata={"option": "max.session.timeout"})
    strategies: Mapping[str, Strategy] = field(
        default_factory=lambda: STRATEGIES,
        metadata={"option": "partition.assignment.strategies", "read": with_listed},
    )
    slots: int = 8
    """Groups are spread over so many partitions of the offsets topic, each with a leader: their
    coordinator."""
    brokers: int = 0
    """The number of brokers that should exist, which lead partitions in turn; 0: the known ones."""
    frame_limit: int = 1 << 20
    """Bytes of the largest request."""
    waiting_limit: int = 4 << 20
    """Bytes that a connection may have sent after a waiting request."""

    def __post_init__(self) -> None:
        if self.max_session_timeout_ms < 1:
            raise ValueError(f"max.session.timeout of {self.max_session_timeout_ms}: at least 1")
        if not self.strategies:
            raise ValueError("partition.assignment.strategies: there is none")
        if self.slots < 1:
            raise ValueError(f"{self.slots} slots for groups")


@dataclass(frozen=True)
class ConsumerSettings:
    """A consumer's configuration. Raises ValueError for invalid values.

    topics, or a wildcard: topics whose whole name matches the regular expression `pattern` (a whitelist), and
    does not match `blacklist`.
    """

    group_id: str
    bootstrap: tuple[Address, ...] = field(
        metadata={"option": "bootstrap.brokers", "read": addresses}
    )
    topics: tuple[str, ...] = ()
    pattern: str | None = None
    blacklist: str | None = None
    client_id: str = "consumer-rewrite"
    session_timeout_ms: int = field(default=6_000, metadata={"option": "session.timeout.ms"})
    heartbeat_frequency: int = field(default=3, metadata={"option": "heartbeat.frequency"})
    """Heartbeats in a session timeout."""
    strategy: str = "range"
    sends_consumer_id: bool = True
    """Whether a JoinGroup has the consumer id of before: the page leaves the choice."""
    backoff_ms: int = 100
    request_timeout_ms: int = 3_000
    """The timeout of connecting, and of all requests but Heartbeat (the session timeout) and JoinGroup."""
    join_timeout_ms: int = 60_000
    """Longer than a round takes: others have a session timeout to hear of it, and another to join."""
    metadata_interval_ms: int = 1_000
    """With a wildcard: how often topics are looked for."""

    def __post_init__(self) -> None:
        if not self.bootstrap:
            raise ValueError("no broker to begin with")
        if not 1 <= self.session_timeout_ms < 1 << 31:
            raise ValueError(f"session.timeout.ms of {self.session_timeout_ms}: 1 to 2147483647")
        if not 1 <= self.heartbeat_frequency <= self.session_timeout_ms:
            raise ValueError(
                f"heartbeat.frequency of {self.heartbeat_frequency}: 1 to {self.session_timeout_ms}, "
                "one a ms"
            )
        for name in ("pattern", "blacklist"):
            try:
                re.compile(getattr(self, name) or "")
            except re.error as problem:
                raise ValueError(f"the {name} {getattr(self, name)!r}: {problem}") from None

    @property
    def wildcard(self) -> bool:
        """Return whether the consumer subscribes by a pattern."""
        return self.pattern is not None or self.blacklist is not None

    def matches(self, topic: str) -> bool:
        """Return whether the wildcard matches a topic."""
        return bool(
            self.wildcard
            and (self.pattern is None or re.fullmatch(self.pattern, topic))
            and (self.blacklist is None or not re.fullmatch(self.blacklist, topic))
        )

    @property
    def heartbeat_interval_ms(self) -> int:
        """Return session.timeout.ms / heartbeat.frequency."""
        return self.session_timeout_ms // self.heartbeat_frequency
