"""An error response: the same error code for all that a request names.

Kafka's own classes do this by hand for each API (AbstractRequest.getErrorResponse), and many put the
code on the top level only. Here it follows from the two layouts and stands on every level: an array of
a response belongs to the array of the request whose elements have most fields in common with its own.
A test compares the two, for every API and version.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from barnabas.specs import api
from barnabas.specs.layout import Layout, Node, Slot

SAME: Final = {
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
"""What a field is called here and there -> one name for both."""

TWINS: Final = {
    (4, "partition_errors"): ("topic_states.partition_states",),
    (5, "partition_errors"): ("topics.partition_indexes", "topic_states.partition_states"),
    (30, "results"): ("creations",),
    (31, "filter_results"): ("filters",),
    (34, "results"): ("dirs.topics",),
    (50, "results"): ("users",),
    (51, "results"): ("deletions", "upsertions"),
}
"""API key, array of its response -> arrays of its request, where names don't tell."""

NUMBERS: Final = frozenset(("partition_index", "resource_type", "producer_id", "session_id"))
"""Numbers that say what an answer is about; any other one is not known where there is an error."""

_NOBODY: Final[dict[str, Any]] = {
    f"{prefix}principal_{what}": name
    for prefix in ("", "token_requester_")
    for what, name in (("type", "User"), ("name", "ANONYMOUS"))
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
    38: {f"{when}_timestamp_ms": -1 for when in ("issue", "expiry", "max")} | _NOBODY,
    48: {"entries": None},
    88: dict.fromkeys(_NO_TASKS),
}
"""API key -> fields that neither are null nor have their default where there is an error."""

NO_ERRORS: Final = frozenset(("topic_config_error_code",))
"""Codes that say something else than what became of the request."""


class Twin(NamedTuple):
    """An array of a request that an array of the response answers."""

    path: tuple[str, ...]
    element: Node


def error_response(key: int, version: int, request: dict[str, Any], code: int) -> dict[str, Any]:
    """The values of a response in which every error code is this one.

    Messages beside it are null: clients have words of their own for the code.

    >>> error_response(12, 0, {"group_id": "g", "generation_id": 1, "member_id": "m"}, 27)
    {'error_code': 27}
    """
    found = api(key)
    response, asked = found.response.layout(version), found.request.layout(version)
    arrays = {name: TWINS[key, name] for name in _arrays(response) if (key, name) in TWINS}
    twins = {
        name: [twin for twin in _within(asked) if ".".join(twin.path) in paths]
        for name, paths in arrays.items()
    }
    about = {name: request[name] for name in ("session_id",) if name in request}
    return _Filling(code, UNKNOWN.get(key, {}), twins).struct(response, asked, request, about)


class _Filling(NamedTuple):
    """The response that is made: what all its levels have in common."""

    code: int
    unknown: dict[str, Any]
    twins: dict[str, list[Twin]]

    def struct(
        self, response: Layout, request: Layout, values: dict[str, Any], about: dict[str, Any]
    ) -> dict[str, Any]:
        """A structure of the response. `about` is what it is about, by the names in SAME."""
        found: dict[str, Any] = {}
        for slot in response.slots:
            name, node = slot.name, slot.node
            same = about.get(SAME.get(name, name))
            if _is_code(slot) and name not in NO_ERRORS:
                found[name] = self.code
            elif node.element is not None and node.element.struct is not None and _has_code(node):
                answered = self.twins.get(name) or _twins(name, node.element.struct, request)
                found[name] = self.entries(node.element.struct, answered, values)
            elif same is not None and _fits(node, name, same):
                found[name] = same if not isinstance(same, list) else list(map(_known, same))
            elif name in self.unknown:
                found[name] = self.unknown[name]
            else:
                text = node.nullable and node.kind == "string"
                found[name] = None if text else slot.fresh_default()
        return found

    def entries(
        self, element: Layout, twins: list[Twin], values: dict[str, Any]
    ) -> list[dict[str, Any]]:
        """An entry for each element of the arrays that are answered."""
        entries: list[dict[str, Any]] = []
        for twin in twins:
            for about, item in _items(values, twin.path, {}):
                if twin.element.struct is not None:
                    entry = self.struct(element, twin.element.struct, item, about)
                else:
                    about = {**about, _identity(element, twin): item}
                    entry = self.struct(element, Layout((), False), {}, about)
                if entry not in entries:
                    entries.append(entry)
        return entries


def _identity(element: Layout, twin: Twin) -> str:
    """What a field of an entry is called that holds one element of an array of plain values."""
    name = twin.path[-1]
    names = [SAME.get(s.name, s.name) for s in element.slots if s.node.kind == twin.element.kind]
    return SAME[name] if SAME.get(name) in names else names[0]


def _items(
    values: dict[str, Any], path: tuple[str, ...], about: dict[str, Any]
) -> Iterator[tuple[dict[str, Any], Any]]:
    """The elements of an array, or of an array in each element of another one, and what they are
    about."""
    for item in values.get(path[0]) or ():
        inner = about
        if isinstance(item, dict):
            inner = about | _renamed(item)
        if path[1:]:
            yield from _items(item, path[1:], inner)
        else:
            yield inner, item


def _renamed(values: dict[str, Any]) -> dict[str, Any]:
    return {SAME.get(name, name): value for name, value in values.items()}


def _twins(name: str, element: Layout, request: Layout) -> list[Twin]:
    """The array of a request whose elements have most in common with these of a response."""
    best: tuple[int, list[Twin]] = (0, [])
    names = {(SAME.get(s.name, s.name), s.node.kind) for s in element.slots}
    kinds = [s.node.kind for s in element.slots if not s.name.endswith(("error_code", "message"))]
    for twin in _within(request):
        if twin.path[1:]:
            continue
        inner = twin.element
        if inner.struct is not None:
            theirs = {(SAME.get(s.name, s.name), s.node.kind) for s in inner.struct.slots}
            score = 2 * len(names & theirs)
        else:
            score = int(inner.kind in kinds)
        score += twin.path == (name,)
        if score > best[0]:
            best = score, [twin]
    return best[1]


def _within(layout: Layout, path: tuple[str, ...] = ()) -> Iterator[Twin]:
    """The arrays of a request, and those in their elements."""
    for slot in layout.slots:
        element = slot.node.element
        if slot.node.kind == "array" and element is not None:
            yield Twin((*path, slot.name), element)
            if element.struct is not None:
                yield from _within(element.struct, (*path, slot.name))


def _arrays(layout: Layout) -> list[str]:
    return [slot.name for slot in layout.slots if slot.node.kind == "array"]


def _has_code(node: Node) -> bool:
    """Whether an error code stands somewhere within: what says nothing of errors answers nothing."""
    inner = node.element or node
    return inner.struct is not None and any(
        _is_code(s) or _has_code(s.node) for s in inner.struct.slots
    )


def _is_code(slot: Slot) -> bool:
    return slot.node.kind == "int16" and slot.name.endswith("error_code")


def _known(entry: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if name != "_tags"}


def _fits(node: Node, name: str, value: Any) -> bool:
    """Whether a value of the request may stand in the response: names, ids, who an entry is about."""
    match value:
        case str():
            return node.kind == "string"
        case int():
            return node.kind.startswith("int") and SAME.get(name, name) in NUMBERS
        case list():  # the entity whose quotas are altered
            return name == "entity"
    return node.kind == "uuid"
