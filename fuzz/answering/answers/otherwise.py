"""An answer for any API without one of its own: what its schema has, one of each.

It says again what the request says under the same name, so that callers find what they asked about.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from typing import Any, Final

from barnabas.fuzz.answering.answers.ask import Ask
from barnabas.fuzz.answering.answers.metadata import allowed
from barnabas.fuzz.answering.cluster import TOPIC_ID, Cluster
from barnabas.specs.layout import Layout, Node
from barnabas.specs.registry import api

_ERRORS: Final = ("error", "throttle")
"""What names of fields that stay as their default says begin with."""

_ALSO: Final = {
    "groups": "group_id",
    "group_ids": "group_id",
    "groups_names": "group_id",
    "topic_names": "name",
    "transactional_ids": "transactional_id",
}
"""Lists of texts in requests, and what each of them is called in the response."""

_TEXTS: Final = {
    "group_state": "Stable",
    "group_type": "classic",
    "protocol_type": "consumer",
    "transaction_state": "Ongoing",
    "entity_type": "client-id",
}
"""What else would be a text that no broker says there."""

_NUMBERS: Final = {"config_source": 5, "config_type": 2}
"""The same of numbers: a default, which is text."""


def otherwise(cluster: Cluster, key: int, ask: Ask) -> dict[str, Any]:
    """Arrays of one, texts and numbers from the request, no error."""
    said: dict[str, Any] = {}
    for name, value in _leaves(ask.body):
        said.setdefault(name, value)
    said["authorized_operations"] = allowed(ask, "include_authorized_operations")
    return _filled(api(key).response.codec(ask.version).layout, said, cluster)


def _leaves(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, list):
            for one in value:
                if isinstance(one, Mapping):
                    yield from _leaves(one)
                else:
                    yield _ALSO.get(name, name), one
        elif isinstance(value, Mapping):
            yield from _leaves(value)
        elif value is not None:
            yield name, value


def _filled(layout: Layout, said: Mapping[str, Any], cluster: Cluster) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for slot in layout.slots:
        if slot.tag is None and not slot.name.startswith(_ERRORS):
            value = _value(slot.node, slot.name, said, cluster)
            nothing = None if slot.node.nullable and slot.node.struct else slot.fresh_default()
            found[slot.name] = nothing if value is None else value
    return found


def _value(node: Node, name: str, said: Mapping[str, Any], cluster: Cluster) -> Any:
    if node.struct is not None:
        return None if node.nullable else _filled(node.struct, said, cluster)
    if node.element is not None:
        each = _value(node.element, name, said, cluster)
        return [0 if each is None else each]
    known = said.get(name)
    match node.kind:
        case "string":
            usual = cluster.host if name == "host" else _TEXTS.get(name, cluster.topic)
            return known if isinstance(known, str) else usual
        case "uuid":
            return known if isinstance(known, uuid.UUID) else TOPIC_ID
        case "bytes" | "records":
            return known if isinstance(known, bytes) else b""
        case "bool" | "float64":
            return None
    if name == "port":
        return cluster.port
    if isinstance(known, int) and not isinstance(known, bool):
        return known
    return _NUMBERS.get(name)
