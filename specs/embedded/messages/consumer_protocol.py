"""The messages between members of a classic group: subscribed topics, assigned partitions.

Layout: ConsumerProtocolSubscription.json and ConsumerProtocolAssignment.json of Apache Kafka, each after an
int16 version; owned partitions from v1 (KIP-429), generation from v2 (KIP-792), rack from v3 (KIP-881).
`user_data` belongs to the assignor.
"""

from barnabas.specs.declaration import FOREVER, Array, Int32, NullableBytes, NullableString, String
from barnabas.specs.message import Message
from barnabas.specs.structures import TopicPartitionsByName

# fmt: off

ConsumerProtocolSubscription = Message(
    "topics"           / Array(String),
    "user_data"        / NullableBytes.default(None),
    "owned_partitions" / Array(TopicPartitionsByName).since(1),
    "generation_id"    / Int32.since(2).default(-1),
    "rack_id"          / NullableString.since(3).default(None),
).of("ConsumerProtocolSubscription", (0, 3), FOREVER)

ConsumerProtocolAssignment = Message(
    "assigned_partitions" / Array(TopicPartitionsByName),
    "user_data"           / NullableBytes.default(None),
).of("ConsumerProtocolAssignment", (0, 3), FOREVER)
