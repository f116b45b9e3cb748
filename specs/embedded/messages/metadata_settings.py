"""Records of __cluster_metadata: configurations, quotas, ACLs, credentials, delegation tokens.

Layout: the records' definitions in Apache Kafka 4.3.1 (metadata/src/main/resources).
"""

from barnabas.specs.declaration import (
    Array,
    Bool,
    Bytes,
    Float64,
    Int8,
    Int32,
    Int64,
    NullableString,
    String,
    Uuid,
)
from barnabas.specs.message import Message
from barnabas.specs.structures import Entity

# fmt: off

ConfigRecord = Message(
    "resource_type" / Int8,
    "resource_name" / String,
    "name"          / String,
    "value"         / NullableString,
).of("ConfigRecord", (0, 0), 0)

DelegationTokenRecord = Message(
    "owner"                / String,
    "requester"            / String,
    "renewers"             / Array(String),
    "issue_timestamp"      / Int64,
    "max_timestamp"        / Int64,
    "expiration_timestamp" / Int64,
    "token_id"             / String,
).of("DelegationTokenRecord", (0, 0), 0)

UserScramCredentialRecord = Message(
    "name"       / String,
    "mechanism"  / Int8,
    "salt"       / Bytes,
    "stored_key" / Bytes,
    "server_key" / Bytes,
    "iterations" / Int32,
).of("UserScramCredentialRecord", (0, 0), 0)

ClientQuotaRecord = Message(
    "entity" / Array(Entity),
    "key"    / String,
    "value"  / Float64,
    "remove" / Bool,
).of("ClientQuotaRecord", (0, 0), 0)

AccessControlEntryRecord = Message(
    "id"              / Uuid,
    "resource_type"   / Int8,
    "resource_name"   / String,
    "pattern_type"    / Int8,
    "principal"       / String,
    "host"            / String,
    "operation"       / Int8,
    "permission_type" / Int8,
).of("AccessControlEntryRecord", (0, 0), 0)

RemoveAccessControlEntryRecord = Message(
    "id" / Uuid,
).of("RemoveAccessControlEntryRecord", (0, 0), 0)

RemoveUserScramCredentialRecord = Message(
    "name"      / String,
    "mechanism" / Int8,
).of("RemoveUserScramCredentialRecord", (0, 0), 0)

RemoveDelegationTokenRecord = Message(
    "token_id" / String,
).of("RemoveDelegationTokenRecord", (0, 0), 0)
