"""The response that refuses a request: an entry for all that it names, each with the error code.

Kafka's own classes do this by hand for each API (AbstractRequest.getErrorResponse). Here it follows
from the two layouts: an array of a response belongs to the array of the request whose elements have
most fields in common with its own.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from specs import api
from specs.layout import Layout, Node, Slot

SAME: Final = {
    "partition": "partition_index",
    "partition_id": "partition_index",
    "index": "partition_index",
    "topic": "name",
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


def refusal(key: int, version: int, request: dict[str, Any], code: int) -> dict[str, Any]:
    """The values of a response in which every error code is this one.

    >>> refusal(12, 0, {"group_id": "g", "generation_id": 1, "member_id": "m"}, 27)
    {'error_code': 27}
    """
    found = api(key)
    return _filled(found.response.layout(version), found.request.layout(version), request, code)


def _filled(response: Layout, request: Layout, values: dict[str, Any], code: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    here = {SAME.get(name, name): value for name, value in values.items()}
    for slot in response.slots:
        name, node = slot.name, slot.node
        if node.kind == "int16" and name.endswith("error_code"):
            found[name] = code
        elif node.kind == "array" and node.element is not None and node.element.struct is not None:
            found[name] = _entries(slot, node.element.struct, request, values, code)
        elif SAME.get(name, name) in here and _scalar(node):
            value = here[SAME.get(name, name)]
            found[name] = slot.fresh_default() if value is None and not node.nullable else value
        else:
            found[name] = slot.fresh_default()
    return found


class Twin(NamedTuple):
    """The array of a request that an array of the response answers."""

    name: str
    element: Node


def _entries(
    slot: Slot, element: Layout, request: Layout, values: dict[str, Any], code: int
) -> list[dict[str, Any]]:
    twin = _twin(slot.name, element, request)
    if twin is None:
        return []
    entries = []
    for item in values.get(twin.name) or ():
        if twin.element.struct is not None:
            entries.append(_filled(element, twin.element.struct, item, code))
        else:
            entry = _filled(element, Layout((), False), {}, code)
            key = next(s.name for s in element.slots if s.node.kind == twin.element.kind)
            entries.append(entry | {key: item})
    return entries


def _twin(name: str, element: Layout, request: Layout) -> Twin | None:
    """The array of a request whose elements have most in common with these of a response."""
    if not any("error_code" in path for path in _paths(element)):
        return None  # what says nothing of errors is no answer to anything
    best: tuple[int, Twin] | None = None
    names = {(SAME.get(s.name, s.name), s.node.kind) for s in element.slots}
    kinds = [s.node.kind for s in element.slots if not s.name.endswith(("error_code", "message"))]
    for slot in request.slots:
        inner = slot.node.element
        if slot.node.kind != "array" or inner is None:
            continue
        if inner.struct is not None:
            theirs = {(SAME.get(s.name, s.name), s.node.kind) for s in inner.struct.slots}
            score = 2 * len(names & theirs)
        else:
            score = int(inner.kind in kinds)
        score += slot.name == name
        if score and (best is None or score > best[0]):
            best = score, Twin(slot.name, inner)
    return None if best is None else best[1]


def _paths(layout: Layout) -> list[str]:
    found = []
    for slot in layout.slots:
        found.append(slot.name)
        inner = slot.node.element or slot.node
        if inner.struct is not None:
            found += _paths(inner.struct)
    return found


def _scalar(node: Node) -> bool:
    return node.kind not in ("array", "struct", "bytes", "records")
