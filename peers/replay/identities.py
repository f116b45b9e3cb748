"""What the live cluster gives out itself: ids, epochs and generations, by those that were recorded.

Learnt by walking over a recorded and a live response side by side, put into what is sent after that.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from barnabas.captures.diff.bodies import together

Kind = Literal["topic", "member", "generation"]

FIELDS: Final[dict[str, Kind]] = {
    "topic_id": "topic",
    "member_id": "member",
    "generation_id": "generation",
    "generation_id_or_member_epoch": "generation",
    "member_epoch": "generation",
}
"""Field -> what it holds, wherever it stands. Not a group's `leader`, which may be another member now."""

PRODUCERS: Final = (
    ("producer_id", "producer_epoch"),
    ("v3_and_below_producer_id", "v3_and_below_producer_epoch"),
)
"""A producer's id and epoch belong together."""

Producer = tuple[int, int]
"""Producer id and epoch."""


Scope = str | None
"""The group that an exchange is about: generations are a group's own."""


def scope_of(request: dict[str, Any]) -> Scope:
    """The scope of an exchange, by its request."""
    group = request.get("group_id")
    return group if isinstance(group, str) else None


@dataclass(slots=True)
class Identities:
    """Recorded value -> live value."""

    _values: dict[tuple[Hashable, ...], Any] = field(default_factory=dict)
    _producers: dict[int, dict[int, Producer]] = field(default_factory=dict)
    """Recorded producer id -> recorded epoch -> the live producer."""

    def learn(self, recorded: Any, live: Any, scope: Scope) -> None:
        """Take what two bodies teach: the same structure, one recorded, one live."""
        match recorded, live:
            case dict(), dict():
                for names in PRODUCERS:
                    self._learn_producer(recorded, live, names)
                for name in recorded.keys() & live.keys():
                    kind = FIELDS.get(name)
                    if kind is not None:
                        if _is_one(recorded[name]) and _is_one(live[name]):
                            self._values[_key(kind, recorded[name], scope)] = live[name]
                    else:
                        self.learn(recorded[name], live[name], scope)
            case list(), list():
                for _, one, other in together(recorded, live):
                    self.learn(one, other, scope)

    def producer_is(self, recorded: Producer, live: Producer) -> None:
        """Who that producer is now."""
        self._producers.setdefault(recorded[0], {})[recorded[1]] = live

    def producer(self, recorded: Producer) -> Producer:
        """The live producer. Of an epoch that no response gave out: so many after the one before it.

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

    def live(self, kind: Kind, value: Any, scope: Scope) -> Any:
        """The live value of one; the same if nothing is known of it."""
        return self._values.get(_key(kind, value, scope), value)

    def translate(self, body: Any, scope: Scope) -> Any:
        """A body with the live values in it; what was given stays as it is.

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
                found = {name: self._translated(name, value, scope) for name, value in body.items()}
                for id_name, epoch_name in PRODUCERS:
                    if id_name in body and epoch_name in body:
                        pair = body[id_name], body[epoch_name]
                        found[id_name], found[epoch_name] = self.producer(pair)
                return found
        return body

    def _translated(self, name: str, value: Any, scope: Scope) -> Any:
        kind = FIELDS.get(name)
        if kind is not None and _is_one(value):
            return self.live(kind, value, scope)
        return self.translate(value, scope) if isinstance(value, list | dict) else value

    def _learn_producer(
        self, recorded: dict[str, Any], live: dict[str, Any], names: tuple[str, str]
    ) -> None:
        if all(name in body for name in names for body in (recorded, live)):
            one, other = (_pair(body, names) for body in (recorded, live))
            if one[0] >= 0 and other[0] >= 0:
                self.producer_is(one, other)


def copied(body: Any) -> Any:
    """A body whose fields may be set; what stands in them, and arrays of numbers and texts, is shared.

    >>> body = {"a": [{"b": b"..."}]}
    >>> other = copied(body)
    >>> other == body, other["a"][0] is body["a"][0]
    (True, False)
    """
    if isinstance(body, dict):
        return {
            name: copied(value) if isinstance(value, dict | list) else value
            for name, value in body.items()
        }
    return [copied(item) for item in body] if body and isinstance(body[0], dict) else body


def replaced(body: Any, name: str, change: Callable[[Any], Any]) -> Any:
    """A body with a field, wherever it stands, as `change` makes it.

    >>> replaced({"a": [{"epoch": 5}]}, "epoch", lambda epoch: -1)
    {'a': [{'epoch': -1}]}
    """
    match body:
        case list():
            return [replaced(item, name, change) for item in body]
        case dict():
            return {
                key: change(value) if key == name else replaced(value, name, change)
                for key, value in body.items()
            }
    return body


def _pair(body: dict[str, Any], names: tuple[str, str]) -> Producer:
    return body[names[0]], body[names[1]]


def _key(kind: Kind, value: Any, scope: Scope) -> tuple[Hashable, ...]:
    return (kind, value, scope) if kind == "generation" else (kind, value)


def _is_one(value: Any) -> bool:
    """Whether it names something: not null, not empty, none of the small numbers that mean "none"."""
    match value:
        case None | "" | list() | dict():
            return False
        case int():
            return value > 0
        case str():
            return True
    return int(value) != 0
