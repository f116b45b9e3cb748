"""The steps of central coordination: tables of a consumer, and of a group at its coordinator.

Document: Central Consumer Coordination, sections on failure detection, rebalance, consumer startup and the
handlers. It has no state diagram: these are its steps, and the names are a reconstruction.
"""

from __future__ import annotations

from typing import Final

from barnabas.specs.groups.table import NONE, OTHER, Table

# of a consumer
DOWN: Final = "DOWN"
CONSULTING: Final = "CONSULTING"
REGISTERING: Final = "REGISTERING"
REGISTERED: Final = "REGISTERED"
FETCHING: Final = "FETCHING"

START: Final = "start"
STOP: Final = "stop"
LOST: Final = "connection lost"
"""The connection is closed, or no request came for too long."""

# of a group
QUIET: Final = "QUIET"
QUEUED: Final = "QUEUED"
STOPPING: Final = "STOPPING"
OFFSETS: Final = "READING_OFFSETS"
STARTING: Final = "STARTING"

CHANGED: Final = "consumers, topics or partitions changed"
NEWCOMER: Final = "a consumer registered"
TAKEN: Final = "request taken from its queue"
ALL_STOPPED: Final = "all have answered stop-fetcher"
OFFSETS_READ: Final = "offsets read"
ALL_STARTED: Final = "all have answered start-fetcher"
FAILED: Final = "a consumer failed"
EXHAUSTED: Final = "too many retries"
EMPTIED: Final = "no consumer left"

# fmt: off
CENTRAL_CONSUMER: Final = Table(
    source="Central Consumer Coordination: consumerStartup, failure detection, rebalance",
    states=(
        (DOWN, "the consumer is not running"),
        (CONSULTING, "it asks one known broker after the other who the coordinator is"),
        (REGISTERING, "it has sent the only request that it sends to the coordinator"),
        (REGISTERED, "it reads the coordinator's requests; its fetchers do not run"),
        (FETCHING, "it reads the coordinator's requests; its fetchers run"),
    ),
    rows=(
        (DOWN, START, NONE, CONSULTING),
        (CONSULTING, "ClusterMetadata", NONE, REGISTERING),
        (CONSULTING, "ClusterMetadata", OTHER, CONSULTING),
        (REGISTERING, "RegisterConsumer", NONE, REGISTERED),
        (REGISTERING, "RegisterConsumer", OTHER, CONSULTING),  # "otherwise go back to step 1"
        (REGISTERED, "Ping", NONE, REGISTERED),
        (REGISTERED, "StopFetcher", NONE, REGISTERED),
        (REGISTERED, "StartFetcher", NONE, FETCHING),
        (FETCHING, "Ping", NONE, FETCHING),
        (FETCHING, "StopFetcher", NONE, REGISTERED),
        *((state, LOST, NONE, CONSULTING) for state in (CONSULTING, REGISTERING, REGISTERED, FETCHING)),
        *((state, STOP, NONE, DOWN) for state in (CONSULTING, REGISTERING, REGISTERED, FETCHING)),
    ),
)
"""A consumer. From REGISTERED on the coordinator sends requests, and the consumer responds."""

CENTRAL_GROUP: Final = Table(
    source="Central Consumer Coordination: rebalance, handleNewGroup, handleConsumerFailure",
    states=(
        (QUIET, "the rebalance bit is not set"),
        (QUEUED, "the bit is set, and a request waits in the group's queue"),
        (STOPPING, "stop-fetcher was sent to all, and not all have answered"),
        (OFFSETS, "all have stopped; the offsets to start from are read"),
        (STARTING, "start-fetcher was sent to all, and not all have answered"),
    ),
    rows=(
        (QUIET, CHANGED, NONE, QUEUED),
        # a set bit means that nothing more is requested; changes are noticed when it is over
        *((state, CHANGED, NONE, state) for state in (QUEUED, STOPPING, OFFSETS, STARTING)),
        (QUEUED, TAKEN, NONE, STOPPING),
        (STOPPING, ALL_STOPPED, NONE, OFFSETS),
        (OFFSETS, OFFSETS_READ, NONE, STARTING),
        (STARTING, ALL_STARTED, NONE, QUIET),
        # "each consumer in the group", "all of them": it is stopped, too, and waited for
        *((state, NEWCOMER, NONE, STOPPING) for state in (STOPPING, OFFSETS)),
        # the rebalance begins again without the consumer that failed
        *((state, FAILED, NONE, STOPPING) for state in (STOPPING, OFFSETS, STARTING)),
        *((state, EXHAUSTED, NONE, QUIET) for state in (STOPPING, OFFSETS, STARTING)),
        *((state, EMPTIED, NONE, QUIET) for state in (STOPPING, OFFSETS, STARTING)),
    ),
)
"""A group at its coordinator. The rebalance bit is set in all states but QUIET."""
# fmt: on
