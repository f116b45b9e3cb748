"""ControlledShutdown (key 7): a broker asks the controller to move its leaders before it stops.

Layout: ControlledShutdownRequest.json and ControlledShutdownResponse.json of Apache Kafka; v0 has
no client id in its header; left with Kafka 4.0.
"""

from barnabas.specs.declaration import Array, Int16, Int32, Int64, String
from barnabas.specs.message import Api, Message

ControlledShutdown = Api(
    versions=(0, 3),
    flexible=3,
    request=Message(
        "broker_id"    / Int32,
        "broker_epoch" / Int64.since(2).default(-1),
    ),
    response=Message(
        "error_code"           / Int16,
        "remaining_partitions" / Array(
            "topic_name"      / String,
            "partition_index" / Int32,
        ),
    ),
)
