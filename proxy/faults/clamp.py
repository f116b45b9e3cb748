"""`clamp`: the client reads fewer versions in ApiVersions (`versions: {Fetch: 11}`).

acks=0: not applicable to requests.
Order: kept.
In flight: unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field, WithJsonSchema

from barnabas.proxy.edits.version_ranges import narrowed
from barnabas.proxy.effects import Become, Effects
from barnabas.proxy.matching.message import Message, Unable
from barnabas.proxy.matching.notation import (
    NEWEST,
    VERSION_SCHEMA,
    Versions,
    api_key,
    version_range,
)
from barnabas.proxy.matching.seeded_random import Roll
from barnabas.proxy.matching.settings import Settings
from barnabas.specs.frames import Direction
from barnabas.specs.keys import API_VERSIONS


def _ranges(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    ranges = {}
    for name, versions in value.items():
        limits = version_range(versions)
        if limits is None:
            raise ValueError(f"{name}: a version or range is missing, e.g. {name}: 11")
        low, high = limits
        # a single version is the newest that is offered, as with --max-version
        ranges[api_key(name)] = (0 if low == high else low, high)
    return ranges


class Clamp(Settings):
    """The client reads fewer versions in ApiVersions: at most these versions of each API."""

    versions: Annotated[
        Mapping[int, Versions],
        BeforeValidator(_ranges),
        Field(min_length=1),
        WithJsonSchema(
            {
                "type": "object",
                "minProperties": 1,
                "additionalProperties": VERSION_SCHEMA,
                "examples": [{"Fetch": 11}],
            }
        ),
    ]
    """API -> newest version (`11`) or range (`3-9`); an API without a remaining version is not offered."""

    only_kafka: ClassVar = True

    def applies_to(self, key: int, direction: Direction, version: int) -> bool:
        """Return whether a message is an ApiVersions response."""
        return direction == "response" and key == API_VERSIONS


def clamp(config: Clamp, message: Message, roll: Roll) -> Effects:
    """Narrow the offered versions; no random draw.

    Raises:
        Unable: The message is no readable ApiVersions response.
    """
    values = message.values()
    if "api_keys" not in values:
        raise Unable("clamp applies to ApiVersions responses")
    offered = narrowed(values["api_keys"], lambda key: config.versions.get(key, (0, NEWEST)))
    return (Become(message.encoded(values | {"api_keys": offered}), "versions clamped"),)
