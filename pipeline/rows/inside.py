"""The contents of bytes fields, as rows: members' subscriptions and assignments, records, forwarded frames.

They are read where bodies are decoded, with the names that were learnt by then. The topic of a record set may
be an id whose name only another flow has. Then it is unknown whether its records are Kafka's own, and only
control records are read. When names have been gathered, `Internal` reads such exchanges again.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, NamedTuple

import pyarrow as pa

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.embedded import inside
from barnabas.captures.kafka.exchange import Exchange
from barnabas.pipeline.rows.bodies import Names
from barnabas.pipeline.rows.columns import Column
from barnabas.specs.embedded import METADATA_TOPIC_ID
from barnabas.specs.embedded.topics import CLUSTER_METADATA, TOPICS
from barnabas.specs.json_text import compact
from barnabas.specs.jsonform import text_uuid, uuid_text

INSIDE: Final = (
    Column("capture", "string", "name of the capture"),
    Column("connection", "bigint", "number of its connection, as in exchanges"),
    Column("ordinal", "bigint", "the request's number, as in exchanges"),
    Column("ts_ns", "bigint", "when the request arrived, as in exchanges"),
    Column("direction", "string", "request or response"),
    Column(
        "path",
        "string",
        "of the bytes in the body: `protocols[0].metadata`; of a record with its place in the record set: "
        "`responses[0].partitions[0].records[3]`; of what lies in such bytes with the way on",
    ),
    Column("depth", "int", "0: it lies in the body's bytes, 1: in the bytes of that ..."),
    Column(
        "kind",
        "string",
        "message, record, control record, text; unread: why is in said; left off: records of a set that are "
        "not here",
    ),
    Column(
        "message",
        "string",
        "its name: ConsumerProtocolSubscription; of a record without Key and Value: OffsetCommit; of a "
        "control record its type; null: not read",
    ),
    Column("version", "int", "of the message; of a record that of its value; or null"),
    Column("group", "string", "group that it names, or that is named around it; or null"),
    Column("member", "string", "member id that it names, or that is named around it; or null"),
    Column("transactional_id", "string", "transactional id that it names, or null"),
    Column(
        "topic",
        "string",
        "topic of a record's log, as in exchanges; of what lies in one, too; else null",
    ),
    Column("partition", "int", "of that topic"),
    Column("offset", "bigint", "of the record in its log; null: no record"),
    Column("about_topic", "string", "topic that the message is about, or its id; or null"),
    Column("about_partition", "int", "of that topic, or null"),
    Column("about_offset", "bigint", "offset that was committed, or a share group begins at; or null"),
    Column("said", "string", "all of it as JSON, as `decode --json` has it in `inside`"),
)  # fmt: skip
"""One row for each message in bytes, for each record, and for each unreadable field."""

RECORDS: Final = 10_000
"""The most records of a body that are read; of a record set at most `record_sets.MAX_BYTES`."""

Scope = tuple[Mapping[str, Any], ...]
"""The structures around some bytes, innermost first."""

_STEPS: Final = re.compile(r"[^.\[\]]+")


def inside_rows(exchange: Exchange, context: Context) -> Iterator[dict[str, Any]]:
    """Yield rows of INSIDE without capture and connection. Never raises, whatever the bodies contain.

    `context` has what was learnt up to and including this exchange.
    """
    for direction, fields in inside(exchange, context, records=RECORDS).items():
        body = exchange.request if direction == "request" else exchange.response
        for path, result in fields.items():
            scope = (*_around(body or {}, path), exchange.request or {})
            for row in _rows(path, result, scope, context.topics, 0, {}):
                yield {
                    "ordinal": exchange.ordinal,
                    "ts_ns": exchange.ts,
                    "direction": direction,
                    **row,
                }


def inside_row(
    values: Mapping[str, Any], connection: int, capture: str, names: Mapping[str, str]
) -> dict[str, Any]:
    """Return a row of INSIDE from a row of `inside_rows`.

    `connection` is its number in the table. `names` are topic names by id as text.
    """
    topics = {name: names.get(values[name], values[name]) for name in ("topic", "about_topic")}
    return {**values, **topics, "capture": capture, "connection": connection}


class Internal(NamedTuple):
    """Internal topics that some flows may know by id only. It can be pickled."""

    names: Mapping[str, str]
    """By id, as text."""

    def missed(self, row: Mapping[str, Any]) -> bool:
        """Return whether a row has a topic whose name its flow did not know: `rows` makes it again."""
        return row["topic"] in self.names

    def rows(
        self, exchanges: pa.RecordBatch, topics: Names
    ) -> Iterator[tuple[tuple[int, int], dict[str, Any]]]:
        """Yield the rows of exchanges with internal topics, each with section group and connection key.

        `topics` are names by id.
        """
        context = Context()
        context.topics.update(topics)
        columns = [exchanges[name] for name in REREAD]
        for at, ids in enumerate(exchanges["topics"].to_pylist()):
            names = {self.names[topic] for topic in ids or () if topic in self.names}
            if names:
                section, of, *values = (column[at].as_py() for column in columns)
                for row in inside_rows(_exchange(*values), context):
                    if row["topic"] in names:
                        yield (section, of), row


def internal(topics: Names) -> Internal:
    """Return the internal topics among a capture's topics."""
    return Internal(
        {
            uuid_text(topic): name
            for topic, name in topics.items()
            if name in TOPICS and topic != METADATA_TOPIC_ID
        }
    )


REREAD: Final = (
    *("section", "connection_key", "ts_ns", "ordinal", "key", "version"),
    *("request_body", "response_body"),
)
"""Columns of which `Internal.rows` makes rows, in addition to `topics`."""


def _exchange(
    ts_ns: int, ordinal: int, key: int, version: int, request: bytes | None, response: bytes | None
) -> Exchange:
    return Exchange(
        ts_ns, 0, "", None, None, key, version, 0, 0, request_body=request, response_body=response,
        ordinal=ordinal,
    )  # fmt: skip


def _around(body: Mapping[str, Any], path: str) -> Scope:
    """Return the structures on the path to a field."""
    scope: Scope = (body,)
    value: Any = body
    for step in _STEPS.findall(path)[:-1]:
        value = value[int(step)] if isinstance(value, list) else value[step]
        if isinstance(value, Mapping):
            scope = (value, *scope)
    return scope


def _rows(
    path: str,
    result: Mapping[str, Any],
    scope: Scope,
    topics: Names,
    depth: int,
    of_record: dict[str, Any],
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a result of `embedded.reveal`.

    `of_record` has topic, partition and offset of the record around it.
    """
    if "message" in result:
        kind = "message"
    elif "text" in result:
        kind = "text"
    else:
        yield from _record_set(path, result, scope, topics, depth)
        return
    values = result.get("values", {})
    around = (values, *scope)
    yield _row(path, kind, result, around, topics, depth) | of_record
    for name, inner in result.get("inside", {}).items():
        yield from _rows(
            f"{path}.{name}", inner, (*_around(values, name), *scope), topics, depth + 1, of_record
        )


def _record_set(
    path: str, result: Mapping[str, Any], scope: Scope, topics: Names, depth: int
) -> Iterator[dict[str, Any]]:
    log = {
        "topic": _topic(scope, ("topic", "name"), topics),
        "partition": _innermost(scope, ("partition_index", "index", "partition")),
    }
    for at, record in enumerate(result.get("records", ())):
        of_record = {**log, "offset": record["offset"]}
        key, value = (record.get(name) or {} for name in ("key", "value"))
        of_value, of_key = value.get("values", {}), key.get("values", {})
        around = (of_value, of_key)
        record_path = f"{path}[{at}]"
        kind = "control record" if "control" in record else "record"
        yield _row(record_path, kind, record, around, topics, depth) | of_record
        for name, inner in value.get("inside", {}).items():
            steps = (*_around(of_value, name), of_key)
            yield from _rows(
                f"{record_path}.value.{name}", inner, steps, topics, depth + 1, of_record
            )
    rest = {name: value for name, value in result.items() if name != "records"}
    if "unread" in rest or rest.get("left_off") != 0:
        kind = "unread" if "unread" in rest else "left off"
        yield _row(path, kind, rest, scope, topics, depth) | (
            log if path.endswith("records") else {}
        )


def _row(
    path: str,
    kind: str,
    result: Mapping[str, Any],
    scope: Scope,
    topics: Names,
    depth: int,
) -> dict[str, Any]:
    """Return a row; `scope` has the message itself, and the structures around it."""
    values = scope[:1] if kind == "message" else scope if kind.endswith("record") else ()
    return {
        "path": path,
        "depth": depth,
        "kind": kind,
        "message": _message(result),
        "version": (result.get("value") or result).get("version"),
        "group": _innermost(scope, ("group_id", "group")),
        "member": _innermost(scope, ("member_id",)),
        "transactional_id": _innermost(values, ("transactional_id",)),
        **dict.fromkeys(("topic", "partition", "offset")),
        "about_topic": _topic(values, ("topic", "topic_name"), topics),
        "about_partition": _innermost(values, ("partition", "partition_id")),
        "about_offset": _innermost(values, ("offset", "start_offset")),
        "said": compact(result),
    }


def _message(result: Mapping[str, Any]) -> str | None:
    if "offset" not in result:
        return result.get("message")
    if "control" in result:
        return str(result["control"])
    name = (result.get("key") or result.get("value") or {}).get("message")
    return name and re.sub("(Key|Value)$", "", name)


def _innermost(scope: Scope, names: Collection[str]) -> Any:
    """Return the value of the innermost structure that has one of the fields; None for an empty text."""
    for struct in scope:
        for name in names:
            if struct.get(name) is not None:
                return struct[name] if struct[name] != "" else None
    return None


def _topic(scope: Scope, names: Collection[str], topics: Names) -> str | None:
    """Return a topic by its name, or by its id if no name is known."""
    name: str | None = _innermost(scope, names)
    if name is not None or (topic := _innermost(scope, ("topic_id",))) is None:
        return name
    if isinstance(topic, str):
        topic = text_uuid(topic)
    return CLUSTER_METADATA if topic == METADATA_TOPIC_ID else topics.get(topic, uuid_text(topic))
