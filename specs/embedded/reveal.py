"""Finds all messages inside the bytes fields of a decoded body, for display next to the body.

The result is plain data as in decoded bodies (`barnabas.specs.jsonform.to_json` makes JSON of it). For the
path of each field it has one of these:

     {"message": name, "version": n, "values": {...}}   and "oddities", and "inside": {path: result}
     {"records": [{"offset": n, ...}], "left_off": n}   left_off is None if the number is unknown
     {"text": "..."}
     {"unread": reason, "size": bytes}                  the bytes stay in the body
"""

from __future__ import annotations

import functools
import ipaddress
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from barnabas.specs.embedded.bytes_fields import BYTES_FIELDS, BytesField, Contents
from barnabas.specs.embedded.embedded_message import EmbeddedMessage, read_forward, read_versioned
from barnabas.specs.embedded.members import Part, read_member, read_user_data
from barnabas.specs.embedded.record_sets import InternalRecord, read_internal_records
from barnabas.specs.embedded.topics import CLUSTER_METADATA
from barnabas.specs.frames import Direction, Frame, decode_frame
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import NAMES
from barnabas.specs.secrets import redact, withheld

Revealed = dict[str, Any]

Scope = tuple[Mapping[str, Any], ...]
"""The structures around some bytes, innermost first."""

Trail = tuple[str | int, ...]
"""The path to some bytes: names of fields, and indexes in arrays."""

Spot = tuple[Trail, bytes, Scope]
"""Bytes that may contain a message, their path, and the structures around them."""

MAX_DEPTH: Final = 8
"""Levels of messages inside messages. Only Envelopes can go deeper, and Kafka rejects those."""

METADATA_TOPIC_ID: Final = uuid.UUID(int=1)
"""The id of __cluster_metadata (Kafka's Uuid.METADATA_TOPIC_ID)."""

SECRETS: Final = {
    "UserScramCredentialRecord": ("salt", "stored_key", "server_key"),
    "ConfigRecord": ("value",),  # no field says which values are passwords, as in AlterConfigs
    "StreamsGroupTopologyValue": (
        "subtopologies.state_changelog_topics.topic_configs.value",
        "subtopologies.repartition_source_topics.topic_configs.value",
    ),
}
"""Record -> paths of its secret fields; `barnabas.specs.secrets` has those of requests and responses."""


_BYTES_FIELDS: Final = {
    message: tuple(
        (field, tuple(field.path.split("."))) for field in BYTES_FIELDS if field.message == message
    )
    for message in dict.fromkeys(field.message for field in BYTES_FIELDS)
}

MAX_BYTES: Final = 1 << 20
"""Bytes in one body that are read: members and records of internal topics have far fewer."""

RECORDS: Final = 100
"""The default for the number of records of one body that are read."""

SHORT: Final = 1024
"""Results for at most this many bytes are cached; a result takes up to a hundred times as much."""


@dataclass
class Budget:
    """The number of records and bytes that may still be read in a body."""

    records: int
    size: int = MAX_BYTES

    def spend(self, data: bytes) -> None:
        """Subtract the size of data. Raises Malformed if the budget is exceeded."""
        self.size -= len(data)
        if self.size < 0:
            raise Malformed(
                "", 0, f"too large to decode: more than {MAX_BYTES >> 20} MiB hide in the body"
            )


class Surroundings(NamedTuple):
    """Facts about the message around some bytes that the message itself may not contain."""

    protocol_type: str | None = None
    """The protocol type of the group."""
    protocol_name: str | None = None
    topic_names: Mapping[uuid.UUID, str] = {}
    """Names of topics by id."""
    request: Mapping[str, Any] | None = None
    """The body that a response answers: only it says which response an Envelope contains."""
    release: str | None = None
    """The release of Kafka, for the few messages whose layout changed."""
    depth: int = 0
    budget: Budget = Budget(0)


NOTHING_KNOWN: Final = Surroundings()


def reveal(
    key: int,
    direction: Direction,
    body: Mapping[str, Any],
    around: Surroundings = NOTHING_KNOWN,
    *,
    records: int = RECORDS,
) -> dict[str, Revealed]:
    """Return the messages inside the body of an API's message, by path. Never raises; secrets are withheld.

    Args:
        key: The API's key.
        direction: "request" or "response".
        body: The decoded body.
        around: Facts that the caller knows, and the body may lack.
        records: The most records to read.

    >>> body = {"protocol_type": "consumer", "protocols": [{"name": "range", "metadata":
    ...     bytes.fromhex("0000 00000001 000174 ffffffff")}]}
    >>> reveal(11, "request", body)["protocols[0].metadata"]["values"]
    {'topics': ['t'], 'user_data': None}
    """
    request = around.request or {}
    around = around._replace(
        protocol_type=around.protocol_type or request.get("protocol_type"),
        protocol_name=around.protocol_name or request.get("protocol_name"),
        budget=Budget(records),
    )
    return _embedded(_message(key, direction), body, around)


@functools.lru_cache(1024)
def _message(key: int, direction: Direction) -> str:
    return f"{NAMES.get(key, '')}{direction.capitalize()}"


def _embedded(message: str, values: Mapping[str, Any], around: Surroundings) -> dict[str, Revealed]:
    revealed = {}
    for field, names in _BYTES_FIELDS.get(message, ()):
        for trail, data, scope in _spots(names, values, (), (), []):
            try:
                result = _read_field(field, data, scope, around)
            except Malformed as e:
                result = _unread(_message_of(e), data)
            except (LookupError, ValueError) as e:
                result = _unread(str(e), data)
            if result:
                revealed[_path(trail)] = result
    return revealed


def _spots(
    names: tuple[str, ...], struct: Mapping[str, Any], trail: Trail, scope: Scope, spots: list[Spot]
) -> list[Spot]:
    """Append the bytes at a path of field names to `spots`.

    `scope` has one structure for each name that was followed.
    """
    name = names[len(scope)]
    value, trail, scope = struct.get(name), (*trail, name), (struct, *scope)
    if not value:  # null or empty: nothing hides there
        return spots
    if isinstance(value, list):
        for i, item in enumerate(value):
            if item:
                _spots(names, item, (*trail, i), scope, spots)
    elif isinstance(value, dict):
        _spots(names, value, trail, scope, spots)
    elif isinstance(value, bytes):  # else it is withheld
        spots.append((trail, value, scope))
    return spots


def _path(trail: Trail) -> str:
    """Return a path as text.

    >>> _path(("protocols", 0, "metadata"))
    'protocols[0].metadata'
    """
    return "".join([f"[{step}]" if isinstance(step, int) else f".{step}" for step in trail])[1:]


def _innermost(scope: Scope, name: str) -> Any:
    """Return the field of this name in the innermost structure that has one."""
    for struct in scope:
        if name in struct:
            return struct[name]
    return None


def _read_field(field: BytesField, data: bytes, scope: Scope, around: Surroundings) -> Revealed:
    if around.depth >= MAX_DEPTH:
        return _unread(f"more than {MAX_DEPTH} messages inside each other", data)
    if field.kind == "records":
        return _records(field, data, scope, around)
    around.budget.spend(data)
    around = _within(field, scope, around)
    if len(data) > SHORT or field.kind in ("request", "response"):
        return _READERS[field.kind](data, around)
    facts = around.protocol_type, around.protocol_name, around.release, around.depth
    return _remembered(field.kind, data, *facts)


@functools.lru_cache(128)
def _remembered(
    kind: Contents,
    data: bytes,
    of_type: str | None,
    name: str | None,
    release: str | None,
    depth: int,
) -> Revealed:
    """Return the result for a member's bytes, from a cache.

    The same bytes come with each request and each rebalance. They have a fixed budget of their own, since the
    caller already paid for them.
    """
    around = Surroundings(of_type, name, release=release, depth=depth, budget=Budget(0))
    return _READERS[kind](data, around)


def _member(part: Part, data: bytes, around: Surroundings) -> Revealed:
    if not around.protocol_type:
        return _unread("nothing says the protocol type of the group", data)
    return _shown(read_member(around.protocol_type, part, data), around)


def _user_data(part: Part, data: bytes, around: Surroundings) -> Revealed:
    if not around.protocol_name:
        return _unread("nothing says which assignor wrote it", data)
    return _shown(read_user_data(around.protocol_name, part, data), around)


def _request(data: bytes, around: Surroundings) -> Revealed:
    return _frame(decode_frame(data, "request", release=around.release), around)


def _within(field: BytesField, scope: Scope, around: Surroundings) -> Surroundings:
    """Return the facts that hold inside a bytes field."""
    return around._replace(
        protocol_type=_innermost(scope, "protocol_type") or around.protocol_type,
        protocol_name=_innermost(scope, field.named_by) or around.protocol_name,
        depth=around.depth + 1,
    )


def _records(field: BytesField, data: bytes, scope: Scope, around: Surroundings) -> Revealed:
    topic = _innermost(scope, field.named_by)
    if not topic and (found_id := _innermost(scope, "topic_id")) is not None:
        named = CLUSTER_METADATA if found_id == METADATA_TOPIC_ID else None
        topic = around.topic_names.get(found_id, named)
    internal = read_internal_records(
        data,
        topic,
        limit=around.budget.records,
        release=around.release,
        begins=not _innermost(scope, "position"),  # FetchSnapshot cuts at any byte
    )
    around.budget.records -= len(internal.records)
    result: Revealed = {}
    if internal.records or internal.left_off != 0:
        around = _within(field, scope, around)
        result = {
            "records": [_record(record, around) for record in internal.records],
            "left_off": internal.left_off,
        }
    if internal.error is not None:
        result |= _unread(_message_of(internal.error), data)
    return result


def _record(record: InternalRecord, around: Surroundings) -> Revealed:
    result: Revealed = {"offset": record.offset}
    if record.control is not None:
        result["control"] = record.control
    if record.key is not None:
        result["key"] = _part(record.key, around)
    if record.value is not None or record.control is None:
        result["value"] = _part(record.value, around)
    return result


def _part(part: EmbeddedMessage | Malformed | None, around: Surroundings) -> Revealed | None:
    if isinstance(part, Malformed):
        return {"unread": _message_of(part)}
    return None if part is None else _shown(part, around)


def _response(data: bytes, around: Surroundings) -> Revealed:
    envelope = (around.request or {}).get("request_data")
    if not isinstance(envelope, bytes):
        return _unread("it can't be read without the request", data)
    envelope_frame = decode_frame(envelope, "request", release=around.release)
    response_frame = decode_frame(
        data,
        "response",
        key=envelope_frame.key,
        version=envelope_frame.version,
        release=around.release,
    )
    return _frame(
        response_frame,
        around._replace(
            protocol_type=envelope_frame.body.get("protocol_type"),
            protocol_name=envelope_frame.body.get("protocol_name"),
            request=envelope_frame.body,
        ),
    )


_READERS: Final[Mapping[Contents, Callable[[bytes, Surroundings], Revealed]]] = {
    "subscription": functools.partial(_member, "subscription"),
    "assignment": functools.partial(_member, "assignment"),
    "consumer subscription": lambda data, around: _shown(
        read_member("consumer", "subscription", data), around
    ),
    "subscription's user data": functools.partial(_user_data, "subscription"),
    "assignment's user data": functools.partial(_user_data, "assignment"),
    "connect assignment": lambda data, around: _shown(
        read_forward("ConnectProtocolAssignment", data), around
    ),
    "request": _request,
    "response": _response,
    "principal": lambda data, around: _shown(read_versioned("DefaultPrincipalData", data), around),
    "address": lambda data, _: {"text": str(ipaddress.ip_address(data))},
    "text": lambda data, _: {"text": data.decode("utf-8", "replace")},
}
"""The function that reads a bytes field, by its contents; `_records` reads record sets."""


def _frame(frame: Frame, around: Surroundings) -> Revealed:
    message = _message(frame.key, frame.direction)
    result = {
        "message": message,
        "version": frame.version,
        "header": frame.header,
        "values": redact(frame.key, frame.direction, frame.body),
    }
    embedded = _embedded(message, frame.body, around)
    return result | {"inside": embedded} if embedded else result


def _shown(message: EmbeddedMessage, around: Surroundings) -> Revealed:
    values = message.values
    for path in SECRETS.get(message.name, ()):
        values = withheld(values, tuple(path.split(".")))
    result: Revealed = {"message": message.name, "version": message.version, "values": values}
    if message.oddities:
        result["oddities"] = [
            f"{odd.path}: {odd.what}" if odd.path else odd.what for odd in message.oddities
        ]
    embedded = _embedded(message.name, message.values, around)
    return result | {"inside": embedded} if embedded else result


def _message_of(error: Malformed) -> str:
    return str(error) if error.path else error.reason


def _unread(reason: str, data: bytes) -> Revealed:
    return {"unread": reason, "size": len(data)}
