"""The JSON form of a body as Apache Kafka's own converters write it.

Names are in camel case, tagged fields at their default are absent, and unknown tagged fields are a list
(the generated JsonConverter classes of org.apache.kafka.common.message leave them out). Record sets are in
full here, and empty there. Values are as in `barnabas.specs.jsonform`.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, Final

from barnabas.specs.jsonform import to_json
from barnabas.specs.layout import Layout, Node

UNKNOWN_TAGS: Final = "_unknownTaggedFields"

_IRREGULAR: Final = {
    "is_kraft_controller": "isKRaftController",
    "kraft_version": "kRaftVersion",
    "kraft_version_feature": "kRaftVersionFeature",
}
"""Names whose capitals cannot be derived."""


@functools.cache
def kafka_name(name: str) -> str:
    """Return Kafka's name of a field.

    >>> kafka_name("max_wait_ms"), kafka_name("kraft_version")
    ('maxWaitMs', 'kRaftVersion')
    """
    first, *others = name.split("_")
    return _IRREGULAR.get(name) or first + "".join(other.capitalize() for other in others)


def kafka_json(values: Mapping[str, Any], layout: Layout) -> dict[str, Any]:
    """Return a decoded body in the JSON form of Kafka's converters.

    >>> from barnabas.specs.registry import api
    >>> kafka_json({"group_id": "g", "_tags": {7: b"x"}}, api("Heartbeat").request.layout(4))
    {'groupId': 'g', '_unknownTaggedFields': [{'tag': 7, 'data': 'eA=='}]}
    """
    form = {
        kafka_name(slot.name): _value(values[slot.name], slot.node)
        for slot in layout.slots
        if slot.name in values and (slot.tag is None or values[slot.name] != slot.fresh_default())
    }
    if tags := values.get("_tags"):
        form[UNKNOWN_TAGS] = [{"tag": tag, "data": to_json(data)} for tag, data in tags.items()]
    return form


def _value(value: Any, node: Node) -> Any:
    if node.element is not None and value is not None:
        return [_value(item, node.element) for item in value]
    if node.struct is not None and value is not None:
        return kafka_json(value, node.struct)
    return to_json(value)
