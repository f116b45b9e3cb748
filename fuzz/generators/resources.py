"""The types of resources in Kafka: one enumeration for configs, another one for ACLs.

Both are int8 fields of the same names, but only a topic has the same number in both.
"""

from __future__ import annotations

from typing import Final

from barnabas.specs import keys

CONFIG_RESOURCES: Final = {
    "UNKNOWN": 0,
    "TOPIC": 2,
    "BROKER": 4,
    "BROKER_LOGGER": 8,
    "CLIENT_METRICS": 16,
    "GROUP": 32,
}
"""org.apache.kafka.common.config.ConfigResource.Type."""

ACL_RESOURCES: Final = {
    "UNKNOWN": 0,
    "ANY": 1,
    "TOPIC": 2,
    "GROUP": 3,
    "CLUSTER": 4,
    "TRANSACTIONAL_ID": 5,
    "DELEGATION_TOKEN": 6,
    "USER": 7,
}
"""org.apache.kafka.common.resource.ResourceType."""

_ACL_APIS: Final = frozenset((keys.DESCRIBE_ACLS, keys.CREATE_ACLS, keys.DELETE_ACLS))
_FIELDS: Final = frozenset(("resource_type", "resource_type_filter", "resource_types"))


def resource_types(key: int, name: str) -> tuple[int, ...] | None:
    """Return the types of resources for a field of an API; None if the field has no such type.

    >>> resource_types(keys.DESCRIBE_CONFIGS, "resource_type")
    (0, 2, 4, 8, 16, 32)
    >>> resource_types(keys.DESCRIBE_ACLS, "resource_type_filter")
    (0, 1, 2, 3, 4, 5, 6, 7)
    """
    if name not in _FIELDS:
        return None
    table = ACL_RESOURCES if key in _ACL_APIS else CONFIG_RESOURCES
    return tuple(table.values())
