"""Find the group that a request names, whatever the field is called."""

from __future__ import annotations

from typing import Any, Final

from barnabas.specs import keys
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import api

PATHS: Final[dict[int, tuple[str, ...]]] = {
    keys.OFFSET_FETCH: ("group_id", "groups.group_id"),
    keys.FIND_COORDINATOR: ("key_type", "key", "coordinator_keys"),
    keys.DESCRIBE_GROUPS: ("groups",),
    keys.DELETE_GROUPS: ("groups_names",),
    keys.CONSUMER_GROUP_DESCRIBE: ("group_ids",),
    keys.SHARE_GROUP_DESCRIBE: ("group_ids",),
    keys.STREAMS_GROUP_DESCRIBE: ("group_ids",),
    keys.DESCRIBE_SHARE_GROUP_OFFSETS: ("groups.group_id",),
}
"""By API key: the fields with a group, if it is not `group_id` at the top level."""

GROUP_ID: Final = ("group_id",)
_SHARE_GROUP: Final = (0, 2)
"""FindCoordinator key types: a group, and a partition of a share group (group:topic:number)."""


def group_of(key: int, version: int, body: bytes) -> str | None:
    """Return the group that a request names; None without one, or with several.

    >>> group_of(15, 0, bytes.fromhex("00000001 0001 67"))
    'g'
    """
    try:
        project = api(key).request.codec(version).project(*PATHS.get(key, GROUP_ID))
        fields = project(body)
    except (LookupError, Malformed):
        return None
    if fields.pop("key_type", 0) not in _SHARE_GROUP:
        return None
    names = {name for value in fields.values() for name in _names(value)}
    return names.pop() if len(names) == 1 else None


def _names(value: Any) -> list[str]:
    match value:
        case str():
            return [value]
        case {"group_id": str(name)}:
            return [name]
        case list():
            return [name for item in value for name in _names(item)]
    return []
