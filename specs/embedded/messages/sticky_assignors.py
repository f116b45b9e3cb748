"""What the sticky assignors put into the consumer protocol's user data; no version stands in front.

Layout: the Java classes StickyAssignor (v0 KIP-54, v1 KIP-341) and CooperativeStickyAssignor (KIP-429)
of Apache Kafka.
"""

from barnabas.specs.declaration import FOREVER, Array, Int32, String
from barnabas.specs.message import Message

# fmt: off

StickyAssignorUserData = Message(
    "previous_assignment" / Array(
        "topic"      / String,
        "partitions" / Array(Int32),
    ),
    "generation"          / Int32.since(1).default(-1),
).of("StickyAssignorUserData", (0, 1), FOREVER)

CooperativeStickyAssignorUserData = Message(
    "generation" / Int32,
).of("CooperativeStickyAssignorUserData", (0, 0), FOREVER)
