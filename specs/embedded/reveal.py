"""All that hides inside the bytes of a decoded body, to be shown beside it.

What is found is plain data as bodies are (`barnabas.specs.jsonform.to_json` makes JSON of it): by the path of
the field one of

    {"message": name, "version": n, "values": {...}}   and "oddities", and "inside": {path: found}
    {"records": [{"offset": n, ...}], "left_off": n}   left_off is None if nobody knows
    {"text": "..."}
    {"unread": why, "size": bytes}                     the bytes stay in the body
"""

from __future__ import annotations

import functools
import ipaddress
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from barnabas.specs.embedded.members import Part, read_member, read_user_data
from barnabas.specs.embedded.places import PLACES, Kind, Place
from barnabas.specs.embedded.read import EmbeddedMessage, read_forward, read_versioned
from barnabas.specs.embedded.record_sets import Looked, look
from barnabas.specs.embedded.topics import CLUSTER_METADATA
from barnabas.specs.frames import Direction, Frame, decode_frame
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import NAMES
from barnabas.specs.secrets import redact, withheld

Found = dict[str, Any]

Scope = tuple[Mapping[str, Any], ...]
"""The structures around some bytes, innermost first."""

Trail = tuple[str | int, ...]
"""The way to some bytes: names of fields, and places in arrays."""

Spot = tuple[Trail, bytes, Scope]
"""Bytes that may hide something, the way to them, and what is around them."""

MAX_DEPTH: Final = 8
"""Messages inside messages; only Envelopes can go further, and Kafka refuses those."""

METADATA_TOPIC_ID: Final = uuid.UUID(int=1)
"""The id of __cluster_metadata (Kafka's Uuid.METADATA_TOPIC_ID)."""

SECRETS: Final = {
    "UserScramCredentialRecord": ("salt", "stored_key", "server_key"),
    "ConfigRecord": ("value",),  # nothing says which are passwords, as in AlterConfigs
    "StreamsGroupTopologyValue": (
        "subtopologies.state_changelog_topics.topic_configs.value",
        "subtopologies.repartition_source_topics.topic_configs.value",
    ),
}
"""Record -> paths of the fields that are withheld; those of requests and responses are in
`barnabas.specs.secrets`."""


_PLACES: Final = {
    message: tuple(
        (place, tuple(place.path.split("."))) for place in PLACES if place.message == message
    )
    for message in dict.fromkeys(place.message for place in PLACES)
}

MAX_BYTES: Final = 1 << 20
"""Bytes of one body that are looked into: members and records of internal topics have far less."""

RECORDS: Final = 100
"""Of one body that are looked at, unless somebody asks for more."""

SHORT: Final = 1024
"""Bytes that are remembered with what was made of them, which is a hundred times as much at worst."""


@dataclass
class Budget:
    """How many records and bytes may yet be looked at, in all of a body."""

    records: int
    size: int = MAX_BYTES

    def spend(self, data: bytes) -> None:
        """Raises Malformed if there are too many."""
        self.size -= len(data)
        if self.size < 0:
            raise Malformed(
                "", 0, f"too large to decode: more than {MAX_BYTES >> 20} MiB hide in the body"
            )


class Around(NamedTuple):
    """What is known of the surroundings of some bytes, which may not say all themselves."""

    protocol_type: str | None = None
    """Of the group, and the name of its protocol."""
    protocol_name: str | None = None
    topic_names: Mapping[uuid.UUID, str] = {}
    """By topic id."""
    request: Mapping[str, Any] | None = None
    """The body that a response answers: only that says what a response inside an Envelope is."""
    release: str | None = None
    """The release of Kafka, for the few messages whose layout changed."""
    depth: int = 0
    budget: Budget = Budget(0)


NOTHING_KNOWN: Final = Around()


def reveal(
    key: int,
    direction: Direction,
    body: Mapping[str, Any],
    around: Around = NOTHING_KNOWN,
    *,
    records: int = RECORDS,
) -> dict[str, Found]:
    """Return what hides in the body of an API's message, by path. Never raises; secrets are withheld.

    Args:
        key: The API's key.
        direction: "request" or "response".
        body: The decoded body.
        around: What the caller knows, and the body may not say.
        records: How many records are looked at, at most.

    >>> body = {"protocol_type": "consumer", "protocols": [{"name": "range", "metadata":
    ...     bytes.fromhex("0000 00000001 000174 ffffffff")}]}
    >>> reveal(11, "request", body)["protocols[0].metadata"]["values"]
    {'topics': ['t'], 'user_data': None}
    """
    asked = around.request or {}
    around = around._replace(
        protocol_type=around.protocol_type or asked.get("protocol_type"),
        protocol_name=around.protocol_name or asked.get("protocol_name"),
        budget=Budget(records),
    )
    return _embedded(_message(key, direction), body, around)


@functools.lru_cache(1024)
def _message(key: int, direction: Direction) -> str:
    return f"{NAMES.get(key, '')}{direction.capitalize()}"


def _embedded(message: str, values: Mapping[str, Any], around: Around) -> dict[str, Found]:
    found = {}
    for place, names in _PLACES.get(message, ()):
        for trail, data, scope in _spots(names, values, (), (), []):
            try:
                shown = _look(place, data, scope, around)
            except Malformed as e:
                shown = _unread(_why(e), data)
            except (LookupError, ValueError) as e:
                shown = _unread(str(e), data)
            if shown:
                found[_path(trail)] = shown
    return found


def _spots(
    names: tuple[str, ...], struct: Mapping[str, Any], trail: Trail, scope: Scope, spots: list[Spot]
) -> list[Spot]:
    """Adds whatever bytes stand at these names, of which the scope has come some way already."""
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
    """A trail as text.

    >>> _path(("protocols", 0, "metadata"))
    'protocols[0].metadata'
    """
    return "".join([f"[{step}]" if isinstance(step, int) else f".{step}" for step in trail])[1:]


def _said(scope: Scope, name: str) -> Any:
    """The field of this name in the innermost structure that has one."""
    for struct in scope:
        if name in struct:
            return struct[name]
    return None


def _look(place: Place, data: bytes, scope: Scope, around: Around) -> Found:
    if around.depth >= MAX_DEPTH:
        return _unread(f"more than {MAX_DEPTH} messages inside each other", data)
    if place.kind == "records":
        return _records(place, data, scope, around)
    around.budget.spend(data)
    around = _within(place, scope, around)
    if len(data) > SHORT or place.kind in ("request", "response"):
        return _READERS[place.kind](data, around)
    known = around.protocol_type, around.protocol_name, around.release, around.depth
    return _remembered(place.kind, data, *known)


@functools.lru_cache(128)
def _remembered(
    kind: Kind, data: bytes, of_type: str | None, name: str | None, release: str | None, depth: int
) -> Found:
    """The same of what members say: it comes again with each request and each rebalance, and takes no more
    than these to read. What hides in it is of the bytes that were paid for."""
    around = Around(of_type, name, release=release, depth=depth, budget=Budget(0))
    return _READERS[kind](data, around)


def _member(part: Part, data: bytes, around: Around) -> Found:
    if not around.protocol_type:
        return _unread("nothing says the protocol type of the group", data)
    return _shown(read_member(around.protocol_type, part, data), around)


def _user_data(part: Part, data: bytes, around: Around) -> Found:
    if not around.protocol_name:
        return _unread("nothing says which assignor wrote it", data)
    return _shown(read_user_data(around.protocol_name, part, data), around)


def _request(data: bytes, around: Around) -> Found:
    return _frame(decode_frame(data, "request", release=around.release), around)


def _within(place: Place, scope: Scope, around: Around) -> Around:
    """What is known inside the bytes at a place."""
    return around._replace(
        protocol_type=_said(scope, "protocol_type") or around.protocol_type,
        protocol_name=_said(scope, place.named_by) or around.protocol_name,
        depth=around.depth + 1,
    )


def _records(place: Place, data: bytes, scope: Scope, around: Around) -> Found:
    topic = _said(scope, place.named_by)
    if not topic and (found_id := _said(scope, "topic_id")) is not None:
        named = CLUSTER_METADATA if found_id == METADATA_TOPIC_ID else None
        topic = around.topic_names.get(found_id, named)
    found = look(
        data,
        topic,
        limit=around.budget.records,
        release=around.release,
        begins=not _said(scope, "position"),  # FetchSnapshot cuts where it likes
    )
    around.budget.records -= len(found.looked)
    shown: Found = {}
    if found.looked or found.left_off != 0:
        around = _within(place, scope, around)
        shown = {
            "records": [_record(record, around) for record in found.looked],
            "left_off": found.left_off,
        }
    if found.error is not None:
        shown |= _unread(_why(found.error), data)
    return shown


def _record(record: Looked, around: Around) -> Found:
    shown: Found = {"offset": record.offset}
    if record.control is not None:
        shown["control"] = record.control
    if record.key is not None:
        shown["key"] = _part(record.key, around)
    if record.value is not None or record.control is None:
        shown["value"] = _part(record.value, around)
    return shown


def _part(part: EmbeddedMessage | Malformed | None, around: Around) -> Found | None:
    if isinstance(part, Malformed):
        return {"unread": _why(part)}
    return None if part is None else _shown(part, around)


def _response(data: bytes, around: Around) -> Found:
    envelope = (around.request or {}).get("request_data")
    if not isinstance(envelope, bytes):
        return _unread("it takes the request that this answers to read it", data)
    asked = decode_frame(envelope, "request", release=around.release)
    answer = decode_frame(
        data, "response", key=asked.key, version=asked.version, release=around.release
    )
    return _frame(
        answer,
        around._replace(
            protocol_type=asked.body.get("protocol_type"),
            protocol_name=asked.body.get("protocol_name"),
            request=asked.body,
        ),
    )


_READERS: Final[Mapping[Kind, Callable[[bytes, Around], Found]]] = {
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
"""By kind of place: what reads the bytes there; record sets are read by `_records`."""


def _frame(frame: Frame, around: Around) -> Found:
    message = _message(frame.key, frame.direction)
    shown = {
        "message": message,
        "version": frame.version,
        "header": frame.header,
        "values": redact(frame.key, frame.direction, frame.body),
    }
    embedded = _embedded(message, frame.body, around)
    return shown | {"inside": embedded} if embedded else shown


def _shown(found: EmbeddedMessage, around: Around) -> Found:
    values = found.values
    for path in SECRETS.get(found.name, ()):
        values = withheld(values, tuple(path.split(".")))
    shown: Found = {"message": found.name, "version": found.version, "values": values}
    if found.oddities:
        shown["oddities"] = [
            f"{odd.path}: {odd.what}" if odd.path else odd.what for odd in found.oddities
        ]
    embedded = _embedded(found.name, found.values, around)
    return shown | {"inside": embedded} if embedded else shown


def _why(error: Malformed) -> str:
    return str(error) if error.path else error.reason


def _unread(why: str, data: bytes) -> Found:
    return {"unread": why, "size": len(data)}
