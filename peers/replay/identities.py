"""Values that the live cluster assigns itself: ids, epochs and generations, by their recorded values.

They are learned from a recorded and a live response side by side, and replaced in following requests.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from barnabas.captures.diff.bodies import together

IdKind = Literal["topic", "member", "generation"]

FIELDS: Final[dict[str, IdKind]] = {
    "topic_id": "topic",
    "member_id": "member",
    "generation_id": "generation",
    "generation_id_or_member_epoch": "generation",
    "member_epoch": "generation",
}
"""The kind of id in a field, at any depth. A group's `leader` is not among them: it may be another member
now."""

PRODUCERS: Final = (
    ("producer_id", "producer_epoch"),
    ("v3_and_below_producer_id", "v3_and_below_producer_epoch"),
)
"""A producer's id and epoch belong together."""

Producer = tuple[int, int]
"""Producer id and epoch."""


Scope = str | None
"""The group of an exchange: generations belong to a group."""


def scope_of(request: dict[str, Any]) -> Scope:
    """Return the group that a request names; None: no group."""
    group = request.get("group_id")
    return group if isinstance(group, str) else None


@dataclass(slots=True)
class Identities:
    """Live topic ids, member ids, generations and producers, by their recorded values."""

    _values: dict[tuple[Hashable, ...], Any] = field(default_factory=dict)
    _producers: dict[int, dict[int, Producer]] = field(default_factory=dict)
    """Recorded producer id -> recorded epoch -> the live producer."""

    def learn(self, recorded: Any, live: Any, scope: Scope) -> None:
        """Learn the live values of a recorded body's ids from the live body of the same structure."""
        match recorded, live:
            case dict(), dict():
                for names in PRODUCERS:
                    self._learn_producer(recorded, live, names)
                for name in recorded.keys() & live.keys():
                    kind = FIELDS.get(name)
                    if kind is not None:
                        if _is_id(recorded[name]) and _is_id(live[name]):
                            self._values[_key(kind, recorded[name], scope)] = live[name]
                    else:
                        self.learn(recorded[name], live[name], scope)
            case list(), list():
                for _, recorded_item, live_item in together(recorded, live):
                    self.learn(recorded_item, live_item, scope)

    def producer_is(self, recorded: Producer, live: Producer) -> None:
        """Record the live producer id and epoch of a recorded producer."""
        self._producers.setdefault(recorded[0], {})[recorded[1]] = live

    def producer(self, recorded: Producer) -> Producer:
        """Return the live producer id and epoch of a recorded producer.

        An epoch that no response contained is as far above the preceding known epoch as in the recording.

        >>> known = Identities()
        >>> known.producer_is((1000, 0), (7, 3))
        >>> known.producer((1000, 0)), known.producer((1000, 2)), known.producer((1001, 0))
        ((7, 3), (7, 5), (1001, 0))
        """
        epochs = self._producers.get(recorded[0])
        if not epochs:
            return recorded
        before = max((epoch for epoch in epochs if epoch <= recorded[1]), default=min(epochs))
        live_id, live_epoch = epochs[before]
        return live_id, max(live_epoch + recorded[1] - before, 0)

    def live(self, kind: IdKind, value: Any, scope: Scope) -> Any:
        """Return the live value of a recorded one; the recorded value if no live one is known."""
        return self._values.get(_key(kind, value, scope), value)

    def translate(self, body: Any, scope: Scope) -> Any:
        """Return a copy of a body with live ids.

        >>> known, group = Identities(), "g"
        >>> known.learn({"generation_id": 4, "member_id": "a"}, {"generation_id": 1, "member_id": "b"}, group)
        >>> known.translate({"generation_id": 4, "members": [{"member_id": "a"}]}, group)
        {'generation_id': 1, 'members': [{'member_id': 'b'}]}
        """
        match body:
            case list():
                if body and not isinstance(body[0], dict):
                    return body
                return [self.translate(item, scope) for item in body]
            case dict():
                translated = {
                    name: self._translated(name, value, scope) for name, value in body.items()
                }
                for id_name, epoch_name in PRODUCERS:
                    if id_name in body and epoch_name in body:
                        pair = body[id_name], body[epoch_name]
                        translated[id_name], translated[epoch_name] = self.producer(pair)
                return translated
        return body

    def _translated(self, name: str, value: Any, scope: Scope) -> Any:
        kind = FIELDS.get(name)
        if kind is not None and _is_id(value):
            return self.live(kind, value, scope)
        return self.translate(value, scope) if isinstance(value, list | dict) else value

    def _learn_producer(
        self, recorded: dict[str, Any], live: dict[str, Any], names: tuple[str, str]
    ) -> None:
        if all(name in body for name in names for body in (recorded, live)):
            recorded_producer, live_producer = (_pair(body, names) for body in (recorded, live))
            if recorded_producer[0] >= 0 and live_producer[0] >= 0:
                self.producer_is(recorded_producer, live_producer)


def copy_structures(body: Any) -> Any:
    """Copy a body's structures; other values, and arrays of numbers and texts, are shared.

    >>> body = {"a": [{"b": b"..."}]}
    >>> other = copy_structures(body)
    >>> other == body, other["a"][0] is body["a"][0]
    (True, False)
    """
    if isinstance(body, dict):
        return {
            name: copy_structures(value) if isinstance(value, dict | list) else value
            for name, value in body.items()
        }
    return [copy_structures(item) for item in body] if body and isinstance(body[0], dict) else body


def replace_field(body: Any, name: str, change: Callable[[Any], Any]) -> Any:
    """Return a copy of a body in which `change` has replaced a field's value at every depth.

    >>> replace_field({"a": [{"epoch": 5}]}, "epoch", lambda epoch: -1)
    {'a': [{'epoch': -1}]}
    """
    match body:
        case list():
            return [replace_field(item, name, change) for item in body]
        case dict():
            return {
                key: change(value) if key == name else replace_field(value, name, change)
                for key, value in body.items()
            }
    return body


def _pair(body: dict[str, Any], names: tuple[str, str]) -> Producer:
    return body[names[0]], body[names[1]]


def _key(kind: IdKind, value: Any, scope: Scope) -> tuple[Hashable, ...]:
    return (kind, value, scope) if kind == "generation" else (kind, value)


def _is_id(value: Any) -> bool:
    """Return whether a value is an id: not null, empty, or a small number that means "none"."""
    match value:
        case None | "" | list() | dict():
            return False
        case int():
            return value > 0
        case str():
            return True
    return int(value) != 0
