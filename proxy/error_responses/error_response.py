"""Makes an error response: the same error code for everything that a request names.

Kafka's classes do this by hand for each API (AbstractRequest.getErrorResponse), and many set the code on the
top level only. Here it follows from the two layouts (`pairs`), and every level gets the code. A test compares
the results with Kafka's, for every API and version.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from barnabas.proxy.error_responses.pairs import COMMON_NAMES, Pair, Twin, is_code, pairs
from barnabas.specs import api
from barnabas.specs.layout import Layout, Node

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

_NO_LEADER: Final = {"leader_id": -1, "leader_epoch": -1}

UNKNOWN: Final[dict[int, dict[str, Any]]] = {
    0: {"base_offset": -1},
    1: {"high_watermark": -1},
    3: _NO_LEADER,
    9: {"committed_offset": -1, "metadata": ""},
    10: {"node_id": -1, "port": -1},
    21: {"low_watermark": -1},
    22: {"producer_id": -1, "producer_epoch": -1},
    26: {"producer_id": -1, "producer_epoch": -1},
    38: {f"{when}_timestamp_ms": -1 for when in ("issue", "expiry", "max")} | _ANONYMOUS,
    48: {"entries": None},
    75: _NO_LEADER,
    88: dict.fromkeys(_NO_TASKS),
}
"""API key -> fields of an error response that are neither null nor have their default."""

NO_ERRORS: Final = frozenset(("topic_config_error_code",))
"""Error codes that are not the result of the request."""


def error_response(key: int, version: int, request: dict[str, Any], code: int) -> dict[str, Any]:
    """Return the values of a response in which every error code is this one.

    Error messages are null: clients have their own text for the code.

    >>> error_response(12, 0, {"group_id": "g", "generation_id": 1, "member_id": "m"}, 27)
    {'error_code': 27}
    """
    response = api(key).response.layout(version)
    identity = {name: request[name] for name in ("session_id",) if name in request}
    return _Filling(code, UNKNOWN.get(key, {})).struct(
        response, pairs(key, version), request, identity
    )


def error_entry(key: int, pair: Pair, code: int, identity: dict[str, Any]) -> dict[str, Any]:
    """Return an entry of a response that reports an error about what the identity names.

    Args:
        key: The API key.
        pair: The array of the response.
        code: The error code.
        identity: The fields by which the entry is identified, by their names in the entry.
    """
    filling = _Filling(code, UNKNOWN.get(key, {}))
    return filling.struct(pair.element, pair.inner, {}, _renamed(identity))


class _Filling(NamedTuple):
    """The inputs of the response that all its levels share."""

    code: int
    unknown: dict[str, Any]

    def struct(
        self,
        response: Layout,
        inner: tuple[Pair, ...],
        values: dict[str, Any],
        identity: dict[str, Any],
    ) -> dict[str, Any]:
        """Return a structure of the response.

        `identity` has the identifying fields of the request, by the names in COMMON_NAMES.
        """
        by_name = {pair.name: pair for pair in inner}
        fields: dict[str, Any] = {}
        for slot in response.slots:
            name, node = slot.name, slot.node
            identifier = identity.get(COMMON_NAMES.get(name, name))
            if is_code(slot) and name not in NO_ERRORS:
                fields[name] = self.code
            elif name in by_name:
                fields[name] = self.entries(by_name[name], values)
            elif identifier is not None and _fits(node, name, identifier):
                entity = isinstance(identifier, list)
                fields[name] = list(map(_without_tags, identifier)) if entity else identifier
            elif name in self.unknown:
                fields[name] = self.unknown[name]
            else:
                text = node.nullable and node.kind == "string"
                fields[name] = None if text else slot.fresh_default()
        return fields

    def entries(self, pair: Pair, values: dict[str, Any]) -> list[dict[str, Any]]:
        """Return an entry for each element of the request's corresponding arrays.

        Elements with the same identity share an entry. Entries without an identity correspond to the elements
        by their positions.
        """
        entries: list[dict[str, Any]] = []
        written: set[str] = set()
        for twin in pair.twins:
            for identity, item in _items(values, twin.path, {}):
                if twin.element.struct is not None:
                    entry = self.struct(pair.element, pair.inner, item, identity)
                else:
                    identity = {**identity, _identity(pair.element, twin): item}
                    entry = self.struct(pair.element, (), {}, identity)
                text = repr(entry)
                if text not in written or by_position(pair):
                    entries.append(entry)
                    written.add(text)
        return entries


def by_position(pair: Pair) -> bool:
    """Return whether the entries of a response's array have only their positions in common with the request.

    >>> [by_position(pair) for pair in (*pairs(30, 3), *pairs(43, 2))]
    [True, False]
    """
    return all(
        slot.name.endswith(("error_code", "error_message")) or slot.node.element is not None
        for slot in pair.element.slots
    ) and not any(slot.name == "entity" for slot in pair.element.slots)


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
