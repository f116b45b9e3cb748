"""Makes an error response: the same error code for everything that a request names.

Kafka's classes do this by hand for each API (AbstractRequest.getErrorResponse), and many set the code on the
top level only. Here it follows from the two layouts, and every level gets the code. An array of the response
belongs to the array of the request whose elements have most fields in common with its own. A test compares
the results with Kafka's, for every API and version.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from barnabas.specs import api
from barnabas.specs.layout import Layout, Node, Slot

COMMON_NAMES: Final = {
    "partition": "partition_index",
    "partition_id": "partition_index",
    "index": "partition_index",
    "topic": "name",
    "user": "name",
    "topic_name": "name",
    "topics": "name",
    "coordinator_keys": "key",
    "groups_names": "group_id",
    "group": "group_id",
    "groups": "group_id",
    "group_ids": "group_id",
    "transactional_ids": "transactional_id",
    "consumer_group_ids": "group_id",
    "topic_names": "name",
}
"""Different names of a field in requests and responses -> one common name."""

TWINS: Final = {
    (4, "partition_errors"): ("topic_states.partition_states",),
    (5, "partition_errors"): ("topics.partition_indexes", "topic_states.partition_states"),
    (30, "results"): ("creations",),
    (31, "filter_results"): ("filters",),
    (34, "results"): ("dirs.topics",),
    (50, "results"): ("users",),
    (51, "results"): ("deletions", "upsertions"),
}
"""(API key, array of its response) -> arrays of its request, where the names do not match."""

IDENTIFYING_NUMBERS: Final = frozenset(
    ("partition_index", "resource_type", "producer_id", "session_id")
)
"""Numbers that identify an entry of a response; all other numbers are unknown in an error response."""

_ANONYMOUS: Final[dict[str, Any]] = {
    f"{prefix}principal_{part}": name
    for prefix in ("", "token_requester_")
    for part, name in (("type", "User"), ("name", "ANONYMOUS"))
}
_NO_TASKS: Final = ("active_tasks", "standby_tasks", "warmup_tasks", "partitions_by_user_endpoint")

UNKNOWN: Final[dict[int, dict[str, Any]]] = {
    0: {"base_offset": -1},
    1: {"high_watermark": -1},
    9: {"committed_offset": -1, "metadata": ""},
    10: {"node_id": -1, "port": -1},
    21: {"low_watermark": -1},
    22: {"producer_id": -1, "producer_epoch": -1},
    26: {"producer_id": -1, "producer_epoch": -1},
    38: {f"{when}_timestamp_ms": -1 for when in ("issue", "expiry", "max")} | _ANONYMOUS,
    48: {"entries": None},
    88: dict.fromkeys(_NO_TASKS),
}
"""API key -> fields of an error response that are neither null nor have their default."""

NO_ERRORS: Final = frozenset(("topic_config_error_code",))
"""Error codes that are not the result of the request."""


class Twin(NamedTuple):
    """An array of a request to which an array of the response corresponds."""

    path: tuple[str, ...]
    element: Node


def error_response(key: int, version: int, request: dict[str, Any], code: int) -> dict[str, Any]:
    """Return the values of a response in which every error code is this one.

    Error messages are null: clients have their own text for the code.

    >>> error_response(12, 0, {"group_id": "g", "generation_id": 1, "member_id": "m"}, 27)
    {'error_code': 27}
    """
    declaration = api(key)
    response = declaration.response.layout(version)
    request_layout = declaration.request.layout(version)
    twins = {
        slot.name: [
            twin for path in TWINS.get((key, slot.name), ()) for twin in _twin(request_layout, path)
        ]
        for slot in response.slots
    }
    identity = {name: request[name] for name in ("session_id",) if name in request}
    return _Filling(code, UNKNOWN.get(key, {}), twins).struct(
        response, request_layout, request, identity
    )


class _Filling(NamedTuple):
    """The inputs of the response that all its levels share."""

    code: int
    unknown: dict[str, Any]
    twins: dict[str, list[Twin]]

    def struct(
        self, response: Layout, request: Layout, values: dict[str, Any], identity: dict[str, Any]
    ) -> dict[str, Any]:
        """Return a structure of the response.

        `about` has the identifying fields of the request, by the names in COMMON_NAMES.
        """
        fields: dict[str, Any] = {}
        for slot in response.slots:
            name, node = slot.name, slot.node
            identifier = identity.get(COMMON_NAMES.get(name, name))
            if _is_code(slot) and name not in NO_ERRORS:
                fields[name] = self.code
            elif node.element is not None and node.element.struct is not None and _has_code(node):
                answered = self.twins.get(name) or _twins(name, node.element.struct, request)
                fields[name] = self.entries(node.element.struct, answered, values)
            elif identifier is not None and _fits(node, name, identifier):
                entity = isinstance(identifier, list)
                fields[name] = list(map(_without_tags, identifier)) if entity else identifier
            elif name in self.unknown:
                fields[name] = self.unknown[name]
            else:
                text = node.nullable and node.kind == "string"
                fields[name] = None if text else slot.fresh_default()
        return fields

    def entries(
        self, element: Layout, twins: list[Twin], values: dict[str, Any]
    ) -> list[dict[str, Any]]:
        """Return an entry for each element of the request's corresponding arrays."""
        entries: list[dict[str, Any]] = []
        for twin in twins:
            for identity, item in _items(values, twin.path, {}):
                if twin.element.struct is not None:
                    entry = self.struct(element, twin.element.struct, item, identity)
                else:
                    identity = {**identity, _identity(element, twin): item}
                    entry = self.struct(element, Layout((), False), {}, identity)
                if entry not in entries:
                    entries.append(entry)
        return entries


def _identity(element: Layout, twin: Twin) -> str:
    """Return the name of the field that holds an element of an array of plain values."""
    name = twin.path[-1]
    names = [
        COMMON_NAMES.get(s.name, s.name) for s in element.slots if s.node.kind == twin.element.kind
    ]
    return COMMON_NAMES[name] if COMMON_NAMES.get(name) in names else names[0]


def _items(
    values: dict[str, Any], path: tuple[str, ...], identity: dict[str, Any]
) -> Iterator[tuple[dict[str, Any], Any]]:
    """Yield each element of an array or of nested arrays, with the fields that identify it."""
    for item in values.get(path[0]) or ():
        inner = identity
        if isinstance(item, dict):
            inner = identity | _renamed(item)
        if path[1:]:
            yield from _items(item, path[1:], inner)
        else:
            yield inner, item


def _renamed(values: dict[str, Any]) -> dict[str, Any]:
    return {COMMON_NAMES.get(name, name): value for name, value in values.items()}


def _twins(name: str, element: Layout, request: Layout) -> list[Twin]:
    """Return the request's array whose elements have most fields in common with a response's."""
    best: tuple[int, list[Twin]] = (0, [])
    names = {(COMMON_NAMES.get(s.name, s.name), s.node.kind) for s in element.slots}
    kinds = [s.node.kind for s in element.slots if not s.name.endswith(("error_code", "message"))]
    for twin in (twin for slot in request.slots for twin in _twin(request, slot.name)):
        inner = twin.element
        if inner.struct is not None:
            request_names = {
                (COMMON_NAMES.get(s.name, s.name), s.node.kind) for s in inner.struct.slots
            }
            score = 2 * len(names & request_names)
        else:
            score = int(inner.kind in kinds)
        score += twin.path == (name,)
        if score > best[0]:
            best = score, [twin]
    return best[1]


def _twin(request: Layout, path: str) -> Iterator[Twin]:
    """Yield the array at a dotted path of a request, if there is one in this version."""
    slot = request.find(path)
    if slot is not None and slot.node.element is not None:
        yield Twin(tuple(path.split(".")), slot.node.element)


def _has_code(node: Node) -> bool:
    """Return whether a value contains an error code; arrays without one need no entries."""
    struct = node.inner.struct
    return struct is not None and any(_is_code(located.slot) for located in struct.walk())


def _is_code(slot: Slot) -> bool:
    return slot.node.kind == "int16" and slot.name.endswith("error_code")


def _without_tags(entry: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if name != "_tags"}


def _fits(node: Node, name: str, value: Any) -> bool:
    """Return whether a value of the request may be copied to the response: names, ids, entities."""
    match value:
        case str():
            return node.kind == "string"
        case int():
            return (
                node.kind.startswith("int") and COMMON_NAMES.get(name, name) in IDENTIFYING_NUMBERS
            )
        case list():  # the entity whose quotas are altered
            return name == "entity"
    return node.kind == "uuid"
