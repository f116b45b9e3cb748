"""The group that a request names, in whichever field."""

from __future__ import annotations

from typing import Any, Final

from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import api

PATHS: Final[dict[int, tuple[str, ...]]] = {
    9: ("group_id", "groups.group_id"),
    10: ("key_type", "key", "coordinator_keys"),
    15: ("groups",),
    42: ("groups_names",),
    69: ("group_ids",),
    77: ("group_ids",),
    89: ("group_ids",),
    90: ("groups.group_id",),
}
"""By API key, where it is not a `group_id` at the top."""

GROUP_ID: Final = ("group_id",)
_SHARE_GROUP: Final = (0, 2)
"""Types of FindCoordinator's keys: a group, and a share group's partition (group:topic:number)."""


def group_of(key: int, version: int, body: bytes) -> str | None:
    """The group that a request names; None if it names none, or more than one.

    >>> group_of(15, 0, bytes.fromhex("00000001 0001 67"))
    'g'
    """
    try:
        project = api(key).request.codec(version).project(*PATHS.get(key, GROUP_ID))
        found = project(body)
    except (LookupError, Malformed):
        return None
    if found.pop("key_type", 0) not in _SHARE_GROUP:
        return None
    names = {name for value in found.values() for name in _names(value)}
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
