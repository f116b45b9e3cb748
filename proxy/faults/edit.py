"""`edit`: the receiver gets the message with other fields (`set: {path: value}`), encoded anew.

acks=0: what counts is what leaves: where a request came with acks=0 and asks for an answer now,
that is taken out; where it came otherwise and has acks=0 now, none comes.
Order: kept.
In flight: as without it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, model_validator

from barnabas.proxy.effects import Become, Effects
from barnabas.proxy.matching.field_paths import (
    FieldValue,
    Steps,
    fitting,
    node_at,
    parse_path,
    places,
    set_at,
)
from barnabas.proxy.matching.message import Message, Unable
from barnabas.proxy.matching.seeded_random import Roll
from barnabas.proxy.matching.settings import Settings, some_of


def _path(text: str) -> str:
    parse_path(text)
    return text


Path = Annotated[str, AfterValidator(_path)]
"""Where a field stands: `topics[0].partitions[*].error_code`."""


class Edit(Settings, json_schema_extra=some_of("set", "append", "remove")):
    """The receiver gets the message with fields set, appended to or removed, encoded anew.

    Values are as in JSON: bytes in base64, a uuid in Kafka's 22 characters; an error by its name or code. A
    message that can't be encoded so, or has no such place, is left as it came, counted and shown.
    """

    set: Mapping[Path, Any] = Field(default={}, strict=False, examples=[{"throttle_time_ms": 500}])
    """Path -> the new value."""
    append: Mapping[Path, Any] = Field(default={}, strict=False)
    """Path of an array -> one more element, whose missing fields take their defaults."""
    remove: tuple[Path, ...] = Field(default=(), strict=False)
    """Elements of arrays that are taken out, and fields that are put back to their defaults."""

    @model_validator(mode="after")
    def _some(self) -> Self:
        if not self.paths:
            raise ValueError("give set, append or remove")
        return self

    @property
    def paths(self) -> tuple[str, ...]:
        """All paths that it names."""
        return (*self.set, *self.append, *self.remove)

    @property
    def field_values(self) -> Iterator[FieldValue]:
        """The values that it gives to fields."""
        for path, value in self.set.items():
            yield FieldValue(("set", path), path, value)
        for path, value in self.append.items():
            yield FieldValue(("append", path), path, value, element=True)


def edit(config: Edit, message: Message, roll: Roll) -> Effects:
    """Change the fields; nothing is left to chance. Raises Unable."""
    codec = message.codec()
    values = message.values()
    for path, value in config.set.items():
        set_at(values, codec.layout, path, value)
    for path, value in config.append.items():
        steps = parse_path(path)
        node = node_at(codec.layout, steps)
        found = [place for place in places(values, steps) if isinstance(place[0][place[1]], list)]
        if node is None or node.element is None or not found:
            raise Unable(f"{path}: no such array in this message")
        for holder, key in found:
            holder[key].append(fitting(path, value, node.element))
    for path in config.remove:
        _remove(values, parse_path(path), path)
    what = [f"{path}={value}" for path, value in config.set.items()]
    what += [f"{path}+" for path in config.append] + [f"{path}-" for path in config.remove]
    return (Become(message.encoded(values), f"edit {', '.join(what)}"),)


def _remove(values: Any, steps: Steps, path: str) -> None:
    found = list(places(values, steps))
    if not found:
        raise Unable(f"{path}: no such field in this message")
    for holder, key in reversed(found):  # so that places of elements hold
        del holder[key]
