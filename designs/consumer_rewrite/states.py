"""The steps of the consumer rewrite: its two state diagrams, as tables.

Document: Kafka 0.9 Consumer Rewrite Design, section State diagram. The pictures are lost; what is left
is the text of the states, one label (JoinGroupResponse returned UnknownConsumerId) and the scenarios.
States are the document's. Rows that follow from no sentence of it are marked as reconstructed.
"""

from __future__ import annotations

from typing import Final

from barnabas.specs.groups.table import ANY, NONE, OTHER, Table

DOWN: Final = "DOWN"

# of the consumer
DISCOVER: Final = "STARTUP_AND_DISCOVER"
PART_OF_GROUP: Final = "PART_OF_A_GROUP"
REDISCOVER: Final = "REDISCOVER"
STOPPED: Final = "STOPPED_CONSUMPTION"

# of the coordinator
CATCH_UP: Final = "CATCH_UP"
READY: Final = "READY"
PREPARE: Final = "PREPARE_FOR_REBALANCE"
REBALANCING: Final = "REBALANCING"
STEADY: Final = "STEADY"

# Events of a consumer without a response.
START: Final = "start"
STOP: Final = "stop"
LOST: Final = "coordinator lost"
"""The connection is closed, or a response did not come in time."""
RESUBSCRIBED: Final = "subscription changed"
"""Metadata has other topics that match a wildcard, or the application subscribes to others."""

CONSUMER_EVENTS: Final = (START, STOP, LOST, RESUBSCRIBED)

# Events of a coordinator without a request, or because of one that waits for its response.
ELECTED: Final = "elected"
LOADED: Final = "group metadata loaded"
RESIGNED: Final = "demoted"
JOINED: Final = "JoinGroup accepted"
"""It waits for its response until the rebalance is over."""
LEFT: Final = "consumer left"
DEAD: Final = "consumer dead"
PARTITIONS_CHANGED: Final = "partitions changed"
CANCELLED: Final = "rebalance cancelled"
ALL_JOINED: Final = "all consumers joined"
ANSWERED: Final = "JoinGroup answered"
EMPTIED: Final = "no consumer left"

NOT_COORDINATOR: Final = "NotCoordinatorForGroup"
NOT_COMPLETE: Final = "CoordinatorStartupNotComplete"
ILLEGAL_GENERATION: Final = "IllegalGeneration"
UNKNOWN_CONSUMER: Final = "UnknownConsumerId"
ILLEGAL_STATE: Final = "IllegalProtocolState"
UNKNOWN_STRATEGY: Final = "UnknownPartitioningStrategy"
INCONSISTENT_STRATEGY: Final = "InconsistentPartitioningStrategy"
TIMEOUT_TOO_HIGH: Final = "SessionTimeoutTooHigh"
UNKNOWN: Final = "Unknown"

FINAL: Final = (UNKNOWN_STRATEGY, INCONSISTENT_STRATEGY, TIMEOUT_TOO_HIGH, UNKNOWN)
"""Responses to JoinGroup after which a consumer can't join: a retry would not help."""

# fmt: off
REWRITE_CONSUMER: Final = Table(
    source="Kafka 0.9 Consumer Rewrite Design: State diagram, Consumer; Interesting scenarios",
    states=(
        (DOWN, "the consumer is not running, or is unable to join"),
        (DISCOVER, "it looks for its coordinator in order to join"),
        (PART_OF_GROUP, "it has an id and a generation, sends heartbeats and consumes"),
        (REDISCOVER, "it looks for its coordinator again, and goes on consuming"),
        (STOPPED, "it has stopped, commits and joins again"),
    ),
    rows=(
        (DOWN, START, NONE, DISCOVER),

        (DISCOVER, "ConsumerMetadata", ANY, DISCOVER),
        (DISCOVER, "JoinGroup", NONE, PART_OF_GROUP),
        *((DISCOVER, "JoinGroup", answer, DOWN) for answer in FINAL),
        (DISCOVER, "JoinGroup", OTHER, DISCOVER),
        (DISCOVER, "LeaveGroup", ANY, DISCOVER),  # reconstructed: the page has no LeaveGroup
        (DISCOVER, LOST, NONE, DISCOVER),
        (DISCOVER, STOP, NONE, DOWN),

        (PART_OF_GROUP, "Heartbeat", NONE, PART_OF_GROUP),
        (PART_OF_GROUP, "Heartbeat", ILLEGAL_GENERATION, STOPPED),
        (PART_OF_GROUP, "Heartbeat", UNKNOWN_CONSUMER, STOPPED),
        (PART_OF_GROUP, "Heartbeat", NOT_COORDINATOR, REDISCOVER),
        (PART_OF_GROUP, "Heartbeat", OTHER, PART_OF_GROUP),  # it retries after some backoff
        (PART_OF_GROUP, "OffsetCommit", NOT_COORDINATOR, REDISCOVER),
        # a heartbeat's response shows that it is of the past
        (PART_OF_GROUP, "OffsetCommit", ANY, PART_OF_GROUP),
        # 0.8's own, which the page does not mention: the first offsets
        (PART_OF_GROUP, "OffsetFetch", NOT_COORDINATOR, REDISCOVER),
        (PART_OF_GROUP, "OffsetFetch", ANY, PART_OF_GROUP),
        (PART_OF_GROUP, LOST, NONE, REDISCOVER),
        (PART_OF_GROUP, RESUBSCRIBED, NONE, STOPPED),
        (PART_OF_GROUP, "LeaveGroup", ANY, PART_OF_GROUP),
        (PART_OF_GROUP, STOP, NONE, DOWN),

        (REDISCOVER, "ConsumerMetadata", NONE, PART_OF_GROUP),
        (REDISCOVER, "ConsumerMetadata", OTHER, REDISCOVER),
        (REDISCOVER, LOST, NONE, REDISCOVER),
        (REDISCOVER, STOP, NONE, DOWN),

        (STOPPED, "OffsetCommit", ANY, STOPPED),
        (STOPPED, "OffsetFetch", ANY, STOPPED),
        (STOPPED, "JoinGroup", NONE, PART_OF_GROUP),
        (STOPPED, "JoinGroup", UNKNOWN_CONSUMER, DISCOVER),  # the label that is left of the picture
        (STOPPED, "JoinGroup", NOT_COORDINATOR, DISCOVER),   # reconstructed: it consumes nothing by now
        *((STOPPED, "JoinGroup", answer, DOWN) for answer in FINAL),
        (STOPPED, "JoinGroup", OTHER, STOPPED),
        # a consumer that did not receive its JoinGroupResponse discovers the new one and sends it a join
        (STOPPED, LOST, NONE, DISCOVER),
        (STOPPED, STOP, NONE, DOWN),
    ),
)
"""A consumer, as its requests, their responses and its other events show it."""

REWRITE_COORDINATOR: Final = Table(
    source="Kafka 0.9 Consumer Rewrite Design: State diagram, Co-ordinator; Interesting scenarios",
    states=(
        (DOWN, "this broker does not coordinate the group"),
        (CATCH_UP, "elected, it reads what the registry has"),
        (READY, "it knows the group, or that there is none, and nobody has asked yet"),
        (PREPARE, "it answers heartbeats with IllegalGeneration, and waits for all to join"),
        (REBALANCING, "all have joined; the new generation is being written"),
        (STEADY, "it takes heartbeats and commits"),
    ),
    rows=(
        (DOWN, ELECTED, NONE, CATCH_UP),
        *(
            (DOWN, api, NOT_COORDINATOR, DOWN)
            for api in ("JoinGroup", "Heartbeat", "OffsetCommit", "OffsetFetch", "LeaveGroup")
        ),

        (CATCH_UP, LOADED, NONE, READY),
        (CATCH_UP, "Heartbeat", NOT_COMPLETE, CATCH_UP),
        (CATCH_UP, "OffsetCommit", NOT_COMPLETE, CATCH_UP),
        (CATCH_UP, "OffsetFetch", NOT_COMPLETE, CATCH_UP),
        (CATCH_UP, "LeaveGroup", NOT_COMPLETE, CATCH_UP),
        # section Co-ordinator has CoordinatorStartupNotComplete, too; the failover's section, written
        # later, calls it illegal to join by now
        (CATCH_UP, "JoinGroup", ILLEGAL_STATE, CATCH_UP),

        (READY, "Heartbeat", NONE, STEADY),
        (READY, "Heartbeat", OTHER, READY),
        (READY, "OffsetCommit", ANY, READY),

        (STEADY, "Heartbeat", NONE, STEADY),
        (STEADY, "Heartbeat", OTHER, STEADY),
        (STEADY, "OffsetCommit", ANY, STEADY),

        *(
            (state, event, NONE, PREPARE)
            for state in (READY, STEADY)
            for event in (JOINED, LEFT, DEAD, PARTITIONS_CHANGED)
        ),
        *(
            (state, api, answer, state)
            for state in (READY, STEADY, PREPARE, REBALANCING)
            for api, answer in (("JoinGroup", OTHER), ("OffsetFetch", NONE), ("LeaveGroup", ANY))
        ),

        (PREPARE, "Heartbeat", ILLEGAL_GENERATION, PREPARE),
        (PREPARE, "Heartbeat", UNKNOWN_CONSUMER, PREPARE),
        # of the generation that ends: until all have joined it is the current one
        (PREPARE, "OffsetCommit", ANY, PREPARE),
        (PREPARE, JOINED, NONE, PREPARE),
        (PREPARE, LEFT, NONE, PREPARE),
        (PREPARE, DEAD, NONE, PREPARE),
        (PREPARE, PARTITIONS_CHANGED, NONE, PREPARE),
        (PREPARE, CANCELLED, NONE, STEADY),
        (PREPARE, ALL_JOINED, NONE, REBALANCING),

        (REBALANCING, "Heartbeat", ILLEGAL_GENERATION, REBALANCING),
        (REBALANCING, "Heartbeat", UNKNOWN_CONSUMER, REBALANCING),
        (REBALANCING, "OffsetCommit", OTHER, REBALANCING),
        (REBALANCING, PARTITIONS_CHANGED, NONE, REBALANCING),
        (REBALANCING, ANSWERED, NONE, STEADY),
        # reconstructed: as if none had ever registered; also when the strategy gave no assignment
        (REBALANCING, EMPTIED, NONE, READY),

        *(
            (state, RESIGNED, NONE, DOWN)
            for state in (CATCH_UP, READY, PREPARE, REBALANCING, STEADY)
        ),
    ),
)
"""A coordinator of one group: its response in each state, and its other events."""
# fmt: on
