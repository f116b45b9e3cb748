"""The user data of the sticky assignors in the consumer protocol; it has no version.

Layout: the Java classes StickyAssignor (v0 KIP-54, v1 KIP-341) and CooperativeStickyAssignor (KIP-429) of
Apache Kafka.
"""

from barnabas.specs.declaration import FOREVER, Array, Int32
from barnabas.specs.message import Message
from barnabas.specs.structures import TopicPartitionsByName

# fmt: off

StickyAssignorUserData = Message(
    "previous_assignment" / Array(TopicPartitionsByName),
    "generation"          / Int32.since(1).default(-1),
).of("StickyAssignorUserData", (0, 1), FOREVER)

CooperativeStickyAssignorUserData = Message(
    "generation" / Int32,
).of("CooperativeStickyAssignorUserData", (0, 0), FOREVER)
