"""`edit`: the receiver gets the message with other fields (`set: {path: value}`), encoded again.

acks=0: the changed request counts. If it expects a response only now, the proxy removes the response; if it
has acks=0 only now, the broker sends none.
Order: kept.
In flight: unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, model_validator

from barnabas.proxy.effects import Become, Effects
from barnabas.proxy.matching.field_paths import (
    FieldValue,
    fitting,
    locate,
    parse_path,
    set_at,
)
from barnabas.proxy.matching.message import Message, Unable
from barnabas.proxy.matching.seeded_random import Roll
from barnabas.proxy.matching.settings import Settings, some_of


def _path(text: str) -> str:
    parse_path(text)
    return text


Path = Annotated[str, AfterValidator(_path)]
"""A path to a field: `topics[name=orders].partitions[0].error_code`."""


class Edit(Settings, json_schema_extra=some_of("set", "append", "remove")):
    """The receiver gets the message with fields set, appended to or removed, encoded again.

    Values are as in JSON: bytes in base64, a uuid in Kafka's 22 characters; an error by its name or code. If
    the message has no such field, or cannot be encoded, it stays unchanged; that is counted and reported.
    """

    set: Mapping[Path, Any] = Field(default={}, strict=False, examples=[{"throttle_time_ms": 500}])
    """Path -> the new value."""
    append: Mapping[Path, Any] = Field(default={}, strict=False)
    """Path of an array -> a new last element, whose missing fields take their defaults."""
    remove: tuple[Path, ...] = Field(default=(), strict=False)
    """Paths of array elements to remove, and of fields to reset to their defaults."""

    @model_validator(mode="after")
    def _some(self) -> Self:
        if not self.paths:
            raise ValueError("give set, append or remove")
        return self

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the paths of all fields that the settings name."""
        return (*self.set, *self.append, *self.remove)

    @property
    def field_values(self) -> Iterator[FieldValue]:
        """Yield the values that the settings give to fields."""
        for path, value in self.set.items():
            yield FieldValue(("set", path), path, value)
        for path, value in self.append.items():
            yield FieldValue(("append", path), path, value, element=True)


def edit(config: Edit, message: Message, roll: Roll) -> Effects:
    """Change the fields; no random draw.

    Raises:
        Unable: The message has no such field, or cannot be encoded.
    """
    codec = message.codec()
    values = message.values()
    for path, value in config.set.items():
        set_at(values, codec.layout, path, value, message.topics)
    for path, value in config.append.items():
        node, field_places = locate(values, codec.layout, path, message.topics)
        arrays = [holder[key] for holder, key in field_places if isinstance(holder[key], list)]
        if node.element is None or not arrays:
            raise Unable(f"{path}: no such array in this message")
        for array in arrays:
            array.append(fitting(path, value, node.element))
    for path in config.remove:
        _, field_places = locate(values, codec.layout, path, message.topics)
        for holder, key in reversed(field_places):  # so that places of elements hold
            del holder[key]
    changes = [f"{path}={value}" for path, value in config.set.items()]
    changes += [f"{path}+" for path in config.append] + [f"{path}-" for path in config.remove]
    return (Become(message.encoded(values), f"edit {', '.join(changes)}"),)
