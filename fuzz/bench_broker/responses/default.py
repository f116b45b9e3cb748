"""The response of any API without its own function: one element of everything in its schema.

Values of the request are repeated under the same names, so that clients find what they requested.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from typing import Any, Final

from barnabas.fuzz.bench_broker.cluster import Cluster
from barnabas.fuzz.bench_broker.responses.metadata import allowed
from barnabas.fuzz.bench_broker.responses.request import Request
from barnabas.specs.keys import DESCRIBE_QUORUM
from barnabas.specs.layout import Layout, Node
from barnabas.specs.registry import api

_ERRORS: Final = ("error", "throttle")
"""Prefixes of fields that keep their defaults."""

_ALSO: Final = {
    "groups": "group_id",
    "group_ids": "group_id",
    "groups_names": "group_id",
    "topic_names": "name",
    "transactional_ids": "transactional_id",
}
"""Arrays of strings in requests -> the name of each element in the response."""

_TEXTS: Final = {
    "group_state": "Stable",
    "group_type": "classic",
    "protocol_type": "consumer",
    "transaction_state": "Ongoing",
    "entity_type": "client-id",
}
"""Values of string fields that brokers restrict."""

_NUMBERS: Final = {"config_source": 5, "config_type": 2}
"""Values of number fields that brokers restrict: a default, which is text."""


def default_response(cluster: Cluster, key: int, request: Request) -> dict[str, Any]:
    """Return arrays of one element, texts and numbers of the request, and no error."""
    request_values: dict[str, Any] = {}
    for name, value in _leaves(request.body):
        request_values.setdefault(name, value)
    request_values["authorized_operations"] = allowed(request, "include_authorized_operations")
    return _filled(api(key).response.codec(request.version).layout, request_values, cluster)


def _leaves(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, list):
            for element in value:
                if isinstance(element, Mapping):
                    yield from _leaves(element)
                else:
                    yield _ALSO.get(name, name), element
        elif isinstance(value, Mapping):
            yield from _leaves(value)
        elif value is not None:
            yield name, value


def _filled(layout: Layout, request_values: Mapping[str, Any], cluster: Cluster) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for slot in layout.slots:
        if slot.tag is None and not slot.name.startswith(_ERRORS):
            value = _value(slot.node, slot.name, request_values, cluster)
            nothing = None if slot.node.nullable and slot.node.struct else slot.fresh_default()
            values[slot.name] = nothing if value is None else value
    return values


def _value(node: Node, name: str, request_values: Mapping[str, Any], cluster: Cluster) -> Any:
    if node.struct is not None:
        return None if node.nullable else _filled(node.struct, request_values, cluster)
    if node.element is not None:
        each = _value(node.element, name, request_values, cluster)
        return [0 if each is None else each]
    repeated = request_values.get(name)
    match node.kind:
        case "string":
            default = cluster.host if name == "host" else _TEXTS.get(name, cluster.topic)
            return repeated if isinstance(repeated, str) else default
        case "uuid":
            return repeated if isinstance(repeated, uuid.UUID) else cluster.topic_id
        case "bytes" | "records":
            return repeated if isinstance(repeated, bytes) else b""
        case "bool" | "float64":
            return None
    if name == "port":
        return cluster.port
    if isinstance(repeated, int) and not isinstance(repeated, bool):
        return repeated
    return _NUMBERS.get(name)


_LISTENER: Final = "CONTROLLER"


def describe_quorum(cluster: Cluster, request: Request) -> dict[str, Any]:
    """Return the default response, with listener names that Kafka accepts (KIP-595)."""
    response = default_response(cluster, DESCRIBE_QUORUM, request)
    for node in response.get("nodes", ()):
        for listener in node["listeners"]:
            listener["name"] = _LISTENER
    return response
