"""Records of __cluster_metadata: brokers, controllers, features, transactions of the log itself.

Layout: the records' definitions in Apache Kafka 4.3.1 (metadata/src/main/resources); KIP-631.
"""

from barnabas.specs.declaration import (
    Array,
    Bool,
    Int8,
    Int16,
    Int32,
    Int64,
    NullableString,
    String,
    Uuid,
)
from barnabas.specs.message import Message
from barnabas.specs.structures import Feature, SecuredListener

# fmt: off

RegisterBrokerRecord = Message(
    "broker_id"              / Int32,
    "is_migrating_zk_broker" / Bool.since(2),
    "incarnation_id"         / Uuid,
    "broker_epoch"           / Int64,
    "end_points"             / Array(SecuredListener),
    "features"               / Array(Feature),
    "rack"                   / NullableString,
    "fenced"                 / Bool.default(True),
    "in_controlled_shutdown" / Bool.since(1),
    "log_dirs"               / Array(Uuid).since(3).tag(0),
    "cordoned_log_dirs"      / Array(Uuid).since(4).nullable().tag(1).default(None),
).of("RegisterBrokerRecord", (0, 4), 0)

UnregisterBrokerRecord = Message(
    "broker_id"    / Int32,
    "broker_epoch" / Int64,
).of("UnregisterBrokerRecord", (0, 0), 0)

FenceBrokerRecord = Message(
    "id"    / Int32,
    "epoch" / Int64,
).of("FenceBrokerRecord", (0, 0), 0)

UnfenceBrokerRecord = FenceBrokerRecord.of("UnfenceBrokerRecord", (0, 0), 0)

FeatureLevelRecord = Message(
    "name"          / String,
    "feature_level" / Int16,
).of("FeatureLevelRecord", (0, 0), 0)

ProducerIdsRecord = Message(
    "broker_id"        / Int32,
    "broker_epoch"     / Int64.default(-1),
    "next_producer_id" / Int64,
).of("ProducerIdsRecord", (0, 0), 0)

BrokerRegistrationChangeRecord = Message(
    "broker_id"              / Int32,
    "broker_epoch"           / Int64,
    "fenced"                 / Int8.tag(0),
    "in_controlled_shutdown" / Int8.since(1).tag(1),
    "log_dirs"               / Array(Uuid).since(2).tag(2),
    "cordoned_log_dirs"      / Array(Uuid).since(3).nullable().tag(3).default(None),
).of("BrokerRegistrationChangeRecord", (0, 3), 0)

NoOpRecord = Message().of("NoOpRecord", (0, 0), 0)

ZkMigrationStateRecord = Message(
    "zk_migration_state" / Int8,
).of("ZkMigrationStateRecord", (0, 0), 0)

BeginTransactionRecord = Message(
    "name" / NullableString.tag(0).default(None),
).of("BeginTransactionRecord", (0, 0), 0)

EndTransactionRecord = Message().of("EndTransactionRecord", (0, 0), 0)

AbortTransactionRecord = Message(
    "reason" / NullableString.tag(0).default(None),
).of("AbortTransactionRecord", (0, 0), 0)

RegisterControllerRecord = Message(
    "controller_id"      / Int32,
    "incarnation_id"     / Uuid,
    "zk_migration_ready" / Bool,
    "end_points"         / Array(SecuredListener),
    "features"           / Array(Feature),
).of("RegisterControllerRecord", (0, 0), 0)
