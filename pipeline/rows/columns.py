"""The columns of the tables: name, type and description. One list serves Arrow, Spark and the docs.

No Spark here: types are written as in Spark's DDL, and `arrow` makes a pyarrow schema of them.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import pyarrow as pa

from barnabas.captures.checks.facts import MEMBER, REQUEST, RESPONSE
from barnabas.captures.kafka.columns import COLUMNS

VERSION: Final = 3
"""The version of the tables. It is incremented with each new column, which gets this number as `since`, or
changed column. Older tables are 1."""

VERSION_KEY: Final = b"barnabas.tables"
"""The key of the table's version in a file's metadata."""


class Column(NamedTuple):
    """A column of a table; its type is a name in `TYPES` or `STRUCTS`, or an array of one."""

    name: str
    type: str
    description: str
    since: int = 1
    """The VERSION that added it: it is null in older files."""


def fields(text: str) -> tuple[Column, ...]:
    """Return internal columns, without descriptions.

    >>> fields("id bigint, name string")[1]
    Column(name='name', type='string', description='', since=1)
    """
    pairs = (pair.split() for pair in text.split(", "))
    return tuple(Column(name, kind, "") for name, kind in pairs)


def _of_message(names: tuple[str, ...]) -> tuple[Column, ...]:
    """Return fields of group messages: epochs, generations, times and codes are numbers."""
    numbers = ("epoch", "_ms", "generation_id", "code")
    return tuple(Column(name, "int" if name.endswith(numbers) else "string", "") for name in names)


TYPES: Final[dict[str, pa.DataType]] = {
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "double": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", tz="UTC"),
}
"""By name in Spark's DDL."""

PARTITION: Final = (
    Column("topic", "string", "name of the topic; its id in Kafka's base64 if no name is known"),
    Column("partition", "int", "index of the partition"),
    Column("error_code", "int", "its error code in the response; null: no response, or none in it"),
    Column(
        "offset",
        "bigint",
        "Produce: base offset that the broker gave; Fetch: fetch offset asked for; OffsetCommit, "
        "OffsetFetch, TxnOffsetCommit: the committed offset, -1: none is stored; ListOffsets: the "
        "offset answered",
    ),
    Column("last_offset", "bigint", "Produce, Fetch: offset of the last record"),
    Column("high_watermark", "bigint", "Fetch: the response's high watermark"),
    Column(
        "records",
        "bigint",
        "Produce, Fetch: number of records; null: not known for compressed messages of magic 0 or "
        "1",
    ),
    Column("bytes", "bigint", "Produce, Fetch: bytes of its record set"),
    Column("producer_id", "bigint", "Produce: of its first batch; null if not idempotent"),
    Column("producer_epoch", "int", "Produce: of its first batch; null if not idempotent"),
    Column("base_sequence", "int", "Produce: of its first batch; null if not idempotent"),
    Column(
        "checksum",
        "bigint",
        "Produce: a number that is the same when the records are sent again: the CRC-32C of an "
        "idempotent producer's first batch, else a digest of keys, values and headers",
    ),
)
"""The values of an exchange for one partition. SyncGroup and the heartbeats of KIP-848 list the newly
assigned partitions."""

STRUCTS: Final[dict[str, tuple[Column, ...]]] = {
    "partition": PARTITION,
    "place": fields(
        "topic string, partition int, asked boolean, error int, offset bigint, known_epoch int, "
        "preferred int, leader int, leader_epoch int, checksum bigint, producer_id bigint, "
        "producer_epoch int, base_sequence int, last_sequence int, next_offset bigint, "
        "deliveries int"
    ),
    "flaw": fields(
        "topic string, partition int, what string, offset bigint, crc bigint, producer_id bigint, "
        "error string"
    ),
    "begun": fields("producer_id bigint, producer_epoch int"),
    "member": _of_message(MEMBER),
    "asked": (*_of_message(REQUEST), *fields("assigns boolean, members array<member>")),
    "answered": (*_of_message(RESPONSE), *fields("errors array<int>, members array<member>")),
    "said": fields("request asked, response answered"),
    "seen": fields(
        "acks int, begun begun, flaws array<flaw>, group said, offered binary, "
        "places array<place>, request_hash bigint, responded boolean"
    ),
}
"""By the name of a column's type. `barnabas.captures.checks.facts` describes the fields of `seen` and of a
`Place`; `barnabas.captures.checks.flaws` describes a `Flaw`."""


def _of_log(*names: str) -> tuple[Column, ...]:
    """Return columns that tables and the JSON log share."""
    of_log = {column.name: Column(*column) for column in COLUMNS}
    return tuple(of_log[name] for name in names)


EXCHANGES: Final = (
    Column("ts", "timestamp", "when the request arrived, to the microsecond"),
    Column("ts_ns", "bigint", "the same in ns since the epoch"),
    Column("day", "date", "its day in UTC; the table is partitioned by it"),
    Column("capture", "string", "name of the capture; files that were read as one share it"),
    Column("connection", "bigint", "number of the client's connection within its capture"),
    Column(
        "ordinal",
        "bigint",
        "the request's number among those of its connection, from 0; below 0: not known, since the capture "
        "lacks the request, or requests before it",
    ),
    *_of_log("client_address"),
    Column("server_address", "string", "where the client connected, as ip:port"),
    *_of_log("client_id", "user"),
    Column(
        "software",
        "string",
        "name and version as the connection's ApiVersions request has them, or null",
    ),
    *_of_log("broker", "api", "key", "version", "correlation_id", "request_size"),
    *_of_log("response_size", "latency_ms", "broker_ms", "error"),
    Column("error_codes", "array<int>", "all different error codes but 0 in the response, ascending"),
    Column(
        "topics",
        "array<string>",
        "names of its topics, ascending; also those of its fetch session, or of its member's "
        "subscription",
    ),
    Column("partitions", "array<partition>", "its partitions, in the request's order"),
    Column("group", "string", "its consumer, share or streams group, or null"),
    Column("member", "string", "member id that the request has or the response gives, or null"),
    Column(
        "generation",
        "int",
        "generation or member epoch of the request; JoinGroup: of the response; or null",
    ),
    Column("transactional_id", "string", "its transactional id, or null"),
    Column("producer_id", "bigint", "its producer id, or null"),
    Column("producer_epoch", "int", "of that producer id, or null"),
    Column("base_sequence", "int", "lowest base sequence of its batches; null if not idempotent"),
    Column("acks", "int", "Produce: acks; else null"),
    Column("records", "bigint", "Produce, Fetch: number of records; else, or not known: null"),
    *_of_log("rules"),
    Column("note", "string", "a remark: no response (acks=0), dropped ..."),
    Column(
        "request_packet",
        "bigint",
        "number of the packet with the request's last byte, as Wireshark has it",
    ),
    Column("response_packet", "bigint", "the same of the response; 0 if there is none"),
    Column("throttle_ms", "int", "throttle time in the response; null: it has none", since=3),
    Column("undecodable", "string", "why a body could not be decoded; empty if both could; null: not tried"),
    Column("sasl", "string", "facts of an authentication; never a secret"),
    Column("named_broker", "int", "node id of the broker, if the capture itself names it"),
    Column(
        "end_ns",
        "bigint",
        "when it was over, in ns since the epoch: answered, given up, or its connection closed; "
        "null: not known",
    ),
    Column(
        "losses",
        "bigint",
        "number of losses in the capture before this exchange ended: between two equal numbers "
        "nothing is missing",
    ),
    Column(
        "seen",
        "seen",
        "what checks see of the bodies, see barnabas.captures.checks.facts; its fields change as checks do",
        since=2,
    ),
)  # fmt: skip
"""One row an exchange; written tables have `body` after these columns: VARIANT {request, response}."""

BODY_JSON: Final = Column(
    "body_json", "string", "with `--json-bodies`: `body` as JSON text; else null", 2
)
"""The column after `body`."""

RAW: Final = fields(
    "request_body binary, response_body binary, payload string, begun_ns bigint, "
    "request_place bigint, response_place bigint"
)
"""Columns after EXCHANGES before bodies become VARIANT: attributes of
`barnabas.captures.kafka.exchange.Exchange`, with `payload` as JSON."""

ERRORS: Final = (
    Column("capture", "string", "name of the capture"),
    Column("file", "string", "the capture file, or null if it is about a connection"),
    Column("offset", "bigint", "byte of the file (unpacked) where it begins, or null"),
    Column("bytes", "bigint", "how many bytes it is about; null: not known"),
    Column("connection", "bigint", "number of the connection, or null"),
    Column("direction", "string", "request or response, or null"),
    Column("ts_ns", "bigint", "when, in ns since the epoch, or null"),
    Column("packet", "bigint", "number of the packet, or null"),
    Column("kind", "string", "corrupt, truncated, gap, undecoded, unmatched, left out, forgotten ..."),
    Column("reason", "string", "in a line"),
)  # fmt: skip
"""Unreadable data: regions of files, gaps in connections, frames."""


def arrow(columns: tuple[Column, ...]) -> pa.Schema:
    """Return the pyarrow schema of a table, with the version in its metadata.

    >>> arrow(PARTITION[:2])
    topic: string
    partition: int32
    -- schema metadata --
    barnabas.tables: '3'
    """
    fields = [(column.name, _arrow_type(column.type)) for column in columns]
    return pa.schema(fields, {VERSION_KEY: str(VERSION).encode()})


def _arrow_type(name: str) -> pa.DataType:
    if name.startswith("array<"):
        return pa.list_(_arrow_type(name[len("array<") : -1]))
    if name in STRUCTS:
        return pa.struct(list(arrow(STRUCTS[name])))
    return TYPES[name]


def ddl(columns: tuple[Column, ...]) -> str:
    """Return the columns in Spark's DDL.

    >>> ddl(PARTITION[:2])
    '`topic` string, `partition` int'
    """
    return ", ".join(f"`{column.name}` {ddl_type(column.type)}" for column in columns)


def ddl_type(name: str) -> str:
    """Return the type of a column in Spark's DDL."""
    if name.startswith("array<"):
        return f"array<{ddl_type(name[len('array<') : -1])}>"
    if name not in STRUCTS:
        return name
    inner = (f"`{column.name}`: {ddl_type(column.type)}" for column in STRUCTS[name])
    return f"struct<{', '.join(inner)}>"
