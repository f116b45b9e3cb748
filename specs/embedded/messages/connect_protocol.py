"""The messages between workers of Kafka Connect: their state, assigned connectors and tasks.

Layout: the Java classes ConnectProtocol (v0, eager) and IncrementalCooperativeConnectProtocol (v1, KIP-415;
v2, sessioned, KIP-507: the same bytes as v1) of Apache Kafka 4.3.1, each after an int16 version. `allocation`
is a whole assignment with its version. Task -1 is the connector itself.
"""

from barnabas.specs.declaration import (
    FOREVER,
    Array,
    Int16,
    Int32,
    Int64,
    NullableBytes,
    String,
    Struct,
)
from barnabas.specs.message import Message

# fmt: off

ConnectProtocolSubscription = Message(
    "url"           / String,
    "config_offset" / Int64,
    "allocation"    / NullableBytes.since(1).default(None),
).of("ConnectProtocolSubscription", (0, 2), FOREVER)

ConnectorAssignment = Struct(
    "connector" / String,
    "tasks"     / Array(Int32),
)

ConnectProtocolAssignment = Message(
    "error"         / Int16,
    "leader"        / String,
    "leader_url"    / String,
    "config_offset" / Int64,
    "assignment"    / Array(ConnectorAssignment).nullable(since=1),
    "revoked"       / Array(ConnectorAssignment).since(1).nullable(since=1).default(None),
    "delay"         / Int32.since(1),
).of("ConnectProtocolAssignment", (0, 2), FOREVER)
