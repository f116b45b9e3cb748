"""What structures of a request and its response identify: a topic, a partition, a group, a producer."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from typing import Any, Final

from barnabas.specs import records
from barnabas.specs.entities import FieldEntity, entity_fields
from barnabas.specs.frames import Direction
from barnabas.specs.malformed import Malformed

Identity = Mapping[str, Any]
"""Kind of a thing -> its name, index or id."""

Decide = Callable[[Identity], bool | None]
"""Returns whether an entry is refused; None if the identity does not decide it yet."""

_COORDINATORS: Final = {0: "group", 1: "transactional_id"}
"""The key type of FindCoordinator -> what its keys are."""

_SHARED: Final = ("records", "config", "principal")
"""Kinds of fields that do not identify an entry of a response by themselves."""

NO_ID: Final = uuid.UUID(int=0)


class Identities:
    """A reader of the identities of structures, for one API and version."""

    def __init__(self, key: int, version: int) -> None:
        self._fields: dict[Direction, Mapping[tuple[str, ...], FieldEntity]] = {
            "request": entity_fields(key, "request", version),
            "response": entity_fields(key, "response", version),
        }

    def of(
        self, direction: Direction, values: dict[str, Any], path: tuple[str, ...], above: Identity
    ) -> dict[str, Any]:
        """Return what a structure and those around it identify.

        Args:
            direction: The message of the structure.
            values: The structure.
            path: The names of the fields that lead to it.
            above: What the structures around it identify.
        """
        identity = dict(above)
        if not path and "key_type" in values:
            identity["key_type"] = values["key_type"]
        fields = self._fields[direction]
        for name, value in values.items():
            kind = fields.get((*path, name))
            if kind is None or isinstance(value, list):
                continue
            if kind == "records":
                if direction == "request" and value:
                    identity |= _producer(value)
            elif kind == "coordinator":
                identity |= _coordinator(identity, value)
            elif value is not None and value != NO_ID:
                identity[kind] = value
        return identity

    def of_plain(self, path: tuple[str, ...], value: Any, above: Identity) -> Identity:
        """Return what an element of a request's array of plain values identifies, such as an index."""
        kind = self._fields["request"].get(path)
        if kind == "coordinator":
            return {**above, **_coordinator(above, value)}
        return above if kind is None else {**above, kind: value}

    def kind(self, path: tuple[str, ...]) -> FieldEntity | None:
        """Return the kind of thing that a field of the request identifies; None for other fields."""
        return self._fields["request"].get(path)

    def identifying(self, path: tuple[str, ...]) -> dict[str, FieldEntity]:
        """Return the fields that identify an entry of the response's array at a path, by name."""
        return {
            name: kind
            for (*around, name), kind in self._fields["response"].items()
            if tuple(around) == path and kind not in _SHARED
        }


def _coordinator(identity: Identity, key: Any) -> dict[str, Any]:
    """Return the group or transactional id whose coordinator is looked for; v0 has groups only."""
    kind = _COORDINATORS.get(identity.get("key_type", 0))
    return {} if kind is None else {kind: key}


def _producer(data: bytes) -> dict[str, Any]:
    """Return the producer id of a record set; {} if it cannot be read."""
    try:
        return {"producer_id": next(records.read(data)).producer_id}
    except (Malformed, StopIteration):
        return {}
